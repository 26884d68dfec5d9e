//! When to read, and what to do with what was read: the rules of the module above without a file or a timer.

use std::io::ErrorKind;
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::time::Instant;

/// How long the file must have been quiet.
const QUIET: Duration = Duration::from_millis(100);
/// A file that is never quiet is read after so long anyway.
const PATIENCE: Duration = Duration::from_secs(1);

/// What the files hold; the texts themselves, which may hold secrets, are not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Texts([u8; 32]),
    Nothing(ErrorKind),
}

/// What to do after a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing.
    Rest,
    /// Put the texts into force, then tell [`Judge::accepted`] or [`Judge::refused`].
    Apply,
    /// Say that a file cannot be read.
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
    pub(super) fn new(current: &[Vec<u8>]) -> Self {
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
    pub(super) fn read(&mut self, texts: Result<&[Vec<u8>], ErrorKind>, now: Instant) -> Step {
        self.stir = None;
        self.latest = texts.map_or_else(Seen::Nothing, digest);
        if self.latest == self.judged && !self.demanded {
            self.doubted = false;
            return Step::Rest;
        }
        if matches!(self.latest, Seen::Texts(_)) {
            return Step::Apply;
        }
        if self.refused(now) {
            Step::Missing
        } else {
            Step::Rest
        }
    }

    /// The texts read last are in force.
    pub(super) fn accepted(&mut self) {
        self.settle();
    }

    /// The texts read last are refused. True if that is to be reported; otherwise they are read once more.
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

/// Lengths count too, so that bytes that move from one file to the next are a change.
fn digest(texts: &[Vec<u8>]) -> Seen {
    let mut digest = Sha256::new();
    for text in texts {
        digest.update(text.len().to_le_bytes());
        digest.update(text);
    }
    Seen::Texts(digest.finalize().into())
}
