//! Answers to clients.

use crate::Family;
use crate::answer::{Answer, Choice, Finish, Piece, Usage};
use crate::options::{Context, Expose};
use crate::request::{Arguments, State, Thinking, ToolCall};
use crate::text::{Str, compact};
use crate::write::{Obj, object};

/// What a client is shown beyond the contract of Chat Completions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extras {
    /// Members that OpenAI's own answers do not have.
    pub(super) any: bool,
    /// Thoughts as text.
    pub(super) thoughts: bool,
    /// Signatures.
    pub(super) state: bool,
}

impl Extras {
    pub(super) fn of(context: &Context) -> Self {
        Self {
            any: !context.strict,
            // Strict mode shows none unless the operator has said so; what it shows is text, as of any other provider.
            thoughts: context.expose != Expose::None,
            state: !context.strict && context.expose == Expose::Full,
        }
    }
}

/// Writes a whole answer.
pub(crate) fn write_answer(answer: &Answer<'_>, context: &Context, out: &mut String) {
    let extras = Extras::of(context);
    object(out, |o| {
        write_id(answer.id.as_ref(), context, o.key("id"));
        o.text("object", "chat.completion");
        o.u64("created", context.created);
        o.text("model", &context.model);
        o.array("choices", |choices| {
            for choice in &answer.choices {
                choices.object(|o| write_choice(choice, extras, o));
            }
        });
        if let Some(usage) = &answer.usage {
            write_usage(usage, extras, o.key("usage"));
        }
        for (name, value) in &answer.extra {
            o.raw(name, value);
        }
    });
}

/// The provider's id of an answer, or one that is made of the request's.
pub(super) fn write_id(id: Option<&Str<'_>>, context: &Context, out: &mut String) {
    match id.filter(|id| !id.is_empty()) {
        Some(id) => id.quote_into(out),
        None => {
            out.push_str("\"chatcmpl-");
            out.push_str(&context.unique);
            out.push('"');
        }
    }
}

fn write_choice(choice: &Choice<'_>, extras: Extras, o: &mut Obj<'_>) {
    let calls = choice
        .parts
        .iter()
        .any(|part| matches!(part, Piece::ToolCall(_)));
    o.u64("index", choice.index);
    o.object("message", |o| write_message(choice, calls, extras, o));
    o.raw("logprobs", choice.logprobs.as_deref().unwrap_or("null"));
    write_finish(&choice.finish, calls, extras, o);
}

/// The reason why a choice ended, and what more is known of it.
pub(super) fn write_finish(finish: &Finish<'_>, calls: bool, extras: Extras, o: &mut Obj<'_>) {
    o.text("finish_reason", finish.reason.with_calls(calls).word());
    if extras.any {
        if let Some(native) = &finish.native {
            o.str("native_finish_reason", native);
        }
        if let Some(stop) = &finish.stop_sequence {
            o.str("stop_sequence", stop);
        }
    }
}

fn write_message(choice: &Choice<'_>, calls: bool, extras: Extras, o: &mut Obj<'_>) {
    let texts = || {
        choice.parts.iter().filter_map(|part| match part {
            Piece::Text(text, _) if !text.is_empty() => Some(text),
            _ => None,
        })
    };
    let refusals = || {
        choice.parts.iter().filter_map(|part| match part {
            Piece::Refusal(text) => Some(text),
            _ => None,
        })
    };
    let refused = refusals().next().is_some();
    o.text("role", "assistant");
    let content = o.key("content");
    match (texts().next().is_some(), calls || refused) {
        (false, true) => content.push_str("null"),
        _ => join(texts(), content),
    }
    let refusal = o.key("refusal");
    match refused {
        true => join(refusals(), refusal),
        false => refusal.push_str("null"),
    }
    if extras.thoughts {
        write_thoughts(choice, extras, o);
    }
    if calls {
        o.array("tool_calls", |list| {
            for part in &choice.parts {
                if let Piece::ToolCall(call) = part {
                    list.object(|o| write_call(call, extras, o));
                }
            }
        });
    }
    if let Some(annotations) = &choice.annotations {
        o.raw("annotations", annotations);
    }
    if extras.any {
        write_images(choice, o);
    }
    let state = choice.parts.iter().rev().find_map(|part| match part {
        Piece::Text(_, state) => state.as_ref(),
        _ => None,
    });
    if let (Some(state), true) = (state, extras.state) {
        write_signature(state, o);
    }
}

/// One string of several.
fn join<'s, 'a: 's>(texts: impl Iterator<Item = &'s Str<'a>>, out: &mut String) {
    out.push('"');
    for text in texts {
        text.escape_into(out);
    }
    out.push('"');
}

