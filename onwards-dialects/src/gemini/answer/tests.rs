use expect_test::{Expect, expect, expect_file};
use proptest::prelude::*;

use super::{read_answer, write_answer};
use crate::Family;
use crate::answer::{Answer, Choice, Finish, Piece, Reason, Usage};
use crate::failure::Unreadable;
use crate::options::{Context, Expose, Memory, Reading};
use crate::request::{Arguments, State, Thinking, ToolCall};
use crate::testing::{lines, pretty};
use crate::text::Str;

fn reading() -> Reading {
    Reading {
        unique: "r1".into(),
        ..Reading::default()
    }
}

pub(crate) fn context() -> Context {
    Context {
        model: "alias".into(),
        unique: "r1".into(),
        request_id: "req-1".into(),
        created: 7,
        strict: false,
        expose: Expose::Full,
        echo: String::new(),
        array: false,
        sequential: true,
        signed: false,
    }
}

/// What is read, piece by piece.
fn told(body: &str) -> String {
    let answer = match read_answer(body, &reading()) {
        Ok(answer) => answer,
        Err(Unreadable { why }) => return format!("unreadable: {why}\n"),
    };
    let mut out = format!("id {:?}\n", answer.id);
    for choice in &answer.choices {
        out += &format!("choice {} {:?}\n", choice.index, choice.finish);
        out += &lines(&choice.parts);
        if let Some(logprobs) = &choice.logprobs {
            out += &format!("{logprobs}\n");
        }
    }
    if let Some(usage) = answer.usage {
        out += &format!("{usage:?}\n");
    }
    out
}

#[expect(clippy::needless_pass_by_value, reason = "as expect! makes it")]
fn check(body: &str, expected: Expect) {
    expected.assert_eq(&told(body));
}

fn written(answer: &Answer<'_>, context: &Context) -> String {
    let mut out = String::new();
    write_answer(answer, context, &mut out);
    out
}

#[test]
fn captures_of_a_server() {
    for (name, body) in [
        ("text", include_str!("../../../tests/data/gemini/text.json")),
        (
            "thinking",
            include_str!("../../../tests/data/gemini/thinking.json"),
        ),
        ("tool", include_str!("../../../tests/data/gemini/tool.json")),
        (
            "parallel",
            include_str!("../../../tests/data/gemini/parallel.json"),
        ),
        (
            "text-tool",
            include_str!("../../../tests/data/gemini/text-tool.json"),
        ),
        (
            "length",
            include_str!("../../../tests/data/gemini/length.json"),
        ),
        (
            "filter",
            include_str!("../../../tests/data/gemini/filter.json"),
        ),
    ] {
        let golden = format!("../../../tests/data/gemini/{name}.json.golden");
        let answer = read_answer(body, &reading()).unwrap();
        let again = pretty(&written(&answer, &context()));
        expect_file![golden].assert_eq(&format!("{}\n{again}\n", told(body)));
    }
}

#[test]
fn signatures_stay_with_their_parts() {
    check(
        r#"{"responseId":"g1","candidates":[{"content":{"parts":[
            {"text":"hm","thought":true,"thoughtSignature":"S0"},
            {"text":"a\u2028b","thoughtSignature":"S1"},
            {"functionCall":{"name":"f","args":{ "n": 1.10 }},"thoughtSignature":"S2"},
            {"functionCall":{"name":"g"}},
            {"thoughtSignature":"S3"},{"text":""}]},"finishReason":"STOP"}]}"#,
        expect![[r#"
            id Some("g1")
            choice 0 Finish { reason: Stop, native: None, stop_sequence: None }
            Thinking(Thinking { text: Some("hm"), state: Some(State { family: Google, data: "S0" }) })
            Text("a\u{2028}b", Some(State { family: Google, data: "S1" }))
            ToolCall(ToolCall { id: Some("call_727f27yzlcos5rh3uncntmom"), name: "f", arguments: Value("{ \"n\": 1.10 }"), state: Some(State { family: Google, data: "S2" }) })
            ToolCall(ToolCall { id: Some("call_2tfrcltjaz6dp2k5dpbnnboy"), name: "g", arguments: Value("{}"), state: None })
            Text("", Some(State { family: Google, data: "S3" }))
        "#]],
    );
}

