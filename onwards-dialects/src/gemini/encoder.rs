//! Streams for a client: chunks that are answers in part, as server-sent events or as elements of one JSON array.

use crate::answer::{Event, Finish, Usage};
use crate::failure::Failure;
use crate::options::{Context, Expose};
use crate::request::{Arguments, State, Thinking};
use crate::text::Str;
use crate::write::{Obj, object};

use super::parts::{self, Writer};
use super::{CANDIDATES, HELD, failure};

/// Writes a stream for a client.
///
/// Every chunk has a content with at least one part: the official clients leave a turn out of their history if one has not.
#[derive(Debug)]
pub(crate) struct Encoder {
    context: Context,
    id: Option<String>,
    choices: Vec<Told>,
    /// Calls that are not over, in the order they began.
    calls: Vec<Call>,
    usage: Option<Usage>,
    /// Bytes of `calls` and of log probabilities.
    held: usize,
    /// The array has begun.
    open: bool,
    ended: bool,
}

/// What is kept of a candidate for its end.
#[derive(Debug)]
struct Told {
    index: u64,
    reason: Option<&'static str>,
    logprobs: Option<String>,
}

/// A call, which a client is told whole.
#[derive(Debug)]
struct Call {
    choice: u64,
    number: u64,
    id: Str<'static>,
    name: Str<'static>,
    arguments: String,
    state: Option<State<'static>>,
}

impl Encoder {
    /// Before the first event.
    pub(crate) fn new(context: Context) -> Self {
        Self {
            context,
            id: None,
            choices: Vec::new(),
            calls: Vec::new(),
            usage: None,
            held: 0,
            open: false,
            ended: false,
        }
    }

    /// Writes what an event is for the client.
    pub(crate) fn event(&mut self, event: &Event<'_>, out: &mut String) {
        match event {
            Event::Start { id } => self.id = id.as_ref().map(|id| id.decoded().into_owned()),
            Event::Text { choice, text } | Event::Refusal { choice, text } => {
                self.part(*choice, out, |writer| writer.text(text, None));
            }
            Event::Thinking { choice, text } if self.context.expose != Expose::None => {
                let thinking = Thinking {
                    text: Some(text.clone()),
                    state: None,
                };
                self.part(*choice, out, |writer| writer.thinking(&thinking));
            }
            Event::ThinkingEnd { choice, thinking } => self.thinking_end(*choice, thinking, out),
            Event::ToolStart {
                choice,
                call,
                id,
                name,
                state,
            } => self.begin(Call {
                choice: *choice,
                number: *call,
                id: id.clone().into_owned(),
                name: name.clone().into_owned(),
                arguments: String::new(),
                state: state.as_ref().map(owned),
            }),
            Event::ToolArguments { choice, call, text } => self.arguments(*choice, *call, text),
            Event::ToolEnd { choice, call } => {
                self.release(|held| held.choice == *choice && held.number == *call, out);
            }
            Event::Image {
                choice,
                mime,
                base64,
            } => self.part(*choice, out, |writer| writer.image(mime, base64)),
            Event::TextState { choice, state } if parts::shows(state, self.context.expose) => {
                self.part(*choice, out, |writer| {
                    writer.text(&Str::plain(""), Some(state));
                });
            }
            Event::Logprobs { choice, json } => self.logprobs(*choice, json),
            Event::Finish { choice, finish } => {
                self.release(|held| held.choice == *choice, out);
                let reason = parts::finish_reason(finish);
                if let Some(told) = self.told(*choice) {
                    told.reason.get_or_insert(reason);
                }
            }
            Event::Usage(usage) => self.usage = Some(*usage),
            // White space, where there can be no comment.
            Event::KeepAlive if self.context.array => out.push('\n'),
            // Google's own client takes a comment for an answer that is broken.
            Event::KeepAlive | Event::Thinking { .. } | Event::TextState { .. } => {}
        }
    }

    /// The answer is complete: writes the chunk with the reasons and the counts, and the end of the array.
    pub(crate) fn end(&mut self, out: &mut String) {
        if self.ended {
            return;
        }
        self.release(|_| true, out);
        if self.choices.is_empty() {
            self.told(0);
        }
        let choices = std::mem::take(&mut self.choices);
        let usage = self.usage;
        self.chunk(out, |o, context| {
            o.array("candidates", |list| {
                for told in &choices {
                    list.object(|o| {
                        content(o, context, |writer| writer.text(&Str::plain(""), None));
                        let ordinary = parts::finish_reason(&Finish::default());
                        o.text("finishReason", told.reason.unwrap_or(ordinary));
                        o.u64("index", told.index);
                        if let Some(logprobs) = &told.logprobs {
                            parts::logprobs(logprobs, o);
                        }
                    });
                }
            });
            if let Some(usage) = &usage {
                o.object("usageMetadata", |o| parts::usage(usage, o));
            }
        });
        self.close(out);
    }

    /// The answer has failed: writes the error, and the end of the array.
    pub(crate) fn fail(&mut self, failure: &Failure, out: &mut String) {
        if self.ended {
            return;
        }
        self.before(out);
        failure::write_failure(failure, &self.context.request_id, out);
        self.after(out);
        self.close(out);
    }

