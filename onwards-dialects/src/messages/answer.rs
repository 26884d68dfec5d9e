//! Whole answers: of a provider, and to a client.

use onwards_json::{Kind, Value};

use super::content::write_thought;
use super::{DECLINED, client_tool, finish, member, message_id, stop_reason, usage};
use crate::Family;
use crate::answer::{Answer, Choice, Piece, Reason};
use crate::conversation::arguments;
use crate::failure::Unreadable;
use crate::fidelity::Report;
use crate::options::{Context, Expose, Reading, call_id};
use crate::request::{Arguments, State, Thinking, ToolCall};
use crate::text::{Str, compact, json, value};
use crate::write::{Arr, object};

/// A provider's answer.
///
/// # Errors
/// For what is no message.
pub(crate) fn read_answer<'a>(body: &'a str, reading: &Reading) -> Result<Answer<'a>, Unreadable> {
    let body = value(body).ok_or(Unreadable::new("the answer is not JSON"))?;
    let content = member(&body, "content")
        .filter(|content| content.kind() == Kind::Array)
        .ok_or(Unreadable::new("the answer has no content"))?;
    let text = |name| member(&body, name).and_then(|value| Str::of(&value));
    let mut choice = Choice {
        parts: pieces(&content, reading),
        ..Choice::default()
    };
    if let Some(word) = text("stop_reason") {
        choice.finish = finish(word, text("stop_sequence"));
    }
    // Calling the tool that stands for the answer's shape is an ordinary end.
    let calls = |piece: &Piece<'_>| matches!(piece, Piece::ToolCall(_));
    let reason = choice.finish.reason;
    choice.finish.reason = reason.with_calls(choice.parts.iter().any(calls));
    if reason == Reason::ContentFilter {
        choice.parts = refused(choice.parts);
    }
    Ok(Answer {
        id: text("id"),
        choices: vec![choice],
        usage: usage::read(&body),
        extra: Vec::new(),
    })
}

fn pieces<'a>(content: &Value<'a>, reading: &Reading) -> Vec<Piece<'a>> {
    let memory = &reading.memory;
    let mut parts = Vec::new();
    let mut calls = 0;
    let mut shaped = None;
    for block in content.elements() {
        let text = |name| member(&block, name).and_then(|value| Str::of(&value));
        let Some(kind) = text("type") else { continue };
        match &*kind.decoded() {
            "text" => {
                let text = text("text").filter(|text| !text.is_empty());
                parts.extend(text.map(|text| Piece::Text(text, None)));
            }
            "thinking" => parts.push(Piece::Thinking(Thinking {
                text: Some(text("thinking").unwrap_or(Str::plain(""))),
                state: text("signature").and_then(state),
            })),
            "redacted_thinking" => parts.push(Piece::Thinking(Thinking {
                text: None,
                state: text("data").and_then(state),
            })),
            "tool_use" => {
                let name = text("name").unwrap_or(Str::plain(""));
                let input = member(&block, "input").map_or("{}".into(), |input| json(&input));
                if memory
                    .structured
                    .as_deref()
                    .is_some_and(|tool| name.is(tool))
                {
                    shaped.get_or_insert(input);
                    continue;
                }
                let id = text("id").filter(|id| !id.is_empty());
                parts.push(Piece::ToolCall(ToolCall {
                    id: Some(id.unwrap_or_else(|| Str::owned(call_id(&reading.unique, calls)))),
                    name: client_tool(name, memory),
                    arguments: Arguments::Value(input),
                    state: None,
                }));
                calls += 1;
            }
            _ => {}
        }
    }
    if let Some(shaped) = shaped {
        // What is said beside the answer's shape is not part of the answer.
        parts.retain(|piece| !matches!(piece, Piece::Text(..)));
        let text = Str::owned(compact(&shaped).into_owned());
        parts.push(Piece::Text(text, None));
    }
    parts
}

