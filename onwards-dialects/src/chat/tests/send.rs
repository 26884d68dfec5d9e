use std::collections::BTreeMap;

use expect_test::{Expect, ExpectFile, expect, expect_file};

use super::options;
use crate::Family;
use crate::Protocol;
use crate::chat::{read_request, write_request};
use crate::fidelity::Report;
use crate::options::{ImageUrls, MaxTokensField, Options, Picture, ReasoningStyle, Settings};
use crate::request::{
    Arguments, Message, Part, PartKind, Reasoning, Request, Role, Source, State, Thinking, Tool,
    ToolCall, ToolChoice, ToolResult,
};
use crate::testing::pretty;
use crate::text::Str;

/// The body and the report, or why there is none.
fn sent(request: &Request<'_>, options: &Options) -> String {
    let picture = Picture {
        mime: "image/png".into(),
        base64: "iVBORw0KGgo=".to_owned(),
    };
    let pictures = BTreeMap::from([("https://example.org/a.png".to_owned(), picture)]);
    let settings = Settings {
        model: "vendor/m-1",
        options,
        pictures: &pictures,
        recall: &|_| None,
    };
    match write_request(request, &settings) {
        Ok(written) => format!(
            "{}\n{}\n{:?}\n",
            pretty(&written.body),
            written.report.whole(1000),
            written.memory.tool_names
        ),
        Err(rejected) => format!("{rejected:?}\n"),
    }
}

fn check(request: &Request<'_>, expected: &Expect) {
    expected.assert_eq(&sent(request, &options()));
}

fn again(body: &str, expected: &ExpectFile) {
    let request = read_request(body.as_bytes()).unwrap();
    expected.assert_eq(&sent(&request, &options()));
}

