//! Finding the objects.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::Usage;

/// The most bytes an object with counts may have. Providers use a few hundred.
pub const MOST: usize = 4096;

/// The most bytes of a read in which an object is looked for as a whole. One that is longer, or cut, is found by its brackets.
const GLANCE: usize = 512;

/// The name, quotes included. The quote stands at its ends only, which is what makes the search simple.
const NAME: &[u8] = b"\"usage\"";

static FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(NAME));

/// Watches the bytes of one answer.
///
/// An object counts when it is the value of a member named `usage`, at any depth: `"usage"`, white space, a colon, white space,
/// the object. A quote after a backslash begins no name, so text that was quoted into a string is passed over. What an
/// object holds is not searched again. An object written over several `data:` lines of one event is not recognised.
#[derive(Debug, Clone, Default)]
pub struct Tap {
    place: Place,
    /// The last byte read was a backslash.
    escaped: bool,
    /// What earlier reads had of the object that is being read.
    held: Vec<u8>,
    seen: Option<Usage>,
}

#[derive(Debug, Clone, Copy)]
enum Place {
    /// Before a name, after that many bytes of one.
    Name(usize),
    /// After a name.
    Colon,
    /// After the colon.
    Open,
    /// Within the object.
    Object(Within),
}

impl Default for Place {
    fn default() -> Self {
        Self::Name(0)
    }
}

/// Where in an object the next byte stands.
#[derive(Debug, Clone, Copy, Default)]
struct Within {
    depth: u32,
    string: bool,
    escape: bool,
}

impl Tap {
    /// Takes the next bytes.
    pub fn read(&mut self, piece: &[u8]) {
        let mut rest = piece;
        while !rest.is_empty() {
            rest = match self.place {
                Place::Name(0) => self.search(rest),
                Place::Name(matched) => self.rejoin(rest, matched),
                Place::Colon => self.expect(rest, b':', Place::Open),
                Place::Open => self.expect(rest, b'{', Place::Object(Within::default())),
                Place::Object(within) => self.object(rest, within),
            };
        }
    }

    /// What was counted so far: of each count the last that was given.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        self.seen
    }

    /// Looks for a name that begins in `rest`; what follows it.
    fn search<'a>(&mut self, rest: &'a [u8]) -> &'a [u8] {
        let escaped_at = |at: usize| match at.checked_sub(1) {
            None => self.escaped,
            Some(before) => rest.get(before) == Some(&b'\\'),
        };
        let mut from = 0;
        while let Some(unread) = rest.get(from..)
            && let Some(found) = FINDER.find(unread)
        {
            let at = from + found;
            if !escaped_at(at) {
                self.place = Place::Colon;
                return rest.get(at + NAME.len()..).unwrap_or_default();
            }
            from = at + 1;
        }
        let tail = rest.len().saturating_sub(NAME.len() - 1).max(from);
        let begun = rest
            .get(tail..)
            .and_then(|end| memchr::memrchr(b'"', end))
            .map(|quote| tail + quote)
            .filter(|&at| !escaped_at(at));
        let matched = begun
            .and_then(|at| rest.get(at..))
            .filter(|begun| NAME.starts_with(begun))
            .map_or(0, <[u8]>::len);
        self.place = Place::Name(matched);
        self.escaped = rest.last() == Some(&b'\\');
        &[]
    }

    /// Goes on with a name that the last read ended within.
    fn rejoin<'a>(&mut self, rest: &'a [u8], matched: usize) -> &'a [u8] {
        let missing = NAME.get(matched..).unwrap_or_default();
        let common = missing.iter().zip(rest).take_while(|(a, b)| a == b).count();
        self.escaped = false;
        if common == missing.len() {
            self.place = Place::Colon;
            return rest.get(common..).unwrap_or_default();
        }
        if common == rest.len() {
            self.place = Place::Name(matched + common);
            return &[];
        }
        // None after all, and no other can have begun within what it has in common with one.
        self.place = Place::Name(0);
        rest
    }

    /// Passes over white space; with the byte that must follow it the next place is reached, else the search goes on.
    fn expect<'a>(&mut self, rest: &'a [u8], wanted: u8, next: Place) -> &'a [u8] {
        let space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        let Some(at) = rest.iter().position(|byte| !space(byte)) else {
            return &[];
        };
        self.escaped = false;
        let after = rest.get(at..).unwrap_or_default();
        if after.first() == Some(&wanted) {
            self.place = next;
            // An object begins with its brace.
            return match next {
                Place::Object(_) => after,
                _ => after.get(1..).unwrap_or_default(),
            };
        }
        self.place = Place::Name(0);
        after
    }

    /// Reads on in the object; what follows it, or what goes beyond the most that is kept.
    fn object<'a>(&mut self, rest: &'a [u8], mut within: Within) -> &'a [u8] {
        if self.held.is_empty()
            && let Some((counted, length)) = whole(rest)
        {
            self.close(counted);
            return rest.get(length..).unwrap_or_default();
        }
        let room = MOST - self.held.len().min(MOST);
        let (near, beyond) = rest.split_at_checked(room).unwrap_or((rest, &[]));
        let Some(length) = within.end(near) else {
            if beyond.is_empty() {
                self.held.extend_from_slice(near);
                self.place = Place::Object(within);
                return &[];
            }
            let before = near.last().or(self.held.last());
            self.escaped = before == Some(&b'\\');
            self.held = Vec::new();
            self.place = Place::Name(0);
            return beyond;
        };
        let (object, after) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        let counted = if self.held.is_empty() {
            Usage::of(object)
        } else {
            self.held.extend_from_slice(object);
            Usage::of(&self.held)
        };
        self.close(counted);
        after
    }

    /// An object has ended.
    fn close(&mut self, counted: Option<Usage>) {
        if let Some(counted) = counted {
            self.seen = Some(counted.after(self.seen.unwrap_or_default()));
        }
        self.held.clear();
        self.escaped = false;
        self.place = Place::Name(0);
    }
}

/// The counts and the length of an object that lies at the start of `rest` as a whole. `None` says nothing.
fn whole(rest: &[u8]) -> Option<(Option<Usage>, usize)> {
    let near = rest.get(..GLANCE).unwrap_or(rest);
    // The last character may be cut, and what follows the object be anything.
    let text = std::str::from_utf8(near).or_else(|error| {
        let valid = near.get(..error.valid_up_to()).unwrap_or_default();
        std::str::from_utf8(valid)
    });
    Usage::at_start(text.ok()?)
}

impl Within {
    /// Takes the next bytes; the length up to the end of the object, if it ends in them.
    fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if self.string {
                at += self.string(bytes.get(at..).unwrap_or_default());
                continue;
            }
            at += 1;
            match byte {
                b'"' => self.string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            if self.depth == 0 {
                return Some(at);
            }
        }
        None
    }

    /// Passes bytes of a string, at most to its end; how many.
    fn string(&mut self, bytes: &[u8]) -> usize {
        if std::mem::take(&mut self.escape) {
            return 1;
        }
        let Some(at) = memchr::memchr2(b'"', b'\\', bytes) else {
            return bytes.len();
        };
        if bytes.get(at) == Some(&b'"') {
            self.string = false;
        } else {
            self.escape = true;
        }
        at + 1
    }
}

#[cfg(test)]
mod tests;
