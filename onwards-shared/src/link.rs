//! The connection in use, and the circuit: without one no call waits.
//!
//! # Why
//!
//! A store that is dead costs every request the whole bound: at 5 ms and 1,000 requests a second, five of them wait at
//! any time for nothing. After a few time-outs in a row the connection is taken out of use at one stroke, calls are
//! decided without it, and one background task finds out when it can come back.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

/// The way to the store, if there is one.
#[derive(Debug)]
pub(crate) struct Link {
    way: RwLock<Way>,
    /// Woken when the connection is taken out of use.
    fallen: Notify,
    up: watch::Sender<bool>,
}

#[derive(Debug)]
enum Way {
    Open(Arc<Live>),
    Closed { since: Instant },
}

/// A connection in use.
#[derive(Debug)]
pub(crate) struct Live {
    connection: MultiplexedConnection,
    /// Failures in a row.
    strikes: AtomicU32,
    /// When the last of them was noted.
    struck: Mutex<Option<Instant>>,
}

impl Link {
    pub(crate) fn new() -> Self {
        Self {
            way: RwLock::new(Way::Closed {
                since: Instant::now(),
            }),
            fallen: Notify::new(),
            up: watch::Sender::new(false),
        }
    }

    /// The connection in use; none means away.
    pub(crate) fn live(&self) -> Option<Arc<Live>> {
        match &*self.way.read().unwrap_or_else(PoisonError::into_inner) {
            Way::Open(live) => Some(Arc::clone(live)),
            Way::Closed { .. } => None,
        }
    }

    /// Brings a connection into use; the time there was none.
    pub(crate) fn rise(&self, connection: MultiplexedConnection) -> Duration {
        let live = Way::Open(Arc::new(Live {
            connection,
            strikes: AtomicU32::new(0),
            struck: Mutex::new(None),
        }));
        let mut way = self.way.write().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *way, live);
        // Under the lock, so that both always say the same.
        self.up.send_replace(true);
        match before {
            Way::Closed { since } => since.elapsed(),
            Way::Open(_) => Duration::ZERO,
        }
    }

    /// Takes this connection out of use; false if another call was faster.
    pub(crate) fn fall(&self, failed: &Arc<Live>) -> bool {
        let mut way = self.way.write().unwrap_or_else(PoisonError::into_inner);
        if !matches!(&*way, Way::Open(live) if Arc::ptr_eq(live, failed)) {
            return false;
        }
        let since = Instant::now();
        *way = Way::Closed { since };
        self.up.send_replace(false);
        drop(way);
        self.fallen.notify_one();
        true
    }

    /// Resolves once after each fall.
    pub(crate) async fn fallen(&self) {
        self.fallen.notified().await;
    }

    /// Follows whether there is a connection in use.
    pub(crate) fn up(&self) -> watch::Receiver<bool> {
        self.up.subscribe()
    }
}

impl Live {
    /// A handle to send by; handles share one connection and their commands keep their order.
    pub(crate) fn connection(&self) -> MultiplexedConnection {
        self.connection.clone()
    }

    /// An answer in time ends the row.
    pub(crate) fn answered(&self) {
        if self.strikes.load(Ordering::Relaxed) != 0 {
            self.strikes.store(0, Ordering::Relaxed);
        }
    }

    /// A call that was begun at `asked` failed; the number of failures in a row.
    ///
    /// Calls that were under way together fail together, so those begun before the last failure was noted are no more
    /// than that one: a pause of the machine is one strike, however many calls it hits.
    pub(crate) fn strike(&self, asked: Instant) -> u32 {
        let mut struck = self.struck.lock().unwrap_or_else(PoisonError::into_inner);
        if struck.is_some_and(|struck| asked < struck) {
            return self.strikes.load(Ordering::Relaxed);
        }
        *struck = Some(Instant::now());
        self.strikes
            .fetch_add(1, Ordering::Relaxed)
            .saturating_add(1)
    }
}
