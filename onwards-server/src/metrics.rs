//! What the gateway counts: a table of metric names, and handles that cost an atomic addition to use.
//!
//! Labels are bounded by the configuration and by fixed sets, never by traffic: a path is one of a few [`Route`]s, a
//! method one of a few [`Verb`]s, a status a number from 100 to 599, a model a configured alias or empty. Series are
//! never removed: an autoscaler reads an absent series as zero, so one that was seen stays.
//!
//! The series of the HTTP layer are found by index, not by name, and made when first used; a request formats no label.
//! Series that belong to an alias are handed out once, at load ([`Metrics::model_inflight`], [`Metrics::pool`]).
//!
//! Several [`Metrics`] can live in one process, each with a registry of its own.

mod answers;
mod inflight;
mod labels;
mod names;
mod pool;
mod shared;
mod tls;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use onwards_limits::Slots;
use prometheus::{
    GaugeVec, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge,
    IntGaugeVec, Opts, Registry,
};

pub use answers::{AnswerSeries, Form, Outcome, Tokens};
pub use labels::{Failure, Route, SharedEvent, Traffic, Verb};
pub use names::{FIRST_TOKEN_SECONDS_BUCKETS, Kind, Name, Row};
pub use pool::{AttemptSeries, Attempted, Direction, PoolSeries, Role};
pub use shared::SharedSeries;
pub use tls::{HandshakeFailure, TlsSeries};

/// A metrics prefix with which no valid metric name can be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the metrics prefix {prefix:?} is not a metric name: letters, digits and underscores, no digit first"
)]
pub struct BadPrefix {
    /// The prefix as given.
    pub prefix: String,
}

/// All metrics of one gateway.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    http: Http,
    model_inflight: IntGaugeVec,
    upstream_failed: IntCounterVec,
    retries: IntCounter,
    retry_budget_exhausted: IntCounter,
    rejections: IntCounterVec,
    unsupported_params: IntCounterVec,
    dropped_params: IntCounterVec,
    batch_refusals: IntCounterVec,
    config_generation: IntGauge,
    config_reloads: IntCounterVec,
    attempts: IntCounterVec,
    answers: answers::Families,
    shared: shared::Families,
    pools: pool::Families,
    tls: tls::Families,
}

/// A refusal the gateway decided on itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rejection<'a> {
    /// The configured alias the request names, or empty.
    pub model: &'a str,
    /// The status sent.
    pub status: u16,
    /// The error code sent, or the name of the strict check that failed.
    pub code: &'static str,
    /// Whether the request was dispatched in a batch.
    pub traffic: Traffic,
}

impl Metrics {
    /// A fresh set of metrics; `prefix` is used for those of the HTTP layer, all others begin with `onwards_`.
    ///
    /// # Errors
    /// [`BadPrefix`] if the prefix cannot begin a metric name.
    pub fn new(prefix: &str) -> Result<Self, BadPrefix> {
        Self::counting(prefix, Arc::default())
    }

    /// The same, where the proxied requests in flight are the slots in use.
    ///
    /// # Errors
    /// [`BadPrefix`] if the prefix cannot begin a metric name.
    pub fn counting(prefix: &str, inflight: Arc<Slots>) -> Result<Self, BadPrefix> {
        let valid = prefix
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_')
            && prefix.starts_with(|c: char| !c.is_ascii_digit());
        let bad = || BadPrefix {
            prefix: prefix.to_owned(),
        };
        if !valid {
            return Err(bad());
        }
        Self::build(prefix, inflight).map_err(|_| bad())
    }

    fn build(prefix: &str, inflight: Arc<Slots>) -> Result<Self, prometheus::Error> {
        let registry = Registry::new();
        let make = Maker {
            registry: &registry,
            prefix,
        };
        make.register(inflight::Shown::new(inflight)?)?;
        // Series that an alert compares over time are there before the first event.
        let config_reloads = make.counters(Name::ConfigReloads)?;
        for result in ["ok", "error"] {
            config_reloads.with_label_values(&[result]);
        }
        Ok(Self {
            http: Http {
                requests: make.counters(Name::HttpRequests)?,
                pending: make.gauges(Name::HttpPending)?,
                duration: make.histograms(Name::HttpDuration)?,
                size: make.histograms(Name::HttpBodySize)?,
                cells: std::iter::repeat_with(Cell::default)
                    .take(Verb::ALL.len() * Route::ALL.len())
                    .collect(),
            },
            model_inflight: make.gauges(Name::ModelInflight)?,
            upstream_failed: make.counters(Name::UpstreamFailed)?,
            retries: make.counters(Name::Retries)?.with_label_values::<&str>(&[]),
            retry_budget_exhausted: make
                .counters(Name::RetryBudgetExhausted)?
                .with_label_values::<&str>(&[]),
            rejections: make.counters(Name::Rejections)?,
            unsupported_params: make.counters(Name::UnsupportedParams)?,
            dropped_params: make.counters(Name::DroppedParams)?,
            batch_refusals: make.counters(Name::BatchInflightRefusals)?,
            config_generation: make
                .gauges(Name::ConfigGeneration)?
                .with_label_values::<&str>(&[]),
            config_reloads,
            attempts: make.counters(Name::Attempts)?,
            answers: answers::Families::new(&make)?,
            shared: shared::Families::new(&make)?,
            pools: pool::Families::new(&make)?,
            tls: tls::Families::new(&make)?,
            registry,
        })
    }

