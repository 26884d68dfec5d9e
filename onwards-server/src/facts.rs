//! What is noted of a request along its way, and told once: when its head is answered and when its body has ended.
//!
//! Decisions never read facts. No body, token or header value is among them.

use std::sync::Arc;
use std::time::Duration;

use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode};
use onwards_dialects::{Report, fidelity};
use onwards_usage::Usage;
use prometheus::IntGauge;
use tokio::time::Instant;

use crate::fault::Fault;
use crate::headers::{Parent, REQUEST_ID};
use crate::house::House;
use crate::metrics::{Failure, Form, Metrics, Pending, Rejection, Route, Tokens, Traffic, Verb};
use crate::policy::{Alias, Caller, Pool, Provider};
use crate::random;
use crate::record::Record;
use crate::refusal::Refusal;
use crate::traces::Trace;

pub(crate) use crate::metrics::Outcome;

/// Longest request id that is taken from a client.
const LONGEST_ID: usize = 128;

/// One request's telemetry.
#[derive(Debug)]
pub(crate) struct Facts {
    metrics: Arc<Metrics>,
    verb: Verb,
    route: Route,
    traffic: Traffic,
    arrived: Instant,
    request_id: HeaderValue,
    alias: Option<Arc<Alias>>,
    caller: Option<Arc<Caller>>,
    /// Sends so far.
    pub(crate) attempts: u32,
    /// The status that the last upstream sent, if one did.
    upstream_status: Option<u16>,
    /// The provider of the last attempt, by its name in the configuration.
    provider: Option<Arc<str>>,
    /// The pool that serves the request.
    pool: Option<&'static str>,
    /// Bytes of the request's body.
    received: u64,
    /// What the client was sent.
    status: Option<u16>,
    /// Why the gateway refused, if it did.
    code: Option<&'static str>,
    /// The form of the answer, where it is a provider's.
    form: Option<Form>,
    first_token: Option<Duration>,
    /// A line of the access log is wanted.
    logged: bool,
    trace: Option<Box<Trace>>,
    told: bool,
    _pending: Pending,
    inflight: Option<Counted>,
}

impl Facts {
    /// Begins with the head of a request.
    /// `trusted`: its id is the client's, if it has given one.
    pub(crate) fn begin(house: &House, head: &Parts, dispatched: bool, trusted: bool) -> Self {
        let metrics = house.metrics();
        let (verb, route) = (Verb::of(&head.method), Route::of(head.uri.path()));
        Self {
            verb,
            route,
            traffic: if dispatched {
                Traffic::Dispatched
            } else {
                Traffic::Realtime
            },
            arrived: Instant::now(),
            request_id: if trusted {
                request_id(&head.headers)
            } else {
                random::request_id()
            },
            alias: None,
            caller: None,
            attempts: 0,
            upstream_status: None,
            provider: None,
            pool: None,
            received: 0,
            status: None,
            code: None,
            form: None,
            first_token: None,
            logged: house.settings.access_log,
            trace: (house.settings.traces.as_ref()).map(|traces| traces.begin(head)),
            told: false,
            _pending: metrics.arrived(verb, route),
            inflight: None,
            metrics: metrics.clone(),
        }
    }

    /// The request names this alias of the configuration, and its client holds this key.
    pub(crate) fn identified(&mut self, alias: &Arc<Alias>, caller: Option<&Arc<Caller>>) {
        self.inflight = Some(Counted::new(&alias.inflight));
        self.alias = Some(alias.clone());
        self.caller = caller.cloned();
    }

    /// The request names this alias, but is refused before that matters to anything but its labels.
    pub(crate) fn about(&mut self, alias: Option<&Arc<Alias>>) {
        self.alias = alias.cloned();
    }

    /// The request's body has been read: so many bytes.
    pub(crate) fn received(&mut self, bytes: u64) {
        self.received = bytes;
    }

    /// The request is served from this pool.
    pub(crate) fn routed(&mut self, pool: &Pool) {
        self.pool = Some(pool.name);
    }

    /// Nobody waits for the answer: the request comes from a batch.
    pub(crate) fn is_dispatched(&self) -> bool {
        self.traffic == Traffic::Dispatched
    }

