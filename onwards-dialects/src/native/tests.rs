use proptest::prelude::*;

use super::{NativeEvents, Shown, named};
use crate::testing::events;
use crate::{Failure, Kind, Protocol, Step};

/// A stream of a provider that speaks this protocol.
fn stream(protocol: Protocol) -> NativeEvents {
    NativeEvents::new(kind(protocol), protocol, "fast")
}

fn kind(protocol: Protocol) -> Kind {
    match protocol {
        Protocol::Messages => Kind::Anthropic,
        Protocol::GenerateContent => Kind::Gemini,
        Protocol::Chat | Protocol::Responses => Kind::OpenAi,
    }
}

/// What becomes of each payload (`=`: it stays, `-`: the client gets nothing), what the step is, and what is known then: (content,
/// may end).
fn told(protocol: Protocol, payloads: &[&str]) -> Vec<String> {
    let mut native = stream(protocol);
    payloads
        .iter()
        .map(|payload| {
            let mut out = Vec::new();
            let passed = native.payload(payload.as_bytes(), &mut out);
            let out = String::from_utf8(out).unwrap();
            let out = match &passed {
                Ok((_, Shown::Changed)) => out.as_str(),
                Ok((_, Shown::Same)) => "=",
                Ok((_, Shown::Nothing)) | Err(_) => "-",
            };
            let step = match &passed {
                Ok((Step::Open, _)) => "open".to_owned(),
                Ok((Step::Complete, _)) => "complete".to_owned(),
                Ok((Step::Failed(failure), _)) => format!("failed {}", failure.status),
                Err(unreadable) => unreadable.why.to_owned(),
            };
            format!(
                "{out} {step} {} {}",
                native.seen_content(),
                native.may_end()
            )
        })
        .collect()
}

#[test]
fn a_chat_stream_is_renamed_and_watched() {
    let payloads = [
        r#"{"id":"a","model":"vendor/m" ,"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#,
        r#"{"id":"a","model":"fast","choices":[{"index":0,"delta":{"content":"x"}}]}"#,
        r#"{"choices":[{"delta":{},"index":1,"finish_reason":"stop"}],"model":null}"#,
        r#"{"choices":[{"index":0,"delta":{},"finish_reason":""}]}"#,
        r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
        r#"{"choices":[],"usage":{"prompt_tokens":1.0},"model":"vendor/m"}"#,
        "[DONE]",
    ];
    assert_eq!(
        told(Protocol::Chat, &payloads),
        [
            r#"{"id":"a","model":"fast" ,"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]} open false false"#,
            "= open true false",
            "= open true false",
            "= open true false",
            "= open true true",
            "- open true true",
            "- complete true true",
        ]
    );
    assert_eq!(
        told(
            Protocol::Chat,
            &[
                r#"{"model":"m","error":{"code":429}}"#,
                r#"{"error":null}"#,
                r#"{"model":"m","choices":[}"#,
                r#"{"mod\u0065l":"m","choices":[1]}"#,
            ]
        ),
        [
            "- failed 429 false false",
            "- open false false",
            "- a frame that is not JSON false false",
            r#"{"mod\u0065l":"fast","choices":[1]} open false false"#,
        ]
    );
}

#[test]
fn a_responses_stream_is_renamed_and_watched() {
    let payloads = [
        r#"{"type":"response.created","response":{"id":"r","model":"m","output":[{"model":"x"}]}}"#,
        r#"{"type":"response.output_item.added","item":{"model":"kept"}}"#,
        r#"{"type":"response.failed","response":{"model":"m","error":{"code":"rate_limit_exceeded","message":"slow"}}}"#,
        r#"{"type":"error","error":null,"code":"rate_limit_exceeded","message":"m"}"#,
        r#"{"type":"response.incomplete","response":{"model":"m"}}"#,
        r#"{"type":"response.completed","response":{"model":"m"}}"#,
    ];
    assert_eq!(
        told(Protocol::Responses, &payloads),
        [
            r#"{"type":"response.created","response":{"id":"r","model":"fast","output":[{"model":"x"}]}} open false false"#,
            "= open true false",
            r#"{"type":"response.failed","response":{"model":"fast","error":{"code":"rate_limit_exceeded","message":"slow"}}} failed 429 true true"#,
            "= failed 429 true true",
            r#"{"type":"response.incomplete","response":{"model":"fast"}} complete true true"#,
            r#"{"type":"response.completed","response":{"model":"fast"}} complete true true"#,
        ]
    );
}

#[test]
fn a_messages_stream_is_renamed_and_watched() {
    let payloads = [
        r#"{"type":"message_start","message":{"id":"m1","model":"claude","usage":{}}}"#,
        r#"{"type":"ping"}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":null}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    assert_eq!(
        told(Protocol::Messages, &payloads),
        [
            r#"{"type":"message_start","message":{"id":"m1","model":"fast","usage":{}}} open false false"#,
            "= open false false",
            "= open true false",
            "= open true false",
            "= open true true",
            "= complete true true",
        ]
    );
}

