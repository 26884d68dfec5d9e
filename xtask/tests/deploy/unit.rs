//! The systemd unit.

use super::{flags_exist, read, tool, waits_for_the_drain};

const UNIT: &str = "systemd/onwards.service";

/// The values of a setting, in order.
fn values(name: &str) -> Vec<String> {
    let unit = read(UNIT);
    let pairs = unit.lines().filter_map(|line| line.split_once('='));
    pairs
        .filter(|(key, _)| *key == name)
        .map(|(_, value)| value.to_owned())
        .collect()
}

#[test]
fn the_unit_reloads_drains_and_is_closed() {
    let one = |name: &str| {
        let [value] = <[String; 1]>::try_from(values(name))
            .unwrap_or_else(|found| panic!("{name}: {found:?}"));
        value
    };
    assert_eq!(one("Type"), "exec");
    assert_eq!(
        values("ExecReload").last().unwrap(),
        "/bin/kill -HUP $MAINPID"
    );
    for name in [
        "DynamicUser",
        "NoNewPrivileges",
        "PrivateDevices",
        "PrivateTmp",
        "ProtectHome",
        "MemoryDenyWriteExecute",
    ] {
        assert_eq!(one(name), "yes", "{name}");
    }
    assert_eq!(one("ProtectSystem"), "strict");
    assert_eq!(one("CapabilityBoundingSet"), "");
    let environment = values("Environment");
    let variable = |name: &str| {
        let value = environment
            .iter()
            .find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
        value
            .unwrap_or_else(|| panic!("no {name}"))
            .parse()
            .unwrap()
    };
    waits_for_the_drain(
        variable("ONWARDS_SHUTDOWN_DELAY_SECS"),
        variable("ONWARDS_SHUTDOWN_TIMEOUT_SECS"),
        one("TimeoutStopSec").parse().unwrap(),
    );
    let start = one("ExecStart");
    flags_exist(start.split(' ').filter(|word| word.starts_with("--")));
    flags_exist(
        environment
            .iter()
            .filter_map(|pair| Some(pair.split_once('=')?.0)),
    );
}

#[test]
fn systemd_agrees() {
    // It fails because the binary is not installed, and must have nothing else to say.
    let Some(said) = tool(
        "systemd-analyze",
        &["verify", UNIT],
        std::path::Path::new("/usr/local/bin/onwards-server").exists(),
    ) else {
        return;
    };
    let found: Vec<&str> = said
        .lines()
        .filter(|line| {
            line.contains("onwards") && !line.contains("onwards-server is not executable")
        })
        .collect();
    assert_eq!(found, Vec::<&str>::new());
}
