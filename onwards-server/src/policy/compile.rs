//! From what the file says to what requests run on: everything that can fail at load fails here, not per request.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use onwards_balance::{AffinitySettings, Backoff, ControllerSettings, Jitter, Order, Strategy};
use onwards_config::{self as config, Endpoint, Gateway, Problem};
use onwards_limits::{Bucket, Rate};
use onwards_reasoning::Translation;
use sha2::{Digest, Sha256};

use super::affinity::Affinity;
use super::caller::{Caller, Keyring, Token};
use super::dialect::{Dialect, Signing, Words, fetcher, paths, signing};
use super::ledger::{Learnt, Ledger};
use super::share::{self, Share};
use super::snapshot::{Access, Alias, Meter, ModelName, Pool, Provider, Snapshot, Surroundings};
use super::thoughts::Bounds;
use crate::headers::Outbound;
use crate::metrics::Metrics;
use crate::secrets;
use crate::traces::Peer;
use crate::transport::{Conditions, Destination, Echo, Transport};

/// What a snapshot is built on.
pub(crate) struct Grounds<'a> {
    pub(crate) ledger: &'a Ledger,
    pub(crate) transport: &'a dyn Transport,
    pub(crate) metrics: &'a Metrics,
    /// Monotonic time since the process began.
    pub(crate) now: Duration,
    /// Seconds since 1970.
    pub(crate) unix: u64,
    pub(crate) generation: u64,
}

/// Compiles a configuration. State in the ledger is touched only when nothing is wrong with it.
///
/// # Errors
/// What breaks a rule that was not checked when the file was read, as with other surroundings than the process.
pub(crate) fn compile(gateway: &Gateway, grounds: &Grounds<'_>) -> Result<Snapshot, Vec<Problem>> {
    let Checked {
        rates,
        translations,
        dialects,
        signings,
        rejected_params,
    } = check(gateway)?;
    let fetcher = if dialects.is_empty() {
        None
    } else {
        fetcher(&gateway.image_fetch, grounds.transport.tls())
    };
    grounds.ledger.sweep();
    let mut builder = Builder {
        grounds,
        rates,
        translations,
        dialects,
        signings,
        keyring: Keyring::default(),
        conditions: Conditions {
            keeping: gateway.http_pool,
            proxy: gateway.proxy.as_ref(),
        },
        first_token_timeout: gateway.first_token_timeout,
        learnt: grounds.ledger.take_learnt(),
        known: HashMap::new(),
        carried: [0; 2],
    };
    builder.learn_keys(gateway);
    let mut aliases = HashMap::with_capacity(gateway.targets.len());
    let mut names = Vec::with_capacity(gateway.targets.len());
    for (name, target) in &gateway.targets {
        let mut alias = builder.alias(name, target);
        alias.reads_bodies = needs_changes(gateway, target);
        aliases.insert(name.clone(), Arc::new(alias));
        names.push(name.clone());
    }
    for gone in builder
        .learnt
        .into_values()
        .filter_map(|learnt| learnt.share)
    {
        gone.retire();
    }
    grounds.ledger.keep_learnt(builder.known, builder.carried);
    Ok(Snapshot {
        generation: grounds.generation,
        strict: gateway.strict_mode,
        rejected_params,
        enforces_batch: gateway.batch_inflight_enforce,
        max_inflight: gateway.max_inflight_requests,
        tells_rates: gateway.rate_limit_headers,
        shared: None,
        exempt_header: gateway.exempt_header.clone(),
        translates: !builder.dialects.is_empty(),
        translation: Surroundings {
            ingress: gateway.ingress.clone(),
            fetcher,
            thoughts: gateway.reasoning_state.enabled.then(|| Bounds {
                entries: usize::try_from(gateway.reasoning_state.max_entries).unwrap_or(usize::MAX),
                ttl: gateway.reasoning_state.ttl,
            }),
        },
        dry_run: (gateway.dry_run_key.as_ref()).map(|key| Token::of(key.expose().as_bytes())),
        created: grounds.unix,
        aliases,
        names,
        keyring: builder.keyring,
    })
}

