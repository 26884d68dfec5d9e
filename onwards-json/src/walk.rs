//! The grammar: a cursor over bytes known to be UTF-8, moved past what it reads.
//!
//! After an error the cursor stands at the first byte that does not fit; the error itself is one byte, so
//! that results travel in registers. Nesting is kept in a [`Nest`], one bit a level: nothing recurses.

use std::ops::Range;

use crate::{
    Expected, Kind, ScanError,
    block::{digits_end, long_plain_end, plain_end},
    numbers::proven_to,
};

/// How deep objects and arrays may nest: `[[1]]` is two levels.
pub const MAX_DEPTH: u32 = 127;

/// Numbers longer than this may be out of range even without an exponent, or with a short one.
const SAFE_LENGTH: usize = 200;
/// Exponents of this many digits are short.
const SHORT_EXPONENT: usize = 2;
/// So many numbers in a row are the beginning of a long list.
const SHORT_LIST: usize = 8;

/// What is wrong at the cursor's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrong {
    Expected(Expected),
    TooDeep,
    OutOfRange,
}

impl Wrong {
    #[cold]
    pub(crate) fn at(self, at: usize) -> ScanError {
        match self {
            Self::Expected(expected) => ScanError::Malformed { at, expected },
            Self::TooDeep => ScanError::TooDeep { at },
            Self::OutOfRange => ScanError::OutOfRange { at },
        }
    }
}

fn expected<T>(expected: Expected) -> Result<T, Wrong> {
    Err(Wrong::Expected(expected))
}

/// The open objects and arrays around a place, the innermost in the lowest bit (set for an object).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Nest {
    kinds: u128,
    pub(crate) depth: u32,
}

impl Nest {
    #[inline]
    pub(crate) fn open(&mut self, object: bool) -> Result<(), Wrong> {
        if self.depth >= MAX_DEPTH {
            return Err(Wrong::TooDeep);
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

/// A place in a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor<'t> {
    pub(crate) bytes: &'t [u8],
    pub(crate) at: usize,
    /// Whether white space was passed.
    pub(crate) spaced: bool,
}

impl Cursor<'_> {
    /// The byte at the cursor plus `ahead`; 0, which no grammar rule wants, past the end.
    #[inline]
    pub(crate) fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or_default()
    }

    /// Moves past white space and gives the byte then at the cursor, 0 at the end of the text.
    #[inline]
    pub(crate) fn space(&mut self) -> u8 {
        match self.byte(0) {
            byte if byte > b' ' => byte,
            _ => self.white(),
        }
    }

    #[inline(never)]
    fn white(&mut self) -> u8 {
        loop {
            match self.byte(0) {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                byte => return byte,
            }
            self.spaced = true;
        }
    }

    /// Moves past the value of that kind at the cursor, inside `nest`. True for a string with escapes and
    /// for a number with a fraction or an exponent.
    #[inline]
    pub(crate) fn value(&mut self, kind: Kind, nest: Nest) -> Result<bool, Wrong> {
        match kind {
            Kind::String => self.string(),
            Kind::Number => self.number(),
            Kind::Bool | Kind::Null => self.word().map(|()| false),
            Kind::Object | Kind::Array => self.container(nest).map(|()| false),
        }
    }

    /// Moves past the object or array at the cursor.
    #[inline(never)]
    fn container(&mut self, outer: Nest) -> Result<(), Wrong> {
        // A copy, so that the cursor can stay in registers.
        let mut cursor = *self;
        let result = cursor.walk(outer);
        *self = cursor;
        result
    }

    /// Past the name at the cursor plus `ahead` and the colon behind it, if there are no escapes in it
    /// and no space around it: what most names are like. `None` changes nothing.
    #[inline(always)]
    pub(crate) fn usual_name(&mut self, ahead: usize) -> Option<Range<usize>> {
        if self.byte(ahead) != b'"' {
            return None;
        }
        let start = self.at + ahead + 1;
        let end = plain_end(self.bytes, start);
        if self.bytes.get(end..)?.first_chunk() != Some(b"\":") {
            return None;
        }
        self.at = end + 2;
        Some(start..end)
    }

