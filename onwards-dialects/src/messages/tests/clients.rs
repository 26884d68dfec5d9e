//! Requests of Anthropic's clients.

use expect_test::{Expect, expect};

use crate::messages::{read_count_request, read_request};

/// What is said, a part in a line.
fn check(body: &str, expected: &Expect) {
    let request = read_request(body.as_bytes()).unwrap();
    let mut shown = String::new();
    for message in &request.messages {
        let bare = if message.bare { " bare" } else { "" };
        shown += &format!("{:?}{bare}\n", message.role);
        for part in &message.parts {
            shown += &format!(
                "  {:?} {}\n",
                part.kind,
                part.cache.as_deref().unwrap_or("")
            );
        }
    }
    expected.assert_eq(&shown);
}

/// One message of the user's with this content.
fn user(content: &str) -> String {
    format!(r#"{{"max_tokens":1,"messages":[{{"role":"user","content":{content}}}]}}"#)
}

/// A request with these members more.
fn with(members: &str) -> String {
    format!(r#"{{"max_tokens":1,"messages":[],{members}}}"#)
}

/// What a request asks for, beside its messages, in a line each.
fn asked(body: &str) -> String {
    match read_request(body.as_bytes()) {
        Err(rejected) => format!("{} {}\n", rejected.code, rejected.message),
        Ok(request) => {
            let mut out = String::new();
            let params = request.params.iter();
            for line in [
                format!("{:?}", request.tools),
                format!(
                    "{:?} {:?}",
                    request.tool_choice, request.parallel_tool_calls
                ),
                format!("{:?} {:?}", request.reasoning, request.format),
                params
                    .map(|param| format!("{}={} ", param.name, param.value))
                    .collect(),
                format!("{:?} {:?}", request.stop, request.unknown),
                request.report.losses(200),
                format!("{:?}", request.native_only),
            ] {
                if !["", "[]", "None None", "[] []", "None"].contains(&&*line) {
                    out += &line;
                    out.push('\n');
                }
            }
            out
        }
    }
}

fn check_all(bodies: &[String], expected: &Expect) {
    let all: String = bodies.iter().map(|body| asked(body) + "-\n").collect();
    expected.assert_eq(&all);
}

#[test]
fn a_captured_request_with_a_tool_result() {
    let body = include_str!("../../../tests/data/anthropic/tool-result.request.json");
    check(
        body,
        &expect![[r#"
            User bare
              Text("cap:tool1") 
            Assistant
              ToolCall(ToolCall { id: Some("call_one"), name: "get_weather", arguments: Value("{\"city\": \"Zürich\"}"), state: None }) 
            Tool
              ToolResult(ToolResult { id: Some("call_one"), name: None, content: [Part { kind: Text("21"), cache: None }], bare: true, json: None, is_error: false }) 
        "#]],
    );
}

#[test]
fn results_come_before_the_rest_of_their_turn() {
    let content = r#"[{"type":"text","text":"a\u2028"},
        {"type":"tool_result","tool_use_id":"1","is_error":true,"cache_control":{"type":"ephemeral"},
         "content":[{"type":"text","text":"b"},{"type":"image","source":{"type":"base64","media_type":"IMAGE/PNG","data":"AAAA"}}]},
        {"type":"tool_result","tool_use_id":"2"},
        {"type":"text","text":"c","citations":null,"cache_control":{"type":"ephemeral"}}]"#;
    check(
        &user(content),
        &expect![[r#"
            Tool
              ToolResult(ToolResult { id: Some("1"), name: None, content: [Part { kind: Text("b"), cache: None }, Part { kind: Image { source: Data { mime: "image/png", base64: "AAAA" }, detail: None }, cache: None }], bare: false, json: None, is_error: true }) {"type":"ephemeral"}
            Tool
              ToolResult(ToolResult { id: Some("2"), name: None, content: [Part { kind: Text(""), cache: None }], bare: true, json: None, is_error: false }) 
            User
              Text("a\u{2028}") 
              Text("c") {"type":"ephemeral"}
        "#]],
    );
}

#[test]
fn thoughts_calls_and_sources() {
    let body = r#"{"max_tokens":1,"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],
        "messages":[{"role":"assistant","content":[
            {"type":"thinking","thinking":"hm","signature":"sig"},
            {"type":"redacted_thinking","data":"xyz"},
            {"type":"text","text":"t"},
            {"type":"tool_use","id":"1","name":"f","input":{"b": 1.10, "a": {}}}]},
        {"role":"user","content":[
            {"type":"document","title":"d","source":{"type":"base64","media_type":"application/pdf","data":"JVBE\nRi0x"}},
            {"type":"document","source":{"type":"text","media_type":"text/plain","data":"plain"}},
            {"type":"document","source":{"type":"url","url":"https://a.example/d.pdf"}},
            {"type":"image","source":{"type":"url","url":"https://a.example/i.png"}},
            {"type":"image","source":{"type":"file","file_id":"file_1"}}]}]}"#;
    check(
        body,
        &expect![[r#"
            System
              Text("s") {"type":"ephemeral"}
            Assistant
              Thinking(Thinking { text: Some("hm"), state: Some(State { family: Anthropic, data: "sig" }) }) 
              Thinking(Thinking { text: None, state: Some(State { family: Anthropic, data: "xyz" }) }) 
              Text("t") 
              ToolCall(ToolCall { id: Some("1"), name: "f", arguments: Value("{\"b\": 1.10, \"a\": {}}"), state: None }) 
            User
              File { source: Data { mime: "application/pdf", base64: "JVBERi0x" }, name: Some("d") } 
              Text("plain") 
              File { source: Url("https://a.example/d.pdf"), name: None } 
              Image { source: Url("https://a.example/i.png"), detail: None } 
              Image { source: Id("file_1"), detail: None } 
        "#]],
    );
}

#[test]
fn everything_that_can_be_asked_for() {
    check_all(
        &[
            with(
                r#""tools":[{"name":"f","description":"d","input_schema":{"type": "object"},"strict":true,"cache_control":{"type":"ephemeral"},"defer_loading":true},{"type":"custom","name":"g"}],"tool_choice":{"type":"any","disable_parallel_tool_use":true}"#,
            ),
            with(r#""tool_choice":{"type":"tool","name":"f"}"#),
            with(r#""tool_choice":{"type":"none"}"#),
            with(r#""tool_choice":{"type":"auto","disable_parallel_tool_use":false}"#),
            with(r#""thinking":{"type":"enabled","budget_tokens":2000}"#),
            with(r#""thinking":{"type":"adaptive"}"#),
            with(
                r#""thinking":{"type":"adaptive","display":"omitted"},"output_config":{"effort":"max"}"#,
            ),
            with(r#""thinking":{"type":"disabled"}"#),
            with(
                r#""output_config":{"effort":"low","format":{"type":"json_schema","schema":{"type":"object"}}}"#,
            ),
            with(r#""output_format":{"type":"json_schema","schema":{}}"#),
            with(
                r#""stop_sequences":["a","b"],"temperature":1.0,"top_p":0.10,"top_k":5,"metadata":{"user_id":"u\"1"},"service_tier":"standard_only""#,
            ),
            with(r#""service_tier":"auto","metadata":{"x":1},"inference_geo":"eu""#),
            with(r#""service_tier":"priority","container":null,"mcp_servers":[]"#),
        ],
        &expect![[r#"
            [Tool { name: "f", description: Some("d"), schema: Some("{\"type\": \"object\"}"), strict: Some(true), cache: Some("{\"type\":\"ephemeral\"}") }, Tool { name: "g", description: None, schema: None, strict: None, cache: None }]
            Some(Required) Some(false)
            defer_loading
            -
            Some(Named("f")) None
            -
            Some(None) None
            -
            Some(Auto) None
            -
            Some(Budget(2000)) None
            -
            Some(Dynamic) None
            -
            Some(Effort("max")) None
            display
            -
            Some(Effort("none")) None
            -
            Some(Effort("low")) Some(JsonSchema(JsonSchema { name: None, description: None, schema: Some("{\"type\":\"object\"}"), strict: Some(true) }))
            -
            None Some(JsonSchema(JsonSchema { name: None, description: None, schema: Some("{}"), strict: Some(true) }))
            -
            temperature=1.0 top_p=0.10 top_k=5 user="u\"1" service_tier="default" 
            ["a", "b"] []
            -
            service_tier="auto" 
            [] [("inference_geo", "\"eu\"")]
            metadata
            -
            service_tier
            -
        "#]],
    );
}

#[test]
fn what_only_anthropic_can_serve_is_noted() {
    check_all(
        &[
            with(r#""tools":[{"type":"web_search_20250305","name":"web_search"}]"#),
            with(r#""container":"c""#),
            with(r#""mcp_servers":[{"type":"url"}]"#),
            with(r#""context_management":{"edits":[]}"#),
            user(r#"[{"type":"server_tool_use","id":"1","name":"f","input":{}}]"#),
            user(
                r#"[{"type":"tool_result","tool_use_id":"1","content":[{"type":"search_result"}]}]"#,
            ),
            user(r#"[{"type":"document","source":{"type":"content","content":[]}}]"#),
        ],
        &expect![[r#"
            Some(Rejected { code: "unsupported_parameter", param: Some("tools"), message: "/tools/0: a tool of type `web_search_20250305` runs at Anthropic only" })
            -
            Some(Rejected { code: "unsupported_parameter", param: Some("container"), message: "`container` is not supported by the provider of this model" })
            -
            Some(Rejected { code: "unsupported_parameter", param: Some("mcp_servers"), message: "`mcp_servers` is not supported by the provider of this model" })
            -
            Some(Rejected { code: "unsupported_parameter", param: Some("context_management"), message: "`context_management` is not supported by the provider of this model" })
            -
            Some(Rejected { code: "unsupported_content", param: Some("/messages/0/content/0"), message: "/messages/0/content/0: a block of type `server_tool_use` cannot be sent to the provider of this model" })
            -
            Some(Rejected { code: "unsupported_content", param: Some("/messages/0/content/0/content/0"), message: "/messages/0/content/0/content/0: a block of type `search_result` cannot be sent to the provider of this model" })
            -
            Some(Rejected { code: "unsupported_content", param: Some("/messages/0/content/0/source"), message: "/messages/0/content/0/source: a source of type `content` cannot be sent to the provider of this model" })
            -
        "#]],
    );
}

#[test]
fn wrong_requests_say_where() {
    check_all(
        &[
            "{".to_owned(),
            "[]".to_owned(),
            r#"{"messages":[]}"#.to_owned(),
            r#"{"max_tokens":1}"#.to_owned(),
            r#"{"max_tokens":-1,"messages":[]}"#.to_owned(),
            r#"{"max_tokens":1,"messages":[{"role":"tool","content":"a"}]}"#.to_owned(),
            r#"{"max_tokens":1,"messages":[{"role":"user"}]}"#.to_owned(),
            user(r#"[{"text":"a"}]"#),
            user(r#"[{"type":"text"}]"#),
            user(
                r#"[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"?"}}]"#,
            ),
            user(r#"[{"type":"image","source":{"type":"url","url":"data:x"}}]"#),
            user("7"),
            with(r#""system":7"#),
            with(r#""thinking":{"type":"enabled"}"#),
            with(r#""thinking":{"type":"much"}"#),
            with(r#""tool_choice":{"type":"some"}"#),
            with(r#""temperature":"1""#),
            with(r#""stop_sequences":[1]"#),
            with(r#""output_config":{"format":{"type":"text"}}"#),
        ],
        &expect![[r#"
            invalid_json the body is not JSON
            -
            invalid_request the body: expected an object, found an array
            -
            invalid_request /max_tokens: missing, expected a whole number from 0
            -
            invalid_request /messages: missing, expected an array
            -
            invalid_request /max_tokens: expected a whole number from 0, found a number
            -
            invalid_request /messages/0/role: expected "user" or "assistant"
            -
            invalid_request /messages/0/content: missing, expected a string or an array
            -
            invalid_request /messages/0/content/0/type: missing, expected a string
            -
            invalid_request /messages/0/content/0/text: missing, expected a string
            -
            invalid_request /messages/0/content/0/source/data: not base64
            -
            invalid_request /messages/0/content/0/source/url: a data: address without a comma
            -
            invalid_request /messages/0/content: expected a string or an array, found a number
            -
            invalid_request /system: expected a string or an array, found a number
            -
            invalid_request /thinking/budget_tokens: missing, expected a whole number
            -
            invalid_request /thinking/type: expected "enabled", "disabled" or "adaptive"
            -
            invalid_request /tool_choice/type: expected "auto", "any", "tool" or "none"
            -
            invalid_request /temperature: expected a number, found a string
            -
            invalid_request /stop_sequences/0: expected a string, found a number
            -
            invalid_request /output_config/format/type: expected "json_schema"
            -
        "#]],
    );
    assert_eq!(
        read_request(b"\xff").map_err(|rejected| rejected.code),
        Err("invalid_json")
    );
    let counted = read_count_request(br#"{"messages":[{"role":"user","content":"hi"}]}"#).unwrap();
    assert_eq!(counted.max_tokens, None);
}
