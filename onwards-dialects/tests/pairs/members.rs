//! No member of a request is lost silently: whatever the API of a client's protocol knows at the top of a request, and one level
//! below where settings stand there, changes what a provider is sent, or is in the report, or is refused.

use onwards_dialects::{Kind, Protocol, Settings};
use serde_json::{Value, json};

use crate::common::{KINDS, PROTOCOLS, fixtures, options, protocol};

/// Requests that each protocol allows; a member is tried on top of one.
fn base(protocol: Protocol) -> Value {
    let schema = json!({"type": "object", "properties": {"x": {"type": "string"}}});
    match protocol {
        Protocol::Chat => json!({
            "model": "m", "messages": [{"role": "user", "content": "Hi"}], "max_completion_tokens": 50_000,
            "tools": [{"type": "function", "function": {"name": "f", "parameters": schema}}],
        }),
        Protocol::Responses => json!({
            "model": "m", "input": "Hi", "max_output_tokens": 50_000,
            "tools": [{"type": "function", "name": "f", "parameters": schema}],
        }),
        Protocol::Messages => json!({
            "model": "m", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 50_000,
            "tools": [{"name": "f", "input_schema": schema}],
        }),
        Protocol::GenerateContent => json!({
            "contents": [{"role": "user", "parts": [{"text": "Hi"}]}], "generationConfig": {"maxOutputTokens": 50_000},
            "tools": [{"functionDeclarations": [{"name": "f", "parameters": schema}]}],
        }),
    }
}

/// Every member that the protocol's API knows, with values that mean something (OpenAI's `CreateChatCompletionRequest` and
/// `CreateResponse`, Anthropic's `POST /v1/messages`, Google's `GenerateContentRequest` and `GenerationConfig`).
fn members(protocol: Protocol) -> Vec<(&'static str, Vec<Value>)> {
    match protocol {
        Protocol::Chat => chat(),
        Protocol::Responses => responses(),
        Protocol::Messages => messages(),
        Protocol::GenerateContent => gemini(),
    }
}

fn chat() -> Vec<(&'static str, Vec<Value>)> {
    let function = json!({"name": "g"});
    vec![
        ("audio", vec![json!({"voice": "ash", "format": "wav"})]),
        ("frequency_penalty", vec![json!(0.5)]),
        ("function_call", vec![json!("none"), json!({"name": "f"})]),
        ("functions", vec![json!([function])]),
        ("logit_bias", vec![json!({"5": 1})]),
        ("logprobs", vec![json!(true)]),
        ("max_completion_tokens", vec![json!(40_000)]),
        ("max_tokens", vec![json!(40_000)]),
        (
            "messages",
            vec![json!([{"role": "user", "content": "Bye"}])],
        ),
        ("metadata", vec![json!({"a": "b"})]),
        ("modalities", vec![json!(["text", "audio"])]),
        ("model", vec![json!("n")]),
        ("moderation", vec![json!({"a": 1})]),
        ("n", vec![json!(2)]),
        ("parallel_tool_calls", vec![json!(false)]),
        (
            "prediction",
            vec![json!({"type": "content", "content": "x"})],
        ),
        ("presence_penalty", vec![json!(0.5)]),
        ("prompt_cache_key", vec![json!("k")]),
        ("prompt_cache_options", vec![json!({"a": 1})]),
        ("prompt_cache_retention", vec![json!("24h")]),
        ("reasoning_effort", vec![json!("low"), json!("none")]),
        ("response_format", vec![json!({"type": "json_object"})]),
        ("safety_identifier", vec![json!("u")]),
        ("seed", vec![json!(7)]),
        ("service_tier", vec![json!("flex"), json!("priority")]),
        ("stop", vec![json!("x"), json!(["x"])]),
        ("store", vec![json!(true), json!(false)]),
        ("stream", vec![json!(true)]),
        (
            "stream_options",
            vec![
                json!({"include_usage": true}),
                json!({"include_obfuscation": true}),
            ],
        ),
        ("temperature", vec![json!(0.5)]),
        (
            "tool_choice",
            vec![
                json!("required"),
                json!("none"),
                json!({"type": "function", "function": {"name": "f"}}),
            ],
        ),
        (
            "tools",
            vec![json!([{"type": "function", "function": function}])],
        ),
        ("top_logprobs", vec![json!(2)]),
        ("top_p", vec![json!(0.5)]),
        ("user", vec![json!("u")]),
        ("verbosity", vec![json!("low")]),
        ("web_search_options", vec![json!({})]),
        ("x_new", vec![json!(1)]),
    ]
}

