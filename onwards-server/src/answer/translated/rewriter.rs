//! A stream in the provider's dialect in, one in the client's out.

use std::ops::ControlFlow;
use std::sync::Arc;

use http::Response;
use onwards_aws::{Kind as Sort, Message};
use onwards_dialects::options::Reading;
use onwards_dialects::{Ended, Failure, Step, Translator};
use onwards_sse::Event;
use onwards_usage::Usage;

use super::{Translated, Words, aborted, class, counts, garbled, shown};
use crate::answer::rewrite::{Seen, StreamFault};
use crate::body::Body;
use crate::policy::Provider;

/// Translates one stream.
#[derive(Debug)]
pub(crate) struct Rewriter {
    translated: Translated,
    translator: Translator,
    words: Words,
    provider: Arc<Provider>,
    /// What was made of the last payload.
    scratch: String,
    /// The error that came before anything a client could see.
    refusal: Option<Failure>,
    /// The client has been told that the stream broke off, or that it failed.
    broken: Option<StreamFault>,
    /// The client's ending has been written.
    complete: bool,
}

impl Rewriter {
    pub(super) fn new(translated: Translated, words: Words, provider: &Arc<Provider>) -> Self {
        let reading = Reading {
            memory: translated.memory.clone(),
            unique: translated.context.unique.clone(),
        };
        let decoder = translated
            .dialect
            .kind
            .decoder(reading, &translated.dialect.options);
        let encoder = translated.protocol.encoder(translated.context.clone());
        Self {
            translator: Translator::new(decoder, encoder),
            translated,
            words,
            provider: provider.clone(),
            scratch: String::new(),
            refusal: None,
            broken: None,
            complete: false,
        }
    }

    /// What the stream has shown so far.
    pub(crate) fn seen(&self) -> Seen {
        let error = self.refusal.as_ref().map(class);
        Seen::of(self.translator.seen_content(), error)
    }

    /// The error that came in the place of an answer: its class, and how the client is told.
    pub(crate) fn refused(&self) -> Option<(u16, Response<Body>)> {
        let failure = self.refusal.as_ref()?;
        let response = self.translated.refused(failure, self.words, &self.provider);
        Some((class(failure), response))
    }

    /// What the provider has counted so far.
    pub(crate) fn usage(&self) -> Option<Usage> {
        self.translator.usage().map(counts)
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
        if std::mem::replace(&mut self.complete, true) {
            return;
        }
        self.scratch.clear();
        self.translator.fail(failure, &mut self.scratch);
        out.extend_from_slice(self.scratch.as_bytes());
    }

    /// One event of an event stream.
    pub(crate) fn event(
        &mut self,
        event: &Event,
        out: &mut Vec<u8>,
    ) -> Result<ControlFlow<()>, StreamFault> {
        let Some(data) = event.data().filter(|data| !data.is_empty()) else {
            if event.is_terminated() && event.fields().any(|field| field.is_comment()) {
                self.scratch.clear();
                self.translator.keep_alive(&mut self.scratch);
                out.extend_from_slice(self.scratch.as_bytes());
            }
            return Ok(ControlFlow::Continue(()));
        };
        let Ok(payload) = std::str::from_utf8(&data) else {
            return self.unreadable("an event is not UTF-8", out);
        };
        let name = event
            .event()
            .and_then(|name| std::str::from_utf8(name).ok());
        // What stands at the end without its blank line counts if it is whole (spec providers 3.0.7).
        if !event.is_terminated()
            && payload != "[DONE]"
            && onwards_dialects::text::value(payload).is_none()
        {
            return Ok(ControlFlow::Continue(()));
        }
        self.payload(name.unwrap_or_default(), payload, out)
    }

    /// One message of an event stream of Amazon's.
    pub(crate) fn message(
        &mut self,
        message: &Message,
        out: &mut Vec<u8>,
    ) -> Result<ControlFlow<()>, StreamFault> {
        let Ok(payload) = std::str::from_utf8(message.payload()) else {
            return self.unreadable("a message is not UTF-8", out);
        };
        match message.kind() {
            Sort::Event(event_type) => self.payload(event_type, payload, out),
            Sort::Exception(exception_type) => {
                let failure = onwards_dialects::read_exception(exception_type, payload);
                Ok(self.failed(failure, out))
            }
            Sort::Error { code, message } => {
                let failure = Failure::of(500, Some(code), message);
                Ok(self.failed(failure, out))
            }
            _ => Ok(ControlFlow::Continue(())),
        }
    }

    /// One payload.
    pub(crate) fn payload(
        &mut self,
        name: &str,
        payload: &str,
        out: &mut Vec<u8>,
    ) -> Result<ControlFlow<()>, StreamFault> {
        self.scratch.clear();
        let step = self.translator.payload(name, payload, &mut self.scratch);
        out.extend_from_slice(self.scratch.as_bytes());
        if let Some(keeper) = &self.translated.keeper {
            for (call, kept) in self.translator.take_kept() {
                keeper.keep(&call, kept);
            }
        }
        match step {
            Ok(Step::Open) if self.translator.overflow() => {
                self.unreadable("more would have to be held back than may be", out)
            }
            Ok(Step::Open) => Ok(ControlFlow::Continue(())),
            Ok(Step::Complete) => {
                self.end(out)?;
                Ok(ControlFlow::Break(()))
            }
            Ok(Step::Failed(failure)) => Ok(self.failed(failure, out)),
            Err(unreadable) => self.unreadable(unreadable.why, out),
        }
    }

    fn failed(&mut self, failure: Failure, out: &mut Vec<u8>) -> ControlFlow<()> {
        tracing::warn!(
            status = failure.status,
            "a provider's stream carries an error"
        );
        if self.translator.seen_content() {
            let (dialect, model) = (&self.translated.dialect, &self.translated.context.model);
            let told = shown(&failure, self.words, dialect, model);
            self.fail(&told, out);
            self.broken = Some(StreamFault::Failed);
        } else {
            self.refusal = Some(failure);
        }
        ControlFlow::Break(())
    }

    fn unreadable(
        &mut self,
        why: &'static str,
        out: &mut Vec<u8>,
    ) -> Result<ControlFlow<()>, StreamFault> {
        if !self.translator.seen_content() {
            return Err(StreamFault::Unreadable(why));
        }
        self.fail(&garbled(), out);
        self.broken = Some(StreamFault::Unreadable(why));
        Ok(ControlFlow::Break(()))
    }

    /// The provider has said everything: the client gets its own ending, once.
    fn finish(&mut self, out: &mut Vec<u8>) -> Ended {
        if std::mem::replace(&mut self.complete, true) {
            return Ended::Complete;
        }
        self.scratch.clear();
        let ended = self.translator.end(&mut self.scratch);
        out.extend_from_slice(self.scratch.as_bytes());
        self.complete = matches!(ended, Ended::Complete);
        ended
    }

    /// The provider's stream has ended.
    pub(crate) fn end(&mut self, out: &mut Vec<u8>) -> Result<(), StreamFault> {
        if self.refusal.is_some() || matches!(self.finish(out), Ended::Complete) {
            return Ok(());
        }
        if !self.translator.seen_content() {
            return Err(StreamFault::Unfinished);
        }
        self.break_off(out);
        self.broken = Some(StreamFault::Unfinished);
        Ok(())
    }
}
