//! Objects: which members stay, which go, and which are written.

use std::ops::Range;

use onwards_json::Kind;

use super::{Walk, Walked};
use crate::{
    fault::{Fault, Found, Step},
    schema::{Absent, Fill, Member, Node, Null, Shape},
};

/// The state of one object while its members pass.
#[derive(Default)]
struct Members {
    /// Rows that were met, one bit each.
    met: u64,
    /// Rows that count as there.
    here: u64,
    /// Where the last kept member ends.
    kept_to: Option<usize>,
    /// Where the dropped members before the first kept one start.
    lead: Option<usize>,
    alias: Option<(&'static str, Range<usize>)>,
}

impl Walk<'_, '_> {
    pub(super) fn object(&mut self, shape: &'static Shape) -> Walked<()> {
        let position = self.position;
        self.scanner.enter_object()?;
        let open = self.scanner.position();
        let mut members = Members::default();
        let mut hint = 0;
        while let Some(name) = self.scanner.next_key()? {
            let start = name.span().start;
            let kind = self.scanner.peek()?;
            let at = self.scanner.position();
            let kept = match shape.find(&name, hint) {
                Some((index, row)) => {
                    hint = index + 1;
                    let bit = 1 << index;
                    if members.met & bit != 0 {
                        let fault = Fault::misfit(row.node, Found::Twice);
                        return Err(fault.at(Step::Member(row.name)));
                    }
                    members.met |= bit;
                    let kept = self.member(row, (start, at, kind), &mut members)?;
                    if kept {
                        members.here |= bit;
                    }
                    kept
                }
                None => {
                    if shape.open {
                        self.settle(start, &mut members);
                    }
                    self.scanner.skip()?;
                    shape.open
                }
            };
            let end = self.scanner.position();
            if shape.catalogued {
                self.flags
                    .observe(&name, self.text.get(at..end).unwrap_or_default());
            }
            match (kept, members.kept_to) {
                (true, _) => members.kept_to = Some(end),
                (false, Some(kept_to)) => self.edits.cut(kept_to, end),
                (false, None) => members.lead = members.lead.or(Some(start)),
            }
        }
        let close = self.scanner.position().saturating_sub(1);
        self.settle(close, &mut members);
        self.complete(shape, &mut members, open, position)
    }

    /// Cuts the dropped members in front of the first kept one.
    fn settle(&mut self, to: usize, members: &mut Members) {
        if let Some(lead) = members.lead.take() {
            self.edits.cut(lead, to);
        }
    }

    /// Walks a known member's value; whether the member stays.
    fn member(
        &mut self,
        row: &'static Member,
        (start, at, kind): (usize, usize, Kind),
        members: &mut Members,
    ) -> Walked<bool> {
        let drops = match row.node {
            Node::Dropped | Node::Alias(_) => true,
            _ => kind == Kind::Null && row.null == Null::Drop,
        };
        if drops {
            let value = self.scanner.skip()?;
            if let (Node::Alias(target), Kind::String) = (row.node, kind) {
                members.alias = Some((target, value.span()));
            }
            self.note(row, at);
            return Ok(false);
        }
        let mark = self.edits.mark();
        let before = (row.soft).then(|| (self.scanner.clone(), members.lead));
        self.settle(start, members);
        if kind == Kind::Null && row.null == Null::Keep {
            self.scanner.skip()?;
            return Ok(true);
        }
        match (self.value(row.node, kind), before) {
            (Ok(()), _) => {
                self.note(row, at);
                Ok(true)
            }
            (Err(fault), Some((scanner, lead))) if matches!(*fault, Fault::Shape(_)) => {
                self.edits.rewind(mark);
                self.scanner = scanner;
                members.lead = lead;
                self.scanner.skip()?;
                Ok(false)
            }
            (Err(fault), _) => Err(fault.at(Step::Member(row.name))),
        }
    }

    fn note(&mut self, row: &Member, at: usize) {
        if let Some(note) = row.note {
            let value = self
                .text
                .get(at..self.scanner.position())
                .unwrap_or_default();
            let empty = match value {
                [b'n' | b'f', ..] => true,
                [b'[', inner @ .., b']'] => inner.trim_ascii().is_empty(),
                _ => false,
            };
            if !empty {
                self.notes |= note as u8;
            }
        }
    }

    /// Writes what is missing, or refuses it.
    fn complete(
        &mut self,
        shape: &'static Shape,
        members: &mut Members,
        open: usize,
        position: usize,
    ) -> Walked<()> {
        let mut missing = shape.wanted & !members.here;
        let mut first = members.kept_to.is_none();
        let place = members.kept_to.unwrap_or(open);
        if let Some((target, span)) = members.alias.take() {
            let here = shape
                .row(target)
                .is_some_and(|index| members.here & (1 << index) != 0);
            if !here {
                let value = self.text.get(span).unwrap_or_default();
                self.insert(target, place, &mut first);
                self.edits.write(value);
            }
        }
        while missing != 0 {
            let index = missing.trailing_zeros() as usize;
            missing &= missing - 1;
            let Some(row) = shape.members.get(index) else {
                break;
            };
            let fill = match row.absent {
                Absent::Write(fill) => fill,
                Absent::RefuseUnless(other)
                    if shape
                        .row(other)
                        .is_some_and(|index| members.here & (1 << index) != 0) =>
                {
                    continue;
                }
                Absent::Leave => continue,
                Absent::Refuse | Absent::RefuseUnless(_) => {
                    let fault = Fault::misfit(row.node, Found::Nothing);
                    return Err(fault.at(Step::Member(row.name)));
                }
            };
            self.insert(row.name, place, &mut first);
            self.fill(fill, position);
        }
        Ok(())
    }

    /// Starts a member of the walk's own behind the kept ones.
    fn insert(&mut self, name: &str, place: usize, first: &mut bool) {
        self.edits.keep_to(place);
        self.edits.write(if *first { b"\"" } else { b",\"" });
        self.edits.write(name.as_bytes());
        self.edits.write(b"\":");
        *first = false;
    }

    fn fill(&mut self, fill: Fill, position: usize) {
        let fills = self.fills;
        match fill {
            Fill::Json(json) => self.edits.write(json.as_bytes()),
            Fill::Id => self.edits.write(fills.id.as_bytes()),
            Fill::Model => self.edits.write(fills.model.as_bytes()),
            Fill::Created => self.edits.write_number(fills.created),
            Fill::Position => self.edits.write_number(position as u64),
            Fill::Sequence => self.edits.write_number(self.sequence),
            Fill::CallId => {
                self.edits.write(b"\"call_");
                self.edits.write(fills.unique.as_bytes());
                self.edits.write(b"_");
                self.edits.write_number(position as u64);
                self.edits.write(b"\"");
            }
        }
    }
}

impl Shape {
    fn row(&self, name: &str) -> Option<usize> {
        self.members.iter().position(|row| row.name == name)
    }
}
