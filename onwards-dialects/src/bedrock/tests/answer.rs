use expect_test::{Expect, expect, expect_file};

use super::{reading, shaped};
use crate::bedrock::{embedded_error, read_answer};
use crate::options::Reading;

/// The pieces of an answer, one a line, how it ended and its counts.
fn told(body: &str, reading: &Reading) -> String {
    match read_answer(body, reading) {
        Ok(answer) => {
            let choice = &answer.choices[0];
            let mut out = crate::testing::lines(&choice.parts);
            out += &format!("{:?}\n", choice.finish);
            if let Some(usage) = answer.usage {
                out += &format!("{usage:?}\n");
            }
            out
        }
        Err(why) => format!("{why}\n"),
    }
}

fn check(body: &str, reading: &Reading, expected: &Expect) {
    expected.assert_eq(&told(body, reading));
}

/// An answer of these blocks.
fn body(content: &str, stop: &str) -> String {
    format!(
        r#"{{"output":{{"message":{{"role":"assistant","content":[{content}]}}}},"stopReason":"{stop}"}}"#
    )
}

#[test]
fn captures_of_a_server() {
    for name in [
        "text",
        "tool",
        "parallel",
        "text-tool",
        "tool-first",
        "reasoning",
        "length",
    ] {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/bedrock/");
        let body = std::fs::read_to_string(format!("{folder}{name}.json")).unwrap();
        expect_file![format!("{folder}{name}.json.golden")].assert_eq(&told(&body, &reading()));
    }
}

