//! The stream of an Anthropic answer, event by event (spec providers 3.3).

use std::collections::BTreeMap;

use onwards_json::{Kind, ScanError, Scanner, Value};

use super::usage::Counts;
use super::{DECLINED, client_tool, failures, finish, member};
use crate::answer::{Event, Finish, Reason};
use crate::failure::{Failure, Unreadable};
use crate::options::{Reading, call_id};
use crate::request::{State, Thinking};
use crate::text::{Str, compact};
use crate::{Family, Step};

/// The most bytes of thoughts, and of text that is kept back.
const HELD: usize = 8 << 20;

/// The one candidate that Anthropic gives.
const CHOICE: u64 = 0;

/// The type of the events that add to a block.
const ADDS: &str = "content_block_delta";

/// Where events go.
type Sink<'s> = dyn FnMut(Event<'_>) + 's;

/// Reads a stream.
#[derive(Debug)]
pub(crate) struct Decoder {
    reading: Reading,
    started: bool,
    counts: Counts,
    /// Blocks that have begun and not ended, by the provider's number.
    open: BTreeMap<u64, Block>,
    /// How many calls there were.
    calls: u64,
    /// Text was given.
    said: bool,
    /// The tool that stands for the answer's shape was called.
    shaped: bool,
    /// Text beside that tool, in case it is never called.
    beside: String,
    finished: bool,
}

/// A block that has begun.
#[derive(Debug)]
enum Block {
    Text,
    /// A call, and whether it has arguments yet.
    Call {
        call: u64,
        any: bool,
    },
    /// A call whose arguments are the answer's text, and whether there are any yet.
    Shaped {
        any: bool,
    },
    Thought {
        text: String,
        signature: String,
    },
    Redacted(String),
    /// Of a kind that is not passed on.
    Other,
}

/// The members of an event that count.
#[derive(Default)]
struct Members<'a> {
    kind: Option<Str<'a>>,
    index: u64,
    /// Of an event that adds to a block: what it adds.
    piece: Piece<'a>,
    /// Of another event.
    delta: Option<Value<'a>>,
    block: Option<Value<'a>>,
    message: Option<Value<'a>>,
    usage: Option<Value<'a>>,
    error: bool,
}

/// What is added to a block.
#[derive(Default)]
struct Piece<'a> {
    kind: Option<Str<'a>>,
    text: Option<Str<'a>>,
}

impl Decoder {
    /// At the start of a stream.
    pub(crate) fn new(reading: Reading) -> Self {
        Self {
            reading,
            started: false,
            counts: Counts::default(),
            open: BTreeMap::new(),
            calls: 0,
            said: false,
            shaped: false,
            beside: String::new(),
            finished: false,
        }
    }

    /// The payload of one event. What the event is says its `type`, or else its name.
    ///
    /// # Errors
    /// For what is not JSON, and for a thought without end.
    pub(crate) fn payload(
        &mut self,
        event: &str,
        payload: &str,
        sink: &mut Sink<'_>,
    ) -> Result<Step, Unreadable> {
        let payload = payload.trim();
        if matches!(payload, "" | "[DONE]") {
            return Ok(Step::Open);
        }
        let members = members(payload, event)
            .map_err(|_| Unreadable::new("an event is not a JSON object"))?;
        let kind = members.kind.clone().unwrap_or(Str::plain(event));
        if kind.is(ADDS) {
            self.delta(members, sink)?;
        } else if kind.is("content_block_start") {
            self.block_start(&members, sink);
        } else if kind.is("content_block_stop") {
            self.block_stop(members.index, sink);
        } else if kind.is("ping") {
            sink(Event::KeepAlive);
        } else if kind.is("message_start") {
            self.message_start(&members, sink);
        } else if kind.is("message_delta") {
            self.message_delta(&members, sink);
        } else if kind.is("message_stop") {
            self.finish(Finish::default(), sink);
            return Ok(Step::Complete);
        } else if kind.is("error") || (members.kind.is_none() && members.error) {
            let failure = failures::embedded_error(payload);
            return Ok(Step::Failed(
                failure.unwrap_or_else(|| Failure::unsaid(500)),
            ));
        }
        Ok(Step::Open)
    }

    /// The stream has ended by itself. True if the provider had said that the answer is whole.
    pub(crate) fn end(&mut self, _sink: &mut Sink<'_>) -> bool {
        self.finished
    }

    fn start(&mut self, id: Option<Str<'_>>, sink: &mut Sink<'_>) {
        if !self.started {
            self.started = true;
            sink(Event::Start { id });
        }
    }

    fn count(&mut self, usage: Option<Value<'_>>, sink: &mut Sink<'_>) {
        let Some(usage) = usage else { return };
        self.counts.update(&usage);
        if let Some(usage) = self.counts.usage() {
            sink(Event::Usage(usage));
        }
    }

