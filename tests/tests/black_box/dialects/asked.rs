//! What a provider was asked, read off its wire in words that are the same for every wire.

use serde_json::Value;

use onwards_tests::Recorded;

use super::Wire;

/// The request as lines: system texts, turns in order, tools, what shape the answer shall have, how much thought, how long.
pub(crate) fn lines(wire: Wire, request: &Recorded) -> Vec<String> {
    let body = request.json();
    let mut lines = match wire {
        Wire::Chat => chat(&body),
        Wire::Responses => responses(&body),
        Wire::Messages => messages(&body),
        Wire::Gemini => gemini(&body),
        Wire::Converse => converse(&body),
    };
    if body["stream"] == true || request.line.contains("stream") {
        lines.push("stream".to_owned());
    }
    lines
}

/// The name of the tool that the answer has to call, where an answer of a certain shape is asked for that way.
pub(crate) fn forced_tool(body: &Value) -> Option<&str> {
    let named = [
        &body["tool_choice"]["name"],
        &body["toolConfig"]["toolChoice"]["tool"]["name"],
    ];
    named.into_iter().find_map(Value::as_str)
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

fn call(id: &Value, name: &Value, arguments: &Value) -> String {
    format!(
        "call {} {} {arguments}",
        id.as_str().unwrap_or("-"),
        text(name)
    )
}

fn parsed(arguments: &Value) -> Value {
    serde_json::from_str(text(arguments)).unwrap_or_else(|_| panic!("arguments: {arguments}"))
}

fn result(id: &Value, said: &str) -> String {
    format!("result {} {said}", id.as_str().unwrap_or("-"))
}

fn tool(name: &Value, schema: &Value) -> String {
    format!("tool {} {schema}", text(name))
}

fn number(name: &str, value: &Value, lines: &mut Vec<String>) {
    if !value.is_null() {
        lines.push(format!("{name} {value}"));
    }
}

fn data_uri(url: &Value) -> String {
    let url = text(url);
    let (mime, data) = url
        .strip_prefix("data:")
        .and_then(|rest| rest.split_once(";base64,"))
        .unwrap_or_else(|| panic!("a data URI: {url}"));
    format!("picture {mime} {data}")
}

fn chat(body: &Value) -> Vec<String> {
    let mut lines = vec![];
    for turn in list(&body["messages"]) {
        let role = text(&turn["role"]);
        let content = &turn["content"];
        match role {
            "tool" => lines.push(result(&turn["tool_call_id"], text(content))),
            _ if content.is_string() => lines.push(format!("{role}: {}", text(content))),
            _ => {}
        }
        for part in list(content) {
            lines.push(match text(&part["type"]) {
                "text" => format!("{role}: {}", text(&part["text"])),
                _ => data_uri(&part["image_url"]["url"]),
            });
        }
        for made in list(&turn["tool_calls"]) {
            let function = &made["function"];
            let arguments = parsed(&function["arguments"]);
            lines.push(call(&made["id"], &function["name"], &arguments));
        }
    }
    for offered in list(&body["tools"]) {
        let function = &offered["function"];
        lines.push(tool(&function["name"], &function["parameters"]));
    }
    number(
        "shape",
        &body["response_format"]["json_schema"]["schema"],
        &mut lines,
    );
    number("effort", &body["reasoning_effort"], &mut lines);
    number("limit", &body["max_tokens"], &mut lines);
    number("limit", &body["max_completion_tokens"], &mut lines);
    number("temperature", &body["temperature"], &mut lines);
    lines
}

fn responses(body: &Value) -> Vec<String> {
    let mut lines = vec![format!("system: {}", text(&body["instructions"]))];
    for item in list(&body["input"]) {
        match item["type"].as_str().unwrap_or("message") {
            "function_call" => {
                let arguments = parsed(&item["arguments"]);
                lines.push(call(&item["call_id"], &item["name"], &arguments));
            }
            "function_call_output" => lines.push(result(&item["call_id"], text(&item["output"]))),
            _ if item["content"].is_string() => {
                lines.push(format!(
                    "{}: {}",
                    text(&item["role"]),
                    text(&item["content"])
                ));
            }
            _ => lines.extend(
                list(&item["content"]).map(|part| match text(&part["type"]) {
                    "input_image" => data_uri(&part["image_url"]),
                    _ => format!("{}: {}", text(&item["role"]), text(&part["text"])),
                }),
            ),
        }
    }
    for offered in list(&body["tools"]) {
        lines.push(tool(&offered["name"], &offered["parameters"]));
    }
    number("shape", &body["text"]["format"]["schema"], &mut lines);
    number("effort", &body["reasoning"]["effort"], &mut lines);
    number("limit", &body["max_output_tokens"], &mut lines);
    number("temperature", &body["temperature"], &mut lines);
    lines
}

fn messages(body: &Value) -> Vec<String> {
    let mut lines = vec![];
    if let Some(system) = body["system"].as_str() {
        lines.push(format!("system: {system}"));
    }
    lines.extend(list(&body["system"]).map(|block| format!("system: {}", text(&block["text"]))));
    for turn in list(&body["messages"]) {
        let role = text(&turn["role"]);
        if let Some(said) = turn["content"].as_str() {
            lines.push(format!("{role}: {said}"));
        }
        lines.extend(
            list(&turn["content"]).map(|block| match text(&block["type"]) {
                "text" => format!("{role}: {}", text(&block["text"])),
                "image" => {
                    let source = &block["source"];
                    format!(
                        "picture {} {}",
                        text(&source["media_type"]),
                        text(&source["data"])
                    )
                }
                "tool_use" => call(&block["id"], &block["name"], &block["input"]),
                "tool_result" => {
                    let content = &block["content"];
                    let inner = &content[0]["text"];
                    result(
                        &block["tool_use_id"],
                        text(if inner.is_null() { content } else { inner }),
                    )
                }
                other => panic!("a block {other}"),
            }),
        );
    }
    let forced = forced_tool(body);
    for offered in list(&body["tools"]) {
        if forced.is_some() {
            lines.push(format!("shape {}", offered["input_schema"]));
        } else {
            lines.push(tool(&offered["name"], &offered["input_schema"]));
        }
    }
    number(
        "shape",
        &body["output_config"]["format"]["schema"],
        &mut lines,
    );
    number("budget", &body["thinking"]["budget_tokens"], &mut lines);
    number("limit", &body["max_tokens"], &mut lines);
    number("temperature", &body["temperature"], &mut lines);
    lines
}

fn gemini(body: &Value) -> Vec<String> {
    let mut lines = vec![];
    let system = list(&body["systemInstruction"]["parts"]);
    lines.extend(system.map(|part| format!("system: {}", text(&part["text"]))));
    for turn in list(&body["contents"]) {
        let role = text(&turn["role"]).replace("model", "assistant");
        for part in list(&turn["parts"]) {
            let (made, answered) = (&part["functionCall"], &part["functionResponse"]);
            let picture = &part["inlineData"];
            lines.push(if !made.is_null() {
                call(&Value::Null, &made["name"], &made["args"])
            } else if !answered.is_null() {
                format!("result - {}", text(&answered["response"]["result"]))
            } else if !picture.is_null() {
                format!(
                    "picture {} {}",
                    text(&picture["mimeType"]),
                    text(&picture["data"])
                )
            } else {
                format!("{role}: {}", text(&part["text"]))
            });
        }
    }
    for offered in list(&body["tools"][0]["functionDeclarations"]) {
        lines.push(tool(&offered["name"], &offered["parameters"]));
    }
    let config = &body["generationConfig"];
    number("shape", &config["responseSchema"], &mut lines);
    number(
        "budget",
        &config["thinkingConfig"]["thinkingBudget"],
        &mut lines,
    );
    number("limit", &config["maxOutputTokens"], &mut lines);
    number("temperature", &config["temperature"], &mut lines);
    lines
}

fn converse(body: &Value) -> Vec<String> {
    let mut lines = vec![];
    lines.extend(list(&body["system"]).map(|block| format!("system: {}", text(&block["text"]))));
    for turn in list(&body["messages"]) {
        let role = text(&turn["role"]);
        for block in list(&turn["content"]) {
            let (made, answered) = (&block["toolUse"], &block["toolResult"]);
            let picture = &block["image"];
            lines.push(if !made.is_null() {
                call(&made["toolUseId"], &made["name"], &made["input"])
            } else if !answered.is_null() {
                result(
                    &answered["toolUseId"],
                    text(&answered["content"][0]["text"]),
                )
            } else if !picture.is_null() {
                let format = text(&picture["format"]);
                format!(
                    "picture image/{format} {}",
                    text(&picture["source"]["bytes"])
                )
            } else {
                format!("{role}: {}", text(&block["text"]))
            });
        }
    }
    let forced = forced_tool(body);
    for offered in list(&body["toolConfig"]["tools"]) {
        let spec = &offered["toolSpec"];
        if forced.is_some() {
            lines.push(format!("shape {}", spec["inputSchema"]["json"]));
        } else {
            lines.push(tool(&spec["name"], &spec["inputSchema"]["json"]));
        }
    }
    let budget = &body["additionalModelRequestFields"]["thinking"]["budget_tokens"];
    number("budget", budget, &mut lines);
    number("limit", &body["inferenceConfig"]["maxTokens"], &mut lines);
    number(
        "temperature",
        &body["inferenceConfig"]["temperature"],
        &mut lines,
    );
    lines
}
