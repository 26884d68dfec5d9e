//! Counts and rates that this gateway shares with others, where the configuration names a store (`shared_state`).
//!
//! A reload that leaves the store's settings as they are keeps its connection. Other settings make a new one: new requests are
//! counted there, those that run keep their place in the old one, whose connection ends with the last of them.

#[cfg(feature = "shared-state")]
mod store;
#[cfg(not(feature = "shared-state"))]
#[path = "shared/without.rs"]
mod store;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use onwards_config::{Problem, Problems, SharedState};
use onwards_limits::{Gauge, Guard};
use parking_lot::Mutex;
use tokio::runtime::Handle;

use crate::metrics::Metrics;

pub(crate) use self::store::{Store, Taken};

/// A place among the running requests of a scope on an alias.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    /// The account, or the scope of dispatched requests.
    pub(crate) scope: &'a str,
    /// The alias that the client named.
    pub(crate) alias: &'a str,
    /// The most that may run.
    pub(crate) limit: u32,
}

/// What the store has given to a request.
pub(crate) struct Granted {
    /// The place, if one was asked for.
    pub(crate) place: Option<Guard>,
    /// The tokens, if there were limits.
    pub(crate) taken: Option<Taken>,
}

/// Why the store has given nothing.
#[derive(Debug)]
#[cfg_attr(
    not(feature = "shared-state"),
    expect(dead_code, reason = "without a store nobody is denied by one")
)]
pub(crate) enum Denied {
    /// As many requests run as may.
    Full,
    /// A bucket is empty for so long, and how all of them stand.
    Empty { wait: Duration, gauges: Vec<Gauge> },
    /// The store is away, and nobody is let through without it.
    Away,
}

/// The store of one configuration.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) store: Arc<Store>,
    /// The rates of keys and pools are kept there too.
    pub(crate) rates: bool,
}

/// The connection in use, if there is one.
pub(crate) struct Links {
    /// Settings are checked and nothing is connected.
    dry: bool,
    current: Mutex<Option<Link>>,
}

struct Link {
    wanted: SharedState,
    store: Arc<Store>,
}

impl Links {
    pub(crate) fn new() -> Self {
        Self {
            dry: false,
            current: Mutex::default(),
        }
    }

    /// For checking a file: connects to nothing.
    pub(crate) fn dry() -> Self {
        Self {
            dry: true,
            ..Self::new()
        }
    }

    /// Whether a store can be connected to as wanted.
    ///
    /// # Errors
    /// What is wrong with the settings, or with this build.
    pub(crate) fn check(&self, wanted: Option<&SharedState>) -> Result<(), Problems> {
        let Some(wanted) = wanted else { return Ok(()) };
        store::check(wanted)?;
        if !self.dry && Handle::try_current().is_err() {
            return Err(unusable(
                "no runtime to connect on",
                "to be put into force on a tokio runtime",
            ));
        }
        Ok(())
    }

    /// The store as wanted: the one in use where nothing about it has changed, else a new one.
    ///
    /// # Errors
    /// None that [`check`](Self::check) has not found.
    pub(crate) fn connect(
        &self,
        wanted: Option<&SharedState>,
        metrics: &Metrics,
    ) -> Result<Option<Shared>, Problems> {
        let mut current = self.current.lock();
        let Some(wanted) = wanted.filter(|_| !self.dry) else {
            if let Some(old) = current.take() {
                old.store.retire();
                metrics.shared_state_gone();
            }
            return Ok(None);
        };
        let rates = wanted.rate_limits;
        if let Some(link) = current.as_ref().filter(|link| same(&link.wanted, wanted)) {
            let store = Arc::clone(&link.store);
            return Ok(Some(Shared { store, rates }));
        }
        if let Some(old) = &*current {
            old.store.retire();
        }
        let store = Arc::new(store::connect(wanted, metrics)?);
        *current = Some(Link {
            wanted: wanted.clone(),
            store: Arc::clone(&store),
        });
        Ok(Some(Shared { store, rates }))
    }

    /// Waits for the store to answer, if there is one; at most `within`.
    pub(crate) async fn up(&self, within: Duration) {
        if let Some(store) = self.store() {
            store.up(within).await;
        }
    }

    /// Waits until everything that was released is said to the store; at most `within`.
    pub(crate) async fn settle(&self, within: Duration) {
        if let Some(store) = self.store() {
            store.settle(within).await;
        }
    }

    fn store(&self) -> Option<Arc<Store>> {
        let current = self.current.lock();
        current.as_ref().map(|link| Arc::clone(&link.store))
    }
}

/// The problem with `shared_state` as a whole.
fn unusable(found: impl Into<String>, expected: &str) -> Problems {
    Problems(vec![Problem::new("shared_state", found, expected)])
}

/// Whether two settings mean the same connection.
fn same(one: &SharedState, other: &SharedState) -> bool {
    let texts = |shared: &SharedState| {
        let ca = shared.ca.as_ref().map(|ca| ca.expose().to_owned());
        (shared.redis.expose().to_owned(), ca, shared.prefix.clone())
    };
    let rest = |shared: &SharedState| (shared.timeout, shared.lease, shared.when_away);
    rest(one) == rest(other) && texts(one) == texts(other)
}

impl fmt::Debug for Links {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Links").finish_non_exhaustive()
    }
}
