//! The share of requests that try the preferred provider first.
//!
//! # Why
//!
//! A deadline for the first token saves a request from a provider that hangs, but each time it
//! fires the caller has waited for nothing. When the preferred provider can carry only 60% of
//! the traffic, the better answer is to send it 60%. Nobody knows that number and it changes,
//! so it is felt for: down by a factor when too many first tokens come late or the provider
//! reports overload, up by a step once they come in time. This is additive increase,
//! multiplicative decrease, the rule by which senders share a network link.
//!
//! With the defaults, 21 samples of which 3 breach (14% > 10%) lower a share of 1.0 to 0.8 and
//! forget the samples. If the next 30 seconds go by with at most 3% breaches, the share becomes
//! 0.85, and 0.9 another 30 seconds later. Between 3% and 10% it stays.
//!
//! # Rules
//!
//! * **Samples** are attempts on the preferred provider: healthy, breach, or unknown
//!   ([`ControllerSettings::classify`]). Unknown ones decide nothing and block nothing.
//! * **Dwell**: two adjustments are at least this far apart, and so is the start (creation) from
//!   the first. An increase also needs the rate to have been low for that long.
//! * **Generations**: a decrease forgets the samples, and attempts begun before it never count;
//!   they were caused by the old share. An increase keeps the samples.
//! * **Ties**: a rate equal to the target does not lower, one equal to the recovery rate raises;
//!   a decrease that would not lower the share (it is at its floor) is not an adjustment.
//! * **Idle**: while there are too few samples to judge, each full interval adds a step,
//!   reckoned when the next request arrives. So a quiet pool does not stay where an incident
//!   left it. Silence counts as well: samples after which none has come for a whole interval
//!   tell how the provider was, not how it is, and are forgotten. (Without that, the breaches
//!   that arrive within the dwell after the last decrease would count as enough samples for ever,
//!   and a pool that falls silent in an incident would never be idle.)
//! * **Zero**: a target of 0 lowers at the first breach among enough samples; an idle interval
//!   of zero (`None`) turns idle recovery off.
//! * **Cancel**: an attempt that ends without a verdict is reported as unknown. A [`Ticket`]
//!   cannot be reported twice.
//! * **Reload**: the caller keeps the controller while settings and preferred provider are the
//!   same, drops it otherwise (late reports then go to the dropped one and change nothing), and
//!   [parks](Controller::park) it while the pool is down to one provider.
//!
//! Every call is O(1) apart from forgetting a window. The caller guards it with one lock.

use std::time::Duration;

use crate::settings::SettingsError;

mod settings;
mod window;

pub use settings::{ControllerSettings, Outcome, Seen};

use window::Window;

/// State of one pool's share. Times are monotonic.
#[derive(Debug)]
pub struct Controller {
    settings: ControllerSettings,
    share: f64,
    window: Window,
    generation: u64,
    last_adjustment: Duration,
    /// Since when the rate has been low; never set while there are too few samples.
    healthy_since: Option<Duration>,
    /// When the newest sample in the window came; without meaning while it is empty.
    last_sample: Duration,
    in_flight: u64,
    parked: bool,
}

/// An attempt on the preferred provider that has not been reported yet.
///
/// Report each to the controller it came from, as unknown if need be; a ticket lost on the way
/// leaves [`Gauge::in_flight`] too high and does no other harm.
#[derive(Debug)]
#[must_use = "an attempt has to be reported"]
pub struct Ticket {
    generation: u64,
}

/// The share moved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Which way; idle recovery counts as an increase.
    pub direction: Direction,
    /// The share after it.
    pub share: f64,
}

/// Which way a share moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Towards 1.
    Increase,
    /// Towards the floor.
    Decrease,
}

/// What a controller shows to metrics.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gauge {
    /// Share of requests that try the preferred provider first.
    pub share: f64,
    /// Healthy and breaching samples in the window.
    pub samples: usize,
    /// Breaches among them; 0 without samples.
    pub breach_rate: f64,
    /// Attempts begun and not reported.
    pub in_flight: u64,
    /// False while parked.
    pub active: bool,
}

