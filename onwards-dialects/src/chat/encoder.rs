//! Streams to clients (spec providers 3.0.7).

use super::answer::{
    Extras, is_block, write_block, write_finish, write_id, write_image, write_signature,
    write_usage,
};
use super::failure::write_failure;
use crate::answer::{Event, Usage};
use crate::failure::Failure;
use crate::options::Context;
use crate::text::{Str, compact};
use crate::write::{Obj, object, push_u64};

/// The most candidates of one answer, and the most calls of it that are open at a time.
const MOST: usize = 1024;

/// Writes the frames of a stream. Holds a few bytes for each candidate and each call that is not complete.
#[derive(Debug)]
pub(crate) struct Encoder {
    context: Context,
    extras: Extras,
    /// What every frame begins with, up to its choices. Empty until the answer's id is known.
    head: String,
    /// The same, up to a text of choice 0. Empty until that has begun.
    text_head: String,
    choices: Vec<Choice>,
    /// Calls that have no arguments so far: (choice, call).
    bare: Vec<(u64, u64)>,
    usage: Option<Usage>,
    ended: bool,
    overflow: bool,
}

#[derive(Debug)]
struct Choice {
    index: u64,
    calls: bool,
}

impl Encoder {
    pub(crate) fn new(context: Context) -> Self {
        Self {
            extras: Extras::of(&context),
            context,
            head: String::new(),
            text_head: String::new(),
            choices: Vec::new(),
            bare: Vec::new(),
            usage: None,
            ended: false,
            overflow: false,
        }
    }

    /// Appends the frames of one event.
    pub(crate) fn event(&mut self, event: &Event<'_>, out: &mut String) {
        match event {
            Event::Start { id } => self.start(id.as_ref(), out),
            Event::Text { choice: 0, text } if !self.text_head.is_empty() => {
                out.push_str(&self.text_head);
                text.quote_into(out);
                out.push_str("},\"finish_reason\":null}]}\n\n");
            }
            Event::Text { choice, text } => {
                self.delta(*choice, out, |o| o.str("content", text));
                if *choice == 0 {
                    self.text_head.clone_from(&self.head);
                    self.text_head
                        .push_str("{\"index\":0,\"delta\":{\"content\":");
                }
            }
            Event::Refusal { choice, text } => {
                self.delta(*choice, out, |o| o.str("refusal", text));
            }
            Event::Thinking { choice, text } if self.extras.thoughts => {
                self.delta(*choice, out, |o| o.str("reasoning_content", text));
            }
            Event::ThinkingEnd { choice, thinking } if self.extras.state && is_block(thinking) => {
                self.delta(*choice, out, |o| {
                    o.array("thinking_blocks", |list| {
                        list.object(|o| write_block(thinking, o));
                    });
                });
            }
            Event::ToolStart { .. } | Event::ToolArguments { .. } | Event::ToolEnd { .. } => {
                self.tool(event, out);
            }
            Event::Image {
                choice,
                mime,
                base64,
            } if self.extras.any => self.delta(*choice, out, |o| {
                o.array("images", |list| {
                    list.object(|o| write_image(mime, base64, o));
                });
            }),
            Event::TextState { choice, state } if self.extras.state => {
                self.delta(*choice, out, |o| write_signature(state, o));
            }
            Event::Logprobs { choice, json } => {
                self.frame(*choice, out, |o| {
                    o.object("delta", |_| ());
                    o.raw("logprobs", &compact(json)); // a frame is one line
                    o.null("finish_reason");
                });
            }
            Event::Finish { choice, finish } => {
                let calls = self.choices.iter().any(|c| c.index == *choice && c.calls);
                let extras = self.extras;
                self.frame(*choice, out, |o| {
                    o.object("delta", |_| ());
                    write_finish(finish, calls, extras, o);
                });
            }
            Event::Usage(usage) => self.usage = Some(*usage),
            Event::KeepAlive => out.push_str(": keep-alive\n\n"),
            Event::Thinking { .. }
            | Event::ThinkingEnd { .. }
            | Event::Image { .. }
            | Event::TextState { .. } => {}
        }
    }

