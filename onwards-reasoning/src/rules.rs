//! The rules a translation must keep, all checked, every broken one reported.
//!
//! They make acceptance, collapsing and refusal of each effort a conscious choice of the operator, and keep
//! writes inside the members that concern reasoning, so a translation cannot touch `model` or `messages`.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{Effort, Spec, SurfaceSpec, Violation, WriteSpec};

/// The longest value a write may put into a request, in bytes of compact JSON.
const VALUE_BYTES: usize = 8_192;
/// The deepest nesting of arrays and objects in such a value; a scalar has none.
const VALUE_DEPTH: usize = 8;
/// The most segments of a target path.
const PATH_SEGMENTS: usize = 8;

/// Where efforts are written by name.
const EFFORT_PATH: &str = "/reasoning_effort";
/// Where a budget of tokens is written; a write to it makes the budget rules apply to requests.
pub(crate) const BUDGET_PATH: &str = "/thinking_token_budget";
/// Everything at and below these may be written.
const OPEN_ROOTS: [&str; 2] = ["reasoning", "thinking"];
/// These and nothing below.
const EXACT_PATHS: [&str; 4] = [
    EFFORT_PATH,
    BUDGET_PATH,
    "/chat_template_kwargs/thinking",
    "/chat_template_kwargs/enable_thinking",
];

/// Checks a whole spec; an empty list means all rules are kept.
pub(crate) fn violations(spec: &Spec) -> Vec<Violation> {
    let mut found = Vec::new();
    let surfaces = [
        ("chat_completions", &spec.chat_completions),
        ("responses", &spec.responses),
    ];
    if surfaces.iter().all(|(_, surface)| surface.is_none()) {
        report(
            &mut found,
            "",
            "chat_completions or responses or both",
            "neither",
        );
    }
    for (name, surface) in surfaces {
        if let Some(surface) = surface {
            check_surface(name, surface, &mut found);
        }
    }
    found
}

/// The segments of a pointer whose form is right: a leading `/`, 1 to 8 segments of `[A-Za-z0-9_-]+`.
pub(crate) fn segments(pointer: &str) -> Option<Vec<&str>> {
    let segments: Vec<&str> = pointer.strip_prefix('/')?.split('/').collect();
    let named = |segment: &&str| {
        !segment.is_empty()
            && segment
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
    };
    (segments.len() <= PATH_SEGMENTS && segments.iter().all(named)).then_some(segments)
}

fn check_surface(at: &str, surface: &SurfaceSpec, found: &mut Vec<Violation>) {
    if surface.writes.is_empty() {
        report(found, &format!("{at}.writes"), "at least one write", "none");
    }
    for (i, name) in surface.unsupported_efforts.iter().enumerate() {
        check_effort_name(&format!("{at}.unsupported_efforts[{i}]"), name, found);
    }
    for (i, write) in surface.writes.iter().enumerate() {
        check_write(&format!("{at}.writes[{i}]"), write, found);
    }
    check_same_efforts(at, surface, found);
    check_all_efforts(at, surface, found);
    check_paths_apart(at, surface, found);
    check_budget_companion(at, surface, found);
}

fn check_write(at: &str, write: &WriteSpec, found: &mut Vec<Violation>) {
    check_path(&format!("{at}.target_path"), &write.target_path, found);
    if write.values.is_empty() {
        report(
            found,
            &format!("{at}.values"),
            "at least one effort",
            "none",
        );
    }
    for (name, value) in &write.values {
        let at = format!("{at}.values.{name}");
        check_effort_name(&at, name, found);
        let bytes = value.to_string().len();
        if bytes > VALUE_BYTES {
            report(
                found,
                &at,
                format!("at most {VALUE_BYTES} bytes of JSON"),
                bytes.to_string(),
            );
        }
        let levels = depth(value);
        if levels > VALUE_DEPTH {
            report(
                found,
                &at,
                format!("at most {VALUE_DEPTH} levels of nesting"),
                levels.to_string(),
            );
        }
        if write.target_path == BUDGET_PATH && value.as_u64().is_none() {
            report(found, &at, "a non-negative integer of tokens", kind(value));
        }
    }
}

fn check_path(at: &str, path: &str, found: &mut Vec<Violation>) {
    let Some(segments) = segments(path) else {
        let expected =
            format!("'/' and 1 to {PATH_SEGMENTS} segments of letters, digits, '_' and '-'");
        return report(found, at, expected, format!("'{path}'"));
    };
    let open = segments
        .first()
        .is_some_and(|root| OPEN_ROOTS.contains(root));
    if !open && !EXACT_PATHS.contains(&path) {
        let expected = format!(
            "{}, or a path at or below /reasoning or /thinking",
            EXACT_PATHS.join(", ")
        );
        report(found, at, expected, format!("'{path}'"));
    }
}

