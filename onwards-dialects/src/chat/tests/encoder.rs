use expect_test::{Expect, expect};

use super::context;
use crate::Family;
use crate::answer::{Event, Finish, Reason, Usage};
use crate::chat::Encoder;
use crate::failure::Failure;
use crate::options::Context;
use crate::request::{State, Thinking};
use crate::text::Str;

/// What the events become, without what all frames begin with.
fn frames(context: Context, events: &[Event<'_>], last: Option<&Failure>) -> String {
    let mut encoder = Encoder::new(context);
    let mut out = String::new();
    for event in events {
        encoder.event(event, &mut out);
    }
    match last {
        Some(failure) => encoder.fail(failure, &mut out),
        None => encoder.end(&mut out),
    }
    encoder.end(&mut out);
    assert!(!encoder.overflow());
    for frame in out.split_terminator("\n\n") {
        let payload = frame.strip_prefix("data: ").unwrap_or("0");
        assert!(payload == "[DONE]" || serde_json::from_str::<serde_json::Value>(payload).is_ok());
    }
    let head =
        r#"{"id":"a1","object":"chat.completion.chunk","created":1700000000,"model":"fast","#;
    out.replace(head, "{").replace("\n\n", "\n")
}

fn check(events: &[Event<'_>], expected: &Expect) {
    expected.assert_eq(&frames(context(), events, None));
}

fn start() -> Event<'static> {
    Event::Start {
        id: Some(Str::plain("a1")),
    }
}

fn text(choice: u64, text: &'static str) -> Event<'static> {
    Event::Text {
        choice,
        text: Str::plain(text),
    }
}

fn finish(choice: u64, reason: Reason) -> Event<'static> {
    let finish = Finish {
        reason,
        ..Finish::default()
    };
    Event::Finish { choice, finish }
}

fn tool(call: u64, id: &'static str) -> Event<'static> {
    Event::ToolStart {
        choice: 0,
        call,
        id: Str::plain(id),
        name: Str::plain("f"),
        state: Some(State {
            family: Family::Google,
            data: Str::plain("gsig"),
        }),
    }
}

fn arguments(call: u64, text: &'static str) -> Event<'static> {
    Event::ToolArguments {
        choice: 0,
        call,
        text: Str::plain(text),
    }
}

#[test]
fn a_text_is_role_deltas_finish_usage_and_done() {
    let usage = |completion| {
        Event::Usage(Usage {
            prompt: 3,
            completion,
            ..Usage::default()
        })
    };
    check(
        &[
            start(),
            usage(1),
            text(0, "a"),
            Event::KeepAlive,
            text(0, "\n\u{2028}"),
            usage(2),
            finish(0, Reason::Stop),
        ],
        &expect![[r#"
            data: {"choices":[{"index":0,"delta":{"role":"assistant"},"finish_reason":null}]}
            data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}
            : keep-alive
            data: {"choices":[{"index":0,"delta":{"content":"\n "},"finish_reason":null}]}
            data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
            data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}
            data: [DONE]
        "#]],
    );
}

#[test]
fn calls_are_numbered_and_never_without_arguments() {
    check(
        &[
            start(),
            text(0, "so"),
            tool(0, "c1"),
            tool(1, "c2"),
            arguments(0, "{\"a"),
            tool(2, "c3"),
            arguments(2, "{}"),
            arguments(0, "\":1}"),
            Event::ToolEnd { choice: 0, call: 0 },
            Event::ToolEnd { choice: 0, call: 1 },
            Event::ToolEnd { choice: 0, call: 2 },
            finish(0, Reason::Stop),
        ],
        &expect![[r#"
            data: {"choices":[{"index":0,"delta":{"role":"assistant"},"finish_reason":null}]}
            data: {"choices":[{"index":0,"delta":{"content":"so"},"finish_reason":null}]}
            data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":""},"extra_content":{"google":{"thought_signature":"gsig"}}}]},"finish_reason":null}]}
            data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"c2","type":"function","function":{"name":"f","arguments":""},"extra_content":{"google":{"thought_signature":"gsig"}}}]},"finish_reason":null}]}
            data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a"}}]},"finish_reason":null}]}
            data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":2,"id":"c3","type":"function","function":{"name":"f","arguments":""},"extra_content":{"google":{"thought_signature":"gsig"}}}]},"finish_reason":null}]}
            data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":2,"function":{"arguments":"{}"}}]},"finish_reason":null}]}
            data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\":1}"}}]},"finish_reason":null}]}
            data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"{}"}}]},"finish_reason":null}]}
            data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}
            data: [DONE]
        "#]],
    );
}

