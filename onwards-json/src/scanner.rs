//! A forward cursor over one JSON text: what a cleaner uses to read an answer in one pass.

use std::ops::Range;

use crate::{
    Expected, Key, Kind, Member, ScanError, Text, Value,
    walk::{self, Cursor, Nest, Wrong},
};

/// The digits of a number that is passed as quickly as can be.
const SHORT_NUMBER: usize = 10;

/// Walks a JSON text once, forward, and validates what it passes.
///
/// The caller says what to do with each value: enter it, or [`skip`](Self::skip) it and get it by
/// reference. A value neither entered nor skipped is skipped by the next [`next_key`](Self::next_key) or
/// [`next_element`](Self::next_element). Only when [`finish`](Self::finish) has succeeded is the whole
/// text known to be valid JSON. After an error the scanner is not to be used on.
///
/// ```
/// use onwards_json::Scanner;
///
/// let mut scanner = Scanner::new(br#"{"id": 7, "choices": [{"index": 0}, {"index": 1}], "usage": null}"#)?;
/// let mut indices = Vec::new();
/// scanner.enter_object()?;
/// while let Some(key) = scanner.next_key()? {
///     if key.is("choices") {
///         scanner.enter_array()?;
///         while scanner.next_element()? {
///             scanner.enter_object()?;
///             while let Some(key) = scanner.next_key()? {
///                 if key.is("index") {
///                     indices.push(scanner.skip()?.as_u64());
///                 }
///             }
///         }
///     }
/// }
/// scanner.finish()?;
/// assert_eq!(indices, [Some(0), Some(1)]);
/// # Ok::<(), onwards_json::ScanError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Scanner<'a> {
    text: &'a str,
    cursor: Cursor<'a>,
    nest: Nest,
    due: Due,
}

/// What stands next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    /// A value.
    Value,
    /// The first name or element of what was just entered, or its end.
    First,
    /// A comma or the end of the innermost object or array; at depth 0 the end of the text.
    Rest,
}

impl<'a> Scanner<'a> {
    /// A scanner at the start of a text.
    ///
    /// # Errors
    /// [`ScanError::NotUtf8`]: checked for the whole text here, once.
    pub fn new(text: &'a [u8]) -> Result<Self, ScanError> {
        match simdutf8::basic::from_utf8(text) {
            Ok(text) => Ok(Self::of(text)),
            Err(_) => Err(not_utf8(text)),
        }
    }

    /// A scanner at the start of a text that is known to be UTF-8.
    #[must_use]
    pub fn of(text: &'a str) -> Self {
        Self::inside(text, 0..text.len())
    }

    /// A scanner over the value that stands there in a text.
    pub(crate) fn inside(text: &'a str, span: Range<usize>) -> Self {
        let text = text.get(..span.end).unwrap_or_default();
        Self {
            text,
            cursor: Cursor {
                bytes: text.as_bytes(),
                at: span.start,
                spaced: false,
            },
            nest: Nest::default(),
            due: Due::Value,
        }
    }

    /// The byte offset the scanner stands at.
    #[must_use]
    pub fn position(&self) -> usize {
        self.cursor.at
    }

