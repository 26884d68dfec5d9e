//! A stream in the client's own protocol, event by event.

use std::ops::ControlFlow;
use std::sync::Arc;

use http::Response;
use onwards_dialects::{Failure, NativeEvents, Protocol, Shown, Step};
use onwards_sse::{Event, Frame};
use onwards_strict::{Cleaned, Cleaner, Stream};
use onwards_usage::Usage;

use super::super::{Words, aborted, class, counts, garbled, shown};
use super::Native;
use crate::answer::id::AnswerId;
use crate::answer::rewrite::{Seen, StreamFault};
use crate::body::Body;
use crate::policy::Provider;

/// Renames the model in the events of one stream, does what else the rules of its protocol say, cleans what the client gets where it
/// has to be cleaned, and sees whether the stream ends as its protocol says.
#[derive(Debug)]
pub(crate) struct NativeStream {
    pub(super) native: Native,
    provider: Arc<Provider>,
    words: Words,
    pub(super) events: NativeEvents,
    cleaning: Option<Cleaning>,
    /// What was made of the last payload.
    pub(super) scratch: Vec<u8>,
    pub(super) content: bool,
    /// The class of the provider's error that came before anything of an answer.
    error: Option<u16>,
    /// That error, where the client is told of it in the place of a stream.
    refusal: Option<Failure>,
    /// The array that the client gets has begun.
    pub(super) begun: bool,
    /// The protocol's end was seen, or the client has been told of a failure.
    pub(super) over: bool,
    broken: Option<StreamFault>,
}

/// What of each event the client may see.
#[derive(Debug)]
pub(in crate::answer) struct Cleaning {
    cleaner: Stream,
    /// What every event says as the answer's id.
    id: Option<AnswerId>,
    sequence: u64,
}

impl Cleaning {
    pub(in crate::answer) fn new(cleaner: Cleaner, id: Option<AnswerId>) -> Self {
        Self {
            cleaner: Stream::new(cleaner),
            id,
            sequence: 0,
        }
    }

    /// Appends an event with what the client may see of a payload. An error is one that the dialect does not know as such.
    fn write(
        &mut self,
        payload: &[u8],
        events: &mut NativeEvents,
        out: &mut Vec<u8>,
    ) -> Result<Option<Failure>, StreamFault> {
        let before = out.len();
        out.extend_from_slice(b"data: ");
        let start = out.len();
        let facts = match self.cleaner.clean(payload, self.sequence, out) {
            Ok(Cleaned::Answer(facts)) => facts,
            Ok(Cleaned::Error(error)) => {
                out.truncate(before);
                return Ok(Some(Failure::unsaid(error.status())));
            }
            Err(malformed) => {
                out.truncate(before);
                return Err(StreamFault::Malformed(malformed));
            }
        };
        self.sequence += 1;
        let cleaned = out.get(start..).unwrap_or_default();
        if let Some(identified) = self.id.as_ref().and_then(|id| id.put_in_event(cleaned)) {
            out.truncate(start);
            out.extend_from_slice(&identified);
        }
        events.told(out.get(start..).unwrap_or_default());
        out.extend_from_slice(b"\n\n");
        if let Some(name) = facts.event {
            let line = [b"event: ", name.as_bytes(), b"\n"].concat();
            out.splice(before..before, line);
        }
        Ok(None)
    }
}

impl NativeStream {
    pub(in crate::answer) fn new(
        native: Native,
        cleaning: Option<Cleaning>,
        provider: &Arc<Provider>,
    ) -> Self {
        let (kind, protocol) = (native.dialect.kind, native.protocol);
        Self {
            events: NativeEvents::new(kind, protocol, &native.model),
            words: Words::of(native.strict, provider),
            native,
            provider: provider.clone(),
            cleaning,
            scratch: Vec::new(),
            content: false,
            error: None,
            refusal: None,
            begun: false,
            over: false,
            broken: None,
        }
    }

    /// What the stream has shown so far.
    pub(crate) fn seen(&self) -> Seen {
        Seen::of(self.content, self.error)
    }

