//! How items begin and end.

use super::{Encoder, ITEM};
use crate::responses::write::{Item, ItemKind, Status, bracketed, quoted, summary};
use crate::text::Str;

impl Encoder {
    /// Begins an item.
    pub(super) fn add(&mut self, kind: ItemKind, out: &mut String) -> usize {
        let index = self.items.len();
        self.items.push(Item::new(kind, &self.context, index));
        self.held += ITEM;
        self.item("response.output_item.added", index, out);
        index
    }

    /// Closes calls that have ended.
    pub(super) fn settle(&mut self, out: &mut String) {
        while let Some(at) = self.calls.iter().position(|call| call.ended) {
            let call = self.calls.remove(at);
            self.close_call(call.index, Status::Completed, out);
        }
    }

    /// Closes everything that is open, as an answer closes that ended so: only its last item can have been cut off.
    pub(super) fn close_all(&mut self, status: Status, out: &mut String) {
        let last = self.items.len().saturating_sub(1);
        let of = |index: usize| {
            if index == last {
                status
            } else {
                Status::Completed
            }
        };
        for call in std::mem::take(&mut self.calls) {
            self.close_call(call.index, of(call.index), out);
        }
        self.close_said(status, out);
    }

    pub(super) fn close_call(&mut self, index: usize, status: Status, out: &mut String) {
        let bare = self.items.get(index).is_some_and(
            |item| matches!(&item.kind, ItemKind::Call { arguments, .. } if arguments.is_empty()),
        );
        if bare {
            self.add_arguments(index, &Str::plain("{}"), out);
        }
        self.item_event(
            "response.function_call_arguments.done",
            index,
            out,
            |o, item| {
                if let ItemKind::Call {
                    name, arguments, ..
                } = &item.kind
                {
                    quoted(o, "name", name);
                    quoted(o, "arguments", arguments);
                }
            },
        );
        self.done(index, status, out);
    }

    /// Closes the message or the thought that is open.
    pub(super) fn close_said(&mut self, status: Status, out: &mut String) {
        self.close_part(out);
        if let Some((index, _)) = self.said.take() {
            self.done(index, status, out);
        }
    }

    /// Closes the last part of the message or of the thought that is open.
    pub(super) fn close_part(&mut self, out: &mut String) {
        let Some((index, true)) = self.said else {
            return;
        };
        self.said = Some((index, false));
        let (parts, message, refusal) = match self.items.get(index).map(|item| &item.kind) {
            Some(ItemKind::Message(parts)) => {
                let refusal = parts.last().is_some_and(|part| part.refusal);
                (parts.len(), true, refusal)
            }
            Some(ItemKind::Reasoning(parts)) => (parts.len(), false, false),
            _ => return,
        };
        let part = parts.saturating_sub(1);
        if !message {
            self.summary_event(
                "response.reasoning_summary_text.done",
                index,
                part,
                out,
                |o, text| {
                    quoted(o, "text", text);
                },
            );
            self.summary_event(
                "response.reasoning_summary_part.done",
                index,
                part,
                out,
                |o, text| {
                    summary(text, o.key("part"));
                },
            );
            return;
        }
        if refusal {
            self.part_event("response.refusal.done", index, part, out, |o, content| {
                quoted(o, "refusal", &content.text);
            });
        } else {
            self.part_event(
                "response.output_text.done",
                index,
                part,
                out,
                |o, content| {
                    quoted(o, "text", &content.text);
                    bracketed(o, "logprobs", &content.logprobs);
                },
            );
        }
        self.part_event(
            "response.content_part.done",
            index,
            part,
            out,
            |o, content| {
                content.write(o.key("part"));
            },
        );
    }
}
