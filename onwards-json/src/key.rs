//! Names to look for, made ready by the compiler.

use crate::Text;

/// A name to look for. Made in a constant, most of the work of comparing it is done by the compiler.
///
/// ```
/// use onwards_json::{Key, Scanner};
///
/// const MODEL: Key = Key::new("model");
/// let mut scanner = Scanner::new(br#"{"model": "fast"}"#)?;
/// scanner.enter_object()?;
/// let name = scanner.next_key()?;
/// assert!(name.is_some_and(|name| MODEL.is(&name, name.head())));
/// # Ok::<(), onwards_json::ScanError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Key {
    text: &'static str,
    head: u128,
    /// The name in quotes and the colon behind it.
    written: u128,
    /// Ones where `written` has bytes. Without any, the name is too long for it.
    mask: u128,
}

impl Key {
    /// The key for a name, which is to be letters, digits and `_`: what needs no escape. Meant for constants,
    /// where another name does not compile.
    #[must_use]
    pub const fn new(text: &'static str) -> Self {
        let mut rest = text.as_bytes();
        while let [first, more @ ..] = rest {
            assert!(
                first.is_ascii_alphanumeric() || *first == b'_',
                "a plain name"
            );
            rest = more;
        }
        let (head, len) = (head(text), text.len());
        if len > 13 {
            return Self {
                text,
                head,
                written: 1,
                mask: 0,
            };
        }
        let end = (b':' as u128) << 8 | b'"' as u128;
        Self {
            text,
            head,
            written: b'"' as u128 | head << 8 | end << (8 * (len + 1)),
            mask: u128::MAX >> (8 * (13 - len)),
        }
    }

    /// The name.
    #[must_use]
    pub const fn text(&self) -> &'static str {
        self.text
    }

    /// The first 16 bytes of the name, the first one lowest, zeros behind a shorter one.
    #[must_use]
    pub const fn head(&self) -> u128 {
        self.head
    }

    /// Whether a name is this one; `head` is [its own](Text::head), told once for many keys. A name with
    /// escapes may be no key's, though it means one.
    #[must_use]
    #[inline]
    pub fn is(&self, name: &Text<'_>, head: u128) -> bool {
        // No name has a zero byte in it: one that leaves its head's last byte empty ends there.
        self.head == head && (head >> 120 == 0 || name.is(self.text))
    }

    /// How many bytes at the start of this block are the name in quotes with its colon, as it is mostly
    /// written.
    #[inline]
    pub(crate) fn written_in(&self, block: &[u8; 16]) -> Option<usize> {
        let found = u128::from_le_bytes(*block) & self.mask;
        (found == self.written).then_some(self.text.len() + 3)
    }
}

/// The first 16 bytes of a name.
pub(crate) const fn head(name: &str) -> u128 {
    let (mut head, mut shift, mut rest) = (0, 0, name.as_bytes());
    while shift < u128::BITS
        && let [first, more @ ..] = rest
    {
        head |= (*first as u128) << shift;
        shift += 8;
        rest = more;
    }
    head
}

#[cfg(test)]
mod tests;
