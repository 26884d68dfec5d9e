//! The compiled configuration: immutable, swapped whole, borrowed by requests.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use onwards_balance::{Backoff, Order};
use onwards_config::{self as config, Fallback, RoutingRule};
use onwards_dialects::Protocol;
use onwards_images::Fetcher;
use onwards_limits::{Bucket, Rate, Slots};
use onwards_reasoning::Translation;
use prometheus::IntGauge;

use super::affinity::Affinity;
use super::caller::{Caller, Keyring, Token};
use super::dialect::{Dialect, Signing, served};
use super::pause::Pause;
use super::share::Share;
use super::thoughts::Bounds;
use crate::endpoint::Endpoint;
use crate::headers::Outbound;
use crate::metrics::{AnswerSeries, AttemptSeries, PoolSeries};
use crate::shared::Shared;
use crate::traces::Peer;
use crate::transport::Destination;

/// One configuration from start to end of a request.
#[derive(Debug)]
pub(crate) struct Snapshot {
    /// Counts successful loads, from 1.
    pub(crate) generation: u64,
    /// Strict mode: requests are checked and answers rebuilt.
    pub(crate) strict: bool,
    /// Parameters of the catalog that strict mode refuses.
    pub(crate) rejected_params: Vec<&'static str>,
    /// The batch in-flight limits of aliases hold.
    pub(crate) enforces_batch: bool,
    /// The most proxied requests that may be in flight.
    pub(crate) max_inflight: Option<u32>,
    /// Callers are told of the nearest rate limit.
    pub(crate) tells_rates: bool,
    /// The store that counts are shared in.
    pub(crate) shared: Option<Shared>,
    /// The header that marks dispatched traffic.
    pub(crate) exempt_header: Option<HeaderName>,
    /// Some provider's dialect is known: requests may be translated.
    pub(crate) translates: bool,
    /// What surrounds translation.
    pub(crate) translation: Surroundings,
    /// The key that opens the dry run.
    pub(crate) dry_run: Option<Token>,
    /// Seconds since 1970 at the load; `created` of every listed model.
    pub(crate) created: u64,
    /// Every alias by its exact name.
    pub(super) aliases: HashMap<String, Arc<Alias>>,
    /// Names of the aliases in order.
    pub(super) names: Vec<String>,
    /// Every key that the configuration knows.
    pub(crate) keyring: Keyring,
}

/// What holds for all translation.
#[derive(Debug)]
pub(crate) struct Surroundings {
    pub(crate) ingress: config::Ingress,
    /// Fetches pictures; `None` where that is switched off.
    pub(crate) fetcher: Option<Arc<Fetcher>>,
    /// How much is kept of thoughts; `None`: nothing.
    pub(crate) thoughts: Option<Bounds>,
}

/// What clients ask for.
#[derive(Debug)]
pub(crate) struct Alias {
    /// Its name, also the `model` label.
    pub(crate) name: String,
    pub(crate) default: Arc<Pool>,
    pub(crate) completions: Option<Arc<Pool>>,
    /// True when a provider that can be reached through this alias needs bodies changed.
    pub(crate) reads_bodies: bool,
    /// Series of the two pools that can serve the alias, by their name: the alias is the label, whoever serves it.
    pub(crate) series: [PoolSeries; 2],
    /// The answers it gets.
    pub(crate) answers: AnswerSeries,
    /// Requests in flight on the alias.
    pub(crate) inflight: IntGauge,
    /// The most realtime requests an account may have in flight here.
    pub(crate) inflight_limit: Option<u32>,
    /// The same for accounts named in the configuration.
    pub(crate) account_inflight_limits: HashMap<String, u32>,
    /// The most dispatched requests that may be in flight here.
    pub(crate) batch_inflight_limit: Option<u32>,
}

/// Which of an alias's pools serves a request (spec C.11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestClass {
    Default,
    Completions,
}

impl RequestClass {
    pub(crate) fn of(endpoint: Endpoint) -> Self {
        if endpoint == Endpoint::Completions {
            Self::Completions
        } else {
            Self::Default
        }
    }
}

