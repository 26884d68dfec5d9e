//! Messages of requests.

use onwards_json::{Kind, Value};

use super::tools::only_functions;
use crate::failure::Rejected;
use crate::fidelity::Report;
use crate::read::{At, Fields};
use crate::request::{
    Arguments, Message, Part, PartKind, Request, Role, Source, State, Thinking, ToolCall,
    ToolResult,
};
use crate::text::{Str, json};
use crate::{Family, data_uri};

/// Calls by the old `function_call`, which have no ids: (name, the id they are given).
type Legacy<'a> = Vec<(Str<'a>, String)>;

/// Reads the messages in the order given.
pub(super) fn read<'a>(
    messages: &Value<'a>,
    at: &At<'_>,
    request: &mut Request<'a>,
) -> Result<(), Rejected> {
    let mut legacy = Legacy::new();
    for (index, message) in messages.elements().enumerate() {
        let fields = Fields::of(&message, At::Element(at, index))?;
        let message = read_message(fields, index, &mut legacy, request)?;
        request.messages.push(message);
    }
    Ok(())
}

fn read_message<'a>(
    mut fields: Fields<'a, '_>,
    index: usize,
    legacy: &mut Legacy<'a>,
    request: &mut Request<'a>,
) -> Result<Message<'a>, Rejected> {
    let report = &mut request.report;
    let role = fields.need_str("role")?;
    let role = match &*role.decoded() {
        "system" => Role::System,
        "developer" => Role::Developer,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" => Role::Tool,
        "function" => return read_function_result(fields, index, legacy, report),
        _ => {
            let roles = "expected `system`, `developer`, `user`, `assistant`, `tool` or `function`";
            return Err(At::Member(&fields.at, "role").invalid(roles));
        }
    };
    let cache = fields.json("cache_control");
    let (content, bare) = read_content(&mut fields, report)?;
    let mut message = Message::new(role, Vec::new());
    message.bare = bare;
    message.name = fields.str("name")?;
    match role {
        Role::Tool => {
            let result = ToolResult {
                id: fields.str("tool_call_id")?,
                name: message.name.take(),
                content,
                bare,
                json: None,
                is_error: false,
            };
            message.parts.push(Part::new(PartKind::ToolResult(result)));
        }
        Role::Assistant => {
            message.parts = read_thoughts(&mut fields, report)?;
            message.parts.extend(content);
            if let Some(refusal) = fields.str("refusal")? {
                message.parts.push(Part::new(PartKind::Refusal(refusal)));
            }
            // The signature of the text stands behind it as a thought without a text.
            if let Some(state) = read_extra(&mut fields, report) {
                let state = Some(state);
                let thinking = Thinking { text: None, state };
                message.parts.push(Part::new(PartKind::Thinking(thinking)));
            }
            read_calls(
                &mut fields,
                &mut message.parts,
                &mut request.native_only,
                report,
            )?;
            let call = read_function_call(&mut fields, index, legacy, report)?;
            message.parts.extend(call);
        }
        _ => message.parts = content,
    }
    if let (Some(cache), Some(last)) = (cache, message.parts.last_mut()) {
        last.cache.get_or_insert(cache);
    }
    message.unknown = fields.rest();
    Ok(message)
}

fn read_content<'a>(
    fields: &mut Fields<'a, '_>,
    report: &mut Report,
) -> Result<(Vec<Part<'a>>, bool), Rejected> {
    let Some(content) = fields.take("content") else {
        return Ok((Vec::new(), false));
    };
    let at = At::Member(&fields.at, "content");
    if let Some(text) = Str::of(&content) {
        return Ok((vec![Part::new(PartKind::Text(text))], true));
    }
    if content.kind() != Kind::Array {
        return Err(at.wrong(&content, "a string or an array of parts"));
    }
    let parts = content
        .elements()
        .enumerate()
        .map(|(index, part)| read_part(&part, At::Element(&at, index), report));
    Ok((parts.collect::<Result<_, _>>()?, false))
}

