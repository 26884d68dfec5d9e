use std::fmt::Write as _;

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::{read_count_request, read_request};
use crate::request::Request;

/// What is read, a line for each thing.
fn told(request: &Request<'_>) -> String {
    let mut out = String::new();
    for message in &request.messages {
        let bare = if message.bare { " bare" } else { "" };
        writeln!(out, "{:?}{bare}", message.role).unwrap();
        for part in &message.parts {
            writeln!(out, "  {:?}", part.kind).unwrap();
        }
    }
    for tool in &request.tools {
        writeln!(out, "{tool:?}").unwrap();
    }
    for param in &request.params {
        writeln!(out, "{} {}", param.name, param.value).unwrap();
    }
    for (name, value) in &request.unknown {
        writeln!(out, "unknown {} {value}", name.decoded()).unwrap();
    }
    if let Some(choice) = &request.tool_choice {
        writeln!(out, "choice {choice:?}").unwrap();
    }
    if let Some(limit) = request.max_tokens {
        writeln!(out, "limit {}", limit.tokens).unwrap();
    }
    if !request.stop.is_empty() {
        writeln!(out, "stop {:?}", request.stop).unwrap();
    }
    if let Some(format) = &request.format {
        writeln!(out, "format {format:?}").unwrap();
    }
    if let Some(reasoning) = &request.reasoning {
        writeln!(out, "reasoning {reasoning:?}").unwrap();
    }
    if let Some(rejected) = &request.native_only {
        writeln!(out, "native only: {} {}", rejected.code, rejected.message).unwrap();
    }
    if !request.report.is_empty() {
        writeln!(out, "report {}", request.report.whole(1000)).unwrap();
    }
    out
}

#[expect(clippy::needless_pass_by_value, reason = "as expect! makes it")]
fn check(body: &str, expected: Expect) {
    match read_request(body.as_bytes()) {
        Ok(request) => expected.assert_eq(&told(&request)),
        Err(rejected) => expected.assert_eq(&format!(
            "{} [{}] {}\n",
            rejected.code,
            rejected.param.unwrap_or_default(),
            rejected.message
        )),
    }
}

