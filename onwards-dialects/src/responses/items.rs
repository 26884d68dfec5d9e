//! Items of `input`, read into messages.

use onwards_json::{Kind, Value};

use super::read::refuse;
use crate::data_uri;
use crate::failure::Rejected;
use crate::fidelity::Report;
use crate::read::{At, Fields};
use crate::request::{
    Arguments, Message, Part, PartKind, Place, Request, Role, Source, ToolCall, ToolResult, Within,
};
use crate::text::{Str, json};

/// What items of an answer say of themselves, and clients send back: nothing that a model is told.
const OF_ANSWERS: &[&str] = &["id", "status"];

/// Reads an item. Consecutive items of one answer of the model become one message.
pub(super) fn read<'a>(
    item: &Value<'a>,
    at: At<'_>,
    number: usize,
    request: &mut Request<'a>,
) -> Result<(), Rejected> {
    let mut fields = Fields::of(item, at)?;
    let kind = fields.str("type")?.unwrap_or(Str::plain("message"));
    match &*kind.decoded() {
        "message" => {
            message(&mut fields, number, request)?;
            fields.drop_rest(OF_ANSWERS, &mut request.report);
            Ok(())
        }
        "function_call" => {
            let call = PartKind::ToolCall(ToolCall {
                id: fields.str("call_id")?,
                name: fields.need_str("name")?,
                arguments: Arguments::Text(fields.str("arguments")?.unwrap_or(Str::plain(""))),
                state: None,
            });
            join(&mut request.messages, Part::new(call));
            fields.drop_rest(OF_ANSWERS, &mut request.report);
            Ok(())
        }
        "function_call_output" => {
            let result = PartKind::ToolResult(result(&mut fields, number, &mut request.report)?);
            fields.drop_rest(OF_ANSWERS, &mut request.report);
            let message = Message::new(Role::Tool, vec![Part::new(result)]);
            request.messages.push(message);
            Ok(())
        }
        // What a model has encrypted only that model can read, and summaries are no part of a conversation.
        "reasoning" => {
            request.report.dropped("reasoning_content");
            Ok(())
        }
        "item_reference" => {
            let why = "items are not stored, send the item itself";
            refuse(request, "input", &at.pointer(), why);
            Ok(())
        }
        _ => {
            let why = "expected a message, a function call or its output";
            refuse(request, "input", &at.pointer(), why);
            Ok(())
        }
    }
}

/// Adds to the model's turn, which is begun if the last message is somebody else's.
fn join<'a>(messages: &mut Vec<Message<'a>>, part: Part<'a>) {
    match messages.last_mut() {
        Some(last) if last.role == Role::Assistant => {
            last.bare = false;
            last.parts.push(part);
        }
        _ => messages.push(Message::new(Role::Assistant, vec![part])),
    }
}

fn message<'a>(
    fields: &mut Fields<'a, '_>,
    number: usize,
    request: &mut Request<'a>,
) -> Result<(), Rejected> {
    let role = match &*fields.need_str("role")?.decoded() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" => Role::System,
        "developer" => Role::Developer,
        _ => {
            return Err(At::Member(&fields.at, "role")
                .invalid("expected `user`, `assistant`, `system` or `developer`"));
        }
    };
    let Some(content) = fields.take("content") else {
        return Err(fields
            .at
            .missing("content", "a string or an array of parts"));
    };
    let message = match Str::of(&content) {
        Some(text) => Message::text(role, text),
        None => {
            let at = At::Member(&fields.at, "content");
            let within = (Within::Item, number);
            let parts = parts(&content, at, within, &mut request.report)?;
            Message::new(role, parts)
        }
    };
    let calls = request.messages.last().is_some_and(|last| {
        role == Role::Assistant
            && last.role == role
            && last.parts.iter().any(|part| !is_said(&part.kind))
    });
    if calls {
        for part in message.parts {
            join(&mut request.messages, part);
        }
    } else {
        request.messages.push(message);
    }
    Ok(())
}

fn is_said(part: &PartKind<'_>) -> bool {
    matches!(part, PartKind::Text(_) | PartKind::Refusal(_))
}

