//! From [`spec`](crate::spec) to [`gateway`](crate::gateway): defaults, inheritance, and the rules that
//! concern several values.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU32;
use std::time::Duration;

use http::HeaderName;
use http::header::{AUTHORIZATION, HeaderValue};

use crate::gateway::{
    Access, Action, Auth, Gateway, HttpPool, KeyDefinition, Pool, Provider, Proxy, RoutingRule,
    Target,
};
use crate::node::{Given, Reading};
use crate::path::Path;
use crate::problem::{Severity, nearest};
use crate::secret::Secret;
use crate::spec;

mod fallback;

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
    let aliases: Vec<String> = config.targets.keys().cloned().collect();
    let house = House {
        reading,
        globals: &global_keys,
        definitions: &defs,
        aliases: &aliases,
    };
    let targets = config.targets.into_iter().map(|(alias, target)| {
        let path = root.member("targets").member(&alias);
        (alias, house.target(target, &path))
    });
    let targets = targets.collect();
    Gateway {
        strict_mode: config.strict_mode.unwrap_or(false),
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
        auth: Auth {
            key_definitions: key_definitions(auth.key_definitions.unwrap_or_default()),
            global_keys,
        },
        targets,
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

/// Keys by name and names by key.
#[derive(Default)]
struct Definitions {
    keys: HashMap<String, Secret>,
    names: HashMap<String, String>,
}

fn definitions(auth: Option<&spec::Auth>, path: &Path, reading: &Reading<'_>) -> Definitions {
    let mut known = Definitions::default();
    let given = auth.and_then(|auth| auth.key_definitions.as_ref());
    for (name, definition) in given.into_iter().flatten() {
        let key = definition.key.expose();
        known.keys.insert(name.clone(), definition.key.clone());
        if key.is_empty() {
            continue;
        }
        match known.names.get(key) {
            Some(other) => reading.error(
                &path.member(name).member("key"),
                format!("the key of `{other}`"),
                "a key of its own",
            ),
            None => {
                known.names.insert(key.to_owned(), name.clone());
            }
        }
    }
    known
}

/// Replaces names of definitions by their keys and drops duplicates.
fn resolved(
    keys: &[Given],
    definitions: &Definitions,
    path: &Path,
    reading: &Reading<'_>,
) -> Vec<Secret> {
    let mut all: Vec<Secret> = Vec::with_capacity(keys.len());
    for (index, given) in keys.iter().enumerate() {
        let text = given.secret.expose();
        let named = definitions.keys.get(text).filter(|_| given.literal);
        if named.is_some()
            && definitions
                .names
                .get(text)
                .is_some_and(|owner| owner != text)
        {
            let found = "a text that is the name of one definition and the key of another";
            reading.error(&path.element(index), found, "a text with one meaning");
        }
        add(&mut all, named.unwrap_or(&given.secret));
    }
    all
}

fn add(all: &mut Vec<Secret>, key: &Secret) {
    if all.iter().all(|known| known.expose() != key.expose()) {
        all.push(key.clone());
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
struct House<'a> {
    reading: &'a Reading<'a>,
    globals: &'a [Secret],
    definitions: &'a Definitions,
    aliases: &'a [String],
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

impl House<'_> {
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

    fn keys(&self, serving: &spec::Serving, path: &Path) -> Option<Vec<Secret>> {
        let path = path.member("keys");
        let keys = serving.keys.as_ref()?;
        if keys.is_empty() && self.globals.is_empty() {
            self.reading.warn(
                &path,
                "an empty array",
                "a key, here or in `auth.global_keys`; nobody can call this",
            );
        }
        Some(resolved(keys, self.definitions, &path, self.reading))
    }

    fn access(&self, keys: Option<Vec<Secret>>) -> Access {
        if keys.is_none() && self.globals.is_empty() {
            return Access::Open;
        }
        let mut keys = keys.unwrap_or_default();
        for key in self.globals {
            add(&mut keys, key);
        }
        Access::Keys(keys)
    }

    fn pool(&self, draft: Draft) -> Pool {
        let Draft {
            path,
            default,
            keys,
            shared,
            serving,
            providers,
        } = draft;
        self.check_names(&providers);
        let strategy = serving.strategy.unwrap_or_default();
        let place = fallback::Place {
            path: path.member("fallback"),
            default,
            strategy,
            reading: self.reading,
        };
        Pool {
            access: self.access(keys),
            rate_limit: shared.rate_limit,
            concurrency_limit: shared.concurrency_limit,
            strategy,
            fallback: place.fallback(serving.fallback),
            routing_rules: self.rules(serving.routing_rules, &path.member("routing_rules")),
            inflight_limit: serving.inflight_limit,
            account_inflight_limits: serving.account_inflight_limits.unwrap_or_default(),
            batch_inflight_limit: serving.batch_inflight_limit,
            providers: providers
                .into_iter()
                .map(|(path, given)| self.provider(given, &path, &shared))
                .collect(),
            path: path.to_string(),
        }
    }

    fn check_names(&self, providers: &[(Path, spec::Provider)]) {
        let mut names: HashMap<&str, &Path> = HashMap::new();
        for (path, provider) in providers {
            if let Some(name) = &provider.upstream.name
                && names.insert(name, path).is_some()
            {
                self.reading.error(
                    &path.member("name"),
                    crate::json::quoted(name),
                    "a name no other provider of the pool has",
                );
            }
        }
    }

    fn rules(&self, given: Option<Vec<spec::RoutingRule>>, path: &Path) -> Vec<RoutingRule> {
        let complete = |(index, rule): (usize, spec::RoutingRule)| {
            let action = match rule.action {
                spec::Action::Deny => Action::Deny,
                spec::Action::Redirect { target } => {
                    self.check_alias(
                        &target,
                        &path.element(index).member("action").member("target"),
                    );
                    Action::Redirect(target)
                }
            };
            RoutingRule {
                match_labels: rule.match_labels,
                action,
            }
        };
        given
            .unwrap_or_default()
            .into_iter()
            .enumerate()
            .map(complete)
            .collect()
    }

    fn check_alias(&self, alias: &str, path: &Path) {
        if self.aliases.iter().any(|known| known == alias) {
            return;
        }
        let hint = nearest(alias, self.aliases.iter().map(String::as_str))
            .map(|known| format!("did you mean `{known}`?"));
        self.reading.push(
            Severity::Error,
            path,
            crate::json::quoted(alias),
            "an alias of `targets`".into(),
            hint,
        );
    }

    fn provider(&self, given: spec::Provider, path: &Path, pool: &spec::Shared) -> Provider {
        let spec::Provider { upstream, shared } = given;
        let trusted = shared.trusted.or(pool.trusted).unwrap_or(false);
        Provider {
            path: path.to_string(),
            auth_value: self.auth_value(&upstream, path),
            name: upstream.name,
            endpoint: upstream.url,
            key: upstream.onwards_key,
            model: upstream.onwards_model,
            weight: upstream.weight.unwrap_or(NonZeroU32::MIN),
            rate_limit: shared.rate_limit,
            concurrency_limit: shared.concurrency_limit,
            auth_header: upstream.upstream_auth_header_name.unwrap_or(AUTHORIZATION),
            response_headers: merged(pool.response_headers.as_deref(), shared.response_headers),
            sanitize_response: pool.sanitize_response.unwrap_or(false)
                || shared.sanitize_response.unwrap_or(false),
            trusted,
            propagate_trace_context: upstream.propagate_trace_context.unwrap_or(trusted),
            reasoning_translation: upstream.reasoning_translation,
            request_timeout: upstream.request_timeout_secs,
            connect_timeout: upstream
                .connect_timeout_ms
                .unwrap_or(Duration::from_secs(5)),
            idle_timeout: upstream
                .idle_timeout_ms
                .filter(|timeout| !timeout.is_zero()),
            accepts_scheduling_priority: upstream.accepts_scheduling_priority.unwrap_or(false),
        }
    }

    /// What the auth header will say, checked once here and never again.
    fn auth_value(&self, upstream: &spec::Upstream, path: &Path) -> Option<HeaderValue> {
        const FOUND: &str = "characters a header cannot hold";
        const EXPECTED: &str = "visible ASCII characters, spaces and tabs";
        let prefix = upstream
            .upstream_auth_header_prefix
            .as_deref()
            .unwrap_or("Bearer ");
        if HeaderValue::from_str(prefix).is_err() {
            self.reading
                .error(&path.member("upstream_auth_header_prefix"), FOUND, EXPECTED);
        }
        let key = upstream.onwards_key.as_ref()?.expose();
        if HeaderValue::from_str(key).is_err() {
            self.reading
                .error(&path.member("onwards_key"), FOUND, EXPECTED);
        }
        let mut value = HeaderValue::try_from(format!("{prefix}{key}")).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

/// The pool's headers, overridden by the provider's.
fn merged(
    pool: Option<&[(HeaderName, HeaderValue)]>,
    provider: Option<Vec<(HeaderName, HeaderValue)>>,
) -> Vec<(HeaderName, HeaderValue)> {
    let own = provider.unwrap_or_default();
    let inherited = pool
        .unwrap_or_default()
        .iter()
        .filter(|(name, _)| own.iter().all(|(known, _)| known != name));
    inherited.cloned().chain(own.iter().cloned()).collect()
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
