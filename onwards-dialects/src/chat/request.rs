//! Requests of clients.

use onwards_json::{Kind, Value};

use super::{message, tools};
use crate::Protocol;
use crate::failure::Rejected;
use crate::fidelity::Report;
use crate::read::{At, Fields};
use crate::request::{Format, JsonSchema, MaxTokens, Param, Reasoning, Request};
use crate::text::{Str, json};

/// Members that are passed on as they are, and what they have to be.
const PARAMS: [(&str, Kind); 21] = [
    ("temperature", Kind::Number),
    ("top_p", Kind::Number),
    ("top_k", Kind::Number),
    ("n", Kind::Number),
    ("seed", Kind::Number),
    ("presence_penalty", Kind::Number),
    ("frequency_penalty", Kind::Number),
    ("logprobs", Kind::Bool),
    ("top_logprobs", Kind::Number),
    ("logit_bias", Kind::Object),
    ("user", Kind::String),
    ("safety_identifier", Kind::String),
    ("metadata", Kind::Object),
    ("service_tier", Kind::String),
    ("store", Kind::Bool),
    ("prediction", Kind::Object),
    ("verbosity", Kind::String),
    ("prompt_cache_key", Kind::String),
    ("web_search_options", Kind::Object),
    ("modalities", Kind::Array),
    ("audio", Kind::Object),
];

/// Reads a request.
///
/// # Errors
/// For what is not JSON, and for members that are not what Chat Completions says.
pub(crate) fn read_request(body: &[u8]) -> Result<Request<'_>, Rejected> {
    let not_json = || Rejected::new("invalid_json", None, "the body is not JSON");
    let mut scanner = onwards_json::Scanner::new(body).map_err(|_| not_json())?;
    let whole = scanner.skip().map_err(|_| not_json())?;
    scanner.finish().map_err(|_| not_json())?;

    let root = At::Root;
    let mut fields = Fields::of(&whole, root)?;
    let mut request = Request {
        protocol: Some(Protocol::Chat),
        ..Request::default()
    };
    fields.take("model");
    let messages = fields
        .array("messages")?
        .ok_or_else(|| root.missing("messages", "an array"))?;
    message::read(&messages, &At::Member(&root, "messages"), &mut request)?;
    tools::read(&mut fields, &mut request)?;
    read_stream(&mut fields, &mut request)?;
    read_limits(&mut fields, &mut request)?;
    request.reasoning = fields.str("reasoning_effort")?.map(Reasoning::Effort);
    if let Some(format) = fields.object("response_format")? {
        let at = At::Member(&root, "response_format");
        match read_format(&format, &at, &mut request.report)? {
            Some(format) => request.format = Some(format),
            None => request
                .unknown
                .push((Str::plain("response_format"), json(&format))),
        }
    }
    for (name, kind) in PARAMS {
        if let Some(value) = fields.json_of(name, kind)? {
            request.params.push(Param { name, value });
        }
    }
    request.unknown.extend(fields.rest());
    Ok(request)
}

fn read_stream<'a>(fields: &mut Fields<'a, '_>, request: &mut Request<'a>) -> Result<(), Rejected> {
    request.stream = fields.bool("stream")?.unwrap_or_default();
    if let Some(options) = fields.object("stream_options")? {
        let mut options = Fields::of(&options, At::Member(&At::Root, "stream_options"))?;
        request.include_usage = options.bool("include_usage")?.unwrap_or_default();
        // No frame of ours is padded, so asking for none is granted.
        if options.bool("include_obfuscation")? == Some(true) {
            request.report.dropped("include_obfuscation");
        }
        for (name, _) in options.rest() {
            request.report.dropped(&name.decoded());
        }
    }
    Ok(())
}

fn read_limits<'a>(fields: &mut Fields<'a, '_>, request: &mut Request<'a>) -> Result<(), Rejected> {
    let old = fields.u64("max_tokens")?;
    let new = fields.u64("max_completion_tokens")?;
    if old.is_some_and(|old| new.is_some_and(|new| new != old)) {
        request.report.dropped("max_tokens");
    }
    let limit = |tokens, spelling| MaxTokens {
        tokens,
        spelling: Some(spelling),
    };
    request.max_tokens = new
        .map(|tokens| limit(tokens, "max_completion_tokens"))
        .or_else(|| old.map(|tokens| limit(tokens, "max_tokens")));
    if let Some(stop) = fields.take("stop") {
        request.stop = read_stop(&stop)?;
    }
    Ok(())
}

fn read_stop<'a>(stop: &Value<'a>) -> Result<Vec<Str<'a>>, Rejected> {
    let at = At::Member(&At::Root, "stop");
    match stop.kind() {
        Kind::String => Ok(Str::of(stop).into_iter().collect()),
        Kind::Array => stop
            .elements()
            .enumerate()
            .map(|(index, one)| {
                Str::of(&one).ok_or_else(|| At::Element(&at, index).wrong(&one, "a string"))
            })
            .collect(),
        _ => Err(at.wrong(stop, "a string or an array of strings")),
    }
}

/// `None` for a kind of format that only some servers know.
fn read_format<'a>(
    value: &Value<'a>,
    at: &At<'_>,
    report: &mut Report,
) -> Result<Option<Format<'a>>, Rejected> {
    let mut format = Fields::of(value, *at)?;
    let kind = format.need_str("type")?;
    let read = match &*kind.decoded() {
        "text" => Format::Text,
        "json_object" => Format::JsonObject,
        "json_schema" => {
            let schema = format
                .object("json_schema")?
                .ok_or_else(|| at.missing("json_schema", "an object"))?;
            let mut schema = Fields::of(&schema, At::Member(at, "json_schema"))?;
            let format = JsonSchema {
                name: schema.str("name")?,
                description: schema.str("description")?,
                schema: schema.object("schema")?.map(|schema| json(&schema)),
                strict: schema.bool("strict")?,
            };
            schema.drop_rest(&[], report);
            Format::JsonSchema(format)
        }
        _ => return Ok(None),
    };
    format.drop_rest(&[], report);
    Ok(Some(read))
}
