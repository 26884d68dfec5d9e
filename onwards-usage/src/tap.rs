//! Finding the objects.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::Usage;

/// The most bytes an object with counts may have. Providers use a few hundred.
pub const MOST: usize = 4096;

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
        let room = MOST - self.held.len().min(MOST);
        let end = rest.iter().take(room).position(|&byte| within.ends(byte));
        let Some(last) = end else {
            if rest.len() <= room {
                self.held.extend_from_slice(rest);
                self.place = Place::Object(within);
                return &[];
            }
            let (given_up, after) = rest.split_at(room.min(rest.len()));
            let before = given_up.last().or(self.held.last());
            self.escaped = before == Some(&b'\\');
            self.held = Vec::new();
            self.place = Place::Name(0);
            return after;
        };
        let (object, after) = rest.split_at((last + 1).min(rest.len()));
        let counted = if self.held.is_empty() {
            Usage::of(object)
        } else {
            self.held.extend_from_slice(object);
            Usage::of(&self.held)
        };
        if let Some(counted) = counted {
            self.seen = Some(counted.after(self.seen.unwrap_or_default()));
        }
        self.held.clear();
        self.escaped = false;
        self.place = Place::Name(0);
        after
    }
}

impl Within {
    /// Takes the next byte; true for the one that ends the object.
    fn ends(&mut self, byte: u8) -> bool {
        if self.string {
            match byte {
                _ if self.escape => self.escape = false,
                b'\\' => self.escape = true,
                b'"' => self.string = false,
                _ => {}
            }
            return false;
        }
        match byte {
            b'"' => self.string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.depth == 0
    }
}

#[cfg(test)]
mod tests;