    /// The registry behind, for exposition and for an embedder's own metrics.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// A request's head was read: it counts as pending until the guard is dropped.
    pub fn arrived(&self, verb: Verb, route: Route) -> Pending {
        let pending = self.http.cell(verb, route).pending.get_or_init(|| {
            self.http
                .pending
                .with_label_values(&[verb.label(), route.label()])
        });
        pending.inc();
        Pending(pending.clone())
    }

    /// A response's head is sent `elapsed` after the request's head was read.
    pub fn answered(&self, verb: Verb, route: Route, status: u16, elapsed: Duration) {
        let answered = self.http.answered(verb, route, status);
        answered.requests.inc();
        answered.duration.observe(elapsed.as_secs_f64());
    }

    /// A response's body ended, or was given up, after `bytes`.
    pub fn body_ended(&self, verb: Verb, route: Route, bytes: u64) {
        let size = self.http.cell(verb, route).size.get_or_init(|| {
            self.http
                .size
                .with_label_values(&[verb.label(), route.label()])
        });
        #[expect(
            clippy::cast_precision_loss,
            reason = "a body of 2^53 bytes may be counted one off"
        )]
        size.observe(bytes as f64);
    }

    /// Proxied requests of one configured alias, from their arrival to the end of the body. Asking for it makes the series, at zero: call it for every alias at load.
    pub fn model_inflight(&self, alias: &str) -> IntGauge {
        self.model_inflight.with_label_values(&[alias])
    }

    /// A request ended without an answer from a provider; `status` is the last upstream's, else the one sent.
    pub fn upstream_failed(&self, failure: Failure, status: u16, model: &str) {
        self.upstream_failed
            .with_label_values(&[failure.label(), &labels::status(status), model])
            .inc();
    }

    /// A wait between two attempts was taken.
    pub fn retried(&self) {
        self.retries.inc();
    }

    /// A request stopped trying because its waits had used up the budget.
    pub fn retry_budget_exhausted(&self) {
        self.retry_budget_exhausted.inc();
    }

    /// The gateway refused a request by a decision of its own.
    pub fn rejected(&self, rejection: &Rejection<'_>) {
        let Rejection {
            model,
            status,
            code,
            traffic,
        } = *rejection;
        self.rejections
            .with_label_values(&[model, &labels::status(status), code, traffic.label()])
            .inc();
    }

    /// A provider's dialect has no place for a member of a request; `param` is of a closed list.
    pub fn dropped_param(&self, provider: &str, param: &'static str) {
        self.dropped_params
            .with_label_values(&[provider, param])
            .inc();
    }

    /// A request carried a parameter of the catalog of unsupported ones; `action` says what was done about it.
    pub fn unsupported_param(
        &self,
        param: &'static str,
        model: &str,
        traffic: Traffic,
        action: &'static str,
    ) {
        self.unsupported_params
            .with_label_values(&[param, model, traffic.label(), action])
            .inc();
    }

    /// A dispatched request was refused, or would have been, by the batch in-flight limit of its alias.
    pub fn batch_refused(&self, model: &str) {
        self.batch_refusals.with_label_values(&[model]).inc();
    }

    /// A configuration came into force.
    pub fn config_loaded(&self, generation: u64) {
        self.config_generation
            .set(i64::try_from(generation).unwrap_or(i64::MAX));
        self.config_reloads.with_label_values(&["ok"]).inc();
    }

    /// A configuration was refused and the one before stays.
    pub fn config_refused(&self) {
        self.config_reloads.with_label_values(&["error"]).inc();
    }

    /// The series of a store of shared counts, which are there from here on, at zero; to be asked for when one is connected to.
    pub fn shared_state(&self) -> SharedSeries {
        self.shared.series()
    }

    /// No store is configured any more. The one series that goes away: it would say that a store is down that nobody wants.
    pub fn shared_state_gone(&self) {
        self.shared.gone();
    }

    /// The attempts at one provider of a pool of an alias; to be asked for once, at load.
    pub fn attempts(&self, model: &str, pool: &str, provider: &str) -> AttemptSeries {
        AttemptSeries::new(self.attempts.clone(), model, pool, provider)
    }

    /// The answers that an alias gets; to be asked for once, at load.
    pub fn answers(&self, model: &str) -> AnswerSeries {
        self.answers.of(model)
    }

    /// The series of one pool's controllers; to be asked for once, when a controller starts.
    pub fn pool(&self, model: &str, pool: &str) -> PoolSeries {
        self.pools.of(model, pool)
    }

    /// The series of TLS towards clients. Asking for them makes them, at zero: call it where TLS is spoken.
    pub fn tls(&self) -> TlsSeries {
        self.tls.series()
    }
}