/// True when a provider that can serve a request for the target cannot be sent the client's own bytes.
fn needs_changes(gateway: &Gateway, target: &config::Target) -> bool {
    let changes = |pool: &config::Pool, named: bool| {
        pool.providers.iter().any(|provider| {
            provider.model.is_some()
                || provider.kind.is_some()
                || (named && !provider.accepts_scheduling_priority)
        })
    };
    let of = |target: &config::Target| {
        changes(&target.default, false)
            || target
                .completions
                .as_ref()
                .is_some_and(|pool| changes(pool, true))
    };
    let redirects = std::iter::once(&target.default)
        .chain(&target.completions)
        .flat_map(|pool| &pool.routing_rules);
    of(target)
        || redirects
            .filter_map(|rule| match &rule.action {
                config::Action::Redirect(alias) => gateway.targets.get(alias),
                config::Action::Deny => None,
            })
            .any(of)
}

/// What reading the file alone could not make: by the path of its owner.
#[derive(Default)]
struct Checked {
    rates: HashMap<String, Rate>,
    translations: HashMap<String, Translation>,
    dialects: HashMap<String, Arc<Dialect>>,
    signings: HashMap<String, Arc<Signing>>,
    rejected_params: Vec<&'static str>,
}

fn check(gateway: &Gateway) -> Result<Checked, Vec<Problem>> {
    let mut checked = Checked::default();
    let mut problems = Vec::new();
    for (name, definition) in &gateway.auth.key_definitions {
        checked.rate(
            definition_path(name),
            definition.rate_limit.as_ref(),
            &mut problems,
        );
    }
    for target in gateway.targets.values() {
        for pool in std::iter::once(&target.default).chain(&target.completions) {
            checked.rate(pool.path.clone(), pool.rate_limit.as_ref(), &mut problems);
            let words = Words::of(&pool.providers);
            for provider in &pool.providers {
                checked.rate(
                    own_limit(provider),
                    provider.rate_limit.as_ref(),
                    &mut problems,
                );
                let same = gateway.ingress.same_dialect;
                if let Some(dialect) = Dialect::compile(provider, same, &words) {
                    checked.dialects.insert(provider.path.clone(), dialect);
                }
                match signing(provider) {
                    Ok(Some(signing)) => {
                        checked.signings.insert(provider.path.clone(), signing);
                    }
                    Ok(None) => {}
                    Err(problem) => problems.push(*problem),
                }
                checked.translation(provider, &mut problems);
            }
        }
    }
    for (index, name) in gateway.rejected_params.iter().enumerate() {
        match onwards_strict::catalog::find(name) {
            Some(parameter) => checked.rejected_params.push(parameter.name),
            None => problems.push(Problem::new(
                format!("rejected_params[{index}]"),
                format!("`{name}`"),
                "the name of a parameter in the catalog of parameters that not every provider can honour".to_owned(),
            )),
        }
    }
    if problems.is_empty() {
        Ok(checked)
    } else {
        Err(problems)
    }
}

impl Checked {
    fn rate(
        &mut self,
        path: String,
        limit: Option<&config::RateLimit>,
        problems: &mut Vec<Problem>,
    ) {
        let Some(limit) = limit else { return };
        match Rate::new(limit.per_second, limit.burst) {
            Ok(rate) => {
                self.rates.insert(path, rate);
            }
            Err(error) => problems.push(Problem::new(
                format!("{path}.rate_limit"),
                format!("{} per second, burst {}", limit.per_second, limit.burst),
                error.to_string(),
            )),
        }
    }

    fn translation(&mut self, provider: &config::Provider, problems: &mut Vec<Problem>) {
        let Some(wanted) = &provider.reasoning_translation else {
            return;
        };
        match secrets::translation(wanted) {
            Ok(translation) => {
                self.translations.insert(provider.path.clone(), translation);
            }
            Err(violations) => problems.extend(violations.into_iter().map(|violation| {
                let path = [wanted.path.as_str(), violation.path.as_str()];
                let path = path
                    .iter()
                    .filter(|part| !part.is_empty())
                    .copied()
                    .collect::<Vec<_>>()
                    .join(".");
                Problem::new(path, violation.found, violation.expected)
            })),
        }
    }
}

