//! The grammar: from a place in the text to the end of what starts there.
//!
//! All functions take the text as bytes that are known to be UTF-8 and return the index after what they
//! read. Nesting is kept in a [`Nest`], one bit a level, so nothing recurses.

use crate::{
    Kind, ScanError,
    block::{digits_end, plain_end},
    error::malformed,
};

/// How deep objects and arrays may nest: `[[1]]` is two levels.
pub const MAX_DEPTH: u32 = 127;

/// Numbers with more digits than this may be out of range even without an exponent.
const SAFE_DIGITS: usize = 300;

/// The open objects and arrays around a place, the innermost in the lowest bit (set for an object).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Nest {
    kinds: u128,
    pub(crate) depth: u32,
}

impl Nest {
    #[inline]
    pub(crate) fn open(&mut self, object: bool, at: usize) -> Result<(), ScanError> {
        if self.depth >= MAX_DEPTH {
            return Err(ScanError::TooDeep { at });
        }
        self.depth += 1;
        self.kinds = (self.kinds << 1) | u128::from(object);
        Ok(())
    }

    #[inline]
    pub(crate) fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.kinds >>= 1;
    }

    #[inline]
    pub(crate) fn in_object(&self) -> bool {
        self.kinds & 1 == 1
    }
}

/// Where a value ends, and whether it is a string with escapes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    pub(crate) at: usize,
    pub(crate) escaped: bool,
}

/// Skips white space: the index of the next byte that is none, and that byte.
#[inline]
pub(crate) fn space(bytes: &[u8], mut at: usize) -> (usize, Option<u8>) {
    loop {
        match bytes.get(at) {
            Some(b' ' | b'\n' | b'\r' | b'\t') => at += 1,
            other => return (at, other.copied()),
        }
    }
}

/// The kind of value a byte starts.
#[inline]
pub(crate) fn kind(byte: Option<u8>, at: usize) -> Result<Kind, ScanError> {
    Ok(match byte {
        Some(b'"') => Kind::String,
        Some(b'{') => Kind::Object,
        Some(b'[') => Kind::Array,
        Some(b'-' | b'0'..=b'9') => Kind::Number,
        Some(b't' | b'f') => Kind::Bool,
        Some(b'n') => Kind::Null,
        _ => return malformed(at, "a value"),
    })
}

/// Validates the value of that kind starting at `at`, inside `nest`.
pub(crate) fn value(bytes: &[u8], at: usize, kind: Kind, nest: Nest) -> Result<End, ScanError> {
    match kind {
        Kind::Object | Kind::Array => {
            container(bytes, at, kind, nest).map(|at| End { at, escaped: false })
        }
        Kind::String => string(bytes, at + 1),
        scalar => literal_or_number(bytes, at, scalar).map(|at| End { at, escaped: false }),
    }
}

fn container(bytes: &[u8], start: usize, kind: Kind, outer: Nest) -> Result<usize, ScanError> {
    let mut nest = outer;
    let (mut at, mut kind) = (start, kind);
    loop {
        at = match kind {
            Kind::Object | Kind::Array => {
                nest.open(kind == Kind::Object, at)?;
                let (inside, byte) = space(bytes, at + 1);
                match (nest.in_object(), byte) {
                    (true, Some(b'}')) | (false, Some(b']')) => {
                        nest.close();
                        inside + 1
                    }
                    (true, _) => {
                        (at, kind) = past_name(bytes, inside)?;
                        continue;
                    }
                    (false, byte) => {
                        (at, kind) = (inside, self::kind(byte, inside)?);
                        continue;
                    }
                }
            }
            Kind::String => string(bytes, at + 1)?.at,
            scalar => literal_or_number(bytes, at, scalar)?,
        };
        loop {
            if nest.depth == outer.depth {
                return Ok(at);
            }
            let (here, byte) = space(bytes, at);
            match byte {
                Some(b',') => {
                    let (next, byte) = space(bytes, here + 1);
                    (at, kind) = if nest.in_object() {
                        past_name(bytes, next)?
                    } else {
                        (next, self::kind(byte, next)?)
                    };
                    break;
                }
                Some(b'}') if nest.in_object() => nest.close(),
                Some(b']') if !nest.in_object() => nest.close(),
                _ => return malformed(here, "a comma or the closing bracket"),
            }
            at = here + 1;
        }
    }
}

