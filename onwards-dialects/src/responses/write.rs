//! An answer, written whole: the object that is also the end of a stream.

use crate::answer::{Answer, Choice, Piece, Reason, Usage};
use crate::failure::Failure;
use crate::options::{Context, Expose};
use crate::request::Arguments;
use crate::text::{Str, compact, value};
use crate::write::{Obj, object};

/// How far an item or the whole answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    InProgress,
    Completed,
    Incomplete(Reason),
    Failed,
}

impl Status {
    /// Of an answer that ended so.
    pub(super) fn of(reason: Reason) -> Self {
        match reason {
            Reason::Length | Reason::ContentFilter => Self::Incomplete(reason),
            Reason::Stop | Reason::ToolCalls => Self::Completed,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Incomplete(_) => "incomplete",
            Self::Failed => "failed",
        }
    }
}

/// An item of `output`. Its texts are JSON text without the quotes, so that pieces can be put together without being decoded.
#[derive(Debug)]
pub(super) struct Item {
    /// Its name, the same in every event: JSON text.
    pub(super) id: String,
    pub(super) status: Status,
    pub(super) kind: ItemKind,
}

#[derive(Debug)]
pub(super) enum ItemKind {
    /// Summaries of thoughts.
    Reasoning(Vec<String>),
    /// What is said.
    Message(Vec<Content>),
    /// A call of a function.
    Call {
        id: String,
        name: String,
        arguments: String,
    },
    /// A picture, in base64.
    Image(String),
}

/// A part of a message.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) refusal: bool,
    pub(super) text: String,
    /// The inside of an array.
    pub(super) logprobs: String,
    /// The inside of an array.
    pub(super) annotations: String,
}

impl Item {
    /// The item at that place of the answer.
    pub(super) fn new(kind: ItemKind, context: &Context, index: usize) -> Self {
        let prefix = match kind {
            ItemKind::Reasoning(_) => "rs",
            ItemKind::Message(_) => "msg",
            ItemKind::Call { .. } => "fc",
            ItemKind::Image(_) => "ig",
        };
        Self {
            id: onwards_json::quote(&format!("{prefix}_{}_{index}", context.unique)),
            status: Status::InProgress,
            kind,
        }
    }