    /// How many objects and arrays are open.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.nest.depth
    }

    /// The kind of the next value, told by its first byte; the value itself is not checked yet.
    ///
    /// # Errors
    /// [`ScanError::Malformed`] if no value starts here, [`ScanError::OutOfStep`] if none is due.
    #[inline(always)]
    pub fn peek(&mut self) -> Result<Kind, ScanError> {
        if self.due != Due::Value {
            return self.out_of_step();
        }
        let kind = walk::kind(self.cursor.space());
        self.placed(kind)
    }

    /// Passes the opening brace of the object that is next.
    ///
    /// # Errors
    /// [`ScanError::NotAnObject`] (the scanner stays before the value), [`ScanError::TooDeep`], and those
    /// of [`peek`](Self::peek).
    #[inline]
    pub fn enter_object(&mut self) -> Result<(), ScanError> {
        match self.peek()? {
            Kind::Object => self.enter(true),
            found => Err(ScanError::NotAnObject {
                at: self.position(),
                found,
            }),
        }
    }

    /// Passes the opening bracket of the array that is next.
    ///
    /// # Errors
    /// [`ScanError::NotAnArray`] (the scanner stays before the value), [`ScanError::TooDeep`], and those
    /// of [`peek`](Self::peek).
    #[inline]
    pub fn enter_array(&mut self) -> Result<(), ScanError> {
        match self.peek()? {
            Kind::Array => self.enter(false),
            found => Err(ScanError::NotAnArray {
                at: self.position(),
                found,
            }),
        }
    }

    /// The next name in the innermost object, its value being next; `None` when the object ends, which
    /// leaves it. Names may repeat: that is the caller's to judge.
    ///
    /// # Errors
    /// [`ScanError::OutOfStep`] outside an object, and whatever is wrong with the text up to the colon.
    #[inline(always)]
    pub fn next_key(&mut self) -> Result<Option<Text<'a>>, ScanError> {
        let ahead = self.name_ahead();
        let name = match ahead.and_then(|ahead| self.cursor.usual_name(ahead)) {
            Some(Range { start, end }) => (start, end, false),
            None => match self.unusual_name()? {
                Some(name) => name,
                None => return Ok(None),
            },
        };
        self.due = Due::Value;
        let (start, end, escaped) = name;
        Ok(Some(Text::new(self.text, start, end, escaped)))
    }

    /// Passes the name that is next if it is this one, written as names mostly are: without white space
    /// around it, without escapes, and short. `None` says nothing and leaves the scanner where it is.
    ///
    /// To be used before [`next_key`](Self::next_key) where one knows what name to expect.
    #[inline(always)]
    pub fn pass_key(&mut self, key: &Key) -> Option<Text<'a>> {
        let start = self.cursor.at + self.name_ahead()?;
        let block = self.text.as_bytes().get(start..)?.first_chunk()?;
        let end = start + key.written_in(block)?;
        self.cursor.at = end;
        self.due = Due::Value;
        Some(Text::new(self.text, start + 1, end - 2, false))
    }

    /// How far ahead the next name is, if there is no white space in front of it.
    #[inline(always)]
    fn name_ahead(&self) -> Option<usize> {
        match self.due {
            Due::Rest if self.nest.in_object() && self.cursor.byte(0) == b',' => Some(1),
            Due::First if self.nest.in_object() => Some(0),
            _ => None,
        }
    }

    /// The next name by all of the grammar: where it starts and ends, and whether it has escapes.
    #[inline(never)]
    fn unusual_name(&mut self) -> Result<Option<(usize, usize, bool)>, ScanError> {
        if !self.next_item(true)? {
            return Ok(None);
        }
        let start = self.cursor.at + 1;
        let escaped = self.cursor.name();
        let escaped = self.placed(escaped)?;
        let end = self.cursor.at - 1;
        let colon = self.cursor.colon();
        self.placed(colon)?;
        Ok(Some((start, end, escaped)))
    }

    /// Whether another element follows in the innermost array, which then is next; false when the array
    /// ends, which leaves it.
    ///
    /// # Errors
    /// [`ScanError::OutOfStep`] outside an array, and whatever is wrong with the text up to the element.
    #[inline]
    pub fn next_element(&mut self) -> Result<bool, ScanError> {
        let more = self.next_item(false)?;
        if more {
            self.due = Due::Value;
        }
        Ok(more)
    }

    /// The next member of the innermost object with its value; `None` when the object ends.
    ///
    /// # Errors
    /// Those of [`next_key`](Self::next_key) and [`skip`](Self::skip).
    #[inline]
    pub fn next_member(&mut self) -> Result<Option<Member<'a>>, ScanError> {
        match self.next_key()? {
            Some(name) => Ok(Some(Member::new(name, self.skip()?))),
            None => Ok(None),
        }
    }

    /// Validates and passes the next value and gives it by reference.
    ///
    /// # Errors
    /// [`ScanError::OutOfStep`] if no value is due, and whatever is wrong with the value.
    #[inline(always)]
    pub fn skip(&mut self) -> Result<Value<'a>, ScanError> {
        let kind = self.peek()?;
        let start = self.cursor.at;
        let marked = self.pass(kind);
        let marked = self.placed(marked)?;
        Ok(Value::new(self.text, start..self.cursor.at, kind, marked))
    }

    /// Passes the next value and gives its number as [`Value::as_u64`] does: the quick way through counts.
    ///
    /// # Errors
    /// Those of [`skip`](Self::skip).
    #[inline]
    pub fn skip_u64(&mut self) -> Result<Option<u64>, ScanError> {
        match self.short_number() {
            Some((number, len)) if self.due == Due::Value => {
                self.cursor.at += len;
                self.due = Due::Rest;
                Ok(Some(number))
            }
            _ => Ok(self.skip()?.as_u64()),
        }
    }

    /// The number at the cursor and its length, if it is a few digits and nothing else up to a comma or a brace.
    #[inline]
    fn short_number(&self) -> Option<(u64, usize)> {
        let digits = self.text.as_bytes().get(self.cursor.at..)?;
        let (mut number, mut len) = (0, 0);
        for &byte in digits.iter().take(SHORT_NUMBER + 1) {
            match byte {
                b'0'..=b'9' => number = 10 * number + u64::from(byte - b'0'),
                b',' | b'}' if len == 1 || (len > 1 && digits.first() != Some(&b'0')) => {
                    return Some((number, len));
                }
                _ => return None,
            }
            len += 1;
        }
        None
    }

    /// Moves past the value that is next. Out of line, so that no value is built where none is looked at.
    #[inline(never)]
    fn pass(&mut self, kind: Kind) -> Result<bool, Wrong> {
        let marked = self.cursor.value(kind, self.nest)?;
        self.due = Due::Rest;
        Ok(marked)
    }

    /// Passes the array that is next if there are only numbers in it, and gives its text: the quick way
    /// through long lists of them. On `None` the scanner still stands before the value.
    ///
    /// # Errors
    /// Those of [`peek`](Self::peek).
    pub fn skip_numbers(&mut self) -> Result<Option<&'a str>, ScanError> {
        let (kind, mut nest) = (self.peek()?, self.nest);
        if kind != Kind::Array || nest.open(false).is_err() {
            return Ok(None);
        }
        let mut cursor = self.cursor;
        cursor.at += 1;
        if cursor.space() != b']' && (cursor.numbers().is_err() || cursor.space() != b']') {
            return Ok(None);
        }
        cursor.at += 1;
        let start = std::mem::replace(&mut self.cursor, cursor).at;
        self.due = Due::Rest;
        Ok(self.text.get(start..cursor.at))
    }

    /// Whether white space was passed between tokens so far: without it, there are no line breaks.
    #[must_use]
    pub fn spaced(&self) -> bool {
        self.cursor.spaced
    }

    /// Checks that the text ends here, white space aside.
    ///
    /// # Errors
    /// [`ScanError::OutOfStep`] if the value was not passed to its end, [`ScanError::Malformed`] if
    /// anything follows it.
    pub fn finish(mut self) -> Result<(), ScanError> {
        if self.due != Due::Rest || self.nest.depth != 0 {
            return self.out_of_step();
        }
        self.cursor.space();
        if self.cursor.at == self.text.len() {
            Ok(())
        } else {
            self.expected(Expected::End)
        }
    }

    #[inline]
    fn enter(&mut self, object: bool) -> Result<(), ScanError> {
        let opened = self.nest.open(object);
        self.placed(opened)?;
        self.cursor.at += 1;
        self.due = Due::First;
        Ok(())
    }

    /// Moves to the next name or element, or past the end of what is innermost, which is false.
    #[inline]
    fn next_item(&mut self, object: bool) -> Result<bool, ScanError> {
        if self.nest.depth == 0 || self.nest.in_object() != object {
            return self.out_of_step();
        }
        if self.due == Due::Value {
            self.skip()?;
        }
        match (self.cursor.space(), self.due) {
            (b',', Due::Rest) => {
                self.cursor.at += 1;
                self.cursor.space();
                return Ok(true);
            }
            (b'}', _) if object => {}
            (b']', _) if !object => {}
            (_, Due::First) => return Ok(true),
            _ => return self.expected(Expected::CommaOrEnd),
        }
        self.nest.close();
        self.cursor.at += 1;
        self.due = Due::Rest;
        Ok(false)
    }

    /// Gives a fault its place in the text.
    #[inline(always)]
    fn placed<T>(&self, result: Result<T, Wrong>) -> Result<T, ScanError> {
        result.map_err(|wrong| wrong.at(self.position()))
    }

    #[cold]
    fn out_of_step<T>(&self) -> Result<T, ScanError> {
        Err(ScanError::OutOfStep {
            at: self.position(),
        })
    }

    #[cold]
    fn expected<T>(&self, expected: Expected) -> Result<T, ScanError> {
        Err(ScanError::Malformed {
            at: self.position(),
            expected,
        })
    }
}

/// Where a text stops to be UTF-8: the quick check does not tell.
#[cold]
fn not_utf8(text: &[u8]) -> ScanError {
    let valid = std::str::from_utf8(text).map_err(|error| error.valid_up_to());
    let at = valid.err().unwrap_or_default();
    ScanError::NotUtf8 { at }
}

#[cfg(test)]
mod tests;
