//! The connections of one address that can take a request now: idle ones, and HTTP/2 ones that are shared.
//!
//! A plain value behind the pool's lock: it opens nothing and waits for nothing, and time is an argument.
//!
//! - **Idle** HTTP/1.1 connections: at most so many, none longer than so long, the most recently used taken first. What is
//!   beyond the number goes, the longest idle first.
//! - **Shared** HTTP/2 connections carry as many streams as their peer allows; there is a second one only when the first is
//!   full, and a connection without streams is idle like any other. A connection that failed a call is retired: its other
//!   streams go on, but it takes no new ones.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use hyper::client::conn::http2;
use onwards_config::HttpPool;
use tokio::time::Instant;

use super::body::Outgoing;
use super::connection::Connection;

/// Calls that fail with the same connection within this time replace it once, together.
const TOGETHER: Duration = Duration::from_secs(1);

/// Sends requests over a shared connection.
pub(super) type Sender = http2::SendRequest<Outgoing>;

/// The place of a shared connection in the order in which an address's were made; counted from 1.
pub(super) type Serial = u64;

/// The connections of one address.
#[derive(Debug)]
pub(super) struct Kept {
    keeping: HttpPool,
    idle: Vec<Idle>,
    shared: Vec<Shared>,
    made: Serial,
    retired: Option<Retired>,
    /// Somebody looks after what has been idle for too long, or was closed.
    attended: bool,
    /// Wakes whoever does.
    attendant: Option<Waker>,
}

#[derive(Debug)]
struct Idle {
    connection: Connection,
    since: Instant,
}

#[derive(Debug)]
struct Shared {
    sender: Sender,
    serial: Serial,
    /// How many streams the peer allows at once.
    room: Arc<AtomicUsize>,
    streams: usize,
    /// When the last stream ended.
    since: Instant,
}

#[derive(Clone, Copy, Debug)]
struct Retired {
    serial: Serial,
    at: Instant,
    /// The newest connection at that moment.
    newest: Serial,
}

impl Kept {
    pub(super) fn new(keeping: HttpPool) -> Self {
        Self {
            keeping,
            idle: Vec::new(),
            shared: Vec::new(),
            made: 0,
            retired: None,
            attended: false,
            attendant: None,
        }
    }

    /// The most recently used idle connection that is still alive.
    pub(super) fn take(&mut self, now: Instant) -> Option<Connection> {
        let mut unheard = Context::from_waker(Waker::noop());
        while let Some(Idle {
            mut connection,
            since,
        }) = self.idle.pop()
        {
            if now.duration_since(since) >= self.keeping.idle_timeout {
                // What lies below is older still.
                self.idle.clear();
            } else if connection.is_quiet(&mut unheard) {
                return Some(connection);
            }
        }
        None
    }

    /// Adds a connection to the idle ones. True when somebody has to look after them from now on.
    pub(super) fn keep(&mut self, mut connection: Connection, now: Instant) -> bool {
        let most = self.keeping.max_idle_per_host;
        let waker = self.attendant.as_ref().unwrap_or(Waker::noop());
        let mut attendant = Context::from_waker(waker);
        if !connection.is_quiet(&mut attendant) {
            return false;
        }
        if self.idle.len() >= most {
            self.idle
                .retain_mut(|idle| idle.connection.is_quiet(&mut attendant));
        }
        self.idle.push(Idle {
            connection,
            since: now,
        });
        let excess = self.idle.len().saturating_sub(most);
        self.idle.drain(..excess);
        self.is_unattended()
    }

    /// Opens a stream on a shared connection that is newer than `after` and has room.
    pub(super) fn enter(&mut self, after: Serial) -> Option<(Sender, Serial)> {
        self.shared.retain(|shared| !shared.sender.is_closed());
        let roomy = self.shared.iter_mut().find(|shared| {
            shared.serial > after && shared.streams < shared.room.load(Ordering::Relaxed)
        })?;
        roomy.streams += 1;
        Some((roomy.sender.clone(), roomy.serial))
    }

    /// Shares a new connection, whose first stream is opened with it.
    pub(super) fn share(&mut self, sender: Sender, room: Arc<AtomicUsize>, now: Instant) -> Serial {
        self.made += 1;
        self.shared.push(Shared {
            sender,
            serial: self.made,
            room,
            streams: 1,
            since: now,
        });
        self.made
    }

    /// Ends a stream. True when somebody has to look after idle connections from now on.
    pub(super) fn leave(&mut self, serial: Serial, now: Instant) -> bool {
        let Some(at) = self
            .shared
            .iter()
            .position(|shared| shared.serial == serial)
        else {
            return false; // retired
        };
        let Some(shared) = self.shared.get_mut(at) else {
            return false;
        };
        shared.streams = shared.streams.saturating_sub(1);
        shared.since = now;
        if shared.streams > 0 {
            return false;
        }
        if self.keeping.max_idle_per_host == 0 {
            self.shared.remove(at);
            return false;
        }
        self.is_unattended()
    }

    /// Takes a shared connection that failed a call out of use. Only connections made after the one this returns are
    /// certainly new: those that calls failing together make for each other.
    pub(super) fn retire(&mut self, serial: Serial, now: Instant) -> Serial {
        let before = self.shared.len();
        self.shared.retain(|shared| shared.serial != serial);
        let known = self.retired.filter(|retired| {
            before == self.shared.len()
                && retired.serial == serial
                && now.duration_since(retired.at) < TOGETHER
        });
        if let Some(known) = known {
            return known.newest;
        }
        self.retired = Some(Retired {
            serial,
            at: now,
            newest: self.made,
        });
        self.made
    }

    /// The newest shared connection.
    pub(super) fn newest(&self) -> Serial {
        self.made
    }

    /// Closes what has been idle for too long, and what its peer has closed; the waker hears of more of the latter. When to look
    /// again; `None`: nothing is idle, nobody has to look.
    pub(super) fn expire(&mut self, now: Instant, attendant: &Waker) -> Option<Instant> {
        let timeout = self.keeping.idle_timeout;
        let fresh = |since: Instant| now.duration_since(since) < timeout;
        let mut heard = Context::from_waker(attendant);
        self.idle
            .retain_mut(|idle| fresh(idle.since) && idle.connection.is_quiet(&mut heard));
        self.shared.retain(|shared| {
            !shared.sender.is_closed() && (shared.streams > 0 || fresh(shared.since))
        });
        let idle = self.idle.iter().map(|idle| idle.since);
        let quiet = self.shared.iter().filter(|shared| shared.streams == 0);
        let oldest = idle.chain(quiet.map(|shared| shared.since)).min();
        self.attended = oldest.is_some();
        self.attendant = self.attended.then(|| attendant.clone());
        oldest.map(|since| since + timeout)
    }

    /// How many connections are idle.
    #[cfg(test)]
    pub(super) fn idle(&self) -> usize {
        self.idle.len()
    }

    fn is_unattended(&mut self) -> bool {
        !std::mem::replace(&mut self.attended, true)
    }
}
