use serde_json::{Value, json};

use super::*;
use crate::tests::controls;

/// The outcome of an ask in short: `-` for none, `low` or `low <limit>`, or `code param` of the refusal.
fn check(at: Surface, cases: &[(Value, &str)]) {
    for (body, expected) in cases {
        let outcome = match controls(at, body, |c| c.ask()) {
            Ok(None) => "-".to_owned(),
            Ok(Some(ask)) => match ask.limit {
                Limit::Missing => ask.effort.to_string(),
                Limit::Tokens { param, tokens } => format!("{} {param}={tokens}", ask.effort),
                Limit::Invalid { param } => format!("{} {param}=?", ask.effort),
            },
            Err(refusal) => format!("{} {}", refusal.code, refusal.param),
        };
        assert_eq!(outcome, *expected, "{body}");
    }
}

#[test]
fn chat_efforts() {
    check(
        Surface::ChatCompletions,
        &[
            (json!({}), "-"),
            (json!({"reasoning_effort": null}), "-"),
            (json!({"reasoning": {"effort": 1}}), "-"),
            (json!({"reasoning_effort": "none"}), "none"),
            (json!({"reasoning_effort": "xhigh"}), "xhigh"),
            (
                json!({"reasoning_effort": 1}),
                "invalid_type reasoning_effort",
            ),
            (
                json!({"reasoning_effort": ["low"]}),
                "invalid_type reasoning_effort",
            ),
            (
                json!({"reasoning_effort": "LOW"}),
                "invalid_value reasoning_effort",
            ),
            (
                json!({"reasoning_effort": "low "}),
                "invalid_value reasoning_effort",
            ),
            (
                json!({"reasoning_effort": ""}),
                "invalid_value reasoning_effort",
            ),
        ],
    );
}

#[test]
fn responses_efforts() {
    check(
        Surface::Responses,
        &[
            (json!({}), "-"),
            (json!({"reasoning": null}), "-"),
            (json!({"reasoning": {}}), "-"),
            (
                json!({"reasoning": {"effort": null, "summary": "auto"}}),
                "-",
            ),
            (json!({"reasoning_effort": "ultra"}), "-"),
            (
                json!({"reasoning": {"effort": "low", "summary": "auto"}}),
                "low",
            ),
            (json!({"reasoning": "low"}), "invalid_type reasoning"),
            (json!({"reasoning": []}), "invalid_type reasoning"),
            (
                json!({"reasoning": {"effort": {}}}),
                "invalid_type reasoning.effort",
            ),
            (
                json!({"reasoning": {"effort": "ultra"}}),
                "invalid_value reasoning.effort",
            ),
        ],
    );
}

#[test]
fn legacy_completions_ask_for_nothing() {
    check(
        Surface::Completions,
        &[(json!({"reasoning_effort": 1, "reasoning": []}), "-")],
    );
}