    fn message_start(&mut self, members: &Members<'_>, sink: &mut Sink<'_>) {
        let message = members.message.as_ref();
        let id = message.and_then(|message| member(message, "id"));
        self.start(id.and_then(|id| Str::of(&id)), sink);
        self.count(message.and_then(|message| member(message, "usage")), sink);
    }

    fn message_delta(&mut self, members: &Members<'_>, sink: &mut Sink<'_>) {
        self.start(None, sink);
        self.count(members.usage, sink);
        let text = |name| {
            let value = member(members.delta.as_ref()?, name)?;
            Str::of(&value).filter(|text| !text.is_empty())
        };
        if let Some(word) = text("stop_reason") {
            self.finish(finish(word, text("stop_sequence")), sink);
        }
    }

    /// The answer is whole; counted once.
    fn finish(&mut self, mut finish: Finish<'_>, sink: &mut Sink<'_>) {
        self.start(None, sink);
        if std::mem::replace(&mut self.finished, true) {
            return;
        }
        while let Some((index, _)) = self.open.first_key_value() {
            self.block_stop(*index, sink);
        }
        if !self.shaped && !self.beside.is_empty() {
            self.said = true;
            sink(Event::Text {
                choice: CHOICE,
                text: Str::plain(&self.beside),
            });
        }
        // Calling the tool that stands for the answer's shape is an ordinary end.
        finish.reason = finish.reason.with_calls(self.calls > 0);
        if finish.reason == Reason::ContentFilter && !self.said {
            sink(Event::Refusal {
                choice: CHOICE,
                text: Str::plain(DECLINED),
            });
        }
        sink(Event::Finish {
            choice: CHOICE,
            finish,
        });
    }

    fn block_start(&mut self, members: &Members<'_>, sink: &mut Sink<'_>) {
        let Some(block) = members.block.as_ref().filter(|_| !self.finished) else {
            return;
        };
        self.start(None, sink);
        let text = |name| member(block, name).and_then(|value| Str::of(&value));
        let kind = text("type").unwrap_or(Str::plain(""));
        let open = if kind.is("text") {
            if let Some(text) = text("text") {
                self.say(text, sink);
            }
            Block::Text
        } else if kind.is("tool_use") {
            self.call_start(block, sink)
        } else if kind.is("thinking") {
            let mut thought = String::new();
            if let Some(text) = text("thinking").filter(|text| !text.is_empty()) {
                thought.push_str(&text.decoded());
                sink(Event::Thinking {
                    choice: CHOICE,
                    text,
                });
            }
            let signature = text("signature").map(|text| text.decoded().into_owned());
            Block::Thought {
                text: thought,
                signature: signature.unwrap_or_default(),
            }
        } else if kind.is("redacted_thinking") {
            let data = text("data").map(|data| data.decoded().into_owned());
            Block::Redacted(data.unwrap_or_default())
        } else {
            Block::Other
        };
        self.open.insert(members.index, open);
    }

    fn call_start(&mut self, block: &Value<'_>, sink: &mut Sink<'_>) -> Block {
        let text = |name| member(block, name).and_then(|value| Str::of(&value));
        let name = text("name").unwrap_or(Str::plain(""));
        let input = member(block, "input").filter(|input| input.members().next().is_some());
        let input = input.as_ref().map(|input| compact(input.text()));
        let structured = self.reading.memory.structured.as_deref();
        if structured.is_some_and(|tool| name.is(tool)) {
            if std::mem::replace(&mut self.shaped, true) {
                return Block::Other;
            }
            if let Some(input) = &input {
                self.shape(Str::plain(input), sink);
            }
            return Block::Shaped {
                any: input.is_some(),
            };
        }
        let call = self.calls;
        self.calls += 1;
        let id = text("id").filter(|id| !id.is_empty());
        sink(Event::ToolStart {
            choice: CHOICE,
            call,
            id: id.unwrap_or_else(|| Str::owned(call_id(&self.reading.unique, call))),
            name: client_tool(name, &self.reading.memory),
            state: None,
        });
        if let Some(input) = &input {
            sink(Event::ToolArguments {
                choice: CHOICE,
                call,
                text: Str::plain(input),
            });
        }
        Block::Call {
            call,
            any: input.is_some(),
        }
    }