    pub(super) fn write(&self, out: &mut String) {
        object(out, |o| {
            o.raw("id", &self.id);
            match &self.kind {
                ItemKind::Reasoning(parts) => {
                    o.raw("type", r#""reasoning""#);
                    o.array("summary", |a| {
                        for text in parts {
                            summary(text, a.item());
                        }
                    });
                }
                ItemKind::Message(parts) => {
                    o.raw("type", r#""message""#);
                    o.raw("role", r#""assistant""#);
                    o.array("content", |a| {
                        for part in parts {
                            part.write(a.item());
                        }
                    });
                }
                ItemKind::Call {
                    id,
                    name,
                    arguments,
                } => {
                    o.raw("type", r#""function_call""#);
                    quoted(o, "call_id", id);
                    quoted(o, "name", name);
                    quoted(o, "arguments", arguments);
                }
                ItemKind::Image(base64) => {
                    o.raw("type", r#""image_generation_call""#);
                    match self.status {
                        Status::InProgress => o.null("result"),
                        _ => quoted(o, "result", base64),
                    }
                }
            }
            o.text("status", self.status.word());
        });
    }
}

impl ItemKind {
    /// A call without arguments so far.
    pub(super) fn call(id: &Str<'_>, name: &Str<'_>) -> Self {
        Self::Call {
            id: escaped(id),
            name: escaped(name),
            arguments: String::new(),
        }
    }
}

impl Content {
    pub(super) fn write(&self, out: &mut String) {
        object(out, |o| {
            if self.refusal {
                o.raw("type", r#""refusal""#);
                quoted(o, "refusal", &self.text);
            } else {
                o.raw("type", r#""output_text""#);
                quoted(o, "text", &self.text);
                bracketed(o, "annotations", &self.annotations);
                bracketed(o, "logprobs", &self.logprobs);
            }
        });
    }
}

/// A part of the summary of a thought.
pub(super) fn summary(text: &str, out: &mut String) {
    object(out, |o| {
        o.raw("type", r#""summary_text""#);
        quoted(o, "text", text);
    });
}

/// A member whose value is the JSON text of a string, without its quotes.
pub(super) fn quoted(o: &mut Obj<'_>, name: &str, inside: &str) {
    let out = o.key(name);
    out.push('"');
    out.push_str(inside);
    out.push('"');
}

/// A member whose value is an array, given as its inside.
pub(super) fn bracketed(o: &mut Obj<'_>, name: &str, inside: &str) {
    let out = o.key(name);
    out.push('[');
    out.push_str(inside);
    out.push(']');
}

fn escaped(text: &Str<'_>) -> String {
    let mut out = String::new();
    text.escape_into(&mut out);
    out
}

/// The answer as an object.
#[derive(Debug)]
pub(super) struct Response<'r> {
    pub(super) context: &'r Context,
    pub(super) status: Status,
    pub(super) items: &'r [Item],
    pub(super) usage: Option<Usage>,
    pub(super) failure: Option<&'r Failure>,
    /// JSON text.
    pub(super) service_tier: Option<&'r str>,
}

impl Response<'_> {
    pub(super) fn write(&self, out: &mut String) {
        let context = self.context;
        object(out, |o| {
            o.text("id", &format!("resp_{}", context.unique));
            o.raw("object", r#""response""#);
            o.u64("created_at", context.created);
            o.text("status", self.status.word());
            match self.failure {
                Some(failure) => o.object("error", |o| {
                    o.text("code", code(failure));
                    o.text("message", &failure.message);
                }),
                None => o.null("error"),
            }
            match self.status {
                Status::Incomplete(reason) => o.object("incomplete_details", |o| {
                    o.text(
                        "reason",
                        match reason {
                            Reason::ContentFilter => "content_filter",
                            _ => "max_output_tokens",
                        },
                    );
                }),
                _ => o.null("incomplete_details"),
            }
            o.text("model", &context.model);
            o.array("output", |a| {
                for item in self.items {
                    item.write(a.item());
                }
            });
            if let Some(usage) = &self.usage {
                write_usage(o, usage);
            }
            if let Some(tier) = self.service_tier {
                o.raw("service_tier", &compact(tier));
            }
            o.more(&context.echo);
        });
    }
}

/// The word for programs. Where an error has none of its own, one that the API knows.
fn code(failure: &Failure) -> &str {
    match &failure.code {
        Some(code) => code,
        None if failure.status == 429 => "rate_limit_exceeded",
        None => "server_error",
    }
}

fn write_usage(o: &mut Obj<'_>, usage: &Usage) {
    o.object("usage", |o| {
        o.u64("input_tokens", usage.prompt);
        o.object("input_tokens_details", |o| {
            o.u64("cached_tokens", usage.cached.unwrap_or(0));
            o.u64("cache_write_tokens", usage.cache_write.unwrap_or(0));
        });
        o.u64("output_tokens", usage.completion);
        o.object("output_tokens_details", |o| {
            o.u64("reasoning_tokens", usage.reasoning.unwrap_or(0));
        });
        o.u64("total_tokens", usage.total());
    });
}

/// Writes a whole answer. Of several candidates, which this protocol cannot ask for, the first.
pub(crate) fn write_answer(answer: &Answer<'_>, context: &Context, out: &mut String) {
    let choice = answer.choices.first();
    let mut items = choice.map_or_else(Vec::new, |choice| items(choice, context));
    let status = choice.map_or(Status::Completed, |choice| Status::of(choice.finish.reason));
    // What was cut off is the last item; a picture is whole or not there.
    if let Some(last) = items.last_mut()
        && !matches!(last.kind, ItemKind::Image(_))
    {
        last.status = status;
    }
    let tier = answer
        .extra
        .iter()
        .find(|(name, _)| *name == "service_tier");
    Response {
        context,
        status,
        items: &items,
        usage: answer.usage,
        failure: None,
        service_tier: tier.map(|(_, json)| &**json),
    }
    .write(out);
}

fn items(choice: &Choice<'_>, context: &Context) -> Vec<Item> {
    let mut kinds = Vec::new();
    let mut logprobs = choice.logprobs.as_deref().map(probabilities);
    let mut annotations = choice.annotations.as_deref().map(links);
    for piece in &choice.parts {
        match piece {
            Piece::Text(text, _) => {
                let Some(content) = said(&mut kinds, false) else {
                    continue;
                };
                text.escape_into(&mut content.text);
                if let Some(logprobs) = logprobs.take() {
                    content.logprobs = logprobs;
                }
                if let Some(annotations) = annotations.take() {
                    content.annotations = annotations;
                }
            }
            Piece::Refusal(text) => {
                if let Some(content) = said(&mut kinds, true) {
                    text.escape_into(&mut content.text);
                }
            }
            Piece::Thinking(thinking) => {
                let shown = thinking.text.as_ref().filter(|text| !text.is_empty());
                let Some(text) = shown.filter(|_| context.expose != Expose::None) else {
                    continue;
                };
                match kinds.last_mut() {
                    Some(ItemKind::Reasoning(parts)) => parts.push(escaped(text)),
                    _ => kinds.push(ItemKind::Reasoning(vec![escaped(text)])),
                }
            }
            Piece::ToolCall(call) => kinds.push(ItemKind::Call {
                id: call.id.as_ref().map(escaped).unwrap_or_default(),
                name: escaped(&call.name),
                arguments: written(&call.arguments),
            }),
            Piece::Image(_, base64) => kinds.push(ItemKind::Image(escaped(base64))),
        }
    }
    let items = kinds.into_iter().enumerate();
    items
        .map(|(index, kind)| Item {
            status: Status::Completed,
            ..Item::new(kind, context, index)
        })
        .collect()
}

/// The part of the message that is being said; begun where there is none.
fn said(kinds: &mut Vec<ItemKind>, refusal: bool) -> Option<&mut Content> {
    if !matches!(kinds.last(), Some(ItemKind::Message(_))) {
        kinds.push(ItemKind::Message(Vec::new()));
    }
    let Some(ItemKind::Message(parts)) = kinds.last_mut() else {
        return None;
    };
    if parts.last().is_none_or(|part| part.refusal != refusal) {
        parts.push(Content {
            refusal,
            ..Content::default()
        });
    }
    parts.last_mut()
}

/// Arguments as the inside of a string; those of nothing are an empty object.
fn written(arguments: &Arguments<'_>) -> String {
    match arguments {
        Arguments::Text(text) if !text.is_blank() => escaped(text),
        Arguments::Text(_) => "{}".to_owned(),
        Arguments::Value(json) => escaped(&Str::plain(&compact(json))),
    }
}

/// The log probabilities of Chat Completions as the inside of an array.
pub(super) fn probabilities(json: &str) -> String {
    let content = value(json).and_then(|value| {
        let mut members = value.members();
        members.find(|member| member.is("content"))
    });
    let list = content.map(|member| compact(member.value().text()).into_owned());
    let inside = list.as_deref().and_then(|list| {
        let list = list.strip_prefix('[')?;
        list.strip_suffix(']')
    });
    inside.unwrap_or_default().to_owned()
}

/// Links of Chat Completions, which say their kind and then everything under that name, with everything beside the kind.
fn links(json: &str) -> String {
    let mut out = String::new();
    for link in value(json).iter().flat_map(onwards_json::Value::elements) {
        let inside = link
            .members()
            .find(|member| member.is("url_citation"))
            .map(|member| member.value());
        let Some(inside) = inside else { continue };
        if !out.is_empty() {
            out.push(',');
        }
        object(&mut out, |o| {
            o.raw("type", r#""url_citation""#);
            for member in inside.members().filter(|member| !member.is("type")) {
                let value = compact(member.value().text());
                o.name(&member.name_text().into()).push_str(&value);
            }
        });
    }
    out
}