fn responses() -> Vec<(&'static str, Vec<Value>)> {
    vec![
        ("background", vec![json!(true)]),
        ("context_management", vec![json!([{"type": "compaction"}])]),
        ("conversation", vec![json!("conv_1")]),
        (
            "include",
            vec![
                json!(["reasoning.encrypted_content"]),
                json!(["message.output_text.logprobs"]),
            ],
        ),
        ("input", vec![json!("Bye")]),
        ("instructions", vec![json!("Be brief.")]),
        ("max_output_tokens", vec![json!(40_000)]),
        ("max_tool_calls", vec![json!(3)]),
        ("metadata", vec![json!({"a": "b"})]),
        ("model", vec![json!("n")]),
        ("moderation", vec![json!({"a": 1})]),
        ("parallel_tool_calls", vec![json!(false)]),
        ("previous_response_id", vec![json!("resp_1")]),
        ("prompt", vec![json!({"id": "p"})]),
        ("prompt_cache_key", vec![json!("k")]),
        ("prompt_cache_options", vec![json!({"a": 1})]),
        ("prompt_cache_retention", vec![json!("24h")]),
        ("reasoning", vec![json!({"effort": "low"})]),
        ("reasoning.summary", vec![json!("auto")]),
        ("reasoning.generate_summary", vec![json!("auto")]),
        ("reasoning.x_new", vec![json!(1)]),
        ("safety_identifier", vec![json!("u")]),
        ("service_tier", vec![json!("flex")]),
        ("store", vec![json!(false), json!(true)]),
        ("stream", vec![json!(true)]),
        (
            "stream_options",
            vec![json!({"include_obfuscation": true}), json!({"x_new": 1})],
        ),
        ("temperature", vec![json!(0.5)]),
        ("text.verbosity", vec![json!("low")]),
        ("text.format", vec![json!({"type": "json_object"})]),
        ("text.x_new", vec![json!(1)]),
        ("tool_choice", vec![json!("required"), json!("none")]),
        ("tools", vec![json!([{"type": "function", "name": "g"}])]),
        ("top_logprobs", vec![json!(2)]),
        ("top_p", vec![json!(0.5)]),
        ("truncation", vec![json!("auto")]),
        ("user", vec![json!("u")]),
        ("x_new", vec![json!(1)]),
    ]
}

fn messages() -> Vec<(&'static str, Vec<Value>)> {
    vec![
        ("cache_control", vec![json!({"type": "ephemeral"})]),
        ("container", vec![json!("c")]),
        (
            "context_management",
            vec![json!({"edits": [{"type": "x"}]})],
        ),
        ("inference_geo", vec![json!("us")]),
        ("max_tokens", vec![json!(40_000)]),
        ("mcp_servers", vec![json!([{"type": "url"}])]),
        (
            "messages",
            vec![json!([{"role": "user", "content": "Bye"}])],
        ),
        (
            "metadata",
            vec![json!({"user_id": "u"}), json!({"x_new": 1})],
        ),
        ("model", vec![json!("n")]),
        (
            "output_config",
            vec![json!({"effort": "low"}), json!({"x_new": 1})],
        ),
        (
            "output_config.format",
            vec![json!({"type": "json_schema", "schema": {"type": "object"}})],
        ),
        (
            "output_format",
            vec![json!({"type": "json_schema", "schema": {"type": "object"}})],
        ),
        ("service_tier", vec![json!("standard_only")]),
        ("speed", vec![json!("fast")]),
        ("stop_sequences", vec![json!(["x"])]),
        ("stream", vec![json!(true)]),
        (
            "system",
            vec![
                json!("Be brief."),
                json!([{"type": "text", "text": "Be brief."}]),
            ],
        ),
        ("temperature", vec![json!(0.5)]),
        (
            "thinking",
            vec![
                json!({"type": "enabled", "budget_tokens": 2048}),
                json!({"type": "disabled"}),
                json!({"type": "adaptive"}),
            ],
        ),
        ("thinking.display", vec![json!("omitted")]),
        (
            "tool_choice",
            vec![
                json!({"type": "any"}),
                json!({"type": "auto", "disable_parallel_tool_use": true}),
            ],
        ),
        (
            "tools",
            vec![json!([{"name": "g", "input_schema": {"type": "object"}}])],
        ),
        ("top_k", vec![json!(5)]),
        ("top_p", vec![json!(0.5)]),
        ("user_profile_id", vec![json!("u")]),
        ("x_new", vec![json!(1)]),
    ]
}

