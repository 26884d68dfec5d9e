//! Arbitrary and damaged files: reading never panics, and no problem shows a secret.

use proptest::prelude::*;
use serde_json::Value;

use super::{dialects, documents, everything, read};

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        prop_oneof![
            Just("http://h"),
            Just("${A"),
            Just("${GLOBAL}"),
            Just("${file:}"),
            Just("ops"),
            Just("priority"),
            Just("https://[::1]:99/%2"),
            Just("http://u:p@h/?q#f"),
            Just("ä@"),
            Just("http://"),
            Just("builtin:echo"),
            Just("\u{0}"),
        ]
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z_]{0,8}", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Every place of a document.
fn places(value: &Value, at: String, all: &mut Vec<String>) {
    match value {
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            places(
                value,
                format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")),
                all,
            );
        }),
        Value::Array(elements) => elements
            .iter()
            .enumerate()
            .for_each(|(index, value)| places(value, format!("{at}/{index}"), all)),
        _ => {}
    }
    all.push(at);
}

/// Reads; whatever comes of it, every part of it can be shown.
fn survives(text: &[u8]) {
    match crate::read(text, &super::Few) {
        Ok(loaded) => {
            assert!(!format!("{loaded:?} {}", crate::redacted(&loaded.gateway)).is_empty());
        }
        Err(problems) => {
            assert!(
                problems
                    .0
                    .iter()
                    .any(|problem| problem.severity == crate::Severity::Error)
            );
            assert!(!problems.to_string().is_empty());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn any_bytes(text in prop::collection::vec(any::<u8>(), 0..64)) {
        survives(&text);
    }

    #[test]
    fn any_json(value in json()) {
        survives(value.to_string().as_bytes());
        survives(serde_json::json!({ "targets": { "m": value.clone() }, "auth": value }).to_string().as_bytes());
    }

    #[test]
    fn any_value_at_any_place(value in json(), place in any::<prop::sample::Index>(), other in any::<bool>()) {
        let mut document = if other { dialects() } else { everything() };
        let mut all = Vec::new();
        places(&document, String::new(), &mut all);
        *document.pointer_mut(place.get(&all).as_str()).unwrap() = value;
        survives(document.to_string().as_bytes());
    }

    #[test]
    fn any_damage_to_the_text(file in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()) {
        let all: Vec<_> = documents("own").into_iter().chain(documents("documented")).collect();
        let mut text = file.get(&all).1.clone().into_bytes();
        let at = at.index(text.len());
        if cut { text.truncate(at) } else { text[at] = byte }
        survives(&text);
    }
}

/// What no problem may show.
const MARK: &str = "hunter2";

/// Replaces every secret of the file by a marker, breaks the file at every place, and looks for the marker.
#[test]
fn no_secret_in_any_problem() {
    let mut document = everything();
    for place in [
        "/auth/global_keys/1",
        "/auth/key_definitions/ops/key",
        "/targets/single/onwards_key",
        "/targets/single/keys/0",
    ] {
        *document.pointer_mut(place).unwrap() = format!("sk-{MARK}-{}", place.len()).into();
    }
    for place in ["/proxy/http", "/proxy/https"] {
        *document.pointer_mut(place).unwrap() = format!("http://user:{MARK}@proxy.example").into();
    }
    document["shared_state"]["redis"] = format!("rediss://:{MARK}@store.example").into();
    document["targets"]["pool"]["providers"][0]["url"] =
        format!("https://user:{MARK}@h/?key={MARK}#{MARK}").into();
    stays_clean(
        &document,
        &[
            "/auth",
            "/auth/global_keys",
            "/auth/key_definitions",
            "/auth/key_definitions/ops",
            "/auth/global_keys/1",
            "/auth/key_definitions/ops/key",
            "/targets/single/onwards_key",
            "/targets/single/keys",
            "/proxy/http",
            "/shared_state",
            "/shared_state/redis",
            "/shared_state/ca",
        ],
    );
}

/// The same for the secrets of dialects.
#[test]
fn no_secret_of_a_dialect_in_any_problem() {
    let secrets = [
        "/dry_run_key",
        "/providers/openai/onwards_key",
        "/providers/anthropic/auth/value",
        "/providers/anthropic/auth/prefix",
        "/providers/anthropic/headers/X-Team",
        "/providers/bedrock/aws/access_key_id",
        "/providers/bedrock/aws/secret_access_key",
        "/providers/bedrock/aws/session_token",
        "/providers/plain/upstream_auth_header_prefix",
        "/targets/region/aws/secret_access_key",
    ];
    let mut document = dialects();
    for place in secrets {
        *document.pointer_mut(place).unwrap() = format!("sk-{MARK}-{}", place.len()).into();
    }
    let objects = [
        "/providers",
        "/providers/anthropic",
        "/providers/anthropic/auth",
        "/providers/anthropic/headers",
        "/providers/bedrock/aws",
        "/targets/region/aws",
    ];
    stays_clean(&document, &[&secrets[..], &objects].concat());
}

/// Breaks a document at every place, and puts broken secrets at those where they might stand.
fn stays_clean(document: &Value, secrets: &[&str]) {
    let clean = |text: &str| match read(text) {
        Ok(loaded) => {
            let shown = format!(
                "{loaded:?} {:?} {}",
                loaded.warnings,
                crate::redacted(&loaded.gateway)
            );
            assert!(!shown.contains(MARK), "{shown}");
        }
        Err(problems) => {
            let shown = format!("{problems} {problems:?}");
            assert!(!shown.contains(MARK), "{shown}");
        }
    };
    clean(&document.to_string());
    let mut all = Vec::new();
    places(document, String::new(), &mut all);
    let secret = |kind: Value| serde_json::json!([format!("sk-{MARK}\n"), kind, { "k": format!("{MARK}\u{e9}") }]);
    for place in &all {
        for broken in [
            Value::from(1),
            Value::Null,
            Value::from(true),
            serde_json::json!({ "x": [1] }),
        ] {
            let mut document = document.clone();
            *document.pointer_mut(place).unwrap() = broken.clone();
            clean(&document.to_string());
        }
    }
    for place in secrets {
        for broken in [
            secret(Value::Null),
            secret(1.into())[0].clone(),
            format!("${{{MARK} x}}").into(),
            format!("${{A}}{MARK}").into(),
        ] {
            let mut document = document.clone();
            *document.pointer_mut(place).unwrap() = broken;
            clean(&document.to_string());
        }
    }
}
