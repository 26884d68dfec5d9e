//! The schema, the reader and the reference say the same.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{dialects, documents, everything, read};
use crate::node::{Node, Reading};
use crate::path::Path;

fn valid(document: &Value) -> bool {
    jsonschema::validator_for(&crate::schema())
        .unwrap()
        .is_valid(document)
}

#[test]
fn the_schema_is_one_and_accepts_every_good_document() {
    let schema = crate::schema();
    jsonschema::meta::validate(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (path, text) in documents("documented").into_iter().chain(documents("own")) {
        let document: Value = serde_json::from_str(&text).unwrap();
        if let Err(error) = validator.validate(&document) {
            panic!("{}: {error}", path.display());
        }
    }
}

/// Members by object, as the reader asked for them while it read every kind of object there is.
fn asked() -> BTreeMap<String, BTreeSet<String>> {
    let mut asked = BTreeMap::new();
    for (_, text) in documents("own") {
        let json = serde_json::from_str(&text).unwrap();
        let reading = Reading::new(&super::Few);
        crate::read::config(&Node {
            json: &json,
            path: Path::root(),
            reading: &reading,
        });
        for (kind, names) in reading.asked.take() {
            asked
                .entry(kind.to_owned())
                .or_insert_with(BTreeSet::new)
                .extend(names.into_iter().map(str::to_owned));
        }
    }
    asked
}

/// Members by object, as the schema has them.
fn described() -> BTreeMap<String, BTreeSet<String>> {
    let schema = crate::schema();
    let root = std::iter::once(("config".to_owned(), &schema));
    let definitions = schema["$defs"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, definition)| (name.clone(), definition));
    let names = |definition: &Value| {
        let forms = definition["oneOf"].as_array().cloned().unwrap_or_default();
        let objects = std::iter::once(definition.clone()).chain(forms);
        objects
            .filter_map(|object| {
                Some(
                    object["properties"]
                        .as_object()?
                        .keys()
                        .cloned()
                        .collect::<Vec<_>>(),
                )
            })
            .flatten()
            .collect::<BTreeSet<_>>()
    };
    root.chain(definitions)
        .map(|(name, definition)| (name, names(definition)))
        .filter(|(_, names)| !names.is_empty())
        .collect()
}

#[test]
fn reader_and_schema_know_the_same_members() {
    assert_eq!(asked(), described());
}

/// Every place of a document with a value of the kind the schema bounds.
fn places(value: &Value, at: String, all: &mut Vec<String>) {
    match value {
        Value::Object(members) => members
            .iter()
            .for_each(|(name, value)| places(value, format!("{at}/{name}"), all)),
        Value::Array(elements) => elements
            .iter()
            .enumerate()
            .for_each(|(index, value)| places(value, format!("{at}/{index}"), all)),
        _ => {}
    }
    all.push(at);
}

/// Values at and around every bound, and of every type.
fn values() -> Vec<Value> {
    vec![
        json!(0),
        json!(1),
        json!(2),
        json!(399),
        json!(400),
        json!(599),
        json!(600),
        json!(999),
        json!(1000),
        json!(3_600_000),
        json!(3_600_001),
        json!(86_400_000),
        json!(86_400_001),
        json!(1_000_000),
        json!(1_000_001),
        json!(10_000_001),
        json!(4_294_967_295_u64),
        json!(4_294_967_296_u64),
        json!(u64::MAX),
        json!(-1),
        json!(0.5),
        json!(1.0),
        json!(-0.0),
        json!(1.5),
        json!(true),
        json!(false),
        json!(""),
        json!("x"),
        json!(" "),
        json!("http://h"),
        json!("redis://h"),
        json!("redis://a b"),
        json!("HTTPS://h/x?q"),
        json!("ftp://h"),
        json!("http://u@h"),
        json!("http://h#f"),
        json!("priority"),
        json!("full"),
        json!("deny"),
        json!([]),
        json!({}),
        json!([1]),
        json!(["x"]),
        json!([{}]),
        json!({ "x": 1 }),
        json!({ "x": "y" }),
        json!({ "x": {} }),
        Value::Null,
    ]
}

