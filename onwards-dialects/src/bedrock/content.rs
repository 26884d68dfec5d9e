//! `messages` and `system` of Converse.

use std::collections::{BTreeMap, BTreeSet};

use crate::conversation::arguments;
use crate::conversation::media::{self, PICTURES};
use crate::conversation::names::{IdRule, Names, call_id};
use crate::conversation::{Placed, System, Turn};
use crate::failure::Rejected;
use crate::fidelity::Report;
use crate::options::{ImageUrls, Settings};
use crate::request::{Part, PartKind, Source, Thinking, ToolCall, ToolResult};
use crate::text::{Str, compact};
use crate::write::{Arr, Obj};

/// How many cache points a request may have.
const MOST_HINTS: usize = 4;

/// The longest name of a document.
const LONGEST_NAME: usize = 200;

/// What a number behind a name takes at most.
const NUMBER: usize = " (4294967295)".len();

/// Documents that the service reads: media type, and what it calls the format.
const DOCUMENTS: [(&str, &str); 11] = [
    ("application/pdf", "pdf"),
    ("text/csv", "csv"),
    ("application/msword", "doc"),
    (
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "docx",
    ),
    ("application/vnd.ms-excel", "xls"),
    (
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "xlsx",
    ),
    ("text/html", "html"),
    ("text/plain", "txt"),
    ("text/markdown", "md"),
    ("text/x-markdown", "md"),
    ("application/csv", "csv"),
];

/// Cache points, counted.
#[derive(Debug, Default)]
pub(super) struct Hints(usize);

impl Hints {
    /// A cache point behind what was just written, if it is wished for and not one too many.
    pub(super) fn write(&mut self, wished: bool, report: &mut Report, a: &mut Arr<'_>) {
        if !wished {
            return;
        }
        if self.0 == MOST_HINTS {
            report.dropped("cache_control");
            return;
        }
        self.0 += 1;
        a.raw(r#"{"cachePoint":{"type":"default"}}"#);
    }
}

/// What turns are written with.
pub(super) struct Content<'w> {
    settings: &'w Settings<'w>,
    names: &'w Names,
    report: &'w mut Report,
    hints: &'w mut Hints,
    /// Names of documents that are taken.
    documents: BTreeSet<String>,
    /// The next number for names that begin alike.
    numbers: BTreeMap<String, usize>,
}

impl<'w> Content<'w> {
    pub(super) fn new(
        settings: &'w Settings<'w>,
        names: &'w Names,
        hints: &'w mut Hints,
        report: &'w mut Report,
    ) -> Self {
        Self {
            settings,
            names,
            report,
            hints,
            documents: BTreeSet::new(),
            numbers: BTreeMap::new(),
        }
    }

