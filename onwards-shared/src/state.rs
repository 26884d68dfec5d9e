//! The handle: a counter of running requests and a taker of tokens, for many gateways at once.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use onwards_limits::{Admission, Counter, Entering, Gauge, Refused};
use thiserror::Error;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::admit::{Admitted, NotAdmitted, Place};
use crate::core::Core;
use crate::keeper::{self, Note};
use crate::observer::{Event, Observer};
use crate::rates::Limit;
use crate::settings::{Settings, SettingsError};

/// Running requests and request rates shared by all gateways with the same store and prefix. A handle: clones are the
/// same. Requires a tokio runtime; the background task ends with the last handle, guard and [`Taken`].
#[derive(Clone)]
pub struct SharedState {
    pub(crate) desk: Arc<Desk>,
}

/// Tokens taken, one from each bucket. Dropping it keeps them spent.
#[derive(Debug)]
pub struct Taken {
    desk: Arc<Desk>,
    keys: Vec<String>,
    alone: bool,
    gauges: Vec<Gauge>,
}

/// Why no token was taken; none of the buckets was charged.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NotTaken {
    /// A bucket is empty.
    #[error("{refused}")]
    Empty {
        /// Which one, and the time until it has a token, to the microsecond.
        refused: Refused,
        /// How all of them stand, in the order asked.
        gauges: Vec<Gauge>,
    },
    /// The store is away and the settings refuse everybody then.
    #[error("the shared state is away")]
    Away,
}

impl SharedState {
    /// Checks the settings and starts the background task, which connects. Does not wait: until the store answers,
    /// calls are decided as [`Settings::when_away`] says, and [`SharedState::up`] waits for that.
    ///
    /// # Errors
    ///
    /// A [`SettingsError`] when a setting is out of its range or there is no tokio runtime. A store that is away is
    /// not an error.
    pub fn connect(settings: Settings, observer: Arc<dyn Observer>) -> Result<Self, SettingsError> {
        let client = settings.client()?;
        let runtime = Handle::try_current().map_err(|_| SettingsError::NoRuntime)?;
        let (queue, notes) = mpsc::channel(settings.room());
        let (alive, followed) = watch::channel(());
        let core = Arc::new(Core::new(settings, observer));
        let task = runtime.spawn(keeper::keep(Arc::clone(&core), client, notes, followed));
        Ok(Self {
            desk: Arc::new(Desk {
                core,
                queue,
                _alive: alive,
                _task: task,
            }),
        })
    }

    /// Takes one token from each bucket, or from none: one round trip, and a refused call costs nothing.
    ///
    /// A bucket named twice pays twice. A call that is dropped or times out may have spent its tokens.
    ///
    /// # Errors
    ///
    /// [`NotTaken::Empty`] with the longest wait among the empty buckets; [`NotTaken::Away`] without the store, if the
    /// settings say so.
    pub async fn take(&self, limits: &[Limit<'_>]) -> Result<Taken, NotTaken> {
        match self.admit(None, limits).await {
            Ok(admitted) => Ok(admitted
                .taken
                .unwrap_or_else(|| self.taken(Vec::new(), true, Vec::new()))),
            Err(NotAdmitted::Empty { refused, gauges }) => Err(NotTaken::Empty { refused, gauges }),
            Err(_) => Err(NotTaken::Away),
        }
    }

    /// Whether calls go to the store at this moment.
    #[must_use]
    pub fn is_up(&self) -> bool {
        *self.desk.core.link.up().borrow()
    }

    /// Waits until calls go to the store, for ever if need be: put a time around it.
    pub async fn up(&self) {
        // The sender lives as long as this handle.
        let mut following = self.desk.core.link.up();
        let _lives = following.wait_for(|up| *up).await;
    }

    /// Requests running in this process that are counted here.
    #[must_use]
    pub fn held(&self) -> usize {
        self.desk.core.leases.total()
    }

    /// Releases and refunds waiting to be sent, at most [`Settings::queue`].
    #[must_use]
    pub fn queued(&self) -> usize {
        let queue = &self.desk.queue;
        queue.max_capacity().saturating_sub(queue.capacity())
    }

    /// Waits until all that was released before this call is sent, at most `within`; whether it was. For a shutdown,
    /// so that slots are free at once and not when their lease ends.
    pub async fn settle(&self, within: Duration) -> bool {
        let settled = async {
            let (asked, sent) = oneshot::channel();
            self.desk.queue.send(Note::Sent(asked)).await.ok()?;
            sent.await.ok()
        };
        matches!(timeout(within, settled).await, Ok(Some(())))
    }

    pub(crate) fn taken(&self, keys: Vec<String>, alone: bool, gauges: Vec<Gauge>) -> Taken {
        Taken {
            desk: Arc::clone(&self.desk),
            keys,
            alone,
            gauges,
        }
    }
}

impl Counter for SharedState {
    fn enter<'a>(&'a self, scope: &'a str, alias: &'a str, limit: u32) -> Entering<'a> {
        let place = Place {
            scope,
            alias,
            limit,
        };
        Box::pin(async move {
            match self.admit(Some(place), &[]).await {
                Ok(Admitted {
                    place: Some(guard), ..
                }) => Admission::Counted(guard),
                Ok(_) => Admission::Uncounted,
                Err(NotAdmitted::Away) => Admission::Unavailable,
                Err(_) => Admission::Refused,
            }
        })
    }
}

impl Taken {
    /// How the buckets stand after this, in the order asked.
    #[must_use]
    pub fn gauges(&self) -> &[Gauge] {
        &self.gauges
    }

    /// Undoes the take, for a request that is refused further on. Does not wait: the store is told in the background.
    pub fn give_back(self) {
        if self.alone {
            self.desk.core.rates.give_back(&self.keys);
        } else {
            self.desk.note(Note::GiveBack { keys: self.keys });
        }
    }
}

/// What handles and guards share. The background task does not hold it, and ends with it.
pub(crate) struct Desk {
    pub(crate) core: Arc<Core>,
    queue: mpsc::Sender<Note>,
    _alive: watch::Sender<()>,
    _task: JoinHandle<()>,
}

impl Desk {
    /// Queues a note; a full queue is said and left at that.
    pub(crate) fn note(&self, note: Note) {
        // A closed queue is a runtime that is gone, and nobody is left to tell.
        if let Err(mpsc::error::TrySendError::Full(_)) = self.queue.try_send(note) {
            self.core.observer.event(&Event::Unsent);
        }
    }
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk")
            .field("settings", &self.core.settings)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for SharedState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedState")
            .field("settings", &self.desk.core.settings)
            .field("up", &self.is_up())
            .field("held", &self.held())
            .finish_non_exhaustive()
    }
}