#[test]
fn text_and_system() {
    check(
        r#"{"model":"models/x","system_instruction":{"parts":{"text":"Be brief."}},"contents":[
            {"parts":[{"text":"a\u2028"}]},{"role":"model","parts":[{"text":"b"},{"text":"c"}]},{"role":"user","parts":{"text":"d"},"new":1}]}"#,
        expect![[r#"
            System bare
              Text("Be brief.")
            User bare
              Text("a\u{2028}")
            Assistant
              Text("b")
              Text("c")
            User bare
              Text("d")
            report dropped=new
        "#]],
    );
    check(
        r#"{"systemInstruction":{"role":"user","parts":[{"text":"one"},{"text":"two"}]},"contents":{"parts":[]}}"#,
        expect![[r#"
            System bare
              Text("one")
            System bare
              Text("two")
        "#]],
    );
}

#[test]
fn both_spellings_mean_the_same() {
    let camel = r#"{"systemInstruction":{"parts":[{"text":"s"}]},
        "contents":[{"role":"model","parts":[{"functionCall":{"name":"f","args":{"a":1}},"thoughtSignature":"S"}]},
            {"role":"user","parts":[{"functionResponse":{"name":"f","response":{"result":"r"}}},
            {"inlineData":{"mimeType":"image/png","data":"aGk="}},{"fileData":{"mimeType":"image/png","fileUri":"https://a.example/p.png"}}]}],
        "tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"type":"object"}}]}],
        "toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f"]}},
        "generationConfig":{"topP":0.5,"topK":4,"maxOutputTokens":9,"stopSequences":["x"],"candidateCount":2,"presencePenalty":1,
            "frequencyPenalty":2,"responseLogprobs":true,"logprobs":3,"responseMimeType":"application/json",
            "responseJsonSchema":{"type":"string"},"thinkingConfig":{"thinkingBudget":7,"includeThoughts":true},"responseModalities":["TEXT","IMAGE"]}}"#;
    let mut snake = String::new();
    let mut rest = camel;
    while let Some((before, name)) = rest.split_once('"') {
        let (name, after) = name.split_once('"').unwrap();
        let is_name = after.starts_with(':');
        snake += before;
        snake.push('"');
        for c in name.chars() {
            if is_name && c.is_ascii_uppercase() {
                snake.push('_');
                snake.push(c.to_ascii_lowercase());
            } else {
                snake.push(c);
            }
        }
        snake.push('"');
        rest = after;
    }
    snake += rest;
    assert!(snake.contains("thought_signature") && snake.contains("stop_sequences"));
    let read = |body: &str| told(&read_request(body.as_bytes()).unwrap());
    assert_eq!(read(&snake), read(camel));
    check(
        camel,
        expect![[r#"
            System bare
              Text("s")
            Assistant
              ToolCall(ToolCall { id: Some("call_g0_0"), name: "f", arguments: Value("{\"a\":1}"), state: Some(State { family: Google, data: "S" }) })
            Tool
              ToolResult(ToolResult { id: Some("call_g0_0"), name: Some("f"), content: [Part { kind: Text("r"), cache: None }], bare: true, json: Some("{\"result\":\"r\"}"), is_error: false })
            User
              Image { source: Data { mime: "image/png", base64: "aGk=" }, detail: None }
              Image { source: Url("https://a.example/p.png"), detail: None }
            Tool { name: "f", description: None, schema: Some("{\"type\":\"object\"}"), strict: None, cache: None }
            top_p 0.5
            top_k 4
            presence_penalty 1
            frequency_penalty 2
            logprobs true
            top_logprobs 3
            n 2
            modalities ["text","image"]
            choice Named("f")
            limit 9
            stop ["x"]
            format JsonSchema(JsonSchema { name: None, description: None, schema: Some("{\"type\":\"string\"}"), strict: None })
            reasoning Budget(7)
        "#]],
    );
}

#[test]
fn results_go_to_calls_by_id_or_by_name_in_order() {
    check(
        r#"{"contents":[
            {"role":"user","parts":[{"text":"go"}]},
            {"role":"model","parts":[{"text":"so"},{"functionCall":{"name":"f","args":{"n":1}}},{"functionCall":{"name":"g"}},
                {"functionCall":{"name":"f","args":{"n":2}}},{"functionCall":{"name":"f","id":"own","args":{"n":3}}}]},
            {"role":"function","parts":[{"functionResponse":{"name":"g","response":{"a":1.10}}},{"text":"and"},
                {"functionResponse":{"name":"f","id":"own","response":{"error":"bad"}}},
                {"functionResponse":{"name":"f","response":{"output":[1, 2]}}},{"functionResponse":{"name":"f","id":"foreign","response":{"result":"r"}}},
                {"functionResponse":{"name":"h"}},{"functionResponse":{"name":"f","response":{}}}]},
            {"role":"model","parts":[{"functionCall":{"name":"f"}}]},
            {"role":"user","parts":[{"functionResponse":{"name":"f","response":{"result":"x"},"parts":[{"inlineData":{"mimeType":"image/png","data":"aGk"}}]}}]}]}"#,
        expect![[r#"
            User bare
              Text("go")
            Assistant bare
              Text("so")
              ToolCall(ToolCall { id: Some("call_g1_0"), name: "f", arguments: Value("{\"n\":1}"), state: None })
              ToolCall(ToolCall { id: Some("call_g1_1"), name: "g", arguments: Value("{}"), state: None })
              ToolCall(ToolCall { id: Some("call_g1_2"), name: "f", arguments: Value("{\"n\":2}"), state: None })
              ToolCall(ToolCall { id: Some("own"), name: "f", arguments: Value("{\"n\":3}"), state: None })
            Tool
              ToolResult(ToolResult { id: Some("call_g1_1"), name: Some("g"), content: [Part { kind: Text("{\"a\":1.10}"), cache: None }], bare: true, json: Some("{\"a\":1.10}"), is_error: false })
            Tool
              ToolResult(ToolResult { id: Some("own"), name: Some("f"), content: [Part { kind: Text("bad"), cache: None }], bare: true, json: Some("{\"error\":\"bad\"}"), is_error: true })
            Tool
              ToolResult(ToolResult { id: Some("call_g1_0"), name: Some("f"), content: [Part { kind: Text("[1, 2]"), cache: None }], bare: true, json: Some("{\"output\":[1, 2]}"), is_error: false })
            Tool
              ToolResult(ToolResult { id: Some("call_g1_2"), name: Some("f"), content: [Part { kind: Text("r"), cache: None }], bare: true, json: Some("{\"result\":\"r\"}"), is_error: false })
            Tool
              ToolResult(ToolResult { id: Some("h"), name: Some("h"), content: [Part { kind: Text(""), cache: None }], bare: true, json: None, is_error: false })
            Tool
              ToolResult(ToolResult { id: Some("f"), name: Some("f"), content: [Part { kind: Text("{}"), cache: None }], bare: true, json: Some("{}"), is_error: false })
            User bare
              Text("and")
            Assistant
              ToolCall(ToolCall { id: Some("call_g3_0"), name: "f", arguments: Value("{}"), state: None })
            Tool
              ToolResult(ToolResult { id: Some("call_g3_0"), name: Some("f"), content: [Part { kind: Text("x"), cache: None }, Part { kind: Image { source: Data { mime: "image/png", base64: "aGk=" }, detail: None }, cache: None }], bare: false, json: Some("{\"result\":\"x\"}"), is_error: false })
        "#]],
    );
}

#[test]
fn thoughts_and_signatures() {
    check(
        r#"{"contents":[{"role":"model","parts":[
            {"text":"hm","thought":true,"thoughtSignature":"S1"},{"text":"t","thoughtSignature":"S2"},{"text":"","thoughtSignature":"S3"},
            {"thoughtSignature":"S4"},{"text":"no","thought":true},{"text":"","thought":false}]}]}"#,
        expect![[r#"
            Assistant
              Thinking(Thinking { text: Some("hm"), state: Some(State { family: Google, data: "S1" }) })
              Text("t")
              Thinking(Thinking { text: None, state: Some(State { family: Google, data: "S2" }) })
              Thinking(Thinking { text: None, state: Some(State { family: Google, data: "S3" }) })
              Thinking(Thinking { text: None, state: Some(State { family: Google, data: "S4" }) })
              Thinking(Thinking { text: Some("no"), state: None })
              Text("")
        "#]],
    );
}

