//! Payloads of a stream that differ from the one before only in their text: most do.
//!
//! A payload that said a text, or a piece of a call's arguments, and nothing else is remembered, without the text. One that follows
//! at once and has the same bytes around a valid string says that string, whatever the dialect: what a reader knows after a text
//! is what it knows after two. So it takes a few comparisons of memory instead of a walk.

use crate::answer::Event;
use crate::text::{Str, value};

/// Longer payloads are not remembered.
const MEMORY: usize = 2048;

/// After so many in a row that were remembered for nothing, none is for a while: some providers count or pad in each payload.
const MISSES: u8 = 4;
const PAUSE: u8 = 60;

/// The payload before, if it said one text and nothing else. Holds up to 2 KiB.
#[derive(Debug, Default)]
pub(crate) struct Alike {
    known: bool,
    event: String,
    payload: String,
    /// How much of the payload is before the string, quote not included, and how much is behind it.
    before: usize,
    after: usize,
    choice: u64,
    /// The call that the text is arguments of.
    call: Option<u64>,
    /// Payloads in a row that were remembered for nothing.
    misses: u8,
    /// How many payloads are still not to be remembered.
    pause: u8,
}

/// Who is told the events.
type Sink<'s> = dyn FnMut(Event<'_>) + 's;

impl Alike {
    /// The text of a payload that is like the one before.
    #[inline]
    pub(crate) fn recall<'p>(&mut self, event: &str, payload: &'p str) -> Option<Event<'p>> {
        if !self.known || event != self.event {
            return None;
        }
        let text = payload.as_bytes();
        let known = self.payload.as_bytes();
        let end = text.len().checked_sub(self.after)?;
        let (front, string) = (text.get(..self.before)?, text.get(self.before..end)?);
        if front != known.get(..self.before)?
            || text.get(end..)? != known.get(known.len().checked_sub(self.after)?..)?
            || onwards_json::string_len(string)? != string.len()
        {
            return None;
        }
        let string = value(payload.get(self.before..end)?)?;
        self.misses = 0;
        let choice = self.choice;
        let text = Str::of(&string).filter(|text| !text.is_empty())?;
        Some(match self.call {
            Some(call) => Event::ToolArguments { choice, call, text },
            None => Event::Text { choice, text },
        })
    }

    /// Reads a payload and remembers it if it says one text and nothing else, counts of tokens aside: they are those it said before.
    pub(crate) fn watch<T>(
        &mut self,
        event: &str,
        payload: &str,
        sink: &mut Sink<'_>,
        read: impl FnOnce(&mut Sink<'_>) -> T,
    ) -> T {
        if self.pause > 0 {
            self.pause -= 1;
            return read(sink);
        }
        let mut texts = 0_u8;
        let mut place = None;
        let result = read(&mut |told| {
            let said = match &told {
                Event::Text { choice, text } => Some((*choice, None, text)),
                Event::ToolArguments { choice, call, text } => Some((*choice, Some(*call), text)),
                _ => None,
            };
            if let Some((choice, call, text)) = said {
                texts = texts.saturating_add(1);
                place = around(payload, text).map(|around| (around, choice, call));
            } else if !matches!(told, Event::Usage(_)) {
                texts = 2;
            }
            sink(told);
        });
        if std::mem::take(&mut self.known) {
            self.misses += 1;
            if self.misses == MISSES {
                (self.misses, self.pause) = (0, PAUSE);
                return result;
            }
        }
        if let (Some(((before, after), choice, call)), 1) = (place, texts)
            && payload.len() <= MEMORY
        {
            self.known = true;
            event.clone_into(&mut self.event);
            payload.clone_into(&mut self.payload);
            (self.before, self.after) = (before, after);
            (self.choice, self.call) = (choice, call);
        }
        result
    }

    /// What comes next is to be read as it is.
    pub(crate) fn forget(&mut self) {
        self.known = false;
    }
}

/// How much of a payload is before and behind a string that was read from it; `None` for one that was not.
fn around(payload: &str, text: &Str<'_>) -> Option<(usize, usize)> {
    let raw = text.raw()?;
    let inside = (raw.as_ptr() as usize).checked_sub(payload.as_ptr() as usize)?;
    let before = inside.checked_sub(1)?;
    let end = inside.checked_add(raw.len())?.checked_add(1)?;
    let written = payload.get(before..end)?;
    let same = written.strip_prefix('"')?.strip_suffix('"')? == raw;
    same.then_some((before, payload.len() - end))
}

#[cfg(test)]
mod tests;
