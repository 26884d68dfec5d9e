//! The head of an answer: status line, fields, and what they say about the body and the connection (RFC 9112, 4 to 6, 9.3).

use std::mem::MaybeUninit;

use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{HeaderMap, Method, StatusCode, Version};

use crate::body::Framing;

/// The most fields of a head.
pub const MAX_FIELDS: usize = 256;
/// The most bytes of a head, its final empty line included.
pub const MAX_HEAD_BYTES: usize = 256 * 1024;

/// The head of an answer.
#[derive(Debug)]
pub struct Head {
    /// The status; never interim, except 101.
    pub status: StatusCode,
    /// HTTP/1.0 or HTTP/1.1, as the provider wrote it.
    pub version: Version,
    /// The reason phrase, where it is not the usual one of the status.
    pub reason: Option<Bytes>,
    /// The fields in order, with every repetition. A `content-length` beside a transfer coding is left out, and one that is said
    /// several times or with leading zeros is one plain number (RFC 9112, 6.3).
    pub headers: HeaderMap,
    /// How the body is framed.
    pub framing: Framing,
    /// The connection may carry another request once the body has been read.
    pub persistent: bool,
}

/// A head that cannot be taken as it stands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HeadError {
    /// It is no HTTP/1.x head.
    #[error("the head is malformed: {0}")]
    Malformed(&'static str),
    /// It is longer than [`MAX_HEAD_BYTES`].
    #[error("the head is longer than {MAX_HEAD_BYTES} bytes")]
    TooLong,
    /// It has more than [`MAX_FIELDS`] fields.
    #[error("the head has more than {MAX_FIELDS} fields")]
    TooManyFields,
    /// `content-length` is no number, or several that differ (RFC 9112, 6.3).
    #[error("content-length is ambiguous or no number")]
    Length,
    /// A transfer coding other than `chunked`, or one in HTTP/1.0 (RFC 9112, 6.1).
    #[error("the transfer coding is not understood")]
    Coding,
}

/// Reads the head at the start of `bytes`, the answer to a request with this method. `None`: it is not whole yet. The number
/// is the head's length.
///
/// Interim answers (1xx) are heads like others: [`is_interim`] tells those that another one follows.
///
/// # Errors
/// See [`HeadError`]; none of them goes away with more bytes.
pub fn head(bytes: &[u8], asked: &Method) -> Result<Option<(Head, usize)>, HeadError> {
    Ok(read(bytes, asked)?.map(|(parsed, length)| (parsed.head, length)))
}

/// A head, and what it was parsed from.
pub(crate) struct Parsed {
    pub(crate) head: Head,
    /// What its values are slices of.
    pub(crate) text: Bytes,
    /// All fields are as they came: no length was left out or spelt anew.
    pub(crate) as_written: bool,
}

/// Reads a head as [`head`] does.
pub(crate) fn read(bytes: &[u8], asked: &Method) -> Result<Option<(Parsed, usize)>, HeadError> {
    begins_well(bytes)?;
    let searched = bytes.get(..MAX_HEAD_BYTES).unwrap_or(bytes);
    let Some(length) = end_of_head(searched) else {
        return if bytes.len() >= MAX_HEAD_BYTES {
            Err(HeadError::TooLong)
        } else {
            Ok(None)
        };
    };
    let text = Bytes::copy_from_slice(bytes.get(..length).unwrap_or_default());
    let (head, as_written) = parse(&text, asked)?;
    let parsed = Parsed {
        head,
        text,
        as_written,
    };
    Ok(Some((parsed, length)))
}

/// Whether a head with this status is followed by another one (RFC 9110, 15.2): 1xx, except the switch of protocols.
#[must_use]
pub fn is_interim(status: StatusCode) -> bool {
    status.is_informational() && status != StatusCode::SWITCHING_PROTOCOLS
}

/// Where a head ends: after the first empty line. A line feed alone ends a line, too (RFC 9112, 2.2).
fn end_of_head(bytes: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'\n', bytes).find_map(|at| {
        let rest = bytes.get(at + 1..).unwrap_or_default();
        match rest {
            [b'\n', ..] => Some(at + 2),
            [b'\r', b'\n', ..] => Some(at + 3),
            _ => None,
        }
    })
}

/// What does not begin like HTTP/1.x is said to be so without waiting for its end.
fn begins_well(bytes: &[u8]) -> Result<(), HeadError> {
    const START: &[u8] = b"HTTP/1.";
    let begun = bytes.len().min(START.len());
    if bytes.get(..begun) == START.get(..begun) {
        Ok(())
    } else {
        Err(HeadError::Malformed("no HTTP/1.x status line"))
    }
}

