//! Messages of requests of Anthropic's clients, and the blocks in them.

use onwards_json::{Kind, Value};

use super::drop_rest;
use crate::Family;
use crate::data_uri;
use crate::failure::Rejected;
use crate::read::{At, Fields};
use crate::request::{
    Arguments, Message, Part, PartKind, Place, Request, Role, Source, State, Thinking, ToolCall,
    ToolResult, Within,
};
use crate::text::Str;

/// Reads a message: results of calls become messages of their own, before the rest.
pub(super) fn read_message<'a>(
    message: &Value<'a>,
    at: At<'_>,
    turn: usize,
    request: &mut Request<'a>,
) -> Result<(), Rejected> {
    let mut fields = Fields::of(message, at)?;
    let role = match fields.need_str("role")? {
        role if role.is("user") => Role::User,
        role if role.is("assistant") => Role::Assistant,
        role if role.is("system") => Role::System,
        _ => {
            let at = At::Member(&at, "role");
            return Err(at.invalid("expected \"user\" or \"assistant\""));
        }
    };
    let content = fields
        .take("content")
        .ok_or_else(|| at.missing("content", "a string or an array"))?;
    let at = At::Member(&at, "content");
    let unknown = fields.rest();
    if let Some(text) = Str::of(&content) {
        let mut message = Message::text(role, text);
        message.unknown = unknown;
        request.messages.push(message);
        return Ok(());
    }
    if content.kind() != Kind::Array {
        return Err(at.wrong(&content, "a string or an array"));
    }
    let mut parts = Vec::new();
    for (index, block) in content.elements().enumerate() {
        let Some(part) = read_block(&block, At::Element(&at, index), request)? else {
            continue;
        };
        let part = part.placed(Place::new(Within::Message, turn, index));
        if matches!(part.kind, PartKind::ToolResult(_)) {
            let message = Message::new(Role::Tool, vec![part]);
            request.messages.push(message);
        } else {
            parts.push(part);
        }
    }
    if parts.is_empty() {
        for (name, _) in unknown {
            request.report.dropped(&name.decoded());
        }
    } else {
        let mut message = Message::new(role, parts);
        message.unknown = unknown;
        request.messages.push(message);
    }
    Ok(())
}

/// A block; `None` for one that only Anthropic can serve.
fn read_block<'a>(
    block: &Value<'a>,
    at: At<'_>,
    request: &mut Request<'a>,
) -> Result<Option<Part<'a>>, Rejected> {
    let mut fields = Fields::of(block, at)?;
    let kind = fields.need_str("type")?;
    let cache = fields.json("cache_control");
    let kind = match &*kind.decoded() {
        "text" => Some(PartKind::Text(fields.need_str("text")?)),
        "image" => read_source(&mut fields, request)?.map(|source| match source {
            Content::At(source) => PartKind::Image {
                source,
                detail: None,
            },
            Content::Text(text) => PartKind::Text(text),
        }),
        "document" => {
            let name = fields.str("title")?;
            read_source(&mut fields, request)?.map(|source| match source {
                Content::At(source) => PartKind::File { source, name },
                Content::Text(text) => PartKind::Text(text),
            })
        }
        "thinking" => Some(PartKind::Thinking(Thinking {
            text: Some(fields.need_str("thinking")?),
            state: fields.str("signature")?.and_then(state),
        })),
        "redacted_thinking" => Some(PartKind::Thinking(Thinking {
            text: None,
            state: state(fields.need_str("data")?),
        })),
        "tool_use" => {
            // Says who calls; none but the model can here.
            fields.take("caller");
            Some(PartKind::ToolCall(ToolCall {
                id: Some(fields.need_str("id")?),
                name: fields.need_str("name")?,
                arguments: fields
                    .json("input")
                    .map_or_else(Arguments::default, Arguments::Value),
                state: None,
            }))
        }
        "tool_result" => Some(PartKind::ToolResult(read_result(&mut fields, request)?)),
        word => {
            let what = format!("a block of type `{word}`");
            let rejected = || Rejected::content(&at.pointer(), &what);
            request.native_only.get_or_insert_with(rejected);
            return Ok(None);
        }
    };
    drop_rest(fields, request);
    let at = None;
    Ok(kind.map(|kind| Part { kind, cache, at }))
}

