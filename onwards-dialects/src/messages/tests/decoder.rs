//! Streams of Anthropic.

use expect_test::{Expect, expect};

use crate::Step;
use crate::messages::Decoder;
use crate::options::{Memory, Reading};

pub(super) fn reading() -> Reading {
    Reading {
        memory: Memory {
            tool_names: vec![("get_time".to_owned(), "get.time".to_owned())],
            structured: None,
        },
        unique: "u1".to_owned(),
    }
}

/// The events of payloads, then what the decoder says at the end.
pub(super) fn decoded(payloads: &[&str], reading: Reading) -> String {
    let mut out = String::new();
    let mut decoder = Decoder::new(reading);
    for payload in payloads {
        let step = decoder.payload("", payload, &mut |event| out += &format!("{event:?}\n"));
        match step {
            Ok(Step::Open) => {}
            other => out += &format!("{other:?}\n"),
        }
    }
    let whole = decoder.end(&mut |event| out += &format!("end: {event:?}\n"));
    out + &format!("{whole}\n")
}

fn check(payloads: &[&str], reading: Reading, expected: &Expect) {
    expected.assert_eq(&decoded(payloads, reading));
}

const START: &str = r#"{"type":"message_start","message":{"id":"msg_1","usage":{"input_tokens":3,"cache_read_input_tokens":40,"output_tokens":1}}}"#;
const TEXT: &str =
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
const STOP0: &str = r#"{"type":"content_block_stop","index":0}"#;
const STOP1: &str = r#"{"type":"content_block_stop","index":1}"#;
const END: &str = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":9}}"#;
const LAST: &str = r#"{"type":"message_stop"}"#;

fn tool(index: u64, name: &str, input: &str) -> String {
    format!(
        r#"{{"type":"content_block_start","index":{index},"content_block":{{"type":"tool_use","id":"t{index}","name":"{name}","input":{input}}}}}"#
    )
}

fn json(index: u64, piece: &str) -> String {
    format!(
        r#"{{"type":"content_block_delta","index":{index},"delta":{{"type":"input_json_delta","partial_json":"{piece}"}}}}"#
    )
}

