//! The engine: one pass over a text along a table, checking it and noting the edits it needs.
//!
//! Recursion follows the tables, which are finite; values no table describes are passed by the scanner,
//! which does not recurse. Repeated members a table names are refused, in requests and in answers.

use onwards_json::{Kind, Scanner, Text, Value};

use crate::{
    catalog::Flags,
    edits::Edits,
    fault::{Fault, Found, Step},
    schema::{Absent, Fill, Member, Node, Note, Null, Shape, Tagged},
};

pub(crate) type Walked<T> = Result<T, Box<Fault>>;

/// Where the values come from that an answer lacks or must not show.
#[derive(Debug, Default)]
pub(crate) struct Fills {
    /// The model name as JSON text.
    pub(crate) model: String,
    /// The generated id as JSON text.
    pub(crate) id: String,
    pub(crate) unique: String,
    pub(crate) created: u64,
    pub(crate) trusted: bool,
}

/// One pass over one text.
pub(crate) struct Walk<'t, 'o> {
    text: &'t [u8],
    scanner: Scanner<'t>,
    pub(crate) edits: Edits<'t, 'o>,
    fills: &'o Fills,
    /// The place of the innermost element in its array.
    position: usize,
    pub(crate) sequence: u64,
    notes: u8,
    /// The tag of the outermost tagged object.
    pub(crate) tag: Option<Text<'t>>,
    pub(crate) flags: Flags,
}

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
    alias: Option<(&'static str, std::ops::Range<usize>)>,
}

impl<'t, 'o> Walk<'t, 'o> {
    pub(crate) fn new(text: &'t [u8], out: &'o mut Vec<u8>, fills: &'o Fills) -> Walked<Self> {
        Ok(Self {
            text,
            scanner: Scanner::new(text)?,
            edits: Edits::new(text, out),
            fills,
            position: 0,
            sequence: 0,
            notes: 0,
            tag: None,
            flags: Flags::default(),
        })
    }

    /// Walks the whole text.
    pub(crate) fn run(&mut self, node: &'static Node) -> Walked<()> {
        let kind = self.scanner.peek()?;
        self.edits.cut(0, self.scanner.position());
        self.value(node, kind)?;
        let end = self.scanner.position();
        self.scanner.clone().finish()?;
        self.edits.cut(end, self.text.len());
        Ok(())
    }

    pub(crate) fn noted(&self, note: Note) -> bool {
        self.notes & note as u8 != 0
    }

    /// Walks the value that is next; its kind is known.
    fn value(&mut self, node: &'static Node, kind: Kind) -> Walked<()> {
        if !node.takes(kind) {
            return Err(Fault::misfit(node, Found::Value(kind)));
        }
        match node {
            Node::Object(shape) => return self.object(shape),
            Node::List(item) => return self.list(item),
            Node::Tagged(tagged) => return self.tagged(node, tagged),
            Node::Map(item) => return self.map(item),
            Node::Choice(nodes) => return self.choice(node, nodes, kind),
            Node::Nullable(inner) if kind != Kind::Null => return self.value(inner, kind),
            _ => {}
        }
        let value = self.scanner.skip()?;
        self.scalar(node, value)
    }

    /// A value the table describes no further.
    fn scalar(&mut self, node: &'static Node, value: Value<'t>) -> Walked<()> {
        let fits = match node {
            Node::Integer => whole(value.text()),
            Node::Unsigned => whole(value.text()) && !value.text().starts_with('-'),
            Node::Word(words) => value
                .as_text()
                .is_some_and(|text| words.iter().any(|word| text.is(word))),
            Node::Fixed(json) => {
                self.replace(value, json);
                true
            }
            Node::Model => {
                let fills = self.fills;
                self.replace(value, &fills.model);
                true
            }
            Node::Arguments => {
                if value.is_null() || matches!(value.text(), "\"\"" | "\"null\"") {
                    self.replace(value, "\"{}\"");
                }
                true
            }
            Node::FailureCode if !self.fills.trusted => {
                let known = |text: Text<'_>| FAILURE_CODES.iter().any(|code| text.is(code));
                if !value.as_text().is_some_and(known) {
                    self.replace(value, "\"server_error\"");
                }
                true
            }
            Node::Private(shown) if !self.fills.trusted => {
                self.replace(value, shown);
                true
            }
            _ => true,
        };
        if fits {
            Ok(())
        } else {
            Err(Fault::misfit(node, Found::Value(value.kind())))
        }
    }

    fn replace(&mut self, value: Value<'t>, json: &str) {
        if value.text() != json {
            let span = value.span();
            self.edits.cut(span.start, span.end);
            self.edits.write(json.as_bytes());
        }
    }

