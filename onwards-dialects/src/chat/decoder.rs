//! Streams of providers (spec providers 3.1, 3.2).
//!
//! Why a choice ended is told when the stream ends: some servers give a reason and then more, or a second reason. The first that
//! is not empty counts.

use onwards_json::{Kind, ScanError, Scanner, Value};

use super::calls::{Calls, Delta};
use super::failure::frame_failure;
use super::message::signature;
use super::receive::{Said, Written, read_blocks, read_finish, read_images, read_usage, texts};
use crate::Step;
use crate::answer::{Event, Finish, Usage};
use crate::failure::{Failure, Unreadable};
use crate::options::Reading;
use crate::text::{Str, value};

/// The most candidates of one answer.
const MOST: usize = 1024;

/// Reads the payloads of a stream. Holds the calls of each candidate, and of a call whose name has not come what came before it.
#[derive(Debug)]
pub(crate) struct Decoder {
    reading: Reading,
    started: bool,
    done: bool,
    choices: Vec<Choice>,
    usage: Option<Usage>,
    /// Calls of all choices.
    count: u64,
}

#[derive(Debug)]
struct Choice {
    index: u64,
    finish: Option<Finish<'static>>,
    calls: Calls,
}

/// Who is told the events.
type Sink<'s> = dyn FnMut(Event<'_>) + 's;

impl Decoder {
    pub(crate) fn new(reading: Reading) -> Self {
        Self {
            reading,
            started: false,
            done: false,
            choices: Vec::new(),
            usage: None,
            count: 0,
        }
    }

    /// Reads one payload.
    ///
    /// # Errors
    /// For a payload that is not JSON or has another shape; the stream is then to be given up.
    pub(crate) fn payload(
        &mut self,
        event: &str,
        payload: &str,
        sink: &mut Sink<'_>,
    ) -> Result<Step, Unreadable> {
        let payload = payload.trim();
        if self.done || payload == "[DONE]" {
            return match self.done || self.flush(sink) {
                true => Ok(Step::Complete),
                false => Err(Unreadable::new("a call without a name")),
            };
        }
        if payload.is_empty() {
            return Ok(Step::Open);
        }
        let frame =
            Frame::read(payload).map_err(|_| Unreadable::new("a frame that is not JSON"))?;
        if let Some(error) = &frame.error {
            return Ok(Step::Failed(frame_failure(error)));
        }
        if event == "error" || frame.is_error {
            let failure = value(payload).map(|whole| frame_failure(&whole));
            return Ok(Step::Failed(
                failure.unwrap_or_else(|| Failure::unsaid(500)),
            ));
        }
        if let Some(choices) = &frame.choices {
            self.choices(choices, frame.id.as_ref(), sink)
                .map_err(|error| error.0)?;
        }
        if let Some(usage) = &frame.usage {
            let before = self.usage;
            read_usage(usage, &mut self.usage);
            if let (Some(usage), true) = (self.usage, self.usage != before) {
                self.start(frame.id, sink);
                sink(Event::Usage(usage));
            }
        }
        Ok(Step::Open)
    }

    /// The provider's stream has ended by itself; true if its answer was complete.
    pub(crate) fn end(&mut self, sink: &mut Sink<'_>) -> bool {
        if self.done {
            return true;
        }
        let finished = self.choices.iter().all(|choice| choice.finish.is_some());
        !self.choices.is_empty() && finished && self.flush(sink)
    }

    /// Gives all that is held; false if it cannot be told.
    fn flush(&mut self, sink: &mut Sink<'_>) -> bool {
        self.done = true;
        self.start(None, sink);
        for choice in &mut self.choices {
            if !choice.calls.end(choice.index, sink) {
                return false;
            }
            sink(Event::Finish {
                choice: choice.index,
                finish: choice.finish.take().unwrap_or_default(),
            });
        }
        true
    }

    fn start(&mut self, id: Option<Str<'_>>, sink: &mut Sink<'_>) {
        if !std::mem::replace(&mut self.started, true) {
            let id = id.filter(|id| !id.is_empty());
            sink(Event::Start { id });
        }
    }

    fn choices(
        &mut self,
        choices: &Value<'_>,
        id: Option<&Str<'_>>,
        sink: &mut Sink<'_>,
    ) -> Result<(), Wrong> {
        let mut scanner = choices.scan();
        scanner.enter_array()?;
        let mut id = Some(id);
        let mut place = 0;
        while scanner.next_element()? {
            if let Some(id) = id.take() {
                self.start(id.cloned(), sink);
            }
            self.choice(&mut scanner, place, sink)?;
            place += 1;
        }
        Ok(())
    }

