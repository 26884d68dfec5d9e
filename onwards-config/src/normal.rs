//! From [`spec`] to [`gateway`](crate::gateway): defaults, inheritance, and the rules that
//! concern several values.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::gateway::{
    Action, Auth, Gateway, HttpPool, KeyDefinition, Proxy, SharedState, Target, WhenAway,
};
use crate::node::Reading;
use crate::path::Path;
use crate::secret::Secret;
use crate::spec;

mod connection;
mod fallback;
mod keys;
mod pool;
mod protocols;

use connection::Connection;
use keys::{Definitions, definitions, resolved};

/// Puts everything together. Problems go to the reading.
pub(crate) fn gateway(config: spec::Config, reading: &Reading<'_>) -> Gateway {
    let root = Path::root();
    let http_pool = config.http_pool;
    let defs = definitions(
        config.auth.as_ref(),
        &root.member("auth").member("key_definitions"),
        reading,
    );
    let auth = config.auth.unwrap_or(spec::Auth {
        global_keys: None,
        key_definitions: None,
    });
    let global_keys = auth.global_keys.as_deref().unwrap_or_default();
    let global_keys = resolved(
        global_keys,
        &defs,
        &root.member("auth").member("global_keys"),
        reading,
    );
    let aliases: BTreeSet<String> = config.targets.keys().cloned().collect();
    let strict_mode = config.strict_mode.unwrap_or(false);
    let shared = connection::shared(config.providers, strict_mode, reading);
    let whole = Whole {
        reading,
        strict_mode,
        shared: &shared,
        globals: &global_keys,
        definitions: &defs,
        aliases: &aliases,
    };
    let targets = config.targets.into_iter().map(|(alias, target)| {
        let path = root.member("targets").member(&alias);
        (alias, whole.target(target, &path))
    });
    let targets: BTreeMap<String, Target> = targets.collect();
    let enforced = config.batch_inflight_enforce.unwrap_or(false);
    let accounts = auth
        .key_definitions
        .iter()
        .flat_map(BTreeMap::values)
        .any(|key| {
            key.labels
                .as_ref()
                .is_some_and(|labels| labels.contains_key("account"))
        });
    warn_of_idle_limits(&targets, enforced, accounts, reading);
    Gateway {
        strict_mode,
        batch_inflight_enforce: enforced,
        http_pool: HttpPool {
            max_idle_per_host: http_pool
                .as_ref()
                .and_then(|pool| pool.max_idle_per_host)
                .unwrap_or(100),
            idle_timeout: http_pool
                .and_then(|pool| pool.idle_timeout_secs)
                .unwrap_or(Duration::from_secs(90)),
        },
        proxy: config
            .proxy
            .and_then(|given| proxy(given, &root.member("proxy"), reading)),
        rejected_params: config.rejected_params.unwrap_or_default(),
        exempt_header: config.exempt_header,
        first_token_timeout: config
            .first_token_timeout_ms
            .filter(|deadline| *deadline > 0)
            .map(Duration::from_millis),
        max_inflight_requests: config.max_inflight_requests,
        rate_limit_headers: config.rate_limit_headers.unwrap_or(true),
        shared_state: config.shared_state.map(shared_state),
        ingress: protocols::ingress(config.ingress),
        image_fetch: protocols::image_fetch(config.image_fetch),
        reasoning_state: protocols::reasoning_state(config.reasoning_state),
        dry_run_key: config.dry_run_key,
        auth: Auth {
            key_definitions: key_definitions(auth.key_definitions.unwrap_or_default()),
            global_keys,
        },
        targets,
    }
}

/// Limits in flight that count nobody.
fn warn_of_idle_limits(
    targets: &BTreeMap<String, Target>,
    enforced: bool,
    accounts: bool,
    reading: &Reading<'_>,
) {
    for (alias, target) in targets {
        let path = Path::root().member("targets").member(alias);
        if let Some(limit) = target.default.batch_inflight_limit.filter(|_| !enforced) {
            let expected = "`batch_inflight_enforce` at the top of the file: without it the limit has no effect";
            reading.warn(
                &path.member("batch_inflight_limit"),
                limit.to_string(),
                expected,
            );
        }
        if let Some(limit) = target.default.inflight_limit.filter(|_| !accounts) {
            let expected = "some key definition with the label `account`: requests of keys without one are not counted";
            reading.warn(&path.member("inflight_limit"), limit.to_string(), expected);
        }
    }
}