    fn delta(&mut self, members: Members<'_>, sink: &mut Sink<'_>) -> Result<(), Unreadable> {
        if self.finished {
            return Ok(());
        }
        self.start(None, sink);
        let Piece { kind, text } = members.piece;
        let (Some(kind), Some(text)) = (kind, text.filter(|text| !text.is_empty())) else {
            return Ok(());
        };
        if kind.is("text_delta") {
            self.say(text, sink);
            return Ok(());
        }
        match self.open.get_mut(&members.index) {
            Some(Block::Call { call, any }) if kind.is("input_json_delta") => {
                *any = true;
                sink(Event::ToolArguments {
                    choice: CHOICE,
                    call: *call,
                    text,
                });
            }
            Some(Block::Shaped { any }) if kind.is("input_json_delta") => {
                *any = true;
                self.shape(text, sink);
            }
            Some(Block::Thought { text: whole, .. }) if kind.is("thinking_delta") => {
                hold(whole, &text)?;
                sink(Event::Thinking {
                    choice: CHOICE,
                    text,
                });
            }
            Some(Block::Thought { signature, .. }) if kind.is("signature_delta") => {
                hold(signature, &text)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn block_stop(&mut self, index: u64, sink: &mut Sink<'_>) {
        match self.open.remove(&index) {
            Some(Block::Call { call, any }) => {
                if !any {
                    sink(Event::ToolArguments {
                        choice: CHOICE,
                        call,
                        text: Str::plain("{}"),
                    });
                }
                sink(Event::ToolEnd {
                    choice: CHOICE,
                    call,
                });
            }
            Some(Block::Shaped { any: false }) => self.shape(Str::plain("{}"), sink),
            Some(Block::Thought { text, signature }) => {
                thought(Some(Str::plain(&text)), &signature, sink);
            }
            Some(Block::Redacted(data)) => thought(None, &data, sink),
            Some(Block::Text | Block::Shaped { .. } | Block::Other) | None => {}
        }
    }

    /// Text; kept back where the answer is to come from a tool.
    fn say(&mut self, text: Str<'_>, sink: &mut Sink<'_>) {
        if text.is_empty() {
            return;
        }
        if self.reading.memory.structured.is_some() {
            // What does not fit is beside the answer anyway, or an answer of the wrong shape.
            hold(&mut self.beside, &text).unwrap_or_default();
            return;
        }
        self.said = true;
        sink(Event::Text {
            choice: CHOICE,
            text,
        });
    }

    /// A piece of the answer's text from the tool that stands for its shape.
    fn shape(&mut self, text: Str<'_>, sink: &mut Sink<'_>) {
        self.said = true;
        sink(Event::Text {
            choice: CHOICE,
            text,
        });
    }
}

/// Reads an event in one pass, if its type comes before what it adds, as it does.
fn members<'a>(payload: &'a str, event: &str) -> Result<Members<'a>, ScanError> {
    let mut found = Members::default();
    let mut scanner = Scanner::of(payload);
    scanner.enter_object()?;
    let mut adds = event == ADDS;
    while let Some(name) = scanner.next_key()? {
        if name.is("type") {
            found.kind = Str::of(&scanner.skip()?);
            adds = found.kind.as_ref().is_some_and(|kind| kind.is(ADDS));
        } else if name.is("index") {
            found.index = scanner.skip_u64()?.unwrap_or(0);
        } else if name.is("delta") {
            if adds && scanner.peek()? == Kind::Object {
                found.piece = piece(&mut scanner)?;
            } else {
                found.delta = Some(scanner.skip()?);
            }
        } else if name.is("content_block") {
            found.block = Some(scanner.skip()?);
        } else if name.is("message") {
            found.message = Some(scanner.skip()?);
        } else if name.is("usage") {
            found.usage = Some(scanner.skip()?);
        } else {
            found.error |= name.is("error");
            scanner.skip()?;
        }
    }
    scanner.finish()?;
    if let Some(delta) = found.delta.filter(|_| adds) {
        let mut scanner = delta.scan();
        if scanner.peek()? == Kind::Object {
            found.piece = piece(&mut scanner)?;
        }
    }
    Ok(found)
}

fn piece<'a>(scanner: &mut Scanner<'a>) -> Result<Piece<'a>, ScanError> {
    let mut piece = Piece::default();
    scanner.enter_object()?;
    while let Some(name) = scanner.next_key()? {
        let value = scanner.skip()?;
        if name.is("type") {
            piece.kind = Str::of(&value);
        } else if ["text", "partial_json", "thinking", "signature"]
            .iter()
            .any(|member| name.is(member))
        {
            piece.text = Str::of(&value);
        }
    }
    Ok(piece)
}

fn hold(held: &mut String, text: &Str<'_>) -> Result<(), Unreadable> {
    let text = text.decoded();
    if held.len() + text.len() > HELD {
        return Err(Unreadable::new("a thought is too long"));
    }
    held.push_str(&text);
    Ok(())
}

fn thought(text: Option<Str<'_>>, state: &str, sink: &mut Sink<'_>) {
    let state = (!state.is_empty()).then(|| State {
        family: Family::Anthropic,
        data: Str::plain(state),
    });
    if state.is_none() && text.as_ref().is_none_or(Str::is_empty) {
        return;
    }
    sink(Event::ThinkingEnd {
        choice: CHOICE,
        thinking: Thinking { text, state },
    });
}