/// Where the rate limit of a provider itself is kept; a single target's limits are its pool's.
fn own_limit(provider: &config::Provider) -> String {
    format!("{} itself", provider.path)
}

fn definition_path(name: &str) -> String {
    format!("auth.key_definitions.{name}")
}

struct Builder<'a> {
    grounds: &'a Grounds<'a>,
    rates: HashMap<String, Rate>,
    translations: HashMap<String, Translation>,
    dialects: HashMap<String, Arc<Dialect>>,
    signings: HashMap<String, Arc<Signing>>,
    keyring: Keyring,
    conditions: Conditions<'a>,
    first_token_timeout: Option<Duration>,
    /// What the pools knew before, and what they know now.
    learnt: HashMap<String, Learnt>,
    known: HashMap<String, Learnt>,
    /// How many shares and affinities are the ones that were there before.
    carried: [usize; 2],
}

impl Builder<'_> {
    /// The bucket of an owner, its level kept over a reload that does not change it.
    fn bucket(&self, path: &str, identity: String) -> Option<Arc<Bucket>> {
        let rate = *self.rates.get(path)?;
        let now = self.grounds.now;
        let bucket = self
            .grounds
            .ledger
            .bucket(identity, || Bucket::new(rate, now));
        bucket.set_rate(rate, now);
        Some(bucket)
    }

    /// A rate limit that gateways can share under `name`.
    fn meter(&self, path: &str, identity: String, name: String) -> Option<Arc<Meter>> {
        let rate = *self.rates.get(path)?;
        let bucket = self.bucket(path, identity)?;
        Some(Arc::new(Meter { name, rate, bucket }))
    }

    fn learn_keys(&mut self, gateway: &Gateway) {
        for (name, definition) in &gateway.auth.key_definitions {
            let (identity, shared) = (format!("key {name}"), format!("key:{name}"));
            let caller = Caller {
                id: self.next_id(),
                labels: definition.labels.clone(),
                rate: self.meter(&definition_path(name), identity.clone(), shared),
                slots: self.grounds.ledger.slots(identity),
                concurrency_limit: definition.concurrency_limit,
            };
            self.keyring.insert(
                Token::of(definition.key.expose().as_bytes()),
                Arc::new(caller),
            );
        }
    }

    fn next_id(&self) -> u32 {
        u32::try_from(self.keyring.len()).unwrap_or(u32::MAX)
    }

    /// The id of a key, learnt on the way if no definition has it.
    fn key_id(&mut self, key: &config::Secret) -> u32 {
        let token = Token::of(key.expose().as_bytes());
        if let Some(known) = self.keyring.get(&token) {
            return known.id;
        }
        let id = self.next_id();
        let caller = Caller {
            id,
            labels: std::collections::BTreeMap::new(),
            rate: None,
            slots: Arc::default(),
            concurrency_limit: None,
        };
        self.keyring.insert(token, Arc::new(caller));
        id
    }

    fn alias(&mut self, name: &str, target: &config::Target) -> Alias {
        let mut default = self.pool(name, "default", &target.default);
        self.carry_learnt(name, &target.default, &mut default);
        let completions = target
            .completions
            .as_ref()
            .map(|pool| Arc::new(self.pool(name, "completions", pool)));
        Alias {
            name: name.to_owned(),
            default: Arc::new(default),
            completions,
            reads_bodies: false,
            series: ["default", "completions"].map(|pool| self.grounds.metrics.pool(name, pool)),
            answers: self.grounds.metrics.answers(name),
            inflight: self.grounds.metrics.model_inflight(name),
            inflight_limit: target.default.inflight_limit,
            batch_inflight_limit: target.default.batch_inflight_limit,
            account_inflight_limits: target
                .default
                .account_inflight_limits
                .clone()
                .into_iter()
                .collect(),
        }
    }

    /// Carries over what the pool knew of its providers' load and conversations (spec G.6, H.3).
    fn carry_learnt(&mut self, alias: &str, config: &config::Pool, pool: &mut Pool) {
        let old = self.learnt.remove(alias).unwrap_or_default();
        let before = old.clone();
        let series = || self.grounds.metrics.pool(alias, pool.name);
        let providers = config.providers.len();
        let mut learnt = Learnt::default();
        if let (Some(aimd), Some(preferred)) = (&config.fallback.aimd, config.providers.first()) {
            let identity = share::Identity {
                preferred: identity_of(preferred),
                deadline: config.fallback.first_token_timeout,
            };
            learnt.share =
                Share::carried(old.share, &controller(aimd), identity, providers, series());
        } else if let Some(old) = old.share {
            old.retire();
        }
        if let Some(affinity) = &config.fallback.affinity {
            learnt.affinity = Affinity::carried(old.affinity, &conversations(affinity), series());
        }
        let [shares, affinities] = &mut self.carried;
        *shares += usize::from(is_kept(before.share.as_ref(), learnt.share.as_ref()));
        *affinities += usize::from(is_kept(before.affinity.as_ref(), learnt.affinity.as_ref()));
        if providers > 1 {
            pool.share.clone_from(&learnt.share);
            pool.affinity.clone_from(&learnt.affinity);
        }
        self.known.insert(alias.to_owned(), learnt);
    }

    fn pool(&mut self, alias: &str, name: &'static str, pool: &config::Pool) -> Pool {
        let identity = format!("pool {name} {alias}");
        let access = match &pool.access {
            config::Access::Open => Access::Open,
            config::Access::Keys(keys) => {
                let mut ids: Vec<u32> = keys.iter().map(|key| self.key_id(key)).collect();
                ids.sort_unstable();
                Access::Keys(ids)
            }
        };
        let mut seen = HashMap::new();
        let providers = pool
            .providers
            .iter()
            .enumerate()
            .map(|(index, provider)| {
                let twin = seen.entry(identity_of(provider)).or_insert(0);
                *twin += 1;
                let identity = format!("provider {name} {alias} {} {twin}", identity_of(provider));
                Arc::new(self.provider((alias, name), index, provider, identity))
            })
            .collect();
        Pool {
            name,
            access,
            rate: self.meter(&pool.path, identity.clone(), format!("pool:{name}:{alias}")),
            slots: self.grounds.ledger.slots(identity),
            concurrency_limit: pool.concurrency_limit,
            order: order(pool),
            backoff: pool.fallback.backoff.as_ref().and_then(backoff),
            fallback: pool.fallback.clone(),
            first_token_timeout: pool
                .fallback
                .first_token_timeout
                .or(self.first_token_timeout)
                .filter(|timeout| pool.fallback.enabled && !timeout.is_zero()),
            share: None,
            affinity: None,
            rules: pool.routing_rules.clone(),
            translates: pool
                .providers
                .iter()
                .any(|provider| self.dialects.contains_key(&provider.path)),
            providers,
        }
    }

    fn provider(
        &self,
        (alias, pool): (&str, &'static str),
        index: usize,
        provider: &config::Provider,
        identity: String,
    ) -> Provider {
        let label = provider.name.clone().unwrap_or_else(|| index.to_string());
        let (destination, base_path, host): (Arc<dyn Destination>, _, _) = match &provider.endpoint
        {
            Endpoint::Echo => (
                Arc::new(Echo),
                String::new(),
                HeaderValue::from_static("builtin"),
            ),
            Endpoint::Http(endpoint) => {
                let destination = self
                    .grounds
                    .transport
                    .destination(endpoint, self.conditions);
                // The configuration allows only characters that a header may have.
                let host = HeaderValue::from_str(&endpoint.authority)
                    .unwrap_or_else(|_| HeaderValue::from_static(""));
                (destination, endpoint.base_path.clone(), host)
            }
        };
        Provider {
            name: label.as_str().into(),
            url: provider.endpoint.url(),
            peer: peer(provider),
            destination,
            base_path,
            dialect: self.dialects.get(&provider.path).cloned(),
            signing: self.signings.get(&provider.path).cloned(),
            paths: paths(provider),
            outbound: Outbound {
                headers: provider.headers.clone(),
                host,
                auth: provider
                    .auth_value
                    .clone()
                    .map(|value| (provider.auth_header.clone(), value)),
                guarded: provider.kind.is_some(),
                trace: provider.propagate_trace_context,
            },
            model: provider
                .model
                .as_deref()
                .map(|model| ModelName(onwards_json::quote(model))),
            translation: self.translations.get(&provider.path).cloned(),
            trusted: provider.trusted,
            sanitize: provider.sanitize_response,
            attempts: self.grounds.metrics.attempts(alias, pool, &label),
            pause: self.grounds.ledger.pause(identity.clone()),
            sent_model: provider.model.clone(),
            response_headers: provider.response_headers.clone(),
            request_timeout: provider.request_timeout,
            connect_timeout: provider.connect_timeout,
            idle_timeout: provider.idle_timeout,
            bucket: self.bucket(&own_limit(provider), identity.clone()),
            slots: self.grounds.ledger.slots(identity),
            concurrency_limit: provider.concurrency_limit,
            strips_scheduling: pool != "default" && !provider.accepts_scheduling_priority,
        }
    }
}

