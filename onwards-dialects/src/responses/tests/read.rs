use expect_test::{Expect, expect};

use crate::request::{PartKind, Request, Role, ToolChoice};
use crate::responses::{echo, read_request};
use crate::text::Str;

fn read(body: &str) -> Request<'_> {
    read_request(body.as_bytes()).unwrap()
}

/// Everything about a request but its empty members.
fn check(body: &str, expected: &Expect) {
    let request = read(body);
    let mut lines = Vec::new();
    for message in &request.messages {
        let name = if message.bare { " (bare)" } else { "" };
        lines.push(format!("{:?}{name}", message.role));
        for part in &message.parts {
            lines.push(format!("  {:?}", part.kind));
        }
    }
    for tool in &request.tools {
        lines.push(format!("{tool:?}"));
    }
    if let Some(choice) = &request.tool_choice {
        lines.push(format!("{choice:?}"));
    }
    if let Some(limit) = request.max_tokens {
        lines.push(format!("{limit:?}"));
    }
    if let Some(format) = &request.format {
        lines.push(format!("{format:?}"));
    }
    if let Some(reasoning) = &request.reasoning {
        lines.push(format!("{reasoning:?}"));
    }
    for param in &request.params {
        lines.push(format!("{}: {}", param.name, param.value));
    }
    for (name, value) in &request.unknown {
        lines.push(format!("unknown {}: {value}", name.decoded()));
    }
    if !request.report.is_empty() {
        lines.push(request.report.whole(1024));
    }
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn a_string_is_what_the_person_says() {
    check(
        r#"{"model":"m","input":"Hi","instructions":"Be brief.","stream":true}"#,
        &expect![[r#"
            System (bare)
              Text("Be brief.")
            User (bare)
              Text("Hi")"#]],
    );
    assert!(read(r#"{"input":"Hi","stream":true}"#).stream);
    assert!(!read(r#"{"input":"Hi"}"#).stream);
}

#[test]
fn every_member_has_its_place() {
    check(
        r#"{"model":"m","input":[],"max_output_tokens":64,"temperature":0.10,"top_p":1,"user":"u",
            "metadata":{"a":"b"},"service_tier":"flex","safety_identifier":"s","prompt_cache_key":"k",
            "text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object"},"strict":true,"description":"d"},
                "verbosity":"low","odd":1},
            "reasoning":{"effort":"high","summary":"auto","context":"auto"},"top_logprobs":2,
            "include":["reasoning.encrypted_content"],"truncation":"auto","max_tool_calls":3,"store":true,
            "parallel_tool_calls":false,"stream_options":{"include_obfuscation":false},"new_one":[1.0],"background":false,
            "previous_response_id":null,"conversation":null}"#,
        &expect![[r#"
            MaxTokens { tokens: 64, spelling: None }
            JsonSchema(JsonSchema { name: Some("n"), description: Some("d"), schema: Some("{\"type\":\"object\"}"), strict: Some(true) })
            Effort("high")
            verbosity: "low"
            logprobs: true
            top_logprobs: 2
            temperature: 0.10
            top_p: 1
            user: "u"
            safety_identifier: "s"
            metadata: {"a":"b"}
            service_tier: "flex"
            prompt_cache_key: "k"
            unknown new_one: [1.0]
            dropped=include,dropped=max_tool_calls,dropped=reasoning.context,dropped=text.odd,dropped=truncation"#]],
    );
    assert_eq!(
        read(r#"{"input":"","parallel_tool_calls":false}"#).parallel_tool_calls,
        Some(false)
    );
}

#[test]
fn log_probabilities_are_asked_for_in_two_ways() {
    check(
        r#"{"input":[],"include":["message.output_text.logprobs"],"top_logprobs":0,"truncation":"disabled"}"#,
        &expect!["logprobs: true"],
    );
}

#[test]
fn items_of_one_answer_are_one_message() {
    check(
        r#"{"input":[
            {"role":"user","content":"weather?"},
            {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"x"},
            {"type":"message","id":"msg_1","role":"assistant","status":"completed",
                "content":[{"type":"output_text","text":"Let me see.","annotations":[],"logprobs":[]}]},
            {"type":"function_call","id":"fc_1","call_id":"c1","name":"a","arguments":"{\"n\": 1.10}","status":"completed"},
            {"type":"function_call","call_id":"c2","name":"b","arguments":""},
            {"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"no"}]},
            {"type":"function_call_output","call_id":"c2","output":"two"},
            {"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"one"},
                {"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo="}]},
            {"type":"message","role":"assistant","content":"a"},
            {"type":"message","role":"assistant","content":"b"},
            {"type":"message","role":"developer","content":"mid"}
        ]}"#,
        &expect![[r#"
            User (bare)
              Text("weather?")
            Assistant
              Text("Let me see.")
              ToolCall(ToolCall { id: Some("c1"), name: "a", arguments: Text("{\"n\": 1.10}"), state: None })
              ToolCall(ToolCall { id: Some("c2"), name: "b", arguments: Text(""), state: None })
              Refusal("no")
            Tool
              ToolResult(ToolResult { id: Some("c2"), name: None, content: [Part { kind: Text("two"), cache: None }], bare: true, json: None, is_error: false })
            Tool
              ToolResult(ToolResult { id: Some("c1"), name: None, content: [Part { kind: Text("one"), cache: None }, Part { kind: Image { source: Data { mime: "image/png", base64: "iVBORw0KGgo=" }, detail: None }, cache: None }], bare: false, json: None, is_error: false })
            Assistant (bare)
              Text("a")
            Assistant (bare)
              Text("b")
            Developer (bare)
              Text("mid")
            dropped=reasoning_content"#]],
    );
}

#[test]
fn pictures_and_documents() {
    check(
        r#"{"input":[{"role":"user","content":[
            {"type":"input_image","image_url":"https://a.test/x.png","detail":"low"},
            {"type":"input_image","file_id":"file-1"},
            {"type":"input_file","file_data":"JVBERi0xLjQK","filename":"a.pdf"},
            {"type":"input_file","file_data":"data:text/plain,hello"},
            {"type":"input_file","file_url":"https://a.test/x.pdf"},
            {"type":"input_file","file_id":"file-2"},
            {"type":"input_audio","input_audio":{"data":"AA==","format":"wav"}}
        ]}]}"#,
        &expect![[r#"
            User
              Image { source: Url("https://a.test/x.png"), detail: Some("low") }
              Image { source: Id("file-1"), detail: None }
              File { source: Data { mime: "application/pdf", base64: "JVBERi0xLjQK" }, name: Some("a.pdf") }
              File { source: Data { mime: "text/plain", base64: "aGVsbG8=" }, name: None }
              File { source: Url("https://a.test/x.pdf"), name: None }
              File { source: Id("file-2"), name: None }
              Other { kind: "input_audio", json: "{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"AA==\",\"format\":\"wav\"}}" }"#]],
    );
}

#[test]
fn tools_and_choices() {
    let tools = r#""tools":[{"type":"function","name":"f","description":"d","parameters":{"type": "object"},"strict":false,"defer_loading":true},
        {"type":"function","name":"g"}]"#;
    check(
        &format!(r#"{{"input":[],{tools},"tool_choice":{{"type":"function","name":"f"}}}}"#),
        &expect![[r#"
            Tool { name: "f", description: Some("d"), schema: Some("{\"type\": \"object\"}"), strict: Some(false), cache: None }
            Tool { name: "g", description: None, schema: None, strict: None, cache: None }
            Named("f")
            dropped=tools.defer_loading"#]],
    );
    for (choice, expected) in [
        (r#""auto""#, Some(ToolChoice::Auto)),
        (r#""none""#, Some(ToolChoice::None)),
        (r#""required""#, Some(ToolChoice::Required)),
        ("null", None),
        (
            r#"{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"g"}]}"#,
            Some(ToolChoice::Allowed {
                names: vec![Str::plain("g")],
                required: true,
            }),
        ),
    ] {
        let body = format!(r#"{{"input":[],{tools},"tool_choice":{choice}}}"#);
        assert_eq!(read(&body).tool_choice, expected);
    }
}

#[test]
fn previous_response_id_across_dialects_is_a_clear_refusal() {
    #[track_caller]
    fn check(members: &str, param: &str, message: &str) {
        let body =
            format!(r#"{{"model":"m","input":[{{"role":"user","content":"Hi"}}],{members}}}"#);
        let request = read(&body);
        let refused = request.native_only.clone().unwrap();
        assert_eq!(refused.code, "unsupported_parameter");
        assert_eq!(refused.param.as_deref(), Some(param));
        assert_eq!(refused.message, message);
    }
    const NOT: &str = "is not supported by the provider of this model";
    check(
        r#""previous_response_id":"resp_1""#,
        "previous_response_id",
        &format!(
            "`previous_response_id` {NOT}: answers are not stored, send the earlier items again in `input`"
        ),
    );
    check(
        r#""conversation":{"id":"conv_1"},"background":true"#,
        "conversation",
        &format!(
            "`conversation` {NOT}: answers are not stored, send the earlier items again in `input`"
        ),
    );
    check(
        r#""background":true"#,
        "background",
        &format!("`background` {NOT}: answers are not stored, so none can be fetched later"),
    );
    check(
        r#""prompt":{"id":"p"}"#,
        "prompt",
        &format!("`prompt` {NOT}: no prompts are stored, send the text itself"),
    );
    check(
        r#""tools":[{"type":"function","name":"f"},{"type":"web_search"}]"#,
        "tools",
        &format!("/tools/1 {NOT}: expected tools of type `function`"),
    );
    check(
        r#""tool_choice":{"type":"file_search"}"#,
        "tool_choice",
        &format!("/tool_choice {NOT}: expected tools of type `function`"),
    );
    check(
        r#""tool_choice":{"type":"allowed_tools","tools":[{"type":"mcp","server_label":"x"}]}"#,
        "tool_choice",
        &format!("/tool_choice/tools/0 {NOT}: expected tools of type `function`"),
    );
    check(
        r#""input":[{"type":"item_reference","id":"msg_1"}]"#,
        "input",
        &format!("/input/0 {NOT}: items are not stored, send the item itself"),
    );
    check(
        r#""input":[{"type":"web_search_call","id":"ws_1"}]"#,
        "input",
        &format!("/input/0 {NOT}: expected a message, a function call or its output"),
    );
    assert_eq!(
        read(r#"{"input":"a","background":false}"#).native_only,
        None
    );
}

#[track_caller]
fn wrong(body: &str, code: &str, param: Option<&str>, message: &str) {
    let wrong = read_request(body.as_bytes()).unwrap_err();
    assert_eq!(
        (wrong.code, wrong.param.as_deref(), &*wrong.message),
        (code, param, message)
    );
}

#[track_caller]
fn invalid(body: &str, param: &str, message: &str) {
    wrong(body, "invalid_request", Some(param), message);
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    wrong(
        "{",
        "invalid_json",
        None,
        "the body is not JSON: malformed JSON at byte 1: expected a name",
    );
    wrong(
        "[]",
        "invalid_request",
        None,
        "the body: expected an object, found an array",
    );
    invalid(
        r#"{"input":"a","top_p":"high"}"#,
        "/top_p",
        "/top_p: expected a number, found a string",
    );
    invalid(
        r#"{"input":"a","text":{"verbosity":1}}"#,
        "/text/verbosity",
        "/text/verbosity: expected a string, found a number",
    );
    invalid(
        "{}",
        "/input",
        "/input: missing, expected a string or an array of items",
    );
    invalid(
        r#"{"input":5}"#,
        "/input",
        "/input: expected a string or an array of items, found a number",
    );
    invalid(
        r#"{"input":["a"]}"#,
        "/input/0",
        "/input/0: expected an object, found a string",
    );
    invalid(
        r#"{"input":[{"role":"narrator","content":"x"}]}"#,
        "/input/0/role",
        "/input/0/role: expected `user`, `assistant`, `system` or `developer`",
    );
    invalid(
        r#"{"input":[{"role":"user"}]}"#,
        "/input/0/content",
        "/input/0/content: missing, expected a string or an array of parts",
    );
    invalid(
        r#"{"input":[{"type":"function_call","call_id":"c"}]}"#,
        "/input/0/name",
        "/input/0/name: missing, expected a string",
    );
}

#[test]
fn what_is_wrong_with_parts_and_settings_is_said_too() {
    invalid(
        r#"{"input":[{"role":"user","content":[{"type":"input_image"}]}]}"#,
        "/input/0/content/0/image_url",
        "/input/0/content/0/image_url: missing, expected a string",
    );
    invalid(
        r#"{"input":[{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,?"}]}]}"#,
        "/input/0/content/0/image_url",
        "/input/0/content/0/image_url: not base64",
    );
    invalid(
        r#"{"input":[{"role":"user","content":[{"type":"input_file"}]}]}"#,
        "/input/0/content/0/file_data",
        "/input/0/content/0/file_data: missing, expected a string",
    );
    wrong(
        r#"{"input":[{"role":"user","content":[{"type":"hologram"}]}]}"#,
        "unsupported_content",
        Some("/input/0/content/0"),
        "/input/0/content/0: parts of this type cannot be sent to the provider of this model",
    );
    invalid(
        r#"{"input":"a","text":{"format":{"type":"xml"}}}"#,
        "/text/format/type",
        "/text/format/type: expected `text`, `json_object` or `json_schema`",
    );
    invalid(
        r#"{"input":"a","tool_choice":"some"}"#,
        "/tool_choice",
        "/tool_choice: expected `auto`, `none`, `required` or an object",
    );
    invalid(
        r#"{"input":"a","max_output_tokens":1.5}"#,
        "/max_output_tokens",
        "/max_output_tokens: expected a whole number from 0, found a number",
    );
}

#[test]
fn arguments_stay_as_they_were_written() {
    for arguments in [
        r#""""#,
        r#""null""#,
        r#""{\"a\":\"\\ud800\",\"n\":1.10}""#,
        "null",
    ] {
        let body = format!(
            r#"{{"input":[{{"type":"function_call","call_id":"c","name":"f","arguments":{arguments}}}]}}"#
        );
        let request = read(&body);
        let PartKind::ToolCall(call) = &request.messages[0].parts[0].kind else {
            panic!("{request:?}");
        };
        let crate::request::Arguments::Text(text) = &call.arguments else {
            panic!("{call:?}");
        };
        let mut written = String::new();
        text.quote_into(&mut written);
        let expected = if arguments == "null" {
            r#""""#
        } else {
            arguments
        };
        assert_eq!(written, expected);
        assert_eq!(request.messages[0].role, Role::Assistant);
    }
}

#[test]
fn an_answer_repeats_its_request() {
    expect![[r#""background":false,"instructions":null,"max_output_tokens":null,"max_tool_calls":null,"metadata":{},"parallel_tool_calls":true,"reasoning":{"effort":null,"summary":null},"temperature":1,"tool_choice":"auto","tools":[],"top_logprobs":0,"top_p":1,"truncation":"disabled","previous_response_id":null,"store":false,"text":{"format":{"type":"text"}}"#]].assert_eq(&echo(br#"{"model":"m","input":"Hi"}"#));
    expect![[r#""background":false,"instructions":"a\u2028b","max_output_tokens":64,"max_tool_calls":null,"metadata":{"k":"v w"},"parallel_tool_calls":false,"reasoning":{"effort":"low"},"temperature":0.10,"tool_choice":"none","tools":[{"type":"function","name":"f","parameters":{}}],"top_logprobs":0,"top_p":1,"truncation":"auto","user":"u","previous_response_id":null,"store":false,"text":{"format":{"type":"text"},"verbosity":"low"}"#]].assert_eq(&echo(
        br#"{
            "model": "m", "input": "Hi", "instructions": "a\u2028b", "max_output_tokens": 64, "metadata": {"k": "v w"},
            "parallel_tool_calls": false, "reasoning": {"effort": "low"}, "temperature": 0.10, "tool_choice": "none",
            "tools": [ {"type": "function", "name": "f",
                "parameters": {}} ],
            "top_p": null, "text": {"verbosity": "low"}, "user": "u", "store": true, "truncation": "auto"
        }"#,
    ));
    let whole = r#"{"text":{"format":{"type":"json_object"}}}"#;
    assert!(echo(whole.as_bytes()).ends_with(r#""text":{"format":{"type":"json_object"}}"#));
    assert_eq!(echo(b"{"), echo(b"{}"));
    for inside in [echo(b""), echo(whole.as_bytes())] {
        serde_json::from_str::<serde_json::Value>(&format!("{{{inside}}}")).unwrap();
    }
}
