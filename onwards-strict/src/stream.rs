//! The chunks of one stream: most differ from the one before only in a string or two.
//!
//! A chunk that is cleaned leaves behind its text, what became of it, and its blanks: the strings that were
//! kept as they stood, and that nothing else in the answer depends on. If the next chunk has the same bytes
//! around the blanks and a valid string in each, it is as valid as the first, and becomes the same with its
//! own strings in the blanks. So it takes a few comparisons of memory instead of a walk.

use crate::{
    clean::{Cleaned, Cleaner, Facts, Malformed},
    edits::Blank,
};

/// Longer chunks are not remembered.
const MEMORY: usize = 4096;

/// Cleans the chunks of one stream, as [`Cleaner::clean_chunk`] does, but quicker where they are alike. Holds
/// up to three times 4 KiB.
#[derive(Debug)]
pub struct Stream {
    cleaner: Cleaner,
    last: Last,
}

/// The last chunk that was walked. Without blanks there is none.
#[derive(Debug, Default)]
struct Last {
    text: Vec<u8>,
    clean: Vec<u8>,
    blanks: Vec<Blank>,
    facts: Facts<'static>,
}

impl Stream {
    /// A stream whose chunks are cleaned by `cleaner`.
    #[must_use]
    pub fn new(cleaner: Cleaner) -> Self {
        Self {
            cleaner,
            last: Last::default(),
        }
    }

    /// The same as [`Cleaner::clean_chunk`] with the same arguments.
    ///
    /// # Errors
    /// [`Malformed`] if the payload does not fit; `out` is as before.
    pub fn clean<'t>(
        &mut self,
        payload: &'t [u8],
        sequence: u64,
        out: &mut Vec<u8>,
    ) -> Result<Cleaned<'t>, Malformed> {
        let start = out.len();
        if self.last.recall(payload, out).is_some() {
            return Ok(Cleaned::Answer(self.last.facts));
        }
        out.truncate(start);
        self.walk(payload, sequence, out)
    }

    #[inline(never)]
    fn walk<'t>(
        &mut self,
        payload: &'t [u8],
        sequence: u64,
        out: &mut Vec<u8>,
    ) -> Result<Cleaned<'t>, Malformed> {
        let start = out.len();
        self.last.blanks.clear();
        let blanks = (payload.len() <= MEMORY).then_some(&mut self.last.blanks);
        let cleaned = self.cleaner.clean_event(payload, sequence, out, blanks);
        match &cleaned {
            Ok(Cleaned::Answer(facts)) => {
                self.last
                    .remember(payload, out.get(start..).unwrap_or_default(), facts);
            }
            _ => self.last.blanks.clear(),
        }
        cleaned
    }
}

impl Last {
    /// Appends what becomes of a chunk that differs in the blanks only; otherwise `None`, and something may
    /// have been appended.
    fn recall(&self, payload: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let (mut old, mut clean, mut rest) = (0, 0, payload);
        for Blank { text, clean: place } in &self.blanks {
            rest = rest.strip_prefix(self.text.get(old..text.start)?)?;
            out.extend_from_slice(self.clean.get(clean..*place)?);
            let (string, behind) = rest.split_at_checked(onwards_json::string_len(rest)?)?;
            out.extend_from_slice(string);
            (old, clean, rest) = (text.end, place + text.len(), behind);
        }
        if self.blanks.is_empty() || rest != self.text.get(old..)? {
            return None;
        }
        out.extend_from_slice(self.clean.get(clean..)?);
        Some(())
    }

    fn remember(&mut self, payload: &[u8], clean: &[u8], facts: &Facts<'_>) {
        self.text.clear();
        self.clean.clear();
        if self.blanks.is_empty() {
            return;
        }
        self.text.extend_from_slice(payload);
        self.clean.extend_from_slice(clean);
        self.facts = Facts {
            finished: facts.finished,
            usage: facts.usage,
            choices: facts.choices,
            event: None,
        };
    }
}

#[cfg(test)]
mod tests;
