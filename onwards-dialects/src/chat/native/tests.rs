use proptest::prelude::*;

use super::{Native, answer};
use crate::Step;
use crate::native::Shown;
use crate::text::value;

/// What the client gets of each payload, `-` for nothing; behind the end what is held back, `-` if nothing is.
fn stream(azure: bool, payloads: &[&str]) -> Vec<String> {
    let mut native = Native::new(azure, "fast");
    let mut told: Vec<String> = payloads
        .iter()
        .map(|payload| one(&mut native, payload))
        .collect();
    let mut held = Vec::new();
    let text = |held| String::from_utf8(held).unwrap();
    told.push(if native.counts(&mut held) {
        text(held)
    } else {
        "-".to_owned()
    });
    assert!(!native.counts(&mut Vec::new()), "once");
    told
}

fn one(native: &mut Native, payload: &str) -> String {
    let mut out = Vec::new();
    match native.payload(payload.as_bytes(), &mut out).unwrap() {
        (Step::Failed(failure), _) => format!("{} {}", failure.status, failure.message),
        (_, Shown::Nothing) => "-".to_owned(),
        (_, Shown::Same) => payload.to_owned(),
        (_, Shown::Changed) => String::from_utf8(out).unwrap(),
    }
}

#[test]
fn token_counts_are_told_once_and_last() {
    // Counts beside a choice, their absence, and the frame that has nothing else.
    for (payloads, told) in [
        (
            vec![
                r#"{"id":"a","choices":[{"index":0,"delta":{"content":"x"}}],"usage":null}"#,
                r#"{ "usage" : null , "id":"a", "choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
                r#"{"id":"a","model":"m","choices":[],"usage":{"total_tokens":1.0}}"#,
                "[DONE]",
            ],
            vec![
                r#"{"id":"a","choices":[{"index":0,"delta":{"content":"x"}}]}"#,
                r#"{ "id":"a", "choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
                "-",
                "-",
                r#"{"id":"a","model":"fast","choices":[],"usage":{"total_tokens":1.0}}"#,
            ],
        ),
        (
            vec![
                r#"{"id":"a","model":"m","usage":{"total_tokens":1},"choices":[{"delta":{"content":"x"}}],"x":1}"#,
                r#"{"id":"a","model":"m","choices":[{"delta":{"content":"y"}}],"usage":{"total_tokens":2}}"#,
                r#"{"id":"a","model":"m","choices":[{"delta":{"content":"y"}}]}"#,
            ],
            vec![
                r#"{"id":"a","model":"fast","choices":[{"delta":{"content":"x"}}],"x":1}"#,
                r#"{"id":"a","model":"fast","choices":[{"delta":{"content":"y"}}]}"#,
                r#"{"id":"a","model":"fast","choices":[{"delta":{"content":"y"}}]}"#,
                r#"{"id":"a","model":"fast","choices":[],"usage":{"total_tokens":2}}"#,
            ],
        ),
        (
            vec![
                r#"{"id":"a"}"#,
                r#"{"choices":[],"usage":null}"#,
                r#"{"choices":null}"#,
            ],
            vec!["-", "-", "-", "-"],
        ),
    ] {
        assert_eq!(stream(false, &payloads), told);
    }
}

#[test]
fn what_azures_filters_found_is_left_out() {
    let payloads = [
        r#"{"choices":[],"model":"","prompt_filter_results":[{"prompt_index":0}],"object":""}"#,
        r#"{"choices":[{"content_filter_results":{},"delta":{"role":"assistant"},"index":0}],"prompt_annotations":[]}"#,
        r#"{"choices":[{"content_filter_offsets":{},"content_filter_results":{"a":{"b":[1]}},"delta":{"content":"x"}}]}"#,
        r#"{"choices":[{"content_filter_offsets":{"check_offset":1},"finish_reason":null,"index":0}],"model":"m"}"#,
        r#"{"choices":[{"delta":{},"index":0,"content_filter_results":{},"finish_reason":null}],"usage":null}"#,
        r#"{"choices":[{"delta":{},"finish_reason":null}]}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"stop","content_filter_results":{}}]}"#,
        r#"{"prompt_filter_results":[],"choices":[],"usage":{"total_tokens":1}}"#,
    ];
    assert_eq!(
        stream(true, &payloads),
        [
            "-",
            r#"{"choices":[{"delta":{"role":"assistant"},"index":0}]}"#,
            r#"{"choices":[{"delta":{"content":"x"}}]}"#,
            "-",
            "-",
            r#"{"choices":[{"delta":{},"finish_reason":null}]}"#,
            r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
            "-",
            r#"{"choices":[],"usage":{"total_tokens":1}}"#,
        ]
    );
    // Elsewhere they are members that nobody knows.
    let kept = r#"{"choices":[{"content_filter_results":{},"delta":{"content":"x"}}]}"#;
    assert_eq!(stream(false, &[kept])[0], kept);
}