fn gemini() -> Vec<(&'static str, Vec<Value>)> {
    let mut members = gemini_config();
    members.extend([
        ("cachedContent", vec![json!("cachedContents/1")]),
        (
            "contents",
            vec![json!([{"role": "user", "parts": [{"text": "Bye"}]}])],
        ),
        ("labels", vec![json!({"a": "b"})]),
        ("model", vec![json!("models/n")]),
        (
            "safetySettings",
            vec![json!([{"category": "x", "threshold": "OFF"}])],
        ),
        ("serviceTier", vec![json!("flex")]),
        ("store", vec![json!(false)]),
        (
            "systemInstruction",
            vec![json!({"parts": [{"text": "Be brief."}]})],
        ),
        (
            "toolConfig.functionCallingConfig",
            vec![json!({"mode": "ANY"}), json!({"mode": "NONE"})],
        ),
        (
            "toolConfig.includeServerSideToolInvocations",
            vec![json!(true)],
        ),
        (
            "toolConfig.retrievalConfig",
            vec![json!({"languageCode": "en"})],
        ),
        (
            "tools",
            vec![
                json!([{"functionDeclarations": [{"name": "g"}]}]),
                json!([{"googleSearch": {}}]),
            ],
        ),
        ("x_new", vec![json!(1)]),
    ]);
    members
}

fn gemini_config() -> Vec<(&'static str, Vec<Value>)> {
    let schema = json!({"type": "object"});
    vec![
        ("generationConfig.audioTimestamp", vec![json!(true)]),
        ("generationConfig.candidateCount", vec![json!(2)]),
        ("generationConfig.enableAffectiveDialog", vec![json!(true)]),
        (
            "generationConfig.enableEnhancedCivicAnswers",
            vec![json!(true)],
        ),
        ("generationConfig.frequencyPenalty", vec![json!(0.5)]),
        (
            "generationConfig.imageConfig",
            vec![json!({"aspectRatio": "1:1"})],
        ),
        ("generationConfig.logprobs", vec![json!(2)]),
        ("generationConfig.maxOutputTokens", vec![json!(40_000)]),
        (
            "generationConfig.mediaResolution",
            vec![json!("MEDIA_RESOLUTION_LOW")],
        ),
        ("generationConfig.presencePenalty", vec![json!(0.5)]),
        ("generationConfig.responseJsonSchema", vec![schema.clone()]),
        ("generationConfig.responseLogprobs", vec![json!(true)]),
        (
            "generationConfig.responseMimeType",
            vec![json!("application/json"), json!("text/x.enum")],
        ),
        (
            "generationConfig.responseModalities",
            vec![json!(["TEXT", "IMAGE"]), json!(["AUDIO"])],
        ),
        ("generationConfig.responseSchema", vec![schema]),
        ("generationConfig.seed", vec![json!(7)]),
        ("generationConfig.speechConfig", vec![json!({})]),
        ("generationConfig.stopSequences", vec![json!(["x"])]),
        ("generationConfig.temperature", vec![json!(0.5)]),
        (
            "generationConfig.thinkingConfig",
            vec![
                json!({"thinkingBudget": 2048}),
                json!({"thinkingLevel": "low"}),
                json!({"x_new": 1}),
            ],
        ),
        ("generationConfig.topK", vec![json!(5)]),
        ("generationConfig.topP", vec![json!(0.5)]),
        ("generationConfig.x_new", vec![json!(1)]),
    ]
}

/// Why nothing is told of a member that changes nothing. The list is closed: an entry that is no longer needed fails the test.
fn silent(
    protocol: Protocol,
    member: &str,
    value: &Value,
    (kind, model): (Kind, &str),
) -> Option<&'static str> {
    let thoughtless = kind == Kind::Bedrock && !model.contains("anthropic.");
    Some(match (protocol, member) {
        (_, "model") => "names the alias; providers are sent their own name for it",
        (_, "stream") if matches!(kind, Kind::Gemini | Kind::Bedrock) => "the address says it",
        (Protocol::Chat, "stream_options") if value.get("include_usage").is_some() => {
            "providers are asked for token counts in every stream"
        }
        (Protocol::Responses, "store") if *value == true => {
            "spec providers 4.4: ignored unless it is false"
        }
        (Protocol::Responses, "reasoning.summary" | "reasoning.generate_summary") => {
            "whether thoughts are shown is the operator's to say: `expose_reasoning`"
        }
        (Protocol::Messages, "thinking") if value["type"] == "adaptive" && is_chat(kind) => {
            "a model that is told nothing thinks as much as it likes"
        }
        (Protocol::Chat, "reasoning_effort") if *value == "none" => {
            return thoughtless.then_some("a model that is not told to think does not");
        }
        (Protocol::Messages, "thinking") if value["type"] == "disabled" => {
            return thoughtless.then_some("a model that is not told to think does not");
        }
        _ => return None,
    })
}

fn is_chat(kind: Kind) -> bool {
    matches!(kind, Kind::OpenAi | Kind::Azure)
}

