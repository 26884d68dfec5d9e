//! Turns as providers with strict roles want them (spec providers 3.0.3): what the writers of Anthropic's, Gemini's and Bedrock's
//! requests have in common.
//!
//! [`turns`] borrows from the request; what a rule makes up is owned. The submodules hold the rules for names and ids
//! ([`names`]), arguments ([`arguments`]), thoughts ([`thoughts`]) and pictures ([`media`]).

pub(crate) mod arguments;
pub(crate) mod media;
pub(crate) mod names;
pub(crate) mod thoughts;

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::failure::Rejected;
use crate::fidelity::{Change, Report};
use crate::options::MidSystem;
use crate::request::{Message, Part, PartKind, Request, Role, ToolCall, ToolResult};
use crate::text::{Json, Str};

/// Where the providers differ.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// What becomes of system messages within the conversation.
    pub(crate) mid_system: MidSystem,
    /// Text of white space only is left out, and a last word of the assistant's loses the white space at its end (anthropic,
    /// bedrock).
    pub(crate) trim: bool,
    /// Calls and results must have ids (anthropic, bedrock): those without are paired by name and order. Where they need none
    /// (gemini) a result must have an id or a name.
    pub(crate) ids: bool,
}

/// A conversation of alternating turns, the person's first.
#[derive(Debug)]
pub(crate) struct Conversation<'r> {
    /// What the operator says, in order.
    pub(crate) system: Vec<System<'r>>,
    /// The turns.
    pub(crate) turns: Vec<Turn<'r>>,
}

/// One system message.
#[derive(Debug, PartialEq)]
pub(crate) struct System<'r> {
    /// What it says.
    pub(crate) text: Str<'r>,
    /// Anthropic's cache hint.
    pub(crate) cache: Option<&'r Json<'r>>,
}

/// All that one side says before the other does.
#[derive(Debug)]
pub(crate) struct Turn<'r> {
    /// The model speaks, not the person.
    pub(crate) assistant: bool,
    /// What is said: never empty; of a person's turn the results of calls first. No refusals: they are text here.
    pub(crate) parts: Vec<Placed<'r>>,
}

/// A part and its place in the request.
#[derive(Debug)]
pub(crate) struct Placed<'r> {
    /// The part.
    pub(crate) part: Cow<'r, Part<'r>>,
    /// The message it is of.
    pub(crate) message: usize,
    /// Its number there.
    pub(crate) index: usize,
}

impl Placed<'_> {
    /// Where the part stands, as a JSON pointer into the client's request.
    pub(crate) fn pointer(&self) -> String {
        crate::request::pointer(&self.part, self.message, self.index)
    }
}

/// Puts the messages of a request into turns.
///
/// # Errors
/// `conversation_empty`, `tool_call_id_missing`, or `unsupported_content` for a system message that is not text.
pub(crate) fn turns<'r>(
    request: &'r Request<'r>,
    rules: Rules,
    report: &mut Report,
) -> Result<Conversation<'r>, Rejected> {
    let mut conversation = Conversation {
        system: Vec::new(),
        turns: Vec::new(),
    };
    let mut unnamed = Unnamed::default();
    for (number, message) in request.messages.iter().enumerate() {
        if message.name.is_some() {
            report.dropped("name");
        }
        for (name, _) in &message.unknown {
            report.dropped(&name.decoded());
        }
        match message.role {
            Role::System | Role::Developer => {
                conversation.lift(number, message, rules, report)?;
            }
            Role::User | Role::Tool => {
                let parts = placed(number, message, rules, &mut unnamed)?;
                conversation.add(false, parts);
            }
            Role::Assistant => {
                let parts = placed(number, message, rules, &mut unnamed)?;
                conversation.add(true, parts);
            }
        }
    }
    conversation.close(rules, report)?;
    Ok(conversation)
}

impl<'r> Conversation<'r> {
    /// A system message.
    fn lift(
        &mut self,
        number: usize,
        message: &'r Message<'r>,
        rules: Rules,
        report: &mut Report,
    ) -> Result<(), Rejected> {
        let blocks = system_blocks(number, message, rules.trim)?;
        if self.turns.is_empty() {
            self.system.extend(blocks);
            return Ok(());
        }
        if !blocks.is_empty() {
            report.note("system_position", Change::Changed);
        }
        match rules.mid_system {
            MidSystem::Hoist => self.system.extend(blocks),
            MidSystem::UserNote => {
                let parts = blocks
                    .into_iter()
                    .map(|block| Placed {
                        part: Cow::Owned(Part {
                            kind: PartKind::Text(Str::owned(format!(
                                "System: {}",
                                block.text.decoded()
                            ))),
                            cache: block.cache.cloned(),
                            at: None,
                        }),
                        message: number,
                        index: 0,
                    })
                    .collect();
                self.add(false, parts);
            }
        }
        Ok(())
    }