/// From a name to the value after its colon.
fn past_name(bytes: &[u8], at: usize) -> Result<(usize, Kind), ScanError> {
    let (_, at) = name(bytes, at)?;
    let (at, byte) = space(bytes, at);
    Ok((at, kind(byte, at)?))
}

/// A name, and the index after its colon.
#[inline]
pub(crate) fn name(bytes: &[u8], at: usize) -> Result<(End, usize), ScanError> {
    if bytes.get(at) != Some(&b'"') {
        return malformed(at, "a name");
    }
    let end = string(bytes, at + 1)?;
    match space(bytes, end.at) {
        (colon, Some(b':')) => Ok((end, colon + 1)),
        (at, _) => malformed(at, "a colon"),
    }
}

/// The rest of a string whose opening quote stands before `at`.
#[inline]
pub(crate) fn string(bytes: &[u8], at: usize) -> Result<End, ScanError> {
    let at = plain_end(bytes, at);
    match bytes.get(at) {
        Some(b'"') => Ok(End {
            at: at + 1,
            escaped: false,
        }),
        _ => escaped_string(bytes, at).map(|at| End { at, escaped: true }),
    }
}

fn escaped_string(bytes: &[u8], mut at: usize) -> Result<usize, ScanError> {
    loop {
        at = match bytes.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => escape(bytes, at)?,
            Some(_) => return malformed(at, "an escape in place of the control character"),
            None => return malformed(at, "a closing quote"),
        };
        at = plain_end(bytes, at);
    }
}

/// An escape whose backslash stands at `at`. Surrogates must come in pairs.
#[inline]
fn escape(bytes: &[u8], at: usize) -> Result<usize, ScanError> {
    match bytes.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => match unit(bytes, at + 2) {
            None => malformed(at + 2, "four hexadecimal digits"),
            Some(0xD800..=0xDBFF) => {
                let low = bytes.get(at + 6..at + 8).filter(|low| *low == br"\u");
                match low.and_then(|_| unit(bytes, at + 8)) {
                    Some(0xDC00..=0xDFFF) => Ok(at + 12),
                    _ => malformed(at + 6, "the other half of a surrogate pair"),
                }
            }
            Some(0xDC00..=0xDFFF) => malformed(at, "the first half of a surrogate pair"),
            Some(_) => Ok(at + 6),
        },
        _ => malformed(at + 1, "an escape"),
    }
}

/// The four hexadecimal digits at `at`.
pub(crate) fn unit(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..)?.first_chunk::<4>()?;
    digits.iter().try_fold(0, |unit, &digit| {
        Some(unit << 4 | char::from(digit).to_digit(16)?)
    })
}

#[inline]
fn literal_or_number(bytes: &[u8], at: usize, kind: Kind) -> Result<usize, ScanError> {
    if kind == Kind::Number {
        return number(bytes, at);
    }
    let rest = bytes.get(at..).unwrap_or_default();
    for word in ["true", "false", "null"] {
        if rest.starts_with(word.as_bytes()) {
            return Ok(at + word.len());
        }
    }
    malformed(at, "true, false or null")
}

#[inline]
fn number(bytes: &[u8], start: usize) -> Result<usize, ScanError> {
    let whole = start + usize::from(bytes.get(start) == Some(&b'-'));
    let mut at = match bytes.get(whole) {
        Some(b'0') => whole + 1,
        Some(b'1'..=b'9') => digits_end(bytes, whole + 1),
        _ => return malformed(whole, "a digit"),
    };
    if bytes.get(at) == Some(&b'.') {
        at = some_digits(bytes, at + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        at = some_digits(bytes, at + 1 + sign)?;
        return in_range(bytes, start, at);
    }
    if at - start > SAFE_DIGITS {
        return in_range(bytes, start, at);
    }
    Ok(at)
}

#[inline]
fn some_digits(bytes: &[u8], at: usize) -> Result<usize, ScanError> {
    let end = digits_end(bytes, at);
    if end == at {
        malformed(at, "a digit")
    } else {
        Ok(end)
    }
}

/// Whether a double can hold the number: what is infinite after rounding is refused.
fn in_range(bytes: &[u8], start: usize, end: usize) -> Result<usize, ScanError> {
    let text = bytes
        .get(start..end)
        .and_then(|number| std::str::from_utf8(number).ok());
    match text.and_then(|number| number.parse::<f64>().ok()) {
        Some(number) if number.is_finite() => Ok(end),
        _ => Err(ScanError::OutOfRange { at: start }),
    }
}
