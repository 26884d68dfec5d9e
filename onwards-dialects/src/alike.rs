//! Payloads of a stream that differ from the one before only in their text: most do.
//!
//! A payload that said a text, or a piece of a call's arguments, and nothing else is remembered, without the text. One that follows
//! at once and has the same bytes around a valid string says that string, whatever the dialect: what a reader knows after a text
//! is what it knows after two. So it takes a few comparisons of memory instead of a walk.
//!
//! Some providers write one more thing that is never the same twice: padding against those who measure messages, or counts of
//! tokens so far. Where the dialect says so ([`Varies`]), that member may differ too; counts are then handed to the reader.

use onwards_json::Kind;

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
    /// The part of what is behind the string that may differ, if any: how much of the payload is between the string and it, and
    /// behind it.
    varying: Option<(usize, usize)>,
    choice: u64,
    /// The call that the text is arguments of.
    call: Option<u64>,
    /// Payloads in a row that were remembered for nothing.
    misses: u8,
    /// How many payloads are still not to be remembered.
    pause: u8,
}

/// The member at the top of a payload that differs from one to the next, besides the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Varies {
    Nothing,
    /// A string of this name that says nothing.
    Padding(&'static str),
    /// An object of this name, the counts of tokens so far.
    Counts(&'static str),
}

/// What a payload says that is like the one before.
#[derive(Debug)]
pub(crate) struct Recalled<'p> {
    pub(crate) text: Event<'p>,
    /// Counts of tokens that the payload has besides: a JSON object, not looked at.
    pub(crate) counts: Option<&'p str>,
}

/// Who is told the events.
type Sink<'s> = dyn FnMut(Event<'_>) + 's;

impl Alike {
    /// The text of a payload that is like the one before.
    #[inline]
    pub(crate) fn recall<'p>(
        &mut self,
        varies: Varies,
        event: &str,
        payload: &'p str,
    ) -> Option<Recalled<'p>> {
        if !self.known || event != self.event {
            return None;
        }
        let text = payload.as_bytes();
        let known = self.payload.as_bytes();
        if text.get(..self.before)? != known.get(..self.before)? {
            return None;
        }
        let behind = known.get(known.len().checked_sub(self.after)?..)?;
        let (end, counts) = match self.varying {
            None => {
                let end = text.len().checked_sub(self.after)?;
                let string = text.get(self.before..end)?;
                if text.get(end..)? != behind || onwards_json::string_len(string)? != string.len() {
                    return None;
                }
                (end, None)
            }
            Some((between, last)) => {
                let end = self.before + onwards_json::string_len(text.get(self.before..)?)?;
                let varying = (end + between)..text.len().checked_sub(last)?;
                if text.get(end..varying.start)? != behind.get(..between)?
                    || text.get(varying.end..)? != behind.get(behind.len().checked_sub(last)?..)?
                {
                    return None;
                }
                match varies {
                    Varies::Counts(_) => (end, Some(payload.get(varying)?)),
                    _ if value(payload.get(varying)?)?.kind() == Kind::String => (end, None),
                    _ => return None,
                }
            }
        };
        let string = value(payload.get(self.before..end)?)?;
        self.misses = 0;
        let choice = self.choice;
        let text = Str::of(&string).filter(|text| !text.is_empty())?;
        let text = match self.call {
            Some(call) => Event::ToolArguments { choice, call, text },
            None => Event::Text { choice, text },
        };
        Some(Recalled { text, counts })
    }

    /// Reads a payload and remembers it if it says one text and nothing else, counts of tokens aside: they are those it said before.
    pub(crate) fn watch<T>(
        &mut self,
        varies: Varies,
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
            self.varying = varying(payload, payload.len() - after, varies);
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

/// Where the member that may differ is, if the payload has one, and behind its text, which ends at `end`.
fn varying(payload: &str, end: usize, varies: Varies) -> Option<(usize, usize)> {
    let (name, kind) = match varies {
        Varies::Nothing => return None,
        Varies::Padding(name) => (name, Kind::String),
        Varies::Counts(name) => (name, Kind::Object),
    };
    let object = onwards_json::object(payload.as_bytes()).ok()?;
    let mut named = object.members().iter().filter(|member| member.is(name));
    let member = named.next().filter(|_| named.next().is_none())?;
    if member.value().kind() != kind {
        return None;
    }
    let at = member.value_span();
    Some((
        at.start.checked_sub(end)?,
        payload.len().checked_sub(at.end)?,
    ))
}

#[cfg(test)]
mod tests;