#[test]
fn arguments_that_are_none() {
    check(
        r#"{"candidates":[{"content":{"parts":[
            {"functionCall":{"name":"f","args":{}}},{"functionCall":{"name":"f","args":null}},
            {"functionCall":{"name":"f"}},{"functionCall":{"name":"f","args":""}},
            {"functionCall":{"name":"f","args":"null"}},{"functionCall":{"name":"f","args":"{\"a\":1}"}}
            ]}}]}"#,
        expect![[r#"
            id None
            choice 0 Finish { reason: Stop, native: None, stop_sequence: None }
            ToolCall(ToolCall { id: Some("call_727f27yzlcos5rh3uncntmom"), name: "f", arguments: Value("{}"), state: None })
            ToolCall(ToolCall { id: Some("call_2tfrcltjaz6dp2k5dpbnnboy"), name: "f", arguments: Value("{}"), state: None })
            ToolCall(ToolCall { id: Some("call_wxft3elopnogcjsrfqmxtmes"), name: "f", arguments: Value("{}"), state: None })
            ToolCall(ToolCall { id: Some("call_pyufqea4ydxpbbsfi6eyfdlg"), name: "f", arguments: Value("{}"), state: None })
            ToolCall(ToolCall { id: Some("call_mepyncp76vd4kujpf5kbtfsb"), name: "f", arguments: Value("{}"), state: None })
            ToolCall(ToolCall { id: Some("call_qa752eqazmckjmpsk6r6kmfv"), name: "f", arguments: Text("{\"a\":1}"), state: None })
        "#]],
    );
}

#[test]
fn a_blocked_prompt_is_an_answer() {
    check(
        r#"{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":9,"totalTokenCount":9}}"#,
        expect![[r#"
            id None
            choice 0 Finish { reason: ContentFilter, native: None, stop_sequence: None }
            Refusal("The provider blocked the prompt (PROHIBITED_CONTENT).")
            Usage { prompt: 9, completion: 0, total: None, cached: None, cache_write: None, reasoning: None }
        "#]],
    );
}

#[test]
fn candidates_without_content() {
    for finish in [
        "STOP",
        "MAX_TOKENS",
        "SAFETY",
        "IMAGE_SAFETY",
        "OTHER",
        "MALFORMED_FUNCTION_CALL",
        "NEW_WORD",
    ] {
        let word = format!("{{\"candidates\":[{{\"finishReason\":\"{finish}\"}}]}}");
        let expected = match finish {
            "STOP" => {
                "choice 0 Finish { reason: Stop, native: None, stop_sequence: None }".to_owned()
            }
            "MAX_TOKENS" => format!(
                "choice 0 Finish {{ reason: Length, native: Some(\"{finish}\"), stop_sequence: None }}"
            ),
            "SAFETY" | "IMAGE_SAFETY" => format!(
                "choice 0 Finish {{ reason: ContentFilter, native: Some(\"{finish}\"), stop_sequence: None }}"
            ),
            _ => "unreadable: the candidates failed and say nothing".to_owned(),
        };
        let told = told(&word);
        assert_eq!(told.trim_start_matches("id None\n").trim(), expected);
    }
}

#[test]
fn a_failure_with_content_is_an_answer() {
    check(
        r#"{"candidates":[{"content":{"parts":[{"text":"so far"}]},"finishReason":"MALFORMED_FUNCTION_CALL","index":1},
            {"finishReason":"OTHER","index":0}]}"#,
        expect![[r#"
            id None
            choice 1 Finish { reason: Stop, native: Some("MALFORMED_FUNCTION_CALL"), stop_sequence: None }
            Text("so far", None)
            choice 0 Finish { reason: Stop, native: Some("OTHER"), stop_sequence: None }
        "#]],
    );
}

#[test]
fn what_is_no_answer() {
    for (body, why) in [
        ("", "no JSON object"),
        ("[]", "no JSON object"),
        ("{\"candidates\":[{]}", "no JSON object"),
        ("{}", "no candidates"),
        (r#"{"candidates":[],"promptFeedback":{}}"#, "no candidates"),
        (
            r#"{"candidates":[{"content":{"parts":[{"functionCall":{}}]}}]}"#,
            "a function call without a name",
        ),
    ] {
        assert_eq!(told(body), format!("unreadable: {why}\n"), "{body}");
    }
}

#[test]
fn parts_that_nobody_knows_are_passed_over() {
    check(
        r#"{"candidates":[{"content":{"parts":[{"executableCode":{"code":"1"}},{"new":1},7,
            {"inlineData":{"mimeType":"image/png","data":"aGk="}},{"text":"x"}]},"finishReason":""}],"new":{}}"#,
        expect![[r#"
            id None
            choice 0 Finish { reason: Stop, native: None, stop_sequence: None }
            Image("image/png", "aGk=")
            Text("x", None)
        "#]],
    );
}

