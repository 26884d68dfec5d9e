//! Readers and writers of streams, whatever the dialect.

use crate::alike::{Alike, Recalled, Varies};
use crate::answer::Event;
use crate::failure::{Failure, Unreadable};
use crate::options::{Context, Reading};
use crate::{Kind, Protocol, Step, bedrock, chat, gemini, messages, responses};

/// Reads the stream of a provider: payloads in, events out.
#[derive(Debug)]
pub struct Decoder {
    reads: Reads,
    varies: Varies,
    last: Alike,
}

#[derive(Debug)]
enum Reads {
    Chat(chat::Decoder),
    Anthropic(messages::Decoder),
    Gemini(gemini::Decoder),
    Bedrock(bedrock::Decoder),
}

/// Writes the stream of a client: events in, frames out.
#[derive(Debug)]
pub struct Encoder(Writes);

#[derive(Debug)]
enum Writes {
    Chat(chat::Encoder),
    Responses(responses::Encoder),
    Messages(messages::Encoder),
    Gemini(gemini::Encoder),
}

impl Decoder {
    pub(crate) fn new(kind: Kind, reading: Reading) -> Self {
        let reads = match kind {
            Kind::OpenAi | Kind::Azure => Reads::Chat(chat::Decoder::new(reading)),
            Kind::Bedrock => Reads::Bedrock(bedrock::Decoder::new(reading)),
            Kind::Anthropic => Reads::Anthropic(messages::Decoder::new(reading)),
            Kind::Gemini => Reads::Gemini(gemini::Decoder::new(reading)),
        };
        let varies = match kind {
            Kind::OpenAi | Kind::Azure => Varies::Padding("obfuscation"),
            Kind::Bedrock => Varies::Padding("p"),
            Kind::Gemini => Varies::Counts("usageMetadata"),
            Kind::Anthropic => Varies::Nothing,
        };
        let last = Alike::default();
        Self {
            reads,
            varies,
            last,
        }
    }

    /// Reads one payload. `event` is the name it came with (of an AWS event stream its `:event-type`), or empty.
    ///
    /// # Errors
    /// For what is no payload of this dialect; the stream is then to be given up.
    pub fn payload(
        &mut self,
        event: &str,
        payload: &str,
        sink: &mut dyn FnMut(Event<'_>),
    ) -> Result<Step, Unreadable> {
        let Self {
            reads,
            varies,
            last,
        } = self;
        if let Some(Recalled { text, counts }) = last.recall(*varies, event, payload)
            && reads.recalled(text, counts, sink)
        {
            return Ok(Step::Open);
        }
        let step = last.watch(*varies, event, payload, sink, |sink| match reads {
            Reads::Chat(decoder) => decoder.payload(event, payload, sink),
            Reads::Anthropic(decoder) => decoder.payload(event, payload, sink),
            Reads::Gemini(decoder) => decoder.payload(event, payload, sink),
            Reads::Bedrock(decoder) => decoder.payload(event, payload, sink),
        });
        if step != Ok(Step::Open) {
            self.last.forget();
        }
        step
    }

    /// The stream has ended by itself: gives what is still held. True if the answer is complete.
    pub fn end(&mut self, sink: &mut dyn FnMut(Event<'_>)) -> bool {
        match &mut self.reads {
            Reads::Chat(decoder) => decoder.end(sink),
            Reads::Anthropic(decoder) => decoder.end(sink),
            Reads::Gemini(decoder) => decoder.end(sink),
            Reads::Bedrock(decoder) => decoder.end(sink),
        }
    }
}

impl Reads {
    /// Tells what was recalled of a payload. False, and nothing told, where that cannot be done without reading it.
    fn recalled(
        &mut self,
        text: Event<'_>,
        counts: Option<&str>,
        sink: &mut dyn FnMut(Event<'_>),
    ) -> bool {
        match (self, counts) {
            (_, None) => sink(text),
            (Self::Gemini(decoder), Some(counts)) => return decoder.recalled(text, counts, sink),
            (_, Some(_)) => return false,
        }
        true
    }
}

impl Encoder {
    pub(crate) fn new(protocol: Protocol, context: Context) -> Self {
        Self(match protocol {
            Protocol::Chat => Writes::Chat(chat::Encoder::new(context)),
            Protocol::Messages => Writes::Messages(messages::Encoder::new(context)),
            Protocol::Responses => Writes::Responses(responses::Encoder::new(context)),
            Protocol::GenerateContent => Writes::Gemini(gemini::Encoder::new(context)),
        })
    }

    /// Appends the frames of one event.
    #[inline]
    pub fn event(&mut self, event: &Event<'_>, out: &mut String) {
        match &mut self.0 {
            Writes::Chat(encoder) => encoder.event(event, out),
            Writes::Responses(encoder) => encoder.event(event, out),
            Writes::Messages(encoder) => encoder.event(event, out),
            Writes::Gemini(encoder) => encoder.event(event, out),
        }
    }

    /// Appends what a complete answer ends with, once.
    pub fn end(&mut self, out: &mut String) {
        match &mut self.0 {
            Writes::Chat(encoder) => encoder.end(out),
            Writes::Responses(encoder) => encoder.end(out),
            Writes::Messages(encoder) => encoder.end(out),
            Writes::Gemini(encoder) => encoder.end(out),
        }
    }

    /// Appends an error, which is the end. Nothing is appended behind another ending.
    pub fn fail(&mut self, failure: &Failure, out: &mut String) {
        match &mut self.0 {
            Writes::Chat(encoder) => encoder.fail(failure, out),
            Writes::Responses(encoder) => encoder.fail(failure, out),
            Writes::Messages(encoder) => encoder.fail(failure, out),
            Writes::Gemini(encoder) => encoder.fail(failure, out),
        }
    }

    /// True when more would have to be held than may be: the stream has to be failed.
    #[must_use]
    pub fn overflow(&self) -> bool {
        match &self.0 {
            Writes::Chat(encoder) => encoder.overflow(),
            Writes::Responses(encoder) => encoder.overflow(),
            Writes::Messages(encoder) => encoder.overflow(),
            Writes::Gemini(encoder) => encoder.overflow(),
        }
    }
}