fn is_kept<T>(old: Option<&Arc<T>>, new: Option<&Arc<T>>) -> bool {
    old.zip(new).is_some_and(|(old, new)| Arc::ptr_eq(old, new))
}

/// Who spans say an attempt is sent to.
fn peer(provider: &config::Provider) -> Peer {
    let (host, port) = match &provider.endpoint {
        Endpoint::Echo => ("builtin", None),
        Endpoint::Http(endpoint) => (endpoint.host.as_str(), Some(endpoint.port)),
    };
    Peer {
        name: provider.name.as_deref().unwrap_or(host).into(),
        host: host.into(),
        port,
    }
}

/// Who is tried and how often: without failover one attempt, with it as many as there are providers or the pool says.
fn order(pool: &config::Pool) -> Order {
    let strategy = match pool.strategy {
        config::Strategy::WeightedRandom => Strategy::WeightedRandom,
        config::Strategy::Priority => Strategy::Priority,
    };
    let order = Order::new(
        strategy,
        pool.providers.iter().map(|provider| provider.weight),
    )
    .with_replacement(pool.fallback.with_replacement);
    match (pool.fallback.enabled, pool.fallback.max_attempts) {
        (false, _) => order.with_max_attempts(NonZeroU32::MIN),
        (true, Some(most)) => order.with_max_attempts(most),
        (true, None) => order,
    }
}