/// The head in a text that ends with it, and whether its fields are as they came.
fn parse(text: &Bytes, asked: &Method) -> Result<(Head, bool), HeadError> {
    let mut room = [const { MaybeUninit::uninit() }; MAX_FIELDS];
    let mut parsed = httparse::Response::new(&mut []);
    let outcome = httparse::ParserConfig::default()
        .parse_response_with_uninit_headers(&mut parsed, text, &mut room)
        .map_err(|error| match error {
            httparse::Error::TooManyHeaders => HeadError::TooManyFields,
            httparse::Error::HeaderName => HeadError::Malformed("a field name"),
            httparse::Error::HeaderValue => HeadError::Malformed("a field value"),
            httparse::Error::NewLine => HeadError::Malformed("a line end"),
            httparse::Error::Status => HeadError::Malformed("the status line"),
            httparse::Error::Version => HeadError::Malformed("the version"),
            httparse::Error::Token => HeadError::Malformed("a character"),
        })?;
    if outcome != httparse::Status::Complete(text.len()) {
        return Err(HeadError::Malformed("an empty line too early"));
    }
    let status = parsed
        .code
        .and_then(|code| StatusCode::from_u16(code).ok())
        .ok_or(HeadError::Malformed("the status"))?;
    let version = match parsed.version {
        Some(0) => Version::HTTP_10,
        _ => Version::HTTP_11,
    };
    let reason = parsed
        .reason
        .filter(|reason| Some(*reason) != status.canonical_reason() && !reason.is_empty())
        .map(|reason| text.slice_ref(reason.as_bytes()));
    let mut headers = HeaderMap::with_capacity(parsed.headers.len());
    for field in parsed.headers.iter() {
        let name = HeaderName::from_bytes(field.name.as_bytes())
            .map_err(|_| HeadError::Malformed("a field name"))?;
        let value = HeaderValue::from_maybe_shared(text.slice_ref(field.value))
            .map_err(|_| HeadError::Malformed("a field value"))?;
        headers
            .try_append(name, value)
            .map_err(|_| HeadError::TooManyFields)?;
    }
    let mut head = Head {
        status,
        version,
        reason,
        headers,
        framing: Framing::Empty,
        persistent: false,
    };
    let as_written = frame(&mut head, asked)?;
    Ok((head, as_written))
}

/// How the body is framed (RFC 9112, 6.3), and whether the connection outlives it (9.3). True if no field had to be changed.
fn frame(head: &mut Head, asked: &Method) -> Result<bool, HeadError> {
    let mut as_written = true;
    let coded = head.headers.contains_key(header::TRANSFER_ENCODING);
    if coded && (head.version == Version::HTTP_10 || !is_chunked(&head.headers)) {
        return Err(HeadError::Coding);
    }
    let length = length(&head.headers)?;
    head.persistent = persists(head);
    if coded && head.headers.remove(header::CONTENT_LENGTH).is_some() {
        // The coding counts, and what else was sent on this connection is not to be trusted.
        head.persistent = false;
        as_written = false;
    }
    if let Some(length) = length
        && !coded
        && !is_plain(&head.headers)
    {
        head.headers.insert(header::CONTENT_LENGTH, length.into());
        as_written = false;
    }
    if head.status == StatusCode::SWITCHING_PROTOCOLS {
        head.persistent = false; // what follows is no HTTP any more
    }
    head.framing = if asked == Method::HEAD || has_no_body(head.status) {
        Framing::Empty
    } else if coded {
        Framing::Chunked
    } else if let Some(length) = length {
        Framing::Length(length)
    } else {
        head.persistent = false;
        Framing::Close
    };
    Ok(as_written)
}

fn has_no_body(status: StatusCode) -> bool {
    status.is_informational()
        || status == StatusCode::NO_CONTENT
        || status == StatusCode::NOT_MODIFIED
}

/// The only transfer coding that is understood, once and alone.
fn is_chunked(headers: &HeaderMap) -> bool {
    let mut codings = headers.get_all(header::TRANSFER_ENCODING).iter();
    let only = codings.next().is_some_and(|coding| {
        coding
            .as_bytes()
            .trim_ascii()
            .eq_ignore_ascii_case(b"chunked")
    });
    only && codings.next().is_none()
}

/// The length that all `content-length` fields agree on.
fn length(headers: &HeaderMap) -> Result<Option<u64>, HeadError> {
    let mut agreed = None;
    for value in headers.get_all(header::CONTENT_LENGTH) {
        for part in value.as_bytes().split(|&byte| byte == b',') {
            let part = digits(part.trim_ascii()).ok_or(HeadError::Length)?;
            if agreed.is_some_and(|agreed| agreed != part) {
                return Err(HeadError::Length);
            }
            agreed = Some(part);
        }
    }
    Ok(agreed)
}

/// Whether the length is said once, as everybody writes it.
fn is_plain(headers: &HeaderMap) -> bool {
    let mut lengths = headers.get_all(header::CONTENT_LENGTH).iter();
    let plain = lengths
        .next()
        .is_some_and(|length| plain_length(length.as_bytes()).is_some());
    plain && lengths.next().is_none()
}

/// The length that a field says as everybody writes it: digits alone, none of them a leading zero.
pub(crate) fn plain_length(value: &[u8]) -> Option<u64> {
    if matches!(value, [b'0', _, ..]) {
        return None;
    }
    digits(value)
}

/// A number of decimal digits alone.
fn digits(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0_u64, |number, &byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

fn persists(head: &Head) -> bool {
    let says = |option: &[u8]| {
        head.headers
            .get_all(header::CONNECTION)
            .iter()
            .flat_map(|value| value.as_bytes().split(|&byte| byte == b','))
            .any(|said| said.trim_ascii().eq_ignore_ascii_case(option))
    };
    if head.version == Version::HTTP_10 {
        says(b"keep-alive") && !says(b"close")
    } else {
        !says(b"close")
    }
}

#[cfg(test)]
mod tests;
