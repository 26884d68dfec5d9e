use expect_test::{Expect, expect, expect_file};
use proptest::prelude::*;

use super::{reading, shaped};
use crate::Step;
use crate::answer::Event;
use crate::bedrock::Decoder;
use crate::options::Reading;

/// The events of these frames, one a line, and how the stream ended.
fn told(frames: &str, reading: Reading) -> String {
    let mut decoder = Decoder::new(reading);
    let mut out = String::new();
    for frame in frames
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        let (kind, payload) = frame.split_once(' ').unwrap();
        let step = decoder.payload(kind, payload, &mut |event| out += &format!("{event:?}\n"));
        match step {
            Ok(Step::Open) => {}
            Ok(Step::Complete) => out += "complete\n",
            other => return out + &format!("{other:?}\n"),
        }
    }
    let ended = decoder.end(&mut |event| out += &format!("{event:?}\n"));
    out + &format!("ended: {ended}\n")
}

fn check(frames: &str, expected: &Expect) {
    expected.assert_eq(&told(frames, reading()));
}

#[test]
fn captures_of_a_server() {
    for name in [
        "text",
        "tool",
        "parallel",
        "text-tool",
        "tool-first",
        "reasoning",
        "length",
        "trunc",
    ] {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/bedrock/");
        let frames = std::fs::read_to_string(format!("{folder}{name}.events")).unwrap();
        expect_file![format!("{folder}{name}.events.golden")].assert_eq(&told(&frames, reading()));
    }
}

