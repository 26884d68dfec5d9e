//! A provider's stream as the client's, event by event.

use crate::answer::{Event, Usage};
use crate::failure::{Failure, Unreadable};
use crate::options::{Context, Reading};
use crate::{Kind, Protocol, Step, bedrock, chat, gemini, responses};

/// Translates one stream. It holds what the two dialects make it hold, and no more than 8 MiB of the answer.
#[derive(Debug)]
pub struct Translator {
    decoder: Decoder,
    encoder: Encoder,
    content: bool,
    usage: Option<Usage>,
}

/// How a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The answer is complete, and the client has been told.
    Complete,
    /// It is not: the client is still to be told, with [`Translator::fail`].
    Aborted,
}

#[derive(Debug)]
enum Decoder {
    Chat(chat::Decoder),
    Gemini(gemini::Decoder),
    Bedrock(bedrock::Decoder),
}

#[derive(Debug)]
enum Encoder {
    Chat(chat::Encoder),
    Responses(responses::Encoder),
    Gemini(gemini::Encoder),
}

impl Translator {
    /// A translator from a provider of this kind to a client of this protocol.
    #[must_use]
    pub fn new(kind: Kind, reading: Reading, protocol: Protocol, context: Context) -> Self {
        Self {
            decoder: Decoder::new(kind, reading),
            encoder: Encoder::new(protocol, context),
            content: false,
            usage: None,
        }
    }

    /// Takes in one payload of the provider's stream and appends what the client gets of it. `event` is the name the event came
    /// with (of an AWS event stream its `:event-type`), or empty.
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
            content,
            usage,
        } = self;
        let step = decoder.payload(event, payload, &mut |event| {
            match &event {
                Event::Usage(counts) => *usage = Some(*counts),
                event => *content |= event.is_content(),
            }
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
            content,
            usage,
        } = self;
        let complete = decoder.end(&mut |event| {
            match &event {
                Event::Usage(counts) => *usage = Some(*counts),
                event => *content |= event.is_content(),
            }
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
        self.content
    }

    /// The counts of tokens so far.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        self.usage
    }
}

impl Decoder {
    fn new(kind: Kind, reading: Reading) -> Self {
        match kind {
            Kind::OpenAi | Kind::Azure => Self::Chat(chat::Decoder::new(reading)),
            Kind::Bedrock => Self::Bedrock(bedrock::Decoder::new(reading)),
            Kind::Gemini | Kind::Anthropic => Self::Gemini(gemini::Decoder::new(reading)),
        }
    }

    #[inline]
    fn payload(
        &mut self,
        event: &str,
        payload: &str,
        sink: &mut dyn FnMut(Event<'_>),
    ) -> Result<Step, Unreadable> {
        match self {
            Self::Chat(decoder) => decoder.payload(event, payload, sink),
            Self::Gemini(decoder) => decoder.payload(event, payload, sink),
            Self::Bedrock(decoder) => decoder.payload(event, payload, sink),
        }
    }

    fn end(&mut self, sink: &mut dyn FnMut(Event<'_>)) -> bool {
        match self {
            Self::Chat(decoder) => decoder.end(sink),
            Self::Gemini(decoder) => decoder.end(sink),
            Self::Bedrock(decoder) => decoder.end(sink),
        }
    }
}

impl Encoder {
    fn new(protocol: Protocol, context: Context) -> Self {
        match protocol {
            Protocol::Chat | Protocol::Messages => Self::Chat(chat::Encoder::new(context)),
            Protocol::Responses => Self::Responses(responses::Encoder::new(context)),
            Protocol::Gemini => Self::Gemini(gemini::Encoder::new(context)),
        }
    }

    #[inline]
    fn event(&mut self, event: &Event<'_>, out: &mut String) {
        match self {
            Self::Chat(encoder) => encoder.event(event, out),
            Self::Responses(encoder) => encoder.event(event, out),
            Self::Gemini(encoder) => encoder.event(event, out),
        }
    }

    fn end(&mut self, out: &mut String) {
        match self {
            Self::Chat(encoder) => encoder.end(out),
            Self::Responses(encoder) => encoder.end(out),
            Self::Gemini(encoder) => encoder.end(out),
        }
    }

    fn fail(&mut self, failure: &Failure, out: &mut String) {
        match self {
            Self::Chat(encoder) => encoder.fail(failure, out),
            Self::Responses(encoder) => encoder.fail(failure, out),
            Self::Gemini(encoder) => encoder.fail(failure, out),
        }
    }

    fn overflow(&self) -> bool {
        match self {
            Self::Chat(encoder) => encoder.overflow(),
            Self::Responses(encoder) => encoder.overflow(),
            Self::Gemini(encoder) => encoder.overflow(),
        }
    }
}

#[cfg(test)]
mod tests;
