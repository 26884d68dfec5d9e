use super::*;

const URL: &str = "redis://user:hidden@127.0.0.1:6379/1";

fn with(change: impl FnOnce(&mut Settings)) -> Result<(), String> {
    let mut settings = Settings::new(URL);
    change(&mut settings);
    settings
        .client()
        .map(drop)
        .map_err(|error| error.to_string())
}

#[track_caller]
fn check(change: impl FnOnce(&mut Settings), expect: &str) {
    let error = with(change).unwrap_err();
    assert_eq!(error, expect);
}

#[test]
fn the_defaults_are_those_of_the_documentation() {
    assert_eq!(
        format!("{:?}", Settings::new(URL)),
        "Settings { prefix: \"onwards\", bound: 5ms, lease: 15s, when_away: Admit, strikes: 3, queue: 4096, .. }"
    );
    assert_eq!(with(|_| ()), Ok(()));
    assert_eq!(with(|s| s.url = "unix:///run/redis.sock".into()), Ok(()));
}

#[test]
fn every_setting_has_its_range() {
    let ms = Duration::from_millis;
    check(
        |s| s.prefix = String::new(),
        "the prefix must have 1 to 64 bytes and no braces, found \"\"",
    );
    check(
        |s| s.prefix = "a{b".into(),
        "the prefix must have 1 to 64 bytes and no braces, found \"a{b\"",
    );
    check(
        |s| s.bound = Duration::ZERO,
        "bound must lie between 1ms and 1s, found 0ns",
    );
    check(
        |s| s.bound = ms(1001),
        "bound must lie between 1ms and 1s, found 1.001s",
    );
    check(
        |s| s.lease = ms(99),
        "lease must lie between 100ms and 3600s, found 99ms",
    );
    check(|s| s.strikes = 0, "strikes must be at least 1, found 0");
    check(|s| s.queue = 0, "queue must be at least 1, found 0");
}

#[test]
fn an_address_is_checked_and_never_shown() {
    for url in ["", "http://hidden@host", "redis//hidden", "redis://"] {
        let error = with(|s| s.url = url.into()).unwrap_err();
        assert!(
            error.starts_with("the address must be") && !error.contains("hidden"),
            "{url}: {error}"
        );
    }
    assert!(!format!("{:?}", Settings::new(URL)).contains("hidden"));
}

#[test]
fn tls_needs_its_feature() {
    let found = [
        with(|s| s.url = "rediss://host".into()),
        with(|s| s.url = "valkeys://host".into()),
        with(|s| s.certificate = Some(Vec::new())),
    ];
    for found in found {
        let refused = found == Err("TLS is asked for and not compiled in".into());
        assert_eq!(refused, !cfg!(feature = "tls"), "{found:?}");
    }
}