#[test]
fn tokens_of_caches_tools_and_thoughts() {
    check(
        r#"{"candidates":[{"content":{"parts":[{"text":"x"}]}}],"usageMetadata":{"promptTokenCount":10,
            "cachedContentTokenCount":4,"toolUsePromptTokenCount":3,"candidatesTokenCount":5,"thoughtsTokenCount":6,"totalTokenCount":30}}"#,
        expect![[r#"
            id None
            choice 0 Finish { reason: Stop, native: None, stop_sequence: None }
            Text("x", None)
            Usage { prompt: 13, completion: 11, total: Some(30), cached: Some(4), cache_write: None, reasoning: Some(6) }
        "#]],
    );
}

#[test]
fn log_probabilities_in_the_shape_of_chat_and_back() {
    let body = r#"{"candidates":[{"content":{"parts":[{"text":"x"}]},"logprobsResult":{
        "topCandidates":[{"candidates":[{"token":"x","logProbability":-0.10},{"token":"y","logProbability":-3}]}],
        "chosenCandidates":[{"token":"x","tokenId":7,"logProbability":-0.10},{"token":"z"}]}}]}"#;
    check(
        body,
        expect![[r#"
            id None
            choice 0 Finish { reason: Stop, native: None, stop_sequence: None }
            Text("x", None)
            {"content":[{"token":"x","logprob":-0.10,"bytes":null,"top_logprobs":[{"token":"x","logprob":-0.10,"bytes":null},{"token":"y","logprob":-3,"bytes":null}]},{"token":"z","logprob":0,"bytes":null,"top_logprobs":[]}]}
        "#]],
    );
    let answer = read_answer(body, &reading()).unwrap();
    let written = written(&answer, &context());
    expect![[r#"
        {"candidates":[{"content":{"role":"model","parts":[{"text":"x"}]},"finishReason":"STOP","index":0,"logprobsResult":{"topCandidates":[{"candidates":[{"token":"x","logProbability":-0.10},{"token":"y","logProbability":-3}]},{"candidates":[]}],"chosenCandidates":[{"token":"x","logProbability":-0.10},{"token":"z","logProbability":0}]}}],"modelVersion":"alias","responseId":"r1"}
    "#]]
    .assert_eq(&(written + "\n"));
}

#[test]
fn names_that_the_provider_was_told_come_back() {
    let memory = Memory {
        tool_names: vec![("a_b".into(), "a.b".into())],
        structured: None,
    };
    let reading = Reading {
        memory,
        unique: "r1".into(),
    };
    let body =
        r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"a_b","id":"i"}}]}}]}"#;
    let answer = read_answer(body, &reading).unwrap();
    let call = Piece::ToolCall(ToolCall {
        id: Some(Str::plain("i")),
        name: Str::plain("a.b"),
        arguments: Arguments::default(),
        state: None,
    });
    assert_eq!(answer.choices[0].parts, [call]);
}

fn piece(family: Family, expose: Expose) -> String {
    let state = State {
        family,
        data: Str::plain("S"),
    };
    let parts = vec![
        Piece::Thinking(Thinking {
            text: Some(Str::plain("hm")),
            state: Some(state.clone()),
        }),
        Piece::Thinking(Thinking {
            text: None,
            state: Some(state.clone()),
        }),
        Piece::Text(Str::plain(""), Some(state.clone())),
        Piece::Refusal(Str::plain("no")),
        Piece::ToolCall(ToolCall {
            id: Some(Str::plain("i")),
            name: Str::plain("f"),
            arguments: Arguments::Text(Str::plain("[1]")),
            state: Some(state),
        }),
        Piece::Image(Str::plain("image/png"), Str::plain("aGk=")),
    ];
    let answer = Answer {
        choices: vec![Choice {
            parts,
            ..Choice::default()
        }],
        ..Answer::default()
    };
    let context = Context {
        expose,
        ..context()
    };
    written(&answer, &context) + "\n"
}