fn read_part<'a>(value: &Value<'a>, at: At<'_>, report: &mut Report) -> Result<Part<'a>, Rejected> {
    let mut fields = Fields::of(value, at)?;
    let word = fields.need_str("type")?;
    let kind = match &*word.decoded() {
        "text" => PartKind::Text(fields.need_str("text")?),
        "refusal" => PartKind::Refusal(fields.need_str("refusal")?),
        "image_url" => read_image(&mut fields, report)?,
        "file" => read_file(&mut fields, report)?,
        _ => {
            let json = json(value);
            return Ok(Part::new(PartKind::Other { kind: word, json }));
        }
    };
    let cache = fields.json("cache_control");
    fields.drop_rest(&[], report);
    let at = None;
    Ok(Part { kind, cache, at })
}

fn read_image<'a>(
    fields: &mut Fields<'a, '_>,
    report: &mut Report,
) -> Result<PartKind<'a>, Rejected> {
    let above = fields.at;
    let at = At::Member(&above, "image_url");
    let image = fields
        .take("image_url")
        .ok_or_else(|| above.missing("image_url", "an object"))?;
    // Some clients write the address alone.
    if let Some(url) = Str::of(&image) {
        let source = read_source(url, at)?;
        return Ok(PartKind::Image {
            source,
            detail: None,
        });
    }
    let mut image = Fields::of(&image, at)?;
    let url = image.need_str("url")?;
    let part = PartKind::Image {
        source: read_source(url, At::Member(&at, "url"))?,
        detail: image.str("detail")?,
    };
    image.drop_rest(&[], report);
    Ok(part)
}

fn read_file<'a>(
    fields: &mut Fields<'a, '_>,
    report: &mut Report,
) -> Result<PartKind<'a>, Rejected> {
    let above = fields.at;
    let at = At::Member(&above, "file");
    let file = fields
        .object("file")?
        .ok_or_else(|| above.missing("file", "an object"))?;
    let mut file = Fields::of(&file, at)?;
    let name = file.str("filename")?;
    let source = match (file.str("file_data")?, file.str("file_id")?) {
        (Some(data), _) => read_source(data, At::Member(&at, "file_data"))?,
        (None, Some(id)) => Source::Id(id),
        (None, None) => return Err(at.missing("file_data", "a string")),
    };
    file.drop_rest(&[], report);
    Ok(PartKind::File { source, name })
}

/// An address, a `data:` address, or base64 alone, as some clients write documents.
fn read_source<'a>(url: Str<'a>, at: At<'_>) -> Result<Source<'a>, Rejected> {
    match data_uri::read(&url) {
        Some(source) => source.map_err(|why| at.invalid(why)),
        None if url.decoded().contains(':') => Ok(Source::Url(url)),
        None => {
            let data = url.decoded();
            let base64 = data_uri::standard(&data).map_err(|why| at.invalid(why))?;
            let mime = data_uri::sniff(&base64).unwrap_or("application/octet-stream");
            Ok(Source::Data {
                mime: Str::plain(mime),
                base64: Str::owned(base64),
            })
        }
    }
}

/// What clients send back of the model's thoughts: blocks with their signatures, or else the text alone.
fn read_thoughts<'a>(
    fields: &mut Fields<'a, '_>,
    report: &mut Report,
) -> Result<Vec<Part<'a>>, Rejected> {
    let mut parts = Vec::new();
    if let Some(blocks) = fields.array("thinking_blocks")? {
        let at = At::Member(&fields.at, "thinking_blocks");
        for (index, block) in blocks.elements().enumerate() {
            let mut block = Fields::of(&block, At::Element(&at, index))?;
            let kind = block.need_str("type")?;
            let (text, data) = if kind.is("redacted_thinking") {
                (None, block.str("data")?)
            } else {
                (block.str("thinking")?, block.str("signature")?)
            };
            block.drop_rest(&[], report);
            let state = data.filter(|data| !data.is_empty()).map(|data| State {
                family: Family::Anthropic,
                data,
            });
            parts.push(Part::new(PartKind::Thinking(Thinking { text, state })));
        }
    }
    let text = fields
        .str("reasoning_content")?
        .filter(|text| !text.is_empty());
    if let (Some(text), true) = (text, parts.is_empty()) {
        parts.push(Part::new(PartKind::Thinking(Thinking {
            text: Some(text),
            state: None,
        })));
    }
    Ok(parts)
}

