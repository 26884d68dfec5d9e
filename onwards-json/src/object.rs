//! A whole text that is one object, with its members.

use std::{borrow::Cow, ops::Range};

use crate::{Kind, ScanError, Scanner, Text, Value};

/// How many members an [`Object`] lists at most, so that a hostile text cannot make the list many times
/// larger than itself. Objects further inside are not listed and may have any number.
pub const MAX_MEMBERS: usize = 65_536;

/// Validates a complete JSON text in one pass and lists the members of the object it is.
///
/// ```
/// let body = onwards_json::object(br#"{"m\u006fdel": "a\/b"}"#)?;
/// let model = body.get("model")?.and_then(|member| member.value().as_str());
/// assert_eq!(model.as_deref(), Some("a/b"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`ScanError::NotAnObject`] if the text is valid JSON of another kind; otherwise what is wrong with it,
/// see [`ScanError`]. An empty text is malformed.
pub fn object(text: &[u8]) -> Result<Object<'_>, ScanError> {
    let mut scanner = Scanner::new(text)?;
    match scanner.peek()? {
        Kind::Object => {
            let members = members(&mut scanner)?;
            scanner.finish()?;
            Ok(Object { text, members })
        }
        found => {
            let at = scanner.position();
            scanner.skip()?;
            scanner.finish()?;
            Err(ScanError::NotAnObject { at, found })
        }
    }
}

/// The members of the object that is next in `scanner`.
pub(crate) fn members<'a>(scanner: &mut Scanner<'a>) -> Result<Vec<Member<'a>>, ScanError> {
    let mut members = Vec::with_capacity(16);
    scanner.enter_object()?;
    while let Some(member) = scanner.next_member()? {
        if members.len() == MAX_MEMBERS {
            return Err(ScanError::TooManyMembers {
                at: member.span().start,
            });
        }
        members.push(member);
    }
    Ok(members)
}

/// A valid text that is one object, and its members in order. See [`object`].
#[derive(Debug, Clone)]
pub struct Object<'a> {
    text: &'a [u8],
    members: Vec<Member<'a>>,
}

impl<'a> Object<'a> {
    /// The members in the order of the text, repeated names included.
    #[must_use]
    pub fn members(&self) -> &[Member<'a>] {
        &self.members
    }

    /// The member of that name, which is compared after decoding.
    ///
    /// # Errors
    /// [`Duplicate`] if two or more members have it: readers disagree on which one counts, so none does.
    pub fn get(&self, name: &str) -> Result<Option<&Member<'a>>, Duplicate> {
        find(&self.members, name).map(|found| found.and_then(|index| self.members.get(index)))
    }

    /// The whole text, white space around the object included.
    #[must_use]
    pub fn text(&self) -> &'a [u8] {
        self.text
    }
}

/// The index of the only member of that name.
pub(crate) fn find(members: &[Member<'_>], name: &str) -> Result<Option<usize>, Duplicate> {
    let mut matches = members
        .iter()
        .enumerate()
        .filter(|(_, member)| member.is(name));
    let found = matches.next().map(|(index, _)| index);
    match matches.next() {
        None => Ok(found),
        Some((_, second)) => Err(Duplicate {
            at: second.span().start,
        }),
    }
}

/// Two or more members have the name asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the member at byte {at} repeats an earlier name")]
pub struct Duplicate {
    /// The byte offset of the second member of that name.
    pub at: usize,
}

/// A member of an object: a name and a value.
#[derive(Debug, Clone, Copy)]
pub struct Member<'a> {
    name: Text<'a>,
    value: Value<'a>,
}

impl<'a> Member<'a> {
    pub(crate) fn new(name: Text<'a>, value: Value<'a>) -> Self {
        Self { name, value }
    }

    /// The name, decoded. Borrowed unless it holds an escape.
    #[must_use]
    pub fn name(&self) -> Cow<'a, str> {
        self.name.decoded()
    }

    /// The name, not yet decoded.
    #[must_use]
    pub fn name_text(&self) -> Text<'a> {
        self.name
    }

    /// Whether the name, decoded, is this one.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        self.name.is(name)
    }

    /// The value.
    #[must_use]
    pub fn value(&self) -> Value<'a> {
        self.value
    }

    /// Where the value stands, as byte offsets into the text.
    #[must_use]
    pub fn value_span(&self) -> Range<usize> {
        self.value.span()
    }

    /// Where the member stands, from the name's opening quote to the value's end.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        self.name.span().start..self.value.span().end
    }
}

#[cfg(test)]
mod tests;
