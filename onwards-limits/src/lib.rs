//! Limits for requests: how many per second, how many at once, and how many at once per account.
//!
//! **Owns** the arithmetic of three limits:
//!
//! * [`Bucket`], a token bucket for request rates, with exact waits and refunds, and
//!   [`take_all`] to pay several buckets or none;
//! * [`Slots`], a count of running requests, with a [`Permit`] that frees its slot on drop;
//! * [`Counts`], the same per (scope, alias), for accounts and batch work, behind the
//!   [`Counter`] trait that an embedder may implement over a store shared by several processes.
//!
//! **Does not own** what a limit is called in a file, who it applies to, in which order limits
//! are asked, or what a refused caller is told. It reads no clock, starts no task, does no I/O
//! and logs nothing.
//!
//! ```
//! use std::{sync::Arc, time::Duration};
//! use onwards_limits::{Bucket, Rate, Slots};
//!
//! let start = Duration::ZERO;
//! let bucket = Bucket::new(Rate::new(2.0, 1)?, start);
//! assert!(bucket.take(start).is_ok());
//! let refused = bucket.take(start).unwrap_err();
//! assert_eq!(refused.wait(), Duration::from_millis(500));
//! assert!(bucket.take(start + refused.wait()).is_ok());
//!
//! let slots = Arc::new(Slots::default());
//! let permit = slots.try_enter(Some(1)).expect("the first one fits");
//! assert!(slots.try_enter(Some(1)).is_none());
//! drop(permit);
//! assert_eq!(slots.in_use(), 0);
//! # Ok::<(), onwards_limits::RateError>(())
//! ```
//!
//! # Time
//!
//! Every `now` is the time since a moment the caller chooses once (say, process start), read
//! from a monotonic clock. Nanoseconds count; times above 584 years are treated as that. Calls
//! may arrive out of order from several threads: a `now` older than the newest one seen counts
//! as the newest one.
//!
//! # Invariants
//!
//! * In any stretch of time `t`, a bucket admits at most `burst + rate * t` requests.
//! * A call that takes `wait` for an answer and comes back after it is admitted, unless someone
//!   else was faster; one nanosecond earlier it is refused.
//! * `in_use` never exceeds the largest limit a permit was entered under, and is zero once all
//!   permits are dropped.
//! * [`Counts`] holds memory for keys with running requests only.

mod bucket;
mod counter;
mod counts;
mod rate;
mod slots;

pub use bucket::{Bucket, Gauge, Refused, Wait, give_back_all, take_all};
pub use counter::{Admission, BATCH_SCOPE, Counter, Entering, Guard, Held};
pub use counts::{CountGuard, Counts};
pub use rate::{Rate, RateError};
pub use slots::{Permit, Slots};
