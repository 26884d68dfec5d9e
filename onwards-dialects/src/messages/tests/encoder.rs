//! Streams to Anthropic's clients.

use expect_test::{Expect, expect};

use super::context;
use crate::answer::{Event, Finish, Reason, Usage};
use crate::messages::Encoder;
use crate::options::{Context, Expose};
use crate::request::{State, Thinking};
use crate::text::Str;
use crate::{Failure, Family};

fn s(text: &str) -> Str<'_> {
    Str::plain(text)
}

fn say(text: &str) -> Event<'_> {
    Event::Text {
        choice: 0,
        text: s(text),
    }
}

fn begin(call: u64) -> Event<'static> {
    Event::ToolStart {
        choice: 0,
        call,
        id: Str::owned(format!("t{call}")),
        name: s("f"),
        state: None,
    }
}

fn args(call: u64, text: &str) -> Event<'_> {
    Event::ToolArguments {
        choice: 0,
        call,
        text: s(text),
    }
}

fn over(call: u64) -> Event<'static> {
    Event::ToolEnd { choice: 0, call }
}

fn done(reason: Reason) -> Event<'static> {
    Event::Finish {
        choice: 0,
        finish: Finish {
            reason,
            ..Finish::default()
        },
    }
}

/// What events are to a client: one frame in a line.
fn encoded(events: &[Event<'_>], context: Context) -> String {
    let mut encoder = Encoder::new(context);
    let mut out = String::new();
    for event in events {
        encoder.event(event, &mut out);
        out.push('~');
    }
    assert!(!encoder.overflow());
    encoder.end(&mut out);
    lines(&out)
}

/// Frames in lines; `~` stands where a step of the answer ends, if the next frame belongs to a later one.
fn lines(frames: &str) -> String {
    let mut out = String::new();
    for frame in frames.split("\n\n") {
        let Some((event, data)) = frame.split_once("\ndata: ") else {
            continue;
        };
        let (steps, name) = event.split_once("event: ").unwrap();
        let value: serde_json::Value = serde_json::from_str(data).unwrap();
        assert_eq!(value["type"], name);
        let rest = data.replacen(&format!(r#""type":"{name}""#), "", 1);
        out += &format!("{steps}{name} {rest}\n");
    }
    out
}

fn check_out(events: &[Event<'_>], context: Context, expected: &Expect) {
    expected.assert_eq(&encoded(events, context));
}

#[test]
fn a_whole_stream() {
    let usage = Usage {
        prompt: 10,
        completion: 1,
        total: None,
        cached: Some(3),
        cache_write: Some(2),
        reasoning: None,
    };
    let finish = Finish {
        reason: Reason::Stop,
        native: Some(s("stop_sequence")),
        stop_sequence: Some(s("END")),
    };
    check_out(
        &[
            Event::Start {
                id: Some(s("msg_7")),
            },
            Event::Usage(usage),
            Event::KeepAlive,
            say("a\u{2028}\n"),
            say("b"),
            Event::Finish { choice: 0, finish },
            Event::Usage(Usage {
                completion: 5,
                ..usage
            }),
        ],
        context(),
        &expect![[r#"
            ~~~message_start {,"message":{"id":"msg_7","type":"message","role":"assistant","model":"fast","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":5,"cache_creation_input_tokens":2,"cache_read_input_tokens":3,"output_tokens":0}}}
            ping {}
            content_block_start {,"index":0,"content_block":{"type":"text","text":""}}
            content_block_delta {,"index":0,"delta":{"type":"text_delta","text":"a \n"}}
            ~content_block_delta {,"index":0,"delta":{"type":"text_delta","text":"b"}}
            ~content_block_stop {,"index":0}
            ~~message_delta {,"delta":{"stop_reason":"stop_sequence","stop_sequence":"END"},"usage":{"input_tokens":5,"cache_creation_input_tokens":2,"cache_read_input_tokens":3,"output_tokens":5}}
            message_stop {}
        "#]],
    );
    check_out(
        &[],
        context(),
        &expect![[r#"
        message_start {,"message":{"id":"msg_u1","type":"message","role":"assistant","model":"fast","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}}
        ping {}
        message_delta {,"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}
        message_stop {}
    "#]],
    );
}

/// Thoughts with a genuine signature, with another's, and without.
fn thoughts() -> [Event<'static>; 8] {
    let thought = |text: Option<&'static str>, family: Option<Family>| Event::ThinkingEnd {
        choice: 0,
        thinking: Thinking {
            text: text.map(Str::plain),
            state: family.map(|family| State {
                family,
                data: s("si\"g"),
            }),
        },
    };
    [
        Event::Thinking {
            choice: 0,
            text: s("hm"),
        },
        thought(Some("hm"), Some(Family::Anthropic)),
        thought(Some(""), Some(Family::Anthropic)),
        thought(None, Some(Family::Anthropic)),
        thought(Some("hm"), Some(Family::Google)),
        thought(Some("hm"), None),
        say("a"),
        thought(None, Some(Family::Anthropic)),
    ]
}

#[test]
fn thoughts_pass_only_with_a_genuine_signature() {
    check_out(
        &thoughts(),
        context(),
        &expect![[r#"
            message_start {,"message":{"id":"msg_u1","type":"message","role":"assistant","model":"fast","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}}
            ping {}
            content_block_start {,"index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}
            content_block_delta {,"index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}
            ~content_block_delta {,"index":0,"delta":{"type":"signature_delta","signature":"si\"g"}}
            content_block_stop {,"index":0}
            ~content_block_start {,"index":1,"content_block":{"type":"thinking","thinking":"","signature":""}}
            content_block_delta {,"index":1,"delta":{"type":"signature_delta","signature":"si\"g"}}
            content_block_stop {,"index":1}
            ~content_block_start {,"index":2,"content_block":{"type":"redacted_thinking","data":"si\"g"}}
            content_block_stop {,"index":2}
            ~~~content_block_start {,"index":3,"content_block":{"type":"text","text":""}}
            content_block_delta {,"index":3,"delta":{"type":"text_delta","text":"a"}}
            ~content_block_stop {,"index":3}
            content_block_start {,"index":4,"content_block":{"type":"redacted_thinking","data":"si\"g"}}
            content_block_stop {,"index":4}
            ~message_delta {,"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}
            message_stop {}
        "#]],
    );
    check_out(
        &thoughts(),
        context(),
        &expect![[r#"
        message_start {,"message":{"id":"msg_u1","type":"message","role":"assistant","model":"fast","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}}
        ping {}
        content_block_start {,"index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}
        content_block_delta {,"index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}
        ~content_block_delta {,"index":0,"delta":{"type":"signature_delta","signature":"si\"g"}}
        content_block_stop {,"index":0}
        ~content_block_start {,"index":1,"content_block":{"type":"thinking","thinking":"","signature":""}}
        content_block_delta {,"index":1,"delta":{"type":"signature_delta","signature":"si\"g"}}
        content_block_stop {,"index":1}
        ~content_block_start {,"index":2,"content_block":{"type":"redacted_thinking","data":"si\"g"}}
        content_block_stop {,"index":2}
        ~~~content_block_start {,"index":3,"content_block":{"type":"text","text":""}}
        content_block_delta {,"index":3,"delta":{"type":"text_delta","text":"a"}}
        ~content_block_stop {,"index":3}
        content_block_start {,"index":4,"content_block":{"type":"redacted_thinking","data":"si\"g"}}
        content_block_stop {,"index":4}
        ~message_delta {,"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}
        message_stop {}
    "#]],
    );
    let quiet = Context {
        expose: Expose::Text,
        ..context()
    };
    check_out(
        &thoughts(),
        quiet,
        &expect![[r#"
        ~~~~~~message_start {,"message":{"id":"msg_u1","type":"message","role":"assistant","model":"fast","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}}
        ping {}
        content_block_start {,"index":0,"content_block":{"type":"text","text":""}}
        content_block_delta {,"index":0,"delta":{"type":"text_delta","text":"a"}}
        ~~content_block_stop {,"index":0}
        message_delta {,"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}
        message_stop {}
    "#]],
    );
}

#[test]
fn a_signed_thought_leaves_as_it_comes() {
    let thinking = |text| Event::Thinking {
        choice: 0,
        text: s(text),
    };
    let end = |family: Option<Family>| Event::ThinkingEnd {
        choice: 0,
        thinking: Thinking {
            text: Some(s("ab")),
            state: family.map(|family| State {
                family,
                data: s("sig"),
            }),
        },
    };
    let signed = Context {
        sequential: false,
        ..context()
    };
    check_out(
        &[
            thinking("a"),
            thinking("b"),
            end(Some(Family::Anthropic)),
            thinking("c"),
            end(None),
            begin(0),
            thinking("d"),
            thinking("e"),
            end(Some(Family::Anthropic)),
            over(0),
            thinking("f"),
            say("g"),
        ],
        signed,
        &expect![[r#"
            message_start {,"message":{"id":"msg_u1","type":"message","role":"assistant","model":"fast","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}}
            ping {}
            content_block_start {,"index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}
            content_block_delta {,"index":0,"delta":{"type":"thinking_delta","thinking":"a"}}
            ~content_block_delta {,"index":0,"delta":{"type":"thinking_delta","thinking":"b"}}
            ~content_block_delta {,"index":0,"delta":{"type":"signature_delta","signature":"sig"}}
            content_block_stop {,"index":0}
            ~content_block_start {,"index":1,"content_block":{"type":"thinking","thinking":"","signature":""}}
            content_block_delta {,"index":1,"delta":{"type":"thinking_delta","thinking":"c"}}
            ~content_block_stop {,"index":1}
            ~content_block_start {,"index":2,"content_block":{"type":"tool_use","id":"t0","name":"f","input":{}}}
            ~~~~content_block_delta {,"index":2,"delta":{"type":"input_json_delta","partial_json":"{}"}}
            content_block_stop {,"index":2}
            content_block_start {,"index":3,"content_block":{"type":"thinking","thinking":"","signature":""}}
            content_block_delta {,"index":3,"delta":{"type":"thinking_delta","thinking":"de"}}
            content_block_delta {,"index":3,"delta":{"type":"signature_delta","signature":"sig"}}
            content_block_stop {,"index":3}
            ~content_block_start {,"index":4,"content_block":{"type":"thinking","thinking":"","signature":""}}
            content_block_delta {,"index":4,"delta":{"type":"thinking_delta","thinking":"f"}}
            ~content_block_stop {,"index":4}
            content_block_start {,"index":5,"content_block":{"type":"text","text":""}}
            content_block_delta {,"index":5,"delta":{"type":"text_delta","text":"g"}}
            ~content_block_stop {,"index":5}
            message_delta {,"delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}
            message_stop {}
        "#]],
    );
}

#[test]
fn interleaved_calls_leave_in_single_file() {
    let events = [
        begin(0),
        args(0, r#"{"a":"#),
        begin(1),
        args(1, "{"),
        args(0, "1"),
        say("between"),
        args(1, "}"),
        args(0, "}"),
        over(1),
        over(0),
        done(Reason::Stop),
    ];
    let parallel = Context {
        sequential: false,
        ..context()
    };
    check_out(
        &events,
        parallel,
        &expect![[r#"
        message_start {,"message":{"id":"msg_u1","type":"message","role":"assistant","model":"fast","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}}
        ping {}
        content_block_start {,"index":0,"content_block":{"type":"tool_use","id":"t0","name":"f","input":{}}}
        ~content_block_delta {,"index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}
        ~~~content_block_delta {,"index":0,"delta":{"type":"input_json_delta","partial_json":"1"}}
        ~~~content_block_delta {,"index":0,"delta":{"type":"input_json_delta","partial_json":"}"}}
        ~~content_block_stop {,"index":0}
        content_block_start {,"index":1,"content_block":{"type":"tool_use","id":"t1","name":"f","input":{}}}
        content_block_delta {,"index":1,"delta":{"type":"input_json_delta","partial_json":"{}"}}
        content_block_stop {,"index":1}
        content_block_start {,"index":2,"content_block":{"type":"text","text":""}}
        content_block_delta {,"index":2,"delta":{"type":"text_delta","text":"between"}}
        ~content_block_stop {,"index":2}
        ~message_delta {,"delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}
        message_stop {}
    "#]],
    );
}

#[test]
fn in_sequence_a_call_is_over_when_the_next_begins() {
    check_out(
        &[
            begin(0),
            args(0, "{}"),
            begin(1),
            args(1, "{}"),
            args(0, "late"),
            say("after"),
            begin(2),
            done(Reason::ToolCalls),
        ],
        context(),
        &expect![[r#"
            message_start {,"message":{"id":"msg_u1","type":"message","role":"assistant","model":"fast","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}}
            ping {}
            content_block_start {,"index":0,"content_block":{"type":"tool_use","id":"t0","name":"f","input":{}}}
            ~content_block_delta {,"index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}
            ~content_block_stop {,"index":0}
            content_block_start {,"index":1,"content_block":{"type":"tool_use","id":"t1","name":"f","input":{}}}
            ~content_block_delta {,"index":1,"delta":{"type":"input_json_delta","partial_json":"{}"}}
            ~~content_block_stop {,"index":1}
            content_block_start {,"index":2,"content_block":{"type":"text","text":""}}
            content_block_delta {,"index":2,"delta":{"type":"text_delta","text":"after"}}
            ~content_block_stop {,"index":2}
            content_block_start {,"index":3,"content_block":{"type":"tool_use","id":"t2","name":"f","input":{}}}
            ~content_block_delta {,"index":3,"delta":{"type":"input_json_delta","partial_json":"{}"}}
            content_block_stop {,"index":3}
            ~message_delta {,"delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}
            message_stop {}
        "#]],
    );
}

#[test]
fn arguments_that_are_no_object_become_one() {
    for (pieces, expected) in [
        (&[" ", "\n{\"a\"", ":1}"][..], r#" ~\n{\"a\"~:1}"#),
        (&["nu", "ll"], r#"{\"input\":null}"#),
        (&["[1,", "2"], r#"{\"input\":\"[1,2\"}"#),
        (&["  "], "{}"),
        (&[], "{}"),
    ] {
        let mut events = vec![begin(0)];
        events.extend(pieces.iter().map(|piece| args(0, piece)));
        events.push(over(0));
        let out = encoded(&events, context());
        let pieces: Vec<&str> = out
            .lines()
            .filter_map(|line| line.split_once(r#""partial_json":""#))
            .map(|(_, rest)| rest.trim_end_matches(r#""}}"#))
            .collect();
        assert_eq!(pieces.join("~"), expected);
    }
}

#[test]
fn every_reason_has_a_word() {
    let mut all = String::new();
    for (reason, calls) in [
        (Reason::Stop, false),
        (Reason::Stop, true),
        (Reason::ToolCalls, false),
        (Reason::Length, true),
        (Reason::ContentFilter, false),
    ] {
        let mut events = vec![say("a"), begin(0), over(0)];
        events.truncate(if calls { 3 } else { 1 });
        events.push(done(reason));
        let out = encoded(&events, context());
        let line = out.lines().find(|line| line.contains("stop_reason\":\""));
        all += line.unwrap();
        all.push('\n');
    }
    expect![[r#"
        ~message_delta {,"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}
        ~~message_delta {,"delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}
        ~message_delta {,"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}
        ~~message_delta {,"delta":{"stop_reason":"max_tokens","stop_sequence":null},"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}
        ~message_delta {,"delta":{"stop_reason":"refusal","stop_sequence":null},"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}
    "#]].assert_eq(&all);
}

#[test]
fn other_candidates_and_foreign_things_are_left_out() {
    check_out(
        &[
            Event::Text {
                choice: 1,
                text: s("b"),
            },
            Event::Image {
                choice: 0,
                mime: s("image/png"),
                base64: s("AAAA"),
            },
            Event::Logprobs {
                choice: 0,
                json: "{}".into(),
            },
            args(7, "x"),
            Event::Refusal {
                choice: 0,
                text: s("no"),
            },
            done(Reason::ContentFilter),
        ],
        context(),
        &expect![[r#"
            ~~~~message_start {,"message":{"id":"msg_u1","type":"message","role":"assistant","model":"fast","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}}
            ping {}
            content_block_start {,"index":0,"content_block":{"type":"text","text":""}}
            content_block_delta {,"index":0,"delta":{"type":"text_delta","text":"no"}}
            ~content_block_stop {,"index":0}
            ~message_delta {,"delta":{"stop_reason":"refusal","stop_sequence":null},"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}
            message_stop {}
        "#]],
    );
}

#[test]
fn a_broken_stream_ends_with_an_error() {
    let mut encoder = Encoder::new(context());
    let mut out = String::new();
    encoder.event(&say("a"), &mut out);
    let failure = Failure::of(502, Some("provider_stream_aborted"), "gone");
    encoder.fail(&failure, &mut out);
    expect![[r#"
        message_start {,"message":{"id":"msg_u1","type":"message","role":"assistant","model":"fast","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}}
        ping {}
        content_block_start {,"index":0,"content_block":{"type":"text","text":""}}
        content_block_delta {,"index":0,"delta":{"type":"text_delta","text":"a"}}
        error {,"error":{"type":"api_error","message":"[provider_stream_aborted] gone"},"request_id":"r-1"}
    "#]].assert_eq(&lines(&out));
}

#[test]
fn nothing_comes_behind_an_end() {
    let failure = Failure::of(502, None, "gone");
    for failed in [false, true] {
        let mut encoder = Encoder::new(context());
        let mut out = String::new();
        match failed {
            true => encoder.fail(&failure, &mut out),
            false => encoder.end(&mut out),
        }
        let told = out.clone();
        encoder.fail(&failure, &mut out);
        encoder.end(&mut out);
        assert_eq!(out, told);
    }
}

#[test]
fn what_waits_is_bounded() {
    let mut encoder = Encoder::new(Context {
        sequential: false,
        ..context()
    });
    let mut out = String::new();
    let piece = "x".repeat(1 << 20);
    encoder.event(&begin(0), &mut out);
    encoder.event(&args(0, "{"), &mut out);
    encoder.event(&begin(1), &mut out);
    for _ in 0..7 {
        encoder.event(&args(1, &piece), &mut out);
        assert!(!encoder.overflow());
        encoder.event(&args(0, &piece), &mut out);
        out.clear();
    }
    encoder.event(&args(1, &piece), &mut out);
    assert!(encoder.overflow());
    let mut many = Encoder::new(Context {
        sequential: false,
        ..context()
    });
    let mut calls = 0;
    while !many.overflow() {
        many.event(&begin(calls), &mut out);
        calls += 1;
    }
    assert_eq!(calls, 60_430);
}
