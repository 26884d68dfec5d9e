use expect_test::{Expect, expect};

use super::context;
use crate::Family;
use crate::answer::{Answer, Choice, Finish, Piece, Reason, Usage};
use crate::chat::{write_answer, write_failure};
use crate::failure::Failure;
use crate::options::{Context, Expose};
use crate::request::{Arguments, State, Thinking, ToolCall};
use crate::text::Str;

fn check(answer: &Answer<'_>, context: &Context, expected: &Expect) {
    let mut out = String::new();
    write_answer(answer, context, &mut out);
    assert!(serde_json::from_str::<serde_json::Value>(&out).is_ok());
    expected.assert_eq(&out);
}

fn of(parts: Vec<Piece<'static>>, reason: Reason) -> Answer<'static> {
    let finish = Finish {
        reason,
        ..Finish::default()
    };
    Answer {
        id: Some(Str::plain("a1")),
        choices: vec![Choice {
            parts,
            finish,
            ..Choice::default()
        }],
        ..Answer::default()
    }
}

fn call(arguments: Arguments<'static>) -> Piece<'static> {
    Piece::ToolCall(ToolCall {
        id: Some(Str::plain("c1")),
        name: Str::plain("f"),
        arguments,
        state: Some(State {
            family: Family::Google,
            data: Str::plain("gsig"),
        }),
    })
}

fn thought(text: Option<&'static str>, data: Option<&'static str>) -> Piece<'static> {
    Piece::Thinking(Thinking {
        text: text.map(Str::plain),
        state: data.map(|data| State {
            family: Family::Anthropic,
            data: Str::plain(data),
        }),
    })
}

#[test]
fn texts_are_one_string() {
    let answer = of(
        vec![
            Piece::Text(Str::plain("a\n"), None),
            Piece::Text(Str::plain("\u{2028}b"), None),
        ],
        Reason::Stop,
    );
    check(
        &answer,
        &context(),
        &expect![[
            r#"{"id":"a1","object":"chat.completion","created":1700000000,"model":"fast","choices":[{"index":0,"message":{"role":"assistant","content":"a\n b","refusal":null},"logprobs":null,"finish_reason":"stop"}]}"#
        ]],
    );
}

#[test]
fn an_answer_of_nothing_is_an_empty_string() {
    let mut answer = of(Vec::new(), Reason::Length);
    answer.id = None;
    check(
        &answer,
        &context(),
        &expect![[
            r#"{"id":"chatcmpl-u1","object":"chat.completion","created":1700000000,"model":"fast","choices":[{"index":0,"message":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":"length"}]}"#
        ]],
    );
}

#[test]
fn calls_end_in_tool_calls_whatever_the_provider_said() {
    let value = Arguments::Value(r#"{ "a": 1.10 }"#.into());
    let calls = vec![
        call(value),
        call(Arguments::Text(Str::plain(""))),
        call(Arguments::Text(Str::plain("null"))),
    ];
    check(
        &of(calls, Reason::Stop),
        &context(),
        &expect![[
            r#"{"id":"a1","object":"chat.completion","created":1700000000,"model":"fast","choices":[{"index":0,"message":{"role":"assistant","content":null,"refusal":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1.10}"},"extra_content":{"google":{"thought_signature":"gsig"}}},{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"gsig"}}},{"id":"c1","type":"function","function":{"name":"f","arguments":"null"},"extra_content":{"google":{"thought_signature":"gsig"}}}]},"logprobs":null,"finish_reason":"tool_calls"}]}"#
        ]],
    );
}

#[test]
fn a_call_cut_by_the_limit_ends_in_length() {
    let cut = vec![
        Piece::Text(Str::plain("so"), None),
        call(Arguments::Text(Str::plain("{\"a"))),
    ];
    check(
        &of(cut, Reason::Length),
        &context(),
        &expect![[
            r#"{"id":"a1","object":"chat.completion","created":1700000000,"model":"fast","choices":[{"index":0,"message":{"role":"assistant","content":"so","refusal":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a"},"extra_content":{"google":{"thought_signature":"gsig"}}}]},"logprobs":null,"finish_reason":"length"}]}"#
        ]],
    );
}

#[test]
fn thoughts_and_extensions_are_shown_as_far_as_allowed() {
    let mut answer = of(
        vec![
            thought(Some("hm"), Some("sig")),
            thought(None, Some("xyz")),
            Piece::Text(
                Str::plain("t"),
                Some(State {
                    family: Family::Google,
                    data: Str::plain("tsig"),
                }),
            ),
            call(Arguments::default()),
            Piece::Image(Str::plain("image/png"), Str::plain("AA==")),
        ],
        Reason::Stop,
    );
    answer.choices[0].finish.native = Some(Str::plain("pause_turn"));
    answer.choices[0].finish.stop_sequence = Some(Str::plain("END"));
    answer.usage = Some(Usage {
        prompt: 10,
        completion: 5,
        total: None,
        cached: Some(3),
        cache_write: Some(2),
        reasoning: Some(4),
    });
    let full = context();
    let text = Context {
        expose: Expose::Text,
        ..context()
    };
    let strict = Context {
        strict: true,
        ..context()
    };
    check(
        &answer,
        &full,
        &expect![[
            r#"{"id":"a1","object":"chat.completion","created":1700000000,"model":"fast","choices":[{"index":0,"message":{"role":"assistant","content":"t","refusal":null,"reasoning_content":"hm","thinking_blocks":[{"type":"thinking","thinking":"hm","signature":"sig"},{"type":"redacted_thinking","data":"xyz"}],"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"gsig"}}}],"images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}],"extra_content":{"google":{"thought_signature":"tsig"}}},"logprobs":null,"finish_reason":"tool_calls","native_finish_reason":"pause_turn","stop_sequence":"END"}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":3,"cache_write_tokens":2},"completion_tokens_details":{"reasoning_tokens":4}}}"#
        ]],
    );
    check(
        &answer,
        &text,
        &expect![[
            r#"{"id":"a1","object":"chat.completion","created":1700000000,"model":"fast","choices":[{"index":0,"message":{"role":"assistant","content":"t","refusal":null,"reasoning_content":"hm","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}],"images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]},"logprobs":null,"finish_reason":"tool_calls","native_finish_reason":"pause_turn","stop_sequence":"END"}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":3,"cache_write_tokens":2},"completion_tokens_details":{"reasoning_tokens":4}}}"#
        ]],
    );
    check(
        &answer,
        &strict,
        &expect![[
            r#"{"id":"a1","object":"chat.completion","created":1700000000,"model":"fast","choices":[{"index":0,"message":{"role":"assistant","content":"t","refusal":null,"reasoning_content":"hm","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},"logprobs":null,"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":3},"completion_tokens_details":{"reasoning_tokens":4}}}"#
        ]],
    );
}

#[test]
fn a_refusal_leaves_no_content_and_extras_are_kept() {
    let mut answer = of(
        vec![Piece::Refusal(Str::plain("no"))],
        Reason::ContentFilter,
    );
    answer.extra = vec![("service_tier", "\"flex\"".into())];
    answer.choices[0].logprobs = Some(r#"{"content":[]}"#.into());
    answer.choices[0].annotations = Some("[1]".into());
    check(
        &answer,
        &context(),
        &expect![[
            r#"{"id":"a1","object":"chat.completion","created":1700000000,"model":"fast","choices":[{"index":0,"message":{"role":"assistant","content":null,"refusal":"no","annotations":[1]},"logprobs":{"content":[]},"finish_reason":"content_filter"}],"service_tier":"flex"}"#
        ]],
    );
}

#[test]
fn failures_have_their_envelope() {
    let mut out = String::new();
    let mut failure = Failure::of(429, Some("slow_down"), "too \"fast\"");
    write_failure(&failure, "r-1", &mut out);
    out.push('\n');
    failure.code = None;
    failure.param = Some("n".to_owned());
    write_failure(&failure, "r-1", &mut out);
    expect![[r#"
        {"error":{"message":"too \"fast\"","type":"rate_limit_error","param":null,"code":"slow_down","request_id":"r-1"}}
        {"error":{"message":"too \"fast\"","type":"rate_limit_error","param":"n","code":null,"request_id":"r-1"}}"#]].assert_eq(&out);
}