    #[inline]
    fn walk(&mut self, outer: Nest) -> Result<(), Wrong> {
        let mut nest = outer;
        loop {
            match self.space() {
                b'"' => self.string().map(drop)?,
                b'-' | b'0'..=b'9' if nest.in_object() => self.number().map(drop)?,
                b'-' | b'0'..=b'9' => self.numbers()?,
                b'{' => {
                    nest.open(true)?;
                    self.at += 1;
                    if self.space() != b'}' {
                        self.name()?;
                        self.colon()?;
                        continue;
                    }
                    nest.close();
                    self.at += 1;
                }
                b'[' => {
                    nest.open(false)?;
                    self.at += 1;
                    if self.space() != b']' {
                        continue;
                    }
                    nest.close();
                    self.at += 1;
                }
                b't' | b'f' | b'n' => self.word()?,
                _ => return expected(Expected::Value),
            }
            if self.close(&mut nest, outer.depth)? {
                return Ok(());
            }
        }
    }

    /// After a value: to the next value inside, or past the end of the outermost, which is true.
    #[inline]
    fn close(&mut self, nest: &mut Nest, depth: u32) -> Result<bool, Wrong> {
        while nest.depth != depth {
            match (self.space(), nest.in_object()) {
                (b',', false) => {
                    self.at += 1;
                    return Ok(false);
                }
                (b',', true) => {
                    self.at += 1;
                    self.space();
                    self.name()?;
                    self.colon()?;
                    return Ok(false);
                }
                (b'}', true) | (b']', false) => nest.close(),
                _ => return expected(Expected::CommaOrEnd),
            }
            self.at += 1;
        }
        Ok(true)
    }

    /// Moves past a name. True if it has escapes.
    #[inline]
    pub(crate) fn name(&mut self) -> Result<bool, Wrong> {
        if self.byte(0) == b'"' {
            self.string()
        } else {
            expected(Expected::Name)
        }
    }

    /// Moves past the colon after a name.
    #[inline]
    pub(crate) fn colon(&mut self) -> Result<(), Wrong> {
        if self.space() != b':' {
            return expected(Expected::Colon);
        }
        self.at += 1;
        Ok(())
    }

    /// Moves past the string at the cursor. True if it has escapes.
    #[inline]
    pub(crate) fn string(&mut self) -> Result<bool, Wrong> {
        self.at = plain_end(self.bytes, self.at + 1);
        if self.byte(0) == b'"' {
            self.at += 1;
            return Ok(false);
        }
        // A copy, so that this cursor can stay in registers.
        let mut cursor = *self;
        let result = cursor.escaped();
        self.at = cursor.at;
        result.map(|()| true)
    }

    /// The rest of a string, from the first byte that is not plain.
    #[inline(never)]
    fn escaped(&mut self) -> Result<(), Wrong> {
        loop {
            match self.byte(0) {
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                b'\\' => self.escape()?,
                _ if self.at < self.bytes.len() => return expected(Expected::NoControl),
                _ => return expected(Expected::ClosingQuote),
            }
            self.at = long_plain_end(self.bytes, self.at);
        }
    }

    /// Moves past an escape. Surrogates must come in pairs.
    #[inline]
    fn escape(&mut self) -> Result<(), Wrong> {
        match self.byte(1) {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {
                self.at += 2;
                return Ok(());
            }
            b'u' => self.at += 2,
            _ => {
                self.at += 1;
                return expected(Expected::Escape);
            }
        }
        match unit(self.bytes, self.at) {
            Some(0xD800..=0xDBFF) => {
                self.at += 4;
                let second = (self.byte(0), self.byte(1), unit(self.bytes, self.at + 2));
                let (b'\\', b'u', Some(0xDC00..=0xDFFF)) = second else {
                    return expected(Expected::LowSurrogate);
                };
                self.at += 6;
                Ok(())
            }
            Some(0xDC00..=0xDFFF) => expected(Expected::HighSurrogate),
            Some(_) => {
                self.at += 4;
                Ok(())
            }
            None => expected(Expected::HexDigits),
        }
    }

