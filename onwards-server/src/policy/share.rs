//! The load-aware share of a pool: a controller, who feeds it, and what becomes of it over a reload (spec G).
//!
//! Only attempts at the preferred provider of eligible requests are observed, each exactly once: an [`Observation`] that is
//! dropped without a verdict reports an outcome that says nothing about load. A controller that was retired by a reload
//! ignores what is still under way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use onwards_balance::{Change, Controller, ControllerSettings, Outcome, Seen, Ticket};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::metrics::{Direction, PoolSeries};

/// The living share of one pool.
#[derive(Debug)]
pub(crate) struct Share {
    controller: Mutex<Controller>,
    settings: ControllerSettings,
    /// What must stay the same for the controller to survive a reload.
    identity: Identity,
    series: PoolSeries,
    started: Instant,
    retired: AtomicBool,
}

/// The preferred provider and the explicit deadline that a controller has learnt with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(super) preferred: String,
    pub(super) deadline: Option<Duration>,
}

impl Share {
    /// A share of 1; `None` for settings out of range, which the configuration does not let through.
    fn new(
        settings: &ControllerSettings,
        identity: Identity,
        series: PoolSeries,
    ) -> Option<Arc<Self>> {
        let controller = Controller::new(settings.clone(), Duration::ZERO).ok()?;
        let share = Self {
            controller: Mutex::new(controller),
            settings: settings.clone(),
            identity,
            series,
            started: Instant::now(),
            retired: AtomicBool::new(false),
        };
        share.publish();
        Some(Arc::new(share))
    }

    /// What a reload makes of the controller that a pool had (spec G.6): the same one, the same one parked or resumed, or a
    /// fresh one.
    pub(super) fn carried(
        old: Option<Arc<Self>>,
        settings: &ControllerSettings,
        identity: Identity,
        providers: usize,
        series: PoolSeries,
    ) -> Option<Arc<Self>> {
        let same = |old: &Arc<Self>| {
            old.settings == *settings && old.identity.deadline == identity.deadline
        };
        match (old, providers) {
            (Some(old), 2..) if same(&old) && old.identity == identity => {
                let change = old.controller.lock().resume(old.now());
                old.moved(change);
                old.publish();
                Some(old)
            }
            // With one provider left there is nothing to share; which one is left does not matter.
            (Some(old), 0..=1) if same(&old) => {
                old.controller.lock().park();
                old.publish();
                Some(old)
            }
            (old, _) => {
                if let Some(old) = old {
                    old.retire();
                }
                if providers > 1 {
                    Self::new(settings, identity, series)
                } else {
                    None
                }
            }
        }
    }

    /// Ends the controller: whatever is still under way tells it nothing any more.
    pub(super) fn retire(&self) {
        // Under the lock, so that nobody who is publishing can have the last word.
        let _controller = self.controller.lock();
        self.retired.store(true, Ordering::Relaxed);
        self.series.aimd_active().set(0);
        self.series.aimd_in_flight().set(0);
    }

    /// Notes that an eligible request arrives; the share in force.
    pub(crate) fn arrive(&self) -> f64 {
        let mut controller = self.controller.lock();
        let change = controller.arrive(self.now());
        let share = controller.share();
        drop(controller);
        self.moved(change);
        self.publish();
        share
    }

    /// Begins to observe an attempt at the preferred provider. `begun` is where the attempt's deadline counts from as well,
    /// so that a deadline exactly at the budget is a breach.
    pub(crate) fn observe(self: &Arc<Self>, begun: Instant) -> Observation {
        let ticket = self.controller.lock().begin();
        self.publish();
        Observation {
            share: self.clone(),
            ticket: Some(ticket),
            begun,
        }
    }

    fn report(&self, ticket: Ticket, seen: Seen) {
        let outcome = self.settings.classify(seen);
        let change = self.controller.lock().observe(ticket, outcome, self.now());
        if self.retired.load(Ordering::Relaxed) {
            return;
        }
        match (outcome, seen) {
            (Outcome::Unknown, _) => self.series.aimd_unknown().inc(),
            (Outcome::Breach, Seen::Status(status)) => {
                self.series.aimd_overload_breaches(status).inc()
            }
            _ => {}
        }
        self.moved(change);
        self.publish();
    }

    fn moved(&self, change: Option<Change>) {
        let Some(change) = change.filter(|_| !self.retired.load(Ordering::Relaxed)) else {
            return;
        };
        let direction = match change.direction {
            onwards_balance::Direction::Increase => Direction::Increase,
            onwards_balance::Direction::Decrease => Direction::Decrease,
        };
        self.series.share_adjustments(direction).inc();
    }

    /// Shows the numbers of the controller, unless it is retired: the series may be its successor's by then, and a request that
    /// was read before the reload still asks this one.
    fn publish(&self) {
        let controller = self.controller.lock();
        if self.retired.load(Ordering::Relaxed) {
            return;
        }
        let gauge = controller.gauge();
        self.series.share().set(gauge.share);
        self.series.aimd_active().set(i64::from(gauge.active));
        self.series
            .aimd_window_samples()
            .set(i64::try_from(gauge.samples).unwrap_or(i64::MAX));
        self.series.aimd_window_breach_rate().set(gauge.breach_rate);
        self.series
            .aimd_in_flight()
            .set(i64::try_from(gauge.in_flight).unwrap_or(i64::MAX));
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }
}

/// One attempt at the preferred provider, until it has told what it can.
#[derive(Debug)]
pub(crate) struct Observation {
    share: Arc<Share>,
    ticket: Option<Ticket>,
    begun: Instant,
}

impl Observation {
    /// The first data frame that is neither the end marker nor an error has just been read.
    pub(crate) fn first_frame(&mut self) {
        self.report(Seen::FirstFrame(self.begun.elapsed()));
    }

    /// The first-token deadline has just fired.
    pub(crate) fn deadline(&mut self) {
        self.report(Seen::Deadline(self.begun.elapsed()));
    }

    /// The provider answered with this status, on the status line or embedded in its first words.
    pub(crate) fn status(&mut self, status: u16) {
        self.report(Seen::Status(status));
    }

    /// Only the first report counts.
    fn report(&mut self, seen: Seen) {
        if let Some(ticket) = self.ticket.take() {
            self.share.report(ticket, seen);
        }
    }
}

impl Drop for Observation {
    fn drop(&mut self) {
        self.report(Seen::Other);
    }
}

#[cfg(test)]
mod tests;
