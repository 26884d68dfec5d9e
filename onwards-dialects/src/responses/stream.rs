//! An answer, written event by event. What was said is kept until the end: the last event repeats the whole answer.

mod closing;
mod frames;

use self::frames::frame;
use super::write::{Content, Item, ItemKind, Response, Status, bracketed, probabilities, summary};
use crate::answer::{Event, Reason, Usage};
use crate::failure::Failure;
use crate::options::{Context, Expose};
use crate::request::Thinking;
use crate::text::Str;

/// The most bytes of an answer that are kept.
const HELD: usize = 8 << 20;

/// What an item costs beside its texts.
const ITEM: usize = 1024;

/// Makes a client's events of those of any provider.
///
/// At most one message or thought is open; calls may be open beside each other. An item that has ended is closed with the next
/// event that is not its own, since only then it is known whether the limit of the answer cut it off.
#[derive(Debug)]
pub(crate) struct Encoder {
    context: Context,
    sequence: u64,
    started: bool,
    over: bool,
    items: Vec<Item>,
    /// The message or the thought that is open, by its place, and whether its last part is.
    said: Option<(usize, bool)>,
    /// Calls that are open.
    calls: Vec<Call>,
    finish: Option<Reason>,
    usage: Option<Usage>,
    /// Log probabilities for the next piece of text: the inside of an array.
    logprobs: String,
    held: usize,
}

/// A call that is open.
#[derive(Debug)]
struct Call {
    /// Its number among the calls.
    number: u64,
    /// Its place among the items.
    index: usize,
    ended: bool,
}

impl Encoder {
    /// For one answer.
    pub(crate) fn new(context: Context) -> Self {
        Self {
            context,
            sequence: 0,
            started: false,
            over: false,
            items: Vec::new(),
            said: None,
            calls: Vec::new(),
            finish: None,
            usage: None,
            logprobs: String::new(),
            held: 0,
        }
    }

    /// True when the answer has grown too long to be kept: the stream is to be failed, and nothing more of it is written.
    pub(crate) fn overflow(&self) -> bool {
        self.held > HELD
    }

    /// Appends what a step of the answer means. Of several candidates only the first is written.
    pub(crate) fn event(&mut self, event: &Event<'_>, out: &mut String) {
        if self.over || self.overflow() {
            return;
        }
        match event {
            Event::Start { .. } => self.start(out),
            Event::Text { choice: 0, text } => self.text(text, false, out),
            Event::Refusal { choice: 0, text } => self.text(text, true, out),
            Event::Thinking { choice: 0, text } => self.thinking(text, out),
            Event::ThinkingEnd {
                choice: 0,
                thinking,
            } => self.thinking_end(thinking, out),
            Event::ToolStart {
                choice: 0,
                call,
                id,
                name,
                ..
            } => self.call(*call, id, name, out),
            Event::ToolArguments {
                choice: 0,
                call,
                text,
            } => self.arguments(*call, text, out),
            Event::ToolEnd { choice: 0, call } => {
                for open in self.calls.iter_mut().filter(|open| open.number == *call) {
                    open.ended = true;
                }
            }
            Event::Image {
                choice: 0, base64, ..
            } => self.image(base64, out),
            Event::Logprobs { choice: 0, json } => self.logprobs(json),
            Event::Finish { choice: 0, finish } if self.finish.is_none() => {
                self.start(out);
                self.finish = Some(finish.reason);
                self.close_all(Status::of(finish.reason), out);
            }
            Event::Usage(usage) => self.usage = Some(*usage),
            Event::KeepAlive => out.push_str(": keep-alive\n\n"),
            _ => {}
        }
    }

    /// Appends the end of an answer that is complete.
    pub(crate) fn end(&mut self, out: &mut String) {
        if self.over {
            return;
        }
        self.start(out);
        let status = Status::of(self.finish.unwrap_or_default());
        self.close_all(status, out);
        self.over = true;
        let name = match status {
            Status::Incomplete(_) => "response.incomplete",
            _ => "response.completed",
        };
        self.whole(name, status, None, out);
    }

