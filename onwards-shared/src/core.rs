//! What requests and the background task share.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use redis::{Cmd, Value};
use tokio::time::{Instant, timeout};

use crate::keys::Keys;
use crate::leases::{Leases, Number};
use crate::link::{Link, Live};
use crate::observer::{Event, Observer, Reason, short};
use crate::rates::LocalRates;
use crate::script::{self, Script, Scripts};
use crate::settings::Settings;

/// Everything but the queue.
pub(crate) struct Core {
    pub(crate) settings: Settings,
    pub(crate) keys: Keys,
    pub(crate) scripts: Scripts,
    pub(crate) link: Link,
    pub(crate) leases: Leases,
    pub(crate) rates: LocalRates,
    pub(crate) observer: Arc<dyn Observer>,
    numbers: AtomicU64,
}

/// A call without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unanswered {
    /// It was not sent.
    Unsent,
    /// It was, and may have been carried out.
    Sent,
}

impl Core {
    pub(crate) fn new(settings: Settings, observer: Arc<dyn Observer>) -> Self {
        Self {
            keys: Keys::new(&settings.prefix),
            scripts: Scripts::new(format!("{:016x}{:016x}", random(), random())),
            link: Link::new(),
            leases: Leases::default(),
            rates: LocalRates::new(),
            observer,
            // Zero is the probe's.
            numbers: AtomicU64::new(1),
            settings,
        }
    }

    /// A number no other slot of this process has.
    pub(crate) fn number(&self) -> Number {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// Sends one call of a script and waits for the answer, no longer than the bound.
    pub(crate) async fn ask(&self, script: &Script, command: &Cmd) -> Result<Value, Unanswered> {
        let live = self.link.live().ok_or(Unanswered::Unsent)?;
        let asked = Instant::now();
        let mut connection = live.connection();
        let sent = script::send(&mut connection, script, command);
        match timeout(self.settings.bound, sent).await {
            Ok(Ok(value)) => {
                live.answered();
                Ok(value)
            }
            Ok(Err(error)) => {
                self.failed(&live, asked, &error);
                Err(Unanswered::Sent)
            }
            Err(_late) => {
                self.observer.event(&Event::TimedOut);
                if live.strike(asked) >= self.settings.strikes {
                    self.fall(&live, Reason::TimedOut);
                }
                Err(Unanswered::Sent)
            }
        }
    }

    /// An answer in error counts like a time-out, since it may be about one key; a broken connection is the end of it.
    fn failed(&self, live: &Arc<Live>, asked: Instant, error: &redis::RedisError) {
        let reason = Reason::of(error);
        if let Reason::Server { code } = &reason {
            self.faulted(code);
            if live.strike(asked) < self.settings.strikes {
                return;
            }
        }
        self.fall(live, reason);
    }

    pub(crate) fn faulted(&self, code: &str) {
        self.observer.event(&Event::Faulted { code: short(code) });
    }

    /// Takes the connection out of use and says so once.
    pub(crate) fn fall(&self, live: &Arc<Live>, reason: Reason) {
        if self.link.fall(live) {
            self.observer.event(&Event::Away(reason));
        }
    }
}

/// A number no other process has: the standard library keys its hashes by the system's random numbers.
pub(crate) fn random() -> u64 {
    RandomState::new().hash_one(0_u64)
}
