//! `config.json` in, the resolved configuration and the warnings out (`*.golden`; accept a change with
//! `UPDATE_EXPECT=1`).

use expect_test::expect_file;

use super::{documents, read};
use crate::{Access, Endpoint};

fn check(folder: &str) {
    for (path, text) in documents(folder) {
        let loaded =
            read(&text).unwrap_or_else(|problems| panic!("{}: {problems}", path.display()));
        let warnings: Vec<_> = loaded
            .warnings
            .iter()
            .map(|warning| format!("warning: {warning}\n"))
            .collect();
        let golden = format!(
            "{}{:#}\n",
            warnings.concat(),
            crate::redacted(&loaded.gateway)
        );
        expect_file![path.with_extension("golden")].assert_eq(&golden);
    }
}

#[test]
fn every_configuration_of_the_documents_loads() {
    check("documented");
}

#[test]
fn own_configurations_resolve_as_recorded() {
    check("own");
}

#[test]
fn names_stand_for_keys_and_references_do_not_name() {
    let text = r#"{
        "auth": { "global_keys": ["ops"], "key_definitions": { "ops": { "key": "sk-ops" } } },
        "targets": { "m": { "url": "http://h", "keys": ["sk-a", "ops", "sk-ops", "${NAME_OF_DEFINITION}", "sk-a"] } }
    }"#;
    let gateway = read(text).unwrap().gateway;
    let exposed = |keys: &[crate::Secret]| {
        keys.iter()
            .map(|key| key.expose().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(exposed(&gateway.auth.global_keys), ["sk-ops"]);
    let Access::Keys(keys) = &gateway.targets["m"].default.access else {
        panic!("open")
    };
    assert_eq!(exposed(keys), ["sk-a", "sk-ops", "ops"]);
}

#[test]
fn who_may_call() {
    let check = |auth: &str, keys: &str, expect: Option<&[&str]>| {
        let text = format!(
            r#"{{ "auth": {{ "global_keys": {auth} }}, "targets": {{ "m": {{ "url": "http://h"{keys} }} }} }}"#
        );
        let gateway = read(&text).unwrap().gateway;
        match &gateway.targets["m"].default.access {
            Access::Open => assert_eq!(expect, None, "{text}"),
            Access::Keys(keys) => {
                let keys: Vec<_> = keys.iter().map(crate::Secret::expose).collect();
                assert_eq!(Some(keys.as_slice()), expect, "{text}");
            }
        }
    };
    check("[]", "", None);
    check("null", r#", "keys": null"#, None);
    check("[]", r#", "keys": []"#, Some(&[]));
    check("[]", r#", "keys": ["a"]"#, Some(&["a"]));
    check(r#"["g"]"#, "", Some(&["g"]));
    check(r#"["g"]"#, r#", "keys": []"#, Some(&["g"]));
    check(r#"["g"]"#, r#", "keys": ["a", "g"]"#, Some(&["a", "g"]));
}

#[test]
fn secrets_arrive_without_their_last_line_end() {
    let text = r#"{ "targets": { "m": { "url": "http://h", "keys": ["${file:/keys/global}", "${GLOBAL}", "${file:/keys/two-lines}"] } } }"#;
    let Access::Keys(keys) = read(text).unwrap().gateway.targets["m"]
        .default
        .access
        .clone()
    else {
        panic!("open")
    };
    let keys: Vec<_> = keys.iter().map(crate::Secret::expose).collect();
    assert_eq!(
        keys,
        ["sk-global-from-file", "sk-global-from-env", "sk-line\n"]
    );
}

#[test]
fn the_auth_value_is_prefix_and_key_and_sensitive() {
    let check = |members: &str, expect: Option<(&str, &str)>| {
        let text = format!(r#"{{ "targets": {{ "m": {{ "url": "http://h"{members} }} }} }}"#);
        let gateway = read(&text).unwrap().gateway;
        let provider = &gateway.targets["m"].default.providers[0];
        let value = provider.auth_value.as_ref();
        assert!(value.is_none_or(http::HeaderValue::is_sensitive));
        let found = value.map(|value| (provider.auth_header.as_str(), value.to_str().unwrap()));
        assert_eq!(found, expect, "{text}");
    };
    check("", None);
    check(r#", "upstream_auth_header_prefix": "Key ""#, None);
    check(
        r#", "onwards_key": "k""#,
        Some(("authorization", "Bearer k")),
    );
    check(
        r#", "onwards_key": "k", "upstream_auth_header_prefix": """#,
        Some(("authorization", "k")),
    );
    check(
        r#", "onwards_key": "${GLOBAL}", "upstream_auth_header_name": "X-Key""#,
        Some(("x-key", "Bearer sk-global-from-env")),
    );
}

#[test]
fn a_single_target_has_the_limits_of_a_pool() {
    let text = r#"{ "targets": { "m": { "url": "http://h", "rate_limit": { "requests_per_second": 0.2 }, "concurrency_limit": { "max_concurrent_requests": 4 } } } }"#;
    let gateway = read(text).unwrap().gateway;
    let pool = &gateway.targets["m"].default;
    assert_eq!(
        pool.rate_limit,
        Some(crate::RateLimit {
            per_second: 0.2,
            burst: 1
        })
    );
    assert_eq!(pool.concurrency_limit, Some(4));
    assert_eq!(
        (
            pool.providers[0].rate_limit,
            pool.providers[0].concurrency_limit
        ),
        (None, None)
    );
    assert_eq!(
        (pool.path.as_str(), pool.providers[0].path.as_str()),
        ("targets.m", "targets.m")
    );
}

#[test]
fn a_share_runs_where_the_documents_say() {
    let check = |pool: &str, runs: bool| {
        let text = format!(
            r#"{{ "targets": {{ "m": {{ "providers": [{{ "url": "http://h" }}], {pool} }} }} }}"#
        );
        let gateway = read(&text).unwrap().gateway;
        assert_eq!(
            gateway.targets["m"].default.fallback.aimd.is_some(),
            runs,
            "{text}"
        );
    };
    check(
        r#""strategy": "priority", "fallback": { "enabled": true }"#,
        true,
    );
    check(
        r#""strategy": "priority", "fallback": { "enabled": true, "first_token_timeout_ms": 5 }"#,
        true,
    );
    check(
        r#""strategy": "priority", "fallback": { "enabled": true, "aimd": { "enabled": false, "min_samples": 0, "window_samples": 1 } }"#,
        false,
    );
    check(
        r#""strategy": "priority", "fallback": { "enabled": true, "first_token_timeout_ms": 0, "aimd": { "breach_rate_target": 0.01 } }"#,
        true,
    );
    check(
        r#""strategy": "priority", "fallback": { "enabled": false }"#,
        false,
    );
    check(r#""strategy": "priority""#, false);
    check(r#""fallback": { "enabled": true }"#, false);
}

#[test]
fn the_default_recovery_rate_follows_a_smaller_target() {
    let text = r#"{ "targets": { "m": { "providers": [], "strategy": "priority", "fallback": { "enabled": true, "first_token_timeout_ms": 0, "aimd": { "breach_rate_target": 0.01 } } } } }"#;
    let gateway = read(text).unwrap().gateway;
    let aimd = gateway.targets["m"].default.fallback.aimd.clone().unwrap();
    assert_eq!(
        aimd,
        crate::Aimd {
            breach_rate_target: 0.01,
            recovery_breach_rate: 0.01,
            ..crate::Aimd::default()
        }
    );
}

#[test]
fn the_defaults_of_affinity_fit_what_is_given() {
    let check = |members: &str, expect: (u32, u64, u32)| {
        let text = format!(
            r#"{{ "targets": {{ "m": {{ "providers": [], "strategy": "priority", "fallback": {{ "enabled": true, "affinity": {{ {members} }} }} }} }} }}"#
        );
        let affinity = read(&text).unwrap().gateway.targets["m"]
            .default
            .fallback
            .affinity
            .unwrap();
        let interval = u64::try_from(affinity.update_interval.as_millis()).unwrap();
        assert_eq!(
            (affinity.margin, interval, affinity.max_tracked),
            expect,
            "{text}"
        );
    };
    check(r#""target_conversations": 1"#, (1, 60_000, 100_000));
    check(r#""target_conversations": 50"#, (5, 60_000, 100_000));
    check(
        r#""target_conversations": 51, "active_window_ms": 2000"#,
        (6, 2000, 100_000),
    );
    check(
        r#""target_conversations": 1000000"#,
        (100_000, 60_000, 1_100_000),
    );
}

#[test]
fn a_deadline_for_all_pools_and_a_mark_of_dispatched_requests() {
    let check = |members: &str, deadline: Option<u64>, header: Option<&str>| {
        let text = format!(
            r#"{{ {members} "targets": {{ "m": {{ "url": "http://h", "fallback": {{ "enabled": true }} }} }} }}"#
        );
        let gateway = read(&text).unwrap().gateway;
        let found = gateway.first_token_timeout.map(|span| span.as_millis());
        assert_eq!(found, deadline.map(u128::from), "{text}");
        let name = gateway.exempt_header.as_ref().map(http::HeaderName::as_str);
        assert_eq!(name, header, "{text}");
        let fallback = &gateway.targets["m"].default.fallback;
        assert_eq!(fallback.first_token_timeout, None, "{text}");
        assert!(!fallback.on_rejected_prompt, "{text}");
    };
    check("", None, None);
    check(
        r#""first_token_timeout_ms": null, "exempt_header": null,"#,
        None,
        None,
    );
    check(r#""first_token_timeout_ms": 0,"#, None, None);
    check(r#""first_token_timeout_ms": 1,"#, Some(1), None);
    check(
        r#""first_token_timeout_ms": 3600000,"#,
        Some(3_600_000),
        None,
    );
    check(r#""exempt_header": "X-Batch","#, None, Some("x-batch"));
}

#[test]
fn integers_may_be_written_as_floats_and_long_spans_are_cut() {
    let text = r#"{ "targets": { "m": { "url": "builtin:echo", "weight": 2.0, "connect_timeout_ms": 18446744073709551615, "request_timeout_secs": 1e3 } } }"#;
    let gateway = read(text).unwrap().gateway;
    let provider = &gateway.targets["m"].default.providers[0];
    assert_eq!(provider.endpoint, Endpoint::Echo);
    assert_eq!(provider.weight.get(), 2);
    assert_eq!(provider.connect_timeout.as_secs(), 365 * 24 * 3600);
    assert_eq!(provider.request_timeout.unwrap().as_secs(), 1000);
}
