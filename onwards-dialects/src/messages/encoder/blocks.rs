//! Content blocks in single file: a block is begun when the one before it is over.
//!
//! The first block of the queue is live, its pieces leave as they come. What belongs to later blocks waits: in an answer of calls
//! that are told interleaved, or of text between the pieces of a call.

use std::collections::VecDeque;

use super::frame;
use crate::conversation::arguments;
use crate::fidelity::Report;
use crate::request::Thinking;
use crate::text::{Str, value};
use crate::write::Obj;

/// The most bytes that wait.
const HELD: usize = 8 << 20;

/// What a block costs beside its text.
const COST: usize = 128;

/// The blocks that are not over.
#[derive(Debug)]
pub(super) struct Blocks {
    /// A call is over when something else begins.
    sequential: bool,
    queue: VecDeque<Block>,
    /// The number of the first block of the queue.
    index: u64,
    /// The first block has been begun.
    open: bool,
    /// Bytes that wait.
    held: usize,
    overflow: bool,
}

#[derive(Debug)]
struct Block {
    kind: Kind,
    /// What waits, as the inside of a JSON string.
    held: String,
    over: bool,
}

#[derive(Debug)]
enum Kind {
    Text,
    Call {
        call: u64,
        head: Head,
        form: Form,
    },
    /// A thought that can be read, and its signature, as the inside of a JSON string.
    Thought {
        signature: String,
    },
    /// One that cannot, as the inside of a JSON string.
    Redacted {
        data: String,
    },
}

/// The members of a call that its first frame has, as JSON text.
#[derive(Debug, Default)]
struct Head {
    id: String,
    name: String,
}

/// What the arguments of a call look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Nothing but white space yet.
    Blank,
    /// They begin like an object and go as they come.
    Object,
    /// They will have to be put into one.
    Other,
}

impl Blocks {
    pub(super) fn new(sequential: bool) -> Self {
        Self {
            sequential,
            queue: VecDeque::new(),
            index: 0,
            open: false,
            held: 0,
            overflow: false,
        }
    }

    pub(super) fn overflow(&self) -> bool {
        self.overflow
    }

    /// More text.
    pub(super) fn text(&mut self, text: &Str<'_>, out: &mut String) {
        let last = self.queue.back();
        if !last.is_some_and(|block| matches!(block.kind, Kind::Text)) {
            self.push(Kind::Text, String::new(), out);
        }
        self.more(text, ("text_delta", "text"), out);
    }

    /// More of a thought that will be signed.
    pub(super) fn thinking(&mut self, text: &Str<'_>, out: &mut String) {
        if !self.thinks() {
            let signature = String::new();
            self.push(Kind::Thought { signature }, String::new(), out);
        }
        self.more(text, ("thinking_delta", "thinking"), out);
    }

    /// A thought is complete: the one that was told piece by piece, or else all of it, if it is one of Anthropic's own.
    pub(super) fn thought(&mut self, thinking: &Thinking<'_>, genuine: bool, out: &mut String) {
        let mut state = String::new();
        if let Some(given) = thinking.state.as_ref().filter(|_| genuine) {
            given.data.escape_into(&mut state);
        }
        if self.thinks() {
            if let Some(block) = self.queue.back_mut() {
                self.held += state.len();
                block.kind = Kind::Thought { signature: state };
                block.over = true;
            }
            self.advance(out);
            return;
        }
        if state.is_empty() {
            return;
        }
        let mut held = String::new();
        let kind = match &thinking.text {
            Some(text) => {
                text.escape_into(&mut held);
                Kind::Thought { signature: state }
            }
            None => Kind::Redacted { data: state },
        };
        self.held += held.len() + kind.cost() - COST;
        self.push(kind, held, out);
        if let Some(block) = self.queue.back_mut() {
            block.over = true;
        }
        self.advance(out);
    }

    /// The last block is a thought that is not over.
    fn thinks(&self) -> bool {
        let last = self.queue.back().filter(|block| !block.over);
        last.is_some_and(|block| matches!(block.kind, Kind::Thought { .. }))
    }

    /// More of the last block, which goes out at once if it is live.
    fn more(&mut self, text: &Str<'_>, (kind, member): (&str, &str), out: &mut String) {
        if self.queue.len() == 1 && self.open {
            delta(out, self.index, kind, member, |inside| {
                text.escape_into(inside);
            });
        } else {
            self.hold(self.queue.len().saturating_sub(1), text);
        }
    }

    /// A call begins.
    pub(super) fn call(&mut self, call: u64, id: &Str<'_>, name: &Str<'_>, out: &mut String) {
        let mut head = Head::default();
        id.quote_into(&mut head.id);
        name.quote_into(&mut head.name);
        self.held += head.len();
        let form = Form::Blank;
        self.push(Kind::Call { call, head, form }, String::new(), out);
    }

    /// More of a call's arguments.
    pub(super) fn arguments(&mut self, call: u64, text: &Str<'_>, out: &mut String) {
        let Some(place) = self.place(call) else {
            return;
        };
        let Some(Block {
            kind: Kind::Call { form, .. },
            over: false,
            ..
        }) = self.queue.get_mut(place)
        else {
            return;
        };
        if *form == Form::Blank {
            *form = match text.decoded().trim_start().chars().next() {
                None => Form::Blank,
                Some('{') => Form::Object,
                Some(_) => Form::Other,
            };
        }
        if *form == Form::Object && place == 0 && self.open {
            self.flush(out);
            delta(
                out,
                self.index,
                "input_json_delta",
                "partial_json",
                |inside| {
                    text.escape_into(inside);
                },
            );
        } else {
            self.hold(place, text);
        }
    }

