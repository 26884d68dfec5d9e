//! Messages of requests to providers.

use super::answer::{is_block, write_arguments, write_block, write_data, write_signature};
use super::send::Sender;
use crate::Family;
use crate::conversation::media;
use crate::failure::Rejected;
use crate::fidelity::Change;
use crate::options::ImageUrls;
use crate::request::{Message, Part, PartKind, Role, Source, ToolCall, ToolResult};
use crate::text::{Str, compact};
use crate::write::{Arr, Obj};

/// Pictures that came in results of tools: a message of the person's own, since results are text here.
type Pictures<'s> = Vec<(usize, usize, &'s Part<'s>)>;

/// Writes the member `messages`.
pub(super) fn write(sender: &mut Sender<'_>, o: &mut Obj<'_>) -> Result<(), Rejected> {
    let request = sender.request;
    o.array("messages", |list| {
        let mut pictures = Pictures::new();
        for (number, message) in request.messages.iter().enumerate() {
            if message.role != Role::Tool {
                write_pictures(sender, &mut pictures, list)?;
            }
            for part in &message.parts {
                if let (PartKind::ToolResult(result), false) = (&part.kind, sender.vendor) {
                    let found = result.content.iter().enumerate();
                    let found = found.filter(|(_, part)| !is_text(part));
                    pictures.extend(found.map(|(index, part)| (number, index, part)));
                }
            }
            list.object(|o| write_message(sender, number, message, o))?;
        }
        write_pictures(sender, &mut pictures, list)
    })
}

fn write_pictures(
    sender: &mut Sender<'_>,
    pictures: &mut Pictures<'_>,
    list: &mut Arr<'_>,
) -> Result<(), Rejected> {
    if pictures.is_empty() {
        return Ok(());
    }
    sender.report.note("tool_result_content", Change::Changed);
    list.object(|o| {
        o.text("role", "user");
        o.array("content", |list| {
            pictures.drain(..).try_for_each(|(message, index, part)| {
                list.object(|o| {
                    write_part(
                        sender,
                        &Place {
                            message,
                            index,
                            part,
                        },
                        o,
                    )
                })
            })
        })
    })
}

/// Where a part stands in the request.
struct Place<'p> {
    message: usize,
    index: usize,
    part: &'p Part<'p>,
}

impl Place<'_> {
    fn pointer(&self) -> String {
        crate::request::pointer(self.part, self.message, self.index)
    }
}

fn is_text(part: &Part<'_>) -> bool {
    matches!(part.kind, PartKind::Text(_))
}

fn write_message(
    sender: &mut Sender<'_>,
    number: usize,
    message: &Message<'_>,
    o: &mut Obj<'_>,
) -> Result<(), Rejected> {
    o.text(
        "role",
        match message.role {
            Role::System => "system",
            Role::Developer => "developer",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        },
    );
    if let Some(name) = &message.name {
        o.str("name", name);
    }
    match message.parts.first().map(|part| (&part.kind, part)) {
        Some((PartKind::ToolResult(result), part)) => {
            write_result(sender, number, result, part, o)?;
        }
        _ if message.role == Role::Assistant => write_assistant(sender, number, message, o)?,
        _ => {
            let parts: Vec<_> = message.parts.iter().enumerate().collect();
            write_content(sender, number, &parts, message.bare, o)?;
        }
    }
    sender.write_unknown(&message.unknown, o);
    Ok(())
}