    /// `messages`.
    ///
    /// # Errors
    /// For parts that cannot be sent.
    pub(super) fn messages(&mut self, turns: &[Turn<'_>], o: &mut Obj<'_>) -> Result<(), Rejected> {
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

    /// `system`, unless nothing is said there.
    pub(super) fn system(&mut self, system: &[System<'_>], o: &mut Obj<'_>) {
        if system.is_empty() {
            return;
        }
        o.array("system", |a| {
            for block in system {
                a.object(|o| o.str("text", &block.text));
                self.hints.write(block.cache.is_some(), self.report, a);
            }
        });
    }

    fn placed(&mut self, placed: &Placed<'_>, a: &mut Arr<'_>) -> Result<(), Rejected> {
        let part = &*placed.part;
        let mut cached = part.cache.is_some();
        match &part.kind {
            PartKind::Thinking(thinking) => write_thought(thinking, a),
            PartKind::ToolCall(call) => a.object(|o| o.object("toolUse", |o| self.call(call, o))),
            PartKind::ToolResult(result) => {
                // Within a result there is no place for a cache point; behind it, it covers the same.
                cached |= result.content.iter().any(|part| part.cache.is_some());
                a.object(|o| o.object("toolResult", |o| self.result(result, placed, o)))?;
            }
            _ => self.shown(part, &placed.pointer(), a)?,
        }
        self.hints.write(cached, self.report, a);
        Ok(())
    }

    fn call(&mut self, call: &ToolCall<'_>, o: &mut Obj<'_>) {
        if let Some(id) = &call.id {
            o.str("toolUseId", &call_id(id, IdRule::Bedrock));
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
        if let Some(id) = &result.id {
            o.str("toolUseId", &call_id(id, IdRule::Bedrock));
        }
        o.array("content", |a| {
            if let (Some(json), true) = (&result.json, result.content.is_empty()) {
                a.object(|o| o.text("text", &compact(json)));
                return Ok(());
            }
            let empty =
                |part: &&Part<'_>| matches!(&part.kind, PartKind::Text(text) if text.is_blank());
            let mut parts = result.content.iter().filter(|part| !empty(part));
            parts.try_for_each(|part| self.shown(part, &placed.pointer(), a))
        })?;
        if result.is_error {
            o.text("status", "error");
        }
        Ok(())
    }

    /// A part that people see.
    fn shown(&mut self, part: &Part<'_>, pointer: &str, a: &mut Arr<'_>) -> Result<(), Rejected> {
        match &part.kind {
            PartKind::Text(text) | PartKind::Refusal(text) => {
                a.object(|o| o.str("text", text));
                Ok(())
            }
            PartKind::Image { source, .. } => {
                a.object(|o| o.object("image", |o| self.image(source, pointer, o)))
            }
            PartKind::File { source, name } => a.object(|o| {
                o.object("document", |o| {
                    self.document(source, name.as_ref(), pointer, o)
                })
            }),
            _ => Err(Rejected::content(pointer, "a part of this type")),
        }
    }

    fn image(&self, source: &Source<'_>, pointer: &str, o: &mut Obj<'_>) -> Result<(), Rejected> {
        if let Some((url, ending)) = self.in_s3(source) {
            let format = match &*ending {
                "jpg" | "jpeg" => "jpeg",
                "png" => "png",
                "gif" => "gif",
                "webp" => "webp",
                _ => return Err(Rejected::content(pointer, "a picture of unknown type")),
            };
            o.text("format", format);
            write_s3(url, o);
            return Ok(());
        }
        let inline = media::inline(source, pointer, self.settings, PICTURES)?;
        let format = inline.mime.rsplit('/').next().unwrap_or_default();
        o.text("format", format);
        o.object("source", |o| o.str("bytes", &inline.base64));
        Ok(())
    }

    fn document(
        &mut self,
        source: &Source<'_>,
        name: Option<&Str<'_>>,
        pointer: &str,
        o: &mut Obj<'_>,
    ) -> Result<(), Rejected> {
        let unknown = || Rejected::content(pointer, "a document of unknown type");
        let name = self.document_name(name);
        if let Some((url, ending)) = self.in_s3(source) {
            let known = DOCUMENTS.iter().find(|(_, format)| *format == ending);
            let (_, format) = known.ok_or_else(unknown)?;
            o.text("format", format);
            o.text("name", &name);
            write_s3(url, o);
            return Ok(());
        }
        let inline = media::inline(source, pointer, self.settings, &[])?;
        let mime = inline.mime.split(';').next().unwrap_or_default().trim();
        let known = DOCUMENTS.iter().find(|(known, _)| *known == mime);
        let (_, format) = known.ok_or_else(unknown)?;
        o.text("format", format);
        o.text("name", &name);
        o.object("source", |o| o.str("bytes", &inline.base64));
        Ok(())
    }

    /// An address in S3, if the operator lets addresses pass, and the ending of the file's name in lower case.
    fn in_s3<'s>(&self, source: &'s Source<'_>) -> Option<(&'s Str<'s>, String)> {
        let Source::Url(url) = source else {
            return None;
        };
        if self.settings.options.image_urls == ImageUrls::Reject {
            return None;
        }
        let address = url.decoded();
        let path = address.strip_prefix("s3://")?;
        let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
        Some((url, ending.to_ascii_lowercase()))
    }

    /// A name of the characters that the service takes, unlike all before it.
    fn document_name(&mut self, name: Option<&Str<'_>>) -> String {
        let given = name.map(Str::decoded).unwrap_or_default();
        let mut fit = String::new();
        for letter in given.chars().take(LONGEST_NAME) {
            let letter = match letter {
                letter if letter.is_ascii_alphanumeric() => letter,
                '-' | '(' | ')' | '[' | ']' => letter,
                letter if letter.is_whitespace() => ' ',
                _ => '-',
            };
            if letter != ' ' || !(fit.is_empty() || fit.ends_with(' ')) {
                fit.push(letter);
            }
        }
        let fit = match fit.trim_end() {
            "" => "document",
            fit => fit,
        };
        let mut name = fit.to_owned();
        if self.documents.insert(name.clone()) {
            return name;
        }
        // Cut to what every number leaves room for, so that names which differ only behind it share their numbers.
        let front: String = fit.chars().take(LONGEST_NAME - NUMBER).collect();
        let number = self.numbers.entry(front.clone()).or_insert(1);
        loop {
            *number += 1;
            name = format!("{front} ({number})");
            if self.documents.insert(name.clone()) {
                return name;
            }
        }
    }
}

fn write_s3(url: &Str<'_>, o: &mut Obj<'_>) {
    o.object("source", |o| {
        o.object("s3Location", |o| o.str("uri", url));
    });
}

/// A thought of Anthropic's own, as it came.
fn write_thought(thinking: &Thinking<'_>, a: &mut Arr<'_>) {
    let Some(state) = &thinking.state else { return };
    a.object(|o| {
        o.object("reasoningContent", |o| match &thinking.text {
            Some(text) => o.object("reasoningText", |o| {
                o.str("text", text);
                o.str("signature", &state.data);
            }),
            None => o.str("redactedContent", &state.data),
        });
    });
}
