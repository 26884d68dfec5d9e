//! Events on the wire.

use super::Encoder;
use crate::responses::write::{Content, Item, ItemKind, Status, quoted};
use crate::write::{Obj, object};

impl Encoder {
    /// Ends an item.
    pub(super) fn done(&mut self, index: usize, status: Status, out: &mut String) {
        if let Some(item) = self.items.get_mut(index) {
            item.status = status;
        }
        self.item("response.output_item.done", index, out);
    }

    /// An event with a whole item.
    pub(super) fn item(&mut self, name: &str, index: usize, out: &mut String) {
        let Some(item) = self.items.get(index) else {
            return;
        };
        frame(&mut self.sequence, name, out, |o| {
            place(o, "output_index", index);
            item.write(o.key("item"));
        });
    }

    /// An event of an item.
    pub(super) fn item_event(
        &mut self,
        name: &str,
        index: usize,
        out: &mut String,
        write: impl FnOnce(&mut Obj<'_>, &Item),
    ) {
        let Some(item) = self.items.get(index) else {
            return;
        };
        frame(&mut self.sequence, name, out, |o| {
            o.raw("item_id", &item.id);
            place(o, "output_index", index);
            write(o, item);
        });
    }

    /// An event of a part of a message.
    pub(super) fn part_event(
        &mut self,
        name: &str,
        index: usize,
        part: usize,
        out: &mut String,
        write: impl FnOnce(&mut Obj<'_>, &Content),
    ) {
        self.item_event(name, index, out, |o, item| {
            place(o, "content_index", part);
            if let ItemKind::Message(parts) = &item.kind
                && let Some(content) = parts.get(part)
            {
                write(o, content);
            }
        });
    }

    /// An event of a part of a thought.
    pub(super) fn summary_event(
        &mut self,
        name: &str,
        index: usize,
        part: usize,
        out: &mut String,
        write: impl FnOnce(&mut Obj<'_>, &str),
    ) {
        self.item_event(name, index, out, |o, item| {
            place(o, "summary_index", part);
            if let ItemKind::Reasoning(parts) = &item.kind
                && let Some(text) = parts.get(part)
            {
                write(o, text);
            }
        });
    }
}
fn place(o: &mut Obj<'_>, name: &str, number: usize) {
    o.u64(name, u64::try_from(number).unwrap_or(u64::MAX));
}

/// One event; they are numbered.
pub(super) fn frame(
    sequence: &mut u64,
    name: &str,
    out: &mut String,
    write: impl FnOnce(&mut Obj<'_>),
) {
    out.push_str("event: ");
    out.push_str(name);
    out.push_str("\ndata: ");
    object(out, |o| {
        quoted(o, "type", name);
        o.u64("sequence_number", *sequence);
        write(o);
    });
    out.push_str("\n\n");
    *sequence += 1;
}
