//! When to read, and what to do with what was read: the rules of the module above without a file or a timer.

use std::io::ErrorKind;
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::time::Instant;

/// How long the file must have been quiet.
const QUIET: Duration = Duration::from_millis(100);
/// A file that is never quiet is read after so long anyway.
const PATIENCE: Duration = Duration::from_secs(1);

/// What a file holds; the text itself, which may name secrets, is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Text([u8; 32]),
    Nothing(ErrorKind),
}

/// What to do after a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing.
    Rest,
    /// Put the text into force, then tell [`Judge::accepted`] or [`Judge::refused`].
    Apply,
    /// Say that the file cannot be read.
    Missing,
}

/// Remembers what was judged, and when to look next.
#[derive(Debug)]
pub(super) struct Judge {
    /// What was last accepted or reported.
    judged: Seen,
    /// What the read before this one held, if it is to be confirmed.
    doubted: bool,
    latest: Seen,
    /// The first and the last time something stirred since the last read.
    stir: Option<(Instant, Instant)>,
    demanded: bool,
}

impl Judge {
    /// With `current` in force.
    pub(super) fn new(current: &[u8]) -> Self {
        let seen = digest(current);
        Self {
            judged: seen,
            doubted: false,
            latest: seen,
            stir: None,
            demanded: false,
        }
    }

    /// Something happened near the file.
    pub(super) fn stirred(&mut self, now: Instant) {
        let first = self.stir.map_or(now, |(first, _)| first);
        self.stir = Some((first, now));
    }

    /// Someone asks for a reload, whatever the file holds.
    pub(super) fn demanded(&mut self, now: Instant) {
        self.demanded = true;
        self.stirred(now);
    }

    /// When to read next.
    pub(super) fn due(&self) -> Option<Instant> {
        self.stir
            .map(|(first, last)| (last + QUIET).min(first + PATIENCE))
    }

    /// Takes note of a read.
    pub(super) fn read(&mut self, text: Result<&[u8], ErrorKind>, now: Instant) -> Step {
        self.stir = None;
        self.latest = text.map_or_else(Seen::Nothing, digest);
        if self.latest == self.judged && !self.demanded {
            self.doubted = false;
            return Step::Rest;
        }
        if matches!(self.latest, Seen::Text(_)) {
            return Step::Apply;
        }
        if self.refused(now) {
            Step::Missing
        } else {
            Step::Rest
        }
    }

    /// The text read last is in force.
    pub(super) fn accepted(&mut self) {
        self.settle();
    }

    /// The text read last is no configuration. True if that is to be reported; otherwise it is read once more.
    pub(super) fn refused(&mut self, now: Instant) -> bool {
        if self.doubted {
            self.settle();
            return true;
        }
        self.doubted = true;
        self.stirred(now);
        false
    }

    fn settle(&mut self) {
        self.judged = self.latest;
        self.doubted = false;
        self.demanded = false;
    }
}

fn digest(text: &[u8]) -> Seen {
    Seen::Text(Sha256::digest(text).into())
}