#[test]
fn blocks_of_every_kind_and_unknown_ones() {
    check(
        &body(
            r#"{"reasoningContent":{"reasoningText":{"text":"hm","signature":"s"}}},
               {"reasoningContent":{"redactedContent":"AAAA"}},{"reasoningContent":{"new":1}},
               {"text":""},{"text":"a\u2028b"},{"guardContent":{"text":{"text":"x"}}},{"hologram":{}},
               {"citationsContent":{"content":[{"text":"cited"}],"citations":[{"title":"t"}]}},
               {"image":{"format":"png","source":{"bytes":"AA=="}}},{"image":{"format":"png","source":{"s3Location":{}}}},
               {"toolUse":{"name":"f"}},{"toolUse":{"toolUseId":"","name":"f","input":null}},
               {"toolUse":{"toolUseId":"t","name":"f","input":{ "n": 1.10 }}}"#,
            "tool_use",
        ),
        &reading(),
        &expect![[r#"
            Thinking(Thinking { text: Some("hm"), state: Some(State { family: Anthropic, data: "s" }) })
            Thinking(Thinking { text: None, state: Some(State { family: Anthropic, data: "AAAA" }) })
            Text("a\u{2028}b", None)
            Text("cited", None)
            Image("image/png", "AA==")
            ToolCall(ToolCall { id: Some("call_qrwemb6pypcyhyj7p7ymnswq"), name: "f", arguments: Value("{}"), state: None })
            ToolCall(ToolCall { id: Some("call_s6nfrvx4e5il5xmvp3tyylg2"), name: "f", arguments: Value("{}"), state: None })
            ToolCall(ToolCall { id: Some("t"), name: "f", arguments: Value("{ \"n\": 1.10 }"), state: None })
            Finish { reason: ToolCalls, native: None, stop_sequence: None }
        "#]],
    );
}

#[test]
fn every_reason_to_end() {
    for (stop, expected) in [
        ("end_turn", "Stop None"),
        ("tool_use", "ToolCalls None"),
        ("stop_sequence", "Stop Some(\"stop_sequence\")"),
        ("", "Stop None"),
        ("max_tokens", "Length None"),
        ("model_context_window_exceeded", "Length None"),
        ("guardrail_intervened", "ContentFilter None"),
        ("content_filtered", "ContentFilter None"),
        ("refusal", "ContentFilter Some(\"refusal\")"),
        ("malformed_tool_use", "Stop Some(\"malformed_tool_use\")"),
        ("something_new", "Stop Some(\"something_new\")"),
    ] {
        let body = body(r#"{"text":"a"}"#, stop);
        let answer = read_answer(&body, &reading()).unwrap();
        let finish = &answer.choices[0].finish;
        assert_eq!(format!("{:?} {:?}", finish.reason, finish.native), expected);
    }
    let thought = r#"{"reasoningContent":{"reasoningText":{"text":"hm"}}}"#;
    for (content, stop) in [
        ("", "malformed_model_output"),
        (thought, "malformed_tool_use"),
    ] {
        check(
            &body(content, stop),
            &reading(),
            &expect![[r#"
                the model's output was malformed
            "#]],
        );
    }
}

#[test]
fn a_forced_tool_is_the_text() {
    let call =
        r#"{"toolUse":{"toolUseId":"t","name":"json_response","input":{ "b": 1.10, "a": "x y" }}}"#;
    check(
        &body(&format!(r#"{{"text":"Here:"}},{call}"#), "tool_use"),
        &shaped(),
        &expect![[r#"
            Text("{\"b\":1.10,\"a\":\"x y\"}", None)
            Finish { reason: ToolCalls, native: None, stop_sequence: None }
        "#]],
    );
    check(
        &body(r#"{"text":"I cannot."}"#, "end_turn"),
        &shaped(),
        &expect![[r#"
            Text("I cannot.", None)
            Finish { reason: Stop, native: None, stop_sequence: None }
        "#]],
    );
    check(
        &body(
            r#"{"toolUse":{"toolUseId":"t","name":"get_weather","input":{}}},{"toolUse":{"toolUseId":"t","name":"other","input":{}}}"#,
            "tool_use",
        ),
        &shaped(),
        &expect![[r#"
            ToolCall(ToolCall { id: Some("t"), name: "get.weather", arguments: Value("{}"), state: None })
            ToolCall(ToolCall { id: Some("t"), name: "other", arguments: Value("{}"), state: None })
            Finish { reason: ToolCalls, native: None, stop_sequence: None }
        "#]],
    );
}

#[test]
fn tokens_of_a_cache_are_counted_beside_the_prompt() {
    for (usage, expected) in [
        (
            r#"{"inputTokens":10,"outputTokens":5,"totalTokens":22,"cacheReadInputTokens":4,"cacheWriteInputTokens":3}"#,
            "Some(Usage { prompt: 17, completion: 5, total: None, cached: Some(4), cache_write: Some(3), reasoning: None })",
        ),
        (
            r#"{"inputTokens":10,"outputTokens":5}"#,
            "Some(Usage { prompt: 10, completion: 5, total: None, cached: None, cache_write: None, reasoning: None })",
        ),
        ("{}", "None"),
        ("null", "None"),
        (
            r#"{"inputTokens":18446744073709551615,"cacheReadInputTokens":9}"#,
            "Some(Usage { prompt: 18446744073709551615, completion: 0, total: None, cached: Some(9), cache_write: None, reasoning: None })",
        ),
    ] {
        let body = format!(r#"{{"output":{{"message":{{"content":[]}}}},"usage":{usage}}}"#);
        let answer = read_answer(&body, &reading()).unwrap();
        assert_eq!(format!("{:?}", answer.usage), expected);
    }
}

#[test]
fn what_is_no_answer() {
    for (body, why) in [
        ("", "no JSON"),
        ("{\"output\":", "no JSON"),
        ("[]", "no message"),
        (r#"{"output":{}}"#, "no message"),
        (
            r#"{"output":{"message":{"content":[{"toolUse":{"input":{}}}]}}}"#,
            "a call without a name",
        ),
    ] {
        assert_eq!(read_answer(body, &reading()).unwrap_err().why, why);
    }
}

#[test]
fn an_error_in_a_body_with_a_good_status() {
    let told = |body: &str| embedded_error(body).map(|it| (it.status, it.code, it.message));
    assert_eq!(told(&body("", "end_turn")), None);
    assert_eq!(told("x"), None);
    assert_eq!(told(r#"{"metrics":{}}"#), None);
    assert_eq!(
        told(r#"{"__type":"com.amazon#ThrottlingException","message":"slow"}"#),
        Some((429, Some("throttling".into()), "slow".into()))
    );
    assert_eq!(
        told(
            r#"{"Output":{"__type":"com.amazon#UnknownOperationException","message":"what"},"Version":"1.0"}"#
        ),
        Some((500, Some("unknown_operation".into()), "what".into()))
    );
}