fn key_definitions(
    given: BTreeMap<String, spec::KeyDefinition>,
) -> BTreeMap<String, KeyDefinition> {
    let complete = |given: spec::KeyDefinition| KeyDefinition {
        key: given.key,
        rate_limit: given.rate_limit,
        concurrency_limit: given.concurrency_limit,
        labels: given.labels.unwrap_or_default(),
    };
    given
        .into_iter()
        .map(|(name, given)| (name, complete(given)))
        .collect()
}

fn shared_state(given: spec::SharedState) -> SharedState {
    SharedState {
        redis: given.redis,
        ca: given.ca,
        prefix: given.prefix.unwrap_or_else(|| "onwards".to_owned()),
        timeout: given.timeout_ms.unwrap_or(Duration::from_millis(5)),
        lease: given.lease_ms.unwrap_or(Duration::from_secs(15)),
        when_away: given.when_away.unwrap_or(WhenAway::Admit),
        rate_limits: given.rate_limits.unwrap_or(false),
    }
}

fn proxy(given: spec::Proxy, path: &Path, reading: &Reading<'_>) -> Option<Proxy> {
    let fixed = given.http.is_some() || given.https.is_some() || given.no_proxy.is_some();
    if given.from_environment == Some(true) {
        if fixed {
            reading.error(
                &path.member("from_environment"),
                "true beside other members",
                "either it or `http`, `https`, `no_proxy`",
            );
        }
        return Some(Proxy::FromEnvironment);
    }
    if given.http.is_none() && given.https.is_none() {
        return None;
    }
    Some(Proxy::Fixed {
        http: given.http,
        https: given.https,
        no_proxy: given.no_proxy.unwrap_or_default(),
    })
}

/// What targets need to know of the rest of the file.
struct Whole<'a> {
    reading: &'a Reading<'a>,
    strict_mode: bool,
    /// The providers at the top of the file.
    shared: &'a BTreeMap<String, Connection>,
    globals: &'a [Secret],
    definitions: &'a Definitions,
    aliases: &'a BTreeSet<String>,
}

/// A pool of any form, on its way.
struct Draft {
    path: Path,
    /// The pool every class of requests may use.
    default: bool,
    /// Resolved, without the global ones.
    keys: Option<Vec<Secret>>,
    shared: spec::Shared,
    serving: spec::Serving,
    providers: Vec<(Path, spec::Provider)>,
}

