//! `contents`: the conversation.

use std::collections::{BTreeMap, BTreeSet};

use onwards_json::Kind;

use super::Writer;
use crate::Family;
use crate::conversation::{Conversation, Placed, Turn, arguments, thoughts};
use crate::failure::Rejected;
use crate::request::{Part, PartKind, State, Thinking, ToolCall, ToolResult};
use crate::text::{Str, value};
use crate::write::{Arr, Obj, array};

/// The calls so far, by their ids.
type Called<'c> = BTreeMap<String, Call<'c>>;

/// A call that a result may answer.
#[derive(Clone, Copy)]
struct Call<'c> {
    /// Its function.
    name: &'c Str<'c>,
    /// Its place among all.
    place: usize,
    /// Gemini has given it its id.
    issued: bool,
}

/// How ids begin that other providers and the gateway give.
const FOREIGN: &[&str] = &[
    "call_",
    "fc_",
    "toolu_",
    "srvtoolu_",
    "tooluse_",
    "chatcmpl-tool-",
];

impl Writer<'_, '_> {
    pub(super) fn turns(
        &mut self,
        conversation: &Conversation<'_>,
        list: &mut Arr<'_>,
    ) -> Result<(), Rejected> {
        let mut called = Called::new();
        for turn in &conversation.turns {
            list.object(|o| {
                let role = if turn.assistant { "model" } else { "user" };
                o.text("role", role);
                array(o.key("parts"), |list| self.parts(turn, &mut called, list))
            })?;
        }
        Ok(())
    }

    fn parts<'c>(
        &mut self,
        turn: &'c Turn<'_>,
        called: &mut Called<'c>,
        list: &mut Arr<'_>,
    ) -> Result<(), Rejected> {
        let several = turn.parts.len() > 1;
        let signed = signed(turn);
        let mut parts = paired(turn, called).into_iter().peekable();
        while let Some(placed) = parts.next() {
            if placed.part.cache.is_some() {
                self.report.dropped("cache_control");
            }
            match &placed.part.kind {
                PartKind::Text(text) | PartKind::Refusal(text) => {
                    let signature = parts
                        .next_if(|next| text_signature(&next.part).is_some())
                        .and_then(|next| text_signature(&next.part));
                    // The service takes no text of nothing beside other parts.
                    if several && signature.is_none() && text.is_empty() {
                        continue;
                    }
                    list.object(|o| {
                        o.str("text", text);
                        write_signature(signature, o);
                    });
                }
                PartKind::Thinking(thinking) => list.object(|o| thought(thinking, o)),
                PartKind::ToolCall(call) => {
                    let issued = signed.contains(&placed.message) && !is_foreign(call.id.as_ref());
                    if let Some(id) = &call.id {
                        let known = Call {
                            name: &call.name,
                            place: called.len(),
                            issued,
                        };
                        called.insert(id.decoded().into_owned(), known);
                    }
                    list.object(|o| self.call(call, issued, o));
                }
                PartKind::ToolResult(result) => {
                    list.object(|o| self.result(result, placed, called, o))?;
                }
                _ => self.media(placed, list)?,
            }
        }
        Ok(())
    }

    fn call(&mut self, call: &ToolCall<'_>, issued: bool, o: &mut Obj<'_>) {
        o.object("functionCall", |o| {
            write_id(call.id.as_ref().filter(|_| issued), o);
            o.str("name", &self.names.sent(&call.name));
            o.raw(
                "args",
                &arguments::object(&call.arguments, &mut self.report),
            );
        });
        write_signature(call.state.as_ref(), o);
    }

    fn result(
        &mut self,
        result: &ToolResult<'_>,
        placed: &Placed<'_>,
        called: &Called<'_>,
        o: &mut Obj<'_>,
    ) -> Result<(), Rejected> {
        o.object("functionResponse", |o| {
            let call = call_of(result, called);
            let issued = call.is_some_and(|call| call.issued);
            write_id(result.id.as_ref().filter(|_| issued), o);
            let known = call.map(|call| call.name);
            let name = result.name.as_ref().or(known).or(result.id.as_ref());
            if let Some(name) = name {
                o.str("name", &self.names.sent(name));
            }
            response(result, o.key("response"));
            self.pictures(result, placed, o)
        })
    }

    /// What a result holds beside text.
    fn pictures(
        &mut self,
        result: &ToolResult<'_>,
        placed: &Placed<'_>,
        o: &mut Obj<'_>,
    ) -> Result<(), Rejected> {
        let others = result.content.iter().filter(|part| text_of(part).is_none());
        let others: Vec<Placed<'_>> = others
            .map(|part| Placed {
                part: std::borrow::Cow::Borrowed(part),
                message: placed.message,
                index: placed.index,
            })
            .collect();
        if others.is_empty() {
            return Ok(());
        }
        o.array("parts", |list| {
            others
                .iter()
                .try_for_each(|placed| self.media(placed, list))
        })
    }
}

