//! Answers: what of a provider's success reaches the caller.

use crate::{
    Endpoint,
    edits::Blank,
    errors::{self, Embedded},
    fault::{Fault, describe},
    schema::{Node, Note},
    walk::{Fills, Walk},
};

/// What an answer may need that it does not say itself.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The model name the caller asked for; written in place of the provider's.
    pub model: &'a str,
    /// A text that is unique to this request, a UUID say. Missing ids are a prefix and this text, so all
    /// chunks of a stream get the same one.
    pub unique: &'a str,
    /// The time for a missing `created`, in seconds since the epoch; 0 in strict mode.
    pub created: u64,
    /// Whether the text of a failed response may be shown.
    pub trusted: bool,
}

/// Cleans the answers to one request.
#[derive(Debug)]
pub struct Cleaner {
    answer: &'static Node,
    chunk: &'static Node,
    fills: Fills,
}

/// What a provider's text turned out to be.
#[derive(Debug, Clone)]
pub enum Cleaned<'t> {
    /// An answer or chunk; the clean text was appended.
    Answer(Facts<'t>),
    /// An error in the place of an answer; nothing was appended.
    Error(Embedded<'t>),
}

/// What the server needs to know of an answer or chunk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Facts<'t> {
    /// Whether some choice has a finish reason, or the event is the last of its stream.
    pub finished: bool,
    /// Whether token counts are in it.
    pub usage: bool,
    /// Whether there is a choice in it.
    pub choices: bool,
    /// The type of a Responses event: the name for its `event:` line. Letters, digits, `_` and `.` only.
    pub event: Option<&'t str>,
}

impl Facts<'_> {
    /// Whether a chunk carries token counts and nothing else.
    #[must_use]
    pub fn only_usage(&self) -> bool {
        self.usage && !self.choices
    }
}

/// The answer does not fit the contract; nothing of it may be shown. The text is for the operator's log
/// and quotes no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(String);

impl Cleaner {
    /// A cleaner for the answers of an endpoint in strict mode.
    #[must_use]
    pub fn new(endpoint: Endpoint, context: &Context<'_>) -> Self {
        let (answer, chunk) = endpoint.answers();
        Self {
            answer,
            chunk,
            fills: fills(endpoint.id_prefix(), context),
        }
    }

    /// A cleaner for chat answers without strict mode: it drops unknown members of the envelope, the
    /// choices and the token counts, and leaves messages and deltas alone.
    #[must_use]
    pub fn sanitizer(context: &Context<'_>) -> Self {
        let (answer, chunk) = crate::schema::sanitized();
        Self {
            answer,
            chunk,
            fills: fills("chatcmpl-", context),
        }
    }

