//! The payload before: most payloads differ from it in a string or two.
//!
//! A payload that has been read leaves behind its text, what became of it, and its blanks: strings that stay as they are and that
//! nothing else depends on. One that follows at once, with the same bytes around valid strings, becomes the same with its own
//! strings in the blanks, and tells nothing new: what was noted of choices and calls is noted already.

use super::edits::{Blank, Notes};
use crate::native::Shown;

/// Longer payloads are not remembered.
const MEMORY: usize = 4096;

/// Holds up to three times 4 KiB.
#[derive(Debug, Default)]
pub(super) struct Last {
    payload: Vec<u8>,
    /// What became of it; empty if it stayed.
    told: Vec<u8>,
    /// Each with its place in what became of the payload.
    blanks: Vec<(Blank, usize)>,
}

impl Last {
    /// Appends what becomes of a payload that differs in the blanks only; otherwise `None`, and something may have been appended.
    #[inline]
    pub(super) fn recall(&self, payload: &[u8], out: &mut Vec<u8>) -> Option<Shown> {
        let changed = !self.told.is_empty();
        let (mut old, mut told, mut rest, mut says) = (0, 0, payload, false);
        for (blank, place) in &self.blanks {
            rest = rest.strip_prefix(self.payload.get(old..blank.at.start)?)?;
            let (string, behind) = rest.split_at_checked(onwards_json::string_len(rest)?)?;
            if changed {
                out.extend_from_slice(self.told.get(told..*place)?);
                out.extend_from_slice(string);
            }
            says |= blank.says && string.len() > 2;
            (old, told, rest) = (blank.at.end, place + blank.at.len(), behind);
        }
        if !says || rest != self.payload.get(old..)? {
            return None;
        }
        if !changed {
            return Some(Shown::Same);
        }
        out.extend_from_slice(self.told.get(told..)?);
        Some(Shown::Changed)
    }

    pub(super) fn remember(&mut self, payload: &[u8], told: &[u8], notes: &Notes, model: &str) {
        if payload.len() > MEMORY || told.len() > MEMORY {
            return;
        }
        for blank in &notes.blanks {
            let Some(place) = notes.moved(blank.at.start, model) else {
                return self.forget();
            };
            self.blanks.push((blank.clone(), place));
        }
        self.payload.clear();
        self.payload.extend_from_slice(payload);
        self.told.clear();
        self.told.extend_from_slice(told);
    }

    pub(super) fn forget(&mut self) {
        self.blanks.clear();
    }
}