    /// Appends what a complete answer ends with.
    pub(crate) fn end(&mut self, out: &mut String) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        if let Some(usage) = self.usage {
            self.begin(None);
            out.push_str(&self.head);
            out.push_str("],\"usage\":");
            write_usage(&usage, self.extras, out);
            out.push_str("}\n\n");
        }
        out.push_str("data: [DONE]\n\n");
    }

    /// Appends an error, which is the end.
    pub(crate) fn fail(&mut self, failure: &Failure, out: &mut String) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        out.push_str("data: ");
        write_failure(failure, &self.context.request_id, out);
        out.push_str("\n\ndata: [DONE]\n\n");
    }

    /// True when the answer has more candidates or open calls than are kept apart.
    pub(crate) fn overflow(&self) -> bool {
        self.overflow
    }

    fn begin(&mut self, id: Option<&Str<'_>>) {
        if !self.head.is_empty() {
            return;
        }
        let mut head = String::from("data: {\"id\":");
        write_id(id, &self.context, &mut head);
        head.push_str(",\"object\":\"chat.completion.chunk\",\"created\":");
        push_u64(self.context.created, &mut head);
        head.push_str(",\"model\":");
        onwards_json::quote_into(&self.context.model, &mut head);
        head.push_str(",\"choices\":[");
        self.head = head;
    }

    fn start(&mut self, id: Option<&Str<'_>>, out: &mut String) {
        self.begin(id);
        self.role(0, out);
    }

    /// The frame that says who speaks, before the first one of each choice.
    fn role(&mut self, choice: u64, out: &mut String) {
        if self.choices.iter().any(|known| known.index == choice) {
            return;
        }
        if self.choices.len() >= MOST {
            self.overflow = true;
            return;
        }
        self.choices.push(Choice {
            index: choice,
            calls: false,
        });
        self.frame(choice, out, |o| {
            o.object("delta", |o| o.text("role", "assistant"));
            o.null("finish_reason");
        });
    }

    fn delta(&mut self, choice: u64, out: &mut String, write: impl FnOnce(&mut Obj<'_>)) {
        self.frame(choice, out, |o| {
            o.object("delta", write);
            o.null("finish_reason");
        });
    }

    fn frame(&mut self, choice: u64, out: &mut String, write: impl FnOnce(&mut Obj<'_>)) {
        self.begin(None);
        if !self.choices.iter().any(|known| known.index == choice) {
            self.role_first(choice, out);
        }
        out.push_str(&self.head);
        object(out, |o| {
            o.u64("index", choice);
            write(o);
        });
        out.push_str("]}\n\n");
    }

    #[cold]
    fn role_first(&mut self, choice: u64, out: &mut String) {
        self.role(choice, out);
    }

    fn tool(&mut self, event: &Event<'_>, out: &mut String) {
        match event {
            Event::ToolStart {
                choice,
                call,
                id,
                name,
                state,
            } => {
                let state = state.as_ref().filter(|_| self.extras.state);
                self.fragment(*choice, *call, out, |o| {
                    o.str("id", id);
                    o.text("type", "function");
                    o.object("function", |o| {
                        o.str("name", name);
                        o.text("arguments", "");
                    });
                    if let Some(state) = state {
                        write_signature(state, o);
                    }
                });
                if let Some(known) = self.choices.iter_mut().find(|c| c.index == *choice) {
                    known.calls = true;
                }
                match self.bare.len() < MOST {
                    true => self.bare.push((*choice, *call)),
                    false => self.overflow = true,
                }
            }
            Event::ToolArguments { choice, call, text } => {
                self.bare.retain(|bare| *bare != (*choice, *call));
                self.fragment(*choice, *call, out, |o| {
                    o.object("function", |o| o.str("arguments", text));
                });
            }
            Event::ToolEnd { choice, call } => {
                let before = self.bare.len();
                self.bare.retain(|bare| *bare != (*choice, *call));
                if self.bare.len() < before {
                    self.fragment(*choice, *call, out, |o| {
                        o.object("function", |o| o.text("arguments", "{}"));
                    });
                }
            }
            _ => {}
        }
    }

    fn fragment(
        &mut self,
        choice: u64,
        call: u64,
        out: &mut String,
        write: impl FnOnce(&mut Obj<'_>),
    ) {
        self.delta(choice, out, |o| {
            o.array("tool_calls", |list| {
                list.object(|o| {
                    o.u64("index", call);
                    write(o);
                });
            });
        });
    }
}
