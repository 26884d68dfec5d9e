//! A picture and its type.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// A picture as providers take it. Printing it does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    /// What its first bytes say it is, whatever the server called it.
    pub mime: &'static str,
    /// Its bytes in standard base64, padded.
    pub base64: String,
}

impl Picture {
    /// `None` if the bytes are none of the types.
    pub(crate) fn new(bytes: &[u8], types: &[String]) -> Option<Self> {
        let mime = sniff(bytes)?;
        types.iter().any(|allowed| allowed == mime).then(|| Self {
            mime,
            base64: STANDARD.encode(bytes),
        })
    }
}

impl fmt::Debug for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Picture")
            .field("mime", &self.mime)
            .field("base64", &self.base64.len())
            .finish()
    }
}

/// The type of a picture by its first bytes: JPEG, PNG, GIF or WebP.
#[must_use]
pub fn sniff(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