impl Whole<'_> {
    fn target(&self, target: spec::Target, path: &Path) -> Target {
        match target {
            spec::Target::Single(single) => self.only(self.single(*single, path)),
            spec::Target::Pool(pool) => self.only(self.draft(*pool, path, true)),
            spec::Target::List(entries) => self.only(self.list(entries, path)),
            spec::Target::Named(named) => self.named(named.pools, &path.member("pools")),
        }
    }

    fn only(&self, draft: Draft) -> Target {
        Target {
            default: self.pool(draft),
            completions: None,
        }
    }

    /// One provider: its limits are the pool's.
    fn single(&self, single: spec::Single, path: &Path) -> Draft {
        let spec::Single {
            upstream,
            shared,
            serving,
        } = single;
        let provider = spec::Provider {
            upstream,
            shared: unset(),
        };
        Draft {
            path: path.clone(),
            default: true,
            keys: self.keys(&serving, path),
            shared,
            serving,
            providers: vec![(path.clone(), provider)],
        }
    }

    fn draft(&self, pool: spec::Pool, path: &Path, default: bool) -> Draft {
        let providers = path.member("providers");
        let numbered = pool.providers.into_iter().enumerate();
        Draft {
            path: path.clone(),
            default,
            keys: self.keys(&pool.serving, path),
            shared: pool.shared,
            serving: pool.serving,
            providers: numbered
                .map(|(index, provider)| (providers.element(index), provider))
                .collect(),
        }
    }

    /// The legacy form: `keys` and `trusted` of the first entry count for all, limits are each entry's own.
    fn list(&self, entries: Vec<spec::Single>, path: &Path) -> Draft {
        let mut draft = Draft {
            path: path.clone(),
            default: true,
            keys: None,
            shared: unset(),
            serving: no_serving(),
            providers: Vec::with_capacity(entries.len()),
        };
        for (index, entry) in entries.into_iter().enumerate() {
            let path = path.element(index);
            let trusted = entry.shared.trusted.unwrap_or(false);
            if index == 0 {
                draft.keys = self.keys(&entry.serving, &path);
                draft.shared.trusted = Some(trusted);
            } else if draft.shared.trusted != Some(trusted) {
                self.reading.error(
                    &path.member("trusted"),
                    trusted.to_string(),
                    "the same as in the first entry of the list",
                );
            }
            self.warn_of_list_members(&entry.serving, &path, index);
            draft.providers.push((
                path,
                spec::Provider {
                    upstream: entry.upstream,
                    shared: entry.shared,
                },
            ));
        }
        draft
    }

    fn warn_of_list_members(&self, serving: &spec::Serving, path: &Path, index: usize) {
        let ignored = [
            ("keys", index > 0 && serving.keys.is_some()),
            ("strategy", serving.strategy.is_some()),
            ("fallback", serving.fallback.is_some()),
            ("routing_rules", serving.routing_rules.is_some()),
            ("inflight_limit", serving.inflight_limit.is_some()),
            (
                "account_inflight_limits",
                serving.account_inflight_limits.is_some(),
            ),
            (
                "batch_inflight_limit",
                serving.batch_inflight_limit.is_some(),
            ),
        ];
        for (name, _) in ignored.into_iter().filter(|(_, given)| *given) {
            let expected = match name {
                "keys" => "`keys` in the first entry of the list only; it is ignored",
                _ => "a pool with `providers` to use it; it is ignored in a list",
            };
            self.reading
                .warn(&path.member(name), format!("`{name}`"), expected);
        }
    }

    /// The second pool takes what it does not say itself from the default one.
    fn named(&self, pools: spec::Pools, path: &Path) -> Target {
        let default = self.draft(pools.default, &path.member("default"), true);
        let own = pools
            .completions
            .map(|pool| self.draft(pool, &path.member("completions"), false));
        let keys = default.keys.clone();
        let default = self.pool(default);
        let completions = own.map(|mut own| {
            self.warn_of_alias_limits(&own);
            let inherits = own.keys.is_none();
            if inherits {
                own.keys = keys;
            }
            let mut pool = self.pool(own);
            if inherits {
                let denials = default
                    .routing_rules
                    .iter()
                    .filter(|rule| rule.action == Action::Deny);
                pool.routing_rules.splice(0..0, denials.cloned());
            }
            pool.inflight_limit = default.inflight_limit;
            pool.account_inflight_limits
                .clone_from(&default.account_inflight_limits);
            pool.batch_inflight_limit = default.batch_inflight_limit;
            pool
        });
        Target {
            default,
            completions: completions.filter(|pool| !pool.providers.is_empty()),
        }
    }

    fn warn_of_alias_limits(&self, pool: &Draft) {
        let limits = [
            ("inflight_limit", pool.serving.inflight_limit.is_some()),
            (
                "account_inflight_limits",
                pool.serving.account_inflight_limits.is_some(),
            ),
            (
                "batch_inflight_limit",
                pool.serving.batch_inflight_limit.is_some(),
            ),
        ];
        for (name, _) in limits.into_iter().filter(|(_, given)| *given) {
            let expected =
                "it in the pool `default`, whose limits count for the alias; it is ignored here";
            self.reading
                .warn(&pool.path.member(name), format!("`{name}`"), expected);
        }
    }
}

fn unset() -> spec::Shared {
    spec::Shared {
        rate_limit: None,
        concurrency_limit: None,
        response_headers: None,
        sanitize_response: None,
        trusted: None,
    }
}

fn no_serving() -> spec::Serving {
    spec::Serving {
        keys: None,
        strategy: None,
        fallback: None,
        routing_rules: None,
        inflight_limit: None,
        account_inflight_limits: None,
        batch_inflight_limit: None,
    }
}
