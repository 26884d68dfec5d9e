//! The engine: one pass over a text along a table, checking it and noting the edits it needs.
//!
//! Recursion follows the tables, which are finite; values no table describes are passed by the scanner,
//! which does not recurse. Repeated members a table names are refused, in requests and in answers.

use onwards_json::{Kind, Scanner, Text};

use crate::{
    catalog::Flags,
    edits::Edits,
    fault::{Fault, Found, Step},
    schema::{Node, Note, Shape, Tagged},
};

mod object;
mod scalar;

use scalar::lacks;

pub(crate) type Walked<T> = Result<T, Box<Fault>>;

/// Where the values come from that an answer lacks or must not show.
#[derive(Debug, Default)]
pub(crate) struct Fills {
    /// The model name as JSON text.
    pub(crate) model: String,
    /// What a generated id begins with.
    pub(crate) prefix: &'static str,
    /// What makes it unique.
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

    /// Walks the whole text along a table that edits nothing; nothing is written.
    pub(crate) fn survey(&mut self, node: &'static Node) -> Walked<()> {
        let kind = self.scanner.peek()?;
        self.value(node, kind)?;
        Ok(self.scanner.clone().finish()?)
    }

    /// Walks the whole text and writes what is left of it.
    pub(crate) fn run(&mut self, node: &'static Node) -> Walked<()> {
        let kind = self.scanner.peek()?;
        self.edits.cut(0, self.scanner.position());
        self.value(node, kind)?;
        let end = self.scanner.position();
        self.scanner.clone().finish()?;
        self.edits.cut(end, self.text.len());
        Ok(())
    }

    /// Whether line breaks may stand between tokens.
    pub(crate) fn spaced(&self) -> bool {
        self.scanner.spaced()
    }

    pub(crate) fn noted(&self, note: Note) -> bool {
        self.notes & note as u8 != 0
    }

    /// Walks the value that is next; its kind is known.
    fn value(&mut self, node: &'static Node, kind: Kind) -> Walked<()> {
        match (node, kind) {
            (Node::Object(shape), Kind::Object) => self.object(shape),
            (Node::List(item), Kind::Array) => self.list(item),
            (Node::Tagged(tagged), Kind::Object) => self.tagged(tagged),
            (Node::Map(item), Kind::Object) => self.map(item),
            (Node::Choice(nodes), _) => self.choice(node, nodes, kind),
            (Node::Nullable(inner), _) if kind != Kind::Null => self.value(inner, kind),
            _ if node.takes(kind) => {
                let value = self.scanner.skip()?;
                self.scalar(node, value)
            }
            _ => Err(Fault::misfit(node, Found::Value(kind))),
        }
    }

    fn list(&mut self, item: &'static Node) -> Walked<()> {
        if let Some(foreign) = item.foreign() {
            // Long lists of numbers are passed in one step.
            let before = self.scanner.clone();
            let numbers = self.scanner.skip_numbers()?;
            if numbers.is_some_and(|numbers| lacks(numbers.as_bytes(), foreign)) {
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

    fn tagged(&mut self, tagged: &'static Tagged) -> Walked<()> {
        // The shape depends on the tag, so that no string in here is a blank.
        let blanks = self.edits.blanks.take();
        let walked = self.told_apart(tagged);
        self.edits.blanks = blanks;
        walked
    }

    fn told_apart(&mut self, tagged: &'static Tagged) -> Walked<()> {
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
            None => Err(Fault::misfit(&Node::Text, Found::Nothing).at(Step::Member(tagged.tag))),
        }
    }
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