/// Puts many values at every place. What the schema rejects the reader must reject, and what the reader
/// rejects the schema must, unless the rule concerns several values or the inside of a text.
#[test]
fn reader_and_schema_agree_on_every_value_alone() {
    let schema = crate::schema();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let mut document = everything();
    document["targets"]["single"]["fallback"]["first_token_timeout_ms"] = json!(0);
    document["targets"]["single"]["routing_rules"][0]["action"]["target"] = json!("single");
    let mut differences = BTreeSet::new();
    for document in [document, dialects()] {
        differences.append(&mut differences_of(&validator, &document));
    }
    assert_eq!(differences, BTreeSet::new());
}

fn differences_of(validator: &jsonschema::Validator, document: &Value) -> BTreeSet<String> {
    let values = values();
    let mut all = Vec::new();
    places(document, String::new(), &mut all);
    // The inside of a translation is checked where it is compiled.
    all.retain(|place| !place.contains("/reasoning_translation"));
    let mut differences = BTreeSet::new();
    for place in &all {
        let numeric = document.pointer(place).unwrap().is_number();
        for value in values
            .iter()
            .filter(|value| numeric || !value.is_number() || **value == json!(1))
        {
            let mut document = document.clone();
            *document.pointer_mut(place).unwrap() = value.clone();
            let json = serde_json::from_str(&document.to_string()).unwrap();
            let (_, issues) = crate::meaning(&json, &super::Few);
            let first = issues
                .into_iter()
                .find(|issue| issue.severity == crate::Severity::Error);
            if first
                .as_ref()
                .is_some_and(|issue| is_relation(&issue.expected))
            {
                continue;
            }
            if validator.is_valid(&document) == first.is_some() {
                differences.insert(match first {
                    Some(issue) => format!(
                        "only the reader at {place}: {value}; expected {}\n",
                        issue.expected
                    ),
                    None => format!("only the schema at {place}: {value}\n"),
                });
            }
        }
    }
    differences
}

/// Rules between several values, which no schema of single values can know.
fn is_relation(expected: &str) -> bool {
    [
        "at most `",
        "at least target plus",
        "0, or from the latency",
        "an alias of",
        "the strategy",
        "`fallback.enabled`",
        "either it or",
        "`redis` to begin",
        "`kind`",
        "one that the kind",
        "a name of `providers`",
        "keys of AWS",
    ]
    .iter()
    .any(|start| expected.starts_with(start))
}

#[test]
fn the_schema_rejects_what_it_can_know() {
    for document in [
        json!({}),
        json!([]),
        json!({ "targets": [] }),
        json!({ "targets": { "m": {} } }),
        json!({ "targets": { "m": { "url": 1 } } }),
        json!({ "targets": { "m": { "providers": [{}] } } }),
        json!({ "targets": { "m": { "pools": {} } } }),
        json!({ "targets": { "m": { "pools": { "default": { "providers": [] }, "batch": { "providers": [] } } } } }),
        json!({ "targets": {}, "auth": { "key_definitions": { "a": {} } } }),
        json!({ "targets": {}, "auth": { "key_definitions": { "a": { "key": "k", "labels": { "account": "__batch__" } } } } }),
        json!({ "targets": {}, "auth": { "key_definitions": { "a": { "key": "k", "labels": { "account": 1 } } } } }),
        json!({ "targets": {}, "exempt_header": "x y" }),
        json!({ "targets": {}, "first_token_timeout_ms": 3_600_001 }),
        json!({ "targets": {}, "max_inflight_requests": 0 }),
    ] {
        assert!(!valid(&document), "{document}");
        assert!(read(&document.to_string()).is_err(), "{document}");
    }
}

#[test]
fn the_reference_names_every_member() {
    let reference = crate::reference();
    for (kind, names) in described() {
        let heading = if kind == "config" {
            "# Configuration reference\n".to_owned()
        } else {
            format!("\n## {kind}\n")
        };
        let section = reference
            .split(&heading)
            .nth(1)
            .unwrap_or_else(|| panic!("no section {kind}"));
        let section = section.split("\n## ").next().unwrap();
        for name in names {
            assert!(
                section.contains(&format!("`{name}`")) || section.contains(&format!("\"{name}\"")),
                "{kind}.{name}"
            );
        }
    }
}