fn result<'a>(
    fields: &mut Fields<'a, '_>,
    number: usize,
    report: &mut Report,
) -> Result<ToolResult<'a>, Rejected> {
    let (content, bare) = match fields.take("output") {
        None => (Vec::new(), true),
        Some(output) => match Str::of(&output) {
            Some(text) => (vec![Part::new(PartKind::Text(text))], true),
            None => {
                let at = At::Member(&fields.at, "output");
                (parts(&output, at, (Within::Result, number), report)?, false)
            }
        },
    };
    Ok(ToolResult {
        id: fields.str("call_id")?,
        name: fields.str("name")?,
        content,
        bare,
        json: None,
        is_error: false,
    })
}

fn parts<'a>(
    list: &Value<'a>,
    at: At<'_>,
    (within, number): (Within, usize),
    report: &mut Report,
) -> Result<Vec<Part<'a>>, Rejected> {
    if list.kind() != Kind::Array {
        return Err(at.wrong(list, "a string or an array of parts"));
    }
    list.elements()
        .enumerate()
        .map(|(index, part)| {
            let part = Part::new(self::part(&part, At::Element(&at, index), report)?);
            Ok(part.placed(Place::new(within, number, index)))
        })
        .collect()
}

fn part<'a>(part: &Value<'a>, at: At<'_>, report: &mut Report) -> Result<PartKind<'a>, Rejected> {
    let mut fields = Fields::of(part, at)?;
    let kind = fields.need_str("type")?;
    let read = match &*kind.decoded() {
        "input_text" | "output_text" | "text" => PartKind::Text(fields.need_str("text")?),
        "refusal" => PartKind::Refusal(fields.need_str("refusal")?),
        "input_image" => PartKind::Image {
            source: image(&mut fields)?,
            detail: fields.str("detail")?,
        },
        "input_file" => PartKind::File {
            source: file(&mut fields)?,
            name: fields.str("filename")?,
        },
        "input_audio" => {
            return Ok(PartKind::Other {
                kind: Str::plain("input_audio"),
                json: json(part),
            });
        }
        _ => return Err(Rejected::content(&at.pointer(), "parts of this type")),
    };
    for (name, value) in fields.rest() {
        // Texts of answers have lists that are empty as a rule.
        if &*value != "[]" {
            report.dropped(&name.decoded());
        }
    }
    Ok(read)
}

fn image<'a>(fields: &mut Fields<'a, '_>) -> Result<Source<'a>, Rejected> {
    if let Some(address) = fields.str("image_url")? {
        let at = At::Member(&fields.at, "image_url");
        return match data_uri::read(&address) {
            None => Ok(Source::Url(address)),
            Some(read) => read.map_err(|why| at.invalid(why)),
        };
    }
    match fields.str("file_id")? {
        Some(id) => Ok(Source::Id(id)),
        None => Err(fields.at.missing("image_url", "a string")),
    }
}

fn file<'a>(fields: &mut Fields<'a, '_>) -> Result<Source<'a>, Rejected> {
    if let Some(data) = fields.str("file_data")? {
        let at = At::Member(&fields.at, "file_data");
        let read = data_uri::read(&data).unwrap_or_else(|| bytes(&data));
        return read.map_err(|why| at.invalid(why));
    }
    if let Some(address) = fields.str("file_url")? {
        return Ok(Source::Url(address));
    }
    match fields.str("file_id")? {
        Some(id) => Ok(Source::Id(id)),
        None => Err(fields.at.missing("file_data", "a string")),
    }
}

/// A document as base64 alone. What kind it is only its first bytes can tell; else it passes for a PDF, which the API takes by
/// default.
fn bytes<'a>(data: &Str<'a>) -> Result<Source<'a>, &'static str> {
    let base64 = match data.borrowed() {
        Some(text) => match data_uri::standard(text)? {
            std::borrow::Cow::Borrowed(base64) => Str::plain(base64),
            std::borrow::Cow::Owned(base64) => Str::owned(base64),
        },
        None => Str::owned(data_uri::standard(&data.decoded())?.into_owned()),
    };
    let mime = data_uri::sniff(&base64.decoded()).unwrap_or("application/pdf");
    Ok(Source::Data {
        mime: Str::plain(mime),
        base64,
    })
}
