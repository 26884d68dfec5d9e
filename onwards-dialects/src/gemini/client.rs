//! Requests of clients (spec providers 4.3). Names are read in camelCase and in snake_case, as Google's servers do.

mod calls;
mod config;
mod contents;
mod media;
mod tools;

use onwards_json::{Kind, Scanner, Value};

use crate::Protocol;
use crate::failure::Rejected;
use crate::read::{At, Fields};
use crate::request::{Message, Part, PartKind, Request, Role};
use crate::text::{Json, Str, json};

pub(super) use media::is_kept;

/// What stands before the names of members of `generationConfig` that nobody here knows.
pub(super) const CONFIG: &str = "generationConfig.";

/// Reads a generateContent request. Whether it wants a stream stands in its path.
///
/// # Errors
/// For what is not JSON, and for members that are not what Gemini says.
pub(crate) fn read_request(body: &[u8]) -> Result<Request<'_>, Rejected> {
    request(&whole(body)?, At::Root)
}

/// Reads a countTokens request: `contents`, perhaps beside the other members, or a whole request within.
///
/// # Errors
/// As [`read_request`].
pub(crate) fn read_count_request(body: &[u8]) -> Result<Request<'_>, Rejected> {
    let root = whole(body)?;
    let mut fields = Fields::of(&root, At::Root)?;
    let within = both(
        &mut fields,
        ["generateContentRequest", "generate_content_request"],
        Fields::object,
    )?;
    match within {
        Some(within) => request(&within, At::Member(&At::Root, "generateContentRequest")),
        None => request(&root, At::Root),
    }
}

fn whole(body: &[u8]) -> Result<Value<'_>, Rejected> {
    let not_json = |_| Rejected::new("invalid_json", None, "the body is not JSON");
    let mut scanner = Scanner::new(body).map_err(not_json)?;
    let whole = scanner.skip().map_err(not_json)?;
    scanner.finish().map_err(not_json)?;
    Ok(whole)
}

fn request<'a>(value: &Value<'a>, at: At<'_>) -> Result<Request<'a>, Rejected> {
    let mut fields = Fields::of(value, at)?;
    let mut request = Request {
        protocol: Some(Protocol::GenerateContent),
        ..Request::default()
    };
    fields.take("model");
    if let Some(system) = fields.either(&["systemInstruction", "system_instruction"]) {
        system_instruction(&system, At::Member(&at, "systemInstruction"), &mut request)?;
    }
    let contents = fields
        .take("contents")
        .ok_or_else(|| at.missing("contents", "an array"))?;
    contents::read(&contents, At::Member(&at, "contents"), &mut request)?;
    if let Some(tools) = fields.take("tools") {
        tools::read(&tools, At::Member(&at, "tools"), &mut request)?;
    }
    if let Some(choice) = both(&mut fields, ["toolConfig", "tool_config"], Fields::object)? {
        tools::choice(&choice, At::Member(&at, "toolConfig"), &mut request)?;
    }
    let config = both(
        &mut fields,
        ["generationConfig", "generation_config"],
        Fields::object,
    )?;
    if let Some(config) = config {
        config::read(&config, At::Member(&at, "generationConfig"), &mut request)?;
    }
    if let Some(name) = fields.either(&["cachedContent", "cached_content"])
        && !Str::of(&name).is_some_and(|name| name.is_empty())
    {
        let pointer = At::Member(&at, "cachedContent").pointer();
        request.native_only.get_or_insert(Rejected::new(
            "unsupported_parameter",
            Some(pointer.clone()),
            format!("{pointer}: content that a provider keeps is known to that provider alone"),
        ));
    }
    if let Some(settings) = fields.either(&["safetySettings", "safety_settings"]) {
        let settings = (Str::plain("safetySettings"), json(&settings));
        request.unknown.push(settings);
    }
    request.unknown.extend(fields.rest());
    Ok(request)
}

/// Each part is a system message. Some clients give the text alone.
fn system_instruction<'a>(
    system: &Value<'a>,
    at: At<'_>,
    request: &mut Request<'a>,
) -> Result<(), Rejected> {
    if let Some(text) = Str::of(system) {
        request.messages.push(Message::text(Role::System, text));
        return Ok(());
    }
    let mut fields = Fields::of(system, at)?;
    let at = At::Member(&at, "parts");
    for (index, part) in listed(fields.take("parts"), at)?.into_iter().enumerate() {
        let at = At::Element(&at, index);
        let mut part = Fields::of(&part, at)?;
        let text = part.need_str("text")?;
        part.drop_rest(&[], &mut request.report);
        request.messages.push(Message::text(Role::System, text));
    }
    // Whoever speaks, it is the system.
    fields.drop_rest(&["role"], &mut request.report);
    Ok(())
}

/// A member under either of its names; the first counts where both are there.
fn both<'a, 'p, T>(
    fields: &mut Fields<'a, 'p>,
    names: [&'static str; 2],
    take: impl Fn(&mut Fields<'a, 'p>, &'static str) -> Result<Option<T>, Rejected>,
) -> Result<Option<T>, Rejected> {
    let [camel, snake] = names;
    let other = take(fields, snake)?;
    Ok(take(fields, camel)?.or(other))
}

/// The elements of a list, which may be given as its only element.
fn listed<'a>(value: Option<Value<'a>>, at: At<'_>) -> Result<Vec<Value<'a>>, Rejected> {
    match value {
        None => Ok(Vec::new()),
        Some(list) => match list.kind() {
            Kind::Array => Ok(list.elements().collect()),
            Kind::Object => Ok(vec![list]),
            _ => Err(at.wrong(&list, "an array")),
        },
    }
}

/// A part in the shape of Chat Completions, for what only some providers know.
fn other<'a>(kind: &'static str, json: impl Into<Json<'a>>) -> Part<'a> {
    Part::new(PartKind::Other {
        kind: Str::plain(kind),
        json: json.into(),
    })
}

#[cfg(test)]
mod tests;