    /// Moves past `true`, `false` or `null`.
    #[inline]
    fn word(&mut self) -> Result<(), Wrong> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at += match rest.first_chunk::<4>() {
            Some(b"true" | b"null") => 4,
            Some(b"fals") if rest.get(4) == Some(&b'e') => 5,
            _ => return expected(Expected::Word),
        };
        Ok(())
    }

    /// Moves past a number. True if it has a fraction or an exponent.
    #[inline(never)]
    fn number(&mut self) -> Result<bool, Wrong> {
        let start = self.at;
        self.at += usize::from(self.byte(0) == b'-');
        match self.byte(0) {
            b'0' => self.at += 1,
            b'1'..=b'9' => self.at = digits_end(self.bytes, self.at + 1),
            _ => return expected(Expected::Digit),
        }
        let whole = self.at;
        if self.byte(0) == b'.' {
            self.at += 1;
            self.digits()?;
        }
        let mut exponent = 0;
        if matches!(self.byte(0), b'e' | b'E') {
            self.at += 1 + usize::from(matches!(self.byte(1), b'+' | b'-'));
            exponent = self.at;
            self.digits()?;
            exponent = self.at - exponent;
        }
        if exponent > SHORT_EXPONENT || self.at - start > SAFE_LENGTH {
            self.check_range(start)?;
        }
        Ok(self.at != whole)
    }

    /// Moves past the number at the cursor and those that follow it in an array.
    #[inline(never)]
    pub(crate) fn numbers(&mut self) -> Result<(), Wrong> {
        loop {
            for _ in 0..SHORT_LIST {
                self.number()?;
                if self.space() != b',' {
                    return Ok(());
                }
                let mut next = *self;
                next.at += 1;
                if !matches!(next.space(), b'-' | b'0'..=b'9') {
                    return Ok(());
                }
                *self = next;
            }
            self.at = proven_to(self.bytes, self.at);
        }
    }

    #[inline]
    fn digits(&mut self) -> Result<(), Wrong> {
        let end = digits_end(self.bytes, self.at);
        if end == self.at {
            return expected(Expected::Digit);
        }
        self.at = end;
        Ok(())
    }

    /// Whether a double can hold the number just passed: what rounds to infinity is refused.
    #[cold]
    fn check_range(&mut self, start: usize) -> Result<(), Wrong> {
        let digits = self.bytes.get(start..self.at).unwrap_or_default();
        let number = std::str::from_utf8(digits)
            .ok()
            .and_then(|digits| digits.parse::<f64>().ok());
        if number.is_some_and(f64::is_finite) {
            return Ok(());
        }
        self.at = start;
        Err(Wrong::OutOfRange)
    }
}

/// The kind of value that starts with a byte.
#[inline]
pub(crate) fn kind(byte: u8) -> Result<Kind, Wrong> {
    match KINDS.get(usize::from(byte)) {
        Some(Some(kind)) => Ok(*kind),
        _ => expected(Expected::Value),
    }
}

static KINDS: [Option<Kind>; 256] = kinds();

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, bounded by the table"
)]
const fn kinds() -> [Option<Kind>; 256] {
    let mut kinds = [None; 256];
    kinds[b'"' as usize] = Some(Kind::String);
    kinds[b'{' as usize] = Some(Kind::Object);
    kinds[b'[' as usize] = Some(Kind::Array);
    kinds[b't' as usize] = Some(Kind::Bool);
    kinds[b'f' as usize] = Some(Kind::Bool);
    kinds[b'n' as usize] = Some(Kind::Null);
    kinds[b'-' as usize] = Some(Kind::Number);
    let mut digit = b'0';
    while digit <= b'9' {
        kinds[digit as usize] = Some(Kind::Number);
        digit += 1;
    }
    kinds
}

/// The four hexadecimal digits at `at`.
pub(crate) fn unit(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..)?.first_chunk::<4>()?;
    digits.iter().try_fold(0, |unit, &digit| {
        Some(unit << 4 | char::from(digit).to_digit(16)?)
    })
}
