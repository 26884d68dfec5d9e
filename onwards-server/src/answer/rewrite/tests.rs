use bytes::Bytes;
use expect_test::{Expect, expect};
use onwards_sse::{Framer, pump};
use onwards_strict::Context;

use super::*;

fn rewriter(endpoint: Endpoint, include_usage: bool, trusted: bool) -> Rewriter {
    let contract = Contract {
        endpoint,
        model: "m".to_owned(),
        include_usage,
        unique: "u".to_owned(),
        now: 0,
        id: None,
    };
    let context = Context {
        model: "m",
        unique: "u",
        created: 0,
        trusted,
    };
    Rewriter::strict(Cleaner::new(endpoint, &context), &contract, trusted)
}

/// What a stream becomes, and how it ends.
fn run(mut rewriter: Rewriter, stream: &str) -> (String, String) {
    let mut framer = Framer::new(65_536);
    let mut out = Vec::new();
    framer.push(Bytes::copy_from_slice(stream.as_bytes()));
    framer.finish();
    let end = pump(&mut framer, &mut rewriter, &mut out);
    let end = end.map_or_else(|error| format!("fault: {error:?}"), |_| "end".to_owned());
    (String::from_utf8(out).unwrap(), end)
}

#[track_caller]
fn check(rewriter: Rewriter, stream: &str, expect: Expect) {
    let (text, end) = run(rewriter, stream);
    expect.assert_eq(&format!("{text}{end}\n"));
}

fn chat(include_usage: bool) -> Rewriter {
    rewriter(Endpoint::Chat, include_usage, false)
}

fn chunk(delta: &str, finish: &str, more: &str) -> String {
    format!(
        "data: {{\"id\":\"c\",\"created\":1,\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]{more}}}\n\n"
    )
}

const USAGE: &str = r#","usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}"#;

#[test]
fn a_finished_stream_is_completed_and_another_is_not() {
    let finished = chunk("{}", "\"stop\"", "");
    check(
        chat(false),
        &finished,
        expect![[r#"
        data: {"id":"c","created":1,"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"object":"chat.completion.chunk","model":"m"}

        data: [DONE]

        end
    "#]],
    );
    check(
        chat(false),
        &chunk("{}", "null", ""),
        expect![[r#"
        data: {"id":"c","created":1,"choices":[{"index":0,"delta":{},"finish_reason":null}],"object":"chat.completion.chunk","model":"m"}

        data: {"error":{"message":"The upstream response ended before it was complete.","type":"api_error","param":null,"code":502}}

        fault: Rewrite(Unfinished)
    "#]],
    );
    check(
        chat(false),
        "data:\n\ndata: \n\n",
        expect![[r#"
        end
    "#]],
    );
    check(
        chat(false),
        ": nothing\n\n",
        expect![[r#"
        :

        end
    "#]],
    );
}

#[test]
fn what_follows_the_end_marker_is_ignored() {
    check(
        chat(false),
        "data: [DONE]\n\ndata: {\"more\"",
        expect![[r#"
        data: [DONE]

        end
    "#]],
    );
}

#[test]
fn usage_that_was_asked_for_comes_once_in_a_chunk_of_its_own() {
    let beside = chunk("{}", "\"stop\"", USAGE);
    let alone = format!("data: {{\"id\":\"c\",\"created\":1,\"choices\":[]{USAGE}}}\n\n");
    let counts = r#"data: {"id":"c","created":1,"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3},"object":"chat.completion.chunk","model":"m"}"#;
    for stream in [
        format!("{beside}data: [DONE]\n\n"),
        beside.clone(),
        format!("{beside}{alone}data: [DONE]\n\n"),
        format!("{beside}{alone}{alone}data: [DONE]\n\n"),
    ] {
        let (text, end) = run(chat(true), &stream);
        let events: Vec<_> = text.split_terminator("\n\n").collect();
        assert_eq!(events.len(), 3, "{stream}");
        assert!(
            events[0].contains(r#""finish_reason":"stop""#)
                && events[0].contains(r#""usage":null"#),
            "{}",
            events[0]
        );
        assert_eq!(events[1..], [counts, "data: [DONE]"]);
        assert_eq!(end, "end");
    }
    check(
        chat(false),
        &alone,
        expect![[r#"
        data: {"id":"c","created":1,"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3},"object":"chat.completion.chunk","model":"m"}

        data: {"error":{"message":"The upstream response ended before it was complete.","type":"api_error","param":null,"code":502}}

        fault: Rewrite(Unfinished)
    "#]],
    );
}

#[test]
fn an_error_stands_alone_and_the_stream_goes_on() {
    let error = "data: {\"choices\":[],\"error\":{\"code\":\"401\",\"message\":\"secret\"}}\n\n";
    let stream = format!("{error}{}", chunk("{\"content\":\"a\"}", "null", ""));
    check(
        chat(false),
        &stream,
        expect![[r#"
        data: {"error":{"message":"Bad gateway","type":"api_error","param":null,"code":502}}

        data: {"id":"c","created":1,"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}],"object":"chat.completion.chunk","model":"m"}

        end
    "#]],
    );
    check(
        rewriter(Endpoint::Chat, false, true),
        error,
        expect![[r#"
        data: {"error":{"code":"401","message":"secret"}}

        end
    "#]],
    );
}

#[test]
fn responses_events_are_named_after_their_type_and_need_no_end_marker() {
    let stream = "event: vendor\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":4,\"item_id\":\"i\",\"output_index\":0,\"content_index\":0,\"delta\":\"a\"}\n\n";
    check(
        rewriter(Endpoint::Responses, false, false),
        stream,
        expect![[r#"
        event: response.output_text.delta
        data: {"type":"response.output_text.delta","sequence_number":4,"item_id":"i","output_index":0,"content_index":0,"delta":"a"}

        data: {"error":{"message":"The upstream response ended before it was complete.","type":"api_error","param":null,"code":502}}

        fault: Rewrite(Unfinished)
    "#]],
    );
}

#[test]
fn an_event_that_is_cut_off_is_not_shown() {
    check(
        chat(false),
        "data: {\"choices\":[",
        expect![[r#"
        fault: Rewrite(CutOff)
    "#]],
    );
}
