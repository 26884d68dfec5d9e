//! Answers: what of a provider's success reaches the caller.

use crate::{
    Endpoint,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
        self.pass(self.answer, body, 0, out, Embedded::is_status)
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
        let start = out.len();
        let cleaned = self.pass(self.chunk, payload, sequence, out, |_| true)?;
        if has_line_break(payload) {
            one_line(out, start);
        }
        Ok(cleaned)
    }

    fn pass<'t>(
        &self,
        node: &'static Node,
        text: &'t [u8],
        sequence: u64,
        out: &mut Vec<u8>,
        counts: impl Fn(&Embedded<'t>) -> bool,
    ) -> Result<Cleaned<'t>, Malformed> {
        let start = out.len();
        out.reserve(text.len() + 64);
        let fault = match self.walk(node, text, sequence, out) {
            Ok((facts, false)) => return Ok(Cleaned::Answer(facts)),
            Ok((facts, true)) => match errors::embedded(text).filter(counts) {
                None => return Ok(Cleaned::Answer(facts)),
                Some(error) => {
                    out.truncate(start);
                    return Ok(Cleaned::Error(error));
                }
            },
            Err(fault) => fault,
        };
        out.truncate(start);
        match errors::embedded(text).filter(counts) {
            Some(error) => Ok(Cleaned::Error(error)),
            None => Err(Malformed::from(*fault)),
        }
    }

    /// One pass; the flag says that there is an `error` member to look at.
    fn walk<'t>(
        &self,
        node: &'static Node,
        text: &'t [u8],
        sequence: u64,
        out: &mut Vec<u8>,
    ) -> Result<(Facts<'t>, bool), Box<Fault>> {
        let mut walk = Walk::new(text, out, &self.fills)?;
        walk.sequence = sequence;
        walk.run(node)?;
        let event = walk.tag.map(|tag| tag.raw()).filter(|name| is_name(name));
        let facts = Facts {
            finished: walk.noted(Note::Finished) || event.is_some_and(is_last),
            usage: walk.noted(Note::Usage),
            choices: walk.noted(Note::Choices),
            event,
        };
        Ok((facts, walk.noted(Note::Error)))
    }
}

fn fills(prefix: &str, context: &Context<'_>) -> Fills {
    Fills {
        model: onwards_json::quote(context.model),
        id: onwards_json::quote(&format!("{prefix}{}", context.unique)),
        unique: context
            .unique
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
            .collect(),
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

/// A fold without an early end runs on whole vectors.
fn has_line_break(text: &[u8]) -> bool {
    let hit = |byte: &u8| u8::from(*byte == b'\n') | u8::from(*byte == b'\r');
    text.iter().fold(0, |hits, byte| hits | hit(byte)) != 0
}

/// Takes line breaks out; in JSON they only stand between tokens.
fn one_line(out: &mut Vec<u8>, start: usize) {
    let tail = out.split_off(start);
    out.extend(
        tail.into_iter()
            .filter(|byte| !matches!(byte, b'\n' | b'\r')),
    );
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
