//! Heads that look like one before: read by comparison, not parsed.
//!
//! The answers of one provider have the same fields in the same order, and most of the values are the same, too. So a head is
//! first compared, line by line, with those last read. A line that is the same byte for byte has the same name and value. Where
//! the same name is followed by another value, that alone is read. Everything else, a line more or less, another status or
//! method, a folded line, another end of a line, and every value that decides how the body is framed, other than one plain
//! length, is left to [`head`](crate::head()), whose word counts: what is recalled is what it would have said
//! (`tests/properties.rs`).
//!
//! Worked case: 15 fields of which the date, a request id and a length differ. 12 lines are compared, three values checked,
//! and the map of the earlier head is cloned: no name is hashed or allocated.

use std::fmt;
use std::ops::Range;

use bytes::Bytes;
use http::header::{self, HeaderValue};
use http::{HeaderMap, Method, StatusCode, Version};

use crate::body::Framing;
use crate::head::{Head, HeadError, Parsed, plain_length, read};

/// The most bytes of a head that is remembered.
pub const MOST_RECALLED_BYTES: usize = 4096;
/// The most fields of a head that is remembered.
pub const MOST_RECALLED_FIELDS: usize = 64;
/// How many heads are remembered: answers in one piece, streams and errors take turns.
const MOST_HEADS: usize = 4;
/// The most values in which a head may differ from a remembered one.
const MOST_CHANGES: usize = 16;
/// After so many heads in a row that were like none before, only a few of the next are remembered.
const MOST_MISSES: u32 = 16;

/// Reads heads, and remembers the last ones: for the answers of one provider.
///
/// It keeps at most four heads, of at most [`MOST_RECALLED_BYTES`] bytes and [`MOST_RECALLED_FIELDS`] fields each.
#[derive(Default)]
pub struct Recall {
    /// The one recalled last comes first.
    heads: Vec<Remembered>,
    /// Heads in a row that were parsed.
    misses: u32,
}

impl Recall {
    /// Reads the head at the start of `bytes` as [`head`](crate::head()) does, with the same outcome for every input.
    ///
    /// # Errors
    /// See [`HeadError`]; none of them goes away with more bytes.
    pub fn head(
        &mut self,
        bytes: &[u8],
        asked: &Method,
    ) -> Result<Option<(Head, usize)>, HeadError> {
        let bodiless = asked == Method::HEAD;
        let near = bytes.get(..MOST_RECALLED_BYTES).unwrap_or(bytes);
        for (place, remembered) in self.heads.iter().enumerate() {
            if remembered.bodiless == bodiless
                && let Some(recalled) = remembered.recall(near)
            {
                self.heads.swap(0, place);
                self.misses = 0;
                return Ok(Some(recalled));
            }
        }
        let Some((parsed, length)) = read(bytes, asked)? else {
            return Ok(None);
        };
        self.misses = self.misses.saturating_add(1);
        if (self.misses <= MOST_MISSES || self.misses.is_power_of_two())
            && let Some(remembered) = Remembered::new(&parsed, bodiless)
        {
            self.heads.truncate(MOST_HEADS - 1);
            self.heads.insert(0, remembered);
        }
        Ok(Some((parsed.head, length)))
    }
}

impl fmt::Debug for Recall {
    /// How many heads there are; values may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recall")
            .field("heads", &self.heads.len())
            .finish_non_exhaustive()
    }
}

/// A head as it came and what it was parsed to.
struct Remembered {
    text: Bytes,
    /// The lines of the text in order, the final empty one included.
    lines: Vec<Line>,
    /// It answered a request that no body answers.
    bodiless: bool,
    status: StatusCode,
    version: Version,
    reason: Option<Bytes>,
    headers: HeaderMap,
    framing: Framing,
    persistent: bool,
}

struct Line {
    /// Its length, line end included.
    length: usize,
    /// The length of its name and the colon.
    name: usize,
    /// Which of the map's values, in the map's order, is its.
    place: usize,
    may: May,
}

/// How a line may differ.
#[derive(Clone, Copy, PartialEq, Eq)]
enum May {
    /// Not at all.
    Not,
    /// In its value.
    Differ,
    /// In its value, which is the body's length.
    Tell,
}

/// A value that differs from the remembered one.
#[derive(Clone, Copy, Default)]
struct Change {
    place: usize,
    start: usize,
    end: usize,
}

impl Remembered {
    /// `None` if the head is too large, or is not passed on as it came.
    fn new(parsed: &Parsed, bodiless: bool) -> Option<Self> {
        let Parsed {
            head,
            text,
            as_written,
        } = parsed;
        if !as_written
            || text.len() > MOST_RECALLED_BYTES
            || head.headers.len() > MOST_RECALLED_FIELDS
        {
            return None;
        }
        Some(Self {
            text: text.clone(),
            lines: lines(text, &head.headers)?,
            bodiless,
            status: head.status,
            version: head.version,
            reason: head.reason.clone(),
            headers: head.headers.clone(),
            framing: head.framing,
            persistent: head.persistent,
        })
    }