fn rich() -> Vec<Event<'static>> {
    let state = |family, data| State {
        family,
        data: Str::plain(data),
    };
    let native = Finish {
        native: Some(Str::plain("pause_turn")),
        ..Finish::default()
    };
    vec![
        start(),
        Event::Thinking {
            choice: 0,
            text: Str::plain("hm"),
        },
        Event::ThinkingEnd {
            choice: 0,
            thinking: Thinking {
                text: Some(Str::plain("hm")),
                state: Some(state(Family::Anthropic, "sig")),
            },
        },
        Event::ThinkingEnd {
            choice: 0,
            thinking: Thinking {
                text: None,
                state: Some(state(Family::Anthropic, "xyz")),
            },
        },
        Event::TextState {
            choice: 0,
            state: state(Family::Google, "tsig"),
        },
        tool(0, "c1"),
        Event::Image {
            choice: 0,
            mime: Str::plain("image/png"),
            base64: Str::plain("AA=="),
        },
        Event::Logprobs {
            choice: 0,
            json: r#"{"content":[]}"#.into(),
        },
        Event::Refusal {
            choice: 0,
            text: Str::plain("no"),
        },
        Event::Finish {
            choice: 0,
            finish: native,
        },
    ]
}

#[test]
fn thoughts_and_extensions_have_frames_of_their_own() {
    check(
        &rich(),
        &expect![[r#"
        data: {"choices":[{"index":0,"delta":{"role":"assistant"},"finish_reason":null}]}
        data: {"choices":[{"index":0,"delta":{"reasoning_content":"hm"},"finish_reason":null}]}
        data: {"choices":[{"index":0,"delta":{"thinking_blocks":[{"type":"thinking","thinking":"hm","signature":"sig"}]},"finish_reason":null}]}
        data: {"choices":[{"index":0,"delta":{"thinking_blocks":[{"type":"redacted_thinking","data":"xyz"}]},"finish_reason":null}]}
        data: {"choices":[{"index":0,"delta":{"extra_content":{"google":{"thought_signature":"tsig"}}},"finish_reason":null}]}
        data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":""},"extra_content":{"google":{"thought_signature":"gsig"}}}]},"finish_reason":null}]}
        data: {"choices":[{"index":0,"delta":{"images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]},"finish_reason":null}]}
        data: {"choices":[{"index":0,"delta":{},"logprobs":{"content":[]},"finish_reason":null}]}
        data: {"choices":[{"index":0,"delta":{"refusal":"no"},"finish_reason":null}]}
        data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls","native_finish_reason":"pause_turn"}]}
        data: [DONE]
    "#]],
    );
}

#[test]
fn strict_clients_get_no_extensions() {
    let strict = Context {
        strict: true,
        ..context()
    };
    expect![[r#"
        data: {"choices":[{"index":0,"delta":{"role":"assistant"},"finish_reason":null}]}
        data: {"choices":[{"index":0,"delta":{"reasoning_content":"hm"},"finish_reason":null}]}
        data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":""}}]},"finish_reason":null}]}
        data: {"choices":[{"index":0,"delta":{},"logprobs":{"content":[]},"finish_reason":null}]}
        data: {"choices":[{"index":0,"delta":{"refusal":"no"},"finish_reason":null}]}
        data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}
        data: [DONE]
    "#]].assert_eq(&frames(strict, &rich(), None));
}

#[test]
fn several_choices_are_introduced_each() {
    check(
        &[
            start(),
            text(1, "b"),
            text(0, "a"),
            finish(1, Reason::Length),
            finish(0, Reason::Stop),
        ],
        &expect![[r#"
            data: {"choices":[{"index":0,"delta":{"role":"assistant"},"finish_reason":null}]}
            data: {"choices":[{"index":1,"delta":{"role":"assistant"},"finish_reason":null}]}
            data: {"choices":[{"index":1,"delta":{"content":"b"},"finish_reason":null}]}
            data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}
            data: {"choices":[{"index":1,"delta":{},"finish_reason":"length"}]}
            data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
            data: [DONE]
        "#]],
    );
}

#[test]
fn a_failure_ends_the_stream_without_finish_and_usage() {
    let failure = Failure::of(
        502,
        Some("provider_stream_aborted"),
        "the provider's stream ended unexpectedly",
    );
    let events = [start(), text(0, "a"), Event::Usage(Usage::default())];
    expect![[r#"
        data: {"choices":[{"index":0,"delta":{"role":"assistant"},"finish_reason":null}]}
        data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}
        data: {"error":{"message":"the provider's stream ended unexpectedly","type":"api_error","param":null,"code":"provider_stream_aborted","request_id":"r-1"}}
        data: [DONE]
    "#]].assert_eq(&frames(context(), &events, Some(&failure)));
}

#[test]
fn too_many_calls_are_told() {
    let mut encoder = Encoder::new(context());
    let mut out = String::new();
    for call in 0..1025 {
        assert!(!encoder.overflow());
        encoder.event(&tool(call, "c"), &mut out);
    }
    assert!(encoder.overflow());
}
