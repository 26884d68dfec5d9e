use expect_test::{Expect, expect, expect_file};
use proptest::prelude::*;

use super::Decoder;
use crate::Step;
use crate::answer::Event;
use crate::failure::{Failure, Unreadable};
use crate::gemini::HELD;
use crate::options::Reading;
use crate::testing::events;

/// The events of these payloads, one a line, and how the stream ended.
fn told<'p>(payloads: impl IntoIterator<Item = &'p str>) -> String {
    let mut decoder = Decoder::new(Reading {
        unique: "r1".into(),
        ..Reading::default()
    });
    let mut out = String::new();
    for payload in payloads {
        let step = decoder.payload("", payload, &mut |event| out += &format!("{event:?}\n"));
        match step {
            Ok(Step::Open) => {}
            other => return out + &format!("{other:?}\n"),
        }
    }
    let ended = decoder.end(&mut |event| out += &format!("{event:?}\n"));
    out + &format!("ended: {ended}\n")
}

#[expect(clippy::needless_pass_by_value, reason = "as expect! makes it")]
fn check(payloads: &[&str], expected: Expect) {
    expected.assert_eq(&told(payloads.iter().copied()));
}

#[test]
fn captures_of_a_server() {
    for (name, stream) in [
        ("text", include_str!("../../../tests/data/gemini/text.sse")),
        (
            "thinking",
            include_str!("../../../tests/data/gemini/thinking.sse"),
        ),
        ("tool", include_str!("../../../tests/data/gemini/tool.sse")),
        (
            "parallel",
            include_str!("../../../tests/data/gemini/parallel.sse"),
        ),
        (
            "text-tool",
            include_str!("../../../tests/data/gemini/text-tool.sse"),
        ),
        (
            "length",
            include_str!("../../../tests/data/gemini/length.sse"),
        ),
        (
            "trunc",
            include_str!("../../../tests/data/gemini/trunc.sse"),
        ),
    ] {
        let golden = format!("../../../tests/data/gemini/{name}.sse.golden");
        let events = events(stream);
        let payloads = events.iter().map(|(_, data)| data.as_str());
        expect_file![golden].assert_eq(&told(payloads));
    }
}

#[test]
fn calls_are_counted_over_the_stream_and_apart_for_each_candidate() {
    check(
        &[
            r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{ "a" : 1 }},"thoughtSignature":"S"}]},"index":0}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}}]},"index":1,"finishReason":"STOP"}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"g","id":"own"}}]},"index":0,"finishReason":"STOP"}]}"#,
        ],
        expect![[r#"
            Start { id: None }
            ToolStart { choice: 0, call: 0, id: "call_727f27yzlcos5rh3uncntmom", name: "f", state: Some(State { family: Google, data: "S" }) }
            ToolArguments { choice: 0, call: 0, text: "{\"a\":1}" }
            ToolEnd { choice: 0, call: 0 }
            ToolStart { choice: 1, call: 0, id: "call_2tfrcltjaz6dp2k5dpbnnboy", name: "f", state: None }
            ToolArguments { choice: 1, call: 0, text: "{}" }
            ToolEnd { choice: 1, call: 0 }
            ToolStart { choice: 0, call: 1, id: "own", name: "g", state: None }
            ToolArguments { choice: 0, call: 1, text: "{}" }
            ToolEnd { choice: 0, call: 1 }
            Finish { choice: 0, finish: Finish { reason: Stop, native: None, stop_sequence: None } }
            Finish { choice: 1, finish: Finish { reason: Stop, native: None, stop_sequence: None } }
            ended: true
        "#]],
    );
}

