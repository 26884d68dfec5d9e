//! Which provider is asked next, and how long to wait before it.
//!
//! **Owns** four decisions, each a function of load, time and chance:
//!
//! * [`Order`] and [`Candidates`]: who is tried first and who after a failure, within a budget of
//!   attempts;
//! * [`Backoff`] and [`Waits`]: the wait between two attempts;
//! * [`Controller`]: the share of requests a preferred provider gets first, lowered when it is
//!   slow or overloaded and raised again step by step;
//! * [`Affinity`]: which conversations stay with the preferred provider when it cannot take all.
//!
//! **Does not own** what counts as a failure, sending, sleeping, counting running requests
//! ([`LoadView`] is told), reading configuration, or hashing a conversation (a number is given).
//! It reads no clock, draws no random number, starts no task, does no I/O and logs nothing.
//!
//! ```
//! use std::{num::NonZeroU32, time::Duration};
//! use onwards_balance::{First, Load, Order, Strategy};
//!
//! let one = NonZeroU32::MIN;
//! let order = Order::new(Strategy::Priority, [one, one]).with_max_attempts(NonZeroU32::MIN.saturating_add(3));
//! let load = [Load::default(), Load::default()];
//! let mut candidates = order.candidates(First::Alternate);
//! let mut tried = Vec::new();
//! while let Some(provider) = candidates.next(&load[..], Duration::ZERO, 0) {
//!     tried.push(provider);
//! }
//! assert_eq!(tried, [1, 0, 0, 1]);
//! ```
//!
//! # Arguments
//!
//! * A **provider** is its position in the pool, in definition order.
//! * `now` is the time since a moment the caller chose once, from a monotonic clock; only
//!   [`Affinity`] wants the wall clock. An older `now` than before is harmless.
//! * `random` is 64 fresh random bits. Equal arguments give equal answers.
//!
//! # Invariants
//!
//! * Without replacement, a pass offers each provider at most once, and no provider above its
//!   limit is ever offered.
//! * A share is in `[share_floor, 1]`, moves at most once per dwell (apart from idle recovery),
//!   and an attempt begun before a decrease never counts after it.
//! * An affinity share holds still while the admitted conversations are within
//!   `target ± margin`.

mod affinity;
mod backoff;
mod controller;
mod load;
mod order;
mod point;
mod settings;

pub use affinity::{Affinity, AffinitySettings, Census};
pub use backoff::{Backoff, Jitter, Waits};
pub use controller::{
    Change, Controller, ControllerSettings, Direction, Gauge, Outcome, Seen, Ticket,
};
pub use load::{Load, LoadView};
pub use order::{Candidates, First, Order, Strategy};
pub use point::point;
pub use settings::SettingsError;