fn state(data: Str<'_>) -> Option<State<'_>> {
    (!data.is_empty()).then_some(State {
        family: Family::Anthropic,
        data,
    })
}

fn read_result<'a>(
    fields: &mut Fields<'a, '_>,
    request: &mut Request<'a>,
) -> Result<ToolResult<'a>, Rejected> {
    let mut result = ToolResult {
        id: fields.str("tool_use_id")?.filter(|id| !id.is_empty()),
        name: None,
        content: Vec::new(),
        bare: false,
        json: None,
        is_error: fields.bool("is_error")?.unwrap_or(false),
    };
    let Some(content) = fields.take("content") else {
        result.bare = true;
        result.content = vec![Part::new(PartKind::Text(Str::plain("")))];
        return Ok(result);
    };
    let at = At::Member(&fields.at, "content");
    if let Some(text) = Str::of(&content) {
        result.bare = true;
        result.content = vec![Part::new(PartKind::Text(text))];
        return Ok(result);
    }
    if content.kind() != Kind::Array {
        return Err(at.wrong(&content, "a string or an array"));
    }
    for (index, block) in content.elements().enumerate() {
        let at = At::Element(&at, index);
        let mut inner = Fields::of(&block, at)?;
        let kind = inner.need_str("type")?;
        if !["text", "image", "document"]
            .iter()
            .any(|word| kind.is(word))
        {
            let what = format!("a block of type `{}`", kind.decoded());
            let rejected = || Rejected::content(&at.pointer(), &what);
            request.native_only.get_or_insert_with(rejected);
            continue;
        }
        result.content.extend(read_block(&block, at, request)?);
    }
    Ok(result)
}

/// What a source is.
enum Content<'a> {
    At(Source<'a>),
    Text(Str<'a>),
}

/// The member `source`; `None` for one that only Anthropic can serve.
fn read_source<'a>(
    fields: &mut Fields<'a, '_>,
    request: &mut Request<'a>,
) -> Result<Option<Content<'a>>, Rejected> {
    let source = fields
        .object("source")?
        .ok_or_else(|| fields.at.missing("source", "an object"))?;
    let at = At::Member(&fields.at, "source");
    let mut source = Fields::of(&source, at)?;
    let kind = source.need_str("type")?;
    let content = match &*kind.decoded() {
        "base64" => {
            let mime = source.need_str("media_type")?;
            let data = source.need_str("data")?;
            Content::At(Source::Data {
                mime: lower(mime),
                base64: standard(data, at)?,
            })
        }
        "text" => {
            source.take("media_type");
            Content::Text(source.need_str("data")?)
        }
        "url" => {
            let url = source.need_str("url")?;
            match data_uri::read(&url) {
                Some(read) => Content::At(read.map_err(|why| At::Member(&at, "url").invalid(why))?),
                None => Content::At(Source::Url(url)),
            }
        }
        "file" => Content::At(Source::Id(source.need_str("file_id")?)),
        word => {
            let what = format!("a source of type `{word}`");
            let rejected = || Rejected::content(&at.pointer(), &what);
            request.native_only.get_or_insert_with(rejected);
            return Ok(None);
        }
    };
    drop_rest(source, request);
    Ok(Some(content))
}

fn lower(mime: Str<'_>) -> Str<'_> {
    let meant = mime.decoded();
    if meant.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Str::owned(meant.to_ascii_lowercase());
    }
    mime
}

fn standard<'a>(data: Str<'a>, at: At<'_>) -> Result<Str<'a>, Rejected> {
    let wrong = |why: &str| At::Member(&at, "data").invalid(why);
    if let Some(text) = data.borrowed() {
        return Ok(match data_uri::standard(text).map_err(wrong)? {
            std::borrow::Cow::Borrowed(text) => Str::plain(text),
            std::borrow::Cow::Owned(text) => Str::owned(text),
        });
    }
    let text = data.decoded();
    Ok(Str::owned(data_uri::standard(&text).map_err(wrong)?))
}
