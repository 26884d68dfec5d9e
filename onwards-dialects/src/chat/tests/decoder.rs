use expect_test::{Expect, expect, expect_file};

use crate::Step;
use crate::chat::Decoder;
use crate::options::{Memory, Reading};
use crate::testing::events;

fn reading() -> Reading {
    Reading {
        unique: "r1".to_owned(),
        ..Reading::default()
    }
}

/// The events of these payloads, one a line, and how the stream ended.
fn told<'p>(reading: Reading, payloads: impl IntoIterator<Item = (&'p str, &'p str)>) -> String {
    let mut decoder = Decoder::new(reading);
    let mut out = String::new();
    for (event, payload) in payloads {
        let step = decoder.payload(event, payload, &mut |event| out += &format!("{event:?}\n"));
        match step {
            Ok(Step::Open) => {}
            Ok(Step::Complete) => out += "complete\n",
            other => return out + &format!("{other:?}\n"),
        }
    }
    let ended = decoder.end(&mut |event| out += &format!("{event:?}\n"));
    out + &format!("ended: {ended}\n")
}

fn check(payloads: &[&str], expected: &Expect) {
    let payloads = payloads.iter().map(|payload| ("", *payload));
    expected.assert_eq(&told(reading(), payloads));
}

/// The same for deltas of one choice, followed by a finish and `[DONE]`.
fn deltas(deltas: &[&str], expected: &Expect) {
    let frames: Vec<_> = deltas
        .iter()
        .map(|delta| format!(r#"{{"id":"a","choices":[{{"delta":{delta},"index":0}}]}}"#))
        .chain([r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#.to_owned()])
        .collect();
    let payloads = frames.iter().map(|payload| ("", payload.as_str()));
    expected.assert_eq(&told(reading(), payloads));
}

#[test]
fn captures_of_servers() {
    for (name, stream) in [
        ("text", include_str!("../../../tests/data/chat/text.sse")),
        ("tool", include_str!("../../../tests/data/chat/tool.sse")),
        (
            "parallel",
            include_str!("../../../tests/data/chat/parallel.sse"),
        ),
        (
            "text-tool",
            include_str!("../../../tests/data/chat/text-tool.sse"),
        ),
        (
            "reasoning",
            include_str!("../../../tests/data/chat/reasoning.sse"),
        ),
        (
            "length",
            include_str!("../../../tests/data/chat/length.sse"),
        ),
        (
            "filter",
            include_str!("../../../tests/data/chat/filter.sse"),
        ),
        ("trunc", include_str!("../../../tests/data/chat/trunc.sse")),
        (
            "llama-usage",
            include_str!("../../../tests/data/chat/llama-usage.sse"),
        ),
        (
            "llama-logprobs",
            include_str!("../../../tests/data/chat/llama-logprobs.sse"),
        ),
        (
            "llama-emoji",
            include_str!("../../../tests/data/chat/llama-emoji.sse"),
        ),
    ] {
        let golden = format!("../../../tests/data/chat/{name}.sse.golden");
        let events = events(stream);
        let payloads = events
            .iter()
            .map(|(event, data)| (event.as_str(), data.as_str()));
        expect_file![golden].assert_eq(&told(reading(), payloads));
    }
}

#[test]
fn interleaved_parallel_calls_without_index_go_by_their_ids() {
    deltas(
        &[
            r#"{"tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{\"a"}}]}"#,
            r#"{"tool_calls":[{"id":"y","function":{"name":"g","arguments":"{\"b"}}]}"#,
            r#"{"tool_calls":[{"id":"x","function":{"arguments":"\":1}"}},{"id":"y","function":{"arguments":"\":"}}]}"#,
            r#"{"tool_calls":[{"function":{"arguments":"2}"}}]}"#,
        ],
        &expect![[r#"
            Start { id: Some("a") }
            ToolStart { choice: 0, call: 0, id: "x", name: "f", state: None }
            ToolArguments { choice: 0, call: 0, text: "{\"a" }
            ToolStart { choice: 0, call: 1, id: "y", name: "g", state: None }
            ToolArguments { choice: 0, call: 1, text: "{\"b" }
            ToolArguments { choice: 0, call: 0, text: "\":1}" }
            ToolArguments { choice: 0, call: 1, text: "\":" }
            ToolArguments { choice: 0, call: 1, text: "2}" }
            ToolEnd { choice: 0, call: 0 }
            ToolEnd { choice: 0, call: 1 }
            Finish { choice: 0, finish: Finish { reason: Stop, native: None, stop_sequence: None } }
            ended: true
        "#]],
    );
}

#[test]
fn calls_that_are_all_numbered_zero_go_by_their_ids() {
    deltas(
        &[
            r#"{"tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":"{}"}},{"index":0,"id":"y","function":{"name":"f","arguments":"{}"}}]}"#,
            r#"{"tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":" "}}]}"#,
            r#"{"tool_calls":[{"index":0,"function":{"arguments":"\n"}}]}"#,
        ],
        &expect![[r#"
            Start { id: Some("a") }
            ToolStart { choice: 0, call: 0, id: "x", name: "f", state: None }
            ToolArguments { choice: 0, call: 0, text: "{}" }
            ToolStart { choice: 0, call: 1, id: "y", name: "f", state: None }
            ToolArguments { choice: 0, call: 1, text: "{}" }
            ToolArguments { choice: 0, call: 0, text: " " }
            ToolArguments { choice: 0, call: 1, text: "\n" }
            ToolEnd { choice: 0, call: 0 }
            ToolEnd { choice: 0, call: 1 }
            Finish { choice: 0, finish: Finish { reason: Stop, native: None, stop_sequence: None } }
            ended: true
        "#]],
    );
}

#[test]
fn calls_without_index_and_id_begin_with_a_name() {
    deltas(
        &[
            r#"{"tool_calls":[{"function":{"name":"f","arguments":"{}"}},{"function":{"name":"f","arguments":{"a": 1.10}}}]}"#,
            r#"{"tool_calls":[{"function":{"arguments":" "}}]}"#,
        ],
        &expect![[r#"
            Start { id: Some("a") }
            ToolStart { choice: 0, call: 0, id: "call_727f27yzlcos5rh3uncntmom", name: "f", state: None }
            ToolArguments { choice: 0, call: 0, text: "{}" }
            ToolStart { choice: 0, call: 1, id: "call_2tfrcltjaz6dp2k5dpbnnboy", name: "f", state: None }
            ToolArguments { choice: 0, call: 1, text: "{\"a\":1.10}" }
            ToolArguments { choice: 0, call: 1, text: " " }
            ToolEnd { choice: 0, call: 0 }
            ToolEnd { choice: 0, call: 1 }
            Finish { choice: 0, finish: Finish { reason: Stop, native: None, stop_sequence: None } }
            ended: true
        "#]],
    );
}

#[test]
fn a_name_may_come_after_the_id_and_the_first_arguments() {
    deltas(
        &[
            r#"{"tool_calls":[{"index":3,"id":"x","function":{"arguments":"{\"a\":"}}]}"#,
            r#"{"tool_calls":[{"index":3,"function":{"name":"f","arguments":"1}"}}]}"#,
            r#"{"tool_calls":[{"index":3,"id":"","function":{"name":"","arguments":""}}]}"#,
        ],
        &expect![[r#"
            Start { id: Some("a") }
            ToolStart { choice: 0, call: 0, id: "x", name: "f", state: None }
            ToolArguments { choice: 0, call: 0, text: "{\"a\":" }
            ToolArguments { choice: 0, call: 0, text: "1}" }
            ToolEnd { choice: 0, call: 0 }
            Finish { choice: 0, finish: Finish { reason: Stop, native: None, stop_sequence: None } }
            ended: true
        "#]],
    );
}

#[test]
fn empty_null_absent_and_null_in_quotes_as_arguments() {
    deltas(
        &[
            r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]}"#,
            r#"{"tool_calls":[{"index":1,"id":"b","function":{"name":"f","arguments":null}}]}"#,
            r#"{"tool_calls":[{"index":2,"id":"c","function":{"name":"f"}}]}"#,
            r#"{"tool_calls":[{"index":3,"id":"d","function":{"name":"f","arguments":"null"}}]}"#,
        ],
        &expect![[r#"
            Start { id: Some("a") }
            ToolStart { choice: 0, call: 0, id: "a", name: "f", state: None }
            ToolStart { choice: 0, call: 1, id: "b", name: "f", state: None }
            ToolStart { choice: 0, call: 2, id: "c", name: "f", state: None }
            ToolStart { choice: 0, call: 3, id: "d", name: "f", state: None }
            ToolArguments { choice: 0, call: 3, text: "null" }
            ToolEnd { choice: 0, call: 0 }
            ToolEnd { choice: 0, call: 1 }
            ToolEnd { choice: 0, call: 2 }
            ToolEnd { choice: 0, call: 3 }
            Finish { choice: 0, finish: Finish { reason: Stop, native: None, stop_sequence: None } }
            ended: true
        "#]],
    );
}

#[test]
fn the_old_function_call_is_a_call() {
    deltas(
        &[
            r#"{"function_call":{"name":"f","arguments":""}}"#,
            r#"{"function_call":{"arguments":"{}"}}"#,
        ],
        &expect![[r#"
            Start { id: Some("a") }
            ToolStart { choice: 0, call: 0, id: "call_727f27yzlcos5rh3uncntmom", name: "f", state: None }
            ToolArguments { choice: 0, call: 0, text: "{}" }
            ToolEnd { choice: 0, call: 0 }
            Finish { choice: 0, finish: Finish { reason: Stop, native: None, stop_sequence: None } }
            ended: true
        "#]],
    );
}

#[test]
fn a_call_that_never_gets_a_name_is_no_complete_answer() {
    deltas(
        &[r#"{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}"#],
        &expect![[r#"
            Start { id: Some("a") }
            ended: false
        "#]],
    );
}

#[test]
fn the_first_reason_that_is_not_empty_counts() {
    check(
        &[
            r#"{"id":"a","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":""}]}"#,
            r#"{"id":"a","choices":[{"index":0,"delta":{"content":"b"},"finish_reason":"length"}]}"#,
            r#"{"id":"a","choices":[{"index":0,"delta":{"content":"c"},"finish_reason":"stop"}]}"#,
            r#"{"id":"a","choices":[{"index":0,"delta":{},"finish_reason":null}]}"#,
            "[DONE]",
            "late",
        ],
        &expect![[r#"
            Start { id: Some("a") }
            Text { choice: 0, text: "a" }
            Text { choice: 0, text: "b" }
            Text { choice: 0, text: "c" }
            Finish { choice: 0, finish: Finish { reason: Length, native: None, stop_sequence: None } }
            complete
            complete
            ended: true
        "#]],
    );
    check(
        &[r#"{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"eos\u0021"}]}"#],
        &expect![[r#"
            Start { id: None }
            Text { choice: 0, text: "a" }
            Finish { choice: 0, finish: Finish { reason: Stop, native: Some("eos!"), stop_sequence: None } }
            ended: true
        "#]],
    );
    check(
        &[r#"{"choices":[{"index":0,"delta":{},"finish_reason":"error"}]}"#],
        &expect![[r#"
            Start { id: None }
            Err(Unreadable { why: "the answer ended in an error" })
        "#]],
    );
}

#[test]
fn usage_is_taken_from_any_frame_and_the_last_counts() {
    check(
        &[
            r#"{"id":"a","choices":[{"index":0,"delta":{"content":"a"}}],"usage":{"prompt_tokens":5,"completion_tokens":1,"total_tokens":6}}"#,
            r#"{"id":"a","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}"#,
            r#"{"id":"a","choices":[],"usage":{"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":3},"completion_tokens_details":{"reasoning_tokens":1}}}"#,
            r#"{"id":"a","choices":[],"usage":{"completion_tokens":2}}"#,
            r#"{"id":"a","choices":[],"usage":{}}"#,
            "[DONE]",
        ],
        &expect![[r#"
            Start { id: Some("a") }
            Text { choice: 0, text: "a" }
            Usage(Usage { prompt: 5, completion: 1, total: None, cached: None, cache_write: None, reasoning: None })
            Usage(Usage { prompt: 5, completion: 2, total: None, cached: Some(3), cache_write: None, reasoning: Some(1) })
            Finish { choice: 0, finish: Finish { reason: Stop, native: None, stop_sequence: None } }
            complete
            ended: true
        "#]],
    );
}

#[test]
fn several_choices_are_kept_apart_and_all_have_to_end() {
    let frames = [
        r#"{"id":"a","choices":[{"index":1,"delta":{"content":"b"}},{"index":0,"delta":{"content":"a"}}]}"#,
        r#"{"id":"a","choices":[{"index":1,"delta":{},"finish_reason":"stop"}]}"#,
        r#"{"id":"a","choices":[{"index":0,"delta":{},"finish_reason":"length"}]}"#,
    ];
    check(
        &frames,
        &expect![[r#"
        Start { id: Some("a") }
        Text { choice: 1, text: "b" }
        Text { choice: 0, text: "a" }
        Finish { choice: 1, finish: Finish { reason: Stop, native: None, stop_sequence: None } }
        Finish { choice: 0, finish: Finish { reason: Length, native: None, stop_sequence: None } }
        ended: true
    "#]],
    );
    check(
        &frames[..2],
        &expect![[r#"
        Start { id: Some("a") }
        Text { choice: 1, text: "b" }
        Text { choice: 0, text: "a" }
        ended: false
    "#]],
    );
}

#[test]
fn content_comes_as_text_null_and_parts() {
    deltas(
        &[
            r#"{"role":"assistant","content":null}"#,
            r#"{"content":""}"#,
            r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"a\u2028"},{"type":"reference","reference_ids":[1]}]}"#,
            r#"{"reasoning":"r","reasoning_content":"r","content":"b"}"#,
            r#"{"reasoning":"only"}"#,
            r#"{"refusal":"no","unheard":{"of":1}}"#,
            r#"{"thinking_blocks":[{"type":"thinking","thinking":"hm","signature":"sig"},{"type":"redacted_thinking","data":"x"},{"type":"thinking","thinking":"","signature":"late"}]}"#,
            r#"{"extra_content":{"google":{"thought_signature":"t"}},"images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]}"#,
            r#"{"tool_calls":[{"index":0,"id":"c","extra_content":{"google":{"thought_signature":"s"}},"function":{"name":"f"}}]}"#,
        ],
        &expect![[r#"
            Start { id: Some("a") }
            Thinking { choice: 0, text: "hm" }
            Text { choice: 0, text: "a\u{2028}" }
            Thinking { choice: 0, text: "r" }
            Text { choice: 0, text: "b" }
            Thinking { choice: 0, text: "only" }
            Refusal { choice: 0, text: "no" }
            ThinkingEnd { choice: 0, thinking: Thinking { text: Some("hm"), state: Some(State { family: Anthropic, data: "sig" }) } }
            ThinkingEnd { choice: 0, thinking: Thinking { text: None, state: Some(State { family: Anthropic, data: "x" }) } }
            Image { choice: 0, mime: "image/png", base64: "iVBORw0KGgo=" }
            TextState { choice: 0, state: State { family: Google, data: "t" } }
            ToolStart { choice: 0, call: 0, id: "c", name: "f", state: Some(State { family: Google, data: "s" }) }
            ToolEnd { choice: 0, call: 0 }
            Finish { choice: 0, finish: Finish { reason: Stop, native: None, stop_sequence: None } }
            ended: true
        "#]],
    );
}

#[test]
fn frames_of_azure_that_only_tell_of_filters_say_nothing() {
    check(
        &[
            r#"{"id":"","model":"","choices":[],"prompt_filter_results":[{"prompt_index":0}]}"#,
            r#"{"id":"a","choices":[{"index":0,"delta":{"content":"a"},"content_filter_results":{}}]}"#,
            r#"{"id":"","choices":[{"index":0,"finish_reason":null,"content_filter_results":{},"content_filter_offsets":{}}]}"#,
            r#"{"id":"a","choices":null}"#,
            r#"{"id":"a","choices":[{"index":0,"delta":null,"finish_reason":"content_filter"}]}"#,
        ],
        &expect![[r#"
            Start { id: Some("a") }
            Text { choice: 0, text: "a" }
            Finish { choice: 0, finish: Finish { reason: ContentFilter, native: None, stop_sequence: None } }
            ended: true
        "#]],
    );
}

#[test]
fn a_whole_message_in_a_stream_is_a_delta() {
    check(
        &[
            r#"{"id":"a","choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}]}"#,
        ],
        &expect![[r#"
            Start { id: Some("a") }
            Text { choice: 0, text: "a" }
            Finish { choice: 0, finish: Finish { reason: Stop, native: None, stop_sequence: None } }
            ended: true
        "#]],
    );
}

#[test]
fn names_that_the_provider_was_told_otherwise_are_the_clients_again() {
    let reading = Reading {
        memory: Memory {
            tool_names: vec![("a_b".to_owned(), "a.b".to_owned())],
            structured: None,
        },
        ..reading()
    };
    let frame = r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"a_b"}}]},"finish_reason":"tool_calls"}]}"#;
    expect![[r#"
        Start { id: None }
        ToolStart { choice: 0, call: 0, id: "c", name: "a.b", state: None }
        ToolEnd { choice: 0, call: 0 }
        Finish { choice: 0, finish: Finish { reason: ToolCalls, native: None, stop_sequence: None } }
        ended: true
    "#]].assert_eq(&told(reading, [("", frame)]));
}

#[test]
fn errors_within_a_stream_have_the_status_they_tell() {
    let mut found = String::new();
    for (event, payload) in [
        ("", r#"{"error":{"message":"m","code":"429"}}"#),
        ("", r#"{"error":{"message":"m","code":529},"choices":[]}"#),
        (
            "",
            r#"{"error":{"message":"m","type":"rate_limit_exceeded"}}"#,
        ),
        (
            "",
            r#"{"error":{"message":"m","code":"insufficient_quota"}}"#,
        ),
        (
            "",
            r#"{"error":{"message":"m","type":"invalid_request_error","param":"p"}}"#,
        ),
        ("", r#"{"error":{"message":"m","type":"overloaded_error"}}"#),
        (
            "",
            r#"{"error":{"message":"m","type":"server_error","code":null}}"#,
        ),
        ("", r#"{"error":"text"}"#),
        (
            "",
            r#"{"error":{},"choices":[{"index":0,"delta":{"content":"a"}}]}"#,
        ),
        ("", r#"{"object":"error","message":"m","code":404}"#),
        ("error", r#"{"message":"m"}"#),
    ] {
        found += &told(reading(), [(event, payload)]);
    }
    expect![[r#"
        Ok(Failed(Failure { status: 429, kind: "rate_limit_error", code: Some("429"), param: None, message: "m", retry_after: None, retryable: true }))
        Ok(Failed(Failure { status: 529, kind: "overloaded_error", code: Some("529"), param: None, message: "m", retry_after: None, retryable: true }))
        Ok(Failed(Failure { status: 429, kind: "rate_limit_exceeded", code: None, param: None, message: "m", retry_after: None, retryable: true }))
        Ok(Failed(Failure { status: 429, kind: "rate_limit_error", code: Some("insufficient_quota"), param: None, message: "m", retry_after: None, retryable: true }))
        Ok(Failed(Failure { status: 400, kind: "invalid_request_error", code: None, param: Some("p"), message: "m", retry_after: None, retryable: false }))
        Ok(Failed(Failure { status: 503, kind: "overloaded_error", code: None, param: None, message: "m", retry_after: None, retryable: true }))
        Ok(Failed(Failure { status: 500, kind: "server_error", code: None, param: None, message: "m", retry_after: None, retryable: true }))
        Ok(Failed(Failure { status: 500, kind: "api_error", code: None, param: None, message: "text", retry_after: None, retryable: true }))
        Ok(Failed(Failure { status: 500, kind: "api_error", code: None, param: None, message: "the provider returned an error", retry_after: None, retryable: true }))
        Ok(Failed(Failure { status: 404, kind: "not_found_error", code: Some("404"), param: None, message: "m", retry_after: None, retryable: false }))
        Ok(Failed(Failure { status: 500, kind: "api_error", code: None, param: None, message: "m", retry_after: None, retryable: true }))
    "#]].assert_eq(&found);
}

#[test]
fn frames_that_are_no_frames_are_unreadable() {
    let mut found = String::new();
    for payload in [
        "{",
        "[]",
        "data",
        r#"{"choices":[1]}"#,
        r#"{"choices":{}}"#,
        r#"{"choices":[]} x"#,
        "  ",
    ] {
        found += &told(reading(), [("", payload)]);
    }
    expect![[r#"
        Err(Unreadable { why: "a frame that is not JSON" })
        Err(Unreadable { why: "a frame that is not JSON" })
        Err(Unreadable { why: "a frame that is not JSON" })
        Start { id: None }
        Err(Unreadable { why: "a frame of another shape" })
        Err(Unreadable { why: "a frame of another shape" })
        Err(Unreadable { why: "a frame that is not JSON" })
        ended: false
    "#]]
    .assert_eq(&found);
}

#[test]
fn endless_calls_and_choices_are_unreadable() {
    let mut decoder = Decoder::new(reading());
    let step = (0..1025).find_map(|index| {
        let frame = format!(r#"{{"choices":[{{"index":{index},"delta":{{}}}}]}}"#);
        decoder.payload("", &frame, &mut |_| ()).err()
    });
    assert_eq!(step.unwrap().why, "too many choices");
    let mut decoder = Decoder::new(reading());
    let step = (0..1025).find_map(|index| {
        let frame = format!(
            r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":{index},"function":{{"name":"f"}}}}]}}}}]}}"#
        );
        decoder.payload("", &frame, &mut |_| ()).err()
    });
    assert_eq!(step.unwrap().why, "too many calls");
}
