//! `shared_state`: what is said about a bad one, and what a good one means.

use std::time::Duration;

use expect_test::{Expect, expect};

use super::read;
use crate::{SharedState, WhenAway};

fn shared(members: &str) -> Result<SharedState, String> {
    let text = format!(r#"{{ "targets": {{}}, "shared_state": {members} }}"#);
    match read(&text) {
        Ok(loaded) if loaded.warnings.is_empty() => Ok(loaded.gateway.shared_state.unwrap()),
        Ok(loaded) => Err(format!("{}\n", loaded.warnings[0])),
        Err(problems) => Err(format!("{problems}\n")),
    }
}

#[track_caller]
fn check(members: &str, expect: Expect) {
    expect.assert_eq(&shared(members).unwrap_err());
}

#[test]
fn defaults() {
    let given = shared(r#"{ "redis": "redis://localhost" }"#).unwrap();
    assert_eq!(given.redis.expose(), "redis://localhost");
    assert!(given.ca.is_none());
    assert_eq!(given.prefix, "onwards");
    assert_eq!(
        (given.timeout, given.lease),
        (Duration::from_millis(5), Duration::from_secs(15))
    );
    assert_eq!(
        (given.when_away, given.rate_limits),
        (WhenAway::Admit, false)
    );
    let none = read(r#"{ "targets": {} }"#).unwrap().gateway;
    assert!(none.shared_state.is_none());
    assert!(none.rate_limit_headers);
}

#[test]
fn references_are_resolved() {
    let given = shared(r#"{ "redis": "${REDIS}", "ca": "${file:/keys/ca.pem}" }"#).unwrap();
    assert!(given.redis.expose().starts_with("rediss://:sk-redis@"));
    assert!(given.ca.unwrap().expose().starts_with("-----BEGIN"));
}

#[test]
fn addresses() {
    for good in [
        "redis://h",
        "redis://user:p@h:6379/3",
        "rediss://h",
        "valkey://[::1]:7000",
        "valkeys://h",
        "unix:///run/redis.sock",
    ] {
        assert!(
            shared(&format!(r#"{{ "redis": "{good}" }}"#)).is_ok(),
            "{good}"
        );
    }
    check(
        "{}",
        expect![[r#"
        shared_state.redis (line 1, column 34): found nothing; expected the address of a Redis or Valkey server
    "#]],
    );
    check(
        r#"{ "redis": "localhost:6379" }"#,
        expect![[r#"
        shared_state.redis (line 1, column 45): found another text; expected the address of a server: redis://, rediss://, valkey://, valkeys:// or unix://, and no space in it
    "#]],
    );
    check(
        r#"{ "redis": "redis://" }"#,
        expect![[r#"
        shared_state.redis (line 1, column 45): found another text; expected the address of a server: redis://, rediss://, valkey://, valkeys:// or unix://, and no space in it
    "#]],
    );
    check(
        r#"{ "redis": "redis://h x" }"#,
        expect![[r#"
        shared_state.redis (line 1, column 45): found another text; expected the address of a server: redis://, rediss://, valkey://, valkeys:// or unix://, and no space in it
    "#]],
    );
    check(
        r#"{ "redis": "${MISSING}" }"#,
        expect![[r#"
        shared_state.redis (line 1, column 45): found ${MISSING}; expected the variable MISSING to be set
    "#]],
    );
    check(
        r#"{ "redis": 6379 }"#,
        expect![[r#"
        shared_state.redis (line 1, column 45): found a number; expected the address of a server: a string
    "#]],
    );
    check(
        r#""redis://h""#,
        expect![[r#"
        shared_state (line 1, column 34): found a string; expected an object
    "#]],
    );
}

#[test]
fn the_other_members() {
    check(
        r#"{ "redis": "redis://h", "timeout_ms": 0, "lease_ms": 99, "when_away": "deny", "rate_limits": 1, "prefix": "a{b" }"#,
        expect![[r#"
            shared_state.timeout_ms (line 1, column 72): found 0; expected an integer from 1 to 1000
            shared_state.lease_ms (line 1, column 87): found 99; expected an integer from 100 to 3600000
            shared_state.when_away (line 1, column 104): found "deny"; expected `admit` or `refuse`
            shared_state.rate_limits (line 1, column 127): found 1; expected true or false
            shared_state.prefix (line 1, column 140): found "a{b"; expected 1 to 64 letters, digits, `_`, `.`, `:` or `-`
        "#]],
    );
    check(
        r#"{ "redis": "redis://h", "timeout_ms": 1001 }"#,
        expect![[r#"
            shared_state.timeout_ms (line 1, column 72): found 1001; expected an integer from 1 to 1000
        "#]],
    );
    check(
        r#"{ "redis": "redis://h", "ca": "/etc/ca.pem" }"#,
        expect![[r#"
            shared_state.ca (line 1, column 64): found another text; expected certificates in PEM, or ${file:PATH}
        "#]],
    );
    check(
        r#"{ "redis": "redis://h", "ca": "${file:/keys/ca.pem}" }"#,
        expect![[r#"
            shared_state.ca (line 1, column 64): found certificates; expected `redis` to begin with rediss:// or valkeys://; without TLS nothing is certified
        "#]],
    );
    check(
        r#"{ "redis": "redis://h", "timeout": 5 }"#,
        expect![[r#"
        shared_state.timeout (line 1, column 69): found an unknown member; expected a member of `shared_state`; it is ignored; did you mean `timeout_ms`?
    "#]],
    );
}