/// Providers that serve an alias for a request class.
#[derive(Debug)]
pub(crate) struct Pool {
    /// `default` or `completions`; the `pool` label.
    pub(crate) name: &'static str,
    pub(crate) access: Access,
    pub(crate) rate: Option<Arc<Meter>>,
    pub(crate) slots: Arc<Slots>,
    pub(crate) concurrency_limit: Option<u32>,
    /// Who is tried first, who next, and how often.
    pub(crate) order: Order,
    /// The waits between attempts.
    pub(crate) backoff: Option<Backoff>,
    pub(crate) fallback: Fallback,
    /// How long a stream may take to its first token, where another provider can be asked.
    pub(crate) first_token_timeout: Option<Duration>,
    /// The load-aware share of the preferred provider, where one runs.
    pub(crate) share: Option<Arc<Share>>,
    /// The conversations of the preferred provider, where they are kept apart.
    pub(crate) affinity: Option<Arc<Affinity>>,
    pub(crate) rules: Vec<RoutingRule>,
    pub(crate) providers: Vec<Arc<Provider>>,
    /// The dialect of some provider is known: the last answer of one is the client's where all have failed.
    pub(crate) translates: bool,
}

impl Pool {
    /// The time before which a provider asked not to be called. Pauses count where the pool fails over; elsewhere the client
    /// has seen the provider's own words.
    pub(crate) fn pause_of(&self, provider: &Provider, now: Duration) -> Option<Duration> {
        if self.fallback.enabled {
            provider.pause.until(now)
        } else {
            None
        }
    }

    /// How long the shortest of the pauses lasts that the providers have asked for.
    pub(crate) fn earliest(&self, now: Duration) -> Option<Duration> {
        let pauses = self
            .providers
            .iter()
            .filter_map(|provider| self.pause_of(provider, now));
        pauses.min().map(|until| until.saturating_sub(now))
    }
}

/// A rate limit of a key or a pool.
#[derive(Debug)]
pub(crate) struct Meter {
    /// What gateways that share it call it: made of names in the configuration, never of a key.
    #[cfg_attr(
        not(feature = "shared-state"),
        expect(dead_code, reason = "only a store needs a name")
    )]
    pub(crate) name: String,
    #[cfg_attr(
        not(feature = "shared-state"),
        expect(dead_code, reason = "the bucket knows its own")
    )]
    pub(crate) rate: Rate,
    /// This gateway's own tokens.
    pub(crate) bucket: Arc<Bucket>,
}

/// Who may use a pool.
#[derive(Debug)]
pub(crate) enum Access {
    Open,
    /// Ids of callers, in order.
    Keys(Vec<u32>),
}

impl Access {
    pub(crate) fn admits(&self, caller: Option<&Caller>) -> bool {
        match self {
            Self::Open => true,
            Self::Keys(ids) => caller.is_some_and(|caller| ids.binary_search(&caller.id).is_ok()),
        }
    }
}

/// One upstream, ready to be sent to.
#[derive(Debug)]
pub(crate) struct Provider {
    /// Its configured name or its place in the pool: what logs and labels say.
    pub(crate) name: Arc<str>,
    pub(crate) url: String,
    /// Who that is, for traces.
    pub(crate) peer: Peer,
    pub(crate) destination: Arc<dyn Destination>,
    /// `""` or `/a/b`.
    pub(crate) base_path: String,
    /// What it speaks, where that is known.
    pub(crate) dialect: Option<Arc<Dialect>>,
    /// What requests to it are signed with.
    pub(crate) signing: Option<Arc<Signing>>,
    /// The path of every request below the base path, and the one of streams; `{model}` stands for the model's name.
    pub(crate) paths: Option<Paths>,
    pub(crate) outbound: Outbound,
    /// The model name to put into the body.
    pub(crate) model: Option<ModelName>,
    /// Its attempts by outcome.
    pub(crate) attempts: AttemptSeries,
    /// Until when it asked to be left alone.
    pub(crate) pause: Arc<Pause>,
    /// The model name it is sent instead of the client's, plain.
    pub(crate) sent_model: Option<String>,
    /// How reasoning efforts are said to this provider.
    pub(crate) translation: Option<Translation>,
    /// Its errors may be shown to strict clients.
    pub(crate) trusted: bool,
    /// Outside strict mode: its errors are replaced and its chat answers cleaned.
    pub(crate) sanitize: bool,
    pub(crate) response_headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) request_timeout: Option<Duration>,
    pub(crate) connect_timeout: Duration,
    pub(crate) idle_timeout: Option<Duration>,
    pub(crate) bucket: Option<Arc<Bucket>>,
    pub(crate) slots: Arc<Slots>,
    pub(crate) concurrency_limit: Option<u32>,
    /// Drop `priority` and `nvext` from bodies, because the pool is not the default one and the provider is not said
    /// to accept them (spec C.11).
    pub(crate) strips_scheduling: bool,
}