#[test]
fn pictures_documents_sound_and_films() {
    check(
        r#"{"contents":[{"parts":[
            {"inlineData":{"mimeType":"IMAGE/PNG","data":"_-8"}},
            {"inlineData":{"mimeType":"application/pdf","data":"aGk=","displayName":"a.pdf"}},
            {"inlineData":{"mimeType":"audio/mpeg","data":"aGk="}},{"inlineData":{"mimeType":"audio/x-wav","data":"aGk="}},
            {"inlineData":{"mimeType":"video/mp4","data":"aGk="},"videoMetadata":{"fps":1}},
            {"fileData":{"mimeType":"image/png","fileUri":"https://a.example/p.png"}},
            {"fileData":{"mimeType":"application/pdf","fileUri":"https://a.example/p.pdf"}},
            {"file_data":{"mime_type":"image/png","file_uri":"gs://b/p.png"},"videoMetadata":{}},
            {"fileData":{"fileUri":"https://generativelanguage.googleapis.com/v1beta/files/x"}},
            {"fileData":{"mimeType":"video/*","fileUri":"https://video.example/x"}}]}]}"#,
        expect![[r#"
            User
              Image { source: Data { mime: "image/png", base64: "/+8=" }, detail: None }
              File { source: Data { mime: "application/pdf", base64: "aGk=" }, name: Some("a.pdf") }
              Other { kind: "input_audio", json: "{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"aGk=\",\"format\":\"mp3\"}}" }
              Other { kind: "input_audio", json: "{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"aGk=\",\"format\":\"wav\"}}" }
              Other { kind: "video_url", json: "{\"type\":\"video_url\",\"video_url\":{\"url\":\"data:video/mp4;base64,aGk=\"}}" }
              Image { source: Url("https://a.example/p.png"), detail: None }
              File { source: Url("https://a.example/p.pdf"), name: None }
              Other { kind: "fileData", json: "{\"file_data\":{\"mime_type\":\"image/png\",\"file_uri\":\"gs://b/p.png\"},\"videoMetadata\":{}}" }
              Other { kind: "fileData", json: "{\"fileData\":{\"fileUri\":\"https://generativelanguage.googleapis.com/v1beta/files/x\"}}" }
              Other { kind: "fileData", json: "{\"fileData\":{\"mimeType\":\"video/*\",\"fileUri\":\"https://video.example/x\"}}" }
            report dropped=videoMetadata
        "#]],
    );
}

