//! Whole answers.

use expect_test::{Expect, expect};

use super::context;
use crate::Failure;
use crate::Family;
use crate::answer::{Answer, Choice, Finish, Piece, Reason, Usage};
use crate::messages::{
    embedded_error, path, read_answer, read_failure, write_answer, write_count_answer,
    write_failure,
};
use crate::options::{Context, Expose, Memory, Reading};
use crate::request::{Arguments, State, Thinking, ToolCall};
use crate::testing::{options, settings};
use crate::text::Str;

fn reading() -> Reading {
    Reading {
        memory: Memory {
            tool_names: vec![("get_time".to_owned(), "get.time".to_owned())],
            structured: None,
        },
        unique: "u1".to_owned(),
    }
}

/// What matters of answers, one in a line.
fn read(bodies: &[&str], reading: &Reading) -> String {
    let line = |body: &&str| match read_answer(body, reading) {
        Ok(answer) => {
            let choice = &answer.choices[0];
            format!(
                "{:?}\n  {:?} {:?}\n",
                choice.parts, choice.finish, answer.usage
            )
        }
        Err(unreadable) => format!("{unreadable:?}\n"),
    };
    bodies.iter().map(line).collect()
}

fn check(bodies: &[&str], reading: &Reading, expected: &Expect) {
    expected.assert_eq(&read(bodies, reading));
}

#[test]
fn blocks_are_pieces_in_their_order() {
    check(
        &[
            r#"{"content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"redacted_thinking","data":"d"},
                {"type":"text","text":"a\u2028","citations":[{}]},{"type":"text","text":""},
                {"type":"server_tool_use","id":"x"},{"type":"brand_new"},
                {"type":"tool_use","id":"1","name":"get_time","input":{ "b" : 1.10 }},
                {"type":"tool_use","id":"","name":"f"},
                {"type":"tool_use","name":"f","input":null}],"stop_reason":"end_turn"}"#,
            r#"{"content":[],"stop_reason":null}"#,
            r#"{"content":null}"#,
            r#"{"content":[]"#,
            r#"[]"#,
        ],
        &reading(),
        &expect![[r#"
            [Thinking(Thinking { text: Some("hm"), state: Some(State { family: Anthropic, data: "s" }) }), Thinking(Thinking { text: None, state: Some(State { family: Anthropic, data: "d" }) }), Text("a\u{2028}", None), ToolCall(ToolCall { id: Some("1"), name: "get.time", arguments: Value("{ \"b\" : 1.10 }"), state: None }), ToolCall(ToolCall { id: Some("call_s6nfrvx4e5il5xmvp3tyylg2"), name: "f", arguments: Value("{}"), state: None }), ToolCall(ToolCall { id: Some("call_4hfkdhssam5trbtl2l4fexru"), name: "f", arguments: Value("{}"), state: None })]
              Finish { reason: ToolCalls, native: None, stop_sequence: None } None
            []
              Finish { reason: Stop, native: None, stop_sequence: None } None
            Unreadable { why: "the answer has no content" }
            Unreadable { why: "the answer is not JSON" }
            Unreadable { why: "the answer has no content" }
        "#]],
    );
}