    /// True when more is held back than a stream may: it has to be failed.
    pub(crate) fn overflow(&self) -> bool {
        self.held > HELD
    }

    /// The state of a thought whose text the client has.
    fn thinking_end(&mut self, choice: u64, thinking: &Thinking<'_>, out: &mut String) {
        let expose = self.context.expose;
        let state = thinking
            .state
            .as_ref()
            .filter(|state| parts::shows(state, expose));
        if state.is_some() {
            let signed = Thinking {
                text: None,
                state: state.cloned(),
            };
            self.part(choice, out, |writer| writer.thinking(&signed));
        }
    }

    fn begin(&mut self, call: Call) {
        let state = call.state.as_ref();
        let state = state.map_or(0, |state| state.data.decoded().len());
        let names = call.id.decoded().len() + call.name.decoded().len();
        self.held += size_of::<Call>() + names + state;
        if !self.overflow() {
            self.calls.push(call);
        }
    }

    fn arguments(&mut self, choice: u64, number: u64, text: &Str<'_>) {
        let text = text.decoded();
        self.held += text.len();
        let call = self
            .calls
            .iter_mut()
            .find(|call| call.choice == choice && call.number == number);
        if let Some(call) = call
            && self.held <= HELD
        {
            call.arguments.push_str(&text);
        }
    }

    fn logprobs(&mut self, choice: u64, json: &str) {
        self.held += json.len();
        if self.overflow() {
            return;
        }
        if let Some(told) = self.told(choice) {
            match &mut told.logprobs {
                Some(all) => join(all, json),
                none => *none = Some(json.to_owned()),
            }
        }
    }

    /// Writes those of the calls that are over.
    fn release(&mut self, over: impl Fn(&Call) -> bool, out: &mut String) {
        let (done, rest) = std::mem::take(&mut self.calls)
            .into_iter()
            .partition::<Vec<_>, _>(|call| over(call));
        self.calls = rest;
        for call in done {
            self.held = self.held.saturating_sub(call.arguments.len());
            let arguments = Arguments::Text(Str::plain(&call.arguments));
            self.part(call.choice, out, |writer| {
                writer.call(Some(&call.id), &call.name, &arguments, call.state.as_ref());
            });
        }
    }

    /// What is kept of a candidate. `None` for one candidate too many.
    fn told(&mut self, index: u64) -> Option<&mut Told> {
        let place = self.choices.iter().position(|told| told.index == index);
        if place.is_none() && self.choices.len() < CANDIDATES {
            self.choices.push(Told {
                index,
                reason: None,
                logprobs: None,
            });
        }
        match place {
            Some(place) => self.choices.get_mut(place),
            None => self.choices.last_mut().filter(|told| told.index == index),
        }
    }

    /// A chunk of one part of a candidate.
    fn part(&mut self, choice: u64, out: &mut String, write: impl FnOnce(&mut Writer<'_, '_>)) {
        self.told(choice);
        self.chunk(out, |o, context| {
            o.array("candidates", |list| {
                list.object(|o| {
                    content(o, context, write);
                    o.u64("index", choice);
                });
            });
        });
    }

    fn chunk(&mut self, out: &mut String, write: impl FnOnce(&mut Obj<'_>, &Context)) {
        self.before(out);
        object(out, |o| {
            write(o, &self.context);
            o.text("modelVersion", &self.context.model);
            let id = self.id.as_ref().unwrap_or(&self.context.unique);
            o.text("responseId", id);
        });
        self.after(out);
    }

    fn before(&mut self, out: &mut String) {
        let first = !std::mem::replace(&mut self.open, true);
        out.push_str(match (self.context.array, first) {
            (true, true) => "[",
            (true, false) => ",\n",
            (false, _) => "data: ",
        });
    }

    fn after(&self, out: &mut String) {
        if !self.context.array {
            out.push_str("\n\n");
        }
    }

    fn close(&mut self, out: &mut String) {
        self.ended = true;
        if self.context.array {
            out.push(']');
        }
    }
}

fn content(o: &mut Obj<'_>, context: &Context, write: impl FnOnce(&mut Writer<'_, '_>)) {
    o.object("content", |o| {
        o.text("role", "model");
        o.array("parts", |list| write(&mut Writer::new(list, context)));
    });
}

fn owned(state: &State<'_>) -> State<'static> {
    State {
        family: state.family,
        data: state.data.clone().into_owned(),
    }
}

/// Appends the tokens of a list of log probabilities to another; both have the shape `{"content":[…]}`.
fn join(all: &mut String, more: &str) {
    let more = crate::text::value(more).and_then(|more| super::wire::member(&more, "content"));
    let inside = more.map(|more| more.text()).and_then(|list| {
        let inside = list.strip_prefix('[')?.strip_suffix(']')?;
        Some(inside).filter(|inside| !inside.trim().is_empty())
    });
    if let Some(inside) = inside
        && let Some(begun) = all.strip_suffix("]}").map(str::len)
    {
        let empty = all.get(..begun).is_some_and(|begun| begun.ends_with('['));
        all.truncate(begun);
        if !empty {
            all.push(',');
        }
        all.push_str(inside);
        all.push_str("]}");
    }
}

#[cfg(test)]
mod tests;