    /// The error that came in the place of an answer: its class, and how the client is told.
    pub(crate) fn refused(&self) -> Option<(u16, Response<Body>)> {
        let failure = self.refusal.as_ref()?;
        let response = self.native.refused(failure, self.words, &self.provider);
        Some((class(failure), response))
    }

    /// What the provider has counted so far, where its dialect says that in words of its own.
    pub(crate) fn usage(&self) -> Option<Usage> {
        self.events.tokens().map(counts)
    }

    /// Why the stream did not end well, if the client has been told of it within the stream.
    pub(crate) fn take_broken(&mut self) -> Option<StreamFault> {
        self.broken.take()
    }

    /// Tells the client that the stream cannot go on.
    pub(crate) fn break_off(&mut self, out: &mut Vec<u8>) {
        self.fail(&aborted(), out);
    }

    fn fail(&mut self, failure: &Failure, out: &mut Vec<u8>) {
        if std::mem::replace(&mut self.over, true) {
            return;
        }
        if self.native.array {
            return self.fail_array(failure, out);
        }
        let mut told = String::new();
        self.events
            .fail(failure, &self.native.request_id, &mut told);
        out.extend_from_slice(told.as_bytes());
    }

    /// One event: what the client gets of it.
    pub(crate) fn event(
        &mut self,
        event: &Event,
        out: &mut Vec<u8>,
    ) -> Result<ControlFlow<()>, StreamFault> {
        let Some(data) = event.data().filter(|data| !data.is_empty()) else {
            self.silent(event, out);
            return Ok(ControlFlow::Continue(()));
        };
        if self.native.array {
            return self.event_as_element(event, &data, out);
        }
        self.scratch.clear();
        let (step, shown) = match self.events.payload(&data, &mut self.scratch) {
            Ok(passed) => passed,
            // What stands at the end without its blank line counts if it is whole (spec providers 3.0.7).
            Err(_) if !event.is_terminated() => return Ok(ControlFlow::Continue(())),
            Err(unreadable) => {
                return self.unreadable(StreamFault::Unreadable(unreadable.why), out);
            }
        };
        match step {
            Step::Open => self.content |= self.events.seen_content(),
            Step::Complete => {
                self.content = true;
                if self.native.protocol == Protocol::Chat {
                    return self.finish(out);
                }
                self.over = true;
            }
            Step::Failed(failure)
                if self.native.protocol == Protocol::Chat || self.cleaning.is_some() =>
            {
                return Ok(self.failed(failure, out));
            }
            Step::Failed(failure) => {
                // The provider's own words in the client's own protocol.
                if !self.content {
                    self.error = Some(failure.status);
                }
                self.over = true;
                let payload = match shown {
                    Shown::Changed => &self.scratch,
                    Shown::Same | Shown::Nothing => &*data,
                };
                let told = self.native.scrubbed_json(payload);
                replace(event, &data, &told, out);
                if !event.is_terminated() {
                    out.extend_from_slice(b"\n\n");
                }
                return Ok(ControlFlow::Continue(()));
            }
        }
        let payload = match shown {
            Shown::Nothing => return Ok(ControlFlow::Continue(())),
            Shown::Same => &*data,
            Shown::Changed => &self.scratch,
        };
        let Some(cleaning) = &mut self.cleaning else {
            if shown == Shown::Same {
                out.extend_from_slice(event.raw());
            } else {
                replace(event, &data, payload, out);
            }
            if !event.is_terminated() {
                out.extend_from_slice(b"\n\n");
            }
            return Ok(ControlFlow::Continue(()));
        };
        if payload.trim_ascii() == b"[DONE]" {
            return Ok(ControlFlow::Continue(())); // an end marker that Responses do not have
        }
        match cleaning.write(payload, &mut self.events, out) {
            Ok(None) => Ok(ControlFlow::Continue(())),
            Ok(Some(failure)) => Ok(self.failed(failure, out)),
            Err(fault) => self.unreadable(fault, out),
        }
    }