/// The call that a result answers.
fn call_of<'c>(result: &ToolResult<'_>, called: &Called<'c>) -> Option<Call<'c>> {
    called.get(&*result.id.as_ref()?.decoded()).copied()
}

/// The parts of a turn. Results that go without their ids are told apart by their order alone where they are of one function, so
/// those stand in the order of the calls, in the places that they had together.
fn paired<'t, 'r>(turn: &'t Turn<'r>, called: &Called<'_>) -> Vec<&'t Placed<'r>> {
    let mut parts: Vec<_> = turn.parts.iter().collect();
    let mut groups: BTreeMap<String, Vec<(usize, usize)>> = BTreeMap::new();
    for (index, placed) in turn.parts.iter().enumerate() {
        if let PartKind::ToolResult(result) = &placed.part.kind
            && let Some(call) = call_of(result, called)
            && !call.issued
        {
            let group = groups.entry(call.name.decoded().into_owned()).or_default();
            group.push((call.place, index));
        }
    }
    for group in groups.into_values() {
        let places: Vec<usize> = group.iter().map(|(_, index)| *index).collect();
        let mut in_order = group;
        in_order.sort_by_key(|(call, _)| *call);
        for (place, (_, index)) in places.into_iter().zip(in_order) {
            if let (Some(slot), Some(placed)) = (parts.get_mut(place), turn.parts.get(index)) {
                *slot = placed;
            }
        }
    }
    parts
}

/// The signature of the text before, if a part is that.
fn text_signature<'p>(part: &'p Part<'_>) -> Option<&'p State<'p>> {
    match &part.kind {
        PartKind::Thinking(Thinking { text: None, state }) => state.as_ref(),
        _ => None,
    }
}

fn thought(thinking: &Thinking<'_>, o: &mut Obj<'_>) {
    match &thinking.text {
        Some(text) => {
            o.str("text", text);
            o.bool("thought", true);
        }
        None => o.text("text", ""),
    }
    write_signature(thinking.state.as_ref(), o);
}

fn write_signature(state: Option<&State<'_>>, o: &mut Obj<'_>) {
    if let Some(state) = state.filter(|state| state.family == Family::Google) {
        o.str("thoughtSignature", &state.data);
    }
}

fn write_id(id: Option<&Str<'_>>, o: &mut Obj<'_>) {
    if let Some(id) = id {
        o.str("id", id);
    }
}

/// The messages whose calls Gemini has made, by their numbers: it signs the first of them at least, and nobody else can. An id is sent
/// back only to who has given it (spec providers 3.4); results without one it takes in the order of the calls.
fn signed(turn: &Turn<'_>) -> BTreeSet<usize> {
    let signed = turn.parts.iter().filter(|placed| match &placed.part.kind {
        PartKind::ToolCall(call) => call.state.as_ref().is_some_and(thoughts::is_signature),
        _ => false,
    });
    signed.map(|placed| placed.message).collect()
}

/// True for an id that is another provider's, or was made here because Gemini gave none.
fn is_foreign(id: Option<&Str<'_>>) -> bool {
    id.is_none_or(|id| {
        let id = id.decoded();
        FOREIGN.iter().any(|start| id.starts_with(start))
    })
}

/// The object that a result is: as it was written, or around what it says. A number is written as a string: in an object of
/// Google's it would be a double.
fn response(result: &ToolResult<'_>, out: &mut String) {
    if let Some(json) = &result.json {
        out.push_str(json);
        return;
    }
    let texts: Vec<_> = result.content.iter().filter_map(text_of).collect();
    let text = match texts.as_slice() {
        [one] => one.decoded(),
        several => several
            .iter()
            .map(|text| text.decoded())
            .collect::<String>()
            .into(),
    };
    let said = value(&text).filter(|said| said.kind() != Kind::Number);
    if let Some(object) = said
        && object.kind() == Kind::Object
        && !result.is_error
    {
        out.push_str(object.text());
        return;
    }
    out.push_str(if result.is_error {
        "{\"error\":"
    } else {
        "{\"result\":"
    });
    match said {
        Some(said) => out.push_str(said.text()),
        None => onwards_json::quote_into(&text, out),
    }
    out.push('}');
}

fn text_of<'p>(part: &'p Part<'_>) -> Option<&'p Str<'p>> {
    match &part.kind {
        PartKind::Text(text) | PartKind::Refusal(text) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