#[test]
fn text_without_a_start_and_with_padding() {
    check(
        r#"
        messageStart {"role":"assistant","p":"abcd"}
        contentBlockDelta {"contentBlockIndex":0,"delta":{"text":""},"p":"a"}
        contentBlockDelta {"contentBlockIndex":0,"delta":{"text":"a\u2028"},"p":"ab"}
        contentBlockDelta {"contentBlockIndex":0,"delta":{"hologram":1}}
        contentBlockDelta {"contentBlockIndex":0}
        contentBlockStop {"contentBlockIndex":0}
        initial-response {}
        something-new {"a":1}
        messageStop {"stopReason":"stop_sequence"}
        messageStop {"stopReason":"end_turn"}
        metadata {"usage":{"inputTokens":1,"outputTokens":2,"cacheReadInputTokens":3},"metrics":{}}
        "#,
        &expect![[r#"
            Start { id: None }
            Text { choice: 0, text: "a\u{2028}" }
            Finish { choice: 0, finish: Finish { reason: Stop, native: Some("stop_sequence"), stop_sequence: None } }
            Usage(Usage { prompt: 4, completion: 2, total: None, cached: Some(3), cache_write: None, reasoning: None })
            complete
            ended: true
        "#]],
    );
}

#[test]
fn interleaved_calls_are_told_apart_by_their_block() {
    check(
        r#"
        messageStart {"role":"assistant"}
        contentBlockStart {"contentBlockIndex":3,"start":{"toolUse":{"toolUseId":"a","name":"f"}}}
        contentBlockStart {"contentBlockIndex":7,"start":{"toolUse":{"name":"g"}}}
        contentBlockDelta {"contentBlockIndex":7,"delta":{"toolUse":{"input":"{\"b\""}}}
        contentBlockDelta {"contentBlockIndex":3,"delta":{"toolUse":{"input":""}}}
        contentBlockDelta {"contentBlockIndex":3,"delta":{"toolUse":{"input":"{\"a\":1}"}}}
        contentBlockStop {"contentBlockIndex":3}
        contentBlockDelta {"contentBlockIndex":7,"delta":{"toolUse":{"input":":2}"}}}
        contentBlockStop {"contentBlockIndex":7}
        contentBlockStop {"contentBlockIndex":9}
        messageStop {"stopReason":"end_turn"}
        "#,
        &expect![[r#"
            Start { id: None }
            ToolStart { choice: 0, call: 0, id: "a", name: "f", state: None }
            ToolStart { choice: 0, call: 1, id: "call_s6nfrvx4e5il5xmvp3tyylg2", name: "g", state: None }
            ToolArguments { choice: 0, call: 1, text: "{\"b\"" }
            ToolArguments { choice: 0, call: 0, text: "{\"a\":1}" }
            ToolEnd { choice: 0, call: 0 }
            ToolArguments { choice: 0, call: 1, text: ":2}" }
            ToolEnd { choice: 0, call: 1 }
            Finish { choice: 0, finish: Finish { reason: Stop, native: None, stop_sequence: None } }
            ended: true
        "#]],
    );
}

#[test]
fn a_call_without_arguments_has_an_empty_object_and_one_cut_off_is_closed() {
    check(
        r#"
        messageStart {"role":"assistant"}
        contentBlockStart {"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"a","name":"f"}}}
        contentBlockStop {"contentBlockIndex":0}
        contentBlockStart {"contentBlockIndex":1,"start":{"toolUse":{"toolUseId":"b","name":"f"}}}
        contentBlockDelta {"contentBlockIndex":1,"delta":{"toolUse":{"input":"{\"a"}}}
        messageStop {"stopReason":"max_tokens"}
        "#,
        &expect![[r#"
            Start { id: None }
            ToolStart { choice: 0, call: 0, id: "a", name: "f", state: None }
            ToolArguments { choice: 0, call: 0, text: "{}" }
            ToolEnd { choice: 0, call: 0 }
            ToolStart { choice: 0, call: 1, id: "b", name: "f", state: None }
            ToolArguments { choice: 0, call: 1, text: "{\"a" }
            ToolEnd { choice: 0, call: 1 }
            Finish { choice: 0, finish: Finish { reason: Length, native: None, stop_sequence: None } }
            ended: true
        "#]],
    );
}

#[test]
fn thoughts_come_back_whole_with_their_signature() {
    check(
        r#"
        messageStart {"role":"assistant"}
        contentBlockDelta {"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"a\n"}}}
        contentBlockDelta {"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"b"}}}
        contentBlockDelta {"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":"s1"}}}
        contentBlockDelta {"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":"s2","new":"x"}}}
        contentBlockStop {"contentBlockIndex":0}
        contentBlockDelta {"contentBlockIndex":1,"delta":{"reasoningContent":{"redactedContent":"AAAA"}}}
        contentBlockStop {"contentBlockIndex":1}
        contentBlockDelta {"contentBlockIndex":2,"delta":{"reasoningContent":{"text":"c"}}}
        messageStop {"stopReason":"end_turn"}
        "#,
        &expect![[r#"
            Start { id: None }
            Thinking { choice: 0, text: "a\n" }
            Thinking { choice: 0, text: "b" }
            ThinkingEnd { choice: 0, thinking: Thinking { text: Some("a\nb"), state: Some(State { family: Anthropic, data: "s1s2" }) } }
            ThinkingEnd { choice: 0, thinking: Thinking { text: None, state: Some(State { family: Anthropic, data: "AAAA" }) } }
            Thinking { choice: 0, text: "c" }
            ThinkingEnd { choice: 0, thinking: Thinking { text: Some("c"), state: None } }
            Finish { choice: 0, finish: Finish { reason: Stop, native: None, stop_sequence: None } }
            ended: true
        "#]],
    );
}

#[test]
fn the_arguments_of_a_forced_tool_are_the_text() {
    let frames = r#"
        messageStart {"role":"assistant"}
        contentBlockDelta {"contentBlockIndex":0,"delta":{"text":"Here:"}}
        contentBlockStop {"contentBlockIndex":0}
        contentBlockStart {"contentBlockIndex":1,"start":{"toolUse":{"toolUseId":"a","name":"json_response"}}}
        contentBlockDelta {"contentBlockIndex":1,"delta":{"toolUse":{"input":"{\"a\":"}}}
        contentBlockDelta {"contentBlockIndex":1,"delta":{"toolUse":{"input":"1}"}}}
        contentBlockStop {"contentBlockIndex":1}
        contentBlockStart {"contentBlockIndex":2,"start":{"toolUse":{"toolUseId":"b","name":"get_weather"}}}
        messageStop {"stopReason":"tool_use"}
        "#;
    expect![[r#"
        Start { id: None }
        Text { choice: 0, text: "{\"a\":" }
        Text { choice: 0, text: "1}" }
        ToolStart { choice: 0, call: 0, id: "b", name: "get.weather", state: None }
        ToolArguments { choice: 0, call: 0, text: "{}" }
        ToolEnd { choice: 0, call: 0 }
        Finish { choice: 0, finish: Finish { reason: ToolCalls, native: None, stop_sequence: None } }
        ended: true
    "#]].assert_eq(&told(frames, shaped()));
    let frames = r#"
        messageStart {"role":"assistant"}
        contentBlockDelta {"contentBlockIndex":0,"delta":{"text":"I "}}
        contentBlockDelta {"contentBlockIndex":0,"delta":{"text":"cannot."}}
        messageStop {"stopReason":"end_turn"}
        "#;
    expect![[r#"
        Start { id: None }
        Text { choice: 0, text: "I cannot." }
        Finish { choice: 0, finish: Finish { reason: Stop, native: None, stop_sequence: None } }
        ended: true
    "#]]
    .assert_eq(&told(frames, shaped()));
}

#[test]
fn a_stream_that_breaks_has_not_ended() {
    check(
        r#"messageStart {"role":"assistant"}"#,
        &expect![[r#"
        Start { id: None }
        ended: false
    "#]],
    );
    for (frame, why) in [
        ("messageStart [", "no JSON object"),
        ("messageStart []", "no JSON object"),
        (
            r#"contentBlockStart {"start":{"toolUse":{}}}"#,
            "a call without a name",
        ),
        (
            r#"contentBlockDelta {"delta":{"toolUse":{"input":"{"}}}"#,
            "arguments of no call",
        ),
        (
            r#"messageStop {"stopReason":"malformed_model_output"}"#,
            "the model's output was malformed",
        ),
    ] {
        let (kind, payload) = frame.split_once(' ').unwrap();
        let mut decoder = Decoder::new(reading());
        let told = decoder.payload(kind, payload, &mut |_| {});
        assert_eq!(told.unwrap_err().why, why);
        assert!(!decoder.end(&mut |_| {}));
    }
}

#[test]
fn an_exception_fails_the_stream() {
    for (kind, payload, status) in [
        ("throttlingException", r#"{"message":"slow"}"#, 429),
        ("", r#"{"message":"what"}"#, 500),
    ] {
        let mut decoder = Decoder::new(reading());
        let Ok(Step::Failed(failure)) = decoder.payload(kind, payload, &mut |_| {}) else {
            panic!();
        };
        assert_eq!(failure.status, status);
    }
}

#[test]
fn what_is_kept_is_bounded() {
    let mut decoder = Decoder::new(reading());
    let text = "x".repeat(1 << 20);
    let payload =
        format!(r#"{{"contentBlockIndex":0,"delta":{{"reasoningContent":{{"text":"{text}"}}}}}}"#);
    for _ in 0..8 {
        assert!(
            decoder
                .payload("contentBlockDelta", &payload, &mut |_| {})
                .is_ok()
        );
    }
    let told = decoder.payload("contentBlockDelta", &payload, &mut |_| {});
    assert_eq!(told.unwrap_err().why, "more than can be kept");
    // Thoughts that are over are not kept.
    let mut decoder = Decoder::new(reading());
    for _ in 0..10 {
        let told = decoder.payload("contentBlockDelta", &payload, &mut |_| {});
        assert_eq!(told, Ok(Step::Open));
        let stop = r#"{"contentBlockIndex":0}"#;
        let told = decoder.payload("contentBlockStop", stop, &mut |_| {});
        assert_eq!(told, Ok(Step::Open));
    }
    let mut decoder = Decoder::new(reading());
    let payload = r#"{"start":{"toolUse":{"name":"f"}}}"#;
    for _ in 0..1024 {
        assert!(
            decoder
                .payload("contentBlockStart", payload, &mut |_| {})
                .is_ok()
        );
    }
    let told = decoder.payload("contentBlockStart", payload, &mut |_| {});
    assert_eq!(told.unwrap_err().why, "too many blocks at once");
}

proptest! {
    #[test]
    fn however_text_is_cut_it_is_the_same(text in "\\PC{0,40}", cuts in prop::collection::vec(0_usize..40, 0..6)) {
        let letters: Vec<char> = text.chars().collect();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(letters.len())).collect();
        cuts.extend([0, letters.len()]);
        cuts.sort_unstable();
        let mut decoder = Decoder::new(reading());
        let mut told = String::new();
        for pair in cuts.windows(2) {
            let piece: String = letters[pair[0]..pair[1]].iter().collect();
            let payload = serde_json::json!({"contentBlockIndex": 0, "delta": {"text": piece}}).to_string();
            let step = decoder.payload("contentBlockDelta", &payload, &mut |event| {
                if let Event::Text { text, .. } = event {
                    told += &text.decoded();
                }
            });
            prop_assert_eq!(step, Ok(Step::Open));
        }
        prop_assert_eq!(told, text);
    }

    #[test]
    fn no_input_panics(frames in prop::collection::vec(("[a-zA-Z-]{0,20}", "\\PC{0,60}"), 0..8)) {
        let mut decoder = Decoder::new(reading());
        for (kind, payload) in &frames {
            drop(decoder.payload(kind, payload, &mut |_| {}));
        }
        decoder.end(&mut |_| {});
    }
}

#[test]
fn counts_alone_end_nothing() {
    check(
        r#"
        messageStart {"role":"assistant"}
        contentBlockDelta {"contentBlockIndex":0,"delta":{"text":"a"}}
        metadata {"usage":{"inputTokens":1,"outputTokens":2}}
        "#,
        &expect![[r#"
            Start { id: None }
            Text { choice: 0, text: "a" }
            Usage(Usage { prompt: 1, completion: 2, total: None, cached: None, cache_write: None, reasoning: None })
            ended: false
        "#]],
    );
}

#[test]
fn nothing_is_told_behind_the_stop_but_counts() {
    check(
        r#"
        messageStart {"role":"assistant"}
        contentBlockDelta {"contentBlockIndex":0,"delta":{"text":"a"}}
        messageStop {"stopReason":"end_turn"}
        contentBlockStart {"contentBlockIndex":1,"start":{"toolUse":{"toolUseId":"a","name":"f"}}}
        contentBlockDelta {"contentBlockIndex":0,"delta":{"text":"b"}}
        contentBlockStop {"contentBlockIndex":0}
        "#,
        &expect![[r#"
            Start { id: None }
            Text { choice: 0, text: "a" }
            Finish { choice: 0, finish: Finish { reason: Stop, native: None, stop_sequence: None } }
            ended: true
        "#]],
    );
}