#[test]
fn nothing_but_content_commits() {
    for (delta, content) in [
        (r#"{"role":"assistant","content":""}"#, false),
        (
            r#"{"role":"assistant","content":null,"tool_calls":[]}"#,
            false,
        ),
        (r#"{}"#, false),
        (r#"{"content":"x"}"#, true),
        (r#"{"reasoning":"x"}"#, true),
        (r#"{"reasoning_content":"x"}"#, true),
        (r#"{"refusal":"x"}"#, true),
        (
            r#"{"tool_calls":[{"index":0,"id":"c","function":{"arguments":""}}]}"#,
            true,
        ),
        (r#"{"x_new":{}}"#, true),
    ] {
        let mut native = Native::new(true, "fast");
        let payload = format!(r#"{{"choices":[{{"index":0,"delta":{delta}}}]}}"#);
        one(&mut native, &payload);
        assert_eq!(native.seen_content(), content, "{delta}");
        assert!(!native.may_end());
        one(
            &mut native,
            r#"{"choices":[{"index":0,"finish_reason":"length"}]}"#,
        );
        assert!(native.seen_content() && native.may_end());
    }
}

#[test]
fn calls_without_a_place_get_one() {
    let call = |choice: u8, call: &str| {
        format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{call}]}},"index":{choice}}}]}}"#)
    };
    let cases = [
        (
            0,
            r#"{"id":"a","function":{"name":"f","arguments":""}}"#,
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":""}}"#,
        ),
        (
            0,
            r#"{"function":{"arguments":"1"}}"#,
            r#"{"index":0,"function":{"arguments":"1"}}"#,
        ),
        (
            0,
            r#"{"function":{"arguments":"2"}}"#,
            r#"{"index":0,"function":{"arguments":"2"}}"#,
        ),
        (0, r#"{"id":"b","index":null}"#, r#"{"id":"b","index":1}"#),
        (1, r#"{ "id":"b"}"#, r#"{"index":0, "id":"b"}"#),
        (
            0,
            r#"{"id":"a"},{"id":"c"}"#,
            r#"{"index":0,"id":"a"},{"index":2,"id":"c"}"#,
        ),
        (0, r#"{}"#, r#"{"index":2}"#),
        (0, r#"{"index":1,"id":"b"}"#, r#"{"index":1,"id":"b"}"#),
        (0, "7", "7"),
    ];
    let mut native = Native::new(false, "fast");
    for (choice, sent, told) in cases {
        assert_eq!(one(&mut native, &call(choice, sent)), call(choice, told));
    }
}

#[test]
fn thoughts_have_one_name() {
    let told = |delta: &str| {
        let payload = format!(r#"{{"choices":[{{"delta":{delta}}}]}}"#);
        let told = one(&mut Native::new(false, "fast"), &payload);
        let told = told.strip_prefix(r#"{"choices":[{"delta":"#).unwrap();
        told.strip_suffix("}]}").unwrap().to_owned()
    };
    for (delta, expected) in [
        (
            r#"{ "reasoning" : "x","tool_calls":[{"id":"a"}]}"#,
            r#"{ "reasoning_content" : "x","tool_calls":[{"index":0,"id":"a"}]}"#,
        ),
        (
            r#"{"reasoning":null,"content":"x"}"#,
            r#"{"reasoning":null,"content":"x"}"#,
        ),
        (
            r#"{"reasoning":"x","reasoning_content":"x"}"#,
            r#"{"reasoning":"x","reasoning_content":"x"}"#,
        ),
    ] {
        assert_eq!(told(delta), expected);
    }
}

#[test]
fn errors_are_told_apart_in_every_shape() {
    for (payload, told) in [
        (
            r#"{"error":{"message":"m","code":"429"},"choices":[{"delta":{"content":"x"}}]}"#,
            "429 m",
        ),
        (r#"{"error":"busy"}"#, "500 busy"),
        (r#"{"object":"error","message":"m","code":400}"#, "400 m"),
    ] {
        assert_eq!(stream(false, &[payload])[0], told);
    }
}

#[test]
fn a_whole_answer_is_edited_too() {
    let body = r#"{ "model":"m","choices":[{"index":0,"content_filter_results":{},"message":{"role":"assistant","reasoning":"x",
        "tool_calls":[{"id":"a"}]},"finish_reason":"stop"} ], "usage":{"a":1},"prompt_filter_results":[ ] }"#;
    let azure = r#"{ "model":"fast","choices":[{"index":0,"message":{"role":"assistant","reasoning_content":"x",
        "tool_calls":[{"id":"a"}]},"finish_reason":"stop"} ], "usage":{"a":1} }"#;
    let told = |azure| answer(azure, body, "fast").map(|out| String::from_utf8(out).unwrap());
    assert_eq!(told(true).as_deref(), Some(azure));
    let plain = body
        .replace("\"m\"", "\"fast\"")
        .replace("reasoning", "reasoning_content");
    assert_eq!(told(false), Some(plain));
}

