//! Why a text was refused.

use std::fmt;

use crate::{Kind, MAX_DEPTH, MAX_MEMBERS};

/// Why a text is not what was asked for. Every `at` is a byte offset into the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScanError {
    /// The text is not UTF-8; `at` is where the valid part ends.
    #[error("not UTF-8 at byte {at}")]
    NotUtf8 {
        /// Where the valid part ends.
        at: usize,
    },
    /// The text breaks the grammar.
    #[error("malformed JSON at byte {at}: expected {expected}")]
    Malformed {
        /// The first byte that does not fit; the length of the text when it ends too early.
        at: usize,
        /// What the grammar wants there.
        expected: Expected,
    },
    /// Objects and arrays nest deeper than [`MAX_DEPTH`].
    #[error("nested deeper than {MAX_DEPTH} levels at byte {at}")]
    TooDeep {
        /// Where the level too many is opened.
        at: usize,
    },
    /// A number is too large for a double.
    #[error("number out of range at byte {at}")]
    OutOfRange {
        /// Where the number starts.
        at: usize,
    },
    /// More than [`MAX_MEMBERS`] members in an object that keeps a list of them.
    #[error("more than {MAX_MEMBERS} members at byte {at}")]
    TooManyMembers {
        /// Where the member too many starts.
        at: usize,
    },
    /// An object was asked for; the text is valid so far, and something else is there.
    #[error("expected an object at byte {at}, found {found}")]
    NotAnObject {
        /// Where the value starts.
        at: usize,
        /// What is there.
        found: Kind,
    },
    /// An array was asked for; the text is valid so far, and something else is there.
    #[error("expected an array at byte {at}, found {found}")]
    NotAnArray {
        /// Where the value starts.
        at: usize,
        /// What is there.
        found: Kind,
    },
    /// A [`Scanner`](crate::Scanner) was asked for something its place does not have, such as a name
    /// inside an array: a mistake of the caller, not of the text.
    #[error("scanner out of step at byte {at}")]
    OutOfStep {
        /// Where the scanner stands.
        at: usize,
    },
}

impl ScanError {
    /// The byte offset the error is about.
    #[must_use]
    pub fn at(&self) -> usize {
        match *self {
            Self::NotUtf8 { at }
            | Self::Malformed { at, .. }
            | Self::TooDeep { at }
            | Self::OutOfRange { at }
            | Self::TooManyMembers { at }
            | Self::NotAnObject { at, .. }
            | Self::NotAnArray { at, .. }
            | Self::OutOfStep { at } => at,
        }
    }
}

/// What the grammar wants where a text breaks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Expected {
    /// A value.
    Value,
    /// A name in quotes.
    Name,
    /// The colon after a name.
    Colon,
    /// A comma, or the end of the object or array.
    CommaOrEnd,
    /// The end of the text.
    End,
    /// A digit.
    Digit,
    /// `true`, `false` or `null`.
    Word,
    /// The quote that ends a string.
    ClosingQuote,
    /// An escape in place of a control character.
    NoControl,
    /// One of the letters of an escape.
    Escape,
    /// Four hexadecimal digits.
    HexDigits,
    /// The first half of a surrogate pair before this second half.
    HighSurrogate,
    /// The second half of a surrogate pair.
    LowSurrogate,
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Value => "a value",
            Self::Name => "a name",
            Self::Colon => "a colon",
            Self::CommaOrEnd => "a comma or the closing bracket",
            Self::End => "the end of the text",
            Self::Digit => "a digit",
            Self::Word => "true, false or null",
            Self::ClosingQuote => "a closing quote",
            Self::NoControl => "an escape in place of the control character",
            Self::Escape => "an escape",
            Self::HexDigits => "four hexadecimal digits",
            Self::HighSurrogate => "the first half of a surrogate pair",
            Self::LowSurrogate => "the second half of a surrogate pair",
        })
    }
}
