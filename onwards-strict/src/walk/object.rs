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

/// Where a member stands, and what it is.
#[derive(Clone, Copy)]
struct Place {
    /// Its name.
    start: usize,
    /// Its value.
    at: usize,
    kind: Kind,
}

impl Walk<'_, '_> {
    pub(super) fn object(&mut self, shape: &'static Shape) -> Walked<()> {
        let position = self.position;
        self.scanner.enter_object()?;
        let open = self.scanner.position();
        let mut members = Members::default();
        // Most texts follow the order of the table.
        let mut next = 0;
        loop {
            let expected = shape.members.get(next);
            let (name, found) = match expected.and_then(|row| self.scanner.pass_key(&row.name)) {
                Some(name) => (name, expected.map(|row| (next, row))),
                None => match self.scanner.next_key()? {
                    Some(name) => (name, shape.find(name)),
                    None => break,
                },
            };
            let kind = self.scanner.peek()?;
            let place = Place {
                start: name.span().start,
                at: self.scanner.position(),
                kind,
            };
            let kept = match found {
                Some((index, row)) => {
                    next = index + 1;
                    let bit = 1 << index;
                    if members.met & bit != 0 {
                        return Err(twice(row));
                    }
                    members.met |= bit;
                    let kept = self.member(row, place, &mut members)?;
                    members.here |= if kept { bit } else { 0 };
                    kept
                }
                None => {
                    if shape.open {
                        self.settle(place.start, &mut members);
                    }
                    self.scanner.skip()?;
                    shape.open
                }
            };
            let end = self.scanner.position();
            if shape.catalogued {
                let value = self.text.get(place.at..end).unwrap_or_default();
                self.flags.observe(name, value);
            }
            match (kept, members.kept_to) {
                (true, _) => members.kept_to = Some(end),
                (false, Some(kept_to)) => self.edits.cut(kept_to, end),
                (false, None) => members.lead = members.lead.or(Some(place.start)),
            }
        }
        let close = self.scanner.position().saturating_sub(1);
        self.settle(close, &mut members);
        let missing = shape.wanted & !members.here;
        if missing == 0 && members.alias.is_none() {
            return Ok(());
        }
        self.complete(shape, &mut members, open, position)
    }

    /// Cuts the dropped members in front of the first kept one.
    #[inline]
    fn settle(&mut self, to: usize, members: &mut Members) {
        if let Some(lead) = members.lead.take() {
            self.edits.cut(lead, to);
        }
    }

    /// Walks a known member's value; whether the member stays.
    #[inline]
    fn member(
        &mut self,
        row: &'static Member,
        place: Place,
        members: &mut Members,
    ) -> Walked<bool> {
        match (row.node, place.kind, row.null) {
            // What most members are.
            (Node::Text, Kind::String, _) => {
                self.settle(place.start, members);
                self.scanner.skip()?;
                self.edits.blank(place.at..self.scanner.position());
                self.note(row, place.at);
                Ok(true)
            }
            (Node::Integer, Kind::Number, _) if !row.soft => {
                self.settle(place.start, members);
                if !self.scanner.skip()?.is_whole() {
                    let fault = Fault::misfit(row.node, Found::Value(Kind::Number));
                    return Err(fault.at(Step::Member(row.name.text())));
                }
                self.note(row, place.at);
                Ok(true)
            }
            (Node::Text, Kind::Null, Null::Keep) => {
                self.settle(place.start, members);
                self.scanner.skip()?;
                Ok(true)
            }
            (_, Kind::Null, Null::Drop) => {
                self.scanner.skip()?;
                Ok(false)
            }
            _ => self.other_member(row, place, members),
        }
    }

    #[inline(never)]
    fn other_member(
        &mut self,
        row: &'static Member,
        Place { start, at, kind }: Place,
        members: &mut Members,
    ) -> Walked<bool> {
        if let Node::Dropped | Node::Alias(_) = row.node {
            let value = self.scanner.skip()?;
            if let (Node::Alias(target), Kind::String) = (row.node, kind) {
                members.alias = Some((target, value.span()));
            }
            self.note(row, at);
            return Ok(false);
        }
        let before = (row.soft).then(|| (self.scanner.clone(), self.edits.mark(), members.lead));
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
            (Err(fault), Some((scanner, mark, lead))) if matches!(*fault, Fault::Shape(_)) => {
                self.scanner = scanner;
                self.edits.rewind(mark);
                members.lead = lead;
                self.scanner.skip()?;
                Ok(false)
            }
            (Err(fault), _) => Err(fault.at(Step::Member(row.name.text()))),
        }
    }

    /// Takes note of a value that was passed, if the table asks for it.
    #[inline]
    fn note(&mut self, row: &Member, at: usize) {
        if let Some(note) = row.note
            && let Some(value) = self.text.get(at..self.scanner.position())
        {
            let empty = match value {
                [b'n' | b'f', ..] => true,
                [b'[', inner @ .., b']'] => inner.trim_ascii().is_empty(),
                _ => false,
            };
            self.notes |= if empty { 0 } else { note as u8 };
        }
    }

    /// Writes what is missing, or refuses it.
    #[inline(never)]
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
                    return Err(fault.at(Step::Member(row.name.text())));
                }
            };
            self.insert(row.name.text(), place, &mut first);
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
            Fill::Id => {
                let id = format!("{}{}", fills.prefix, fills.unique);
                self.edits.write(onwards_json::quote(&id).as_bytes());
            }
            Fill::Model => self.edits.write(fills.model.as_bytes()),
            Fill::Created => self.edits.write_number(fills.created),
            Fill::Position => self.edits.write_number(position as u64),
            Fill::Sequence => self.edits.write_number(self.sequence),
            Fill::CallId => {
                let plain = |c: &char| c.is_ascii_alphanumeric() || *c == '-';
                let unique: String = fills.unique.chars().filter(plain).collect();
                self.edits.write(b"\"call_");
                self.edits.write(unique.as_bytes());
                self.edits.write(b"_");
                self.edits.write_number(position as u64);
                self.edits.write(b"\"");
            }
        }
    }
}

#[cold]
fn twice(row: &'static Member) -> Box<Fault> {
    Fault::misfit(row.node, Found::Twice).at(Step::Member(row.name.text()))
}
