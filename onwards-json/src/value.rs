//! A valid JSON value inside a text, by reference.

use std::{borrow::Cow, fmt, ops::Range};

use crate::{Member, Scanner, Text};

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number, kept as its text.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "null",
            Self::Bool => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        })
    }
}

/// A valid JSON value inside a text. Copying it copies a reference.
#[derive(Debug, Clone, Copy)]
pub struct Value<'a> {
    /// The whole text; slices of it are made when asked for, which the scan need not pay.
    text: &'a str,
    start: usize,
    end: usize,
    kind: Kind,
    /// A string with escapes, or a number with a fraction or an exponent.
    marked: bool,
}

impl<'a> Value<'a> {
    #[inline]
    pub(crate) fn new(text: &'a str, span: Range<usize>, kind: Kind, marked: bool) -> Self {
        Self {
            text,
            start: span.start,
            end: span.end,
            kind,
            marked,
        }
    }

    /// What it is.
    #[must_use]
    #[inline]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Its text as it stands, without white space around it.
    #[must_use]
    #[inline]
    pub fn text(&self) -> &'a str {
        self.text.get(self.start..self.end).unwrap_or_default()
    }

    /// Where it stands, as byte offsets into the text that was scanned.
    #[must_use]
    #[inline]
    pub fn span(&self) -> Range<usize> {
        self.start..self.end
    }

    /// Whether it is `null`.
    #[must_use]
    #[inline]
    pub fn is_null(&self) -> bool {
        self.kind == Kind::Null
    }

    /// The boolean, if it is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        (self.kind == Kind::Bool).then(|| self.text() == "true")
    }

    /// The string, decoded. Borrowed unless it holds an escape.
    #[must_use]
    pub fn as_str(&self) -> Option<Cow<'a, str>> {
        self.as_text().map(|text| text.decoded())
    }

    /// The string, not yet decoded.
    #[must_use]
    #[inline]
    pub fn as_text(&self) -> Option<Text<'a>> {
        if self.kind != Kind::String {
            return None;
        }
        Some(Text::new(
            self.text,
            self.start + 1,
            self.end - 1,
            self.marked,
        ))
    }

    /// Whether it is a number written without fraction and exponent, of whatever size.
    #[must_use]
    #[inline]
    pub fn is_whole(&self) -> bool {
        self.kind == Kind::Number && !self.marked
    }

    /// The number, if it is written as a non-negative integer and fits; `1.0`, `1e3` and `-0` are not.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        if self.kind == Kind::Number {
            self.text().parse().ok()
        } else {
            None
        }
    }

    /// The number, if it is written as an integer and fits; `1.0`, `1e3` and `-0` are not.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        if self.kind == Kind::Number && self.text() != "-0" {
            self.text().parse().ok()
        } else {
            None
        }
    }

    /// The number as the nearest double. Always finite.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        if self.kind == Kind::Number {
            self.text().parse().ok()
        } else {
            None
        }
    }

    /// The members of an object in order; none for another kind. Walks the text again.
    #[must_use]
    pub fn members(&self) -> Members<'a> {
        let mut scanner = self.scan();
        Members(scanner.enter_object().ok().map(|()| scanner))
    }

    /// The elements of an array in order; none for another kind. Walks the text again.
    #[must_use]
    pub fn elements(&self) -> Elements<'a> {
        let mut scanner = self.scan();
        Elements(scanner.enter_array().ok().map(|()| scanner))
    }

    /// A scanner over this value alone, for a caller that wants to walk it again.
    /// Its spans are those of the text the value stands in.
    #[must_use]
    pub fn scan(&self) -> Scanner<'a> {
        Scanner::inside(self.text, self.span())
    }
}

/// The members of an object inside a valid text.
#[derive(Debug, Clone)]
pub struct Members<'a>(Option<Scanner<'a>>);

impl<'a> Iterator for Members<'a> {
    type Item = Member<'a>;

    fn next(&mut self) -> Option<Member<'a>> {
        self.0.as_mut()?.next_member().ok().flatten()
    }
}

/// The elements of an array inside a valid text.
#[derive(Debug, Clone)]
pub struct Elements<'a>(Option<Scanner<'a>>);

impl<'a> Iterator for Elements<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        let scanner = self.0.as_mut()?;
        match scanner.next_element() {
            Ok(true) => scanner.skip().ok(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
