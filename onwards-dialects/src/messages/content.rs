//! Turns of requests to Anthropic.

use crate::conversation::arguments;
use crate::conversation::media::{self, Inline};
use crate::conversation::names::{IdRule, Names, call_id};
use crate::conversation::{Placed, Turn};
use crate::failure::Rejected;
use crate::fidelity::Report;
use crate::options::{ImageUrls, Settings};
use crate::request::{Part, PartKind, Source, Thinking, ToolCall, ToolResult};
use crate::text::{Json, Str, compact};
use crate::write::{Arr, Obj};

/// How many cache hints a request may have.
const MOST_HINTS: usize = 4;

/// Cache hints, counted.
#[derive(Debug, Default)]
pub(super) struct Hints(usize);

impl Hints {
    /// A hint, if there is one and it is not one too many.
    pub(super) fn write(&mut self, hint: Option<&Json<'_>>, report: &mut Report, o: &mut Obj<'_>) {
        let Some(hint) = hint else { return };
        if self.0 == MOST_HINTS {
            report.dropped("cache_control");
            return;
        }
        self.0 += 1;
        o.raw("cache_control", hint);
    }
}

/// What turns are written with.
pub(super) struct Content<'w> {
    pub(super) settings: &'w Settings<'w>,
    pub(super) names: &'w Names,
    pub(super) ids: IdRule,
    pub(super) hints: &'w mut Hints,
    pub(super) report: &'w mut Report,
}

impl Content<'_> {
    /// `messages`.
    ///
    /// # Errors
    /// For parts that cannot be sent.
    pub(super) fn write(&mut self, turns: &[Turn<'_>], o: &mut Obj<'_>) -> Result<(), Rejected> {
        o.array("messages", |a| {
            turns.iter().try_for_each(|turn| {
                a.object(|o| {
                    o.text("role", if turn.assistant { "assistant" } else { "user" });
                    o.array("content", |a| {
                        let mut parts = turn.parts.iter();
                        parts.try_for_each(|placed| self.placed(placed, a))
                    })
                })
            })
        })
    }

    fn placed(&mut self, placed: &Placed<'_>, a: &mut Arr<'_>) -> Result<(), Rejected> {
        let part = &*placed.part;
        if let PartKind::Thinking(thinking) = &part.kind {
            write_thought(thinking, a);
            return Ok(());
        }
        a.object(|o| {
            match &part.kind {
                PartKind::ToolCall(call) => self.call(call, o),
                PartKind::ToolResult(result) => self.result(result, placed, o)?,
                _ => self.shown(part, &placed.pointer(), o)?,
            }
            self.hints.write(part.cache.as_ref(), self.report, o);
            Ok(())
        })
    }

    fn call(&mut self, call: &ToolCall<'_>, o: &mut Obj<'_>) {
        o.raw("type", "\"tool_use\"");
        if let Some(id) = &call.id {
            o.str("id", &call_id(id, self.ids));
        }
        o.str("name", &self.names.sent(&call.name));
        o.raw("input", &arguments::object(&call.arguments, self.report));
    }

    fn result(
        &mut self,
        result: &ToolResult<'_>,
        placed: &Placed<'_>,
        o: &mut Obj<'_>,
    ) -> Result<(), Rejected> {
        o.raw("type", "\"tool_result\"");
        if let Some(id) = &result.id {
            o.str("tool_use_id", &call_id(id, self.ids));
        }
        self.result_content(result, &placed.pointer(), o)?;
        if result.is_error {
            o.bool("is_error", true);
        }
        Ok(())
    }

    fn result_content(
        &mut self,
        result: &ToolResult<'_>,
        pointer: &str,
        o: &mut Obj<'_>,
    ) -> Result<(), Rejected> {
        if let (Some(json), true) = (&result.json, result.content.is_empty()) {
            o.text("content", &compact(json));
            return Ok(());
        }
        let blank =
            |part: &&Part<'_>| matches!(&part.kind, PartKind::Text(text) if text.is_blank());
        match (&*result.content, result.bare) {
            ([part], true) => {
                if let PartKind::Text(text) = &part.kind
                    && !text.is_empty()
                {
                    o.str("content", text);
                }
                Ok(())
            }
            (parts, _) if parts.iter().all(|part| blank(&part)) => Ok(()),
            (parts, _) => o.array("content", |a| {
                let mut parts = parts.iter().filter(|part| !blank(part));
                parts.try_for_each(|part| {
                    a.object(|o| {
                        self.shown(part, pointer, o)?;
                        self.hints.write(part.cache.as_ref(), self.report, o);
                        Ok(())
                    })
                })
            }),
        }
    }

    /// A part that people see.
    fn shown(&mut self, part: &Part<'_>, pointer: &str, o: &mut Obj<'_>) -> Result<(), Rejected> {
        match &part.kind {
            PartKind::Text(text) | PartKind::Refusal(text) => {
                o.raw("type", "\"text\"");
                o.str("text", text);
                Ok(())
            }
            PartKind::Image { source, .. } => {
                o.raw("type", "\"image\"");
                self.source(source, pointer, media::PICTURES, o)
            }
            PartKind::File { source, name } => {
                o.raw("type", "\"document\"");
                self.source(source, pointer, media::PDF, o)?;
                if let Some(name) = name {
                    o.str("title", name);
                }
                Ok(())
            }
            PartKind::Other { kind, .. } => {
                let what = format!("a part of type `{}`", kind.decoded());
                Err(Rejected::content(pointer, &what))
            }
            PartKind::Thinking(_) | PartKind::ToolCall(_) | PartKind::ToolResult(_) => {
                Err(Rejected::content(pointer, "a part of this type"))
            }
        }
    }

    fn source(
        &self,
        source: &Source<'_>,
        pointer: &str,
        types: &[&str],
        o: &mut Obj<'_>,
    ) -> Result<(), Rejected> {
        let forward = self.settings.options.image_urls == ImageUrls::Forward;
        match source {
            Source::Url(url) if forward && media::is_web(url) => o.object("source", |o| {
                o.raw("type", "\"url\"");
                o.str("url", url);
            }),
            _ => {
                let Inline { mime, base64 } = media::inline(source, pointer, self.settings, types)?;
                o.object("source", |o| {
                    o.raw("type", "\"base64\"");
                    o.str("media_type", &Str::plain(&mime));
                    o.str("data", &base64);
                });
            }
        }
        Ok(())
    }
}

/// A thought of Anthropic's own, as it came.
pub(super) fn write_thought(thinking: &Thinking<'_>, a: &mut Arr<'_>) {
    let Some(state) = &thinking.state else { return };
    a.object(|o| match &thinking.text {
        Some(text) => {
            o.raw("type", "\"thinking\"");
            o.str("thinking", text);
            o.str("signature", &state.data);
        }
        None => {
            o.raw("type", "\"redacted_thinking\"");
            o.str("data", &state.data);
        }
    });
}
