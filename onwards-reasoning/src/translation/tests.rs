use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::*;
use crate::WriteSpec;
use crate::tests::{always, apply, ask, budgets, controls, names, on, surface, translation, write};

use Surface::{ChatCompletions as Chat, Responses};

fn check_edits(at: Surface, writes: Vec<WriteSpec>, body: &Value, expected: &Expect) {
    let translation = translation(at, writes);
    let edits: String = translation
        .edits(&ask(at, body))
        .iter()
        .map(|edit| format!("{edit}\n"))
        .collect();
    expected.assert_eq(&edits);
}

fn low(at: Surface) -> Value {
    if at == Responses {
        json!({"reasoning": {"effort": "low"}})
    } else {
        json!({"reasoning_effort": "low"})
    }
}

#[test]
fn the_canonical_member_goes_unless_it_is_written() {
    let table = [
        (
            Chat,
            "/reasoning_effort",
            expect!["set /reasoning_effort = 1\n"],
        ),
        (
            Chat,
            "/thinking",
            expect!["remove /reasoning_effort\nset /thinking = 1\n"],
        ),
        (
            Chat,
            "/reasoning/effort",
            expect!["remove /reasoning_effort\nset /reasoning/effort = 1\n"],
        ),
        (
            Responses,
            "/reasoning/effort",
            expect!["set /reasoning/effort = 1\n"],
        ),
        (Responses, "/reasoning", expect!["set /reasoning = 1\n"]),
        (
            Responses,
            "/reasoning/enabled",
            expect!["remove /reasoning/effort\nset /reasoning/enabled = 1\n"],
        ),
        (
            Responses,
            "/reasoning_effort",
            expect![
                "remove /reasoning/effort and its parent if left empty\nset /reasoning_effort = 1\n"
            ],
        ),
        (
            Responses,
            "/reasoning/effort/level",
            expect!["set /reasoning/effort = {\"level\":1}\n"],
        ),
    ];
    for (at, path, expected) in table {
        check_edits(at, vec![always(path, &json!(1))], &low(at), &expected);
    }
}

