//! Finds the places of paths in the text. Runs only when there is a problem to report, so reading a good
//! file pays nothing for it; then each object on the way is parsed once, however many problems it has.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::path::To;
use crate::problem::Position;

/// A text whose values can be found.
pub(crate) struct Places<'a> {
    text: &'a str,
    root: Option<Place<'a>>,
}

struct Place<'a> {
    raw: &'a RawValue,
    inside: OnceCell<Inside<'a>>,
}

enum Inside<'a> {
    Members(HashMap<String, Place<'a>>),
    Elements(Vec<Place<'a>>),
    Nothing,
}

impl<'a> Places<'a> {
    /// A valid JSON text.
    pub(crate) fn of(text: &'a str) -> Self {
        Self {
            text,
            root: serde_json::from_str(text).ok().map(Place::new),
        }
    }

    /// Where the value at these steps begins, in bytes; of a value that is not there, its nearest parent.
    pub(crate) fn offset(&self, steps: &[To]) -> usize {
        let Some(mut at) = self.root.as_ref() else {
            return 0;
        };
        for step in steps {
            match at.child(step) {
                Some(child) => at = child,
                None => break,
            }
        }
        (at.raw.get().as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize)
    }
}

impl<'a> Place<'a> {
    fn new(raw: &'a RawValue) -> Self {
        Self {
            raw,
            inside: OnceCell::new(),
        }
    }

    fn child(&self, step: &To) -> Option<&Self> {
        match (self.inside.get_or_init(|| Inside::of(self.raw)), step) {
            (Inside::Members(members), To::Member(name)) => members.get(name),
            (Inside::Elements(elements), To::Element(index)) => elements.get(*index),
            _ => None,
        }
    }
}

impl<'a> Inside<'a> {
    fn of(raw: &'a RawValue) -> Self {
        if let Ok(Members(members)) = serde_json::from_str(raw.get()) {
            return Self::Members(members);
        }
        match serde_json::from_str::<Vec<&RawValue>>(raw.get()) {
            Ok(elements) => Self::Elements(elements.into_iter().map(Place::new).collect()),
            Err(_) => Self::Nothing,
        }
    }
}

/// The members of one object; of duplicates the last.
struct Members<'a>(HashMap<String, Place<'a>>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Collect)
    }
}

struct Collect;

impl<'de> Visitor<'de> for Collect {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut members = HashMap::new();
        while let Some((name, raw)) = access.next_entry()? {
            members.insert(name, Place::new(raw));
        }
        Ok(Members(members))
    }
}

/// Turns offsets into lines and columns, in one walk through the text.
pub(crate) struct Ruler<'a> {
    rest: &'a str,
    at: usize,
    position: Position,
}

impl<'a> Ruler<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let position = Position { line: 1, column: 1 };
        Self {
            rest: text,
            at: 0,
            position,
        }
    }

    /// Line and column of an offset that is not before the last one.
    pub(crate) fn position(&mut self, offset: usize) -> Position {
        let step = offset.saturating_sub(self.at);
        if let Some((passed, rest)) = self.rest.split_at_checked(step) {
            match passed.rsplit_once('\n') {
                Some((before, tail)) => {
                    self.position.line += 1 + before.bytes().filter(|byte| *byte == b'\n').count();
                    self.position.column = 1 + tail.chars().count();
                }
                None => self.position.column += passed.chars().count(),
            }
            (self.rest, self.at) = (rest, offset);
        }
        self.position
    }
}

#[cfg(test)]
mod tests;