    /// A call is complete.
    pub(super) fn call_end(&mut self, call: u64, out: &mut String) {
        let place = self.place(call);
        if let Some(block) = place.and_then(|place| self.queue.get_mut(place)) {
            block.over = true;
            self.advance(out);
        }
    }

    /// Everything is complete.
    pub(super) fn end(&mut self, out: &mut String) {
        for block in &mut self.queue {
            block.over = true;
        }
        self.advance(out);
    }

    fn place(&self, wanted: u64) -> Option<usize> {
        self.queue
            .iter()
            .rposition(|block| matches!(&block.kind, Kind::Call { call, .. } if *call == wanted))
    }

    fn push(&mut self, kind: Kind, held: String, out: &mut String) {
        if self.overflow {
            return;
        }
        if let Some(last) = self.queue.back_mut() {
            last.over |= self.sequential || !matches!(last.kind, Kind::Call { .. });
        }
        self.held += COST;
        self.queue.push_back(Block {
            kind,
            held,
            over: false,
        });
        self.advance(out);
        self.overflow |= self.held > HELD;
    }

    fn hold(&mut self, place: usize, text: &Str<'_>) {
        let Some(block) = self.queue.get_mut(place).filter(|_| !self.overflow) else {
            return;
        };
        let before = block.held.len();
        text.escape_into(&mut block.held);
        self.held += block.held.len() - before;
        self.overflow = self.held > HELD;
    }

    /// Begins the first block if it is not begun, lets out what waits, ends it if it is over, and so on with the next.
    fn advance(&mut self, out: &mut String) {
        while let Some(block) = self.queue.front() {
            if !self.open {
                begin(out, self.index, &block.kind);
                self.open = true;
            }
            let over = block.over;
            self.flush(out);
            if !over {
                return;
            }
            frame(out, "content_block_stop", |o| o.u64("index", self.index));
            if let Some(block) = self.queue.pop_front() {
                self.held = self.held.saturating_sub(block.kind.cost());
            }
            self.index += 1;
            self.open = false;
        }
    }

    /// Lets out what waits for the first block.
    fn flush(&mut self, out: &mut String) {
        let Some(block) = self.queue.front_mut() else {
            return;
        };
        let index = self.index;
        let waiting = match &block.kind {
            Kind::Call {
                form: Form::Blank | Form::Other,
                ..
            } if !block.over => return,
            _ => std::mem::take(&mut block.held),
        };
        self.held = self.held.saturating_sub(waiting.len());
        match &block.kind {
            Kind::Text if !waiting.is_empty() => {
                delta(out, index, "text_delta", "text", |inside| {
                    inside.push_str(&waiting);
                });
            }
            Kind::Call {
                form: Form::Object, ..
            } if !waiting.is_empty() => {
                delta(out, index, "input_json_delta", "partial_json", |inside| {
                    inside.push_str(&waiting);
                });
            }
            Kind::Call {
                form: Form::Blank | Form::Other,
                ..
            } => {
                let object = wrapped(&waiting);
                delta(out, index, "input_json_delta", "partial_json", |inside| {
                    Str::plain(&object).escape_into(inside);
                });
            }
            Kind::Thought { signature } => {
                if !waiting.is_empty() {
                    delta(out, index, "thinking_delta", "thinking", |inside| {
                        inside.push_str(&waiting);
                    });
                }
                if block.over && !signature.is_empty() {
                    delta(out, index, "signature_delta", "signature", |inside| {
                        inside.push_str(signature);
                    });
                }
            }
            _ => {}
        }
    }
}

impl Head {
    fn len(&self) -> usize {
        self.id.len() + self.name.len()
    }
}

impl Kind {
    /// What a block of this kind counted for, beside the text that waited.
    fn cost(&self) -> usize {
        match self {
            Self::Text => COST,
            Self::Call { head, .. } => COST + head.len(),
            Self::Thought { signature: state } | Self::Redacted { data: state } => {
                COST + state.len()
            }
        }
    }
}

/// Arguments that are no object, put into one. `inside` is the inside of a JSON string.
fn wrapped(inside: &str) -> String {
    let quoted = format!("\"{inside}\"");
    let text = value(&quoted).and_then(|value| value.as_str());
    let text = text.unwrap_or_default();
    // Nobody reads the report of an answer.
    arguments::of_text(&text, &mut Report::default()).into_owned()
}

fn begin(out: &mut String, index: u64, kind: &Kind) {
    frame(out, "content_block_start", |o| {
        o.u64("index", index);
        o.object("content_block", |o| match kind {
            Kind::Text => {
                o.raw("type", "\"text\"");
                o.text("text", "");
            }
            Kind::Call { head, .. } => {
                o.raw("type", "\"tool_use\"");
                o.raw("id", &head.id);
                o.raw("name", &head.name);
                o.raw("input", "{}");
            }
            Kind::Thought { .. } => {
                o.raw("type", "\"thinking\"");
                o.text("thinking", "");
                o.text("signature", "");
            }
            Kind::Redacted { data } => {
                o.raw("type", "\"redacted_thinking\"");
                o.raw("data", &format!("\"{data}\""));
            }
        });
    });
}

/// A piece of a block; `write` appends the inside of a JSON string.
fn delta(out: &mut String, index: u64, kind: &str, member: &str, write: impl FnOnce(&mut String)) {
    frame(out, "content_block_delta", |o: &mut Obj<'_>| {
        o.u64("index", index);
        o.object("delta", |o| {
            o.text("type", kind);
            let out = o.key(member);
            out.push('"');
            write(out);
            out.push('"');
        });
    });
}
