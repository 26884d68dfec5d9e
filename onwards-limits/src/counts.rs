//! Running requests per (scope, alias), within one process.
//!
//! # Why
//!
//! A concurrency limit on an alias lets one tenant fill it. A limit per account divides it: with
//! 20 each, an account that sends 500 requests at once gets 20 running and 480 refusals, and the
//! next account still finds room. Accounts are too many to keep a counter for each for ever, so
//! a key exists only while something runs under it.
//!
//! # Rules
//!
//! * **Limit** is an argument of each call, so a reload changes it and the counts live on.
//!   Zero refuses everybody.
//! * **Cancel, error, end**: dropping the [`CountGuard`] leaves. The last guard of a key removes
//!   the key.
//! * **Refused** calls store nothing. **Idle**: an unused `Counts` holds no entries, and the
//!   table gives back room once it is mostly empty, so memory follows the running requests and
//!   not the number of accounts ever seen.
//! * **Keys** are compared as pairs: ("a", "bc") and ("ab", "c") are two.
//!
//! One lock guards all keys, held for two table look-ups.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Counts per (scope, alias). A handle: clones share the counts.
#[derive(Debug, Clone, Default)]
pub struct Counts {
    table: Arc<Mutex<Table>>,
}

/// One counted request; dropping it ends the count.
#[derive(Debug)]
#[must_use = "dropping a guard ends its count at once"]
pub struct CountGuard {
    table: Arc<Mutex<Table>>,
    scope: Arc<str>,
    alias: Arc<str>,
}

impl Counts {
    /// Counts one more request of `scope` on `alias` if fewer than `limit` run.
    #[must_use = "dropping a guard ends its count at once"]
    pub fn try_enter(&self, scope: &str, alias: &str, limit: u32) -> Option<CountGuard> {
        let (scope, alias) = lock(&self.table).enter(scope, alias, limit)?;
        Some(CountGuard {
            table: Arc::clone(&self.table),
            scope,
            alias,
        })
    }

    /// Requests of `scope` running on `alias`.
    #[must_use]
    pub fn in_use(&self, scope: &str, alias: &str) -> u32 {
        lock(&self.table)
            .scopes
            .get(scope)
            .and_then(|aliases| aliases.get(alias))
            .map_or(0, |running| running.count)
    }

    /// Number of scopes with something running.
    #[must_use]
    pub fn scopes(&self) -> usize {
        lock(&self.table).scopes.len()
    }
}

impl Drop for CountGuard {
    fn drop(&mut self) {
        lock(&self.table).leave(&self.scope, &self.alias);
    }
}

/// Counts by scope, then alias; no count is zero and no inner table empty.
#[derive(Debug, Default)]
struct Table {
    scopes: HashMap<Arc<str>, HashMap<Arc<str>, Running>>,
}

#[derive(Debug)]
struct Running {
    /// The keys of both tables again, so that finding an entry yields them without a second look.
    scope: Arc<str>,
    alias: Arc<str>,
    count: u32,
}

impl Table {
    fn enter(&mut self, scope: &str, alias: &str, limit: u32) -> Option<(Arc<str>, Arc<str>)> {
        if limit == 0 {
            return None;
        }
        if let Some(aliases) = self.scopes.get_mut(scope) {
            if let Some(running) = aliases.get_mut(alias) {
                running.count = running
                    .count
                    .checked_add(1)
                    .filter(|&after| after <= limit)?;
                return Some((Arc::clone(&running.scope), Arc::clone(&running.alias)));
            }
            // An inner table is never empty, so the scope's name is there to share.
            let name = aliases
                .values()
                .next()
                .map(|other| Arc::clone(&other.scope));
            let (scope, alias) = (
                name.unwrap_or_else(|| scope.into()),
                Arc::<str>::from(alias),
            );
            aliases.insert(Arc::clone(&alias), Running::first(&scope, &alias));
            return Some((scope, alias));
        }
        let (scope, alias) = (Arc::<str>::from(scope), Arc::<str>::from(alias));
        let aliases = HashMap::from([(Arc::clone(&alias), Running::first(&scope, &alias))]);
        self.scopes.insert(Arc::clone(&scope), aliases);
        Some((scope, alias))
    }

    fn leave(&mut self, scope: &str, alias: &str) {
        let Some(aliases) = self.scopes.get_mut(scope) else {
            return;
        };
        if let Some(running) = aliases.get_mut(alias) {
            running.count = running.count.saturating_sub(1);
            if running.count > 0 {
                return;
            }
        }
        aliases.remove(alias);
        if aliases.is_empty() {
            self.scopes.remove(scope);
            shrink(&mut self.scopes);
        } else {
            shrink(aliases);
        }
    }
}

impl Running {
    fn first(scope: &Arc<str>, alias: &Arc<str>) -> Self {
        Self {
            scope: Arc::clone(scope),
            alias: Arc::clone(alias),
            count: 1,
        }
    }
}

/// Halves a table that is less than an eighth full; rare enough to cost nothing on average.
fn shrink<V>(table: &mut HashMap<Arc<str>, V>) {
    if table.capacity() > 64 && table.len() < table.capacity() / 8 {
        table.shrink_to(table.capacity() / 2);
    }
}

fn lock(table: &Mutex<Table>) -> MutexGuard<'_, Table> {
    // Nothing in here panics while the lock is held.
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
