use std::fmt::Write as _;

use expect_test::{Expect, expect};

use crate::chat::read_request;
use crate::request::Request;
use crate::testing::lines;

fn read(body: &str) -> Request<'_> {
    read_request(body.as_bytes()).unwrap()
}

/// The parts of each message, a line each.
fn parts(body: &str, expected: Expect) {
    let request = read(body);
    let parts: Vec<_> = request
        .messages
        .iter()
        .flat_map(|message| {
            message
                .parts
                .iter()
                .map(move |part| (message.role, &part.kind))
        })
        .collect();
    expected.assert_eq(&lines(&parts));
}

fn wrong(bodies: &[&str], expected: &Expect) {
    let mut found = String::new();
    for body in bodies {
        let rejected = read_request(body.as_bytes()).unwrap_err();
        let param = rejected.param.unwrap_or_default();
        writeln!(found, "{} [{param}] {}", rejected.code, rejected.message).unwrap();
    }
    expected.assert_eq(&found);
}

#[test]
fn messages_of_every_role_are_read() {
    parts(
        r#"{"model":"m","messages":[
            {"role":"developer","content":"be kind"},
            {"role":"user","name":"ann","content":[
                {"type":"text","text":"what is\u2028this?"},
                {"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo=","detail":"low"}},
                {"type":"image_url","image_url":"https://example.org/a.png"},
                {"type":"file","file":{"file_data":"data:application/pdf;base64,JVBERi0xLjc=","filename":"a.pdf"}},
                {"type":"file","file":{"file_data":"JVBERi0xLjc="}},
                {"type":"file","file":{"file_id":"file-1"}},
                {"type":"input_audio","input_audio":{"data":"AA==","format":"wav"}}]},
            {"role":"assistant","content":null,"tool_calls":[
                {"id":"c1","type":"function","function":{"name":"f","arguments":"{\"n\": 1.10}"}},
                {"id":"c2","type":"function","function":{"name":"g"}}]},
            {"role":"tool","tool_call_id":"c2","content":""},
            {"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"one"}]},
            {"role":"system","content":"in the middle"},
            {"role":"assistant","content":[{"type":"text","text":"no"},{"type":"refusal","refusal":"never"}],"refusal":"ever"}]}"#,
        expect![[r#"
            (Developer, Text("be kind"))
            (User, Text("what is\u{2028}this?"))
            (User, Image { source: Data { mime: "image/png", base64: "iVBORw0KGgo=" }, detail: Some("low") })
            (User, Image { source: Url("https://example.org/a.png"), detail: None })
            (User, File { source: Data { mime: "application/pdf", base64: "JVBERi0xLjc=" }, name: Some("a.pdf") })
            (User, File { source: Data { mime: "application/pdf", base64: "JVBERi0xLjc=" }, name: None })
            (User, File { source: Id("file-1"), name: None })
            (User, Other { kind: "input_audio", json: "{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"AA==\",\"format\":\"wav\"}}" })
            (Assistant, ToolCall(ToolCall { id: Some("c1"), name: "f", arguments: Text("{\"n\": 1.10}"), state: None }))
            (Assistant, ToolCall(ToolCall { id: Some("c2"), name: "g", arguments: Text(""), state: None }))
            (Tool, ToolResult(ToolResult { id: Some("c2"), name: None, content: [Part { kind: Text(""), cache: None }], bare: true, json: None, is_error: false }))
            (Tool, ToolResult(ToolResult { id: Some("c1"), name: None, content: [Part { kind: Text("one"), cache: None }], bare: false, json: None, is_error: false }))
            (System, Text("in the middle"))
            (Assistant, Text("no"))
            (Assistant, Refusal("never"))
            (Assistant, Refusal("ever"))
        "#]],
    );
}

#[test]
fn a_client_gives_back_what_its_model_thought() {
    parts(
        r#"{"messages":[
            {"role":"assistant","content":"a","reasoning_content":"hm","thinking_blocks":[
                {"type":"thinking","thinking":"hm","signature":"sig"},
                {"type":"redacted_thinking","data":"xyz"}]},
            {"role":"assistant","content":"b","reasoning_content":"only text"},
            {"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"},
                "extra_content":{"google":{"thought_signature":"gsig"}}}]}]}"#,
        expect![[r#"
            (Assistant, Thinking(Thinking { text: Some("hm"), state: Some(State { family: Anthropic, data: "sig" }) }))
            (Assistant, Thinking(Thinking { text: None, state: Some(State { family: Anthropic, data: "xyz" }) }))
            (Assistant, Text("a"))
            (Assistant, Thinking(Thinking { text: Some("only text"), state: None }))
            (Assistant, Text("b"))
            (Assistant, ToolCall(ToolCall { id: Some("c"), name: "f", arguments: Text("{}"), state: Some(State { family: Google, data: "gsig" }) }))
        "#]],
    );
}

