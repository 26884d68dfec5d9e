//! The slots this process holds: what is renewed, what is released, and the count to go by when the store is away.
//!
//! Memory follows the running requests: a key without any is not kept.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Number of a slot within this process.
pub(crate) type Number = u64;

/// Whether the store has heard of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// Its answer said so.
    Yes,
    /// It was asked and did not answer in time.
    Perhaps,
    /// It was away.
    No,
}

/// Slots by key.
#[derive(Debug, Default)]
pub(crate) struct Leases {
    table: Mutex<HashMap<Arc<str>, HashMap<Number, Known>>>,
}

/// All slots of one key at one moment.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Renewal {
    pub(crate) key: Arc<str>,
    /// Those the store should have.
    pub(crate) known: Vec<Number>,
    /// Those it may have to be told of.
    pub(crate) others: Vec<Number>,
}

impl Leases {
    /// Slots held under `key`.
    pub(crate) fn count(&self, key: &str) -> usize {
        self.lock().get(key).map_or(0, HashMap::len)
    }

    /// Slots held.
    pub(crate) fn total(&self) -> usize {
        self.lock().values().map(HashMap::len).sum()
    }

    /// Notes a slot if fewer than `limit` are held under its key; `None` as limit always does.
    pub(crate) fn enter(
        &self,
        key: &Arc<str>,
        number: Number,
        known: Known,
        limit: Option<u32>,
    ) -> bool {
        let mut table = self.lock();
        let held = table.get(key).map_or(0, HashMap::len);
        if limit.is_some_and(|limit| held >= limit as usize) {
            return false;
        }
        match table.get_mut(key) {
            Some(slots) => slots.insert(number, known),
            None => table
                .entry(Arc::clone(key))
                .or_default()
                .insert(number, known),
        };
        true
    }

    /// Forgets a slot; what the store knows of it, if it was held.
    pub(crate) fn leave(&self, key: &str, number: Number) -> Option<Known> {
        let mut table = self.lock();
        let slots = table.get_mut(key)?;
        let known = slots.remove(&number);
        if slots.is_empty() {
            table.remove(key);
            if table.capacity() > 64 && table.len() < table.capacity() / 8 {
                let room = table.capacity() / 2;
                table.shrink_to(room);
            }
        }
        known
    }

    /// Everything held, to be told to the store; from here on it may know all of it.
    pub(crate) fn renewals(&self) -> Vec<Renewal> {
        let mut table = self.lock();
        let mut all = Vec::with_capacity(table.len());
        for (key, slots) in table.iter_mut() {
            let mut renewal = Renewal {
                key: Arc::clone(key),
                known: Vec::new(),
                others: Vec::new(),
            };
            for (&number, known) in slots.iter_mut() {
                if *known == Known::Yes {
                    renewal.known.push(number);
                } else {
                    *known = Known::Perhaps;
                    renewal.others.push(number);
                }
            }
            all.push(renewal);
        }
        all
    }

    /// Marks slots the store has answered for.
    pub(crate) fn renewed(&self, renewals: &[Renewal]) {
        let mut table = self.lock();
        for renewal in renewals {
            if let Some(slots) = table.get_mut(&renewal.key) {
                for number in renewal.known.iter().chain(&renewal.others) {
                    if let Some(known) = slots.get_mut(number) {
                        *known = Known::Yes;
                    }
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, HashMap<Number, Known>>> {
        // Nothing in here panics while the lock is held.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