/// The waits of a pool. The configuration has checked the factor, so there is always a result.
fn backoff(backoff: &config::Backoff) -> Option<Backoff> {
    let jitter = match backoff.jitter {
        config::Jitter::None => Jitter::None,
        config::Jitter::Full => Jitter::Full,
    };
    Backoff::new(backoff.initial, backoff.max, backoff.factor, jitter).ok()
}

/// The controller's settings as the configuration has checked them.
fn controller(aimd: &config::Aimd) -> ControllerSettings {
    let count = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    ControllerSettings {
        latency_budget: aimd.latency_budget,
        breach_rate_target: aimd.breach_rate_target,
        recovery_breach_rate: aimd.recovery_breach_rate,
        window_samples: count(aimd.window_samples),
        min_samples: count(aimd.min_samples),
        share_step: aimd.share_step,
        share_decay: aimd.share_decay,
        share_floor: aimd.share_floor,
        dwell: aimd.dwell,
        idle_recovery: aimd.idle_recovery,
        overload_statuses: aimd.overload_statuses.clone(),
    }
}

/// The settings of affinity as the configuration has checked them.
fn conversations(affinity: &config::Affinity) -> AffinitySettings {
    AffinitySettings {
        target_conversations: affinity.target_conversations,
        margin: affinity.margin,
        active_window: affinity.active_window,
        update_interval: affinity.update_interval,
        max_tracked: usize::try_from(affinity.max_tracked).unwrap_or(usize::MAX),
    }
}

/// What makes a provider the same one after a reload: URL, key and upstream model (spec O). The key enters as a digest.
fn identity_of(provider: &config::Provider) -> String {
    let key = provider
        .key
        .as_ref()
        .map(|key| Sha256::digest(key.expose().as_bytes()));
    format!("{} {key:x?} {:?}", provider.endpoint.url(), provider.model)
}
