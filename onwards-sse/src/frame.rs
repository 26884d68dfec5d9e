//! Events to bytes.

use std::time::Duration;

/// An event to be written. Lines end in LF; the fields stand in the order comment, event, id, retry, data.
///
/// ```
/// use onwards_sse::Frame;
///
/// let mut out = Vec::new();
/// Frame::data(b"{}").event("response.created").write(&mut out)?;
/// Frame::data(b"two\nlines").write(&mut out)?;
/// Frame::comment("").write(&mut out)?;
/// assert_eq!(out, b"event: response.created\ndata: {}\n\ndata: two\ndata: lines\n\n:\n\n");
/// # Ok::<(), onwards_sse::FrameError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Frame<'a> {
    comment: Option<&'a str>,
    event: Option<&'a str>,
    id: Option<&'a str>,
    retry: Option<Duration>,
    data: Option<&'a [u8]>,
}

/// Why an event cannot be written: a value would end its line early, or be ignored by every reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// A type, id or comment holds CR or LF.
    #[error("line break in {field}")]
    LineBreak {
        /// The field.
        field: &'static str,
    },
    /// An id holds NUL.
    #[error("NUL in id")]
    NulInId,
}

impl<'a> Frame<'a> {
    /// An event with a payload. Line breaks (LF, CR or CRLF) split it into several `data` lines, which a
    /// reader joins with LF; so a payload that has CR comes back with LF in its place.
    #[must_use]
    pub fn data(payload: &'a [u8]) -> Self {
        Self {
            data: Some(payload),
            ..Self::default()
        }
    }

    /// A comment line and no event: keeps a connection alive. Empty text makes the line `:`.
    #[must_use]
    pub fn comment(text: &'a str) -> Self {
        Self {
            comment: Some(text),
            ..Self::default()
        }
    }

    /// With a type.
    #[must_use]
    pub fn event(self, event: &'a str) -> Self {
        Self {
            event: Some(event),
            ..self
        }
    }

    /// With an id, which a client sends back when it reconnects.
    #[must_use]
    pub fn id(self, id: &'a str) -> Self {
        Self {
            id: Some(id),
            ..self
        }
    }

    /// With the time after which a client should reconnect; whole milliseconds are written.
    #[must_use]
    pub fn retry(self, after: Duration) -> Self {
        Self {
            retry: Some(after),
            ..self
        }
    }

    /// Appends the event to `out`.
    ///
    /// # Errors
    /// [`FrameError`]; then nothing is appended.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), FrameError> {
        let texts = [
            ("comment", self.comment),
            ("event", self.event),
            ("id", self.id),
        ];
        for (field, text) in texts {
            if text.is_some_and(|text| text.contains(['\r', '\n'])) {
                return Err(FrameError::LineBreak { field });
            }
        }
        if self.id.is_some_and(|id| id.contains('\0')) {
            return Err(FrameError::NulInId);
        }
        out.reserve(self.data.map_or(0, <[u8]>::len) + 16);
        for (name, text) in [("", self.comment), ("event", self.event), ("id", self.id)] {
            if let Some(text) = text {
                line(out, name, text.as_bytes());
            }
        }
        if let Some(after) = self.retry {
            line(out, "retry", after.as_millis().to_string().as_bytes());
        }
        if let Some(payload) = self.data {
            data(out, payload);
        }
        out.extend_from_slice(b"\n");
        Ok(())
    }
}

fn line(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(if name.is_empty() && value.is_empty() {
        b":"
    } else {
        b": "
    });
    out.extend_from_slice(value);
    out.extend_from_slice(b"\n");
}

fn data(out: &mut Vec<u8>, mut rest: &[u8]) {
    while let Some(end) = memchr::memchr2(b'\n', b'\r', rest) {
        let Some((head, tail)) = rest.split_at_checked(end) else {
            break;
        };
        line(out, "data", head);
        rest = tail
            .strip_prefix(b"\r\n")
            .or_else(|| tail.get(1..))
            .unwrap_or_default();
    }
    line(out, "data", rest);
}

#[cfg(test)]
mod tests;
