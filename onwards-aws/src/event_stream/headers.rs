//! The headers of a message: the length of a name in one byte, the name, the type of the value in one byte, the value. Values that
//! are bytes or text begin with their length in two.

use super::message::Unwritable;

/// Bytes.
const BYTES: u8 = 6;
/// Text in UTF-8.
const TEXT: u8 = 7;

/// Why a message cannot be read though its prelude could.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Defect {
    /// A name is longer than what is left of the headers.
    #[error("invalid header name length")]
    Name,
    /// A value is longer than what is left of the headers.
    #[error("invalid header value")]
    Value,
    /// A value of a type that there is not.
    #[error("invalid header value type: {0}")]
    Type(u8),
    /// The headers are longer than the message, or too short to be any.
    #[error("invalid headers length")]
    Length,
    /// A name or a text is not UTF-8.
    #[error("encountered invalid UTF-8 string")]
    Encoding,
    /// Bytes were changed on their way.
    #[error("the message has another checksum")]
    Checksum,
}

/// Goes through headers: names, and the values that are text. Ends after the first defect.
#[derive(Debug)]
pub(super) struct Headers<'a>(&'a [u8]);

impl<'a> Headers<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    fn header(&mut self) -> Result<(&'a str, Option<&'a str>), Defect> {
        if self.0.len() < 2 {
            return Err(Defect::Length);
        }
        let [length] = self.array().ok_or(Defect::Length)?;
        let name = self.take(usize::from(length)).ok_or(Defect::Name)?;
        let [value_type] = self.array().ok_or(Defect::Name)?;
        let name = str::from_utf8(name).map_err(|_| Defect::Encoding)?;
        let size = match value_type {
            0 | 1 => 0,
            2 => 1,
            3 => 2,
            4 => 4,
            5 | 8 => 8,
            9 => 16,
            BYTES | TEXT => usize::from(u16::from_be_bytes(self.array().ok_or(Defect::Value)?)),
            other => return Err(Defect::Type(other)),
        };
        let value = self.take(size).ok_or(Defect::Value)?;
        if value_type != TEXT {
            return Ok((name, None));
        }
        let text = str::from_utf8(value).map_err(|_| Defect::Encoding)?;
        Ok((name, Some(text)))
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (front, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(front)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (front, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*front)
    }
}

impl<'a> Iterator for Headers<'a> {
    type Item = Result<(&'a str, Option<&'a str>), Defect>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let header = self.header();
        if header.is_err() {
            self.0 = &[];
        }
        Some(header)
    }
}

/// Appends a header that is text.
pub(super) fn write(name: &str, value: &str, out: &mut Vec<u8>) -> Result<(), Unwritable> {
    out.push(u8::try_from(name.len()).map_err(|_| Unwritable)?);
    out.extend_from_slice(name.as_bytes());
    out.push(TEXT);
    let length = u16::try_from(value.len()).map_err(|_| Unwritable)?;
    out.extend(length.to_be_bytes());
    out.extend_from_slice(value.as_bytes());
    Ok(())
}