#[test]
fn a_gemini_stream_is_renamed_and_watched() {
    let payloads = [
        r#"{"candidates":[{"content":{"role":"model"},"index":0}],"modelVersion":"gemini-x"}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":"x"}],"role":"model"}}],"model":"kept"}"#,
        r#"{"candidates":[{"finishReason":"STOP"}],"modelVersion":"fast"}"#,
        r#"{"error":{"code":503,"message":"m","status":"UNAVAILABLE"}}"#,
    ];
    assert_eq!(
        told(Protocol::GenerateContent, &payloads),
        [
            r#"{"candidates":[{"content":{"role":"model"},"index":0}],"modelVersion":"fast"} open false false"#,
            "= open true false",
            "= open true true",
            "= failed 503 true true",
        ]
    );
    assert_eq!(
        told(
            Protocol::GenerateContent,
            &[r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#]
        ),
        ["= open true true"]
    );
}

#[test]
fn captured_streams_lose_nothing_but_the_name() {
    for (protocol, name, stream) in [
        (
            Protocol::Chat,
            "test-model-1",
            include_str!("../../tests/data/chat/parallel.sse"),
        ),
        (
            Protocol::GenerateContent,
            "gemini-test-1",
            include_str!("../../tests/data/gemini/parallel.sse"),
        ),
    ] {
        let mut native = self::stream(protocol);
        let mut told = Vec::new();
        for (_, payload) in events(stream) {
            let mut out = Vec::new();
            let (_, shown) = native.payload(payload.as_bytes(), &mut out).unwrap();
            let out = match shown {
                Shown::Changed => String::from_utf8(out).unwrap(),
                Shown::Same => payload.clone(),
                Shown::Nothing => continue,
            };
            assert_eq!(out, payload.replace(name, "fast"));
            told.push(out);
        }
        assert!(native.may_end());
        let mut counts = Vec::new();
        if native.counts(&mut counts) {
            told.push(String::from_utf8(counts).unwrap());
        }
        let all = events(stream);
        let all: Vec<String> = all
            .iter()
            .filter(|(_, payload)| payload != "[DONE]")
            .map(|(_, payload)| payload.replace(name, "fast"))
            .collect();
        assert_eq!(told, all);
    }
}

#[test]
fn a_whole_answer_is_renamed_where_it_has_a_name() {
    for (protocol, body, expected) in [
        (
            Protocol::Chat,
            r#"{ "model" : "m", "x": {"model":"m"}, "n": 1.10 }"#,
            Some(r#"{ "model" : "fa\"st", "x": {"model":"m"}, "n": 1.10 }"#),
        ),
        (Protocol::Messages, r#"{"type":"message"}"#, None),
        (Protocol::Responses, r#"{"model":null}"#, None),
        (Protocol::Responses, r#"{"model":"fa\"st"}"#, None),
        (
            Protocol::GenerateContent,
            r#"{"modelVersion":"m","model":"m"}"#,
            Some(r#"{"modelVersion":"fa\"st","model":"m"}"#),
        ),
        (Protocol::Chat, r#"{"model":"m""#, None),
        (Protocol::Chat, "[]", None),
    ] {
        let found = named(kind(protocol), protocol, body.as_bytes(), "fa\"st");
        let found = found.map(|body| String::from_utf8(body).unwrap());
        assert_eq!(found.as_deref(), expected, "{body}");
    }
}

proptest! {
    #[test]
    fn nothing_panics(text in "[\\[\\]{}:,\"a-f0-9 ]{0,60}") {
        for protocol in [Protocol::Chat, Protocol::Responses, Protocol::Messages, Protocol::GenerateContent] {
            let mut out = Vec::new();
            let step = stream(protocol).payload(text.as_bytes(), &mut out);
            if step.is_err() {
                prop_assert!(out.is_empty());
            }
            let _body = named(Kind::Azure, protocol, text.as_bytes(), "fast");
        }
    }
}

#[test]
fn a_stream_of_responses_fails_as_the_answer_it_began() {
    let mut native = stream(Protocol::Responses);
    let failure = Failure::of(502, Some("broken"), "it \"broke\"");
    let told = |native: &NativeEvents| {
        let mut out = String::new();
        native.fail(&failure, "r-1", &mut out);
        out
    };
    let error = r#"{"type":"error","code":"broken","param":null,"message":"it \"broke\"","sequence_number":0}"#;
    assert_eq!(told(&native), format!("event: error\ndata: {error}\n\n"));
    for payload in [
        r#"{"type":"response.created","sequence_number":3,"response":{"id":"a","model":"vendor/m", "status":"in_progress"}}"#,
        r#"{"type":"response.output_text.delta","sequence_number":4,"delta":"x"}"#,
    ] {
        native.payload(payload.as_bytes(), &mut Vec::new()).unwrap();
    }
    let failed = r#"{"type":"response.failed","sequence_number":5,"response":{"id":"a","model":"fast", "status":"failed","error":{"code":"broken","message":"it \"broke\""}}}"#;
    assert_eq!(
        told(&native),
        format!("event: response.failed\ndata: {failed}\n\n")
    );
}

#[test]
fn a_stream_of_responses_fails_as_what_the_client_was_told_instead() {
    let mut native = stream(Protocol::Responses);
    let begun = r#"{"type":"response.created","sequence_number":0,"response":{"id":"a","x":1}}"#;
    native.payload(begun.as_bytes(), &mut Vec::new()).unwrap();
    native.told(br#"{"type":"response.created","sequence_number":0,"response":{"id":"b"}}"#);
    let delta = r#"{"type":"response.output_text.delta","sequence_number":1,"delta":"x"}"#;
    native.payload(delta.as_bytes(), &mut Vec::new()).unwrap();
    native.told(b"not a beginning");
    let mut out = String::new();
    native.fail(&Failure::of(502, None, "m"), "r-1", &mut out);
    assert_eq!(
        out,
        "event: response.failed\ndata: {\"type\":\"response.failed\",\"sequence_number\":2,\
         \"response\":{\"id\":\"b\",\"status\":\"failed\",\"error\":{\"code\":\"server_error\",\"message\":\"m\"}}}\n\n"
    );
}