    /// The request is sent to this provider, which learns of this span where it may know the trace.
    pub(crate) fn attempt(&mut self, provider: &Provider, alias: &Alias) -> Option<Parent> {
        self.attempts += 1;
        self.provider = Some(provider.name.clone());
        let trace = self.trace.as_mut()?;
        let model = provider.sent_model.as_deref().unwrap_or(&alias.name);
        trace.attempt(self.route, &provider.peer, model);
        if provider.outbound.trace {
            trace.parent()
        } else {
            None
        }
    }

    /// The provider answered with this status, or not at all.
    pub(crate) fn answered_by_provider(&mut self, status: Option<StatusCode>) {
        if let (Some(trace), Some(status)) = (&mut self.trace, status) {
            trace.answered(status.as_u16());
        }
        self.upstream_status = status
            .map(|status| status.as_u16())
            .or(self.upstream_status);
    }

    /// An attempt failed and the next provider is tried.
    pub(crate) fn failed(&mut self, pool: &Pool, provider: &Provider, fault: &Fault) {
        tracing::warn!(
            request_id = self.request_id.to_str().unwrap_or_default(),
            model = self.model(),
            pool = pool.name,
            provider = &*provider.name,
            error = fault as &dyn std::error::Error,
            "attempt failed"
        );
        if let Some(trace) = &mut self.trace {
            trace.failed(fault.label());
        }
    }

    /// The request has parameters of the catalog that not every provider can honour.
    pub(crate) fn flagged(&self, names: &[&'static str], rejected: impl Fn(&&'static str) -> bool) {
        let model = self.model();
        for name in names {
            let action = if rejected(name) { "rejected" } else { "logged" };
            self.metrics
                .unsupported_param(name, model, self.traffic, action);
        }
        let caller = self.caller.as_deref();
        tracing::info!(
            request_id = self.request_id.to_str().unwrap_or_default(),
            params = names.join(","),
            model,
            account = caller.and_then(Caller::account),
            api_key_id = caller.and_then(Caller::api_key_id),
            "request has parameters that not every provider can honour"
        );
    }

    /// The request was put in the dialect of this provider, with these changes.
    pub(crate) fn translated(&self, provider: &Provider, report: &Report) {
        if report.is_empty() {
            return;
        }
        for loss in report.notes().filter(|note| note.change.is_loss()) {
            self.metrics
                .dropped_param(&provider.name, fidelity::known(loss.name));
        }
        tracing::info!(
            request_id = self.request_id.to_str().unwrap_or_default(),
            model = self.model(),
            provider = &*provider.name,
            changes = report.known(),
            "request translated with changes"
        );
    }

    fn model(&self) -> &str {
        self.alias.as_ref().map_or("", |alias| alias.name.as_str())
    }

    /// The id that logs on both sides know the request by.
    pub(crate) fn request_id(&self) -> &HeaderValue {
        &self.request_id
    }

    /// The answer is a provider's and has this form.
    pub(crate) fn served(&mut self, form: Form) {
        self.form = Some(form);
    }

    /// The head of the answer is on its way.
    pub(crate) fn answered(&mut self, status: u16) {
        self.status = Some(status);
        self.metrics
            .answered(self.verb, self.route, status, self.arrived.elapsed());
    }

    /// The gateway itself refused the request, or could not serve it.
    pub(crate) fn refused(&mut self, refusal: &Refusal) {
        self.code = Some(refusal.code());
        let status = refusal.status().as_u16();
        let model = self.model();
        let failure = match refusal {
            Refusal::BadGateway
            | Refusal::GatewayTimeout
            | Refusal::Unreachable
            | Refusal::Late
            | Refusal::Unreadable
            | Refusal::Unavailable
            | Refusal::Malformed
            | Refusal::UpstreamLimited { .. } => Some(Failure::RetriesExhausted),
            // What a provider answered could not be shown; without an attempt it is a defect of the gateway.
            Refusal::Internal if self.attempts > 0 => Some(Failure::RetriesExhausted),
            Refusal::NoProviders => Some(Failure::NoProviders),
            Refusal::AllAtCapacity => Some(Failure::AllAtCapacity),
            _ => None,
        };
        if let Some(failure) = failure {
            self.metrics
                .upstream_failed(failure, self.upstream_status.unwrap_or(status), model);
        }
        let id = self.request_id.to_str().unwrap_or_default();
        // A 429 that passes on what providers say is their decision, not the gateway's.
        let decided = !matches!(refusal, Refusal::UpstreamLimited { .. });
        let batch = matches!(refusal, Refusal::BatchCapacity { .. });
        if batch {
            self.metrics.batch_refused(model);
        }
        let shed = matches!(refusal, Refusal::Overloaded { .. });
        let own = batch || shed || matches!(refusal, Refusal::LimitsUnavailable);
        if own || (decided && (400..500).contains(&status)) {
            let code = refusal.code();
            self.metrics.rejected(&Rejection {
                model,
                status,
                code,
                traffic: self.traffic,
            });
            if shed {
                // A line for each would cost most when there is least to spare; that it happens is told now and then.
                tracing::debug!(request_id = id, "request shed");
                return;
            }
            let caller = self.caller.as_deref();
            tracing::info!(
                request_id = id,
                status,
                code,
                param = refusal.param(),
                model,
                account = caller.and_then(Caller::account),
                api_key_id = caller.and_then(Caller::api_key_id),
                "request rejected"
            );
        } else {
            let provider = self.provider.as_deref();
            tracing::error!(
                request_id = id,
                status,
                model,
                provider,
                attempts = self.attempts,
                "request failed"
            );
        }
    }