    /// Cleans a whole answer and appends it to `out`. An error whose code is a status from 400 to 599
    /// makes it an [`Error`](Cleaned::Error).
    ///
    /// # Errors
    /// [`Malformed`] if it does not fit; `out` is as before.
    pub fn clean<'t>(&self, body: &'t [u8], out: &mut Vec<u8>) -> Result<Cleaned<'t>, Malformed> {
        self.pass(self.answer, body, Form::Answer, out, None)
    }

    /// Cleans the payload of one event and appends it to `out`, on one line. Any embedded error makes it
    /// an [`Error`](Cleaned::Error). `sequence` is written where a Responses event lacks its
    /// `sequence_number`: count the events of the stream from 0.
    ///
    /// # Errors
    /// [`Malformed`] if it does not fit; `out` is as before.
    pub fn clean_chunk<'t>(
        &self,
        payload: &'t [u8],
        sequence: u64,
        out: &mut Vec<u8>,
    ) -> Result<Cleaned<'t>, Malformed> {
        self.clean_event(payload, sequence, out, None)
    }

    /// The same, and notes the blanks: none if the outcome cannot be remembered by them.
    pub(crate) fn clean_event<'t>(
        &self,
        payload: &'t [u8],
        sequence: u64,
        out: &mut Vec<u8>,
        blanks: Option<&mut Vec<Blank>>,
    ) -> Result<Cleaned<'t>, Malformed> {
        self.pass(self.chunk, payload, Form::Event { sequence }, out, blanks)
    }

    fn pass<'t>(
        &self,
        node: &'static Node,
        text: &'t [u8],
        form: Form,
        out: &mut Vec<u8>,
        mut blanks: Option<&mut Vec<Blank>>,
    ) -> Result<Cleaned<'t>, Malformed> {
        let start = out.len();
        out.reserve(text.len() + 64);
        let walked = self.walk(node, text, form, out, blanks.as_deref_mut());
        if let Ok(seen) = &walked {
            if seen.spaced || seen.facts.event.is_some() {
                blanks.into_iter().for_each(Vec::clear);
            }
            if matches!(form, Form::Event { .. }) && seen.spaced {
                one_line(out, start);
            }
            if !seen.error {
                return Ok(Cleaned::Answer(seen.facts));
            }
        }
        let error = errors::embedded(text).filter(|error| form.fails_by(error));
        match (error, walked) {
            (None, Ok(seen)) => Ok(Cleaned::Answer(seen.facts)),
            (Some(error), _) => {
                out.truncate(start);
                Ok(Cleaned::Error(error))
            }
            (None, Err(fault)) => {
                out.truncate(start);
                Err(Malformed::from(*fault))
            }
        }
    }

    fn walk<'t>(
        &self,
        node: &'static Node,
        text: &'t [u8],
        form: Form,
        out: &mut Vec<u8>,
        blanks: Option<&mut Vec<Blank>>,
    ) -> Result<Seen<'t>, Box<Fault>> {
        let mut walk = Walk::new(text, out, &self.fills)?;
        walk.edits.blanks = blanks;
        if let Form::Event { sequence } = form {
            walk.sequence = sequence;
        }
        walk.run(node)?;
        let event = walk.tag.map(|tag| tag.raw()).filter(|name| is_name(name));
        let facts = Facts {
            finished: walk.noted(Note::Finished) || event.is_some_and(is_last),
            usage: walk.noted(Note::Usage),
            choices: walk.noted(Note::Choices),
            event,
        };
        Ok(Seen {
            facts,
            error: walk.noted(Note::Error),
            spaced: walk.spaced(),
        })
    }
}

/// What is cleaned.
#[derive(Clone, Copy)]
enum Form {
    /// A whole answer.
    Answer,
    /// The payload of an event, which has to stay on one line.
    Event { sequence: u64 },
}

impl Form {
    /// Whether this error makes an error of what it was found in.
    fn fails_by(self, error: &Embedded<'_>) -> bool {
        matches!(self, Self::Event { .. }) || error.is_status()
    }
}

/// What one pass saw.
struct Seen<'t> {
    facts: Facts<'t>,
    /// There is an `error` member to look at.
    error: bool,
    /// There is white space between tokens.
    spaced: bool,
}

fn fills(prefix: &'static str, context: &Context<'_>) -> Fills {
    Fills {
        model: onwards_json::quote(context.model),
        prefix,
        unique: context.unique.to_owned(),
        created: context.created,
        trusted: context.trusted,
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_'))
}

/// Whether no event follows one of this type.
fn is_last(event: &str) -> bool {
    matches!(
        event,
        "response.completed"
            | "response.failed"
            | "response.incomplete"
            | "response.cancelled"
            | "error"
    )
}

/// Takes line breaks out; in JSON they only stand between tokens.
fn one_line(out: &mut Vec<u8>, start: usize) {
    let is_break = |byte: &u8| matches!(byte, b'\n' | b'\r');
    if out.iter().skip(start).any(is_break) {
        let tail = out.split_off(start);
        out.extend(tail.into_iter().filter(|byte| !is_break(byte)));
    }
}

impl From<Fault> for Malformed {
    fn from(fault: Fault) -> Self {
        Self(match fault {
            Fault::Syntax(error) => error.to_string(),
            Fault::Shape(misfit) => {
                let (mut path, wanted) = (misfit.path(), describe(misfit.wanted));
                if path.is_empty() {
                    path.push_str("the answer");
                }
                format!("{path}: wanted {wanted}, found {}", misfit.found)
            }
        })
    }
}

#[cfg(test)]
mod tests;