#[test]
fn old_functions_are_read_as_tools() {
    let body = r#"{"messages":[
        {"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}},
        {"role":"assistant","content":null,"function_call":{"name":"g","arguments":"null"}},
        {"role":"function","name":"f","content":"1"},
        {"role":"function","name":"other","content":"2"}],
        "functions":[{"name":"f","parameters":{"type":"object"}}],"function_call":{"name":"f"}}"#;
    parts(
        body,
        expect![[r#"
            (Assistant, ToolCall(ToolCall { id: Some("call_fn_0"), name: "f", arguments: Text("{}"), state: None }))
            (Assistant, ToolCall(ToolCall { id: Some("call_fn_1"), name: "g", arguments: Text("null"), state: None }))
            (Tool, ToolResult(ToolResult { id: Some("call_fn_0"), name: Some("f"), content: [Part { kind: Text("1"), cache: None }], bare: true, json: None, is_error: false }))
            (Tool, ToolResult(ToolResult { id: Some("call_fn_1"), name: Some("other"), content: [Part { kind: Text("2"), cache: None }], bare: true, json: None, is_error: false }))
        "#]],
    );
    let request = read(body);
    expect![[r#"[Tool { name: "f", description: None, schema: Some("{\"type\":\"object\"}"), strict: None, cache: None }] Some(Named("f"))"#]].assert_eq(&format!("{:?} {:?}", request.tools, request.tool_choice));
}

#[test]
fn parameters_keep_their_spelling() {
    let request = read(
        r#"{"messages":[],"temperature":1.10,"seed":12345678901234567890123,"metadata":{"b":"1", "a":"2"},
        "user":null,"max_tokens":5,"stop":"end","stream":true,"stream_options":{"include_usage":true,"x":1},
        "reasoning_effort":"low","parallel_tool_calls":false,"future":[1]}"#,
    );
    expect![[r#"
        Request {
            protocol: Some(
                Chat,
            ),
            messages: [],
            tools: [],
            tool_choice: None,
            parallel_tool_calls: Some(
                false,
            ),
            max_tokens: Some(
                MaxTokens {
                    tokens: 5,
                    spelling: Some(
                        "max_tokens",
                    ),
                },
            ),
            stop: [
                "end",
            ],
            format: None,
            reasoning: Some(
                Effort(
                    "low",
                ),
            ),
            stream: true,
            include_usage: true,
            params: [
                Param {
                    name: "temperature",
                    value: "1.10",
                },
                Param {
                    name: "seed",
                    value: "12345678901234567890123",
                },
                Param {
                    name: "metadata",
                    value: "{\"b\":\"1\", \"a\":\"2\"}",
                },
            ],
            unknown: [
                (
                    "future",
                    "[1]",
                ),
            ],
            report: Report {
                notes: {
                    (
                        "x",
                        Dropped,
                        None,
                    ),
                },
            },
            native_only: None,
        }"#]]
    .assert_eq(&format!("{request:#?}"));
}

#[test]
fn cache_hints_are_kept_with_what_they_stand_on() {
    let request = read(
        r#"{"messages":[{"role":"user","cache_control":{"type":"ephemeral"},"content":[
            {"type":"text","text":"a","cache_control":{"type":"x"}},{"type":"text","text":"b"}]}],
        "tools":[{"type":"function","function":{"name":"f"},"cache_control":{"type":"y"}}]}"#,
    );
    expect![[r#"[Part { kind: Text("a"), cache: Some("{\"type\":\"x\"}") }, Part { kind: Text("b"), cache: Some("{\"type\":\"ephemeral\"}") }] [Tool { name: "f", description: None, schema: None, strict: None, cache: Some("{\"type\":\"y\"}") }]"#]].assert_eq(&format!(
        "{:?} {:?}",
        request.messages[0].parts, request.tools
    ));
}

