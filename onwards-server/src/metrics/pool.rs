//! The series of one pool: first tokens, and the two controllers that share requests between its providers.

use std::sync::{Arc, OnceLock};

use prometheus::{
    Gauge, GaugeVec, Histogram, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec,
};

use super::labels::{labelled, status};
use super::{Maker, Name};

labelled! {
    /// Which provider of a pool an attempt went to.
    Role {
        /// The first one.
        Preferred = "preferred",
        /// Any other.
        Alternate = "alternate",
    }
}

labelled! {
    /// Which way a share moved.
    Direction {
        /// Up, an idle step included.
        Increase = "increase",
        /// Down.
        Decrease = "decrease",
    }
}

labelled! {
    /// How an attempt at a provider ended.
    Attempted {
        /// A 2xx or 3xx.
        Answered = "answered",
        /// A 4xx that is the caller's: anything but the ones below.
        ClientError = "client_error",
        /// 401, 402 or 403: the gateway's own key or account with the provider is at fault.
        OperatorFault = "operator_fault",
        /// 429.
        RateLimited = "rate_limited",
        /// 5xx.
        ServerError = "server_error",
        /// No connection, or one that broke before the head or while the answer was read whole.
        TransportError = "transport_error",
        /// No head within `request_timeout_secs`.
        Timeout = "timeout",
        /// No first token within `first_token_timeout_ms`.
        FirstTokenTimeout = "first_token_timeout",
        /// A 2xx that carries an error.
        EmbeddedError = "embedded_error",
        /// A 2xx without content.
        Empty = "empty",
        /// An answer that does not fit the contract.
        Malformed = "malformed",
        /// Given up before it was answered, because the client left.
        Cancelled = "cancelled",
    }
}

impl Attempted {
    /// What a status says.
    pub(crate) fn status(status: u16) -> Self {
        match status {
            401..=403 => Self::OperatorFault,
            429 => Self::RateLimited,
            400..=499 => Self::ClientError,
            500.. => Self::ServerError,
            _ => Self::Answered,
        }
    }
}

/// The attempts at one provider by outcome; a series appears when first counted.
#[derive(Debug)]
pub struct AttemptSeries {
    family: IntCounterVec,
    labels: [String; 3],
    cells: [OnceLock<IntCounter>; Attempted::ALL.len()],
}

impl AttemptSeries {
    pub(super) fn new(family: IntCounterVec, model: &str, pool: &str, provider: &str) -> Self {
        let labels = [model, pool, provider].map(str::to_owned);
        Self {
            family,
            labels,
            cells: [const { OnceLock::new() }; Attempted::ALL.len()],
        }
    }

    /// Counts one.
    pub fn count(&self, outcome: Attempted) {
        let [model, pool, provider] = &self.labels;
        let make = || {
            self.family
                .with_label_values(&[model, pool, provider, outcome.label()])
        };
        match self.cells.get(outcome as usize) {
            Some(cell) => cell.get_or_init(make).inc(),
            None => make().inc(),
        }
    }
}

/// The families behind [`PoolSeries`].
#[derive(Debug, Clone)]
pub(super) struct Families {
    first_token: HistogramVec,
    breaches: IntCounterVec,
    share: GaugeVec,
    adjustments: IntCounterVec,
    active: IntGaugeVec,
    window_samples: IntGaugeVec,
    window_breach_rate: GaugeVec,
    in_flight: IntGaugeVec,
    unknown: IntCounterVec,
    overload: IntCounterVec,
    affinity_share: GaugeVec,
    conversations_active: IntGaugeVec,
    conversations_admitted: IntGaugeVec,
    affinity_routed: IntCounterVec,
}

impl Families {
    pub(super) fn new(make: &Maker<'_>) -> Result<Self, prometheus::Error> {
        Ok(Self {
            first_token: make.histograms(Name::FirstTokenSeconds)?,
            breaches: make.counters(Name::FirstTokenBreaches)?,
            share: make.fractions(Name::ProviderShare)?,
            adjustments: make.counters(Name::ShareAdjustments)?,
            active: make.gauges(Name::AimdActive)?,
            window_samples: make.gauges(Name::AimdWindowSamples)?,
            window_breach_rate: make.fractions(Name::AimdWindowBreachRate)?,
            in_flight: make.gauges(Name::AimdInFlight)?,
            unknown: make.counters(Name::AimdUnknown)?,
            overload: make.counters(Name::AimdOverloadBreaches)?,
            affinity_share: make.fractions(Name::AffinityShare)?,
            conversations_active: make.gauges(Name::AffinityActiveConversations)?,
            conversations_admitted: make.gauges(Name::AffinityAdmittedConversations)?,
            affinity_routed: make.counters(Name::AffinityRouted)?,
        })
    }

    pub(super) fn of(&self, model: &str, pool: &str) -> PoolSeries {
        PoolSeries {
            families: self.clone(),
            cells: Arc::default(),
            model: model.to_owned(),
            pool: pool.to_owned(),
        }
    }
}