    /// Appends the end of an answer that is none.
    pub(crate) fn fail(&mut self, failure: &Failure, out: &mut String) {
        if self.over {
            return;
        }
        self.start(out);
        self.over = true;
        for item in &mut self.items {
            if item.status == Status::InProgress {
                item.status = Status::Incomplete(Reason::Stop);
            }
        }
        self.whole("response.failed", Status::Failed, Some(failure), out);
    }

    fn start(&mut self, out: &mut String) {
        if !std::mem::replace(&mut self.started, true) {
            self.whole("response.created", Status::InProgress, None, out);
            self.whole("response.in_progress", Status::InProgress, None, out);
        }
    }

    /// An event with the whole answer.
    fn whole(&mut self, name: &str, status: Status, failure: Option<&Failure>, out: &mut String) {
        let response = Response {
            context: &self.context,
            status,
            items: &self.items,
            usage: self.usage,
            failure,
            service_tier: None,
        };
        frame(&mut self.sequence, name, out, |o| {
            response.write(o.key("response"));
        });
    }

    fn text(&mut self, text: &Str<'_>, refusal: bool, out: &mut String) {
        self.start(out);
        self.settle(out);
        self.message(refusal, out);
        let Some((index, part, content)) = self.saying() else {
            return;
        };
        let before = content.text.len();
        text.escape_into(&mut content.text);
        let fresh = content.text.len() - before;
        let name = if refusal {
            "response.refusal.delta"
        } else {
            "response.output_text.delta"
        };
        let logprobs = std::mem::take(&mut self.logprobs);
        self.held += fresh + logprobs.len();
        self.part_event(name, index, part, out, |o, _| {
            o.str("delta", text);
            if !refusal {
                bracketed(o, "logprobs", &logprobs);
            }
        });
        if let Some((_, _, content)) = self.saying()
            && !logprobs.is_empty()
        {
            if !content.logprobs.is_empty() {
                content.logprobs.push(',');
            }
            content.logprobs.push_str(&logprobs);
        }
    }

    /// Sees that a part of this kind is open in a message.
    fn message(&mut self, refusal: bool, out: &mut String) {
        match self.saying() {
            Some((_, _, content)) if content.refusal == refusal => return,
            Some(_) => self.close_part(out),
            None => {
                self.close_said(Status::Completed, out);
                let index = self.add(ItemKind::Message(Vec::new()), out);
                self.said = Some((index, false));
            }
        }
        let Some((index, open)) = &mut self.said else {
            return;
        };
        let index = *index;
        *open = true;
        let Some(ItemKind::Message(parts)) = self.items.get_mut(index).map(|item| &mut item.kind)
        else {
            return;
        };
        parts.push(Content {
            refusal,
            ..Content::default()
        });
        let part = parts.len() - 1;
        self.part_event(
            "response.content_part.added",
            index,
            part,
            out,
            |o, content| {
                content.write(o.key("part"));
            },
        );
    }

    /// The part of a message that is open, and its place.
    fn saying(&mut self) -> Option<(usize, usize, &mut Content)> {
        let (index, _) = self.said.filter(|(_, open)| *open)?;
        match &mut self.items.get_mut(index)?.kind {
            ItemKind::Message(parts) => {
                let part = parts.len().checked_sub(1)?;
                Some((index, part, parts.last_mut()?))
            }
            _ => None,
        }
    }

    fn thinking(&mut self, text: &Str<'_>, out: &mut String) {
        if self.context.expose == Expose::None {
            return;
        }
        self.start(out);
        self.settle(out);
        self.thought(out);
        let Some((index, true)) = self.said else {
            return;
        };
        let Some(ItemKind::Reasoning(parts)) = self.items.get_mut(index).map(|item| &mut item.kind)
        else {
            return;
        };
        let Some(summary) = parts.last_mut() else {
            return;
        };
        let before = summary.len();
        text.escape_into(summary);
        self.held += summary.len() - before;
        let part = parts.len() - 1;
        self.summary_event(
            "response.reasoning_summary_text.delta",
            index,
            part,
            out,
            |o, _| {
                o.str("delta", text);
            },
        );
    }

