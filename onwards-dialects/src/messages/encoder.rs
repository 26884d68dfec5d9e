//! The stream of an answer to a client of Anthropic's protocol (spec providers 4.2).

mod blocks;

use self::blocks::Blocks;
use super::answer::genuine;
use super::{failures, message_id, stop_reason, usage};
use crate::answer::{Event, Finish, Usage};
use crate::failure::Failure;
use crate::options::{Context, Expose};
use crate::write::{Obj, object};

/// Writes a stream.
#[derive(Debug)]
pub(crate) struct Encoder {
    context: Context,
    id: String,
    /// `message_start` is out.
    started: bool,
    blocks: Blocks,
    /// Calls were made.
    calls: bool,
    finish: Finish<'static>,
    usage: Option<Usage>,
    /// The client has been told of an end.
    ended: bool,
}

impl Encoder {
    /// At the start of a stream.
    pub(crate) fn new(context: Context) -> Self {
        Self {
            id: message_id(None, &context.unique),
            started: false,
            blocks: Blocks::new(context.sequential),
            calls: false,
            finish: Finish::default(),
            usage: None,
            ended: false,
            context,
        }
    }

    /// Appends what one step of the answer is to the client. Only the first candidate is passed on.
    pub(crate) fn event(&mut self, event: &Event<'_>, out: &mut String) {
        match event {
            // Its frame waits for what comes next, which may be the count of the prompt.
            Event::Start { id } => self.id = message_id(id.as_ref(), &self.context.unique),
            Event::Usage(usage) => self.usage = Some(*usage),
            Event::KeepAlive if self.started => frame(out, "ping", |_| ()),
            Event::Text { choice: 0, text } | Event::Refusal { choice: 0, text } => {
                self.start(out);
                self.blocks.text(text, out);
            }
            Event::Thinking { choice: 0, text } if self.shows() && self.context.signed => {
                self.start(out);
                self.blocks.thinking(text, out);
            }
            Event::ThinkingEnd {
                choice: 0,
                thinking,
            } if self.shows() => {
                let genuine = genuine(thinking);
                if genuine {
                    self.start(out);
                }
                self.blocks.thought(thinking, genuine, out);
            }
            Event::ToolStart {
                choice: 0,
                call,
                id,
                name,
                ..
            } => {
                self.calls = true;
                self.start(out);
                self.blocks.call(*call, id, name, out);
            }
            Event::ToolArguments {
                choice: 0,
                call,
                text,
            } => self.blocks.arguments(*call, text, out),
            Event::ToolEnd { choice: 0, call } => self.blocks.call_end(*call, out),
            Event::Finish { choice: 0, finish } => {
                self.start(out);
                self.blocks.end(out);
                self.finish = owned(finish);
            }
            // Other candidates, and what the protocol has no word for.
            _ => {}
        }
    }

    /// Appends the end of an answer that is whole.
    pub(crate) fn end(&mut self, out: &mut String) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        self.start(out);
        self.blocks.end(out);
        let stop = stop_reason(&self.finish, self.calls);
        let sequence = self.finish.stop_sequence.as_ref();
        frame(out, "message_delta", |o| {
            o.object("delta", |o| {
                o.text("stop_reason", stop);
                match sequence {
                    Some(sequence) if stop == "stop_sequence" => o.str("stop_sequence", sequence),
                    _ => o.null("stop_sequence"),
                }
            });
            usage::write(self.usage, o);
        });
        frame(out, "message_stop", |_| ());
    }

    /// Appends the end of an answer that broke off.
    pub(crate) fn fail(&mut self, failure: &Failure, out: &mut String) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        out.push_str("event: error\ndata: ");
        failures::write_failure(failure, &self.context.request_id, out);
        out.push_str("\n\n");
    }

    /// True when more would have to be held back than may be: the answer cannot go on.
    pub(crate) fn overflow(&self) -> bool {
        self.blocks.overflow()
    }

    /// Thoughts are shown, which goes with their signatures only.
    fn shows(&self) -> bool {
        self.context.expose == Expose::Full
    }

    fn start(&mut self, out: &mut String) {
        if std::mem::replace(&mut self.started, true) {
            return;
        }
        let known = self.usage.map(|usage| Usage {
            completion: 0,
            reasoning: None,
            ..usage
        });
        frame(out, "message_start", |o| {
            o.object("message", |o| {
                o.text("id", &self.id);
                o.raw("type", "\"message\"");
                o.raw("role", "\"assistant\"");
                o.text("model", &self.context.model);
                o.raw("content", "[]");
                o.null("stop_reason");
                o.null("stop_sequence");
                usage::write(known, o);
            });
        });
        frame(out, "ping", |_| ());
    }
}

/// One event: its name, and an object with the name as `type` and what `write` adds.
fn frame(out: &mut String, name: &str, write: impl FnOnce(&mut Obj<'_>)) {
    out.push_str("event: ");
    out.push_str(name);
    out.push_str("\ndata: ");
    object(out, |o| {
        o.text("type", name);
        write(o);
    });
    out.push_str("\n\n");
}

fn owned(finish: &Finish<'_>) -> Finish<'static> {
    Finish {
        reason: finish.reason,
        native: finish.native.clone().map(crate::text::Str::into_owned),
        stop_sequence: finish
            .stop_sequence
            .clone()
            .map(crate::text::Str::into_owned),
    }
}
