//! How far another clock is ahead.

use std::time::Duration;

use aws_smithy_types::DateTime;
use aws_smithy_types::date_time::Format;

/// How far the clock of a service is ahead of ours, or behind it. A request that was refused for its time is signed again with
/// the time that the refusal's `Date` header shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Skew(i64);

impl Skew {
    /// What a `Date` header says at `now`, the time since the Unix epoch. `None` if it is no date of HTTP's preferred form,
    /// or one before 1970.
    #[must_use]
    pub fn read(date: &str, now: Duration) -> Option<Self> {
        let theirs = DateTime::from_str(date.trim(), Format::HttpDate).ok()?;
        let ours = i64::try_from(now.as_secs()).ok()?;
        (theirs.secs() >= 0).then(|| Self(theirs.secs().saturating_sub(ours)))
    }

    /// Seconds, negative if the service is behind.
    #[must_use]
    pub const fn seconds(self) -> i64 {
        self.0
    }

    /// The service's time at our `now`; never before the epoch.
    #[must_use]
    pub fn apply(self, now: Duration) -> Duration {
        let by = Duration::from_secs(self.0.unsigned_abs());
        if self.0 < 0 {
            now.saturating_sub(by)
        } else {
            now.saturating_add(by)
        }
    }
}

#[cfg(test)]
mod tests;