    fn choice(
        &mut self,
        scanner: &mut Scanner<'_>,
        place: u64,
        sink: &mut Sink<'_>,
    ) -> Result<(), Wrong> {
        let mut index = place;
        let mut said = Said::default();
        let (mut finish, mut logprobs) = (None, None);
        scanner.enter_object()?;
        while let Some(name) = scanner.next_key()? {
            match &*name.decoded() {
                "index" => index = scanner.skip_u64()?.unwrap_or(place),
                "delta" | "message" => read_said(scanner, &mut said)?,
                "finish_reason" => finish = read_finish(&scanner.skip()?)?,
                "logprobs" => {
                    let value = scanner.skip()?;
                    logprobs = (value.kind() == Kind::Object).then_some(value);
                }
                _ => {}
            }
        }
        let choice = known(&mut self.choices, index)?;
        tell(&said, index, sink);
        for call in said.tool_calls.iter().flat_map(Value::elements) {
            let delta = Delta::of_call(&call);
            let reading = &self.reading;
            choice
                .calls
                .delta(index, &delta, reading, &mut self.count, sink)?;
        }
        if let Some(call) = &said.function_call {
            let delta = Delta::of_function(call);
            let reading = &self.reading;
            choice
                .calls
                .delta(index, &delta, reading, &mut self.count, sink)?;
        }
        if let Some(logprobs) = logprobs {
            sink(Event::Logprobs {
                choice: index,
                json: logprobs.text().into(),
            });
        }
        if let (Some(finish), None) = (finish, &choice.finish) {
            choice.finish = Some(Finish {
                reason: finish.reason,
                native: finish.native.map(Str::into_owned),
                stop_sequence: None,
            });
        }
        Ok(())
    }
}

/// What stands at the top of a frame.
struct Frame<'a> {
    id: Option<Str<'a>>,
    choices: Option<Value<'a>>,
    usage: Option<Value<'a>>,
    error: Option<Value<'a>>,
    /// It says of itself that it is an error.
    is_error: bool,
}

impl<'a> Frame<'a> {
    fn read(payload: &'a str) -> Result<Self, ScanError> {
        let mut scanner = Scanner::of(payload);
        let mut frame = Self {
            id: None,
            choices: None,
            usage: None,
            error: None,
            is_error: false,
        };
        scanner.enter_object()?;
        while let Some(name) = scanner.next_key()? {
            match &*name.decoded() {
                "id" => frame.id = Str::of(&scanner.skip()?),
                "choices" => frame.choices = present(scanner.skip()?),
                "usage" => frame.usage = present(scanner.skip()?),
                "error" => frame.error = present(scanner.skip()?),
                "object" => {
                    let word = scanner.skip()?.as_text();
                    frame.is_error = word.is_some_and(|word| word.is("error"));
                }
                _ => {}
            }
        }
        scanner.finish()?;
        Ok(frame)
    }
}

fn present(value: Value<'_>) -> Option<Value<'_>> {
    (!value.is_null()).then_some(value)
}

/// Why a frame cannot be read.
struct Wrong(Unreadable);

impl From<ScanError> for Wrong {
    fn from(_: ScanError) -> Self {
        Self(Unreadable::new("a frame of another shape"))
    }
}

impl From<Unreadable> for Wrong {
    fn from(error: Unreadable) -> Self {
        Self(error)
    }
}

fn read_said<'a>(scanner: &mut Scanner<'a>, said: &mut Said<'a>) -> Result<(), ScanError> {
    if scanner.peek()? != Kind::Object {
        return scanner.skip().map(|_| ());
    }
    scanner.enter_object()?;
    while let Some(name) = scanner.next_key()? {
        let value = scanner.skip()?;
        said.member(&name.decoded(), value);
    }
    Ok(())
}

fn known(choices: &mut Vec<Choice>, index: u64) -> Result<&mut Choice, Unreadable> {
    let place = choices.iter().position(|choice| choice.index == index);
    let place = place.unwrap_or(choices.len());
    if place == choices.len() {
        if place >= MOST {
            return Err(Unreadable::new("too many choices"));
        }
        choices.push(Choice {
            index,
            finish: None,
            calls: Calls::default(),
        });
    }
    choices
        .get_mut(place)
        .ok_or_else(|| Unreadable::new("too many choices"))
}

/// Tells what a delta says, but for its calls.
fn tell(said: &Said<'_>, choice: u64, sink: &mut Sink<'_>) {
    if let Some(text) = &said.reasoning {
        let text = text.clone();
        sink(Event::Thinking { choice, text });
    }
    if let Some(blocks) = &said.thinking_blocks {
        read_blocks(blocks, &mut |thinking| {
            sink(Event::ThinkingEnd { choice, thinking });
        });
    }
    if let Some(content) = &said.content {
        texts(content, &mut |piece| {
            sink(match piece {
                Written::Text(text) => Event::Text { choice, text },
                Written::Thought(text) => Event::Thinking { choice, text },
            });
        });
    }
    if let Some(text) = &said.refusal {
        let text = text.clone();
        sink(Event::Refusal { choice, text });
    }
    if let Some(images) = &said.images {
        read_images(images, &mut |mime, base64| {
            sink(Event::Image {
                choice,
                mime,
                base64,
            });
        });
    }
    if let Some(state) = said.extra_content.as_ref().and_then(signature) {
        sink(Event::TextState { choice, state });
    }
}
