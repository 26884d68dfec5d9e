//! A provider's stream as the client's, event by event.

use crate::Step;
use crate::answer::{Event, Usage};
use crate::codec::{Decoder, Encoder};
use crate::failure::{Failure, Unreadable};
use crate::kept::Keeper;
use crate::options::Kept;

/// Translates one stream. It holds what the two dialects make it hold, and no more than 8 MiB of the answer for each.
#[derive(Debug)]
pub struct Translator {
    decoder: Decoder,
    encoder: Encoder,
    seen: Seen,
}

/// How a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The answer is complete, and the client has been told.
    Complete,
    /// It is not: the client is still to be told, with [`Translator::fail`].
    Aborted,
}

/// What has been seen of the answer.
#[derive(Debug, Default)]
struct Seen {
    content: bool,
    usage: Option<Usage>,
    keeper: Keeper,
}

impl Seen {
    #[inline]
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Usage(counts) => self.usage = Some(*counts),
            Event::Start { .. } | Event::KeepAlive => {}
            _ => {
                self.content = true;
                self.keeper.event(event);
            }
        }
    }
}

impl Translator {
    /// A translator from what [`Kind::decoder`](crate::Kind::decoder) reads to what [`Protocol::encoder`](crate::Protocol::encoder)
    /// writes.
    #[must_use]
    pub fn new(decoder: Decoder, encoder: Encoder) -> Self {
        Self {
            decoder,
            encoder,
            seen: Seen::default(),
        }
    }

    /// Takes in one payload of the provider's stream and appends what the client gets of it. `event` is the name the payload
    /// came with (of an AWS event stream its `:event-type`), or empty.
    ///
    /// # Errors
    /// For what is no payload of this dialect, and for an answer that cannot be put in the order the client's dialect wants
    /// without holding too much of it. The stream is then to be given up, with [`fail`](Self::fail).
    pub fn payload(
        &mut self,
        event: &str,
        payload: &str,
        out: &mut String,
    ) -> Result<Step, Unreadable> {
        let Self {
            decoder,
            encoder,
            seen,
        } = self;
        let step = decoder.payload(event, payload, &mut |event| {
            seen.event(&event);
            encoder.event(&event, out);
        })?;
        if encoder.overflow() {
            return Err(Unreadable::new("too much to hold"));
        }
        Ok(step)
    }

    /// The provider's stream has ended by itself. Appends what a complete answer ends with, once.
    pub fn end(&mut self, out: &mut String) -> Ended {
        let Self {
            decoder,
            encoder,
            seen,
        } = self;
        let complete = decoder.end(&mut |event| {
            seen.event(&event);
            encoder.event(&event, out);
        });
        if complete && !encoder.overflow() {
            encoder.end(out);
            Ended::Complete
        } else {
            Ended::Aborted
        }
    }

    /// The stream has failed: appends an error as the client knows it, which is the end.
    pub fn fail(&mut self, failure: &Failure, out: &mut String) {
        self.encoder.fail(failure, out);
    }

    /// The provider has said that it is still there.
    pub fn keep_alive(&mut self, out: &mut String) {
        self.encoder.event(&Event::KeepAlive, out);
    }

    /// True once the client has been told anything of the answer itself: behind that nobody else can be asked.
    #[must_use]
    pub fn seen_content(&self) -> bool {
        self.seen.content
    }

    /// The counts of tokens so far.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        self.seen.usage
    }

    /// True when more would have to be held than may be: the stream has to be failed.
    #[must_use]
    pub fn overflow(&self) -> bool {
        self.encoder.overflow()
    }

    /// What is to be remembered of the answer for the next turn, by the id of the call: thoughts before it that only their model
    /// can read, and the call's own signature. Calls without any are left out; what was taken is not given again.
    pub fn take_kept(&mut self) -> Vec<(String, Kept)> {
        self.seen.keeper.take()
    }
}

#[cfg(test)]
mod tests;
