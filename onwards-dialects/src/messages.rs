//! Anthropic Messages, spoken by clients and by Anthropic (spec providers 3.3, 4.2).
//!
//! As a provider's dialect: [`write_request`], [`read_answer`], [`Decoder`]. As a client's: [`read_request`], [`write_answer`],
//! [`Encoder`]. Counting of tokens, errors and the list of models go both ways or one.

mod answer;
mod content;
mod count;
mod decoder;
mod encoder;
mod failures;
mod models;
mod reader;
mod structured;
mod tools;
mod usage;
mod writer;

pub(crate) use answer::{read_answer, write_answer};
pub(crate) use count::{count_path, read_count, write_count, write_count_answer};
pub(crate) use decoder::Decoder;
pub(crate) use encoder::Encoder;
pub(crate) use failures::{embedded_error, read_failure, write_failure};
pub(crate) use models::write_models;
pub(crate) use reader::{read_count_request, read_request};
pub(crate) use writer::{Host, path, write_for, write_request};

use onwards_json::Value;

use crate::answer::{Finish, Reason};
use crate::options::Memory;
use crate::text::Str;

/// What an answer says that its model declined and did not say how.
const DECLINED: &str = "The model declined to respond.";

/// A member of an object; the last one of several.
fn member<'a>(value: &Value<'a>, name: &str) -> Option<Value<'a>> {
    value
        .members()
        .filter(|member| member.is(name))
        .last()
        .map(|member| member.value())
        .filter(|value| !value.is_null())
}

/// A tool by the name that the client knows it by.
fn client_tool<'a>(name: Str<'a>, memory: &Memory) -> Str<'a> {
    if memory.tool_names.is_empty() {
        return name;
    }
    let sent = name.decoded();
    let client = memory.client_name(&sent);
    if client == sent {
        return name;
    }
    Str::owned(client)
}

/// Why an answer ended, by Anthropic's word for it and the string that stopped it.
fn finish<'a>(word: Str<'a>, stop_sequence: Option<Str<'a>>) -> Finish<'a> {
    let plain = |reason| Finish {
        reason,
        native: None,
        stop_sequence: None,
    };
    let with = |reason| Finish {
        reason,
        native: Some(word.clone()),
        stop_sequence: None,
    };
    match &*word.decoded() {
        "" | "end_turn" => plain(Reason::Stop),
        "stop_sequence" => Finish {
            stop_sequence,
            ..with(Reason::Stop)
        },
        "max_tokens" | "model_context_window_exceeded" => plain(Reason::Length),
        "tool_use" => plain(Reason::ToolCalls),
        "refusal" => with(Reason::ContentFilter),
        _ => with(Reason::Stop),
    }
}

/// Anthropic's word for why an answer ended.
fn stop_reason(finish: &Finish<'_>, calls: bool) -> &'static str {
    let native = |word| finish.native.as_ref().is_some_and(|native| native.is(word));
    match finish.reason.with_calls(calls) {
        Reason::ToolCalls => "tool_use",
        Reason::Length => "max_tokens",
        Reason::ContentFilter => "refusal",
        Reason::Stop if finish.stop_sequence.is_some() || native("stop_sequence") => {
            "stop_sequence"
        }
        Reason::Stop if native("pause_turn") => "pause_turn",
        Reason::Stop => "end_turn",
    }
}

/// The name of an answer, made of the provider's or of what is unique to the request.
fn message_id(id: Option<&Str<'_>>, unique: &str) -> String {
    match id.map(Str::decoded) {
        Some(id) if id.starts_with("msg_") => id.into_owned(),
        Some(id) if !id.is_empty() => format!("msg_{id}"),
        _ => format!("msg_{unique}"),
    }
}

#[cfg(test)]
mod tests;
