//! Living state: buckets and slots, found by what they belong to, so that a reload carries them over.
//!
//! The one rule for things that come and go: state lives as long as a configuration or a running request holds it. A
//! provider that stays in the file through a reload keeps its counts and its bucket's level; one that is removed is
//! forgotten when its last request ends, and starts anew when it is added again after that.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use onwards_limits::{Bucket, Slots};
use parking_lot::Mutex;

use super::affinity::Affinity;
use super::pause::Pause;
use super::share::Share;
use super::thoughts::Thoughts;

/// Living state that a reload has carried over from the configuration before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Token buckets of keys, pools and providers, with their levels.
    pub buckets: usize,
    /// Counts of running requests of keys, pools and providers.
    pub counts: usize,
    /// Load-aware shares.
    pub shares: usize,
    /// Memories of conversations.
    pub affinities: usize,
}

/// How often it is said that requests are shed.
const SHEDDING_TOLD_EVERY: Duration = Duration::from_secs(10);

/// All living state of a gateway.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    buckets: Shelf<Bucket>,
    slots: Shelf<Slots>,
    pauses: Shelf<Pause>,
    /// Thoughts of models whose clients do not send them back.
    pub(crate) thoughts: Arc<Thoughts>,
    /// All proxied requests in flight, whatever configuration they began with.
    pub(crate) inflight: Arc<Slots>,
    /// When it was last said that requests are shed: milliseconds, and one.
    shedding_told: AtomicU64,
    /// What pools with several providers have learnt, by alias. Held by the ledger, since a parked controller waits for
    /// its pool to grow again.
    learnt: Mutex<HashMap<String, Learnt>>,
    /// How many shares and affinities the last configuration has carried over.
    carried: [AtomicUsize; 2],
}

impl Ledger {
    /// The bucket with this identity, or the one that `make` makes.
    pub(super) fn bucket(&self, identity: String, make: impl FnOnce() -> Bucket) -> Arc<Bucket> {
        self.buckets.find_or(identity, make)
    }

    /// The slots with this identity.
    pub(super) fn slots(&self, identity: String) -> Arc<Slots> {
        self.slots.find_or(identity, Slots::default)
    }

    /// The pause of the provider with this identity.
    pub(super) fn pause(&self, identity: String) -> Arc<Pause> {
        self.pauses.find_or(identity, Pause::default)
    }

    /// Whether it is time to say that requests are shed; whoever is told so says it.
    pub(crate) fn tells_shedding(&self, now: Duration) -> bool {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX - 1);
        let (now, every) = (millis(now).saturating_add(1), millis(SHEDDING_TOLD_EVERY));
        self.shedding_told
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |told| {
                (told == 0 || now >= told.saturating_add(every)).then_some(now)
            })
            .is_ok()
    }

    /// Takes out what all pools have learnt, for a new configuration to carry over what it can.
    pub(super) fn take_learnt(&self) -> HashMap<String, Learnt> {
        std::mem::take(&mut self.learnt.lock())
    }

    /// Puts back what the pools of the new configuration know, and how many shares and affinities of that they had before.
    pub(super) fn keep_learnt(&self, learnt: HashMap<String, Learnt>, carried: [usize; 2]) {
        *self.learnt.lock() = learnt;
        for (place, count) in self.carried.iter().zip(carried) {
            place.store(count, Ordering::Relaxed);
        }
    }

    /// What the last configuration has found. Meant for the one that loads, before the next load.
    pub(crate) fn kept(&self) -> Kept {
        let [shares, affinities] = &self.carried;
        Kept {
            buckets: self.buckets.found(),
            counts: self.slots.found(),
            shares: shares.load(Ordering::Relaxed),
            affinities: affinities.load(Ordering::Relaxed),
        }
    }

    /// Forgets what nobody holds, before a new configuration asks for the rest.
    pub(super) fn sweep(&self) {
        self.buckets.sweep();
        self.slots.sweep();
        self.pauses.sweep();
    }
}

/// What the default pool of an alias has learnt.
#[derive(Clone, Debug, Default)]
pub(super) struct Learnt {
    pub(super) share: Option<Arc<Share>>,
    pub(super) affinity: Option<Arc<Affinity>>,
}

/// Things that live as long as somebody holds them.
#[derive(Debug)]
struct Shelf<T> {
    things: Mutex<HashMap<String, Weak<T>>>,
    /// How many were there when they were asked for, since the last sweep.
    found: AtomicUsize,
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self {
            things: Mutex::default(),
            found: AtomicUsize::new(0),
        }
    }
}

impl<T> Shelf<T> {
    fn find_or(&self, identity: String, make: impl FnOnce() -> T) -> Arc<T> {
        let mut shelf = self.things.lock();
        let place = shelf.entry(identity).or_default();
        if let Some(found) = place.upgrade() {
            self.found.fetch_add(1, Ordering::Relaxed);
            return found;
        }
        let made = Arc::new(make());
        *place = Arc::downgrade(&made);
        made
    }

    fn found(&self) -> usize {
        self.found.load(Ordering::Relaxed)
    }

    fn sweep(&self) {
        self.found.store(0, Ordering::Relaxed);
        self.things.lock().retain(|_, held| held.strong_count() > 0);
    }
}

#[cfg(test)]
mod tests {
    use super::Ledger;
    use std::sync::Arc;
    use std::time::Duration;

    #[test]
    fn shedding_is_told_at_once_and_then_every_ten_seconds() {
        let ledger = Ledger::default();
        let at = |millis| ledger.tells_shedding(Duration::from_millis(millis));
        for (millis, told) in [
            (0, true),
            (0, false),
            (9999, false),
            (10_000, true),
            (19_999, false),
            (3_600_000, true),
            (3_600_001, false),
        ] {
            assert_eq!(at(millis), told, "{millis} ms");
        }
    }

    #[test]
    fn what_is_held_is_found_again_and_what_is_not_starts_anew() {
        let ledger = Ledger::default();
        let first = ledger.slots("a".to_owned());
        let permit = first.try_enter(None).unwrap();
        assert!(Arc::ptr_eq(&first, &ledger.slots("a".to_owned())));
        drop(first);
        ledger.sweep();
        // The permit still holds the slots.
        assert_eq!(ledger.slots("a".to_owned()).in_use(), 1);
        drop(permit);
        ledger.sweep();
        assert!(ledger.slots.things.lock().is_empty());
        assert_eq!(ledger.slots("a".to_owned()).in_use(), 0);
    }
}