#[test]
fn text_then_a_call() {
    check(
        &[
            START,
            r#"{"type": "ping"}"#,
            TEXT,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\u2028"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{}}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"brand_new","text":"x"}}"#,
            STOP0,
            &tool(1, "get_time", "{}"),
            &json(1, ""),
            &json(1, r#"{\"a\":"#),
            &json(1, "1.10}"),
            STOP1,
            r#"{"type":"brand_new_event"}"#,
            END,
            LAST,
        ],
        reading(),
        &expect![[r#"
            Start { id: Some("msg_1") }
            Usage(Usage { prompt: 43, completion: 1, total: None, cached: Some(40), cache_write: None, reasoning: None })
            KeepAlive
            Text { choice: 0, text: "a\u{2028}" }
            ToolStart { choice: 0, call: 0, id: "t1", name: "get.time", state: None }
            ToolArguments { choice: 0, call: 0, text: "{\"a\":" }
            ToolArguments { choice: 0, call: 0, text: "1.10}" }
            ToolEnd { choice: 0, call: 0 }
            Usage(Usage { prompt: 43, completion: 9, total: None, cached: Some(40), cache_write: None, reasoning: None })
            Finish { choice: 0, finish: Finish { reason: ToolCalls, native: None, stop_sequence: None } }
            Ok(Complete)
            true
        "#]],
    );
}

#[test]
fn interleaved_calls_are_kept_apart() {
    check(
        &[
            &tool(4, "f", "{}"),
            &tool(2, "f", r#"{ "x" : 1 }"#),
            &json(4, "{"),
            &json(2, ""),
            &json(4, "}"),
            r#"{"type":"content_block_stop","index":2}"#,
            r#"{"type":"content_block_stop","index":4}"#,
            &tool(5, "f", "{}"),
            r#"{"type":"content_block_stop","index":5}"#,
            &tool(6, "f", "{}"),
            &json(6, "{"),
            r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens"}}"#,
        ],
        reading(),
        &expect![[r#"
            Start { id: None }
            ToolStart { choice: 0, call: 0, id: "t4", name: "f", state: None }
            ToolStart { choice: 0, call: 1, id: "t2", name: "f", state: None }
            ToolArguments { choice: 0, call: 1, text: "{\"x\":1}" }
            ToolArguments { choice: 0, call: 0, text: "{" }
            ToolArguments { choice: 0, call: 0, text: "}" }
            ToolEnd { choice: 0, call: 1 }
            ToolEnd { choice: 0, call: 0 }
            ToolStart { choice: 0, call: 2, id: "t5", name: "f", state: None }
            ToolArguments { choice: 0, call: 2, text: "{}" }
            ToolEnd { choice: 0, call: 2 }
            ToolStart { choice: 0, call: 3, id: "t6", name: "f", state: None }
            ToolArguments { choice: 0, call: 3, text: "{" }
            ToolEnd { choice: 0, call: 3 }
            Finish { choice: 0, finish: Finish { reason: Length, native: None, stop_sequence: None } }
            true
        "#]],
    );
}

#[test]
fn thoughts_and_what_they_are_signed_with() {
    let thinking = r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#;
    check(
        &[
            START,
            r#"{"type":"content_block_start","index":9,"content_block":{"type":"redacted_thinking","data":"xyz"}}"#,
            r#"{"type":"content_block_stop","index":9}"#,
            thinking,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"h\""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"m"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig"}}"#,
            STOP0,
            thinking,
            STOP0,
            thinking,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig"}}"#,
            STOP0,
            END,
        ],
        reading(),
        &expect![[r#"
            Start { id: Some("msg_1") }
            Usage(Usage { prompt: 43, completion: 1, total: None, cached: Some(40), cache_write: None, reasoning: None })
            ThinkingEnd { choice: 0, thinking: Thinking { text: None, state: Some(State { family: Anthropic, data: "xyz" }) } }
            Thinking { choice: 0, text: "h\"" }
            Thinking { choice: 0, text: "m" }
            ThinkingEnd { choice: 0, thinking: Thinking { text: Some("h\"m"), state: Some(State { family: Anthropic, data: "sig" }) } }
            ThinkingEnd { choice: 0, thinking: Thinking { text: Some(""), state: Some(State { family: Anthropic, data: "sig" }) } }
            Usage(Usage { prompt: 43, completion: 9, total: None, cached: Some(40), cache_write: None, reasoning: None })
            Finish { choice: 0, finish: Finish { reason: Stop, native: None, stop_sequence: None } }
            true
        "#]],
    );
}

#[test]
fn reasons_that_are_empty_twice_or_late() {
    check(
        &[
            START,
            r#"{"type":"message_delta","delta":{"stop_reason":""},"usage":{"output_tokens":2}}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"stop_sequence","stop_sequence":"END"},"usage":{"input_tokens":5,"output_tokens":3}}"#,
            END,
            &tool(0, "f", "{}"),
            LAST,
        ],
        reading(),
        &expect![[r#"
            Start { id: Some("msg_1") }
            Usage(Usage { prompt: 43, completion: 1, total: None, cached: Some(40), cache_write: None, reasoning: None })
            Usage(Usage { prompt: 43, completion: 2, total: None, cached: Some(40), cache_write: None, reasoning: None })
            Usage(Usage { prompt: 45, completion: 3, total: None, cached: Some(40), cache_write: None, reasoning: None })
            Finish { choice: 0, finish: Finish { reason: Stop, native: Some("stop_sequence"), stop_sequence: Some("END") } }
            Usage(Usage { prompt: 45, completion: 9, total: None, cached: Some(40), cache_write: None, reasoning: None })
            Ok(Complete)
            true
        "#]],
    );
    check(
        &[START, TEXT, LAST],
        reading(),
        &expect![[r#"
        Start { id: Some("msg_1") }
        Usage(Usage { prompt: 43, completion: 1, total: None, cached: Some(40), cache_write: None, reasoning: None })
        Finish { choice: 0, finish: Finish { reason: Stop, native: None, stop_sequence: None } }
        Ok(Complete)
        true
    "#]],
    );
    check(
        &[START, TEXT],
        reading(),
        &expect![[r#"
        Start { id: Some("msg_1") }
        Usage(Usage { prompt: 43, completion: 1, total: None, cached: Some(40), cache_write: None, reasoning: None })
        false
    "#]],
    );
}

#[test]
fn a_refusal_without_a_word_gets_one() {
    let refusal = r#"{"type":"message_delta","delta":{"stop_reason":"refusal"}}"#;
    check(
        &[refusal],
        reading(),
        &expect![[r#"
        Start { id: None }
        Refusal { choice: 0, text: "The model declined to respond." }
        Finish { choice: 0, finish: Finish { reason: ContentFilter, native: Some("refusal"), stop_sequence: None } }
        true
    "#]],
    );
    let said =
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}"#;
    check(
        &[said, refusal],
        reading(),
        &expect![[r#"
        Start { id: None }
        Text { choice: 0, text: "a" }
        Finish { choice: 0, finish: Finish { reason: ContentFilter, native: Some("refusal"), stop_sequence: None } }
        true
    "#]],
    );
}

#[test]
fn a_forced_tool_is_the_text() {
    let said =
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Sure:"}}"#;
    let used = r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#;
    let structured = || {
        let mut reading = reading();
        reading.memory.structured = Some("answer".to_owned());
        reading
    };
    check(
        &[
            START,
            TEXT,
            said,
            STOP0,
            &tool(1, "answer", "{}"),
            &json(1, r#"{\"a\":"#),
            &json(1, "1}"),
            STOP1,
            &tool(2, "answer", "{}"),
            &json(2, "{}"),
            used,
            LAST,
        ],
        structured(),
        &expect![[r#"
            Start { id: Some("msg_1") }
            Usage(Usage { prompt: 43, completion: 1, total: None, cached: Some(40), cache_write: None, reasoning: None })
            Text { choice: 0, text: "{\"a\":" }
            Text { choice: 0, text: "1}" }
            Finish { choice: 0, finish: Finish { reason: Stop, native: None, stop_sequence: None } }
            Ok(Complete)
            true
        "#]],
    );
    check(
        &[&tool(1, "answer", "{}"), STOP1, used],
        structured(),
        &expect![[r#"
            Start { id: None }
            Text { choice: 0, text: "{}" }
            Finish { choice: 0, finish: Finish { reason: Stop, native: None, stop_sequence: None } }
            true
        "#]],
    );
    check(
        &[TEXT, said, END],
        structured(),
        &expect![[r#"
        Start { id: None }
        Usage(Usage { prompt: 0, completion: 9, total: None, cached: None, cache_write: None, reasoning: None })
        Text { choice: 0, text: "Sure:" }
        Finish { choice: 0, finish: Finish { reason: Stop, native: None, stop_sequence: None } }
        true
    "#]],
    );
}

#[test]
fn errors_and_noise() {
    check(
        &[
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            r#"{"error":{"code":503,"message":"busy"}}"#,
            r#"{"type":"error","error":{"type":"api_error"}}"#,
            "",
            "[DONE]",
            "{",
            "7",
        ],
        reading(),
        &expect![[r#"
            Ok(Failed(Failure { status: 529, kind: "overloaded_error", code: Some("overloaded_error"), param: None, message: "Overloaded", retry_after: None, retryable: true }))
            Ok(Failed(Failure { status: 503, kind: "overloaded_error", code: None, param: None, message: "busy", retry_after: None, retryable: true }))
            Ok(Failed(Failure { status: 500, kind: "api_error", code: Some("api_error"), param: None, message: "the provider returned an error", retry_after: None, retryable: true }))
            Err(Unreadable { why: "an event is not a JSON object" })
            Err(Unreadable { why: "an event is not a JSON object" })
            false
        "#]],
    );
    let mut decoder = Decoder::new(reading());
    let step = decoder.payload("message_stop", "{}", &mut |_| ());
    assert_eq!(step, Ok(Step::Complete));
}