/// A request without an answer yet. Dropping it is the only way to end it.
#[derive(Debug)]
#[must_use = "dropped at once it counts nothing"]
pub struct Pending(IntGauge);

impl Drop for Pending {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// The HTTP layer's families, with every series used so far at a place known from its labels.
#[derive(Debug)]
struct Http {
    requests: IntCounterVec,
    pending: IntGaugeVec,
    duration: HistogramVec,
    size: HistogramVec,
    cells: Box<[Cell]>,
}

/// The series of one verb and route.
#[derive(Debug, Default)]
struct Cell {
    pending: OnceLock<IntGauge>,
    size: OnceLock<Histogram>,
    /// By status from 100; the last one for statuses that have no place. Most cells never get here.
    answered: OnceLock<Box<[OnceLock<Answered>]>>,
}

#[derive(Debug)]
struct Answered {
    requests: IntCounter,
    duration: Histogram,
}

impl Http {
    #[expect(
        clippy::indexing_slicing,
        reason = "there is a cell for every pair of the two enums"
    )]
    fn cell(&self, verb: Verb, route: Route) -> &Cell {
        &self.cells[verb as usize * Route::ALL.len() + route as usize]
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "a status slot is below the number of slots by construction"
    )]
    fn answered(&self, verb: Verb, route: Route, status: u16) -> &Answered {
        let all = self.cell(verb, route).answered.get_or_init(|| {
            std::iter::repeat_with(OnceLock::new)
                .take(labels::STATUS_SLOTS)
                .collect()
        });
        all[labels::status_slot(status)].get_or_init(|| {
            let status = labels::status(status);
            let with = [verb.label(), &status, route.label()];
            Answered {
                requests: self.requests.with_label_values(&with),
                duration: self.duration.with_label_values(&with),
            }
        })
    }
}

/// Makes a family from its row of the table and registers it.
struct Maker<'a> {
    registry: &'a Registry,
    prefix: &'a str,
}

impl Maker<'_> {
    fn counters(&self, name: Name) -> Result<IntCounterVec, prometheus::Error> {
        let row = name.row();
        self.register(IntCounterVec::new(
            Opts::new(row.full_name(self.prefix), row.help),
            row.labels,
        )?)
    }

    fn gauges(&self, name: Name) -> Result<IntGaugeVec, prometheus::Error> {
        let row = name.row();
        self.register(IntGaugeVec::new(
            Opts::new(row.full_name(self.prefix), row.help),
            row.labels,
        )?)
    }

    fn fractions(&self, name: Name) -> Result<GaugeVec, prometheus::Error> {
        let row = name.row();
        self.register(GaugeVec::new(
            Opts::new(row.full_name(self.prefix), row.help),
            row.labels,
        )?)
    }

    fn histograms(&self, name: Name) -> Result<HistogramVec, prometheus::Error> {
        let row = name.row();
        let buckets = if let Kind::Histogram(buckets) = row.kind {
            buckets
        } else {
            &[]
        };
        let options =
            HistogramOpts::new(row.full_name(self.prefix), row.help).buckets(buckets.to_vec());
        self.register(HistogramVec::new(options, row.labels)?)
    }

    fn register<F: prometheus::core::Collector + Clone + 'static>(
        &self,
        family: F,
    ) -> Result<F, prometheus::Error> {
        self.registry.register(Box::new(family.clone()))?;
        Ok(family)
    }
}

#[cfg(test)]
mod tests;
