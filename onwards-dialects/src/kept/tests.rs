use expect_test::expect;

use crate::Family;
use crate::answer::{Answer, Choice, Piece, Usage};
use crate::request::{Arguments, State, Thinking, ToolCall};
use crate::testing::lines;
use crate::text::Str;

fn state(family: Family, data: &str) -> State<'static> {
    State {
        family,
        data: Str::owned(data),
    }
}

fn thought(state: Option<State<'static>>) -> Piece<'static> {
    Piece::Thinking(Thinking {
        text: Some(Str::plain("hm")),
        state,
    })
}

fn call(id: &'static str, state: Option<State<'static>>) -> Piece<'static> {
    Piece::ToolCall(ToolCall {
        id: Some(Str::plain(id)),
        name: Str::plain("f"),
        arguments: Arguments::Value(r#"{ "a": 1.10 }"#.into()),
        state,
    })
}

fn answer(parts: Vec<Piece<'static>>) -> Answer<'static> {
    Answer {
        id: Some(Str::plain("a1")),
        choices: vec![Choice {
            parts,
            ..Choice::default()
        }],
        usage: Some(Usage::default()),
        extra: Vec::new(),
    }
}

#[test]
fn an_answer_is_told_as_events() {
    let mut answer = answer(vec![
        thought(None),
        Piece::Text(Str::plain("t"), Some(state(Family::Google, "s"))),
        Piece::Text(Str::plain(""), None),
        call("c1", None),
        Piece::ToolCall(ToolCall {
            id: None,
            name: Str::plain("g"),
            arguments: Arguments::Text(Str::plain("")),
            state: None,
        }),
        Piece::Refusal(Str::plain("no")),
        Piece::Image(Str::plain("image/png"), Str::plain("AA==")),
    ]);
    answer.choices[0].logprobs = Some("{}".into());
    let mut told = Vec::new();
    answer.replay(&mut |event| told.push(format!("{event:?}")));
    expect![[r#"
        Start { id: Some("a1") }
        Usage(Usage { prompt: 0, completion: 0, total: None, cached: None, cache_write: None, reasoning: None })
        Thinking { choice: 0, text: "hm" }
        ThinkingEnd { choice: 0, thinking: Thinking { text: Some("hm"), state: None } }
        Text { choice: 0, text: "t" }
        TextState { choice: 0, state: State { family: Google, data: "s" } }
        ToolStart { choice: 0, call: 0, id: "c1", name: "f", state: None }
        ToolArguments { choice: 0, call: 0, text: "{\"a\":1.10}" }
        ToolEnd { choice: 0, call: 0 }
        ToolStart { choice: 0, call: 1, id: "", name: "g", state: None }
        ToolEnd { choice: 0, call: 1 }
        Refusal { choice: 0, text: "no" }
        Image { choice: 0, mime: "image/png", base64: "AA==" }
        Logprobs { choice: 0, json: "{}" }
        Finish { choice: 0, finish: Finish { reason: Stop, native: None, stop_sequence: None } }"#]].assert_eq(&told.join("\n"));
}

#[test]
fn thoughts_before_a_call_are_kept_with_it() {
    let answer = answer(vec![
        thought(None),
        call("bare", None),
        thought(Some(state(Family::Anthropic, "sig"))),
        call("thought", None),
        call("signed", Some(state(Family::Google, "g"))),
    ]);
    expect![[r#"
        ("thought", Kept { thoughts: [Thinking { text: Some("hm"), state: Some(State { family: Anthropic, data: "sig" }) }], state: None })
        ("signed", Kept { thoughts: [Thinking { text: Some("hm"), state: Some(State { family: Anthropic, data: "sig" }) }], state: Some(State { family: Google, data: "g" }) })
    "#]].assert_eq(&lines(&answer.kept()));
}

#[test]
fn nothing_is_kept_beyond_the_bound() {
    let long = "x".repeat(600_000);
    let answer = answer(vec![
        call("a", Some(state(Family::Google, &long))),
        call("b", Some(state(Family::Google, &long))),
        call("c", Some(state(Family::Google, "short"))),
    ]);
    let ids: Vec<_> = answer.kept().into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["a"]);
}