#[test]
fn a_reason_with_every_event_and_content_behind_it() {
    check(
        &[
            r#"{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"b\u2028"}]},"finishReason":""}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"c"}]},"finishReason":"MAX_TOKENS"}]}"#,
            r#"{"candidates":[{"finishReason":"MAX_TOKENS"}]}"#,
        ],
        expect![[r#"
            Start { id: None }
            Text { choice: 0, text: "a" }
            Text { choice: 0, text: "b\u{2028}" }
            Text { choice: 0, text: "c" }
            Finish { choice: 0, finish: Finish { reason: Length, native: Some("MAX_TOKENS"), stop_sequence: None } }
            ended: true
        "#]],
    );
}

#[test]
fn counts_in_several_events() {
    check(
        &[
            r#"{"usageMetadata":{"promptTokenCount":5,"totalTokenCount":5},"responseId":"g1"}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"a"}]}}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":1,"totalTokenCount":6}}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"b"}]}}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":1,"totalTokenCount":6}}"#,
            r#"{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"candidatesTokenCount":2,"thoughtsTokenCount":4,"cachedContentTokenCount":3,"totalTokenCount":11}}"#,
            r#"{"usageMetadata":{}}"#,
        ],
        expect![[r#"
            Start { id: Some("g1") }
            Usage(Usage { prompt: 5, completion: 0, total: None, cached: None, cache_write: None, reasoning: None })
            Text { choice: 0, text: "a" }
            Usage(Usage { prompt: 5, completion: 1, total: None, cached: None, cache_write: None, reasoning: None })
            Text { choice: 0, text: "b" }
            Usage(Usage { prompt: 5, completion: 6, total: None, cached: Some(3), cache_write: None, reasoning: Some(4) })
            Finish { choice: 0, finish: Finish { reason: Stop, native: None, stop_sequence: None } }
            ended: true
        "#]],
    );
}

#[test]
fn thoughts_end_before_what_follows_and_keep_their_signature() {
    check(
        &[
            r#"{"candidates":[{"content":{"parts":[{"text":"h","thought":true},{"text":"m","thought":true}]}}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"","thought":true,"thoughtSignature":"S1"},{"text":"then","thought":true},{"text":"x"}]}}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"S2"}]}}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"last","thought":true}]},"finishReason":"STOP"}]}"#,
        ],
        expect![[r#"
            Start { id: None }
            Thinking { choice: 0, text: "h" }
            Thinking { choice: 0, text: "m" }
            ThinkingEnd { choice: 0, thinking: Thinking { text: Some("hm"), state: Some(State { family: Google, data: "S1" }) } }
            Thinking { choice: 0, text: "then" }
            ThinkingEnd { choice: 0, thinking: Thinking { text: Some("then"), state: None } }
            Text { choice: 0, text: "x" }
            TextState { choice: 0, state: State { family: Google, data: "S2" } }
            Thinking { choice: 0, text: "last" }
            ThinkingEnd { choice: 0, thinking: Thinking { text: Some("last"), state: None } }
            Finish { choice: 0, finish: Finish { reason: Stop, native: None, stop_sequence: None } }
            ended: true
        "#]],
    );
}

#[test]
fn a_blocked_prompt_ends_the_stream() {
    check(
        &[
            r#"{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":5}}"#,
            r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#,
        ],
        expect![[r#"
            Start { id: None }
            Refusal { choice: 0, text: "The provider blocked the prompt (SAFETY)." }
            Usage(Usage { prompt: 5, completion: 0, total: None, cached: None, cache_write: None, reasoning: None })
            Finish { choice: 0, finish: Finish { reason: ContentFilter, native: None, stop_sequence: None } }
            ended: true
        "#]],
    );
}

#[test]
fn a_failed_candidate_that_says_nothing() {
    check(
        &[
            r#"{"candidates":[{"content":{"parts":[{"text":"h","thought":true}]}}]}"#,
            r#"{"candidates":[{"content":{},"finishReason":"MALFORMED_FUNCTION_CALL"}]}"#,
        ],
        expect![[r#"
            Start { id: None }
            Thinking { choice: 0, text: "h" }
            Err(Unreadable { why: "the candidate failed and says nothing" })
        "#]],
    );
    check(
        &[
            r#"{"candidates":[{"content":{"parts":[{"text":"h"}]}}]}"#,
            r#"{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}"#,
        ],
        expect![[r#"
            Start { id: None }
            Text { choice: 0, text: "h" }
            Finish { choice: 0, finish: Finish { reason: Stop, native: Some("MALFORMED_FUNCTION_CALL"), stop_sequence: None } }
            ended: true
        "#]],
    );
}

#[test]
fn empty_events_and_unknown_parts() {
    check(
        &[
            "{}",
            r#"{"candidates":[]}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":""},{"executableCode":{}},{"inlineData":{"mimeType":"image/png","data":"aGk="}}],"new":1}}],"new":1}"#,
            r#"{"candidates":[{"content":{"role":"model"},"finishReason":"STOP","logprobsResult":{"chosenCandidates":[{"token":"a","logProbability":-1}]}}]}"#,
        ],
        expect![[r#"
            Start { id: None }
            Image { choice: 0, mime: "image/png", base64: "aGk=" }
            Logprobs { choice: 0, json: "{\"content\":[{\"token\":\"a\",\"logprob\":-1,\"bytes\":null,\"top_logprobs\":[]}]}" }
            Finish { choice: 0, finish: Finish { reason: Stop, native: None, stop_sequence: None } }
            ended: true
        "#]],
    );
}

#[test]
fn streams_that_end_too_early() {
    assert_eq!(told([]), "ended: false\n");
    let open = r#"{"candidates":[{"finishReason":"STOP","index":0},{"index":1}]}"#;
    assert_eq!(told([open]), "Start { id: None }\nended: false\n");
}

fn step(payload: &str) -> Result<Step, Unreadable> {
    Decoder::new(Reading::default()).payload("", payload, &mut |_| {})
}

#[test]
fn an_error_in_the_stream() {
    let error = r#"{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}"#;
    let failed = Step::Failed(Failure::of(503, Some("unavailable"), "overloaded"));
    assert_eq!(step(error), Ok(failed.clone()));
    assert_eq!(step(&format!(" [{error}]")), Ok(failed));
}

#[test]
fn events_that_cannot_be_read() {
    for (payload, why) in [
        ("", "no JSON object"),
        ("[{}]", "no JSON object"),
        ("{\"candidates\":[", "no JSON object"),
        ("[DONE]", "no JSON object"),
        (
            r#"{"candidates":[{"content":{"parts":[{"functionCall":{"args":{}}}]}}]}"#,
            "a function call without a name",
        ),
    ] {
        assert_eq!(step(payload), Err(Unreadable::new(why)), "{payload}");
    }
    let many: Vec<String> = (0..257)
        .map(|index| format!("{{\"index\":{index}}}"))
        .collect();
    let many = format!("{{\"candidates\":[{}]}}", many.join(","));
    assert_eq!(step(&many), Err(Unreadable::new("too many candidates")));
    let long = "x".repeat(HELD + 1);
    let long = format!(
        r#"{{"candidates":[{{"content":{{"parts":[{{"text":"{long}","thought":true}}]}}}}]}}"#
    );
    assert_eq!(
        step(&long),
        Err(Unreadable::new("a thought that is too long"))
    );
}

proptest! {
    #[test]
    fn text_cut_anywhere_is_the_same_text(text in "[a\"\\\\\n\u{2028}é💻]{0,12}", cuts in proptest::collection::vec(0..12_usize, 0..4)) {
        let characters: Vec<char> = text.chars().collect();
        let mut decoder = Decoder::new(Reading::default());
        let mut seen = String::new();
        let mut places: Vec<usize> = cuts.into_iter().map(|cut| cut.min(characters.len())).collect();
        places.extend([0, characters.len()]);
        places.sort_unstable();
        for pair in places.windows(2) {
            let piece: String = characters[pair[0]..pair[1]].iter().collect();
            let piece = onwards_json::quote(&piece);
            let payload = format!(r#"{{"candidates":[{{"content":{{"parts":[{{"text":{piece}}}]}}}}]}}"#);
            decoder.payload("", &payload, &mut |event| {
                if let Event::Text { text, .. } = event {
                    assert!(!text.is_empty());
                    seen += &text.decoded();
                }
            }).unwrap();
        }
        prop_assert_eq!(seen, text);
    }

    #[test]
    fn nothing_panics(payloads in proptest::collection::vec("[\\[\\]{}:,\"a-zA-Z0-9]{0,40}", 0..4)) {
        told(payloads.iter().map(String::as_str));
    }
}
