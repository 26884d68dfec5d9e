//! Finds the place of a path in the text. Runs only when there is a problem to report, so reading a good
//! file pays nothing for it.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::path::To;
use crate::problem::Position;

/// Where the value at these steps begins; of a value that is not there, its nearest parent.
pub(crate) fn locate(text: &str, steps: &[To]) -> Option<Position> {
    let mut at: &RawValue = serde_json::from_str(text).ok()?;
    for step in steps {
        let next = match step {
            To::Member(name) => serde_json::from_str::<Members<'_>>(at.get())
                .ok()
                .and_then(|members| members.0.into_iter().rev().find(|(known, _)| known == name))
                .map(|(_, value)| value),
            To::Element(index) => serde_json::from_str::<Vec<&RawValue>>(at.get())
                .ok()
                .and_then(|all| all.get(*index).copied()),
        };
        match next {
            Some(next) => at = next,
            None => break,
        }
    }
    let offset = (at.get().as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    position(text, offset)
}

/// Line and column of a byte offset.
pub(crate) fn position(text: &str, offset: usize) -> Option<Position> {
    let (before, _) = text.split_at_checked(offset)?;
    let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
    let column = before
        .rsplit('\n')
        .next()
        .map_or(0, |tail| tail.chars().count())
        + 1;
    Some(Position { line, column })
}

/// The members of one object, in order, with duplicates.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
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
        let mut members = Vec::new();
        while let Some(member) = access.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}