fn write_thoughts(choice: &Choice<'_>, extras: Extras, o: &mut Obj<'_>) {
    let thoughts = || {
        choice.parts.iter().filter_map(|part| match part {
            Piece::Thinking(thinking) => Some(thinking),
            _ => None,
        })
    };
    let texts = || thoughts().filter_map(|thinking| thinking.text.as_ref());
    if texts().any(|text| !text.is_empty()) {
        join(texts(), o.key("reasoning_content"));
    }
    if extras.state && thoughts().any(is_block) {
        o.array("thinking_blocks", |blocks| {
            for thinking in thoughts().filter(|thinking| is_block(thinking)) {
                blocks.object(|o| write_block(thinking, o));
            }
        });
    }
}

/// True for a thought that its model wants to have back.
pub(super) fn is_block(thinking: &Thinking<'_>) -> bool {
    let state = thinking.state.as_ref();
    state.is_some_and(|state| state.family == Family::Anthropic)
}

/// A thought with its signature, as Anthropic has it.
pub(super) fn write_block(thinking: &Thinking<'_>, o: &mut Obj<'_>) {
    let Some(state) = &thinking.state else {
        return;
    };
    match &thinking.text {
        Some(text) => {
            o.text("type", "thinking");
            o.str("thinking", text);
            o.str("signature", &state.data);
        }
        None => {
            o.text("type", "redacted_thinking");
            o.str("data", &state.data);
        }
    }
}

fn write_call(call: &ToolCall<'_>, extras: Extras, o: &mut Obj<'_>) {
    match &call.id {
        Some(id) => o.str("id", id),
        None => o.text("id", ""),
    }
    o.text("type", "function");
    o.object("function", |o| {
        o.str("name", &call.name);
        let arguments = o.key("arguments");
        match &call.arguments {
            Arguments::Text(text) if text.is_blank() => arguments.push_str("\"{}\""),
            other => write_arguments(other, arguments),
        }
    });
    if let (Some(state), true) = (&call.state, extras.state) {
        write_signature(state, o);
    }
}

/// Arguments as a string that holds JSON.
pub(super) fn write_arguments(arguments: &Arguments<'_>, out: &mut String) {
    match arguments {
        Arguments::Text(text) => text.quote_into(out),
        Arguments::Value(json) => onwards_json::quote_into(&compact(json), out),
    }
}

/// Gemini's signature.
pub(super) fn write_signature(state: &State<'_>, o: &mut Obj<'_>) {
    if state.family == Family::Google {
        o.object("extra_content", |o| {
            o.object("google", |o| o.str("thought_signature", &state.data));
        });
    }
}

fn write_images(choice: &Choice<'_>, o: &mut Obj<'_>) {
    let images = || {
        choice.parts.iter().filter_map(|part| match part {
            Piece::Image(mime, base64) => Some((mime, base64)),
            _ => None,
        })
    };
    if images().next().is_some() {
        o.array("images", |list| {
            for (mime, base64) in images() {
                list.object(|o| write_image(mime, base64, o));
            }
        });
    }
}

/// A picture as a part of a message.
pub(super) fn write_image(mime: &Str<'_>, base64: &Str<'_>, o: &mut Obj<'_>) {
    o.text("type", "image_url");
    o.object("image_url", |o| write_data(mime, base64, o.key("url")));
}

/// A `data:` address as a string.
pub(super) fn write_data(mime: &Str<'_>, base64: &Str<'_>, out: &mut String) {
    out.push_str("\"data:");
    mime.escape_into(out);
    out.push_str(";base64,");
    base64.escape_into(out);
    out.push('"');
}

/// Counts of tokens.
pub(super) fn write_usage(usage: &Usage, extras: Extras, out: &mut String) {
    object(out, |o| {
        o.u64("prompt_tokens", usage.prompt);
        o.u64("completion_tokens", usage.completion);
        o.u64("total_tokens", usage.total());
        let written = usage
            .cache_write
            .filter(|written| *written > 0 && extras.any);
        if usage.cached.is_some() || written.is_some() {
            o.object("prompt_tokens_details", |o| {
                if let Some(cached) = usage.cached {
                    o.u64("cached_tokens", cached);
                }
                if let Some(written) = written {
                    o.u64("cache_write_tokens", written);
                }
            });
        }
        if let Some(reasoning) = usage.reasoning {
            o.object("completion_tokens_details", |o| {
                o.u64("reasoning_tokens", reasoning);
            });
        }
    });
}
