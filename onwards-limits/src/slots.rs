//! Concurrency limit: how many requests may run at once.
//!
//! # Why
//!
//! A rate says nothing about how long requests last. A provider that can hold 8 streams is
//! overrun by 2 requests a second that run for 10 seconds each (20 at once). A slot is taken
//! when a request starts and freed when its last byte is out, however that end comes about.
//!
//! # Rules
//!
//! * **Cancel, error, end**: dropping the [`Permit`] frees the slot; there is no other way to
//!   leave, so none can be forgotten or freed twice.
//! * **Zero**: a limit of 0 refuses everybody. **None**: everybody is counted, nobody refused.
//! * **Ties**: of two calls for the last slot exactly one gets it.
//! * **Reload**: the limit is an argument of each call, the count lives on. With 5 in use, a
//!   limit lowered to 3 refuses newcomers until the count is below 3; no running request is cut.
//! * **Idle**: nothing happens, nothing is kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A count of running requests, shared in an `Arc` with its permits.
#[derive(Debug, Default)]
pub struct Slots {
    in_use: AtomicU32,
}

/// One slot in use; dropping it frees the slot.
#[derive(Debug)]
#[must_use = "dropping a permit frees its slot at once"]
pub struct Permit {
    slots: Arc<Slots>,
}

impl Slots {
    /// Takes a slot if fewer than `max` are in use; `None` as `max` always does.
    ///
    /// Lock-free. Refuses also at `u32::MAX` permits, the end of the count.
    #[must_use = "dropping a permit frees its slot at once"]
    pub fn try_enter(self: &Arc<Self>, max: Option<u32>) -> Option<Permit> {
        // The count guards no other memory, so relaxed ordering is enough.
        self.in_use
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
                used.checked_add(1)
                    .filter(|&after| max.is_none_or(|max| after <= max))
            })
            .ok()
            .map(|_| Permit {
                slots: Arc::clone(self),
            })
    }

    /// Permits alive at this moment.
    #[must_use]
    pub fn in_use(&self) -> u32 {
        self.in_use.load(Ordering::Relaxed)
    }

    /// Whether a permit could be had at this moment. Another thread may be faster.
    #[must_use]
    pub fn has_room(&self, max: Option<u32>) -> bool {
        max.is_none_or(|max| self.in_use() < max)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.slots.in_use.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
