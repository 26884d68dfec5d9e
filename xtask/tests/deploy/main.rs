//! What lies in `deploy/` fits the gateway and itself. Files are read and compared with what the operating guide says, so
//! nothing is built; `promtool`, `helm` and `systemd-analyze` have their say where they are installed.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    reason = "helpers of tests fail the test, at once and loudly"
)]

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

mod chart;
mod images;
mod series;
mod unit;

/// The folder of the deployments.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy")
}

#[track_caller]
fn read(name: &str) -> String {
    let path = folder().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[track_caller]
fn yaml(name: &str) -> Value {
    serde_yaml_ng::from_str(&read(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// What a tool prints; nothing if it is not installed. Fails the test unless it ends as expected.
#[track_caller]
fn tool(program: &str, args: &[&str], succeeds: bool) -> Option<String> {
    let output = match Command::new(program)
        .args(args)
        .current_dir(folder())
        .output()
    {
        Ok(output) => output,
        Err(error) => {
            println!("{program} was not asked: {error}");
            return None;
        }
    };
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        output.status.success(),
        succeeds,
        "{program} {args:?}: {said}"
    );
    Some(said.into_owned())
}

/// The configuration loads, without a problem and without a warning.
#[track_caller]
fn loads(configuration: &str) {
    struct NoSecrets;
    impl onwards_config::Surroundings for NoSecrets {
        fn env(&self, _: &str) -> Option<String> {
            None
        }
        fn file(&self, _: &str) -> std::io::Result<String> {
            Err(std::io::ErrorKind::NotFound.into())
        }
    }
    match onwards_config::read(configuration.as_bytes(), &NoSecrets) {
        Ok(loaded) => assert_eq!(loaded.warnings, []),
        Err(problems) => panic!("{problems}"),
    }
}

/// Whatever ends the process waits for the delay, the drain, and the five seconds of the operators' listener.
#[track_caller]
fn waits_for_the_drain(delay: u64, timeout: u64, budget: u64) {
    assert!(
        budget >= delay + timeout + 5,
        "killed after {budget} s, but drains for {delay} s + {timeout} s + 5 s"
    );
}

/// Every flag and variable of the gateway that a file uses stands in the operating guide.
#[track_caller]
fn flags_exist<'a>(flags: impl IntoIterator<Item = &'a str>) {
    let guide = read("../docs/operations.md");
    let mut asked = 0;
    for flag in flags {
        let known = [format!("`{flag} "), format!("`{flag}`")];
        assert!(
            known.iter().any(|form| guide.contains(form)),
            "{flag} does not exist"
        );
        asked += 1;
    }
    assert!(asked > 0, "no flag was found");
}

#[test]
fn every_file_of_data_parses() {
    for name in [
        "compose/prometheus.yml",
        "compose/grafana/datasources.yml",
        "compose/grafana/dashboards.yml",
        "helm/onwards/Chart.yaml",
        "prometheus/alerts.test.yml",
    ] {
        assert!(yaml(name).is_object(), "{name}");
    }
    // Where a name crosses from one file to another.
    let scrape = yaml("compose/prometheus.yml");
    assert_eq!(scrape["scrape_configs"][0]["job_name"], "onwards");
    assert_eq!(scrape["rule_files"][0], "rules/alerts.yml");
}