fn check_effort_name(at: &str, name: &str, found: &mut Vec<Violation>) {
    if Effort::parse(name).is_none() {
        let all = Effort::list(Effort::ALL);
        report(
            found,
            at,
            format!("one of the efforts {all}"),
            format!("'{name}'"),
        );
    }
}

/// Every write maps the efforts that the first one maps.
fn check_same_efforts(at: &str, surface: &SurfaceSpec, found: &mut Vec<Violation>) {
    let Some((first, others)) = surface.writes.split_first() else {
        return;
    };
    let expected = mapped([first]);
    for (i, write) in others.iter().enumerate() {
        let these = mapped([write]);
        if these != expected && !write.values.is_empty() {
            let (these, expected) = (listed(&these), listed(&expected));
            let at = format!("{at}.writes[{}].values", i + 1);
            let expected = format!("the efforts of the first write ({expected})");
            report(found, &at, expected, these);
        }
    }
}

/// Mapped and unsupported efforts are disjoint, and together all seven.
fn check_all_efforts(at: &str, surface: &SurfaceSpec, found: &mut Vec<Violation>) {
    let mapped = mapped(&surface.writes);
    let unsupported: BTreeSet<Effort> = surface
        .unsupported_efforts
        .iter()
        .filter_map(|name| Effort::parse(name))
        .collect();
    let both: BTreeSet<Effort> = mapped.intersection(&unsupported).copied().collect();
    if !both.is_empty() {
        report(
            found,
            &format!("{at}.unsupported_efforts"),
            "every effort here or in the writes",
            format!("{} in both", listed(&both)),
        );
    }
    let missing: BTreeSet<Effort> = Effort::ALL
        .into_iter()
        .filter(|e| !mapped.contains(e) && !unsupported.contains(e))
        .collect();
    if !missing.is_empty() {
        report(
            found,
            at,
            "every effort mapped or unsupported",
            format!("no decision on {}", listed(&missing)),
        );
    }
}

/// No path equals another one or lies below it.
fn check_paths_apart(at: &str, surface: &SurfaceSpec, found: &mut Vec<Violation>) {
    let paths: Vec<Vec<&str>> = surface
        .writes
        .iter()
        .map(|write| segments(&write.target_path).unwrap_or_default())
        .collect();
    for (i, later) in paths.iter().enumerate() {
        for (j, earlier) in paths.iter().enumerate().take(i) {
            let apart = later.is_empty()
                || earlier.is_empty()
                || !(later.starts_with(earlier) || earlier.starts_with(later));
            if !apart {
                let relation = if later == earlier {
                    "the same path as"
                } else {
                    "a path overlapping"
                };
                report(
                    found,
                    &format!("{at}.writes[{i}].target_path"),
                    "separate members",
                    format!("{relation} {at}.writes[{j}]"),
                );
            }
        }
    }
}

/// A budget alone does not switch reasoning on, so it comes with an effort.
fn check_budget_companion(at: &str, surface: &SurfaceSpec, found: &mut Vec<Violation>) {
    let position = |path: &str| {
        surface
            .writes
            .iter()
            .position(|write| write.target_path == path)
    };
    if let (Some(i), None) = (position(BUDGET_PATH), position(EFFORT_PATH)) {
        report(
            found,
            &format!("{at}.writes[{i}].target_path"),
            format!("a write to {EFFORT_PATH} beside {BUDGET_PATH}"),
            "none",
        );
    }
}

fn mapped<'a>(writes: impl IntoIterator<Item = &'a WriteSpec>) -> BTreeSet<Effort> {
    writes
        .into_iter()
        .flat_map(|write| write.values.keys())
        .filter_map(|name| Effort::parse(name))
        .collect()
}

fn listed(efforts: &BTreeSet<Effort>) -> String {
    if efforts.is_empty() {
        "none at all".to_owned()
    } else {
        Effort::list(efforts.iter().copied())
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "another number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn report(
    violations: &mut Vec<Violation>,
    path: &str,
    expected: impl Into<String>,
    found: impl Into<String>,
) {
    violations.push(Violation {
        path: path.to_owned(),
        found: found.into(),
        expected: expected.into(),
    });
}

#[cfg(test)]
mod tests;
