use expect_test::{Expect, expect};

use super::context;
use crate::Family;
use crate::answer::{Answer, Choice, Finish, Piece, Reason, Usage};
use crate::options::Expose;
use crate::request::{Arguments, State, Thinking, ToolCall};
use crate::responses::write_answer;
use crate::testing::pretty;
use crate::text::Str;

fn text(text: &'static str) -> Piece<'static> {
    Piece::Text(Str::plain(text), None)
}

fn thought(text: Option<&'static str>) -> Piece<'static> {
    Piece::Thinking(Thinking {
        text: text.map(Str::plain),
        state: Some(State {
            family: Family::Anthropic,
            data: Str::plain("secret"),
        }),
    })
}

fn call(id: &'static str, arguments: Arguments<'static>) -> Piece<'static> {
    Piece::ToolCall(ToolCall {
        id: Some(Str::plain(id)),
        name: Str::plain("f"),
        arguments,
        state: None,
    })
}

fn answer(parts: Vec<Piece<'static>>, reason: Reason) -> Answer<'static> {
    Answer {
        choices: vec![Choice {
            parts,
            finish: Finish {
                reason,
                ..Finish::default()
            },
            ..Choice::default()
        }],
        ..Answer::default()
    }
}

fn written(answer: &Answer<'_>) -> String {
    let mut out = String::new();
    write_answer(answer, &context(), &mut out);
    out
}

/// The output and how it ended.
fn check(answer: &Answer<'_>, expected: &Expect) {
    let whole: serde_json::Value = serde_json::from_str(&written(answer)).unwrap();
    let mut lines = format!("{} {}", whole["status"], whole["incomplete_details"]);
    for item in whole["output"].as_array().unwrap() {
        lines.push('\n');
        lines.push_str(&item.to_string());
    }
    expected.assert_eq(&lines);
}

#[test]
fn an_answer_is_a_whole_object() {
    let mut given = answer(vec![text("Hi \u{2028} \"you\"")], Reason::Stop);
    given.id = Some(Str::plain("chatcmpl-1"));
    given.usage = Some(Usage {
        prompt: 10,
        completion: 5,
        cached: Some(4),
        reasoning: Some(2),
        ..Usage::default()
    });
    given.extra = vec![
        ("system_fingerprint", "\"fp\"".into()),
        ("service_tier", "\"flex\"".into()),
    ];
    expect![[r#"
        {
          "created_at": 1700000000,
          "error": null,
          "id": "resp_u1",
          "incomplete_details": null,
          "model": "fast",
          "object": "response",
          "output": [
            {
              "content": [
                {
                  "annotations": [],
                  "logprobs": [],
                  "text": "Hi   \"you\"",
                  "type": "output_text"
                }
              ],
              "id": "msg_u1_0",
              "role": "assistant",
              "status": "completed",
              "type": "message"
            }
          ],
          "service_tier": "flex",
          "status": "completed",
          "store": false,
          "usage": {
            "input_tokens": 10,
            "input_tokens_details": {
              "cache_write_tokens": 0,
              "cached_tokens": 4
            },
            "output_tokens": 5,
            "output_tokens_details": {
              "reasoning_tokens": 2
            },
            "total_tokens": 15
          }
        }"#]]
    .assert_eq(&pretty(&written(&given)));
}

#[test]
fn items_come_in_the_order_of_the_answer() {
    check(
        &answer(
            vec![
                thought(Some("a")),
                thought(None),
                thought(Some("b")),
                text("one"),
                text(" two"),
                call("c1", Arguments::Value(r#"{ "n": 1.10 }"#.into())),
                call("c2", Arguments::Text(Str::plain(""))),
                text("after"),
            ],
            Reason::ToolCalls,
        ),
        &expect![[r#"
            "completed" null
            {"id":"rs_u1_0","status":"completed","summary":[{"text":"a","type":"summary_text"},{"text":"b","type":"summary_text"}],"type":"reasoning"}
            {"content":[{"annotations":[],"logprobs":[],"text":"one two","type":"output_text"}],"id":"msg_u1_1","role":"assistant","status":"completed","type":"message"}
            {"arguments":"{\"n\":1.10}","call_id":"c1","id":"fc_u1_2","name":"f","status":"completed","type":"function_call"}
            {"arguments":"{}","call_id":"c2","id":"fc_u1_3","name":"f","status":"completed","type":"function_call"}
            {"content":[{"annotations":[],"logprobs":[],"text":"after","type":"output_text"}],"id":"msg_u1_4","role":"assistant","status":"completed","type":"message"}"#]],
    );
    check(&Answer::default(), &expect![[r#""completed" null"#]]);
}

#[test]
fn the_item_that_was_cut_off_is_incomplete() {
    check(
        &answer(
            vec![text("a"), call("c", Arguments::Text(Str::plain("{\"a")))],
            Reason::Length,
        ),
        &expect![[r#"
            "incomplete" {"reason":"max_output_tokens"}
            {"content":[{"annotations":[],"logprobs":[],"text":"a","type":"output_text"}],"id":"msg_u1_0","role":"assistant","status":"completed","type":"message"}
            {"arguments":"{\"a","call_id":"c","id":"fc_u1_1","name":"f","status":"incomplete","type":"function_call"}"#]],
    );
    check(
        &answer(
            vec![text("a"), Piece::Refusal(Str::plain("no"))],
            Reason::ContentFilter,
        ),
        &expect![[r#"
            "incomplete" {"reason":"content_filter"}
            {"content":[{"annotations":[],"logprobs":[],"text":"a","type":"output_text"},{"refusal":"no","type":"refusal"}],"id":"msg_u1_0","role":"assistant","status":"incomplete","type":"message"}"#]],
    );
    check(
        &answer(
            vec![Piece::Image(Str::plain("image/png"), Str::plain("AA=="))],
            Reason::Length,
        ),
        &expect![[r#"
            "incomplete" {"reason":"max_output_tokens"}
            {"id":"ig_u1_0","result":"AA==","status":"completed","type":"image_generation_call"}"#]],
    );
}

#[test]
fn thoughts_are_shown_if_the_operator_says_so() {
    let given = answer(vec![thought(Some("a")), text("b")], Reason::Stop);
    let mut hidden = context();
    hidden.expose = Expose::None;
    let mut out = String::new();
    write_answer(&given, &hidden, &mut out);
    assert!(!out.contains("reasoning\""), "{out}");
    assert!(!written(&given).contains("secret"));
}

#[test]
fn probabilities_and_links_take_the_shapes_of_this_protocol() {
    let mut given = answer(vec![text("Hi")], Reason::Stop);
    given.choices[0].logprobs = Some(
        r#"{"content": [{"token":"Hi","logprob":-0.50,"bytes":[72,105],"top_logprobs":[]}], "refusal":null}"#
            .into(),
    );
    given.choices[0].annotations = Some(
        r#"[{"type":"url_citation","url_citation":{"url":"https://a.test","title":"t","start_index":0,
            "end_index":2}},{"type":"other"}]"#
            .into(),
    );
    check(
        &given,
        &expect![[r#"
        "completed" null
        {"content":[{"annotations":[{"end_index":2,"start_index":0,"title":"t","type":"url_citation","url":"https://a.test"}],"logprobs":[{"bytes":[72,105],"logprob":-0.5,"token":"Hi","top_logprobs":[]}],"text":"Hi","type":"output_text"}],"id":"msg_u1_0","role":"assistant","status":"completed","type":"message"}"#]],
    );
    given.choices[0].logprobs = Some("null".into());
    given.choices[0].annotations = Some("7".into());
    check(
        &given,
        &expect![[r#"
        "completed" null
        {"content":[{"annotations":[],"logprobs":[],"text":"Hi","type":"output_text"}],"id":"msg_u1_0","role":"assistant","status":"completed","type":"message"}"#]],
    );
}
