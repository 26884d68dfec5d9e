//! Whole answers, read from a provider and written for a client.

use crate::answer::{Answer, Choice, Finish, Piece, Reason};
use crate::failure::Unreadable;
use crate::options::{Context, Reading};
use crate::request::Thinking;
use crate::text::Str;
use crate::write::object;

use super::parts::{self, Writer};
use super::wire::{self, Candidate, Envelope};

/// Reads a provider's answer.
pub(crate) fn read_answer<'a>(body: &'a str, reading: &Reading) -> Result<Answer<'a>, Unreadable> {
    let mut envelope = Envelope::read(body)?;
    let mut answer = Answer {
        id: envelope.id.clone(),
        usage: envelope.counts.usage(),
        ..Answer::default()
    };
    let mut calls = 0;
    let mut usable = false;
    for candidate in std::mem::take(&mut envelope.candidates) {
        let broken = candidate
            .finish
            .as_ref()
            .is_some_and(|word| wire::reason(&word.decoded()).1);
        let choice = choice(candidate, &mut calls, reading)?;
        usable |= !broken || choice.parts.iter().any(says_something);
        answer.choices.push(choice);
    }
    if answer.choices.is_empty() {
        let refusal = envelope
            .refusal()
            .ok_or_else(|| Unreadable::new("no candidates"))?;
        answer.choices.push(Choice {
            parts: vec![Piece::Refusal(refusal)],
            finish: Finish {
                reason: Reason::ContentFilter,
                ..Finish::default()
            },
            ..Choice::default()
        });
    } else if !usable {
        return Err(Unreadable::new("the candidates failed and say nothing"));
    }
    Ok(answer)
}

/// One candidate; `calls` counts those of all.
fn choice<'a>(
    candidate: Candidate<'a>,
    calls: &mut u64,
    reading: &Reading,
) -> Result<Choice<'a>, Unreadable> {
    let mut pieces = Vec::new();
    for part in candidate.parts {
        let state = part.state();
        if let Some(call) = &part.call {
            pieces.push(Piece::ToolCall(wire::call(&part, call, *calls, reading)?));
            *calls += 1;
        } else if part.thought {
            let text = part.text;
            if text.is_some() || state.is_some() {
                pieces.push(Piece::Thinking(Thinking { text, state }));
            }
        } else if let Some(inline) = &part.inline {
            pieces.extend(wire::picture(inline).map(|(mime, data)| Piece::Image(mime, data)));
        } else if let Some(text) = part.text {
            pieces.push(Piece::Text(text, state));
        } else if state.is_some() {
            pieces.push(Piece::Text(Str::plain(""), state));
        }
    }
    Ok(Choice {
        index: candidate.index,
        parts: pieces,
        finish: candidate.finish.map(wire::finish).unwrap_or_default(),
        logprobs: candidate
            .logprobs
            .and_then(|result| wire::logprobs(&result))
            .map(Into::into),
        annotations: None,
    })
}

/// True for what makes an answer of a candidate that has failed.
fn says_something(piece: &Piece<'_>) -> bool {
    match piece {
        Piece::Text(text, _) => !text.is_empty(),
        Piece::ToolCall(_) | Piece::Image(..) => true,
        Piece::Refusal(_) | Piece::Thinking(_) => false,
    }
}

/// Writes an answer for a client.
pub(crate) fn write_answer(answer: &Answer<'_>, context: &Context, out: &mut String) {
    object(out, |o| {
        o.array("candidates", |list| {
            for choice in &answer.choices {
                list.object(|o| {
                    o.object("content", |o| {
                        o.text("role", "model");
                        o.array("parts", |list| {
                            let mut writer = Writer::new(list, context);
                            choice.parts.iter().for_each(|piece| writer.piece(piece));
                            writer.close();
                        });
                    });
                    o.text("finishReason", parts::finish_reason(&choice.finish));
                    o.u64("index", choice.index);
                    if let Some(logprobs) = &choice.logprobs {
                        parts::logprobs(logprobs, o);
                    }
                });
            }
        });
        if let Some(usage) = &answer.usage {
            o.object("usageMetadata", |o| parts::usage(usage, o));
        }
        o.text("modelVersion", &context.model);
        match &answer.id {
            Some(id) => o.str("responseId", id),
            None => o.text("responseId", &context.unique),
        }
    });
}

#[cfg(test)]
pub(super) mod tests;
