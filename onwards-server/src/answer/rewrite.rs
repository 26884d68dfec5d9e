//! One event of a provider in, the event the client may see out (spec J.2 to J.5).

use std::ops::ControlFlow;

use onwards_json::object;
use onwards_sse::{Event, Rewrite};
use onwards_strict::{Cleaned, Cleaner, Endpoint, Facts, Stream, errors::Embedded};

use super::Contract;
use super::id::AnswerId;

/// Cleans the events of one stream.
#[derive(Debug)]
pub(crate) struct Rewriter {
    cleaner: Stream,
    /// Errors are shown as the provider wrote them.
    verbatim: bool,
    /// Comments keep the connection alive as bare ones, and an end that nothing announced is an error.
    strict: bool,
    /// Ends with `[DONE]`, as all streams but those of Responses do.
    marks_end: bool,
    /// What becomes of token counts, where the client asked for them.
    usage: Option<Usage>,
    /// What every event says as the answer's id.
    id: Option<AnswerId>,
    sequence: u64,
    seen: Seen,
}

/// What a stream has shown so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// Some event with data.
    pub(crate) data: bool,
    /// A data event that is neither the end marker nor an error.
    pub(crate) content: bool,
    /// The embedded status of the first data event, if that was an error.
    pub(crate) error: Option<u16>,
    /// How many events came without data.
    pub(crate) without_data: usize,
    /// A finish reason or a terminal event: the stream may end.
    finished: bool,
    /// The client has been told of an error: the stream may end, and nothing makes it look complete.
    failed: bool,
}

/// Token counts of a stream whose client asked for exactly one chunk with them.
#[derive(Debug, Default)]
struct Usage {
    /// The last counts that came beside a choice, held back for the end.
    held: Option<Vec<u8>>,
    sent: bool,
}

/// Why a stream cannot go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StreamFault {
    /// An event does not fit the contract.
    #[error("an event does not fit the contract: {0}")]
    Malformed(onwards_strict::Malformed),
    /// The stream ended within an event.
    #[error("the stream ended within an event")]
    CutOff,
    /// The stream ended although nothing had said that it would.
    #[error("the stream ended before its end")]
    Unfinished,
    /// An event cannot be read in its dialect.
    #[error("an event cannot be read: {0}")]
    Unreadable(&'static str),
    /// The provider has told of an error.
    #[error("the stream ended with an error of the provider's")]
    Failed,
}

impl Seen {
    /// What a stream that is no strict one has shown: something that a client can see, or an error before that.
    pub(crate) fn of(content: bool, error: Option<u16>) -> Self {
        Self {
            data: content || error.is_some(),
            content,
            error,
            ..Self::default()
        }
    }
}

impl Rewriter {
    /// For a strict client.
    pub(super) fn strict(cleaner: Cleaner, contract: &Contract, trusted: bool) -> Self {
        Self {
            cleaner: Stream::new(cleaner),
            verbatim: trusted,
            strict: true,
            marks_end: contract.endpoint != Endpoint::Responses,
            usage: (contract.include_usage && contract.endpoint != Endpoint::Responses)
                .then(Usage::default),
            id: contract.id.clone(),
            sequence: 0,
            seen: Seen::default(),
        }
    }

    /// For a sanitised provider outside strict mode.
    pub(super) fn sanitized(cleaner: Cleaner) -> Self {
        Self {
            cleaner: Stream::new(cleaner),
            verbatim: true,
            strict: false,
            marks_end: true,
            usage: None,
            id: None,
            sequence: 0,
            seen: Seen::default(),
        }
    }

    /// What the stream has shown so far.
    pub(crate) fn seen(&self) -> Seen {
        self.seen
    }

    /// Tells a strict client that the stream cannot go on, if it has not been told yet.
    pub(super) fn break_off(&mut self, out: &mut Vec<u8>) {
        if self.strict && !self.seen.failed {
            self.seen.failed = true;
            out.extend_from_slice(UNFINISHED.as_bytes());
        }
    }

    fn error(&mut self, error: &Embedded<'_>, out: &mut Vec<u8>) {
        let status = error.status();
        tracing::warn!(status, "a provider's stream carries an error");
        out.extend_from_slice(b"data: ");
        if self.verbatim {
            error.write_verbatim(out);
        } else {
            error.write_standard(out);
        }
        out.extend_from_slice(b"\n\n");
        self.seen.error = (!self.seen.data).then_some(status).or(self.seen.error);
        self.seen.data = true;
        self.seen.failed = true;
    }

    /// Puts the request's id into a cleaned event that stands at the end of `out`, from `start`.
    fn identify(&self, out: &mut Vec<u8>, start: usize) {
        let event = out.get(start..).unwrap_or_default();
        if let Some(identified) = self.id.as_ref().and_then(|id| id.put_in_event(event)) {
            out.truncate(start);
            out.extend_from_slice(&identified);
        }
    }