#[test]
fn reasons_in_canonical_words() {
    let words = [
        "end_turn",
        "stop_sequence",
        "max_tokens",
        "model_context_window_exceeded",
        "tool_use",
        "pause_turn",
        "brand_new",
        "",
    ];
    let mut all = String::new();
    for word in words {
        let body = format!(r#"{{"content":[],"stop_reason":"{word}","stop_sequence":"END"}}"#);
        let answer = read_answer(&body, &reading()).unwrap();
        all += &format!("{:?}\n", answer.choices[0].finish);
    }
    expect![[r#"
        Finish { reason: Stop, native: None, stop_sequence: None }
        Finish { reason: Stop, native: Some("stop_sequence"), stop_sequence: Some("END") }
        Finish { reason: Length, native: None, stop_sequence: None }
        Finish { reason: Length, native: None, stop_sequence: None }
        Finish { reason: Stop, native: None, stop_sequence: None }
        Finish { reason: Stop, native: Some("pause_turn"), stop_sequence: None }
        Finish { reason: Stop, native: Some("brand_new"), stop_sequence: None }
        Finish { reason: Stop, native: None, stop_sequence: None }
    "#]]
    .assert_eq(&all);
    check(
        &[
            r#"{"content":[],"stop_reason":"refusal"}"#,
            r#"{"content":[{"type":"text","text":"no"}],"stop_reason":"refusal"}"#,
        ],
        &reading(),
        &expect![[r#"
            [Refusal("The model declined to respond.")]
              Finish { reason: ContentFilter, native: Some("refusal"), stop_sequence: None } None
            [Refusal("no")]
              Finish { reason: ContentFilter, native: Some("refusal"), stop_sequence: None } None
        "#]],
    );
}

#[test]
fn a_forced_tool_is_the_text() {
    let mut reading = reading();
    reading.memory.structured = Some("answer".to_owned());
    check(
        &[
            r#"{"content":[{"type":"text","text":"Sure:"},{"type":"tool_use","id":"1","name":"answer","input":{ "a" : 1.10 }},
                {"type":"tool_use","id":"2","name":"answer","input":{}}],"stop_reason":"tool_use"}"#,
            r#"{"content":[{"type":"text","text":"I would rather"}],"stop_reason":"end_turn"}"#,
        ],
        &reading,
        &expect![[r#"
            [Text("{\"a\":1.10}", None)]
              Finish { reason: Stop, native: None, stop_sequence: None } None
            [Text("I would rather", None)]
              Finish { reason: Stop, native: None, stop_sequence: None } None
        "#]],
    );
}

#[test]
fn counts_beside_the_prompt_are_added_to_it() {
    check(
        &[
            r#"{"content":[],"usage":{"input_tokens":3,"cache_read_input_tokens":40,"cache_creation_input_tokens":5,"output_tokens":7,"output_tokens_details":{"thinking_tokens":2}}}"#,
            r#"{"content":[],"usage":{"input_tokens":3,"output_tokens":7,"cache_read_input_tokens":null}}"#,
            r#"{"content":[],"usage":{}}"#,
            r#"{"content":[],"usage":{"input_tokens":18446744073709551615,"cache_read_input_tokens":1}}"#,
        ],
        &reading(),
        &expect![[r#"
            []
              Finish { reason: Stop, native: None, stop_sequence: None } Some(Usage { prompt: 48, completion: 7, total: None, cached: Some(40), cache_write: Some(5), reasoning: Some(2) })
            []
              Finish { reason: Stop, native: None, stop_sequence: None } Some(Usage { prompt: 3, completion: 7, total: None, cached: None, cache_write: None, reasoning: None })
            []
              Finish { reason: Stop, native: None, stop_sequence: None } None
            []
              Finish { reason: Stop, native: None, stop_sequence: None } Some(Usage { prompt: 18446744073709551615, completion: 0, total: None, cached: Some(1), cache_write: None, reasoning: None })
        "#]],
    );
}

fn call(arguments: Arguments<'static>) -> Piece<'static> {
    Piece::ToolCall(ToolCall {
        id: Some(Str::plain("call.1")),
        name: Str::plain("f"),
        arguments,
        state: None,
    })
}

fn thought(family: Option<Family>) -> Piece<'static> {
    Piece::Thinking(Thinking {
        text: Some(Str::plain("hm")),
        state: family.map(|family| State {
            family,
            data: Str::plain("sig"),
        }),
    })
}

fn text(text: &str) -> Piece<'_> {
    Piece::Text(Str::plain(text), None)
}

fn answer(parts: Vec<Piece<'static>>, reason: Reason) -> Answer<'static> {
    let finish = Finish {
        reason,
        ..Finish::default()
    };
    Answer {
        id: Some(Str::plain("chatcmpl-1")),
        choices: vec![Choice {
            parts,
            finish,
            ..Choice::default()
        }],
        ..Answer::default()
    }
}

fn written(answer: &Answer<'_>, context: &Context) -> String {
    let mut out = String::new();
    write_answer(answer, context, &mut out);
    serde_json::from_str::<serde_json::Value>(&out).unwrap();
    out + "\n"
}

#[test]
fn answers_to_clients() {
    let quiet = Context {
        expose: Expose::Text,
        ..context()
    };
    let mut full = answer(
        vec![
            thought(Some(Family::Anthropic)),
            call(Arguments::Text(Str::plain(r#"{"b": 1.10}"#))),
            text("a"),
            text("b"),
        ],
        Reason::Stop,
    );
    full.id = Some(Str::plain("msg_1"));
    full.usage = Some(Usage {
        prompt: 10,
        completion: 5,
        total: None,
        cached: Some(3),
        cache_write: Some(2),
        reasoning: Some(4),
    });
    let mut stopped = answer(vec![text("a")], Reason::Stop);
    stopped.choices[0].finish.stop_sequence = Some(Str::plain("END"));
    let mut paused = answer(vec![text("a")], Reason::Stop);
    paused.choices[0].finish.native = Some(Str::plain("pause_turn"));
    let all = [
        written(&full, &context()),
        written(&full, &quiet),
        written(
            &answer(
                vec![
                    thought(None),
                    thought(Some(Family::Google)),
                    call(Arguments::Text(Str::plain("null"))),
                    text("a"),
                    Piece::Image(Str::plain("image/png"), Str::plain("AAAA")),
                ],
                Reason::ToolCalls,
            ),
            &context(),
        ),
        written(
            &answer(vec![call(Arguments::default())], Reason::Length),
            &context(),
        ),
        written(
            &answer(
                vec![Piece::Refusal(Str::plain("no"))],
                Reason::ContentFilter,
            ),
            &context(),
        ),
        written(&answer(Vec::new(), Reason::ToolCalls), &context()),
        written(&stopped, &context()),
        written(&paused, &context()),
        written(&Answer::default(), &context()),
    ];
    expect![[r#"
        {"id":"msg_1","type":"message","role":"assistant","model":"fast","content":[{"type":"thinking","thinking":"hm","signature":"sig"},{"type":"tool_use","id":"call.1","name":"f","input":{"b": 1.10}},{"type":"text","text":"ab"}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":5,"cache_creation_input_tokens":2,"cache_read_input_tokens":3,"output_tokens":5,"output_tokens_details":{"thinking_tokens":4}}}
        {"id":"msg_1","type":"message","role":"assistant","model":"fast","content":[{"type":"text","text":"ab"},{"type":"tool_use","id":"call.1","name":"f","input":{"b": 1.10}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":5,"cache_creation_input_tokens":2,"cache_read_input_tokens":3,"output_tokens":5,"output_tokens_details":{"thinking_tokens":4}}}
        {"id":"msg_chatcmpl-1","type":"message","role":"assistant","model":"fast","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"call.1","name":"f","input":{"input":null}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}
        {"id":"msg_chatcmpl-1","type":"message","role":"assistant","model":"fast","content":[{"type":"tool_use","id":"call.1","name":"f","input":{}}],"stop_reason":"max_tokens","stop_sequence":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}
        {"id":"msg_chatcmpl-1","type":"message","role":"assistant","model":"fast","content":[{"type":"text","text":"no"}],"stop_reason":"refusal","stop_sequence":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}
        {"id":"msg_chatcmpl-1","type":"message","role":"assistant","model":"fast","content":[],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}
        {"id":"msg_chatcmpl-1","type":"message","role":"assistant","model":"fast","content":[{"type":"text","text":"a"}],"stop_reason":"stop_sequence","stop_sequence":"END","usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}
        {"id":"msg_chatcmpl-1","type":"message","role":"assistant","model":"fast","content":[{"type":"text","text":"a"}],"stop_reason":"pause_turn","stop_sequence":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}
        {"id":"msg_u1","type":"message","role":"assistant","model":"fast","content":[],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}
    "#]].assert_eq(&all.concat());
}

#[test]
fn errors_of_providers() {
    let no_header = |_: &str| None;
    let captured = [
        (
            400,
            include_str!("../../../tests/data/anthropic/err400.json"),
        ),
        (
            401,
            include_str!("../../../tests/data/anthropic/err401.json"),
        ),
        (
            429,
            include_str!("../../../tests/data/anthropic/err429.json"),
        ),
        (
            500,
            include_str!("../../../tests/data/anthropic/err500.json"),
        ),
        (
            529,
            include_str!("../../../tests/data/anthropic/err529.json"),
        ),
        (
            400,
            include_str!("../../../tests/data/anthropic/llama-err400.json"),
        ),
        (502, "<html>"),
        (503, r#"{"error":"busy"}"#),
        (503, r#"{"error":null}"#),
    ];
    let mut all = String::new();
    for (status, body) in captured {
        let failure = read_failure(status, &no_header, body.as_bytes());
        all += &format!("{failure:?}\n");
    }
    expect![[r#"
        Failure { status: 400, kind: "invalid_request_error", code: Some("invalid_request_error"), param: None, message: "Invalid value for 'temperature': expected a number between 0 and 2.", retry_after: None, retryable: false }
        Failure { status: 401, kind: "authentication_error", code: Some("authentication_error"), param: None, message: "Incorrect API key provided.", retry_after: None, retryable: false }
        Failure { status: 429, kind: "rate_limit_error", code: Some("rate_limit_error"), param: None, message: "Rate limit reached for requests", retry_after: None, retryable: true }
        Failure { status: 500, kind: "api_error", code: Some("server_error"), param: None, message: "The server had an error while processing your request", retry_after: None, retryable: true }
        Failure { status: 529, kind: "overloaded_error", code: Some("overloaded_error"), param: None, message: "Overloaded", retry_after: None, retryable: true }
        Failure { status: 400, kind: "invalid_request_error", code: Some("exceed_context_size_error"), param: None, message: "request (923 tokens) exceeds the available context size (512 tokens), try increasing it", retry_after: None, retryable: false }
        Failure { status: 502, kind: "api_error", code: None, param: None, message: "the provider returned an error", retry_after: None, retryable: true }
        Failure { status: 503, kind: "overloaded_error", code: None, param: None, message: "busy", retry_after: None, retryable: true }
        Failure { status: 503, kind: "overloaded_error", code: None, param: None, message: "the provider returned an error", retry_after: None, retryable: true }
    "#]].assert_eq(&all);
}

#[test]
fn errors_within_an_answer() {
    let mut all = String::new();
    for body in [
        include_str!("../../../tests/data/anthropic/err529.json"),
        r#"{"type":"error","error":{"type":"timeout_error","message":"t"}}"#,
        r#"{"error":{"code":503,"message":"m"}}"#,
        r#"{"type":"error"}"#,
        r#"{"type":"message","content":[]}"#,
        "",
    ] {
        let failure = embedded_error(body);
        let shown = failure.map(|failure| (failure.status, failure.code, failure.message));
        all += &format!("{shown:?}\n");
    }
    expect![[r#"
        Some((529, Some("overloaded_error"), "Overloaded"))
        Some((504, Some("timeout_error"), "t"))
        Some((503, None, "m"))
        Some((500, None, "the provider returned an error"))
        None
        None
    "#]]
    .assert_eq(&all);
}

#[test]
fn errors_to_clients() {
    let mut all = String::new();
    for status in [
        400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504, 529,
    ] {
        let failure = Failure::of(status, Some("a_code"), "m");
        write_failure(&failure, "r-1", &mut all);
        all.push('\n');
    }
    write_failure(
        &Failure::of(529, Some("overloaded_error"), "m"),
        "r-1",
        &mut all,
    );
    write_failure(&Failure::of(400, None, "\"m\""), "r-1", &mut all);
    expect![[r#"
        {"type":"error","error":{"type":"invalid_request_error","message":"[a_code] m"},"request_id":"r-1"}
        {"type":"error","error":{"type":"authentication_error","message":"[a_code] m"},"request_id":"r-1"}
        {"type":"error","error":{"type":"billing_error","message":"[a_code] m"},"request_id":"r-1"}
        {"type":"error","error":{"type":"permission_error","message":"[a_code] m"},"request_id":"r-1"}
        {"type":"error","error":{"type":"not_found_error","message":"[a_code] m"},"request_id":"r-1"}
        {"type":"error","error":{"type":"timeout_error","message":"[a_code] m"},"request_id":"r-1"}
        {"type":"error","error":{"type":"request_too_large","message":"[a_code] m"},"request_id":"r-1"}
        {"type":"error","error":{"type":"invalid_request_error","message":"[a_code] m"},"request_id":"r-1"}
        {"type":"error","error":{"type":"rate_limit_error","message":"[a_code] m"},"request_id":"r-1"}
        {"type":"error","error":{"type":"api_error","message":"[a_code] m"},"request_id":"r-1"}
        {"type":"error","error":{"type":"api_error","message":"[a_code] m"},"request_id":"r-1"}
        {"type":"error","error":{"type":"overloaded_error","message":"[a_code] m"},"request_id":"r-1"}
        {"type":"error","error":{"type":"timeout_error","message":"[a_code] m"},"request_id":"r-1"}
        {"type":"error","error":{"type":"overloaded_error","message":"[a_code] m"},"request_id":"r-1"}
        {"type":"error","error":{"type":"overloaded_error","message":"m"},"request_id":"r-1"}{"type":"error","error":{"type":"invalid_request_error","message":"\"m\""},"request_id":"r-1"}"#]].assert_eq(&all);
}

#[test]
fn small_things() {
    assert_eq!(path(&settings(&options()), true), "/v1/messages");
    let mut out = String::new();
    write_count_answer(7, &mut out);
    assert_eq!(out, r#"{"input_tokens":7}"#);
}
