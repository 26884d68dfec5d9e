use expect_test::{Expect, expect, expect_file};

use crate::chat::read_answer;
use crate::options::{Memory, Reading};

fn read(body: &str) -> String {
    let reading = Reading {
        memory: Memory {
            tool_names: vec![("a_b".to_owned(), "a.b".to_owned())],
            structured: None,
        },
        unique: "r1".to_owned(),
    };
    format!("{:#?}\n", read_answer(body, &reading))
}

fn message(message: &str, expected: &Expect) {
    let body = format!(r#"{{"choices":[{{"message":{message},"finish_reason":"stop"}}]}}"#);
    let reading = Reading::default();
    let answer = read_answer(&body, &reading).unwrap();
    expected.assert_eq(&crate::testing::lines(&answer.choices[0].parts));
}

#[test]
fn captures_of_servers() {
    for (name, body) in [
        ("text", include_str!("../../../tests/data/chat/text.json")),
        (
            "parallel",
            include_str!("../../../tests/data/chat/parallel.json"),
        ),
        (
            "reasoning",
            include_str!("../../../tests/data/chat/reasoning.json"),
        ),
        (
            "filter",
            include_str!("../../../tests/data/chat/filter.json"),
        ),
        ("n2", include_str!("../../../tests/data/chat/n2.json")),
        (
            "llama-parallel",
            include_str!("../../../tests/data/chat/llama-parallel.json"),
        ),
        (
            "llama-logprobs",
            include_str!("../../../tests/data/chat/llama-logprobs.json"),
        ),
    ] {
        let golden = format!("../../../tests/data/chat/{name}.json.golden");
        expect_file![golden].assert_eq(&read(body));
    }
}

#[test]
fn all_that_a_message_can_hold() {
    message(
        r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"a"}],
            "refusal":"no","reasoning_content":"r","function_call":{"name":"f","arguments":"{}"},
            "tool_calls":[{"type":"function","function":{"name":"g","arguments":{"b": 1.10}}},{"id":"c","function":{"name":"h","arguments":null},
                "extra_content":{"google":{"thought_signature":"s"}}}],
            "images":[{"image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}},{"image_url":{"url":"https://example.org"}}],
            "extra_content":{"google":{"thought_signature":"t"}}}"#,
        &expect![[r#"
            Thinking(Thinking { text: Some("r"), state: None })
            Thinking(Thinking { text: Some("hm"), state: None })
            Text("a", Some(State { family: Google, data: "t" }))
            Refusal("no")
            ToolCall(ToolCall { id: Some("call_gjb2yhcbo446osadihrustbv"), name: "g", arguments: Value("{\"b\": 1.10}"), state: None })
            ToolCall(ToolCall { id: Some("c"), name: "h", arguments: Text(""), state: Some(State { family: Google, data: "s" }) })
            ToolCall(ToolCall { id: Some("call_h2hkoodauovk5ch24mu4e23n"), name: "f", arguments: Text("{}"), state: None })
            Image("image/png", "iVBORw0KGgo=")
        "#]],
    );
    message(
        r#"{"content":"a","reasoning_content":"hm","thinking_blocks":[{"type":"thinking","thinking":"hm","signature":"sig"},{"type":"redacted_thinking","data":"x"}]}"#,
        &expect![[r#"
            Thinking(Thinking { text: Some("hm"), state: Some(State { family: Anthropic, data: "sig" }) })
            Thinking(Thinking { text: None, state: Some(State { family: Anthropic, data: "x" }) })
            Text("a", None)
        "#]],
    );
}

#[test]
fn extras_usage_and_names_are_read() {
    expect![[r#"
        Ok(
            Answer {
                id: None,
                choices: [
                    Choice {
                        index: 4,
                        parts: [
                            ToolCall(
                                ToolCall {
                                    id: Some(
                                        "c",
                                    ),
                                    name: "a.b",
                                    arguments: Text(
                                        "{ }",
                                    ),
                                    state: None,
                                },
                            ),
                        ],
                        finish: Finish {
                            reason: Stop,
                            native: Some(
                                "weird",
                            ),
                            stop_sequence: None,
                        },
                        logprobs: Some(
                            "{\"content\":[]}",
                        ),
                        annotations: Some(
                            "[{\"type\":\"url_citation\"}]",
                        ),
                    },
                ],
                usage: Some(
                    Usage {
                        prompt: 10,
                        completion: 5,
                        total: None,
                        cached: Some(
                            4,
                        ),
                        cache_write: Some(
                            2,
                        ),
                        reasoning: Some(
                            3,
                        ),
                    },
                ),
                extra: [
                    (
                        "system_fingerprint",
                        "\"fp\"",
                    ),
                    (
                        "service_tier",
                        "\"default\"",
                    ),
                ],
            },
        )
    "#]].assert_eq(&read(
        r#"{"id":"","choices":[{"index":4,"message":{"content":null,"tool_calls":[{"id":"c","function":{"name":"a_b","arguments":"{ }"}}],
            "annotations":[{"type":"url_citation"}]},"logprobs":{"content":[]},"finish_reason":"weird"}],
            "system_fingerprint":"fp","service_tier":"default","x_unknown":1,
            "usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":99,"prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":2},"completion_tokens_details":{"reasoning_tokens":3}}}"#,
    ));
}

#[test]
fn what_is_no_answer_is_unreadable() {
    let mut found = String::new();
    for body in [
        "<html>",
        "{}",
        r#"{"choices":[]}"#,
        r#"{"choices":[{}]}"#,
        r#"{"choices":[{"message":{"tool_calls":[{"function":{}}]}}]}"#,
        r#"{"choices":[{"message":{"content":"a"},"finish_reason":"error"}]}"#,
    ] {
        found += &read(body);
    }
    expect![[r#"
        Err(
            Unreadable {
                why: "not JSON",
            },
        )
        Err(
            Unreadable {
                why: "no choices",
            },
        )
        Err(
            Unreadable {
                why: "no choices",
            },
        )
        Err(
            Unreadable {
                why: "a choice without a message",
            },
        )
        Err(
            Unreadable {
                why: "a call without a name",
            },
        )
        Err(
            Unreadable {
                why: "the answer ended in an error",
            },
        )
    "#]]
    .assert_eq(&found);
}
