//! The Helm chart. Where `helm` is installed it renders; where it is not, templates are read for what usually breaks.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{flags_exist, folder, loads, read, tool, yaml};

const CHART: &str = "helm/onwards";

/// The templates with their names.
fn templates() -> Vec<(String, String)> {
    let files = std::fs::read_dir(folder().join(CHART).join("templates")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    names
        .map(|name| (name.clone(), read(&format!("{CHART}/templates/{name}"))))
        .collect()
}

/// The actions of a template, without their braces and trim marks.
#[track_caller]
fn actions<'a>(name: &str, text: &'a str) -> Vec<&'a str> {
    let mut pieces = text.split("{{");
    assert!(
        !pieces.next().unwrap().contains("}}"),
        "{name}: an action that does not begin"
    );
    let inner = |piece: &'a str| {
        let (action, after) = piece
            .split_once("}}")
            .unwrap_or_else(|| panic!("{name}: an action without an end: {piece}"));
        assert!(
            !after.contains("}}"),
            "{name}: an action that does not begin: {piece}"
        );
        action.trim_matches('-').trim()
    };
    pieces.map(inner).collect()
}

/// The words after each occurrence of a mark: letters, digits and dots.
fn words<'a>(text: &'a str, mark: &str) -> Vec<&'a str> {
    let tails = text.split(mark).skip(1);
    tails
        .map(|tail| {
            tail.split(|c: char| !(c.is_alphanumeric() || c == '.'))
                .next()
                .unwrap()
        })
        .collect()
}

#[test]
fn the_templates_are_balanced_and_name_what_exists() {
    let values = yaml(&format!("{CHART}/values.yaml"));
    let all = templates();
    let mut defined = BTreeSet::new();
    let mut included = BTreeSet::new();
    for (name, text) in &all {
        let mut depth = 0_i32;
        for action in actions(name, text) {
            match action.split([' ', '(']).next().unwrap() {
                "if" | "range" | "with" | "define" => depth += 1,
                "end" => depth -= 1,
                _ => {}
            }
            assert!(depth >= 0, "{name}: an end too many");
        }
        assert_eq!(depth, 0, "{name}: an end is missing");
        for path in words(text, ".Values.") {
            let pointer = format!("/{}", path.trim_end_matches('.').replace('.', "/"));
            assert!(
                values.pointer(&pointer).is_some(),
                "{name}: values.yaml has no {path}"
            );
        }
        defined.extend(words(text, "define \"onwards"));
        included.extend(words(text, "include \"onwards"));
    }
    assert_eq!(defined, included);
}

#[test]
fn the_values_fit_their_schema() {
    let values = yaml(&format!("{CHART}/values.yaml"));
    let schema: Value =
        serde_json::from_str(&read(&format!("{CHART}/values.schema.json"))).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let problems = |values: &Value| {
        validator
            .iter_errors(values)
            .map(|error| error.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(problems(&values), Vec::<String>::new());
    for (pointer, wrong) in [
        ("/replicas", Value::from(0)),
        ("/shutdown/timeoutSeconds", Value::from("300")),
        ("/antiAffinity", Value::from("always")),
        ("/secretEnv", serde_json::json!({ "KEY": "text" })),
        (
            "/image",
            serde_json::json!({ "repository": "onwards", "name": "x" }),
        ),
    ] {
        let mut values = values.clone();
        *values.pointer_mut(pointer).unwrap() = wrong;
        assert_eq!(problems(&values).len(), 1, "{pointer}");
    }
    loads(values["config"].as_str().unwrap());
}

#[test]
fn the_pod_is_probed_and_closed() {
    let deployment = read(&format!("{CHART}/templates/deployment.yaml"));
    for line in [
        "path: /readyz",
        "path: /healthz",
        "port: metrics",
        "containerPort: 9090",
        "runAsNonRoot: true",
        "readOnlyRootFilesystem: true",
        "allowPrivilegeEscalation: false",
        "drop: [ALL]",
        "mountPath: /etc/onwards",
        r#"terminationGracePeriodSeconds: {{ include "onwards.gracePeriod" . }}"#,
    ] {
        assert!(
            deployment.lines().any(|found| found.trim() == line),
            "no line {line}"
        );
    }
    assert!(
        !deployment.contains("subPath:"),
        "a mounted file is never refreshed"
    );
    flags_exist(
        deployment
            .lines()
            .filter_map(|line| line.trim().strip_prefix("- "))
            .filter(|word| word.starts_with("--")),
    );
}

#[test]
fn helm_agrees() {
    let render = |set: &str, succeeds| {
        tool(
            "helm",
            &["template", "onwards", CHART, "--set", set],
            succeeds,
        )
    };
    for (set, line) in [
        ("replicas=3", "terminationGracePeriodSeconds: 360"),
        (
            "shutdown.timeoutSeconds=600",
            "terminationGracePeriodSeconds: 660",
        ),
        (
            "terminationGracePeriodSeconds=310",
            "terminationGracePeriodSeconds: 310",
        ),
        ("serviceMonitor.enabled=true", "kind: ServiceMonitor"),
        (
            "antiAffinity=preferred",
            "preferredDuringSchedulingIgnoredDuringExecution:",
        ),
        ("secretEnv.KEY.secret=a,secretEnv.KEY.key=b", "- name: KEY"),
        ("secretFiles.keys=a", "mountPath: /etc/onwards-secrets/keys"),
        ("tls.secretName=a", "secretName: a"),
        ("tls.secretName=a", "- /etc/onwards-tls/tls.crt"),
        ("existingConfigMap=mine,config=", "name: mine"),
    ] {
        let Some(manifest) = render(set, true) else {
            return;
        };
        assert!(
            manifest.lines().any(|found| found.trim() == line),
            "{set}: no line {line} in {manifest}"
        );
    }
    for wrong in [
        "terminationGracePeriodSeconds=309",
        "config=text",
        "nothing=1",
    ] {
        render(wrong, false);
    }
}