    /// Sees that a part of a thought is open.
    fn thought(&mut self, out: &mut String) {
        let open = self.said.filter(|(index, _)| {
            let item = self.items.get(*index);
            item.is_some_and(|item| matches!(item.kind, ItemKind::Reasoning(_)))
        });
        let index = match open {
            Some((_, true)) => return,
            Some((index, false)) => index,
            None => {
                self.close_said(Status::Completed, out);
                self.add(ItemKind::Reasoning(Vec::new()), out)
            }
        };
        self.said = Some((index, true));
        let Some(ItemKind::Reasoning(parts)) = self.items.get_mut(index).map(|item| &mut item.kind)
        else {
            return;
        };
        parts.push(String::new());
        self.held += ITEM;
        let part = parts.len() - 1;
        self.summary_event(
            "response.reasoning_summary_part.added",
            index,
            part,
            out,
            |o, text| {
                summary(text, o.key("part"));
            },
        );
    }

    /// A thought is over. One that was not told piece by piece is told now.
    fn thinking_end(&mut self, thinking: &Thinking<'_>, out: &mut String) {
        let thinks = self.said.is_some_and(|(index, open)| {
            let item = self.items.get(index);
            open && item.is_some_and(|item| matches!(item.kind, ItemKind::Reasoning(_)))
        });
        if !thinks {
            match &thinking.text {
                Some(text) if !text.is_empty() => self.thinking(text, out),
                _ => return,
            }
        }
        if self.context.expose != Expose::None {
            self.close_part(out);
        }
    }

    fn call(&mut self, number: u64, id: &Str<'_>, name: &Str<'_>, out: &mut String) {
        self.start(out);
        self.settle(out);
        self.close_said(Status::Completed, out);
        let call = ItemKind::call(id, name);
        if let ItemKind::Call { id, name, .. } = &call {
            self.held += id.len() + name.len();
        }
        let index = self.add(call, out);
        self.calls.push(Call {
            number,
            index,
            ended: false,
        });
    }

    fn arguments(&mut self, number: u64, text: &Str<'_>, out: &mut String) {
        let of = |call: &&Call| call.number == number && !call.ended;
        let Some(index) = self.calls.iter().rfind(of).map(|call| call.index) else {
            return;
        };
        self.settle(out);
        self.add_arguments(index, text, out);
    }

    fn add_arguments(&mut self, index: usize, text: &Str<'_>, out: &mut String) {
        let Some(item) = self.items.get_mut(index) else {
            return;
        };
        if let ItemKind::Call { arguments, .. } = &mut item.kind {
            let before = arguments.len();
            text.escape_into(arguments);
            self.held += arguments.len() - before;
        }
        self.item_event(
            "response.function_call_arguments.delta",
            index,
            out,
            |o, _| {
                o.str("delta", text);
            },
        );
    }

    fn image(&mut self, base64: &Str<'_>, out: &mut String) {
        self.start(out);
        self.settle(out);
        self.close_said(Status::Completed, out);
        let index = self.add(ItemKind::Image(String::new()), out);
        if let Some(ItemKind::Image(result)) = self.items.get_mut(index).map(|item| &mut item.kind)
        {
            base64.escape_into(result);
            self.held += result.len();
        }
        self.done(index, Status::Completed, out);
    }

    fn logprobs(&mut self, json: &str) {
        let more = probabilities(json);
        if more.is_empty() {
            return;
        }
        if !self.logprobs.is_empty() {
            self.logprobs.push(',');
        }
        self.held += more.len();
        self.logprobs.push_str(&more);
    }
}
