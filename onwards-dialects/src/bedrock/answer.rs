//! Whole answers.

use onwards_json::{Kind, Value};

use super::stop::Stop;
use super::{failure, member, usage};
use crate::Family;
use crate::answer::{Answer, Choice, Piece};
use crate::failure::{Failure, Unreadable};
use crate::messages;
use crate::options::{Reading, call_id};
use crate::request::{Arguments, State, Thinking, ToolCall};
use crate::text::{Str, compact, json, value};

/// Reads a whole answer, of Converse or, where that is what it looks like, of Anthropic.
///
/// # Errors
/// For what is no answer of the two, and for one that the model failed to give.
pub(crate) fn read_answer<'a>(text: &'a str, reading: &Reading) -> Result<Answer<'a>, Unreadable> {
    let body = value(text).ok_or(Unreadable::new("no JSON"))?;
    if member(&body, "output").is_none() && member(&body, "content").is_some() {
        return messages::read_answer(text, reading);
    }
    let message = member(&body, "output").and_then(|output| member(&output, "message"));
    let content = message
        .map(|message| member(&message, "content"))
        .ok_or(Unreadable::new("no message"))?;
    let mut pieces = Pieces {
        reading,
        parts: Vec::new(),
        calls: 0,
        shaped: false,
    };
    for block in content.iter().flat_map(Value::elements) {
        pieces.block(&block)?;
    }
    let stop = Stop::of(member(&body, "stopReason").and_then(|word| Str::of(&word)));
    let Pieces {
        mut parts, shaped, ..
    } = pieces;
    if shaped {
        // What was said beside an answer of a given shape is no part of it.
        parts.retain(|part| !matches!(part, Said::Text(_)));
    }
    let usable = parts
        .iter()
        .any(|part| !matches!(part, Said::Piece(Piece::Thinking(_))));
    if stop.malformed && !usable {
        return Err(Unreadable::new("the model's output was malformed"));
    }
    Ok(Answer {
        id: None,
        choices: vec![Choice {
            parts: parts.into_iter().map(Said::piece).collect(),
            finish: stop.finish,
            ..Choice::default()
        }],
        usage: member(&body, "usage").and_then(|counts| usage(&counts)),
        extra: Vec::new(),
    })
}

/// The error that a body with a good status holds instead of an answer.
pub(crate) fn embedded_error(text: &str) -> Option<Failure> {
    let body = value(text)?;
    if member(&body, "output").is_some() {
        return None;
    }
    let inner = member(&body, "Output").unwrap_or(body);
    messages::embedded_error(text).or_else(|| failure::embedded(&inner))
}

/// Text that may have to go, or another piece.
enum Said<'a> {
    Text(Str<'a>),
    Piece(Piece<'a>),
}

impl<'a> Said<'a> {
    fn piece(self) -> Piece<'a> {
        match self {
            Self::Text(text) => Piece::Text(text, None),
            Self::Piece(piece) => piece,
        }
    }
}

struct Pieces<'a, 'r> {
    reading: &'r Reading,
    parts: Vec<Said<'a>>,
    calls: u64,
    /// The tool that stands for the shape of the answer was called.
    shaped: bool,
}

impl<'a> Pieces<'a, '_> {
    fn block(&mut self, block: &Value<'a>) -> Result<(), Unreadable> {
        for block in block.members().filter(|member| !member.value().is_null()) {
            let value = block.value();
            match &*block.name() {
                "text" => self.text(&value),
                "toolUse" => self.call(&value)?,
                "reasoningContent" => {
                    let thought = thought(&value).map(|it| Said::Piece(Piece::Thinking(it)));
                    self.parts.extend(thought);
                }
                "citationsContent" => {
                    for part in member(&value, "content").iter().flat_map(Value::elements) {
                        if let Some(text) = member(&part, "text") {
                            self.text(&text);
                        }
                    }
                }
                "image" => {
                    let image = image(&value).map(Said::Piece);
                    self.parts.extend(image);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn text(&mut self, text: &Value<'a>) {
        let text = Str::of(text).filter(|text| !text.is_empty());
        self.parts.extend(text.map(Said::Text));
    }

    fn call(&mut self, call: &Value<'a>) -> Result<(), Unreadable> {
        let name = member(call, "name")
            .and_then(|name| Str::of(&name))
            .ok_or(Unreadable::new("a call without a name"))?;
        let input = member(call, "input");
        let memory = &self.reading.memory;
        if memory.structured.as_ref().is_some_and(|tool| name.is(tool)) {
            self.shaped = true;
            let text = match compact(input.map_or("{}", |input| input.text())) {
                std::borrow::Cow::Borrowed(text) => Str::plain(text),
                std::borrow::Cow::Owned(text) => Str::owned(text),
            };
            self.parts.push(Said::Piece(Piece::Text(text, None)));
            return Ok(());
        }
        let id = member(call, "toolUseId")
            .and_then(|id| Str::of(&id))
            .filter(|id| !id.is_empty())
            .unwrap_or_else(|| Str::owned(call_id(&self.reading.unique, self.calls)));
        self.calls += 1;
        self.parts.push(Said::Piece(Piece::ToolCall(ToolCall {
            id: Some(id),
            name: client_name(name, self.reading),
            arguments: input.map_or_else(Arguments::default, |input| match Str::of(&input) {
                Some(text) => Arguments::Text(text),
                None => Arguments::Value(json(&input)),
            }),
            state: None,
        })));
        Ok(())
    }
}

/// The name that the client gave a tool.
pub(super) fn client_name<'a>(name: Str<'a>, reading: &Reading) -> Str<'a> {
    if reading.memory.tool_names.is_empty() {
        return name;
    }
    let sent = name.decoded();
    let client = reading.memory.client_name(&sent);
    if client == sent {
        drop(sent);
        return name;
    }
    Str::owned(client)
}

/// A thought, unless it is of a kind that is not known.
fn thought<'a>(content: &Value<'a>) -> Option<Thinking<'a>> {
    let state = |data: Value<'a>| {
        Some(State {
            family: Family::Anthropic,
            data: Str::of(&data)?,
        })
    };
    if let Some(data) = member(content, "redactedContent") {
        return Some(Thinking {
            text: None,
            state: state(data),
        });
    }
    let text = member(content, "reasoningText")?;
    Some(Thinking {
        text: Some(member(&text, "text").and_then(|text| Str::of(&text))?),
        state: member(&text, "signature").and_then(state),
    })
}

fn image<'a>(image: &Value<'a>) -> Option<Piece<'a>> {
    let format = member(image, "format")?;
    let bytes = member(&member(image, "source")?, "bytes")?;
    let mime = Str::owned(format!("image/{}", format.as_str()?));
    Str::of(&bytes)
        .filter(|_| format.kind() == Kind::String)
        .map(|bytes| Piece::Image(mime, bytes))
}
