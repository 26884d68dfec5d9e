//! The seam for a count that several processes share.
//!
//! # Why
//!
//! Three gateways that each allow an account 20 running requests allow it 60. An embedder with
//! a store all of them reach can implement [`Counter`] over it; without one, [`crate::Counts`]
//! counts per process.
//!
//! # Rules
//!
//! * **Entering** may wait for the network. **Cancel**: a dropped future must not leave a count
//!   behind; this is the implementer's duty.
//! * **Leaving** is the drop of the guard, which cannot wait: an implementer with a remote store
//!   hands the release to a task of its own and lets entries expire, for processes that die.
//! * **Store unreachable**: the implementer answers [`Admission::Uncounted`] to stay open or
//!   [`Admission::Unavailable`] to stay closed.

use std::fmt;
use std::pin::Pin;

use crate::counts::Counts;

/// Scope under which batch work is counted, apart from all accounts. No account may bear it.
pub const BATCH_SCOPE: &str = "__batch__";

/// Counts running requests per scope and alias.
pub trait Counter: Send + Sync {
    /// Asks to start a request of `scope` (an account, or [`BATCH_SCOPE`]) on `alias` while at
    /// most `limit` (zero: never) run.
    fn enter<'a>(&'a self, scope: &'a str, alias: &'a str, limit: u32) -> Entering<'a>;
}

/// The pending answer of a [`Counter`].
pub type Entering<'a> = Pin<Box<dyn Future<Output = Admission> + Send + 'a>>;

/// Kept while the request runs; its drop ends the count.
pub type Guard = Box<dyn Held>;

/// Anything that may serve as a guard. Implemented for every type that can travel with a body.
pub trait Held: Send + Sync {}

impl<T: Send + Sync> Held for T {}

/// Answer of a [`Counter`].
#[must_use = "dropping an admission ends its count at once"]
pub enum Admission {
    /// Counted until the guard is dropped.
    Counted(Guard),
    /// Let through without being counted.
    Uncounted,
    /// The limit is reached.
    Refused,
    /// The count cannot be asked, and nobody is let through without it.
    Unavailable,
}

impl fmt::Debug for Admission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Counted(_) => "Counted",
            Self::Uncounted => "Uncounted",
            Self::Refused => "Refused",
            Self::Unavailable => "Unavailable",
        })
    }
}

impl Counter for Counts {
    fn enter<'a>(&'a self, scope: &'a str, alias: &'a str, limit: u32) -> Entering<'a> {
        let answer = match self.try_enter(scope, alias, limit) {
            Some(guard) => Admission::Counted(Box::new(guard)),
            None => Admission::Refused,
        };
        Box::pin(std::future::ready(answer))
    }
}