    /// The first data of a stream is on its way to the client.
    pub(crate) fn first_token(&mut self) {
        self.first_token = Some(self.arrived.elapsed());
    }

    /// The body of the answer has ended, after so many bytes, and its provider has counted this.
    pub(crate) fn ended(mut self, outcome: Outcome, bytes: u64, usage: Option<Usage>) {
        self.metrics.body_ended(self.verb, self.route, bytes);
        if let (Some(form), Some(alias)) = (self.form, &self.alias) {
            alias.answers.ended(form, outcome);
            for (tokens, count) in usage.iter().flat_map(counts) {
                alias.answers.counted(tokens, count);
            }
        }
        if !matches!(outcome, Outcome::Complete | Outcome::ClientGone) {
            tracing::warn!(
                request_id = self.request_id.to_str().unwrap_or_default(),
                model = self.model(),
                provider = self.provider.as_deref(),
                outcome = outcome.label(),
                bytes,
                "the response body did not end well"
            );
        }
        self.tell(outcome, bytes, usage);
    }

    /// Tells whoever keeps records, once.
    fn tell(&mut self, outcome: Outcome, bytes: u64, usage: Option<Usage>) {
        let trace = self.trace.take();
        if std::mem::replace(&mut self.told, true) || !(self.logged || trace.is_some()) {
            return;
        }
        let record = Record {
            request_id: self.request_id.to_str().unwrap_or_default(),
            verb: self.verb,
            route: self.route,
            model: self.alias.as_ref().map(|alias| alias.name.as_str()),
            pool: self.pool,
            provider: self.provider.as_deref(),
            attempts: self.attempts,
            status: self.status,
            outcome,
            code: self.code,
            caller: self.caller.as_deref(),
            first_token: self.first_token,
            total: self.arrived.elapsed(),
            received: self.received,
            sent: bytes,
            usage,
        };
        if self.logged {
            record.log();
        }
        if let Some(trace) = trace {
            trace.end(&record);
        }
    }
}

impl Drop for Facts {
    /// A client that leaves before it is answered takes the request along.
    fn drop(&mut self) {
        self.tell(Outcome::ClientGone, 0, None);
    }
}

/// The counts that were given, by their label.
fn counts(usage: &Usage) -> impl Iterator<Item = (Tokens, u64)> {
    [
        (Tokens::Prompt, usage.prompt),
        (Tokens::Completion, usage.completion),
        (Tokens::Cached, usage.cached),
        (Tokens::Reasoning, usage.reasoning),
    ]
    .into_iter()
    .filter_map(|(tokens, count)| Some((tokens, count?)))
}

/// A gauge that counts a request for as long as this lives.
#[derive(Debug)]
struct Counted(IntGauge);

impl Counted {
    fn new(gauge: &IntGauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// The client's request id if it is one line of visible characters, else a new one.
fn request_id(headers: &HeaderMap) -> HeaderValue {
    let sane = |value: &&HeaderValue| {
        let bytes = value.as_bytes();
        !bytes.is_empty() && bytes.len() <= LONGEST_ID && bytes.iter().all(u8::is_ascii_graphic)
    };
    headers
        .get(REQUEST_ID)
        .filter(sane)
        // A copy: the original keeps the buffer that the head was read into.
        .and_then(|value| HeaderValue::from_bytes(value.as_bytes()).ok())
        .unwrap_or_else(random::request_id)
}