/// A request of a client that speaks otherwise.
fn other(messages: Vec<Message<'static>>) -> Request<'static> {
    Request {
        protocol: Some(Protocol::Messages),
        messages,
        ..Request::default()
    }
}

fn text(text: &'static str) -> Part<'static> {
    Part::new(PartKind::Text(Str::plain(text)))
}

fn image(source: Source<'static>) -> Part<'static> {
    Part::new(PartKind::Image {
        source,
        detail: None,
    })
}

fn result(content: Vec<Part<'static>>) -> ToolResult<'static> {
    ToolResult {
        id: Some(Str::plain("c1")),
        name: Some(Str::plain("a.b")),
        content,
        bare: false,
        json: None,
        is_error: false,
    }
}

fn told(result: ToolResult<'static>) -> Message<'static> {
    Message::new(Role::Tool, vec![Part::new(PartKind::ToolResult(result))])
}

#[test]
fn a_chat_request_comes_out_as_it_went_in() {
    again(
        r#"{"model":"fast","messages":[
            {"role":"developer","content":"be kind"},
            {"role":"user","name":"ann","content":[{"type":"text","text":"a\u2028","cache_control":{"type":"ephemeral"}},
                {"type":"image_url","image_url":{"url":"https://example.org/a.png","detail":"low"}},
                {"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}},
                {"type":"file","file":{"file_id":"file-1"}},
                {"type":"input_audio","input_audio":{"data":"AA==","format":"wav"}}]},
            {"role":"assistant","content":null,"reasoning_content":"hm","thinking_blocks":[{"type":"thinking","thinking":"hm","signature":"sig"}],
                "tool_calls":[{"id":"c1","type":"function","function":{"name":"a.b","arguments":"{\"n\": 1.10}"},"extra_content":{"google":{"thought_signature":"g"}}}],
                "audio":{"id":"x"}},
            {"role":"tool","tool_call_id":"c1","content":"ok"},
            {"role":"system","content":"in the middle"},
            {"role":"assistant","content":"no","refusal":"never"}],
        "tools":[{"type":"function","function":{"name":"a.b","description":"d","parameters":{"type":"object","properties":{}},"strict":true}}],
        "tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"a.b"}}]}},
        "parallel_tool_calls":false,"max_tokens":9,"stop":"END","temperature":0.10,"top_k":3,"n":2,"reasoning_effort":"xhigh",
        "response_format":{"type":"json_schema","json_schema":{"name":"n","description":"d","schema":{"type":"object"},"strict":false}},
        "stream":true,"future":{"x":1}}"#,
        &expect_file!["../../../tests/data/chat/sent-again.golden"],
    );
}

#[test]
fn another_protocols_request_is_said_in_the_words_of_chat() {
    let call = ToolCall {
        id: Some(Str::plain("c1")),
        name: Str::plain("a.b"),
        arguments: Arguments::Value(r#"{ "n" : 1.10 }"#.into()),
        state: Some(State {
            family: Family::Google,
            data: Str::plain("g"),
        }),
    };
    let thinking = Thinking {
        text: Some(Str::plain("hm")),
        state: Some(State {
            family: Family::Anthropic,
            data: Str::plain("sig"),
        }),
    };
    let mut hinted = text("look");
    hinted.cache = Some("{}".into());
    let mut failed = result(vec![text("bad"), text("worse")]);
    failed.is_error = true;
    let mut request = other(vec![
        Message::text(Role::System, Str::plain("be kind")),
        Message::new(
            Role::User,
            vec![
                hinted,
                Part::new(PartKind::File {
                    source: Source::Data {
                        mime: Str::plain("application/pdf"),
                        base64: Str::plain("JVBERi0="),
                    },
                    name: None,
                }),
            ],
        ),
        Message::new(
            Role::Assistant,
            vec![
                Part::new(PartKind::Thinking(thinking)),
                text("so"),
                Part::new(PartKind::ToolCall(call)),
            ],
        ),
        told(failed),
    ]);
    request.tools = vec![Tool {
        name: Str::plain("a.b"),
        description: None,
        schema: None,
        strict: None,
        cache: Some("{}".into()),
    }];
    request.tool_choice = Some(ToolChoice::Named(Str::plain("a.b")));
    request.reasoning = Some(Reasoning::Budget(5000));
    request.params = vec![crate::request::Param {
        name: "top_k",
        value: "3".into(),
    }];
    request.unknown = vec![(Str::plain("container"), "{}".into())];
    let expected = expect_file!["../../../tests/data/chat/sent-from-another.golden"];
    expected.assert_eq(&sent(&request, &options()));
}

#[test]
fn pictures_in_results_follow_them_in_a_message_of_their_own() {
    let picture = || {
        image(Source::Data {
            mime: Str::plain("image/png"),
            base64: Str::plain("iVBORw0KGgo="),
        })
    };
    let request = other(vec![
        told(result(vec![text("one"), picture()])),
        told(result(vec![picture()])),
        Message::text(Role::User, Str::plain("and?")),
        told(result(vec![picture()])),
    ]);
    check(
        &request,
        &expect![[r#"
        {
          "messages": [
            {
              "content": "one",
              "role": "tool",
              "tool_call_id": "c1"
            },
            {
              "content": "",
              "role": "tool",
              "tool_call_id": "c1"
            },
            {
              "content": [
                {
                  "image_url": {
                    "url": "data:image/png;base64,iVBORw0KGgo="
                  },
                  "type": "image_url"
                },
                {
                  "image_url": {
                    "url": "data:image/png;base64,iVBORw0KGgo="
                  },
                  "type": "image_url"
                }
              ],
              "role": "user"
            },
            {
              "content": "and?",
              "role": "user"
            },
            {
              "content": "",
              "role": "tool",
              "tool_call_id": "c1"
            },
            {
              "content": [
                {
                  "image_url": {
                    "url": "data:image/png;base64,iVBORw0KGgo="
                  },
                  "type": "image_url"
                }
              ],
              "role": "user"
            }
          ],
          "model": "vendor/m-1"
        }
        changed=tool_result_content
        [("a_b", "a.b")]
    "#]],
    );
}

#[test]
fn a_result_that_is_json_is_its_text() {
    let mut json = result(Vec::new());
    json.json = Some(r#"{ "a" : 1.10 }"#.into());
    check(
        &other(vec![told(json)]),
        &expect![[r#"
        {
          "messages": [
            {
              "content": "{\"a\":1.10}",
              "role": "tool",
              "tool_call_id": "c1"
            }
          ],
          "model": "vendor/m-1"
        }

        [("a_b", "a.b")]
    "#]],
    );
}

#[test]
fn what_cannot_be_said_is_refused() {
    let mut nameless = result(vec![text("a")]);
    nameless.id = None;
    let id = || Source::Id(Str::plain("file_1"));
    let mut found = String::new();
    for messages in [
        told(nameless),
        Message::new(Role::User, vec![image(id())]),
        Message::new(
            Role::User,
            vec![Part::new(PartKind::File {
                source: id(),
                name: None,
            })],
        ),
        Message::new(
            Role::User,
            vec![image(Source::Url(Str::plain("gs://bucket/a.png")))],
        ),
        Message::new(
            Role::Assistant,
            vec![image(Source::Url(Str::plain("https://example.org/a.png")))],
        ),
        Message::new(
            Role::User,
            vec![Part::new(PartKind::Other {
                kind: Str::plain("video"),
                json: "{}".into(),
            })],
        ),
    ] {
        found += &sent(&other(vec![messages]), &options());
    }
    expect![[r#"
        Rejected { code: "tool_call_id_missing", param: Some("/messages/0"), message: "/messages/0: the result does not say which call it answers" }
        Rejected { code: "unsupported_content", param: Some("/messages/0/content/0"), message: "/messages/0/content/0: a picture by its id cannot be sent to the provider of this model" }
        Rejected { code: "unsupported_content", param: Some("/messages/0/content/0"), message: "/messages/0/content/0: a file by its id cannot be sent to the provider of this model" }
        Rejected { code: "unsupported_content", param: Some("/messages/0/content/0"), message: "/messages/0/content/0: an address of this kind cannot be sent to the provider of this model" }
        Rejected { code: "unsupported_content", param: Some("/messages/0/content/0"), message: "/messages/0/content/0: what a model said that is not text cannot be sent to the provider of this model" }
        Rejected { code: "unsupported_content", param: Some("/messages/0/content/0"), message: "/messages/0/content/0: a part of type `video` cannot be sent to the provider of this model" }
    "#]].assert_eq(&found);
}

#[test]
fn addresses_of_pictures_are_forwarded_fetched_or_refused() {
    let request = other(vec![Message::new(
        Role::User,
        vec![image(Source::Url(Str::plain("https://example.org/a.png")))],
    )]);
    let mut found = String::new();
    for image_urls in [ImageUrls::Forward, ImageUrls::Fetch, ImageUrls::Reject] {
        let options = Options {
            image_urls,
            ..options()
        };
        found += &sent(&request, &options);
    }
    expect![[r#"
        {
          "messages": [
            {
              "content": [
                {
                  "image_url": {
                    "url": "https://example.org/a.png"
                  },
                  "type": "image_url"
                }
              ],
              "role": "user"
            }
          ],
          "model": "vendor/m-1"
        }

        []
        {
          "messages": [
            {
              "content": [
                {
                  "image_url": {
                    "url": "data:image/png;base64,iVBORw0KGgo="
                  },
                  "type": "image_url"
                }
              ],
              "role": "user"
            }
          ],
          "model": "vendor/m-1"
        }

        []
        Rejected { code: "unsupported_content", param: Some("/messages/0/content/0"), message: "/messages/0/content/0: an address of this kind cannot be sent to the provider of this model" }
    "#]].assert_eq(&found);
}

#[test]
fn the_limit_is_spelled_as_the_provider_wants_it() {
    let auto = |new| MaxTokensField::Auto { new };
    for (member, field, expected) in [
        ("max_tokens", auto(true), "max_tokens "),
        (
            "max_completion_tokens",
            auto(false),
            "max_completion_tokens ",
        ),
        (
            "max_tokens",
            MaxTokensField::New,
            "max_completion_tokens renamed=max_tokens",
        ),
        (
            "max_completion_tokens",
            MaxTokensField::Old,
            "max_tokens renamed=max_completion_tokens",
        ),
    ] {
        let body = format!(r#"{{"messages":[],"{member}":7}}"#);
        let request = read_request(body.as_bytes()).unwrap();
        assert_eq!(spelled(&request, field), expected, "{member} {field:?}");
    }
    let mut request = other(Vec::new());
    request.max_tokens = Some(crate::request::MaxTokens {
        tokens: 7,
        spelling: None,
    });
    assert_eq!(spelled(&request, auto(true)), "max_completion_tokens ");
    assert_eq!(spelled(&request, auto(false)), "max_tokens ");
}

fn spelled(request: &Request<'_>, max_tokens_field: MaxTokensField) -> String {
    let options = Options {
        max_tokens_field,
        ..options()
    };
    let pictures = BTreeMap::new();
    let settings = Settings {
        model: "m",
        options: &options,
        pictures: &pictures,
        recall: &|_| None,
    };
    let written = write_request(request, &settings).unwrap();
    let body: serde_json::Value = serde_json::from_str(&written.body).unwrap();
    let name = ["max_tokens", "max_completion_tokens"]
        .into_iter()
        .find(|name| body[name] == 7)
        .unwrap();
    format!("{name} {}", written.report.whole(100))
}

#[test]
fn switches_of_the_operator_are_heeded() {
    let request = read_request(
        br#"{"messages":[],"stream":true,"reasoning_effort":"low","tools":[{"function":{"name":"f","strict":true}}],
            "response_format":{"type":"json_object"}}"#,
    )
    .unwrap();
    let options = Options {
        stream_options: false,
        reasoning_style: ReasoningStyle::Off,
        strict_tools: false,
        ..options()
    };
    expect![[r#"
        {
          "messages": [],
          "model": "vendor/m-1",
          "response_format": {
            "type": "json_object"
          },
          "stream": true,
          "tools": [
            {
              "function": {
                "name": "f"
              },
              "type": "function"
            }
          ]
        }
        dropped=reasoning_effort,dropped=strict
        []
    "#]]
    .assert_eq(&sent(&request, &options));
}

#[test]
fn without_a_protocol_members_beyond_chat_are_left_out() {
    let mut request = read_request(
        br#"{"messages":[{"role":"user","content":"a","odd":1},{"role":"assistant","content":"b","reasoning_content":"hm"}],"future":1}"#,
    )
    .unwrap();
    assert_eq!(request.report, Report::default());
    request.protocol = None;
    check(
        &request,
        &expect![[r#"
        {
          "messages": [
            {
              "content": "a",
              "role": "user"
            },
            {
              "content": "b",
              "role": "assistant"
            }
          ],
          "model": "vendor/m-1"
        }
        dropped=future,dropped=odd,dropped=reasoning_content
        []
    "#]],
    );
}