    /// Takes parts out, the turns that are left with none as well, and merges what then stands side by side.
    fn retain(&mut self, mut keep: impl FnMut(&Part<'_>) -> bool) {
        let turns = std::mem::take(&mut self.turns);
        for mut turn in turns {
            turn.parts.retain(|placed| keep(&placed.part));
            self.add(turn.assistant, turn.parts);
        }
        self.sort();
    }

    /// Puts the results of calls first in the person's turns.
    fn sort(&mut self) {
        for turn in self.turns.iter_mut().filter(|turn| !turn.assistant) {
            turn.parts
                .sort_by_key(|placed| !matches!(placed.part.kind, PartKind::ToolResult(_)));
        }
    }

    /// Parts of a side: they join its turn, if that is the last one.
    fn add(&mut self, assistant: bool, parts: Vec<Placed<'r>>) {
        if parts.is_empty() {
            return;
        }
        match self.turns.last_mut() {
            Some(turn) if turn.assistant == assistant => turn.parts.extend(parts),
            _ => self.turns.push(Turn { assistant, parts }),
        }
    }

    /// What can only be done when all messages are there.
    fn close(&mut self, rules: Rules, report: &mut Report) -> Result<(), Rejected> {
        self.sort();
        if rules.trim {
            self.trim_last();
        }
        match self.turns.first() {
            None => Err(Rejected::new(
                "conversation_empty",
                Some("messages".to_owned()),
                "no message is left to be answered: expected one that is not a system message and not empty",
            )),
            Some(first) if first.assistant => {
                report.note("synthetic_user_turn", Change::Changed);
                let part = Placed {
                    part: Cow::Owned(Part::new(PartKind::Text(Str::plain(".")))),
                    message: 0,
                    index: 0,
                };
                self.turns.insert(
                    0,
                    Turn {
                        assistant: false,
                        parts: vec![part],
                    },
                );
                Ok(())
            }
            Some(_) => Ok(()),
        }
    }

    /// Takes the white space from the end of a last word of the assistant's.
    fn trim_last(&mut self) {
        let last = self
            .turns
            .last_mut()
            .filter(|turn| turn.assistant)
            .and_then(|turn| turn.parts.last_mut());
        let Some(last) = last else { return };
        let PartKind::Text(text) = &last.part.kind else {
            return;
        };
        let meant = text.decoded();
        let trimmed = meant.trim_end();
        if trimmed.len() < meant.len() {
            let trimmed = Str::owned(trimmed);
            last.part.to_mut().kind = PartKind::Text(trimmed);
        }
    }
}

/// The text of a system message: one block, or one for each part where a cache hint ends within.
fn system_blocks<'r>(
    number: usize,
    message: &'r Message<'r>,
    trim: bool,
) -> Result<Vec<System<'r>>, Rejected> {
    let mut blocks: Vec<System<'r>> = Vec::new();
    for (index, part) in message.parts.iter().enumerate() {
        let PartKind::Text(text) = &part.kind else {
            return Err(Rejected::content(
                &crate::request::pointer(part, number, index),
                "a system message with other parts than text",
            ));
        };
        if text.is_empty() || (trim && text.is_blank()) {
            continue;
        }
        match blocks.last_mut() {
            Some(block) if block.cache.is_none() => {
                block.text = Str::owned(format!("{}{}", block.text.decoded(), text.decoded()));
                block.cache = part.cache.as_ref();
            }
            _ => blocks.push(System {
                text: text.clone(),
                cache: part.cache.as_ref(),
            }),
        }
    }
    Ok(blocks)
}

/// The parts of a message that are sent.
fn placed<'r>(
    number: usize,
    message: &'r Message<'r>,
    rules: Rules,
    unnamed: &mut Unnamed<'r>,
) -> Result<Vec<Placed<'r>>, Rejected> {
    let mut parts = Vec::with_capacity(message.parts.len());
    for (index, part) in message.parts.iter().enumerate() {
        let part = match &part.kind {
            PartKind::Text(text) | PartKind::Refusal(text) if rules.trim && text.is_blank() => {
                continue;
            }
            PartKind::Refusal(text) => Cow::Owned(Part {
                kind: PartKind::Text(text.clone()),
                cache: part.cache.clone(),
                at: part.at,
            }),
            PartKind::ToolCall(call) => unnamed.call(part, call, rules.ids),
            PartKind::ToolResult(result) => unnamed.result(number, part, result, rules.ids)?,
            _ => Cow::Borrowed(part),
        };
        parts.push(Placed {
            part,
            message: number,
            index,
        });
    }
    Ok(parts)
}