/// Content as a string where the client wrote one, or where it is one text and the client speaks otherwise: not every server
/// takes lists everywhere.
fn write_content(
    sender: &mut Sender<'_>,
    message: usize,
    parts: &[(usize, &Part<'_>)],
    bare: bool,
    o: &mut Obj<'_>,
) -> Result<(), Rejected> {
    if let ([(_, only)], true) = (parts, bare || !sender.vendor)
        && let PartKind::Text(text) = &only.kind
        && (only.cache.is_none() || !sender.vendor)
    {
        if only.cache.is_some() {
            sender.report.dropped("cache_control");
        }
        o.str("content", text);
        return Ok(());
    }
    if parts.is_empty() {
        o.text("content", "");
        return Ok(());
    }
    o.array("content", |list| {
        parts.iter().try_for_each(|&(index, part)| {
            list.object(|o| {
                write_part(
                    sender,
                    &Place {
                        message,
                        index,
                        part,
                    },
                    o,
                )
            })
        })
    })
}

fn write_part(sender: &mut Sender<'_>, place: &Place<'_>, o: &mut Obj<'_>) -> Result<(), Rejected> {
    let part = place.part;
    match &part.kind {
        PartKind::Text(text) | PartKind::Refusal(text) => {
            o.text("type", "text");
            o.str("text", text);
        }
        PartKind::Image { source, detail } => {
            o.text("type", "image_url");
            o.object("image_url", |o| {
                write_source(sender, place, source, o.key("url"))?;
                if let Some(detail) = detail {
                    o.str("detail", detail);
                }
                Ok(())
            })?;
        }
        PartKind::File { source, name } => {
            o.text("type", "file");
            o.object("file", |o| {
                write_file(sender, place, source, name.as_ref(), o)
            })?;
        }
        PartKind::Other { kind, json } if sender.vendor || in_our_words(kind) => {
            let inside = json.trim().strip_prefix('{');
            let inside = inside.and_then(|rest| rest.strip_suffix('}'));
            o.more(inside.unwrap_or_default().trim());
        }
        PartKind::Other { kind, .. } => {
            let what = format!("a part of type `{}`", kind.decoded());
            return Err(Rejected::content(&place.pointer(), &what));
        }
        PartKind::Thinking(_) | PartKind::ToolCall(_) | PartKind::ToolResult(_) => {
            return Err(Rejected::content(&place.pointer(), "this part"));
        }
    }
    sender.write_cache(part.cache.as_deref(), o);
    Ok(())
}

/// True for parts that readers of other protocols put in the words of Chat Completions.
fn in_our_words(kind: &Str<'_>) -> bool {
    kind.is("input_audio") || kind.is("video_url")
}

/// An address, or the bytes as one.
fn write_source(
    sender: &Sender<'_>,
    place: &Place<'_>,
    source: &Source<'_>,
    out: &mut String,
) -> Result<(), Rejected> {
    let settings = sender.settings;
    match source {
        Source::Data { mime, base64 } => write_data(mime, base64, out),
        Source::Url(url) => {
            let forward = settings.options.image_urls == ImageUrls::Forward
                && (sender.vendor || media::is_web(url));
            if forward {
                url.quote_into(out);
            } else {
                let fetched = media::inline(source, &place.pointer(), settings, &[])?;
                write_data(&Str::plain(&fetched.mime), &fetched.base64, out);
            }
        }
        Source::Id(_) => return Err(Rejected::content(&place.pointer(), "a picture by its id")),
    }
    Ok(())
}

fn write_file(
    sender: &mut Sender<'_>,
    place: &Place<'_>,
    source: &Source<'_>,
    name: Option<&Str<'_>>,
    o: &mut Obj<'_>,
) -> Result<(), Rejected> {
    match source {
        // Ids of files are the provider's: those of other kinds say nothing here.
        Source::Id(id) if sender.same_files() => o.str("file_id", id),
        Source::Id(_) => return Err(Rejected::content(&place.pointer(), "a file by its id")),
        Source::Url(url) if sender.vendor => o.str("file_data", url),
        Source::Url(_) => {
            let fetched = media::inline(source, &place.pointer(), sender.settings, &[])?;
            let mime = Str::plain(&fetched.mime);
            write_data(&mime, &fetched.base64, o.key("file_data"));
        }
        Source::Data { mime, base64 } => write_data(mime, base64, o.key("file_data")),
    }
    match name {
        Some(name) => o.str("filename", name),
        None if sender.vendor || matches!(source, Source::Id(_)) => {}
        None => {
            sender.report.note("filename", Change::Added);
            o.text("filename", "document.pdf");
        }
    }
    Ok(())
}

fn write_result(
    sender: &mut Sender<'_>,
    number: usize,
    result: &ToolResult<'_>,
    part: &Part<'_>,
    o: &mut Obj<'_>,
) -> Result<(), Rejected> {
    match (&result.id, &result.name) {
        (Some(id), _) => o.str("tool_call_id", id),
        (None, _) if sender.vendor => {}
        (None, _) => {
            return Err(Rejected::new(
                "tool_call_id_missing",
                Some(format!("/messages/{number}")),
                format!("/messages/{number}: the result does not say which call it answers"),
            ));
        }
    }
    if let (Some(name), true) = (&result.name, sender.vendor) {
        o.str("name", name);
    }
    if result.is_error {
        sender.report.dropped("is_error");
    }
    if let (Some(json), true) = (&result.json, result.content.is_empty()) {
        o.text("content", &compact(json));
    } else {
        let parts = result.content.iter().enumerate();
        let parts: Vec<_> = parts
            .filter(|(_, part)| sender.vendor || is_text(part))
            .collect();
        write_content(sender, number, &parts, result.bare, o)?;
    }
    sender.write_cache(part.cache.as_deref(), o);
    Ok(())
}

fn write_assistant(
    sender: &mut Sender<'_>,
    number: usize,
    message: &Message<'_>,
    o: &mut Obj<'_>,
) -> Result<(), Rejected> {
    let said: Vec<_> = message
        .parts
        .iter()
        .enumerate()
        .filter(|(_, part)| {
            !matches!(
                part.kind,
                PartKind::Refusal(_) | PartKind::Thinking(_) | PartKind::ToolCall(_)
            )
        })
        .collect();
    if let Some((index, part)) = said
        .iter()
        .find(|(_, part)| !sender.vendor && !is_text(part))
    {
        let place = Place {
            message: number,
            index: *index,
            part,
        };
        return Err(Rejected::content(
            &place.pointer(),
            "what a model said that is not text",
        ));
    }
    let calls = || {
        message.parts.iter().filter_map(|part| match &part.kind {
            PartKind::ToolCall(call) => Some((call, part)),
            _ => None,
        })
    };
    let refused = message
        .parts
        .iter()
        .any(|part| matches!(part.kind, PartKind::Refusal(_)));
    if said.is_empty() && (refused || calls().next().is_some()) {
        o.null("content");
    } else {
        write_content(sender, number, &said, message.bare, o)?;
    }
    if refused {
        let out = o.key("refusal");
        out.push('"');
        for part in &message.parts {
            if let PartKind::Refusal(text) = &part.kind {
                text.escape_into(out);
            }
        }
        out.push('"');
    }
    write_thoughts(sender, message, o);
    if calls().next().is_some() {
        o.array("tool_calls", |list| {
            for (index, (call, part)) in calls().enumerate() {
                list.object(|o| {
                    write_call(sender, (number, index), call, o);
                    sender.write_cache(part.cache.as_deref(), o);
                });
            }
        });
    }
    Ok(())
}

fn write_call(
    sender: &mut Sender<'_>,
    (message, index): (usize, usize),
    call: &ToolCall<'_>,
    o: &mut Obj<'_>,
) {
    match &call.id {
        Some(id) => o.str("id", id),
        None => o.text("id", &format!("call_{message}_{index}")),
    }
    o.text("type", "function");
    o.object("function", |o| {
        o.str("name", &sender.names.sent(&call.name));
        write_arguments(&call.arguments, o.key("arguments"));
    });
    match &call.state {
        Some(state) if sender.vendor => write_signature(state, o),
        Some(_) => sender.report.dropped("thought_signature"),
        None => {}
    }
}

/// Thoughts go back only where the client got them from a server of this dialect.
fn write_thoughts(sender: &mut Sender<'_>, message: &Message<'_>, o: &mut Obj<'_>) {
    let thoughts = || {
        message.parts.iter().filter_map(|part| match &part.kind {
            PartKind::Thinking(thinking) => Some(thinking),
            _ => None,
        })
    };
    if !sender.vendor {
        for thinking in thoughts() {
            sender.report.dropped(match thinking.state {
                Some(_) => "thinking_blocks",
                None => "reasoning_content",
            });
        }
        return;
    }
    let texts = || thoughts().filter_map(|thinking| thinking.text.as_ref());
    if texts().next().is_some() {
        let out = o.key("reasoning_content");
        out.push('"');
        texts().for_each(|text| text.escape_into(out));
        out.push('"');
    }
    if thoughts().any(is_block) {
        o.array("thinking_blocks", |list| {
            for thinking in thoughts().filter(|thinking| is_block(thinking)) {
                list.object(|o| write_block(thinking, o));
            }
        });
    }
    // The signature of Gemini's text: see the reader.
    let text_state = thoughts()
        .filter(|thinking| thinking.text.is_none())
        .filter_map(|thinking| thinking.state.as_ref())
        .find(|state| state.family == Family::Google);
    if let Some(state) = text_state {
        write_signature(state, o);
    }
}
