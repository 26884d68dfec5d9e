//! The handle: a counter of running requests and a taker of tokens, for many gateways at once.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use onwards_limits::{Admission, Counter, Entering, Gauge, Refused};
use redis::Value;
use thiserror::Error;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::core::{Core, Unanswered};
use crate::keeper::{self, Note};
use crate::leases::{Known, Number};
use crate::observer::{Event, Observer};
use crate::rates::{Decision, Limit, decision, taking};
use crate::settings::{Settings, SettingsError, WhenAway};

/// Running requests and request rates shared by all gateways with the same store and prefix. A handle: clones are the
/// same. Requires a tokio runtime; the background task ends with the last handle, guard and [`Taken`].
#[derive(Clone)]
pub struct SharedState {
    desk: Arc<Desk>,
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
        let core = &self.desk.core;
        let keys: Vec<String> = limits
            .iter()
            .map(|limit| core.keys.rate(limit.name))
            .collect();
        if limits.is_empty() {
            return Ok(self.taken(keys, true, Vec::new()));
        }
        let command = taking(&core.scripts.take, &keys, limits);
        let answer = core.ask(&core.scripts.take, &command).await;
        if let Some(Decision { refused, gauges }) =
            answer.ok().and_then(|answer| decision(&answer, limits))
        {
            return match refused {
                None => Ok(self.taken(keys, false, gauges)),
                Some(refused) => Err(NotTaken::Empty { refused, gauges }),
            };
        }
        if core.settings.when_away == WhenAway::Refuse {
            core.observer.event(&Event::Alone { admitted: false });
            return Err(NotTaken::Away);
        }
        let Decision { refused, gauges } = core.rates.take(&keys, limits);
        core.observer.event(&Event::Alone {
            admitted: refused.is_none(),
        });
        match refused {
            None => Ok(self.taken(keys, true, gauges)),
            Some(refused) => Err(NotTaken::Empty { refused, gauges }),
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

    fn taken(&self, keys: Vec<String>, alone: bool, gauges: Vec<Gauge>) -> Taken {
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
        Box::pin(self.desk.enter(scope, alias, limit))
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
struct Desk {
    core: Arc<Core>,
    queue: mpsc::Sender<Note>,
    _alive: watch::Sender<()>,
    _task: JoinHandle<()>,
}

impl Desk {
    async fn enter(self: &Arc<Self>, scope: &str, alias: &str, limit: u32) -> Admission {
        let core = &self.core;
        if limit == 0 {
            return Admission::Refused;
        }
        let key: Arc<str> = core.keys.running(scope, alias).into();
        // All slots held here are also counted there, so there is no room either.
        if core.leases.count(&key) >= limit as usize {
            return Admission::Refused;
        }
        let number = core.number();
        // From here on a dropped call may leave a slot behind, which this releases.
        let mut slot = Slot {
            desk: Arc::clone(self),
            key,
            number,
            state: State::Asked,
        };
        let lease = core.settings.lease_millis();
        let command = core.scripts.entering(&slot.key, number, limit, lease);
        match core.ask(&core.scripts.enter, &command).await {
            Ok(Value::Int(1)) => {
                slot.hold(Known::Yes, None);
                Admission::Counted(Box::new(slot))
            }
            Ok(_) => {
                slot.state = State::Free;
                Admission::Refused
            }
            Err(unanswered) => slot.alone(unanswered, limit),
        }
    }

    /// Queues a note; a full queue is said and left at that.
    fn note(&self, note: Note) {
        // A closed queue is a runtime that is gone, and nobody is left to tell.
        if let Err(mpsc::error::TrySendError::Full(_)) = self.queue.try_send(note) {
            self.core.observer.event(&Event::Unsent);
        }
    }
}

/// A slot on its way in, held, or refused; its drop frees it.
struct Slot {
    desk: Arc<Desk>,
    key: Arc<str>,
    number: Number,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The store may have it.
    Asked,
    /// Held and noted.
    Held,
    /// The store does not have it.
    Free,
}

impl Slot {
    /// Notes the slot; false if this process alone is at the limit.
    fn hold(&mut self, known: Known, limit: Option<u32>) -> bool {
        let held = self
            .desk
            .core
            .leases
            .enter(&self.key, self.number, known, limit);
        if held {
            self.state = State::Held;
        }
        held
    }

    /// Decides without the store.
    fn alone(mut self, unanswered: Unanswered, limit: u32) -> Admission {
        let known = match unanswered {
            Unanswered::Unsent => {
                self.state = State::Free;
                Known::No
            }
            Unanswered::Sent => Known::Perhaps,
        };
        let core = Arc::clone(&self.desk.core);
        let admitted = core.settings.when_away == WhenAway::Admit && self.hold(known, Some(limit));
        core.observer.event(&Event::Alone { admitted });
        if admitted {
            Admission::Counted(Box::new(self))
        } else {
            Admission::Refused
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let told = match self.state {
            State::Free => false,
            State::Asked => true,
            State::Held => {
                let known = self.desk.core.leases.leave(&self.key, self.number);
                known.is_some_and(|known| known != Known::No)
            }
        };
        if told {
            self.desk.note(Note::Release {
                key: Arc::clone(&self.key),
                number: self.number,
            });
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