#[test]
fn writes_below_the_canonical_member_are_one_object() {
    let writes = vec![
        always("/reasoning/effort/a/x", &json!("1")),
        always("/thinking", &json!({"b": [1, null], "a": 1.5})),
        always("/reasoning/effort/b", &json!(2)),
        always("/reasoning/effort/a/y", &json!(3)),
    ];
    let expected = expect![[r#"
        set /reasoning/effort = {"a":{"x":"1","y":3},"b":2}
        set /thinking = {"a":1.5,"b":[1,null]}
    "#]];
    check_edits(Responses, writes, &low(Responses), &expected);
}

#[test]
fn siblings_stay() {
    let t = translation(Responses, vec![always("/thinking", &json!(true))]);
    let body = json!({"reasoning": {"effort": "low", "summary": "auto"}, "input": "x"});
    let edited = apply(&body, t.edits(&ask(Responses, &body))).unwrap();
    assert_eq!(
        edited,
        json!({"reasoning": {"summary": "auto"}, "input": "x", "thinking": true})
    );
    let body = json!({"reasoning": {"effort": "low"}, "input": "x"});
    assert_eq!(
        apply(&body, t.edits(&ask(Responses, &body))).unwrap(),
        json!({"input": "x", "thinking": true})
    );
}

#[test]
fn each_effort_has_its_own_values() {
    let t = translation(Chat, vec![names("/reasoning_effort"), budgets()]);
    let edited = |effort: Effort| {
        let body = json!({"reasoning_effort": effort.name()});
        apply(&body, t.edits(&ask(Chat, &body))).unwrap()
    };
    let tokens = [0, 512, 1024, 4096, 8192, 12288, 16384];
    for (effort, tokens) in Effort::ALL.into_iter().zip(tokens) {
        assert_eq!(
            edited(effort),
            json!({"reasoning_effort": effort.name(), "thinking_token_budget": tokens})
        );
    }
}

/// The refusal of a body by a translation, as `status code param`, or `ok`.
fn verdict(t: &Translation, at: Surface, body: &Value) -> String {
    match t.check(&ask(at, body)) {
        Ok(()) => "ok".to_owned(),
        Err(refusal) => format!("{} {} {}", refusal.status, refusal.code, refusal.param),
    }
}

#[test]
fn unsupported_efforts_are_refused_and_edit_nothing() {
    let t = translation(
        Chat,
        vec![write(
            "/reasoning_effort",
            json!({"high": 1, "low": 1, "medium": 2}),
        )],
    );
    for effort in Effort::ALL {
        let body = json!({"reasoning_effort": effort.name()});
        let supported = [Effort::Low, Effort::Medium, Effort::High].contains(&effort);
        let expected = if supported {
            "ok"
        } else {
            "400 unsupported_value reasoning_effort"
        };
        assert_eq!(verdict(&t, Chat, &body), expected);
        assert_eq!(t.edits(&ask(Chat, &body)).is_empty(), !supported);
    }
    let refusal = t
        .check(&ask(Chat, &json!({"reasoning_effort": "max"})))
        .unwrap_err();
    assert_eq!(
        refusal.message,
        "Reasoning effort 'max' is not supported by this provider. Supported values: low, medium, high."
    );
}

#[test]
fn a_budget_stays_below_the_limit() {
    let chat = translation(Chat, vec![names("/reasoning_effort"), budgets()]);
    let cases = [
        (
            json!({}),
            "422 reasoning_budget_requires_max_tokens max_completion_tokens",
        ),
        (
            json!({"max_tokens": 1024}),
            "400 reasoning_budget_exceeds_max_tokens max_tokens",
        ),
        (json!({"max_tokens": 1025}), "ok"),
        (
            json!({"max_completion_tokens": 3, "max_tokens": 5000}),
            "400 reasoning_budget_exceeds_max_tokens max_completion_tokens",
        ),
        (
            json!({"max_completion_tokens": 1.5, "max_tokens": 5000}),
            "400 invalid_type max_completion_tokens",
        ),
    ];
    for (mut body, expected) in cases {
        body["reasoning_effort"] = json!("low");
        assert_eq!(verdict(&chat, Chat, &body), expected, "{body}");
    }
    let none = |limit: u64| json!({"reasoning_effort": "none", "max_tokens": limit});
    assert_eq!(
        verdict(&chat, Chat, &none(0)),
        "400 reasoning_budget_exceeds_max_tokens max_tokens"
    );
    assert_eq!(verdict(&chat, Chat, &none(1)), "ok");
    let responses = translation(Responses, vec![names("/reasoning_effort"), budgets()]);
    let missing = "422 reasoning_budget_requires_max_tokens max_output_tokens";
    assert_eq!(verdict(&responses, Responses, &low(Responses)), missing);
}

#[test]
fn without_a_budget_no_limit_is_looked_at() {
    let t = translation(Chat, vec![names("/reasoning_effort")]);
    assert_eq!(
        verdict(
            &t,
            Chat,
            &json!({"reasoning_effort": "low", "max_tokens": "many"})
        ),
        "ok"
    );
}

#[test]
fn surfaces_are_separate() {
    let spec = on(
        Responses,
        surface(vec![write("/reasoning/effort", json!({"low": "low"}))]),
    );
    let t = Translation::new(&spec).unwrap();
    let chat = ask(Chat, &json!({"reasoning_effort": "max"}));
    assert_eq!(t.check(&chat), Ok(()));
    assert_eq!(t.edits(&chat), []);
    assert_eq!(
        verdict(&t, Responses, &json!({"reasoning": {"effort": "max"}})),
        "400 unsupported_value reasoning.effort"
    );
    assert_eq!(
        controls(
            Surface::Completions,
            &json!({"reasoning_effort": "max"}),
            |c| c.ask()
        ),
        Ok(None)
    );
}