fn read_calls<'a>(
    fields: &mut Fields<'a, '_>,
    parts: &mut Vec<Part<'a>>,
    native_only: &mut Option<Rejected>,
    report: &mut Report,
) -> Result<(), Rejected> {
    let Some(calls) = fields.array("tool_calls")? else {
        return Ok(());
    };
    let at = At::Member(&fields.at, "tool_calls");
    for (index, call) in calls.elements().enumerate() {
        let at = At::Element(&at, index);
        let mut call = Fields::of(&call, at)?;
        if call.str("type")?.is_some_and(|kind| !kind.is("function")) {
            native_only.get_or_insert(only_functions(&at));
            continue;
        }
        let function = call
            .object("function")?
            .ok_or_else(|| at.missing("function", "an object"))?;
        let mut function = Fields::of(&function, At::Member(&at, "function"))?;
        parts.push(Part::new(PartKind::ToolCall(ToolCall {
            id: call.str("id")?.filter(|id| !id.is_empty()),
            name: function.need_str("name")?,
            arguments: read_arguments(&mut function)?,
            state: read_extra(&mut call, report),
        })));
        function.drop_rest(&[], report);
        // Clients that keep what a stream said send its numbers too.
        call.drop_rest(&["index"], report);
    }
    Ok(())
}

/// The signature in `extra_content`. Nothing else there is known to anybody.
fn read_extra<'a>(fields: &mut Fields<'a, '_>, report: &mut Report) -> Option<State<'a>> {
    let extra = fields.take("extra_content")?;
    let state = signature(&extra);
    let alone = |value: &Value<'a>| value.members().nth(1).is_none();
    let within = extra.members().all(|member| alone(&member.value()));
    if !(alone(&extra) && within && state.is_some()) {
        report.dropped("extra_content");
    }
    state
}

/// The signature in `extra_content.google.thought_signature`.
pub(super) fn signature<'a>(extra: &Value<'a>) -> Option<State<'a>> {
    let member = |value: &Value<'a>, name: &str| {
        value
            .members()
            .find(|member| member.is(name))
            .map(|member| member.value())
    };
    let data = Str::of(&member(&member(extra, "google")?, "thought_signature")?)?;
    Some(State {
        family: Family::Google,
        data,
    })
}

fn read_arguments<'a>(function: &mut Fields<'a, '_>) -> Result<Arguments<'a>, Rejected> {
    Ok(match function.take("arguments") {
        None => Arguments::Text(Str::plain("")),
        Some(value) => match (Str::of(&value), value.kind()) {
            (Some(text), _) => Arguments::Text(text),
            (None, Kind::Object) => Arguments::Value(json(&value)),
            _ => return Err(At::Member(&function.at, "arguments").wrong(&value, "a string")),
        },
    })
}

fn read_function_call<'a>(
    fields: &mut Fields<'a, '_>,
    index: usize,
    legacy: &mut Legacy<'a>,
    report: &mut Report,
) -> Result<Option<Part<'a>>, Rejected> {
    let Some(call) = fields.object("function_call")? else {
        return Ok(None);
    };
    let mut call = Fields::of(&call, At::Member(&fields.at, "function_call"))?;
    let name = call.need_str("name")?;
    let id = format!("call_fn_{index}");
    legacy.push((name.clone(), id.clone()));
    let part = Part::new(PartKind::ToolCall(ToolCall {
        id: Some(Str::owned(id)),
        name,
        arguments: read_arguments(&mut call)?,
        state: None,
    }));
    call.drop_rest(&[], report);
    Ok(Some(part))
}

/// The old message of role `function`: it answers the last call of that name, or else the last one.
fn read_function_result<'a>(
    mut fields: Fields<'a, '_>,
    index: usize,
    legacy: &Legacy<'a>,
    report: &mut Report,
) -> Result<Message<'a>, Rejected> {
    let name = fields.str("name")?;
    let (content, bare) = read_content(&mut fields, report)?;
    let same = legacy
        .iter()
        .rev()
        .find(|(called, _)| Some(called) == name.as_ref());
    let id = same
        .or_else(|| legacy.last())
        .map_or_else(|| format!("call_fn_{index}"), |(_, id)| id.clone());
    let result = ToolResult {
        id: Some(Str::owned(id)),
        name,
        content,
        bare,
        json: None,
        is_error: false,
    };
    let mut message = Message::new(Role::Tool, vec![Part::new(PartKind::ToolResult(result))]);
    message.unknown = fields.rest();
    Ok(message)
}