/// Calls without ids, which some clients know by name and order only.
#[derive(Default)]
struct Unnamed<'r> {
    /// How many there were.
    calls: usize,
    /// Made-up ids of those without a result, oldest first, by tool.
    open: BTreeMap<Cow<'r, str>, Vec<String>>,
}

impl<'r> Unnamed<'r> {
    fn call(&mut self, part: &'r Part<'r>, call: &'r ToolCall<'r>, ids: bool) -> Cow<'r, Part<'r>> {
        if !ids || call.id.as_ref().is_some_and(|id| !id.is_empty()) {
            return Cow::Borrowed(part);
        }
        let id = format!("call_{}", self.calls);
        self.calls += 1;
        self.open
            .entry(call.name.decoded())
            .or_default()
            .push(id.clone());
        let mut call = call.clone();
        call.id = Some(Str::owned(id));
        Cow::Owned(Part {
            kind: PartKind::ToolCall(call),
            cache: part.cache.clone(),
            at: part.at,
        })
    }

    fn result(
        &mut self,
        number: usize,
        part: &'r Part<'r>,
        result: &'r ToolResult<'r>,
        ids: bool,
    ) -> Result<Cow<'r, Part<'r>>, Rejected> {
        if result.id.as_ref().is_some_and(|id| !id.is_empty()) {
            return Ok(Cow::Borrowed(part));
        }
        if !ids && result.name.is_some() {
            return Ok(Cow::Borrowed(part));
        }
        let open = result
            .name
            .as_ref()
            .and_then(|name| self.open.get_mut(&name.decoded()))
            .filter(|open| !open.is_empty());
        let Some(open) = open else {
            let pointer = format!("/messages/{number}/tool_call_id");
            let message = format!("{pointer}: missing, expected the id of the call it answers");
            return Err(Rejected::new(
                "tool_call_id_missing",
                Some(pointer),
                message,
            ));
        };
        let mut result = result.clone();
        result.id = Some(Str::owned(open.remove(0)));
        Ok(Cow::Owned(Part {
            kind: PartKind::ToolResult(result),
            cache: part.cache.clone(),
            at: part.at,
        }))
    }
}

/// Refuses what only the client's own dialect can serve, and what would change the shape of the answer, whatever the operator says
/// of losses (spec providers 3.0.4): several candidates, unless the provider has them, and audio.
///
/// # Errors
/// `unsupported_parameter`, or what the reader of the request has prepared.
pub(crate) fn refuse_shapes(request: &Request<'_>, candidates: bool) -> Result<(), Rejected> {
    if let Some(rejected) = &request.native_only {
        return Err(rejected.clone());
    }
    let several = request
        .param("n")
        .and_then(|n| crate::text::value(n))
        .is_some_and(|n| n.as_u64() != Some(1));
    if several && !candidates {
        return Err(Rejected::unsupported("n"));
    }
    let audio = request
        .param("modalities")
        .and_then(|modalities| crate::text::value(modalities))
        .is_some_and(|modalities| {
            modalities
                .elements()
                .any(|modality| modality.as_str().is_some_and(|word| word == "audio"))
        });
    if audio {
        return Err(Rejected::unsupported("modalities"));
    }
    if request.param("audio").is_some() {
        return Err(Rejected::unsupported("audio"));
    }
    Ok(())
}

/// Notes every parameter that is not among `taken`, and every member that nobody knows, as dropped.
pub(crate) fn drop_rest(request: &Request<'_>, taken: &[&str], report: &mut Report) {
    drop_params(request, taken, report);
    for (name, _) in &request.unknown {
        report.dropped(&name.decoded());
    }
}

/// Notes every parameter that is not among `taken` as dropped.
pub(crate) fn drop_params(request: &Request<'_>, taken: &[&str], report: &mut Report) {
    let named = request.params.iter().map(|param| param.name);
    for name in named.filter(|name| !taken.contains(name)) {
        report.dropped(name);
    }
}

#[cfg(test)]
mod tests;