#[test]
fn choices_of_tools_and_formats_are_read() {
    for (member, expected) in [
        (r#""tool_choice":"auto""#, "Some(Auto) None"),
        (r#""tool_choice":"none""#, "Some(None) None"),
        (r#""tool_choice":"required""#, "Some(Required) None"),
        (
            r#""tool_choice":{"type":"function","function":{"name":"f"}}"#,
            r#"Some(Named("f")) None"#,
        ),
        (
            r#""tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"f"}}]}}"#,
            r#"Some(Allowed { names: ["f"], required: true }) None"#,
        ),
        (r#""response_format":{"type":"text"}"#, "None Some(Text)"),
        (
            r#""response_format":{"type":"json_object"}"#,
            "None Some(JsonObject)",
        ),
        (
            r#""response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":{"type":"object"}}}"#,
            r#"None Some(JsonSchema(JsonSchema { name: Some("n"), description: None, schema: Some("{\"type\":\"object\"}"), strict: Some(true) }))"#,
        ),
    ] {
        let body = format!(r#"{{"messages":[],{member}}}"#);
        let request = read(&body);
        let found = format!("{:?} {:?}", request.tool_choice, request.format);
        assert_eq!(found, expected, "{member}");
    }
}

#[test]
fn what_only_openai_knows_is_said_to_be_native() {
    for body in [
        r#"{"messages":[],"tools":[{"type":"custom","custom":{"name":"c"}}]}"#,
        r#"{"messages":[],"tool_choice":{"type":"custom","custom":{"name":"c"}}}"#,
        r#"{"messages":[{"role":"assistant","tool_calls":[{"type":"custom","id":"1","custom":{"name":"c","input":"i"}}]}]}"#,
    ] {
        let rejected = read(body).native_only.unwrap();
        assert_eq!(rejected.code, "unsupported_parameter", "{body}");
    }
    let request = read(r#"{"messages":[],"response_format":{"type":"grammar","grammar":"g"}}"#);
    assert_eq!(
        format!("{:?}", request.unknown),
        r#"[("response_format", "{\"type\":\"grammar\",\"grammar\":\"g\"}")]"#
    );
}

#[test]
fn losses_of_reading_are_reported() {
    let request = read(
        r#"{"messages":[{"role":"user","content":[{"type":"text","text":"a","weird":1}]}],
        "max_tokens":1,"max_completion_tokens":2,"stream_options":{"include_obfuscation":true},
        "tools":[{"type":"function","function":{"name":"f","odd":1}}]}"#,
    );
    assert_eq!(
        request.report.whole(1000),
        "dropped=include_obfuscation,dropped=max_tokens,dropped=odd,dropped=weird"
    );
    assert_eq!(request.max_tokens.unwrap().tokens, 2);
}

#[test]
fn a_wrong_request_is_told_where() {
    wrong(
        &[
            "{",
            "{} x",
            "[]",
            "{}",
            r#"{"messages":[{"content":"a"}]}"#,
            r#"{"messages":[{"role":"owner"}]}"#,
            r#"{"messages":[{"role":"user","content":5}]}"#,
            r#"{"messages":[{"role":"user","content":[{"type":"text"}]}]}"#,
            r#"{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,!"}}]}]}"#,
            r#"{"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":5}}]}]}"#,
            r#"{"messages":[],"temperature":"hot"}"#,
            r#"{"messages":[],"stop":[1]}"#,
            r#"{"messages":[],"max_tokens":-1}"#,
            r#"{"messages":[],"tools":[{"type":"function"}]}"#,
            r#"{"messages":[],"tool_choice":"any"}"#,
        ],
        &expect![[r#"
            invalid_json [] the body is not JSON
            invalid_json [] the body is not JSON
            invalid_request [] the body: expected an object, found an array
            invalid_request [/messages] /messages: missing, expected an array
            invalid_request [/messages/0/role] /messages/0/role: missing, expected a string
            invalid_request [/messages/0/role] /messages/0/role: expected `system`, `developer`, `user`, `assistant`, `tool` or `function`
            invalid_request [/messages/0/content] /messages/0/content: expected a string or an array of parts, found a number
            invalid_request [/messages/0/content/0/text] /messages/0/content/0/text: missing, expected a string
            invalid_request [/messages/0/content/0/image_url/url] /messages/0/content/0/image_url/url: not base64
            invalid_request [/messages/0/tool_calls/0/function/arguments] /messages/0/tool_calls/0/function/arguments: expected a string, found a number
            invalid_request [/temperature] /temperature: expected a number, found a string
            invalid_request [/stop/0] /stop/0: expected a string, found a number
            invalid_request [/max_tokens] /max_tokens: expected a whole number from 0, found a number
            invalid_request [/tools/0/function] /tools/0/function: missing, expected an object
            invalid_request [/tool_choice] /tool_choice: expected `auto`, `none`, `required` or an object
        "#]],
    );
}