    /// The head at the start of `bytes`, if it is like this one.
    fn recall(&self, bytes: &[u8]) -> Option<(Head, usize)> {
        let mut changes = [Change::default(); MOST_CHANGES];
        let mut changed = 0;
        let mut framing = self.framing;
        let (mut told, mut at) = (self.text.as_ref(), 0);
        for line in &self.lines {
            let (before, behind) = told.split_at_checked(line.length)?;
            told = behind;
            let rest = bytes.get(at..)?;
            if rest.starts_with(before) {
                at += line.length;
                continue;
            }
            if line.may == May::Not || !rest.starts_with(before.get(..line.name)?) {
                return None;
            }
            let (value, next) = value(bytes, at + line.name)?;
            if line.may == May::Tell {
                let length = plain_length(bytes.get(value.clone())?)?;
                framing = match framing {
                    Framing::Length(_) => Framing::Length(length),
                    Framing::Empty => Framing::Empty,
                    Framing::Chunked | Framing::Close => return None,
                };
            }
            *changes.get_mut(changed)? = Change {
                place: line.place,
                start: value.start,
                end: value.end,
            };
            changed += 1;
            at = next;
        }
        let mut headers = self.headers.clone();
        put(changes.get_mut(..changed)?, bytes, &mut headers)?;
        let head = Head {
            status: self.status,
            version: self.version,
            reason: self.reason.clone(),
            headers,
            framing,
            persistent: self.persistent,
        };
        Some((head, at))
    }
}

/// The lines of a head that was parsed.
fn lines(text: &[u8], headers: &HeaderMap) -> Option<Vec<Line>> {
    let mut rest = text.split_inclusive(|&byte| byte == b'\n');
    let mut lines = Vec::with_capacity(headers.len() + 2);
    let whole = |line: &[u8]| Line {
        length: line.len(),
        name: 0,
        place: 0,
        may: May::Not,
    };
    lines.push(whole(rest.next()?)); // the status line
    let mut names = Vec::with_capacity(headers.len());
    for line in rest {
        let Some(colon) = memchr::memchr(b':', line) else {
            lines.push(whole(line)); // the empty line
            continue;
        };
        let name = line.get(..colon)?;
        let is = |other: &header::HeaderName| name.eq_ignore_ascii_case(other.as_str().as_bytes());
        let may = if is(&header::CONTENT_LENGTH) {
            May::Tell
        } else if is(&header::TRANSFER_ENCODING) || is(&header::CONNECTION) {
            May::Not
        } else {
            May::Differ
        };
        lines.push(Line {
            length: line.len(),
            name: colon + 1,
            place: names.len(),
            may,
        });
        names.push(name);
    }
    if names.len() != headers.len() || lines.len() != headers.len() + 2 {
        return None;
    }
    if headers.keys_len() != headers.len() {
        // The map has the values of a repeated name where that stands first.
        let order = headers.keys().flat_map(|key| {
            let named =
                |(_, name): &(usize, &&[u8])| name.eq_ignore_ascii_case(key.as_str().as_bytes());
            names.iter().enumerate().filter(named)
        });
        for (place, (line, _)) in order.enumerate() {
            lines.get_mut(line + 1)?.place = place;
        }
    }
    Some(lines)
}

/// The value in the rest of a line, which begins there, and where the next line does. `None` unless the line ends as it should.
fn value(bytes: &[u8], from: usize) -> Option<(Range<usize>, usize)> {
    let rest = bytes.get(from..)?;
    let end = memchr::memchr(b'\n', rest)?;
    let line = rest.get(..end)?.strip_suffix(b"\r")?;
    let space = |byte: &u8| matches!(byte, b' ' | b'\t');
    let first = line
        .iter()
        .position(|byte| !space(byte))
        .unwrap_or(line.len());
    let last = line
        .iter()
        .rposition(|byte| !space(byte))
        .map_or(first, |last| last + 1);
    Some((from + first..from + last, from + end + 1))
}

/// Puts the values that changed in their places. `None` if one is not to be had in a field.
fn put(changes: &mut [Change], bytes: &[u8], headers: &mut HeaderMap) -> Option<()> {
    let [Change { start: first, .. }, ..] = *changes else {
        return Some(());
    };
    let last = changes.last()?.end;
    let run = Bytes::copy_from_slice(bytes.get(first..last)?);
    changes.sort_unstable_by_key(|change| change.place);
    let mut values = headers.values_mut();
    let mut passed = 0;
    for change in changes {
        let value = run.slice_ref(run.get(change.start - first..change.end - first)?);
        *values.nth(change.place - passed)? = HeaderValue::from_maybe_shared(value).ok()?;
        passed = change.place + 1;
    }
    Some(())
}

#[cfg(test)]
mod tests;
