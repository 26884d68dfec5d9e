//! Token bucket: a rate limit that allows short bursts.
//!
//! # Why
//!
//! "Five requests a second" measured per calendar second lets ten through around the turn of a
//! second and then makes a well-behaved caller wait for no reason. A bucket that holds `burst`
//! tokens and gains `rate` tokens a second bounds every stretch of time the same way: at most
//! `burst + rate * t` requests in any `t`.
//!
//! With a rate of 5 and a burst of 10: ten requests pass at once, the eleventh is told to wait
//! 200 ms; a caller that sends one request every 200 ms is never refused; after an idle second
//! five may come at once, after two or more idle seconds ten.
//!
//! # Rules
//!
//! * **Start**: full. **Idle**: refills to `burst` and no further.
//! * **Empty**: [`Bucket::take`] answers with the exact time until a token is there, to the
//!   nanosecond. Two callers told the same wait compete for one token; the second is refused
//!   anew. Nobody queues, so there is no order among waiters.
//! * **Ties**: calls with the same `now` are served in the order they reach the lock.
//! * **Cancel, refusal further on**: [`Bucket::give_back`] undoes one `take` exactly, as if it
//!   had not happened. It never fills beyond `burst`.
//! * **Reload**: [`Bucket::set_rate`] with an equal rate changes nothing. With another one the
//!   level in tokens stays, cut to a smaller burst; a larger burst brings the tokens it has more,
//!   so that what was spent stays spent: 1 of 1 spent, then a burst of 50, leaves 49.
//! * **Clock backwards**: an older `now` counts as the newest seen; nothing is minted twice.
//! * **Zero**: neither rate nor burst can be zero ([`Rate::new`]).
//!
//! # How, and what was not used
//!
//! The level is a whole number of units of which every nanosecond brings a whole number (see
//! `rate.rs`), so there is no rounding to add up and a wait can be exact. The state sits behind a
//! `std::sync::Mutex` held for a multiplication and a few comparisons. The usual lock-free form, one
//! atomic "time of arrival" in nanoseconds, rounds the interval (1/3 s has no whole number of
//! nanoseconds), overflows for slow rates with a large burst (0.001/s with `u32::MAX` tokens
//! fills in 136,000 years) and cannot change its rate in one step. `benches/limits.rs` compares the
//! two: on a two-core machine a take costs 15 ns and the atomic form 4 ns.
//!
//! The `governor` crate was not used: it cannot put off a take until several buckets agree or
//! give a token back, it cannot keep its state over a changed quota, and it does not tell the
//! exact level.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use thiserror::Error;

use crate::rate::{Rate, Units};

/// A token bucket. Share it by reference or in an `Arc`; all calls take `&self`.
#[derive(Debug)]
pub struct Bucket {
    state: Mutex<State>,
}

/// The bucket is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("rate limit reached, next request possible in {0:?}")]
pub struct Wait(Duration);

/// One of several buckets is empty; none was charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("rate limit {index} reached, next request possible in {wait:?}")]
pub struct Refused {
    /// Position of the refusing bucket; of several, the one with the longest wait.
    pub index: usize,
    /// Time until that bucket has a token, above zero.
    pub wait: Duration,
}

/// What a bucket shows to rate-limit headers, all read at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gauge {
    /// Requests the full bucket holds.
    pub limit: u32,
    /// Requests that would pass now, one after the other, at most `limit`.
    pub remaining: u32,
    /// Time until one request passes; zero when `remaining` is above zero.
    pub next: Duration,
    /// Time until the bucket is full again if nobody takes from it; zero when full.
    pub reset: Duration,
}

impl Bucket {
    /// A full bucket. `now` may be any time not after the first call's.
    #[must_use]
    pub fn new(rate: Rate, now: Duration) -> Self {
        let units = rate.units();
        Self {
            state: Mutex::new(State {
                rate,
                units,
                level: units.full,
                at: nanos(now),
            }),
        }
    }

    /// Takes one token.
    ///
    /// # Errors
    ///
    /// [`Wait`] when there is none; nothing is taken then.
    pub fn take(&self, now: Duration) -> Result<(), Wait> {
        let mut state = self.lock();
        state.fill(now);
        match state.level.checked_sub(state.units.token) {
            Some(rest) => {
                state.level = rest;
                Ok(())
            }
            None => Err(Wait(state.time_to(state.units.token))),
        }
    }

    /// Undoes one [`take`](Self::take): the bucket is as if that call had not happened.
    pub fn give_back(&self) {
        let mut state = self.lock();
        // Not filled up first: cutting to full now or after filling comes to the same.
        state.level = (state.level + state.units.token).min(state.units.full);
    }