/// The series of a pool that have been touched: what a request touches again is found by its place.
#[derive(Debug, Default)]
struct Cells {
    share: OnceLock<Gauge>,
    active: OnceLock<IntGauge>,
    window_samples: OnceLock<IntGauge>,
    window_breach_rate: OnceLock<Gauge>,
    in_flight: OnceLock<IntGauge>,
    unknown: OnceLock<IntCounter>,
    affinity_share: OnceLock<Gauge>,
    conversations_active: OnceLock<IntGauge>,
    conversations_admitted: OnceLock<IntGauge>,
    first_token: [OnceLock<Histogram>; Role::ALL.len()],
    breaches: [OnceLock<IntCounter>; Role::ALL.len()],
    adjustments: [OnceLock<IntCounter>; Direction::ALL.len()],
    affinity_routed: [OnceLock<IntCounter>; Role::ALL.len()],
}

/// The series of one pool of one alias. A series appears when first touched, so a pool without controllers has none.
#[derive(Debug, Clone)]
pub struct PoolSeries {
    families: Families,
    cells: Arc<Cells>,
    model: String,
    pool: String,
}

impl PoolSeries {
    fn at(&self) -> [&str; 2] {
        [&self.model, &self.pool]
    }

    fn with<'a>(&'a self, third: &'a str) -> [&'a str; 3] {
        [&self.model, &self.pool, third]
    }

    /// Seconds from the start of an attempt to its first data frame.
    pub fn first_token(&self, role: Role) -> &Histogram {
        let Cells {
            first_token: [first, second],
            ..
        } = &*self.cells;
        let cell = if role as usize == 0 { first } else { second };
        cell.get_or_init(|| {
            let labels = self.with(role.label());
            self.families.first_token.with_label_values(&labels)
        })
    }

    /// Attempts whose deadline for the first data frame passed.
    pub fn first_token_breaches(&self, role: Role) -> &IntCounter {
        let Cells {
            breaches: [first, second],
            ..
        } = &*self.cells;
        let cell = if role as usize == 0 { first } else { second };
        cell.get_or_init(|| {
            let labels = self.with(role.label());
            self.families.breaches.with_label_values(&labels)
        })
    }

    /// The preferred provider's share, 0 to 1.
    pub fn share(&self) -> &Gauge {
        let make = || self.families.share.with_label_values(&self.at());
        self.cells.share.get_or_init(make)
    }

    /// Changes of the share in one direction.
    pub fn share_adjustments(&self, direction: Direction) -> &IntCounter {
        let Cells {
            adjustments: [first, second],
            ..
        } = &*self.cells;
        let cell = if direction as usize == 0 {
            first
        } else {
            second
        };
        cell.get_or_init(|| {
            let labels = self.with(direction.label());
            self.families.adjustments.with_label_values(&labels)
        })
    }

    /// 1 while the load-aware controller runs, 0 while it is parked or retired.
    pub fn aimd_active(&self) -> &IntGauge {
        let make = || self.families.active.with_label_values(&self.at());
        self.cells.active.get_or_init(make)
    }

    /// Outcomes in the controller's window.
    pub fn aimd_window_samples(&self) -> &IntGauge {
        let make = || self.families.window_samples.with_label_values(&self.at());
        self.cells.window_samples.get_or_init(make)
    }

    /// The part of the window that breached, 0 to 1.
    pub fn aimd_window_breach_rate(&self) -> &Gauge {
        let make = || {
            self.families
                .window_breach_rate
                .with_label_values(&self.at())
        };
        self.cells.window_breach_rate.get_or_init(make)
    }

    /// Attempts observed and not finished.
    pub fn aimd_in_flight(&self) -> &IntGauge {
        let make = || self.families.in_flight.with_label_values(&self.at());
        self.cells.in_flight.get_or_init(make)
    }

    /// Attempts that told the controller nothing.
    pub fn aimd_unknown(&self) -> &IntCounter {
        let make = || self.families.unknown.with_label_values(&self.at());
        self.cells.unknown.get_or_init(make)
    }

    /// Attempts counted as breaches by their status; the configured overload statuses bound the label.
    pub fn aimd_overload_breaches(&self, overload: u16) -> IntCounter {
        self.families
            .overload
            .with_label_values(&self.with(&status(overload)))
    }

    /// The preferred provider's share of conversations, 0 to 1.
    pub fn affinity_share(&self) -> &Gauge {
        let make = || self.families.affinity_share.with_label_values(&self.at());
        self.cells.affinity_share.get_or_init(make)
    }

    /// Conversations seen lately.
    pub fn affinity_active_conversations(&self) -> &IntGauge {
        let make = || {
            self.families
                .conversations_active
                .with_label_values(&self.at())
        };
        self.cells.conversations_active.get_or_init(make)
    }

    /// Conversations that stay with the preferred provider.
    pub fn affinity_admitted_conversations(&self) -> &IntGauge {
        let make = || {
            self.families
                .conversations_admitted
                .with_label_values(&self.at())
        };
        self.cells.conversations_admitted.get_or_init(make)
    }

    /// Requests routed by affinity to one side.
    pub fn affinity_routed(&self, side: Role) -> &IntCounter {
        let Cells {
            affinity_routed: [first, second],
            ..
        } = &*self.cells;
        let cell = if side as usize == 0 { first } else { second };
        cell.get_or_init(|| {
            let labels = self.with(side.label());
            self.families.affinity_routed.with_label_values(&labels)
        })
    }
}
