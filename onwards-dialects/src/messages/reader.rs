//! Requests of Anthropic's clients (spec providers 4.2).
//!
//! What only Anthropic itself can serve (tools that run there, containers) is not refused here but noted in
//! [`Request::native_only`]: it may still go there as it is.

mod blocks;
mod tools;

use onwards_json::{Kind, Value};

use crate::Protocol;
use crate::failure::Rejected;
use crate::read::{At, Fields};
use crate::request::{
    Format, JsonSchema, MaxTokens, Message, Param, Part, PartKind, Reasoning, Request, Role,
};
use crate::text::{Json, Str, json};

/// Reads a request.
///
/// # Errors
/// `invalid_json`, or `invalid_request` with a pointer.
pub(crate) fn read_request(body: &[u8]) -> Result<Request<'_>, Rejected> {
    read(body, true)
}

/// Reads a request to count tokens, which needs no limit.
///
/// # Errors
/// As [`read_request`].
pub(crate) fn read_count_request(body: &[u8]) -> Result<Request<'_>, Rejected> {
    read(body, false)
}

fn read(body: &[u8], limited: bool) -> Result<Request<'_>, Rejected> {
    let value = std::str::from_utf8(body)
        .ok()
        .and_then(crate::text::value)
        .ok_or_else(|| Rejected::new("invalid_json", None, "the body is not JSON"))?;
    let root = At::Root;
    let mut fields = Fields::of(&value, root)?;
    let mut request = Request {
        protocol: Some(Protocol::Messages),
        ..Request::default()
    };
    // The model is for the caller.
    fields.take("model");
    match fields.u64("max_tokens")? {
        Some(tokens) => {
            request.max_tokens = Some(MaxTokens {
                tokens,
                spelling: None,
            });
        }
        None if limited => return Err(root.missing("max_tokens", "a whole number from 0")),
        None => {}
    }
    if let Some(system) = fields.take("system") {
        read_system(&system, At::Member(&root, "system"), &mut request)?;
    }
    let messages = fields
        .array("messages")?
        .ok_or_else(|| root.missing("messages", "an array"))?;
    let at = At::Member(&root, "messages");
    for (index, message) in messages.elements().enumerate() {
        blocks::read_message(&message, At::Element(&at, index), index, &mut request)?;
    }
    tools::read(&mut fields, &mut request)?;
    read_thinking(&mut fields, &mut request)?;
    read_sampling(&mut fields, &mut request)?;
    request.stream = fields.bool("stream")?.unwrap_or(false);
    for name in ["container", "mcp_servers", "context_management"] {
        if fields.take(name).is_some_and(|value| !is_empty(&value)) {
            let rejected = || Rejected::unsupported(name);
            request.native_only.get_or_insert_with(rejected);
        }
    }
    request.unknown = fields.rest();
    Ok(request)
}

/// True for an array or an object of nothing.
fn is_empty(value: &Value<'_>) -> bool {
    match value.kind() {
        Kind::Array => value.elements().next().is_none(),
        Kind::Object => value.members().next().is_none(),
        _ => false,
    }
}

/// Notes what is left of an object as dropped.
fn drop_rest(fields: Fields<'_, '_>, request: &mut Request<'_>) {
    for (name, _) in fields.rest() {
        request.report.dropped(&name.decoded());
    }
}

fn read_system<'a>(
    system: &Value<'a>,
    at: At<'_>,
    request: &mut Request<'a>,
) -> Result<(), Rejected> {
    if let Some(text) = Str::of(system) {
        request.messages.push(Message::text(Role::System, text));
        return Ok(());
    }
    if system.kind() != Kind::Array {
        return Err(at.wrong(system, "a string or an array"));
    }
    for (index, block) in system.elements().enumerate() {
        let at = At::Element(&at, index);
        let mut fields = Fields::of(&block, at)?;
        let kind = fields.need_str("type")?;
        if !kind.is("text") {
            return Err(At::Member(&at, "type").invalid("expected \"text\""));
        }
        let part = Part {
            kind: PartKind::Text(fields.need_str("text")?),
            cache: fields.json("cache_control"),
            at: None,
        };
        drop_rest(fields, request);
        let message = Message::new(Role::System, vec![part]);
        request.messages.push(message);
    }
    Ok(())
}