    /// Changes rate and burst, keeping the tokens that are there: cut to a smaller burst, and with
    /// the tokens that a larger burst has more.
    ///
    /// With an equal rate this changes nothing.
    pub fn set_rate(&self, rate: Rate, now: Duration) {
        let mut state = self.lock();
        state.fill(now);
        let old = state.units;
        let new = rate.units();
        let whole = state.level / old.token;
        let part = state.level % old.token;
        let part = if new.scale >= old.scale {
            part << (new.scale - old.scale)
        } else {
            part >> (old.scale - new.scale)
        };
        let more = u128::from(rate.burst().saturating_sub(state.rate.burst())) * new.token;
        state.rate = rate;
        state.units = new;
        state.level = (whole * new.token + part + more).min(new.full);
    }

    /// The rate and burst in force.
    #[must_use]
    pub fn rate(&self) -> Rate {
        self.lock().rate
    }

    /// Tokens in the bucket, with their fraction, between 0 and `burst`.
    #[must_use]
    pub fn level(&self, now: Duration) -> f64 {
        let state = self.filled(now);
        state.level as f64 / state.units.token as f64
    }

    /// Time until a request passes: zero when a token is there. Takes nothing.
    #[must_use]
    pub fn wait(&self, now: Duration) -> Duration {
        let state = self.filled(now);
        state.time_to(state.units.token)
    }

    /// Limit, remaining requests and times for rate-limit headers, read at one moment.
    #[must_use]
    pub fn gauge(&self, now: Duration) -> Gauge {
        let state = self.filled(now);
        Gauge {
            limit: state.rate.burst(),
            remaining: u32::try_from(state.level / state.units.token).unwrap_or(u32::MAX),
            next: state.time_to(state.units.token),
            reset: state.time_to(state.units.full),
        }
    }

    fn filled(&self, now: Duration) -> State {
        let mut state = *self.lock();
        state.fill(now);
        state
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing can panic while the lock is held; a poisoned one would still hold a sound state.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wait {
    /// Time until a token is there, above zero.
    #[must_use]
    pub fn wait(self) -> Duration {
        self.0
    }
}

/// Takes one token from every bucket, or from none.
///
/// All buckets are looked at first, so that a refused call leaves no trace, not even for a
/// moment. Only when another thread empties a bucket between the look and the take are tokens
/// taken and given back. The same bucket may appear twice and then pays twice.
///
/// # Errors
///
/// [`Refused`] with the longest wait among the empty buckets, the first of several equal ones.
pub fn take_all<'a, I>(buckets: I, now: Duration) -> Result<(), Refused>
where
    I: IntoIterator<Item = &'a Bucket>,
    I::IntoIter: Clone,
{
    let buckets = buckets.into_iter();
    let mut refused: Option<Refused> = None;
    for (index, bucket) in buckets.clone().enumerate() {
        let wait = bucket.wait(now);
        if !wait.is_zero() && refused.is_none_or(|longest| wait > longest.wait) {
            refused = Some(Refused { index, wait });
        }
    }
    if let Some(refused) = refused {
        return Err(refused);
    }
    for (index, bucket) in buckets.clone().enumerate() {
        if let Err(Wait(wait)) = bucket.take(now) {
            give_back_all(buckets.take(index));
            return Err(Refused { index, wait });
        }
    }
    Ok(())
}

/// Undoes one successful [`take_all`] over the same buckets.
pub fn give_back_all<'a>(buckets: impl IntoIterator<Item = &'a Bucket>) {
    for bucket in buckets {
        bucket.give_back();
    }
}

#[derive(Debug, Clone, Copy)]
struct State {
    rate: Rate,
    units: Units,
    /// Units in the bucket at time `at`.
    level: u128,
    /// The newest time seen, in nanoseconds.
    at: u64,
}

impl State {
    fn fill(&mut self, now: Duration) {
        let now = nanos(now);
        let passed = now.saturating_sub(self.at);
        let gained = u128::from(passed) * u128::from(self.units.per_nano);
        self.level = self.level.saturating_add(gained).min(self.units.full);
        self.at = self.at.max(now);
    }

    /// Time from `at` until the level reaches `target` units, rounded up to a nanosecond.
    fn time_to(&self, target: u128) -> Duration {
        let missing = target.saturating_sub(self.level);
        if missing == 0 {
            return Duration::ZERO;
        }
        let nanos = missing.div_ceil(u128::from(self.units.per_nano));
        u64::try_from(nanos).map_or_else(
            |_| u64::try_from(nanos / 1_000_000_000).map_or(Duration::MAX, Duration::from_secs),
            Duration::from_nanos,
        )
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
