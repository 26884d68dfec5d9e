//! Strings: their text between the quotes, decoded when asked, and quoting.

use std::{borrow::Cow, ops::Range};

use crate::walk::{Cursor, unit};

/// A string or name inside a valid text, not yet decoded.
#[derive(Debug, Clone, Copy)]
pub struct Text<'a> {
    /// The whole text; slices of it are made when asked for, which the scan need not pay.
    text: &'a str,
    start: usize,
    end: usize,
    escaped: bool,
}

impl<'a> Text<'a> {
    /// The string whose inside is `start..end` of `text`.
    #[inline]
    pub(crate) fn new(text: &'a str, start: usize, end: usize, escaped: bool) -> Self {
        Self {
            text,
            start,
            end,
            escaped,
        }
    }

    /// What stands between the quotes, escapes as they are.
    #[must_use]
    #[inline]
    pub fn raw(&self) -> &'a str {
        self.text.get(self.start..self.end).unwrap_or_default()
    }

    /// Where it stands in the whole text, quotes included.
    #[must_use]
    #[inline]
    pub fn span(&self) -> Range<usize> {
        self.start - 1..self.end + 1
    }

    /// Whether there are escapes in it.
    #[must_use]
    #[inline]
    pub fn is_escaped(&self) -> bool {
        self.escaped
    }

    /// The first 16 bytes of what stands between the quotes, the first one lowest, zeros behind a shorter
    /// string: what it takes to choose among many [keys](crate::Key) without comparing each.
    #[must_use]
    #[inline]
    pub fn head(&self) -> u128 {
        let rest = self.text.as_bytes().get(self.start..);
        match (
            rest.and_then(<[u8]>::first_chunk),
            HEADS.get(self.end - self.start),
        ) {
            (Some(block), Some(mask)) => u128::from_le_bytes(*block) & mask,
            (Some(block), None) => u128::from_le_bytes(*block),
            (None, _) => late_head(self.raw()),
        }
    }

    /// The string it means. Borrowed, at no cost, unless it holds an escape.
    #[must_use]
    #[inline]
    pub fn decoded(&self) -> Cow<'a, str> {
        if self.escaped {
            Cow::Owned(decode(self.raw()))
        } else {
            Cow::Borrowed(self.raw())
        }
    }

    /// Whether it means `other`: `m\u006fdel` is `model`.
    #[must_use]
    #[inline]
    pub fn is(&self, other: &str) -> bool {
        if self.escaped {
            decode(self.raw()) == other
        } else {
            self.text.as_bytes().get(self.start..self.end) == Some(other.as_bytes())
        }
    }
}

/// Of a string too near to the end of its text to be read by a block.
#[inline(never)]
fn late_head(raw: &str) -> u128 {
    crate::key::head(raw)
}

/// Ones in so many bytes, the lowest ones.
#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, bounded by the loop"
)]
static HEADS: [u128; 16] = {
    let (mut heads, mut len) = ([0; 16], 0);
    while len < heads.len() {
        heads[len] = (1 << (8 * len)) - 1;
        len += 1;
    }
    heads
};

/// Decodes a valid string. What could not be an escape is kept as it is.
pub(crate) fn decode(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((plain, escape)) = rest.split_once('\\') {
        out.push_str(plain);
        let (decoded, len) = decode_escape(escape);
        out.push(decoded);
        rest = escape.get(len..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// The character an escape means and its length, the backslash not counted.
fn decode_escape(escape: &str) -> (char, usize) {
    let bytes = escape.as_bytes();
    let simple = |c| (c, 1);
    match bytes.first() {
        Some(b'b') => simple('\u{8}'),
        Some(b'f') => simple('\u{c}'),
        Some(b'n') => simple('\n'),
        Some(b'r') => simple('\r'),
        Some(b't') => simple('\t'),
        Some(b'u') => match (unit(bytes, 1), unit(bytes, 7)) {
            (Some(high @ 0xD800..=0xDBFF), Some(low @ 0xDC00..=0xDFFF)) => {
                let joined = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                (
                    char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER),
                    11,
                )
            }
            (Some(alone), _) => (
                char::from_u32(alone).unwrap_or(char::REPLACEMENT_CHARACTER),
                5,
            ),
            (None, _) => simple('u'),
        },
        Some(&other) if other.is_ascii() => simple(char::from(other)),
        _ => ('\\', 0),
    }
}

/// The length of the string that a text begins with, quotes included, if it begins with a valid one; what
/// follows is not looked at.
///
/// ```
/// assert_eq!(onwards_json::string_len(br#""a\n", "b""#), Some(5));
/// assert_eq!(onwards_json::string_len(b"5"), None);
/// ```
#[must_use]
pub fn string_len(text: &[u8]) -> Option<usize> {
    let mut cursor = Cursor {
        bytes: text,
        at: 0,
        spaced: false,
    };
    cursor.name().ok()?;
    let string = text.get(..cursor.at)?;
    simdutf8::basic::from_utf8(string).ok()?;
    Some(cursor.at)
}

/// The JSON string literal that means `text`, quotes included.
#[must_use]
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    quote_into(text, &mut out);
    out
}

/// Appends the JSON string literal that means `text` to `out`.
pub fn quote_into(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    loop {
        let end = crate::block::plain_end(rest.as_bytes(), 0);
        let Some((plain, from)) = rest.split_at_checked(end) else {
            break;
        };
        out.push_str(plain);
        let mut chars = from.chars();
        let Some(stop) = chars.next() else { break };
        push_escaped(stop, out);
        rest = chars.as_str();
    }
    out.push('"');
}

fn push_escaped(c: char, out: &mut String) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        control => {
            out.push_str("\\u00");
            for shift in [4, 0] {
                out.push(char::from_digit((control as u32 >> shift) & 0xF, 16).unwrap_or('0'));
            }
        }
    }
}

#[cfg(test)]
mod tests;