    fn list(&mut self, item: &'static Node) -> Walked<()> {
        if let Some(foreign) = item.foreign() {
            // Long lists of numbers: past them in one step, then a look for bytes no such list has.
            let before = self.scanner.clone();
            let text = self.scanner.skip()?.text();
            if lacks(text.as_bytes(), foreign) {
                return Ok(());
            }
            self.scanner = before;
        }
        self.scanner.enter_array()?;
        let mut index = 0;
        while self.scanner.next_element()? {
            self.position = index;
            let kind = self.scanner.peek()?;
            self.value(item, kind)
                .map_err(|fault| fault.at(Step::Element(index)))?;
            index += 1;
        }
        Ok(())
    }

    fn map(&mut self, item: &'static Node) -> Walked<()> {
        self.scanner.enter_object()?;
        while self.scanner.next_key()?.is_some() {
            let kind = self.scanner.peek()?;
            self.value(item, kind)
                .map_err(|fault| fault.at(Step::Free))?;
        }
        Ok(())
    }

    fn choice(&mut self, node: &'static Node, nodes: &'static [Node], kind: Kind) -> Walked<()> {
        let mut first = None;
        if kind == Kind::Array {
            let mut ahead = self.scanner.clone();
            ahead.enter_array()?;
            if ahead.next_element()? {
                first = Some(ahead.peek()?);
            }
        }
        let fits = |node: &&'static Node| match (node, first) {
            (Node::List(item), Some(first)) => item.takes(first),
            (node, _) => node.takes(kind),
        };
        let mut lists = nodes.iter().filter(|node| node.takes(kind));
        match (nodes.iter().find(fits), lists.next(), lists.next()) {
            // A single list says better which element does not fit.
            (Some(choice), ..) | (None, Some(choice), None) => self.value(choice, kind),
            (None, ..) => Err(Fault::misfit(node, Found::Value(kind))),
        }
    }

    fn tagged(&mut self, node: &'static Node, tagged: &'static Tagged) -> Walked<()> {
        let mut ahead = self.scanner.clone();
        ahead.enter_object()?;
        let mut names_met = 0_u64;
        while let Some(name) = ahead.next_key()? {
            if name.is(tagged.tag) {
                let tag = ahead.skip()?;
                if tag.is_null() && !tagged.untagged.is_empty() {
                    continue;
                }
                let Some(text) = tag.as_text() else {
                    let fault = Fault::misfit(&Node::Text, Found::Value(tag.kind()));
                    return Err(fault.at(Step::Member(tagged.tag)));
                };
                if self.tag.is_none() {
                    self.tag = Some(text);
                }
                return match tagged.shape(&text) {
                    Some(shape) => self.object(shape),
                    None => Ok(self.scanner.skip().map(drop)?),
                };
            }
            if let Some(index) = tagged.untagged.iter().position(|(mark, _)| name.is(mark)) {
                names_met |= 1 << index;
            }
        }
        let first_met = names_met.trailing_zeros() as usize;
        match tagged.untagged.get(first_met).or(tagged.untagged.last()) {
            Some((_, shape)) => self.object(shape),
            None => {
                let Node::Tagged(_) = node else { return Ok(()) };
                Err(Fault::misfit(&Node::Text, Found::Nothing).at(Step::Member(tagged.tag)))
            }
        }
    }

    fn object(&mut self, shape: &'static Shape) -> Walked<()> {
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

/// The codes of failed responses (component `ResponseErrorCode`).
const FAILURE_CODES: [&str; 20] = [
    "server_error",
    "rate_limit_exceeded",
    "invalid_prompt",
    "data_residency_mismatch",
    "bio_policy",
    "vector_store_timeout",
    "invalid_image",
    "invalid_image_format",
    "invalid_base64_image",
    "invalid_image_url",
    "image_too_large",
    "image_too_small",
    "image_parse_error",
    "image_content_policy_violation",
    "invalid_image_mode",
    "image_file_too_large",
    "unsupported_image_media_type",
    "empty_image_file",
    "failed_to_download_image",
    "image_file_not_found",
];

/// Whether none of these bytes is inside an array, its brackets aside.
fn lacks(array: &[u8], foreign: &[u8]) -> bool {
    let [_, inner @ .., _] = array else {
        return true;
    };
    // A fold without an early end runs on whole vectors.
    foreign.iter().all(|wrong| {
        inner
            .iter()
            .fold(0, |hits, byte| hits | u8::from(byte == wrong))
            == 0
    })
}

/// Whether a number is written without fraction and exponent.
fn whole(number: &str) -> bool {
    number
        .bytes()
        .all(|byte| byte == b'-' || byte.is_ascii_digit())
}

impl Tagged {
    fn shape(&self, tag: &Text<'_>) -> Option<&'static Shape> {
        let tag = tag.decoded();
        match self
            .variants
            .binary_search_by(|(name, _)| (*name).cmp(&*tag))
        {
            Ok(index) => self.variants.get(index).map(|(_, shape)| *shape),
            Err(_) => self.other,
        }
    }
}

impl Shape {
    fn row(&self, name: &str) -> Option<usize> {
        self.members.iter().position(|row| row.name == name)
    }
}
