//! One event and its fields.

use std::{borrow::Cow, time::Duration};

use bytes::Bytes;
use memchr::{memchr, memchr2};

/// An event as it came: its lines, and the empty line that ends it.
///
/// The readers walk the lines anew at each call, which costs about what a search for a byte does. They
/// allocate nothing, except [`data`](Self::data) when there are several data lines to join.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    raw: Bytes,
    terminated: bool,
}

impl Event {
    pub(crate) fn new(raw: Bytes, terminated: bool) -> Self {
        Self { raw, terminated }
    }

    /// The bytes as they came, line ends included. Copying the handle copies no bytes.
    #[must_use]
    pub fn raw(&self) -> &Bytes {
        &self.raw
    }

    /// Whether an empty line ended it. False only for the last event of a stream that ended within it.
    #[must_use]
    pub fn is_terminated(&self) -> bool {
        self.terminated
    }

    /// The payload: the values of all `data` lines, joined by LF. `None` if there is no such line, and
    /// then the event is none to a client. Borrowed if there is one line.
    #[must_use]
    pub fn data(&self) -> Option<Cow<'_, [u8]>> {
        let mut lines = self.values(b"data");
        let first = lines.next()?;
        let Some(second) = lines.next() else {
            return Some(Cow::Borrowed(first));
        };
        let mut joined = Vec::with_capacity(self.raw.len());
        joined.extend_from_slice(first);
        for line in std::iter::once(second).chain(lines) {
            joined.push(b'\n');
            joined.extend_from_slice(line);
        }
        Some(Cow::Owned(joined))
    }

    /// The event's type: the value of the last `event` line.
    #[must_use]
    pub fn event(&self) -> Option<&[u8]> {
        self.values(b"event").last()
    }

    /// The value of the last `id` line that has no NUL in it; those that have are to be ignored.
    #[must_use]
    pub fn id(&self) -> Option<&[u8]> {
        self.values(b"id")
            .filter(|id| memchr(0, id).is_none())
            .last()
    }

    /// The reconnection time: the value of the last `retry` line that is all digits, in milliseconds.
    #[must_use]
    pub fn retry(&self) -> Option<Duration> {
        let millis = |value: &[u8]| {
            let digits = value.iter().all(u8::is_ascii_digit).then_some(value)?;
            std::str::from_utf8(digits).ok()?.parse().ok()
        };
        self.values(b"retry")
            .filter_map(millis)
            .last()
            .map(Duration::from_millis)
    }

    /// Whether it is nothing but comment lines, as sent to keep a connection alive.
    #[must_use]
    pub fn is_comment(&self) -> bool {
        self.fields().all(|field| field.is_comment())
    }

    /// All lines in order, comments and unknown fields included.
    #[must_use]
    pub fn fields(&self) -> Fields<'_> {
        Fields { rest: &self.raw }
    }

    fn values<'a>(&'a self, name: &'static [u8]) -> impl Iterator<Item = &'a [u8]> {
        self.fields()
            .filter(move |field| field.name == name)
            .map(|field| field.value)
    }
}

/// A line of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field<'a> {
    /// What stands before the colon; the whole line if there is none; nothing for a comment.
    pub name: &'a [u8],
    /// What stands after the colon and, if there is one, one space.
    pub value: &'a [u8],
}

impl Field<'_> {
    /// Whether the line is a comment: it starts with the colon.
    #[must_use]
    pub fn is_comment(&self) -> bool {
        self.name.is_empty()
    }
}

/// The lines of an event. See [`Event::fields`].
#[derive(Debug, Clone)]
pub struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        loop {
            let end = memchr2(b'\n', b'\r', self.rest).unwrap_or(self.rest.len());
            let (line, rest) = self.rest.split_at_checked(end)?;
            self.rest = rest.get(1..).unwrap_or_default();
            if line.is_empty() {
                // The end of the event, or the second half of a CRLF.
                if self.rest.is_empty() {
                    return None;
                }
                continue;
            }
            let (name, value) = line.split_at_checked(memchr(b':', line).unwrap_or(end))?;
            let value = value.get(1..).unwrap_or_default();
            let value = value.strip_prefix(b" ").unwrap_or(value);
            return Some(Field { name, value });
        }
    }
}

#[cfg(test)]
mod tests;
