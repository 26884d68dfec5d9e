//! Streams: of ConverseStream here, those of InvokeModel where their events are taken out of their wrapping.

use onwards_json::{Scanner, Value};

use super::answer::client_name;
use super::invoke::Chunks;
use super::stop::Stop;
use super::{failure, member, usage};
use crate::answer::{Event, Finish, Reason};
use crate::failure::Unreadable;
use crate::options::{Reading, call_id};
use crate::request::{State, Thinking};
use crate::text::{Str, value};
use crate::{Family, Step};

/// What a stream may hold back, in bytes: thoughts that are not over.
const HELD: usize = 8 << 20;

/// Blocks that may be open beside each other.
const OPEN: usize = 1024;

type Sink<'s> = &'s mut dyn FnMut(Event<'_>);

/// Reads a provider's stream, event by event.
#[derive(Debug)]
pub(crate) struct Decoder {
    reading: Reading,
    started: bool,
    /// Blocks that are not over and have to be known, the newest last. Text is not among them: nothing of it is kept.
    open: Vec<(u64, Block)>,
    calls: u64,
    /// Something was said that is no thought.
    usable: bool,
    finished: bool,
    /// Why the answer has ended. Told with the counts, which end the stream, so that nothing is told of one that breaks off there.
    ending: Option<Ending>,
    /// The answer has come in the shape that was asked for.
    shaped: bool,
    /// Text of an answer whose shape was asked for. It is told at the end, if nothing of that shape has come.
    beside: String,
    held: usize,
    /// The stream is one of InvokeModel.
    chunks: Option<Box<Chunks>>,
}

#[derive(Debug)]
enum Block {
    Call {
        number: u64,
        bare: bool,
    },
    /// The call that stands for an answer of a given shape.
    Shape {
        /// No arguments have come.
        bare: bool,
    },
    Thought {
        text: String,
        signature: String,
        redacted: String,
    },
}

impl Decoder {
    /// Before the first event.
    pub(crate) fn new(reading: Reading) -> Self {
        Self {
            reading,
            started: false,
            open: Vec::new(),
            calls: 0,
            usable: false,
            finished: false,
            ending: None,
            shaped: false,
            beside: String::new(),
            held: 0,
            chunks: None,
        }
    }

    /// Reads the payload of one event, `event` being its `:event-type`.
    ///
    /// # Errors
    /// For no JSON, arguments of a call that has not begun, more than may be kept, and a model that failed to say anything.
    pub(crate) fn payload(
        &mut self,
        event: &str,
        payload: &str,
        sink: Sink<'_>,
    ) -> Result<Step, Unreadable> {
        if event.ends_with("Exception") {
            return Ok(Step::Failed(failure::read_exception(event, payload)));
        }
        if event == "chunk" {
            let reading = &self.reading;
            let chunks = self
                .chunks
                .get_or_insert_with(|| Box::new(Chunks::new(reading.clone())));
            return chunks.payload(payload, sink);
        }
        let frame = Frame::read(payload).ok_or(Unreadable::new("no JSON object"))?;
        match event {
            "contentBlockStart" | "contentBlockDelta" | "contentBlockStop" if self.finished => {}
            "messageStart" => self.start(sink),
            "contentBlockStart" => self.block_start(&frame, sink)?,
            "contentBlockDelta" => self.delta(&frame, sink)?,
            "contentBlockStop" => self.block_stop(frame.index, sink),
            "messageStop" => self.stop(&frame, sink)?,
            "metadata" => {
                self.tell_ending(sink);
                let counts = frame.usage.and_then(|counts| usage(&counts));
                counts
                    .into_iter()
                    .for_each(|usage| sink(Event::Usage(usage)));
                if self.finished {
                    return Ok(Step::Complete);
                }
            }
            "" => {
                let failure = value(payload).and_then(|value| failure::embedded(&value));
                if let Some(failure) = failure {
                    return Ok(Step::Failed(failure));
                }
            }
            _ => {}
        }
        Ok(Step::Open)
    }

    /// The stream has ended. True if the answer had.
    pub(crate) fn end(&mut self, sink: Sink<'_>) -> bool {
        match &mut self.chunks {
            Some(chunks) => chunks.end(sink),
            None => {
                self.tell_ending(sink);
                self.finished
            }
        }
    }

    fn tell_ending(&mut self, sink: Sink<'_>) {
        if let Some(ending) = self.ending.take() {
            let finish = ending.finish();
            sink(Event::Finish { choice: 0, finish });
        }
    }

    fn start(&mut self, sink: Sink<'_>) {
        if !std::mem::replace(&mut self.started, true) {
            sink(Event::Start { id: None });
        }
    }

    fn block_start(&mut self, frame: &Frame<'_>, sink: Sink<'_>) -> Result<(), Unreadable> {
        let call = frame.start.and_then(|start| member(&start, "toolUse"));
        let Some(call) = call else {
            return Ok(());
        };
        self.start(sink);
        let name = member(&call, "name")
            .and_then(|name| Str::of(&name))
            .ok_or(Unreadable::new("a call without a name"))?;
        self.usable = true;
        let shape = self.reading.memory.structured.as_ref();
        let block = if shape.is_some_and(|tool| name.is(tool)) {
            self.shaped = true;
            Block::Shape { bare: true }
        } else {
            let number = self.calls;
            let id = member(&call, "toolUseId")
                .and_then(|id| Str::of(&id))
                .filter(|id| !id.is_empty())
                .unwrap_or_else(|| Str::owned(call_id(&self.reading.unique, number)));
            sink(Event::ToolStart {
                choice: 0,
                call: number,
                id,
                name: client_name(name, &self.reading),
                state: None,
            });
            self.calls += 1;
            Block::Call { number, bare: true }
        };
        self.begin(frame.index, block)
    }

    fn begin(&mut self, index: u64, block: Block) -> Result<(), Unreadable> {
        if self.open.len() == OPEN {
            return Err(Unreadable::new("too many blocks at once"));
        }
        self.open.push((index, block));
        Ok(())
    }

    fn delta(&mut self, frame: &Frame<'_>, sink: Sink<'_>) -> Result<(), Unreadable> {
        self.start(sink);
        for part in frame.delta.iter().flat_map(Value::members) {
            if part.is("text") {
                self.text(&part.value(), sink)?;
            } else if part.is("toolUse") {
                self.arguments(frame.index, &part.value(), sink)?;
            } else if part.is("reasoningContent") {
                self.thought(frame.index, &part.value(), sink)?;
            }
        }
        Ok(())
    }

    fn text(&mut self, text: &Value<'_>, sink: Sink<'_>) -> Result<(), Unreadable> {
        let Some(text) = Str::of(text).filter(|text| !text.is_empty()) else {
            return Ok(());
        };
        self.usable = true;
        if self.reading.memory.structured.is_none() {
            sink(Event::Text { choice: 0, text });
            return Ok(());
        }
        let text = text.decoded();
        self.beside.push_str(&text);
        self.hold(text.len())
    }

    /// Counts what is kept.
    fn hold(&mut self, bytes: usize) -> Result<(), Unreadable> {
        self.held += bytes;
        if self.held > HELD {
            return Err(Unreadable::new("more than can be kept"));
        }
        Ok(())
    }

    fn arguments(
        &mut self,
        index: u64,
        call: &Value<'_>,
        sink: Sink<'_>,
    ) -> Result<(), Unreadable> {
        let text = member(call, "input").and_then(|input| Str::of(&input));
        let Some(text) = text.filter(|text| !text.is_empty()) else {
            return Ok(());
        };
        match self.block(index) {
            Some(Block::Call { number, bare }) => {
                *bare = false;
                sink(Event::ToolArguments {
                    choice: 0,
                    call: *number,
                    text,
                });
                Ok(())
            }
            Some(Block::Shape { bare }) => {
                *bare = false;
                sink(Event::Text { choice: 0, text });
                Ok(())
            }
            _ => Err(Unreadable::new("arguments of no call")),
        }
    }

    fn thought(&mut self, index: u64, part: &Value<'_>, sink: Sink<'_>) -> Result<(), Unreadable> {
        if !matches!(self.block(index), Some(Block::Thought { .. })) {
            let block = Block::Thought {
                text: String::new(),
                signature: String::new(),
                redacted: String::new(),
            };
            self.begin(index, block)?;
        }
        let mut grown = 0;
        if let Some(Block::Thought {
            text,
            signature,
            redacted,
        }) = self.block(index)
        {
            for member in part.members() {
                let Some(piece) = Str::of(&member.value()).filter(|piece| !piece.is_empty()) else {
                    continue;
                };
                let kept = match &*member.name() {
                    "text" => &mut *text,
                    "signature" => &mut *signature,
                    "redactedContent" => &mut *redacted,
                    _ => continue,
                };
                let meant = piece.decoded();
                grown += meant.len();
                kept.push_str(&meant);
                drop(meant);
                if member.is("text") {
                    sink(Event::Thinking {
                        choice: 0,
                        text: piece,
                    });
                }
            }
        }
        self.hold(grown)
    }

    fn block(&mut self, index: u64) -> Option<&mut Block> {
        let found = self.open.iter_mut().rfind(|(open, _)| *open == index);
        found.map(|(_, block)| block)
    }

    fn block_stop(&mut self, index: u64, sink: Sink<'_>) {
        if let Some(at) = self.open.iter().rposition(|(open, _)| *open == index) {
            let (_, block) = self.open.remove(at);
            self.close(&block, sink);
        }
    }

    fn close(&mut self, block: &Block, sink: Sink<'_>) {
        match block {
            Block::Call { number, bare } => {
                let call = *number;
                if *bare {
                    sink(Event::ToolArguments {
                        choice: 0,
                        call,
                        text: Str::plain("{}"),
                    });
                }
                sink(Event::ToolEnd { choice: 0, call });
            }
            Block::Shape { bare: true } => sink(Event::Text {
                choice: 0,
                text: Str::plain("{}"),
            }),
            Block::Shape { bare: false } => {}
            Block::Thought {
                text,
                signature,
                redacted,
            } => {
                self.held -= text.len() + signature.len() + redacted.len();
                let state = |data| State {
                    family: Family::Anthropic,
                    data: Str::plain(data),
                };
                if !text.is_empty() || !signature.is_empty() {
                    let thinking = Thinking {
                        text: Some(Str::plain(text)),
                        state: (!signature.is_empty()).then(|| state(signature)),
                    };
                    sink(Event::ThinkingEnd {
                        choice: 0,
                        thinking,
                    });
                }
                if !redacted.is_empty() {
                    let thinking = Thinking {
                        text: None,
                        state: Some(state(redacted)),
                    };
                    sink(Event::ThinkingEnd {
                        choice: 0,
                        thinking,
                    });
                }
            }
        }
    }

    fn stop(&mut self, frame: &Frame<'_>, sink: Sink<'_>) -> Result<(), Unreadable> {
        if self.finished {
            return Ok(());
        }
        self.start(sink);
        for (_, block) in std::mem::take(&mut self.open) {
            self.close(&block, sink);
        }
        let stop = Stop::of(frame.stop.and_then(|word| Str::of(&word)));
        if stop.malformed && !self.usable {
            return Err(Unreadable::new("the model's output was malformed"));
        }
        self.finished = true;
        if !self.shaped && !self.beside.is_empty() {
            let text = Str::plain(&self.beside);
            sink(Event::Text { choice: 0, text });
        }
        self.ending = Some(Ending::of(&stop.finish));
        Ok(())
    }
}

/// A finish that is kept.
#[derive(Debug)]
struct Ending {
    reason: Reason,
    native: Option<String>,
    stop_sequence: Option<String>,
}

impl Ending {
    fn of(finish: &Finish<'_>) -> Self {
        let owned = |word: &Option<Str<'_>>| word.as_ref().map(|word| word.decoded().into_owned());
        Self {
            reason: finish.reason,
            native: owned(&finish.native),
            stop_sequence: owned(&finish.stop_sequence),
        }
    }

    fn finish(self) -> Finish<'static> {
        Finish {
            reason: self.reason,
            native: self.native.map(Str::owned),
            stop_sequence: self.stop_sequence.map(Str::owned),
        }
    }
}

/// What any event may have, read in one pass.
#[derive(Default)]
struct Frame<'a> {
    index: u64,
    start: Option<Value<'a>>,
    delta: Option<Value<'a>>,
    stop: Option<Value<'a>>,
    usage: Option<Value<'a>>,
}

impl<'a> Frame<'a> {
    /// `None` for what is not one JSON object.
    fn read(payload: &'a str) -> Option<Self> {
        let mut frame = Self::default();
        let mut scanner = Scanner::of(payload);
        scanner.enter_object().ok()?;
        while let Some(member) = scanner.next_member().ok()? {
            let value = member.value();
            if member.is("delta") {
                frame.delta = Some(value);
            } else if member.is("contentBlockIndex") {
                frame.index = value.as_u64().unwrap_or(0);
            } else if member.is("start") {
                frame.start = Some(value);
            } else if member.is("stopReason") {
                frame.stop = Some(value);
            } else if member.is("usage") {
                frame.usage = Some(value);
            }
        }
        scanner.finish().ok()?;
        Some(frame)
    }
}
