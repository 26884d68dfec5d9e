use super::*;
use crate::workspace::{metadata, root};

#[test]
fn the_manifests_match_the_table() {
    let metadata = metadata(&root().unwrap()).unwrap();
    assert_eq!(check(&metadata), Vec::<String>::new());
}

/// A table that lists a crate above its reader would let a circle in.
#[test]
fn imports_only_go_down() {
    for (position, layer) in LAYERS.iter().enumerate() {
        for name in layer.inside {
            let at = LAYERS.iter().position(|other| other.name == *name);
            assert!(
                at.is_some_and(|at| at < position),
                "{} may not import {name}",
                layer.name
            );
        }
    }
}

/// The ground is the one crate a stone may import.
#[test]
fn stones_are_blind_to_each_other() {
    for layer in LAYERS.iter().filter(|layer| layer.floor == "stone") {
        assert!(
            layer.inside.iter().all(|name| *name == "onwards-json"),
            "{}",
            layer.name
        );
    }
}

#[track_caller]
fn check_one(package: &str, dependency: &str, expect: &[&str]) {
    let text = format!(
        r#"{{"target_directory":"t","packages":[{{"name":"{package}","manifest_path":"m","targets":[],
            "dependencies":[{dependency}]}}]}}"#
    );
    let metadata: Metadata = serde_json::from_str(&text).unwrap();
    let problems = check(&metadata);
    let found: Vec<&str> = problems
        .iter()
        .filter(|p| !p.contains("not a workspace member"))
        .map(String::as_str)
        .collect();
    assert_eq!(found, expect);
}

#[test]
fn each_kind_of_stray_dependency_is_named() {
    let stray = "not in the layer table of xtask/src/layers.rs";
    check_one(
        "onwards-sse",
        r#"{"name":"bytes","kind":null,"path":null}"#,
        &[],
    );
    check_one(
        "onwards-sse",
        r#"{"name":"proptest","kind":"dev","path":null}"#,
        &[],
    );
    check_one(
        "onwards-sse",
        r#"{"name":"proptest","kind":null,"path":null}"#,
        &[&format!("onwards-sse: dependency on proptest is {stray}")],
    );
    check_one(
        "onwards-sse",
        r#"{"name":"tokio","kind":"dev","path":null}"#,
        &[&format!("onwards-sse: dev-dependency on tokio is {stray}")],
    );
    check_one(
        "onwards-sse",
        r#"{"name":"onwards-limits","kind":"dev","path":"x"}"#,
        &[&format!(
            "onwards-sse: dev-dependency on onwards-limits is {stray}"
        )],
    );
    check_one(
        "onwards-strict",
        r#"{"name":"onwards-json","kind":null,"path":"x"}"#,
        &[],
    );
    check_one(
        "onwards-new",
        r#"{"name":"bytes","kind":null,"path":null}"#,
        &[&format!("onwards-new: {stray}")],
    );
}
