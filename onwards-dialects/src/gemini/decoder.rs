//! Streams of a provider: each event is an answer in part.

use crate::Step;
use crate::answer::{Event, Finish, Reason, Usage};
use crate::failure::Unreadable;
use crate::options::Reading;
use crate::request::{Arguments, State, Thinking};
use crate::text::{Str, compact};

use super::wire::{self, Candidate, Counts, Envelope, Part};
use super::{CANDIDATES, HELD, failure};

/// Reads a provider's stream, event by event.
///
/// A reason to end is kept until the stream does: some servers give one with every event. The newest one counts.
#[derive(Debug)]
pub(crate) struct Decoder {
    reading: Reading,
    started: bool,
    /// Calls of all candidates so far: what their ids are made of.
    calls: u64,
    candidates: Vec<Spoken>,
    counts: Counts,
    usage: Option<Usage>,
    /// Bytes of thoughts that are not over.
    held: usize,
}

/// What is known of a candidate.
#[derive(Debug, Default)]
struct Spoken {
    index: u64,
    calls: u64,
    /// It has said something that is no thought.
    usable: bool,
    /// A thought that is not over.
    thought: String,
    finish: Option<(Reason, Option<String>)>,
}

type Sink<'s> = &'s mut dyn FnMut(Event<'_>);

impl Decoder {
    /// Before the first event.
    pub(crate) fn new(reading: Reading) -> Self {
        Self {
            reading,
            started: false,
            calls: 0,
            candidates: Vec::new(),
            counts: Counts::default(),
            usage: None,
            held: 0,
        }
    }

    /// Reads the data of one event.
    ///
    /// # Errors
    /// No JSON object, a call without a name, a candidate that has failed without saying anything, and more candidates or
    /// thoughts than a stream may have.
    pub(crate) fn payload(
        &mut self,
        _event: &str,
        payload: &str,
        sink: Sink<'_>,
    ) -> Result<Step, Unreadable> {
        let mut envelope = if payload.trim_start().starts_with('[') {
            return match failure::embedded_error(payload) {
                Some(failure) => Ok(Step::Failed(failure)),
                None => Err(Unreadable::new("no JSON object")),
            };
        } else {
            Envelope::read(payload)?
        };
        if let Some(error) = &envelope.error {
            return Ok(Step::Failed(failure::embedded(error)));
        }
        if !std::mem::replace(&mut self.started, true) {
            let id = envelope.id.clone();
            sink(Event::Start { id });
        }
        for candidate in std::mem::take(&mut envelope.candidates) {
            self.candidate(candidate, sink)?;
        }
        if self.candidates.is_empty()
            && let Some(text) = envelope.refusal()
        {
            sink(Event::Refusal { choice: 0, text });
            self.candidates.push(Spoken {
                finish: Some((Reason::ContentFilter, None)),
                ..Spoken::default()
            });
        }
        self.counted(envelope.counts, sink);
        Ok(Step::Open)
    }

    /// Tells the text of an event that is like the one before but for the counts. False, and nothing told, if they are none.
    pub(crate) fn recalled(&mut self, text: Event<'_>, counts: &str, sink: Sink<'_>) -> bool {
        let Ok(counts) = Counts::read(counts) else {
            return false;
        };
        sink(text);
        self.counted(counts, sink);
        true
    }

    fn counted(&mut self, counts: Counts, sink: Sink<'_>) {
        if counts == Counts::default() {
            return;
        }
        self.counts.merge(&counts);
        let usage = self.counts.usage();
        if usage != self.usage {
            self.usage = usage;
            usage
                .into_iter()
                .for_each(|usage| sink(Event::Usage(usage)));
        }
    }

    /// The stream has ended. True if all candidates have.
    pub(crate) fn end(&mut self, sink: Sink<'_>) -> bool {
        let ended = |spoken: &Spoken| spoken.finish.is_some();
        if self.candidates.is_empty() || !self.candidates.iter().all(ended) {
            return false;
        }
        for spoken in &mut self.candidates {
            spoken.thought_over(None, sink);
            let Some((reason, native)) = spoken.finish.take() else {
                continue;
            };
            sink(Event::Finish {
                choice: spoken.index,
                finish: Finish {
                    reason,
                    native: native.map(Str::owned),
                    stop_sequence: None,
                },
            });
        }
        true
    }

    fn candidate(&mut self, candidate: Candidate<'_>, sink: Sink<'_>) -> Result<(), Unreadable> {
        let place = self
            .candidates
            .iter()
            .position(|spoken| spoken.index == candidate.index);
        if place.is_none() {
            if self.candidates.len() >= CANDIDATES {
                return Err(Unreadable::new("too many candidates"));
            }
            self.candidates.push(Spoken {
                index: candidate.index,
                ..Spoken::default()
            });
        }
        let place = place.unwrap_or(self.candidates.len() - 1);
        let Some(spoken) = self.candidates.get_mut(place) else {
            return Ok(());
        };
        let before = spoken.thought.len();
        for part in candidate.parts {
            spoken.part(part, &mut self.calls, &self.reading, sink)?;
        }
        self.held = self.held.saturating_sub(before) + spoken.thought.len();
        if self.held > HELD {
            return Err(Unreadable::new("a thought that is too long"));
        }
        if let Some(json) = candidate.logprobs.as_ref().and_then(wire::logprobs) {
            let choice = spoken.index;
            let json = json.into();
            sink(Event::Logprobs { choice, json });
        }
        if let Some(word) = candidate.finish {
            let finish = wire::finish(word);
            if !spoken.usable
                && let Some(native) = &finish.native
                && wire::reason(&native.decoded()).1
            {
                return Err(Unreadable::new("the candidate failed and says nothing"));
            }
            let native = finish.native.map(|native| native.decoded().into_owned());
            spoken.finish = Some((finish.reason, native));
        }
        Ok(())
    }
}

impl Spoken {
    fn part(
        &mut self,
        part: Part<'_>,
        calls: &mut u64,
        reading: &Reading,
        sink: Sink<'_>,
    ) -> Result<(), Unreadable> {
        let choice = self.index;
        if part.thought && part.call.is_none() {
            self.thought(part, sink);
            return Ok(());
        }
        self.thought_over(None, sink);
        if let Some(call) = &part.call {
            let call = wire::call(&part, call, *calls, reading)?;
            *calls += 1;
            self.usable = true;
            let number = self.calls;
            self.calls += 1;
            sink(Event::ToolStart {
                choice,
                call: number,
                id: call.id.unwrap_or_else(|| Str::plain("")),
                name: call.name,
                state: call.state,
            });
            let (held, text);
            let text = match call.arguments {
                Arguments::Text(text) => text,
                Arguments::Value(json) => {
                    held = json;
                    text = compact(&held);
                    Str::plain(&text)
                }
            };
            sink(Event::ToolArguments {
                choice,
                call: number,
                text,
            });
            sink(Event::ToolEnd {
                choice,
                call: number,
            });
        } else if let Some((mime, base64)) = part.inline.as_ref().and_then(wire::picture) {
            self.usable = true;
            sink(Event::Image {
                choice,
                mime,
                base64,
            });
        } else {
            let state = part.state();
            if let Some(text) = part.text {
                self.usable = true;
                sink(Event::Text { choice, text });
            }
            if let Some(state) = state {
                sink(Event::TextState { choice, state });
            }
        }
        Ok(())
    }

    fn thought(&mut self, part: Part<'_>, sink: Sink<'_>) {
        let choice = self.index;
        let state = part.state();
        if let Some(text) = part.text {
            self.thought.push_str(&text.decoded());
            sink(Event::Thinking { choice, text });
        }
        if state.is_some() {
            self.thought_over(state, sink);
        }
    }

    /// Tells of the end of a thought, if there is one.
    fn thought_over(&mut self, state: Option<State<'_>>, sink: Sink<'_>) {
        if self.thought.is_empty() && state.is_none() {
            return;
        }
        let text = std::mem::take(&mut self.thought);
        sink(Event::ThinkingEnd {
            choice: self.index,
            thinking: Thinking {
                text: Some(Str::plain(&text)).filter(|text| !text.is_empty()),
                state,
            },
        });
    }
}

#[cfg(test)]
mod tests;
