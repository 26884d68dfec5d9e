//! Requests to a provider (spec providers 3.4).

mod config;
mod media;
mod tools;
mod turns;

use crate::Family;
use crate::Protocol;
use crate::conversation::names::Names;
use crate::conversation::{self, Conversation, Rules, thoughts};
use crate::failure::Rejected;
use crate::fidelity::Report;
use crate::options::{Memory, Settings, Written};
use crate::request::{Request, ToolChoice};
use crate::text::Str;
use crate::write::{Obj, object};

use super::client::CONFIG;

/// Parameters that have a counterpart, or ask for what is done anyway.
const TAKEN: &[&str] = &[
    "temperature",
    "top_p",
    "top_k",
    "n",
    "seed",
    "presence_penalty",
    "frequency_penalty",
    "logprobs",
    "top_logprobs",
    "modalities",
];

/// Writes a request.
///
/// # Errors
/// For what cannot be said here and must not be left out.
pub(crate) fn write_request(
    request: &Request<'_>,
    settings: &Settings<'_>,
) -> Result<Written, Rejected> {
    written(request, settings, |writer, conversation, out| {
        object(out, |o| writer.members(conversation, o))
    })
}

/// Writes a request to count the tokens of a request.
///
/// # Errors
/// Those of [`write_request`].
pub(crate) fn write_count(
    request: &Request<'_>,
    settings: &Settings<'_>,
) -> Result<Written, Rejected> {
    written(request, settings, |writer, conversation, out| {
        object(out, |o| {
            o.object("generateContentRequest", |o| {
                o.text("model", &resource(settings.model));
                writer.members(conversation, o)
            })
        })
    })
}

fn written(
    request: &Request<'_>,
    settings: &Settings<'_>,
    write: impl FnOnce(&mut Writer<'_, '_>, &Conversation<'_>, &mut String) -> Result<(), Rejected>,
) -> Result<Written, Rejected> {
    conversation::refuse_shapes(request, true)?;
    let mut report = request.report.clone();
    let rules = Rules {
        mid_system: settings.options.mid_system,
        trim: false,
        ids: false,
    };
    let mut conversation = conversation::turns(request, rules, &mut report)?;
    thoughts::keep(&mut conversation, Family::Google, &mut report);
    thoughts::sign(&mut conversation, settings, &mut report);
    let mut writer = Writer {
        request,
        settings,
        names: Names::of(request, true),
        report,
        room: super::schema::ROOM,
    };
    let mut body = String::new();
    write(&mut writer, &conversation, &mut body)?;
    writer.rest();
    let mut memory = Memory::default();
    writer.names.remember(&mut memory);
    Ok(Written {
        body,
        memory,
        report: writer.report,
    })
}

/// The path of a call, and its query.
pub(crate) fn path(settings: &Settings<'_>, stream: bool) -> String {
    let method = match stream {
        true => "streamGenerateContent?alt=sse",
        false => "generateContent",
    };
    at(settings.model, method)
}

/// The path at which tokens are counted.
pub(crate) fn count_path(settings: &Settings<'_>) -> String {
    at(settings.model, "countTokens")
}

fn at(model: &str, method: &str) -> String {
    format!("/v1beta/{}:{method}", resource_path(model))
}

/// A model as a resource, percent-encoded.
pub(crate) fn resource_path(model: &str) -> String {
    let mut path = String::new();
    for byte in resource(model).bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                path.push(char::from(byte));
            }
            _ => path.push_str(&format!("%{byte:02X}")),
        }
    }
    path
}

/// The name of a model among all resources. One with a slash is whole already.
fn resource(model: &str) -> String {
    match model.contains('/') {
        true => model.to_owned(),
        false => format!("models/{model}"),
    }
}

/// What the parts of a request are written with.
struct Writer<'r, 's> {
    request: &'r Request<'r>,
    settings: &'r Settings<'s>,
    names: Names,
    report: Report,
    /// What schemas may still become.
    room: usize,
}

impl Writer<'_, '_> {
    fn members(
        &mut self,
        conversation: &Conversation<'_>,
        o: &mut Obj<'_>,
    ) -> Result<(), Rejected> {
        o.array("contents", |list| self.turns(conversation, list))?;
        if !conversation.system.is_empty() {
            o.object("systemInstruction", |o| {
                o.array("parts", |list| {
                    for system in &conversation.system {
                        if system.cache.is_some() {
                            self.report.dropped("cache_control");
                        }
                        list.object(|o| o.str("text", &system.text));
                    }
                });
            });
        }
        self.tools(o);
        self.config(o);
        if self.own() {
            for (name, value) in &self.request.unknown {
                if !name.decoded().starts_with(CONFIG) {
                    o.name(name).push_str(value);
                }
            }
        }
        Ok(())
    }

    /// True where the client speaks this dialect too, so that its members mean something here.
    fn own(&self) -> bool {
        self.request.protocol == Some(Protocol::GenerateContent)
    }

    /// Notes what was not taken.
    fn rest(&mut self) {
        if self.own() {
            for param in &self.request.params {
                if !TAKEN.contains(&param.name) {
                    self.report.dropped(param.name);
                }
            }
        } else {
            conversation::drop_rest(self.request, TAKEN, &mut self.report);
        }
        if self.request.parallel_tool_calls == Some(false) {
            self.report.dropped("parallel_tool_calls");
        }
    }
}

/// The functions that may be called, where not all may.
fn allowed<'r>(request: &'r Request<'r>) -> Option<&'r [Str<'r>]> {
    match &request.tool_choice {
        Some(ToolChoice::Allowed {
            names,
            required: false,
        }) => Some(names),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