/// `thinking`, `output_config` and `output_format`.
fn read_thinking<'a>(
    fields: &mut Fields<'a, '_>,
    request: &mut Request<'a>,
) -> Result<(), Rejected> {
    let root = At::Root;
    let mut effort = None;
    let mut format = fields.object("output_format")?;
    if let Some(config) = fields.object("output_config")? {
        let mut config = Fields::of(&config, At::Member(&root, "output_config"))?;
        effort = config.str("effort")?;
        format = config.object("format")?.or(format);
        drop_rest(config, request);
    }
    if let Some(format) = format {
        read_format(&format, At::Member(&root, "output_config"), request)?;
    }
    let Some(thinking) = fields.object("thinking")? else {
        request.reasoning = effort.map(Reasoning::Effort);
        return Ok(());
    };
    let at = At::Member(&root, "thinking");
    let mut thinking = Fields::of(&thinking, at)?;
    let kind = thinking.need_str("type")?;
    request.reasoning = Some(match &*kind.decoded() {
        "enabled" => {
            let tokens = thinking
                .u64("budget_tokens")?
                .ok_or_else(|| at.missing("budget_tokens", "a whole number"))?;
            if effort.is_some() {
                request.report.dropped("output_config");
            }
            Reasoning::Budget(tokens)
        }
        "disabled" => {
            if effort.is_some() {
                request.report.dropped("output_config");
            }
            Reasoning::Effort(Str::plain("none"))
        }
        "adaptive" => effort.map_or(Reasoning::Dynamic, Reasoning::Effort),
        _ => {
            let at = At::Member(&at, "type");
            return Err(at.invalid("expected \"enabled\", \"disabled\" or \"adaptive\""));
        }
    });
    drop_rest(thinking, request);
    Ok(())
}

fn read_format<'a>(
    format: &Value<'a>,
    at: At<'_>,
    request: &mut Request<'a>,
) -> Result<(), Rejected> {
    let at = At::Member(&at, "format");
    let mut fields = Fields::of(format, at)?;
    if !fields.need_str("type")?.is("json_schema") {
        return Err(At::Member(&at, "type").invalid("expected \"json_schema\""));
    }
    let schema = fields
        .object("schema")?
        .ok_or_else(|| at.missing("schema", "an object"))?;
    drop_rest(fields, request);
    request.format = Some(Format::JsonSchema(JsonSchema {
        name: None,
        description: None,
        schema: Some(json(&schema)),
        strict: Some(true),
    }));
    Ok(())
}

fn read_sampling<'a>(
    fields: &mut Fields<'a, '_>,
    request: &mut Request<'a>,
) -> Result<(), Rejected> {
    let root = At::Root;
    if let Some(stops) = fields.array("stop_sequences")? {
        let at = At::Member(&root, "stop_sequences");
        for (index, stop) in stops.elements().enumerate() {
            let wrong = || At::Element(&at, index).wrong(&stop, "a string");
            request.stop.push(Str::of(&stop).ok_or_else(wrong)?);
        }
    }
    for name in ["temperature", "top_p", "top_k"] {
        if let Some(value) = fields.take(name) {
            if value.kind() != Kind::Number {
                return Err(At::Member(&root, name).wrong(&value, "a number"));
            }
            push(request, name, json(&value));
        }
    }
    if let Some(metadata) = fields.object("metadata")? {
        let mut metadata = Fields::of(&metadata, At::Member(&root, "metadata"))?;
        if let Some(user) = metadata.str("user_id")? {
            let mut quoted = String::new();
            user.quote_into(&mut quoted);
            push(request, "user", quoted.into());
        }
        if !metadata.rest().is_empty() {
            request.report.dropped("metadata");
        }
    }
    match fields.str("service_tier")? {
        Some(tier) if tier.is("auto") => push(request, "service_tier", r#""auto""#.into()),
        Some(tier) if tier.is("standard_only") => {
            push(request, "service_tier", r#""default""#.into());
        }
        Some(_) => request.report.dropped("service_tier"),
        None => {}
    }
    Ok(())
}

fn push<'a>(request: &mut Request<'a>, name: &'static str, value: Json<'a>) {
    request.params.push(Param { name, value });
}