    /// Applies the one-usage-chunk rule to a cleaned chunk that stands at the end of `out`, from `start`. False when the
    /// chunk is to be left out.
    fn count_usage(&mut self, facts: &Facts<'_>, out: &mut Vec<u8>, start: usize) -> bool {
        let Some(usage) = &mut self.usage else {
            return true;
        };
        if !facts.usage {
            return true;
        }
        if facts.only_usage() {
            // The one chunk that was asked for; counts that were held back are older.
            usage.held = None;
            return !std::mem::replace(&mut usage.sent, true);
        }
        let Some(chunk) = out.get(start..) else {
            return true;
        };
        let (with, without) = split_usage(chunk);
        if let Some(without) = without {
            usage.held = with;
            out.truncate(start);
            out.extend_from_slice(&without);
        }
        true
    }

    /// Sends counts that came only beside choices in a chunk of their own.
    fn release_usage(&mut self, out: &mut Vec<u8>) {
        let Some(usage) = &mut self.usage else { return };
        if let Some(chunk) = usage.held.take().filter(|_| !usage.sent) {
            usage.sent = true;
            out.extend_from_slice(b"data: ");
            out.extend_from_slice(&chunk);
            out.extend_from_slice(b"\n\n");
        }
    }
}

impl Rewrite for Rewriter {
    type Error = StreamFault;

    fn event(&mut self, event: &Event, out: &mut Vec<u8>) -> Result<ControlFlow<()>, StreamFault> {
        let Some(data) = event.data() else {
            self.seen.without_data += 1;
            if self.strict
                && event.is_terminated()
                && event.fields().any(|field| field.is_comment())
            {
                out.extend_from_slice(b":\n\n"); // keeps idle connections alive, without the text
            }
            return Ok(ControlFlow::Continue(()));
        };
        if data.is_empty() {
            self.seen.without_data += 1;
            return Ok(ControlFlow::Continue(())); // to a client that is no event (HTML, 9.2.6)
        }
        if data.trim_ascii() == b"[DONE]" {
            self.seen.data = true;
            self.release_usage(out);
            out.extend_from_slice(b"data: [DONE]\n\n");
            return Ok(ControlFlow::Break(()));
        }
        let before = out.len();
        out.extend_from_slice(b"data: ");
        let start = out.len();
        match self.cleaner.clean(&data, self.sequence, out) {
            Ok(Cleaned::Answer(facts)) => {
                self.sequence += 1;
                self.seen.data = true;
                self.seen.content = true;
                self.seen.finished |= facts.finished;
                self.identify(out, start);
                if !self.count_usage(&facts, out, start) {
                    out.truncate(before);
                    return Ok(ControlFlow::Continue(()));
                }
                out.extend_from_slice(b"\n\n");
                if let Some(name) = facts.event {
                    let line = [b"event: ", name.as_bytes(), b"\n"].concat();
                    out.splice(before..before, line);
                }
                Ok(ControlFlow::Continue(()))
            }
            Ok(Cleaned::Error(error)) => {
                out.truncate(before);
                self.error(&error, out);
                Ok(ControlFlow::Continue(()))
            }
            Err(malformed) => {
                out.truncate(before);
                Err(if event.is_terminated() {
                    StreamFault::Malformed(malformed)
                } else {
                    StreamFault::CutOff
                })
            }
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) -> Result<(), StreamFault> {
        if !self.strict || !self.seen.data {
            return Ok(());
        }
        if self.seen.failed {
            return Ok(());
        }
        if self.seen.finished {
            self.release_usage(out);
            if self.marks_end {
                out.extend_from_slice(b"data: [DONE]\n\n");
            }
            return Ok(());
        }
        self.break_off(out);
        Err(StreamFault::Unfinished)
    }
}

/// What a client reads when a provider's stream just stops, or cannot be read any further.
const UNFINISHED: &str = "data: {\"error\":{\"message\":\"The upstream response ended before it was complete.\",\
\"type\":\"api_error\",\"param\":null,\"code\":502}}\n\n";

/// A chunk with choices and counts as two: one with the counts alone, and one without them.
fn split_usage(chunk: &[u8]) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
    use onwards_json::{Edit, apply, splices};
    let Ok(document) = object(chunk) else {
        return (None, None);
    };
    let edited = |edit: Edit<'_, &str>| {
        splices(&document, &[edit])
            .ok()
            .map(|splices| apply(chunk, &splices))
    };
    let counts = edited(Edit::Set {
        path: &["choices"],
        value: "[]",
    });
    let rest = edited(Edit::Set {
        path: &["usage"],
        value: "null",
    });
    (counts, rest)
}

#[cfg(test)]
mod tests;
