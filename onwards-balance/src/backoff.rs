//! Wait between two attempts of one request.
//!
//! # Why
//!
//! When a provider refuses a hundred requests at once and all hundred come back at once, it
//! refuses them again. Waits that grow spread the attempts over time, waits drawn by chance
//! spread them over each other. With 100 ms at first, a factor of 2 and at most 5 s, the waits
//! are up to 100, 200, 400, 800, 1600, 3200, 5000, 5000 ms.
//!
//! # Rules
//!
//! * The wait before attempt `n + 1` is `min(initial * factor^(n - 1), max)`; with
//!   [`Jitter::Full`] it is drawn evenly between zero and that, both included.
//! * **Total**: a wait that would take the sum of waits above the total is not granted; the
//!   request stops. What was drawn counts, not the ceiling, and it counts before it is slept.
//! * **Last attempt**: nobody asks for a wait after it. **Cancel**: the caller drops its sleep.
//! * **Zero**: an initial wait of zero waits never; a total of zero grants only waits of zero.
//! * **Reload, idle**: there is no state beyond one request.

use std::time::Duration;

use crate::point::below;
use crate::settings::{SettingsError, demand};

/// How long to wait before another attempt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Backoff {
    initial: Duration,
    max: Duration,
    factor: f64,
    jitter: Jitter,
}

/// Whether chance shortens a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Jitter {
    /// The wait is its ceiling.
    None,
    /// The wait lies anywhere between zero and its ceiling.
    Full,
}

/// The waits of one request.
#[derive(Debug, Clone)]
pub struct Waits {
    backoff: Backoff,
    total: Option<Duration>,
    waits: u32,
    waited: Duration,
}

impl Backoff {
    /// Waits that start at `initial`, grow by `factor` (finite, above zero; 2 doubles) and stop
    /// growing at `max`.
    ///
    /// # Errors
    ///
    /// [`SettingsError`] when `factor` is out of its range.
    pub fn new(
        initial: Duration,
        max: Duration,
        factor: f64,
        jitter: Jitter,
    ) -> Result<Self, SettingsError> {
        let ok = factor.is_finite() && factor > 0.0;
        demand(ok, "backoff factor", "a finite number above zero")?;
        Ok(Self {
            initial,
            max,
            factor,
            jitter,
        })
    }

    /// The longest wait after `attempt` attempts (1 and up; 0 counts as 1).
    #[must_use]
    pub fn ceiling(&self, attempt: u32) -> Duration {
        let growths = i32::try_from(attempt.saturating_sub(1)).unwrap_or(i32::MAX);
        let seconds = self.initial.as_secs_f64() * self.factor.powi(growths);
        if self.initial.is_zero() {
            Duration::ZERO
        } else {
            // Beyond what a duration holds it is beyond `max` as well.
            Duration::try_from_secs_f64(seconds).map_or(self.max, |wait| wait.min(self.max))
        }
    }

    /// The waits of one request, whose sum stays within `total`.
    #[must_use]
    pub fn waits(&self, total: Option<Duration>) -> Waits {
        Waits {
            backoff: *self,
            total,
            waits: 0,
            waited: Duration::ZERO,
        }
    }
}

impl Waits {
    /// The wait before the next attempt, given 64 random bits; `None` when it would exceed the
    /// total and the request should stop.
    pub fn next(&mut self, random: u64) -> Option<Duration> {
        let ceiling = self.backoff.ceiling(self.waits.saturating_add(1));
        let wait = match self.backoff.jitter {
            Jitter::None => ceiling,
            Jitter::Full => {
                let nanos = u64::try_from(ceiling.as_nanos()).unwrap_or(u64::MAX);
                Duration::from_nanos(below(nanos.saturating_add(1), random))
            }
        };
        let waited = self.waited.saturating_add(wait);
        if self.total.is_some_and(|total| waited > total) {
            return None;
        }
        self.waits = self.waits.saturating_add(1);
        self.waited = waited;
        Some(wait)
    }

    /// Sum of the waits granted.
    #[must_use]
    pub fn waited(&self) -> Duration {
        self.waited
    }
}

#[cfg(test)]
mod tests;