/// Paths that the operator has set.
#[derive(Clone, Debug)]
pub(crate) struct Paths {
    /// Of every request that is not asked of `stream`.
    pub(crate) request: Option<String>,
    /// Of requests for streams.
    pub(crate) stream: Option<String>,
}

/// A model name as JSON text, ready to be spliced into a body.
#[derive(Clone, Debug)]
pub(crate) struct ModelName(pub(crate) String);

impl Snapshot {
    /// True for a request that carries the header of dispatched traffic.
    pub(crate) fn is_dispatched(&self, headers: &HeaderMap) -> bool {
        self.exempt_header
            .as_ref()
            .is_some_and(|name| headers.contains_key(name))
    }

    /// What a client of an endpoint speaks. Strict mode without dialects knows OpenAI's protocols alone.
    pub(crate) fn speaks(&self, endpoint: Endpoint) -> Option<Protocol> {
        if self.strict && !self.translates {
            return None;
        }
        endpoint.protocol()
    }

    /// False for an endpoint whose protocol is switched off.
    pub(crate) fn serves(&self, endpoint: Endpoint) -> bool {
        let protocol = endpoint.protocol();
        protocol.is_none_or(|protocol| self.speaks_to(protocol))
    }

    /// False for a protocol that the operator has switched off.
    pub(crate) fn speaks_to(&self, protocol: Protocol) -> bool {
        served(&self.translation.ingress, protocol)
    }

    /// The configuration that knows no alias.
    pub(crate) fn empty() -> Self {
        Self {
            generation: 0,
            strict: false,
            rejected_params: Vec::new(),
            enforces_batch: false,
            max_inflight: None,
            tells_rates: true,
            shared: None,
            exempt_header: None,
            translates: false,
            translation: Surroundings {
                ingress: config::Ingress::default(),
                fetcher: None,
                thoughts: None,
            },
            dry_run: None,
            created: 0,
            aliases: HashMap::new(),
            names: Vec::new(),
            keyring: Keyring::default(),
        }
    }

    /// The alias a model name stands for, and whether a serving class was cut off the name (spec C.3).
    pub(crate) fn alias(&self, model: &str) -> Option<(&Arc<Alias>, bool)> {
        if let Some(alias) = self.aliases.get(model) {
            return Some((alias, false));
        }
        let (bare, class) = model.rsplit_once(':')?;
        if !matches!(class, "interactive" | "throughput" | "standard") {
            return None;
        }
        Some((self.aliases.get(bare)?, true))
    }

    /// Every alias in the order of its name.
    pub(crate) fn aliases(&self) -> impl Iterator<Item = &Arc<Alias>> {
        self.names.iter().filter_map(|name| self.aliases.get(name))
    }
}

impl Alias {
    /// The series for requests that name this alias and are served by a pool of its own or of another alias.
    pub(crate) fn series(&self, pool: &Pool) -> &PoolSeries {
        let [default, completions] = &self.series;
        if pool.name == "default" {
            default
        } else {
            completions
        }
    }

    /// The pool for a class of requests; the default one where the alias has no other.
    pub(crate) fn pool(&self, class: RequestClass) -> &Arc<Pool> {
        match (class, &self.completions) {
            (RequestClass::Completions, Some(pool)) => pool,
            _ => &self.default,
        }
    }
}