/// What a provider is sent and what is told of it.
fn written(protocol: Protocol, kind: Kind, model: &str, body: &Value) -> String {
    let body = body.to_string();
    let request = match protocol.read_request(body.as_bytes()) {
        Ok(request) => request,
        Err(rejected) => return format!("unreadable: {rejected:?}"),
    };
    let options = options(kind);
    let settings = Settings {
        model,
        options: &options,
        pictures: &std::collections::BTreeMap::new(),
        recall: &|_| None,
    };
    match kind.write_request(&request, &settings) {
        Ok(written) => format!("{} {}", written.body, written.report.whole(4000)),
        Err(rejected) => format!("refused: {rejected:?}"),
    }
}

/// The request with a member more, or another value of it.
fn with(mut request: Value, member: &str, value: &Value) -> Value {
    match member.split_once('.') {
        None => request[member] = value.clone(),
        Some((above, name)) => {
            // What cannot be without a type.
            if above == "thinking" {
                request[above]["type"] = "adaptive".into();
            }
            request[above][name] = value.clone();
        }
    }
    request
}

#[test]
fn no_member_of_a_request_is_lost_silently() {
    let mut lost = Vec::new();
    for (protocol_name, protocol) in PROTOCOLS {
        for (kind_name, kind) in KINDS {
            let models: &[&str] = match kind {
                Kind::Bedrock => &["anthropic.claude-x-v1:0", "amazon.nova-x-v1:0"],
                _ => &["vendor-model"],
            };
            for model in models {
                for (member, values) in members(protocol) {
                    let mut plain = base(protocol);
                    if member == "thinking.display" {
                        plain["thinking"] = json!({"type": "adaptive"});
                    }
                    if matches!(member, "generationConfig.logprobs") {
                        plain["generationConfig"]["responseLogprobs"] = true.into();
                    }
                    if member == "top_logprobs" && protocol == Protocol::Chat {
                        plain["logprobs"] = true.into();
                    }
                    let before = written(protocol, kind, model, &plain);
                    assert!(before.starts_with('{'), "{before}");
                    for value in values {
                        let after =
                            written(protocol, kind, model, &with(plain.clone(), member, &value));
                        assert!(!after.starts_with("unreadable"), "{member}: {after}");
                        let reason = silent(protocol, member, &value, (kind, model));
                        if (after == before) != reason.is_some() {
                            lost.push(format!(
                                "{protocol_name} {member}: {value} at {kind_name} {model}"
                            ));
                        }
                    }
                }
            }
        }
    }
    assert!(
        lost.is_empty(),
        "neither sent nor told, or told although listed as silent:\n{}",
        lost.join("\n")
    );
}

/// Every object within a value, as pointers.
fn objects(value: &Value, at: &str, out: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            out.push(at.to_owned());
            for (name, value) in members {
                objects(value, &format!("{at}/{name}"), out);
            }
        }
        Value::Array(elements) => {
            for (index, value) in elements.iter().enumerate() {
                objects(value, &format!("{at}/{index}"), out);
            }
        }
        _ => {}
    }
}

/// Values that are taken or left as a whole, and told of as a whole where they are left.
const WHOLES: &[&str] = &[
    "cache_control",
    "input_schema",
    "logit_bias",
    "metadata",
    "parameters",
    "responseSchema",
    "safetySettings",
    "schema",
];

fn is_a_whole(place: &str, request: &Value) -> bool {
    let of_thoughts = |(end, _): (usize, &str)| {
        let above = request.pointer(place.get(..end).unwrap());
        above.is_some_and(|above| above["type"] == "reasoning")
    };
    place.split('/').any(|name| WHOLES.contains(&name))
        || request
            .pointer(place)
            .is_some_and(|at| at["type"] == "reasoning")
        || place.match_indices('/').any(of_thoughts)
}

#[test]
fn no_member_within_a_request_is_lost_silently() {
    let mut lost = std::collections::BTreeSet::new();
    for (folder, name, body) in fixtures("requests", "json") {
        let plain: Value = serde_json::from_str(&body).unwrap();
        let mut places = Vec::new();
        objects(&plain, "", &mut places);
        for (kind_name, kind) in KINDS {
            let model = "anthropic.claude-x-v1:0";
            let before = written(protocol(&name), kind, model, &plain);
            if !before.starts_with('{') {
                continue;
            }
            for place in places.iter().filter(|place| !is_a_whole(place, &plain)) {
                let mut more = plain.clone();
                more.pointer_mut(place).unwrap()["x_new"] = 1.into();
                if written(protocol(&name), kind, model, &more) == before {
                    lost.insert(format!("{name} {place} at {kind_name} ({folder})"));
                }
            }
        }
    }
    let lost: Vec<String> = lost.into_iter().collect();
    assert!(lost.is_empty(), "{}", lost.join("\n"));
}