#[test]
fn functions_of_all_entries() {
    check(
        r#"{"contents":[],"tools":[{"functionDeclarations":[{"name":"f","description":"d","parameters":{"type":"OBJECT","properties":{"a":{"type":"INTEGER","nullable":true}}}}]},
            {},{"functionDeclarations":{"name":"g","response":{"type":"STRING"},"behavior":"BLOCKING"}}],"toolConfig":{"retrievalConfig":{}}}"#,
        expect![[r#"
            Tool { name: "f", description: Some("d"), schema: Some("{\"type\":\"object\",\"properties\":{\"a\":{\"type\":[\"integer\",\"null\"]}}}"), strict: None, cache: None }
            Tool { name: "g", description: None, schema: None, strict: None, cache: None }
            report dropped=behavior,dropped=response,dropped=retrievalConfig
        "#]],
    );
}

#[test]
fn which_functions_must_be_called() {
    for (mode, names, expected) in [
        ("AUTO", "", "choice Auto\n"),
        ("auto", "", "choice Auto\n"),
        ("MODE_UNSPECIFIED", "", ""),
        ("NONE", "", "choice None\n"),
        ("ANY", "", "choice Required\n"),
        ("ANY", r#""f""#, "choice Named(\"f\")\n"),
        (
            "ANY",
            r#""f","g""#,
            "choice Allowed { names: [\"f\", \"g\"], required: true }\n",
        ),
        ("VALIDATED", "", "choice Auto\n"),
        (
            "VALIDATED",
            r#""f""#,
            "choice Allowed { names: [\"f\"], required: false }\n",
        ),
    ] {
        let body = format!(
            r#"{{"contents":[],"toolConfig":{{"functionCallingConfig":{{"mode":"{mode}","allowedFunctionNames":[{names}]}}}}}}"#
        );
        assert_eq!(told(&read_request(body.as_bytes()).unwrap()), expected);
    }
}

#[test]
fn what_only_google_can_serve() {
    check(
        r#"{"contents":[{"parts":[{"text":"x"},{"executableCode":{"code":"1"}}]}],"tools":[{"googleSearch":{}}],"cachedContent":"cachedContents/x"}"#,
        expect![[r#"
            User bare
              Text("x")
            native only: unsupported_content /contents/0/parts/1: code that another provider runs cannot be sent to the provider of this model
        "#]],
    );
    check(
        r#"{"contents":[],"tools":[{"functionDeclarations":[],"code_execution":{}}],"cachedContent":""}"#,
        expect![[r#"
            native only: unsupported_parameter /tools/0/code_execution: only a provider of this protocol has tools of its own
        "#]],
    );
    check(
        r#"{"contents":[],"cached_content":"cachedContents/x"}"#,
        expect![[r#"
            native only: unsupported_parameter /cachedContent: content that a provider keeps is known to that provider alone
        "#]],
    );
}

#[test]
fn members_that_nobody_knows() {
    check(
        r#"{"contents":[{"parts":[{"text":"x","mediaResolution":{}}]}],"safetySettings":[{"category":"X"}],"labels":{"a":"b"},
            "generationConfig":{"speechConfig":{},"temperature":1.10,"thinkingConfig":{"new":1}}}"#,
        expect![[r#"
            User bare
              Text("x")
            temperature 1.10
            unknown generationConfig.speechConfig {}
            unknown safetySettings [{"category":"X"}]
            unknown labels {"a":"b"}
            report dropped=mediaResolution,dropped=new
        "#]],
    );
}

#[test]
fn shapes_of_the_answer() {
    let told = |config: &str| {
        let body = format!(r#"{{"contents":[],"generationConfig":{{{config}}}}}"#);
        told(&read_request(body.as_bytes()).unwrap())
    };
    for (config, expected) in [
        (r#""responseMimeType":"text/plain""#, ""),
        (
            r#""responseMimeType":"application/json""#,
            "format JsonObject\n",
        ),
        (
            r#""responseMimeType":"application/json","responseSchema":{"type":"STRING"}"#,
            "format JsonSchema(JsonSchema { name: None, description: None, schema: Some(\"{\\\"type\\\":\\\"string\\\"}\"), strict: None })\n",
        ),
        (
            r#""responseMimeType":"text/x.enum","responseSchema":{"type":"STRING","enum":["a"]}"#,
            "report dropped=response_format\n",
        ),
        (r#""responseModalities":["TEXT"]"#, ""),
        (r#""candidateCount":1"#, ""),
    ] {
        assert_eq!(told(config), expected, "{config}");
    }
}

#[test]
fn how_much_to_think() {
    for (config, expected) in [
        (r#""thinkingBudget":0"#, "reasoning Effort(\"none\")\n"),
        (r#""thinkingBudget":-1"#, "reasoning Dynamic\n"),
        (
            r#""thinkingBudget":512,"includeThoughts":true"#,
            "reasoning Budget(512)\n",
        ),
        (
            r#""thinkingLevel":"LOW","thinkingBudget":5"#,
            "reasoning Effort(\"low\")\n",
        ),
        (r#""thinking_level":"high""#, "reasoning Effort(\"high\")\n"),
        (r#""thinkingLevel":"THINKING_LEVEL_UNSPECIFIED""#, ""),
        (r#""includeThoughts":true"#, "reasoning Dynamic\n"),
        (r#""includeThoughts":false"#, ""),
    ] {
        let body =
            format!(r#"{{"contents":[],"generationConfig":{{"thinkingConfig":{{{config}}}}}}}"#);
        assert_eq!(
            told(&read_request(body.as_bytes()).unwrap()),
            expected,
            "{config}"
        );
    }
}

#[test]
fn what_is_wrong_is_named() {
    let mut all = String::new();
    for body in [
        "",
        "{\"contents\":[]} x",
        "\u{feff}{}",
        "[]",
        "{}",
        r#"{"contents":"hi"}"#,
        r#"{"contents":[7]}"#,
        r#"{"contents":[{"role":"assistant","parts":[]}]}"#,
        r#"{"contents":[{"parts":[{}]}]}"#,
        r#"{"contents":[{"parts":[{"text":7}]}]}"#,
        r#"{"contents":[{"parts":[{"functionCall":{}}]}]}"#,
        r#"{"contents":[{"parts":[{"functionCall":{"name":"f","args":"{}"}}]}]}"#,
        r#"{"contents":[{"parts":[{"functionResponse":{"name":"f","response":"x"}}]}]}"#,
        r#"{"contents":[{"parts":[{"inlineData":{"data":"x"}}]}]}"#,
        r#"{"contents":[{"parts":[{"inlineData":{"mimeType":"image/png","data":"?"}}]}]}"#,
        r#"{"contents":[{"parts":[{"fileData":{}}]}]}"#,
        r#"{"contents":[],"systemInstruction":{"parts":[{"inlineData":{}}]}}"#,
        r#"{"contents":[],"tools":[{"functionDeclarations":[{"description":"d"}]}]}"#,
        r#"{"contents":[],"toolConfig":{"functionCallingConfig":{"mode":"SOME"}}}"#,
        r#"{"contents":[],"generationConfig":{"temperature":"hot"}}"#,
        r#"{"contents":[],"generationConfig":{"stopSequences":["a",1]}}"#,
        r#"{"contents":[],"generationConfig":{"thinkingConfig":{"thinkingBudget":-2}}}"#,
    ] {
        let rejected = read_request(body.as_bytes()).unwrap_err();
        let param = rejected.param.unwrap_or_default();
        writeln!(all, "{} [{param}] {}", rejected.code, rejected.message).unwrap();
    }
    expect![[r#"
        invalid_json [] the body is not JSON
        invalid_json [] the body is not JSON
        invalid_json [] the body is not JSON
        invalid_request [] the body: expected an object, found an array
        invalid_request [/contents] /contents: missing, expected an array
        invalid_request [/contents] /contents: expected an array, found a string
        invalid_request [/contents/0] /contents/0: expected an object, found a number
        invalid_request [/contents/0/role] /contents/0/role: expected `user` or `model`
        invalid_request [/contents/0/parts/0] /contents/0/parts/0: expected `text`, `inlineData`, `fileData`, `functionCall` or `functionResponse`
        invalid_request [/contents/0/parts/0/text] /contents/0/parts/0/text: expected a string, found a number
        invalid_request [/contents/0/parts/0/functionCall/name] /contents/0/parts/0/functionCall/name: missing, expected a string
        invalid_request [/contents/0/parts/0/functionCall/args] /contents/0/parts/0/functionCall/args: expected an object, found a string
        invalid_request [/contents/0/parts/0/functionResponse/response] /contents/0/parts/0/functionResponse/response: expected an object, found a string
        invalid_request [/contents/0/parts/0/inlineData/mimeType] /contents/0/parts/0/inlineData/mimeType: missing, expected a string
        invalid_request [/contents/0/parts/0/inlineData/data] /contents/0/parts/0/inlineData/data: not base64
        invalid_request [/contents/0/parts/0/fileData/fileUri] /contents/0/parts/0/fileData/fileUri: missing, expected a string
        invalid_request [/systemInstruction/parts/0/text] /systemInstruction/parts/0/text: missing, expected a string
        invalid_request [/tools/0/functionDeclarations/0/name] /tools/0/functionDeclarations/0/name: missing, expected a string
        invalid_request [/toolConfig/functionCallingConfig/mode] /toolConfig/functionCallingConfig/mode: expected `AUTO`, `ANY`, `NONE` or `VALIDATED`
        invalid_request [/generationConfig/temperature] /generationConfig/temperature: expected a number, found a string
        invalid_request [/generationConfig/stopSequences/1] /generationConfig/stopSequences/1: expected a string, found a number
        invalid_request [/generationConfig/thinkingConfig/thinkingBudget] /generationConfig/thinkingConfig/thinkingBudget: expected a whole number from -1, found a number
    "#]]
    .assert_eq(&all);
    assert_eq!(read_request(b"\xff").unwrap_err().code, "invalid_json");
}

#[test]
fn requests_to_count() {
    let told = |body: &str| read_count_request(body.as_bytes()).map(|request| told(&request));
    let plain = told(r#"{"contents":[{"parts":[{"text":"x"}]}]}"#);
    assert_eq!(plain.as_deref(), Ok("User bare\n  Text(\"x\")\n"));
    for wrapped in [
        r#"{"generateContentRequest":{"model":"models/m","contents":[{"parts":[{"text":"x"}]}]}}"#,
        r#"{"generate_content_request":{"contents":[{"parts":[{"text":"x"}]}]}}"#,
    ] {
        assert_eq!(told(wrapped), plain);
    }
    let wrong = told(r#"{"generateContentRequest":{"contents":[{"parts":[{}]}]}}"#).unwrap_err();
    assert_eq!(
        wrong.param.as_deref(),
        Some("/generateContentRequest/contents/0/parts/0")
    );
    assert_eq!(told("{}").unwrap_err().param.as_deref(), Some("/contents"));
}

proptest! {
    #[test]
    fn nothing_panics(body in any_request()) {
        read_request(body.as_bytes()).ok();
        read_count_request(body.as_bytes()).ok();
    }
}

/// JSON of the words that requests are made of, put together anyhow.
fn any_request() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "true",
        "null",
        "7",
        "-1",
        r#""AUTO""#,
        r#""user""#,
        r#""model""#,
        r#""f""#,
        "{}",
    ])
    .prop_map(str::to_owned);
    let word = prop::sample::select(vec![
        "contents",
        "parts",
        "role",
        "text",
        "functionCall",
        "functionResponse",
        "name",
        "args",
        "response",
        "inlineData",
        "mimeType",
        "data",
        "thought",
        "thoughtSignature",
        "tools",
        "functionDeclarations",
        "parameters",
        "generationConfig",
    ]);
    leaf.prop_recursive(6, 40, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4)
                .prop_map(|all| format!("[{}]", all.join(","))),
            proptest::collection::vec((word.clone(), inner), 0..4).prop_map(|all| {
                let all: Vec<String> = all
                    .iter()
                    .map(|(name, value)| format!("\"{name}\":{value}"))
                    .collect();
                format!("{{{}}}", all.join(","))
            }),
        ]
    })
    .prop_map(|contents| format!(r#"{{"contents":[{{"parts":[{contents}]}},{contents}]}}"#))
}