    /// What is no event to a client. Comments keep a connection alive; what they say is between the provider and the gateway.
    fn silent(&self, event: &Event, out: &mut Vec<u8>) {
        if !event.is_terminated() {
            return; // half an event
        }
        if self.native.array {
            out.push(b'\n'); // white space, where there can be no comment
        } else if self.native.protocol != Protocol::Chat && self.cleaning.is_none() {
            out.extend_from_slice(event.raw());
        } else if event.fields().any(|field| field.is_comment()) {
            let comment: &[u8] = match self.cleaning {
                Some(_) => b":\n\n",
                None => b": keep-alive\n\n",
            };
            out.extend_from_slice(comment);
        }
    }

    pub(super) fn failed(&mut self, failure: Failure, out: &mut Vec<u8>) -> ControlFlow<()> {
        tracing::warn!(
            status = failure.status,
            "a provider's stream carries an error"
        );
        if self.content {
            let (dialect, model) = (&self.native.dialect, &self.native.model);
            let told = shown(&failure, self.words, dialect, model);
            self.fail(&told, out);
            self.broken = Some(StreamFault::Failed);
        } else {
            self.error = Some(class(&failure));
            self.refusal = Some(failure);
        }
        ControlFlow::Break(())
    }

    pub(super) fn unreadable(
        &mut self,
        fault: StreamFault,
        out: &mut Vec<u8>,
    ) -> Result<ControlFlow<()>, StreamFault> {
        if !self.content {
            return Err(fault);
        }
        self.fail(&garbled(), out);
        self.broken = Some(fault);
        Ok(ControlFlow::Break(()))
    }

    /// The provider has said everything: the client gets the token counts and the end marker, once.
    fn finish(&mut self, out: &mut Vec<u8>) -> Result<ControlFlow<()>, StreamFault> {
        self.scratch.clear();
        if self.events.counts(&mut self.scratch) {
            match &mut self.cleaning {
                None => {
                    out.extend_from_slice(b"data: ");
                    out.extend_from_slice(&self.scratch);
                    out.extend_from_slice(b"\n\n");
                }
                Some(cleaning) => {
                    if let Err(fault) = cleaning.write(&self.scratch, &mut self.events, out) {
                        return self.unreadable(fault, out);
                    }
                }
            }
        }
        self.over = true;
        out.extend_from_slice(b"data: [DONE]\n\n");
        Ok(ControlFlow::Break(()))
    }

    /// The provider's stream has ended.
    pub(crate) fn end(&mut self, out: &mut Vec<u8>) -> Result<(), StreamFault> {
        if self.over || self.refusal.is_some() {
            return Ok(());
        }
        if self.events.may_end() {
            if self.native.protocol == Protocol::Chat {
                return self.finish(out).map(drop);
            }
            if self.native.array {
                self.end_array(out);
            }
            return Ok(());
        }
        if !self.content {
            return Err(StreamFault::Unfinished);
        }
        self.break_off(out);
        self.broken = Some(StreamFault::Unfinished);
        Ok(())
    }
}

/// Appends an event with another payload. All around it stays, where the payload stood on one line.
fn replace(event: &Event, data: &[u8], payload: &[u8], out: &mut Vec<u8>) {
    if let Some((before, after)) = around(event.raw(), data) {
        out.extend_from_slice(before);
        out.extend_from_slice(payload);
        out.extend_from_slice(after);
        return;
    }
    let name = event
        .event()
        .and_then(|name| std::str::from_utf8(name).ok());
    let frame = Frame::data(payload);
    let frame = match name {
        Some(name) => frame.event(name),
        None => frame,
    };
    if frame.write(out).is_err() {
        out.extend_from_slice(event.raw());
    }
}

/// What stands before and behind a part of a text; `None` for what is no part of it.
fn around<'t>(text: &'t [u8], part: &[u8]) -> Option<(&'t [u8], &'t [u8])> {
    let start = part.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    let (before, rest) = text.split_at_checked(start)?;
    Some((before, rest.get(part.len()..)?))
}