#[test]
fn payloads_alike_are_not_walked_and_become_the_same() {
    let payload = |text: &str| {
        format!(
            r#"{{"id":"a","usage":null,"model":"m","obfuscation":{text},"choices":[{{"index":0,"delta":{{"reasoning":{text}}}}}]}}"#
        )
    };
    let mut native = Native::new(false, "fast");
    for text in [
        "\"\"",
        "\"x\"",
        "\"y\\u0041\"",
        "\"\"",
        "\"{\"",
        "\"é\"",
        "null",
        "\"z\"",
    ] {
        let fresh = one(&mut Native::new(false, "fast"), &payload(text));
        assert_eq!(one(&mut native, &payload(text)), fresh);
    }
    let mut out = Vec::new();
    for broken in ["\"a\nb\"", "\"a", "\"\\x\""] {
        one(&mut native, &payload("\"x\""));
        assert!(
            native
                .payload(payload(broken).as_bytes(), &mut out)
                .is_err()
        );
        assert!(out.is_empty());
    }
}

/// A payload as streams have them, and some that they do not.
fn payloads() -> impl Strategy<Value = String> {
    let text = prop_oneof![
        Just(r#""""#),
        Just(r#""x""#),
        Just(r#""\u0041b""#),
        Just("null"),
        Just("1")
    ];
    let usage = prop_oneof![
        Just(""),
        Just(r#","usage":null"#),
        Just(r#","usage":{"a":1}"#)
    ];
    let name = prop_oneof![
        Just("content"),
        Just("reasoning"),
        Just("reasoning_content"),
        Just("role")
    ];
    let calls = prop_oneof![
        Just(""),
        Just(r#","tool_calls":[{"function":{"arguments":"x"}}]"#),
        Just(r#","tool_calls":[{"id":"a","index":null},{"index":3,"id":"b"},{}]"#),
    ];
    let filter = prop_oneof![Just(""), Just(r#""content_filter_results":{},"#)];
    (text, usage, name, calls, filter, 0..3_u8).prop_map(|(text, usage, name, calls, filter, index)| {
        format!(
            r#"{{{filter}"model":"m","choices":[{{{filter}"index":{index},"delta":{{"{name}":{text}{calls}}}}}]{usage}}}"#
        )
    })
}

proptest! {
    #[test]
    fn what_is_remembered_changes_nothing(payloads in prop::collection::vec(payloads(), 1..12), azure: bool) {
        // The same stream, with what is remembered thrown away in between.
        let (mut one, mut other) = (Native::new(azure, "fast"), Native::new(azure, "fast"));
        for payload in &payloads {
            other.last.forget();
            let (mut out, mut expected) = (Vec::new(), Vec::new());
            let told = one.payload(payload.as_bytes(), &mut out);
            prop_assert_eq!(told, other.payload(payload.as_bytes(), &mut expected));
            let out = String::from_utf8(out).unwrap();
            prop_assert_eq!(&out, &String::from_utf8(expected).unwrap());
            prop_assert!(out.is_empty() || value(&out).is_some(), "{}", out);
            prop_assert_eq!(one.seen_content(), other.seen_content());
        }
    }

    #[test]
    fn nothing_panics_and_what_is_written_is_json(text in "[\\[\\]{}:,\"a-f0-9 ]{0,60}", azure: bool) {
        let mut out = Vec::new();
        if let Ok((_, Shown::Changed)) = Native::new(azure, "fast").payload(text.as_bytes(), &mut out) {
            prop_assert!(value(std::str::from_utf8(&out).unwrap()).is_some());
        }
    }
}