impl Controller {
    /// A controller with a share of 1.
    ///
    /// # Errors
    ///
    /// [`SettingsError`] names a setting out of its range.
    pub fn new(settings: ControllerSettings, now: Duration) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self {
            window: Window::new(settings.window_samples),
            settings,
            share: 1.0,
            generation: 0,
            last_adjustment: now,
            healthy_since: None,
            last_sample: now,
            in_flight: 0,
            parked: false,
        })
    }

    /// The settings given at creation; a reload with equal ones keeps the controller.
    #[must_use]
    pub fn settings(&self) -> &ControllerSettings {
        &self.settings
    }

    /// Notes that an eligible request arrives: the place for idle recovery. Call it before
    /// reading the [`share`](Self::share).
    pub fn arrive(&mut self, now: Duration) -> Option<Change> {
        if self.parked {
            return None;
        }
        self.recover_from_idling(now)
    }

    /// The share in force, in `[share_floor, 1]`. A request goes to the preferred provider first
    /// exactly when its [`point`](crate::point()) is below it.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.share
    }

    /// Notes that an eligible request begins an attempt on the preferred provider.
    pub fn begin(&mut self) -> Ticket {
        self.in_flight = self.in_flight.saturating_add(1);
        Ticket {
            generation: self.generation,
        }
    }

    /// Notes how an attempt went.
    pub fn observe(&mut self, ticket: Ticket, outcome: Outcome, now: Duration) -> Option<Change> {
        self.in_flight = self.in_flight.saturating_sub(1);
        if ticket.generation != self.generation || self.parked {
            return None;
        }
        match outcome {
            Outcome::Unknown => return None,
            Outcome::Healthy => self.window.push(false),
            Outcome::Breach => self.window.push(true),
        }
        self.last_sample = now.max(self.last_sample);
        if self.too_few_samples() {
            return None;
        }
        let rate = self.window.breach_rate();
        if rate > self.settings.breach_rate_target {
            self.healthy_since = None;
            self.decrease(now)
        } else if rate > self.settings.recovery_breach_rate {
            self.healthy_since = None;
            None
        } else {
            let healthy_since = *self.healthy_since.get_or_insert(now);
            self.increase(healthy_since, now)
        }
    }

    /// Suspends the controller while its pool has one provider only. Reports of attempts under
    /// way change nothing from here on.
    pub fn park(&mut self) {
        self.parked = true;
    }

    /// Goes on where [`park`](Self::park) left off, in a new generation and without samples; the
    /// time parked counts as idle. Without a park before it, nothing happens.
    pub fn resume(&mut self, now: Duration) -> Option<Change> {
        if !std::mem::take(&mut self.parked) {
            return None;
        }
        self.last_adjustment = self.idle_since();
        self.begin_generation();
        self.recover_from_idling(now)
    }

    /// Numbers for metrics.
    #[must_use]
    pub fn gauge(&self) -> Gauge {
        Gauge {
            share: self.share,
            samples: self.window.len(),
            breach_rate: self.window.breach_rate(),
            in_flight: self.in_flight,
            active: !self.parked,
        }
    }

    fn decrease(&mut self, now: Duration) -> Option<Change> {
        let lower = (self.share * self.settings.share_decay).max(self.settings.share_floor);
        if lower >= self.share || !self.dwelt_since(self.last_adjustment, now) {
            return None;
        }
        self.share = lower;
        self.last_adjustment = now;
        self.begin_generation();
        Some(Change {
            direction: Direction::Decrease,
            share: lower,
        })
    }

    fn increase(&mut self, healthy_since: Duration, now: Duration) -> Option<Change> {
        if self.share >= 1.0
            || !self.dwelt_since(self.last_adjustment, now)
            || !self.dwelt_since(healthy_since, now)
        {
            return None;
        }
        self.last_adjustment = now;
        Some(self.raise(1))
    }

    fn recover_from_idling(&mut self, now: Duration) -> Option<Change> {
        let interval = self.settings.idle_recovery?;
        let since = self.idle_since();
        let idle = now.saturating_sub(since).as_nanos();
        let steps = u32::try_from(idle.checked_div(interval.as_nanos())?).unwrap_or(u32::MAX);
        if self.share >= 1.0 || steps == 0 {
            return None;
        }
        if !self.too_few_samples() {
            self.forget_samples();
        }
        self.last_adjustment = since.saturating_add(interval.saturating_mul(steps));
        Some(self.raise(steps))
    }

    /// From when on the time without a verdict counts as idle.
    fn idle_since(&self) -> Duration {
        if self.too_few_samples() {
            self.last_adjustment
        } else {
            self.last_adjustment.max(self.last_sample)
        }
    }

    fn raise(&mut self, steps: u32) -> Change {
        let raised = self.share + self.settings.share_step * f64::from(steps);
        // Twenty steps of 0.05 from zero are 1, whatever the sum of floats says.
        self.share = if raised > 1.0 - 1e-9 { 1.0 } else { raised };
        Change {
            direction: Direction::Increase,
            share: self.share,
        }
    }

    fn begin_generation(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        self.forget_samples();
    }

    fn forget_samples(&mut self) {
        self.window.clear();
        self.healthy_since = None;
    }

    fn too_few_samples(&self) -> bool {
        self.window.len() < self.settings.min_samples
    }

    fn dwelt_since(&self, time: Duration, now: Duration) -> bool {
        now.saturating_sub(time) >= self.settings.dwell
    }
}

#[cfg(test)]
mod tests;
