use expect_test::{Expect, expect};
use serde_json::json;

use super::*;
use crate::tests::{always, budgets, names, on, surface, write};
use crate::{Surface, Translation};

fn check(spec: &Spec, expected: &Expect) {
    let lines: String = Translation::new(spec)
        .err()
        .unwrap_or_default()
        .iter()
        .map(|v| format!("{v}\n"))
        .collect();
    expected.assert_eq(&lines);
}

/// Whether a chat translation loads, and how many rules it breaks.
fn broken(spec: SurfaceSpec) -> usize {
    violations(&on(Surface::ChatCompletions, spec)).len()
}

#[test]
fn a_spec_needs_a_surface() {
    check(
        &Spec::default(),
        &expect![[r#"
            expected chat_completions or responses or both, found neither
        "#]],
    );
}

#[test]
fn every_broken_rule_is_reported_at_once() {
    let chat = SurfaceSpec {
        unsupported_efforts: vec!["ultra".to_owned(), "low".to_owned()],
        writes: vec![
            write("/reasoning/x", json!({"low": 1, "high": 2})),
            write("/reasoning", json!({"low": 1})),
            write("/messages", json!({})),
            write("thinking", json!({"LOW": 1})),
            write("/thinking_token_budget", json!({"low": -1, "high": "many"})),
            write("/reasoning/x", json!({"low": 1, "high": 2})),
        ],
    };
    let spec = Spec {
        chat_completions: Some(chat),
        responses: Some(SurfaceSpec::default()),
    };
    check(
        &spec,
        &expect![[r#"
            chat_completions.unsupported_efforts[0]: expected one of the efforts none, minimal, low, medium, high, xhigh, max, found 'ultra'
            chat_completions.writes[2].target_path: expected /reasoning_effort, /thinking_token_budget, /chat_template_kwargs/thinking, /chat_template_kwargs/enable_thinking, or a path at or below /reasoning or /thinking, found '/messages'
            chat_completions.writes[2].values: expected at least one effort, found none
            chat_completions.writes[3].target_path: expected '/' and 1 to 8 segments of letters, digits, '_' and '-', found 'thinking'
            chat_completions.writes[3].values.LOW: expected one of the efforts none, minimal, low, medium, high, xhigh, max, found 'LOW'
            chat_completions.writes[4].values.high: expected a non-negative integer of tokens, found a string
            chat_completions.writes[4].values.low: expected a non-negative integer of tokens, found another number
            chat_completions.writes[1].values: expected the efforts of the first write (low, high), found low
            chat_completions.writes[3].values: expected the efforts of the first write (low, high), found none at all
            chat_completions.unsupported_efforts: expected every effort here or in the writes, found low in both
            chat_completions: expected every effort mapped or unsupported, found no decision on none, minimal, medium, xhigh, max
            chat_completions.writes[1].target_path: expected separate members, found a path overlapping chat_completions.writes[0]
            chat_completions.writes[5].target_path: expected separate members, found the same path as chat_completions.writes[0]
            chat_completions.writes[5].target_path: expected separate members, found a path overlapping chat_completions.writes[1]
            chat_completions.writes[4].target_path: expected a write to /reasoning_effort beside /thinking_token_budget, found none
            responses.writes: expected at least one write, found none
            responses: expected every effort mapped or unsupported, found no decision on none, minimal, low, medium, high, xhigh, max
        "#]],
    );
}

#[test]
fn target_paths() {
    let ok = [
        "/reasoning_effort",
        "/reasoning",
        "/reasoning/a/b/c/d/e/f/g",
        "/reasoning/effort",
        "/thinking",
        "/thinking/Type-1_x",
        "/chat_template_kwargs/thinking",
        "/chat_template_kwargs/enable_thinking",
    ];
    let bad = [
        "",
        "/",
        "thinking",
        "//thinking",
        "/thinking/",
        "/thinking//x",
        "/thinking/a~1b",
        "/thinking/a b",
        "/thinking/é",
        "/reasoning/a/b/c/d/e/f/g/h",
        "/reasoning_effort/x",
        "/chat_template_kwargs",
        "/chat_template_kwargs/thinking/x",
        "/chat_template_kwargs/other",
        "/messages",
        "/model",
        "/thinkings",
    ];
    for path in ok {
        assert_eq!(broken(surface(vec![always(path, &json!(1))])), 0, "{path}");
    }
    for path in bad {
        assert_eq!(broken(surface(vec![always(path, &json!(1))])), 1, "{path}");
    }
}

#[test]
fn efforts_are_all_decided_once() {
    let all = names("/reasoning_effort");
    assert_eq!(
        broken(surface(vec![write("/thinking", json!({"low": 1}))])),
        0
    );
    assert_eq!(
        broken(SurfaceSpec {
            unsupported_efforts: vec![],
            writes: vec![all.clone()]
        }),
        0
    );
    for effort in Effort::ALL {
        let both = SurfaceSpec {
            unsupported_efforts: vec![effort.name().to_owned()],
            writes: vec![all.clone()],
        };
        assert_eq!(broken(both), 1, "{effort} both");
        let mut without = all.clone();
        without.values.remove(effort.name());
        assert_eq!(
            broken(SurfaceSpec {
                unsupported_efforts: vec![],
                writes: vec![without]
            }),
            1,
            "{effort} neither"
        );
    }
}

#[test]
fn values_have_bounds() {
    let text = |bytes: usize| json!("x".repeat(bytes - 2));
    let nested = |levels: usize| {
        (0..levels).fold(json!(0), |inner, i| {
            if i % 2 == 0 {
                json!([inner])
            } else {
                json!({"a": inner})
            }
        })
    };
    for (value, rules) in [
        (text(8_192), 0),
        (text(8_193), 7),
        (nested(8), 0),
        (nested(9), 7),
        (json!(null), 0),
    ] {
        assert_eq!(broken(surface(vec![always("/thinking", &value)])), rules);
    }
}

#[test]
fn a_budget_comes_with_an_effort_and_counts_tokens() {
    let effort = || names("/reasoning_effort");
    assert_eq!(broken(surface(vec![effort(), budgets()])), 0);
    assert_eq!(broken(surface(vec![budgets()])), 1);
    assert_eq!(
        broken(surface(vec![names("/reasoning/effort"), budgets()])),
        1
    );
    for value in [json!(-1), json!(1.5), json!("1"), json!(null), json!(1e30)] {
        assert_eq!(
            broken(surface(vec![
                effort(),
                always("/thinking_token_budget", &value)
            ])),
            7,
            "{value}"
        );
    }
    let responses = on(
        Surface::Responses,
        surface(vec![names("/reasoning/effort"), budgets()]),
    );
    assert_eq!(violations(&responses).len(), 1);
}