#[test]
fn thoughts_as_far_as_the_client_may_see_them() {
    expect![[r#"
        {"candidates":[{"content":{"role":"model","parts":[{"text":"hm","thought":true,"thoughtSignature":"S"},{"text":"","thought":true,"thoughtSignature":"S"},{"text":"","thoughtSignature":"S"},{"text":"no"},{"functionCall":{"id":"i","name":"f","args":{"input":[1]}},"thoughtSignature":"S"},{"inlineData":{"mimeType":"image/png","data":"aGk="}}]},"finishReason":"STOP","index":0}],"modelVersion":"alias","responseId":"r1"}
    "#]]
    .assert_eq(&piece(Family::Google, Expose::Full));
    expect![[r#"
        {"candidates":[{"content":{"role":"model","parts":[{"text":"hm","thought":true},{"text":"no"},{"functionCall":{"id":"i","name":"f","args":{"input":[1]}}},{"inlineData":{"mimeType":"image/png","data":"aGk="}}]},"finishReason":"STOP","index":0}],"modelVersion":"alias","responseId":"r1"}
    "#]]
    .assert_eq(&piece(Family::Google, Expose::Text));
    expect![[r#"
        {"candidates":[{"content":{"role":"model","parts":[{"text":"no"},{"functionCall":{"id":"i","name":"f","args":{"input":[1]}}},{"inlineData":{"mimeType":"image/png","data":"aGk="}}]},"finishReason":"STOP","index":0}],"modelVersion":"alias","responseId":"r1"}
    "#]]
    .assert_eq(&piece(Family::Google, Expose::None));
    assert_eq!(
        piece(Family::Anthropic, Expose::Full),
        piece(Family::Google, Expose::Text)
    );
}

#[test]
fn ends_in_words_of_this_dialect() {
    for (reason, native, word) in [
        (Reason::Stop, None, "STOP"),
        (Reason::ToolCalls, Some("tool_use"), "STOP"),
        (Reason::Stop, Some("FUNCTION_CALL"), "STOP"),
        (Reason::Length, None, "MAX_TOKENS"),
        (Reason::ContentFilter, None, "SAFETY"),
        (Reason::ContentFilter, Some("refusal"), "SAFETY"),
        (Reason::ContentFilter, Some("RECITATION"), "RECITATION"),
    ] {
        let finish = Finish {
            reason,
            native: native.map(Str::plain),
            stop_sequence: None,
        };
        assert_eq!(super::parts::finish_reason(&finish), word);
    }
}

fn text() -> impl Strategy<Value = String> {
    "[a\"\\\\\n\u{2028}é💻]{1,6}"
}

fn state() -> impl Strategy<Value = Option<State<'static>>> {
    proptest::option::of("[A-Za-z0-9+/=]{1,6}".prop_map(|data| State {
        family: Family::Google,
        data: Str::owned(data),
    }))
}

fn any_piece() -> impl Strategy<Value = Piece<'static>> {
    prop_oneof![
        (text(), state()).prop_map(|(text, state)| Piece::Text(Str::owned(text), state)),
        (text(), state()).prop_map(|(text, state)| Piece::Thinking(Thinking {
            text: Some(Str::owned(text)),
            state,
        })),
        (text(), text(), state()).prop_map(|(id, name, state)| Piece::ToolCall(ToolCall {
            id: Some(Str::owned(id)),
            name: Str::owned(name),
            arguments: Arguments::Value(r#"{"b":1.10,"a":[18446744073709551616]}"#.into()),
            state,
        })),
        text().prop_map(|data| Piece::Image(Str::plain("image/png"), Str::owned(data))),
    ]
}

fn any_answer() -> impl Strategy<Value = Answer<'static>> {
    let choice = (
        proptest::collection::vec(any_piece(), 0..5),
        prop_oneof![
            Just((Reason::Stop, None)),
            Just((Reason::Length, Some("MAX_TOKENS"))),
            Just((Reason::ContentFilter, Some("SPII"))),
        ],
    );
    let usage =
        (0..9_u64, 0..9_u64, 0..9_u64, 0..3_u64).prop_map(|(prompt, text, thoughts, more)| Usage {
            prompt,
            completion: text + thoughts,
            total: (more > 0).then_some(prompt + text + thoughts + more),
            cached: (more > 1).then_some(prompt),
            cache_write: None,
            reasoning: Some(thoughts),
        });
    (
        proptest::collection::vec(choice, 1..3),
        proptest::option::of(usage),
        text(),
    )
        .prop_map(|(choices, usage, id)| Answer {
            id: Some(Str::owned(id)),
            choices: choices
                .into_iter()
                .zip(0..)
                .map(|((parts, (reason, native)), index)| Choice {
                    index,
                    parts,
                    finish: Finish {
                        reason,
                        native: native.map(Str::plain),
                        stop_sequence: None,
                    },
                    ..Choice::default()
                })
                .collect(),
            usage,
            extra: Vec::new(),
        })
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(answer in any_answer()) {
        let body = written(&answer, &context());
        prop_assert_eq!(read_answer(&body, &reading()).unwrap(), answer);
    }

    #[test]
    fn nothing_panics(body in "[\\[\\]{}:,\"a-zA-Z0-9]{0,40}") {
        read_answer(&body, &reading()).ok();
    }
}
