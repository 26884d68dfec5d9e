//! Numbers that steer a share, and what a sample is under them.

use std::time::Duration;

use crate::settings::{SettingsError, demand};

/// What steers a [`Controller`](super::Controller). The defaults suit chat traffic of a few
/// requests a second or more.
#[derive(Debug, Clone, PartialEq)]
pub struct ControllerSettings {
    /// A first frame later than this is a breach. Default 10 s; above zero.
    pub latency_budget: Duration,
    /// A breach rate above this lowers the share. Default 0.10; in [0, 1).
    pub breach_rate_target: f64,
    /// A breach rate at or below this raises the share. Default 0.03; in [0, target].
    pub recovery_breach_rate: f64,
    /// Samples kept, the newest ones. Default 100; from `min_samples` to 100,000.
    pub window_samples: usize,
    /// Samples needed for a decision. Default 20; at least 2.
    pub min_samples: usize,
    /// Added to the share per increase. Default 0.05; in (0, 1].
    pub share_step: f64,
    /// The share's factor per decrease. Default 0.8; in (0, 1).
    pub share_decay: f64,
    /// The share never falls below this, so that real requests keep measuring the provider.
    /// Default 0.05; in (0, 1].
    pub share_floor: f64,
    /// Least time between two adjustments. Default 30 s; above zero.
    pub dwell: Duration,
    /// A step is added per this much time without enough samples; `None`: never. Default 5 min;
    /// above zero.
    pub idle_recovery: Option<Duration>,
    /// Statuses that are breaches. Default 429, 503 and 529.
    pub overload_statuses: Vec<u16>,
}

/// Verdict on one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The first frame came in time.
    Healthy,
    /// It came late, or the provider said it is overloaded.
    Breach,
    /// Says nothing about load.
    Unknown,
}

/// What was seen of one attempt on the preferred provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// The first data frame that is not the end marker, so long after the attempt began.
    FirstFrame(Duration),
    /// The first-token deadline fired, so long after the attempt began.
    Deadline(Duration),
    /// An answer with this status, on its status line or embedded in its first frame or body.
    Status(u16),
    /// Anything else: network errors, the provider's own timeout, an answer that is no event
    /// stream, a stream without data, cancellation.
    Other,
}

impl ControllerSettings {
    /// What an attempt says about the provider's load.
    ///
    /// A deadline shorter than the budget says nothing: the frame might still have come in time.
    #[must_use]
    pub fn classify(&self, seen: Seen) -> Outcome {
        match seen {
            Seen::FirstFrame(elapsed) if elapsed <= self.latency_budget => Outcome::Healthy,
            Seen::FirstFrame(_) => Outcome::Breach,
            Seen::Deadline(elapsed) if elapsed >= self.latency_budget => Outcome::Breach,
            Seen::Status(status) if self.overload_statuses.contains(&status) => Outcome::Breach,
            Seen::Deadline(_) | Seen::Status(_) | Seen::Other => Outcome::Unknown,
        }
    }

    pub(super) fn check(&self) -> Result<(), SettingsError> {
        let Self {
            breach_rate_target: target,
            recovery_breach_rate: recovery,
            ..
        } = *self;
        let (step, decay, floor) = (self.share_step, self.share_decay, self.share_floor);
        let samples = self.min_samples..=100_000;
        demand(
            !self.latency_budget.is_zero(),
            "latency budget",
            "above zero",
        )?;
        demand(
            (0.0..1.0).contains(&target),
            "breach rate target",
            "in [0, 1)",
        )?;
        demand(
            (0.0..=target).contains(&recovery),
            "recovery breach rate",
            "in [0, target]",
        )?;
        demand(self.min_samples >= 2, "min samples", "at least 2")?;
        demand(
            samples.contains(&self.window_samples),
            "window samples",
            "from min samples to 100000",
        )?;
        demand(step > 0.0 && step <= 1.0, "share step", "in (0, 1]")?;
        demand(decay > 0.0 && decay < 1.0, "share decay", "in (0, 1)")?;
        demand(floor > 0.0 && floor <= 1.0, "share floor", "in (0, 1]")?;
        demand(!self.dwell.is_zero(), "dwell", "above zero")?;
        let idle = self
            .idle_recovery
            .is_none_or(|interval| !interval.is_zero());
        demand(idle, "idle recovery", "above zero, or off")
    }
}

impl Default for ControllerSettings {
    fn default() -> Self {
        Self {
            latency_budget: Duration::from_secs(10),
            breach_rate_target: 0.10,
            recovery_breach_rate: 0.03,
            window_samples: 100,
            min_samples: 20,
            share_step: 0.05,
            share_decay: 0.8,
            share_floor: 0.05,
            dwell: Duration::from_secs(30),
            idle_recovery: Some(Duration::from_secs(300)),
            overload_statuses: vec![429, 503, 529],
        }
    }
}