fn state(data: Str<'_>) -> Option<State<'_>> {
    (!data.is_empty()).then_some(State {
        family: Family::Anthropic,
        data,
    })
}

/// Text of an answer that was declined is the refusal.
fn refused(parts: Vec<Piece<'_>>) -> Vec<Piece<'_>> {
    let mut parts: Vec<_> = parts
        .into_iter()
        .map(|piece| match piece {
            Piece::Text(text, _) => Piece::Refusal(text),
            other => other,
        })
        .collect();
    if !parts.iter().any(|piece| matches!(piece, Piece::Refusal(_))) {
        parts.push(Piece::Refusal(Str::plain(DECLINED)));
    }
    parts
}

/// An answer to a client.
pub(crate) fn write_answer(answer: &Answer<'_>, context: &Context, out: &mut String) {
    let empty = Choice::default();
    let choice = answer.choices.first().unwrap_or(&empty);
    let calls = |piece: &Piece<'_>| matches!(piece, Piece::ToolCall(_));
    let stop = stop_reason(&choice.finish, choice.parts.iter().any(calls));
    object(out, |o| {
        o.text("id", &message_id(answer.id.as_ref(), &context.unique));
        o.raw("type", "\"message\"");
        o.raw("role", "\"assistant\"");
        o.text("model", &context.model);
        o.array("content", |a| write_content(&choice.parts, context, a));
        o.text("stop_reason", stop);
        match &choice.finish.stop_sequence {
            Some(sequence) if stop == "stop_sequence" => o.str("stop_sequence", sequence),
            _ => o.null("stop_sequence"),
        }
        usage::write(answer.usage, o);
    });
}

/// Thoughts, text, calls; as they came where the thoughts are signed, for the signatures hold for that order.
fn write_content(parts: &[Piece<'_>], context: &Context, a: &mut Arr<'_>) {
    let mut parts: Vec<&Piece<'_>> = parts
        .iter()
        .filter(|piece| match piece {
            Piece::Thinking(thinking) => context.expose == Expose::Full && genuine(thinking),
            Piece::Image(..) => false,
            _ => true,
        })
        .collect();
    if !parts
        .iter()
        .any(|piece| matches!(piece, Piece::Thinking(_)))
    {
        parts.sort_by_key(|piece| matches!(piece, Piece::ToolCall(_)));
    }
    let spoken = |a: &&Piece<'_>, b: &&Piece<'_>| said(a).is_some() && said(b).is_some();
    for run in parts.chunk_by(spoken) {
        let mut text = String::from("\"");
        for piece in run.iter().filter_map(|piece| said(piece)) {
            piece.escape_into(&mut text);
        }
        text.push('"');
        match run {
            [Piece::ToolCall(call), ..] => write_call(call, a),
            [Piece::Thinking(thinking), ..] => write_thought(thinking, a),
            _ if text == "\"\"" => {}
            _ => a.object(|o| {
                o.raw("type", "\"text\"");
                o.raw("text", &text);
            }),
        }
    }
}

fn said<'p, 'a>(piece: &'p Piece<'a>) -> Option<&'p Str<'a>> {
    match piece {
        Piece::Text(text, _) | Piece::Refusal(text) => Some(text),
        _ => None,
    }
}

/// True for a thought that Anthropic itself can read again.
pub(super) fn genuine(thinking: &Thinking<'_>) -> bool {
    let state = thinking.state.as_ref();
    state.is_some_and(|state| state.family == Family::Anthropic && !state.data.is_empty())
}

fn write_call(call: &ToolCall<'_>, a: &mut Arr<'_>) {
    // Nobody reads the report of an answer.
    let input = arguments::object(&call.arguments, &mut Report::default()).into_owned();
    a.object(|o| {
        o.raw("type", "\"tool_use\"");
        if let Some(id) = &call.id {
            o.str("id", id);
        }
        o.str("name", &call.name);
        o.raw("input", &input);
    });
}