#[test]
fn limits() {
    let chat = |limits: &str| {
        let mut body: Value = serde_json::from_str(limits).unwrap();
        body["reasoning_effort"] = json!("low");
        body
    };
    check(
        Surface::ChatCompletions,
        &[
            (chat(r#"{"max_tokens": 5}"#), "low max_tokens=5"),
            (
                chat(r#"{"max_tokens": 5, "max_completion_tokens": 0}"#),
                "low max_completion_tokens=0",
            ),
            (
                chat(r#"{"max_tokens": 5, "max_completion_tokens": null}"#),
                "low max_tokens=5",
            ),
            (
                chat(r#"{"max_tokens": null, "max_completion_tokens": null}"#),
                "low",
            ),
            (
                chat(r#"{"max_tokens": 5, "max_completion_tokens": "9"}"#),
                "low max_completion_tokens=?",
            ),
            (chat(r#"{"max_tokens": -1}"#), "low max_tokens=?"),
            (chat(r#"{"max_tokens": 1.0}"#), "low max_tokens=?"),
            (
                chat(r#"{"max_tokens": 18446744073709551615}"#),
                "low max_tokens=18446744073709551615",
            ),
            (chat(r#"{"max_output_tokens": 5}"#), "low"),
        ],
    );
    check(
        Surface::Responses,
        &[(
            json!({"reasoning": {"effort": "low"}, "max_output_tokens": 7, "max_tokens": 5}),
            "low max_output_tokens=7",
        )],
    );
}

#[test]
fn raw_text_is_taken_as_it_stands() {
    let read = |effort, limit| {
        Controls::read(Surface::ChatCompletions, |name| match name {
            "reasoning_effort" => Some(effort),
            "max_tokens" => Some(limit),
            _ => None,
        })
    };
    let limit = |raw| read("\"low\"", raw).unwrap().unwrap().limit;
    assert_eq!(
        read(" \"l\\u006fw\" ", " 5 ").unwrap().unwrap().effort,
        Effort::Low
    );
    assert_eq!(
        limit("\n5\t"),
        Limit::Tokens {
            param: "max_tokens",
            tokens: 5
        }
    );
    assert_eq!(
        limit("99999999999999999999999"),
        Limit::Tokens {
            param: "max_tokens",
            tokens: u64::MAX
        }
    );
    for not_a_count in ["1e3", "-0", "5.", "true", "[]", ""] {
        assert_eq!(
            limit(not_a_count),
            Limit::Invalid {
                param: "max_tokens"
            },
            "{not_a_count}"
        );
    }
    assert_eq!(limit("null"), Limit::Missing);
    assert_eq!(read("not json", "5").unwrap_err().code, "invalid_type");
}

/// Which field strict mode blames; `-` for none.
fn check_native(at: Surface, cases: &[(Value, &str)]) {
    for (body, expected) in cases {
        let field = controls(at, body, |c| c.refuse_native())
            .err()
            .map_or("-", |refusal| refusal.param);
        assert_eq!(field, *expected, "{body}");
    }
}

#[test]
fn native_controls_are_blamed_in_order() {
    let (kwargs, thinking) = (json!({"enable_thinking": 1, "thinking": null}), json!(true));
    check_native(
        Surface::ChatCompletions,
        &[
            (json!({"reasoning_effort": "low", "max_tokens": 5}), "-"),
            (
                json!({"chat_template_kwargs": kwargs, "thinking": thinking}),
                "chat_template_kwargs.thinking",
            ),
            (
                json!({"chat_template_kwargs": {"enable_thinking": false}}),
                "chat_template_kwargs.enable_thinking",
            ),
            (
                json!({"chat_template_kwargs": {}, "reasoning": {}}),
                "chat_template_kwargs",
            ),
            (
                json!({"chat_template_kwargs": null}),
                "chat_template_kwargs",
            ),
            (
                json!({"thinking": null, "thinking_token_budget": 5}),
                "thinking",
            ),
            (
                json!({"reasoning": null, "thinking_token_budget": null}),
                "thinking_token_budget",
            ),
            (json!({"reasoning": {"effort": "low"}}), "reasoning"),
        ],
    );
    check_native(
        Surface::Responses,
        &[
            (json!({"reasoning": {"effort": "low"}}), "-"),
            (
                json!({"reasoning_effort": "low", "thinking": {}}),
                "thinking",
            ),
            (json!({"reasoning_effort": null}), "reasoning_effort"),
        ],
    );
    check_native(
        Surface::Completions,
        &[
            (json!({"prompt": "x"}), "-"),
            (
                json!({"chat_template_kwargs": {"thinking": 1}, "reasoning": {}, "thinking": 1}),
                "reasoning",
            ),
            (
                json!({"chat_template_kwargs": {"thinking": 1}, "thinking_token_budget": 1}),
                "thinking_token_budget",
            ),
            (
                json!({"chat_template_kwargs": {"thinking": 1}}),
                "chat_template_kwargs",
            ),
        ],
    );
}
