//! One pool and its providers, whatever form the file gives them.

use std::collections::HashMap;
use std::num::NonZeroU32;

use http::header::{HeaderName, HeaderValue};

use super::connection::Place;
use super::fallback;
use super::keys::{distinct, resolved};
use super::{Draft, Whole};
use crate::gateway::{Access, Action, Pool, Provider, ProviderKind, RoutingRule};
use crate::path::Path;
use crate::problem::{Severity, did_you_mean, nearest};
use crate::secret::Secret;
use crate::spec;

impl Whole<'_> {
    pub(super) fn keys(&self, serving: &spec::Serving, path: &Path) -> Option<Vec<Secret>> {
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
        Access::Keys(distinct(keys.iter().flatten().chain(self.globals)))
    }

    pub(super) fn pool(&self, draft: Draft) -> Pool {
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
        let providers: Vec<Provider> = providers
            .into_iter()
            .map(|(path, given)| self.provider(given, &path, &shared))
            .collect();
        let kinds = providers.iter().filter_map(|provider| provider.kind);
        let place = fallback::Place {
            path: path.member("fallback"),
            default,
            strategy,
            translates: kinds.into_iter().any(|kind| kind != ProviderKind::OpenAi),
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
            providers,
            path: path.to_string(),
        }
    }

    /// A name tells one provider of the pool, but a shared provider may serve several models.
    fn check_names(&self, providers: &[(Path, spec::Provider)]) {
        let mut names: HashMap<&str, bool> = HashMap::new();
        for (path, provider) in providers {
            let (name, member) = match (&provider.upstream.provider, &provider.upstream.name) {
                (Some(name), _) => (name, "provider"),
                (None, Some(name)) => (name, "name"),
                (None, None) => continue,
            };
            let shared = provider.upstream.provider.is_some();
            if let Some(known) = names.insert(name, shared)
                && !(known && shared)
            {
                self.reading.error(
                    &path.member(member),
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
        if self.aliases.contains(alias) {
            return;
        }
        let hint = nearest(alias, self.aliases.iter().map(String::as_str)).map(did_you_mean);
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
        let place = Place {
            path,
            strict: self.strict_mode,
            reading: self.reading,
        };
        let connection = match &upstream.provider {
            None => place.connection(upstream.connection),
            Some(name) => match self.shared.get(name) {
                Some(connection) => connection.clone(),
                None => {
                    self.unknown_provider(name, &path.member("provider"));
                    place.connection(spec::connection::Connection::default())
                }
            },
        };
        Provider {
            path: path.to_string(),
            name: upstream.provider.or(upstream.name),
            endpoint: connection.endpoint,
            kind: connection.kind,
            dialect: connection.dialect,
            request_path: connection.request_path,
            stream_path: connection.stream_path,
            headers: connection.headers,
            extra_body: connection.extra_body,
            passthrough: connection.passthrough,
            aws: connection.aws,
            key: connection.credential.key,
            model: upstream.onwards_model,
            weight: upstream.weight.unwrap_or(NonZeroU32::MIN),
            rate_limit: shared.rate_limit,
            concurrency_limit: shared.concurrency_limit,
            auth_header: connection.credential.header,
            auth_value: connection.credential.value,
            response_headers: merged(pool.response_headers.as_deref(), shared.response_headers),
            sanitize_response: pool.sanitize_response.unwrap_or(false)
                || shared.sanitize_response.unwrap_or(false),
            trusted,
            propagate_trace_context: upstream.propagate_trace_context.unwrap_or(trusted),
            reasoning_translation: upstream.reasoning_translation,
            request_timeout: connection.request_timeout,
            connect_timeout: connection.connect_timeout,
            idle_timeout: connection.idle_timeout,
            accepts_scheduling_priority: upstream.accepts_scheduling_priority.unwrap_or(false),
        }
    }

    fn unknown_provider(&self, name: &str, path: &Path) {
        let hint = nearest(name, self.shared.keys().map(String::as_str)).map(did_you_mean);
        self.reading.push(
            Severity::Error,
            path,
            crate::json::quoted(name),
            "a name of `providers` at the top of the file".into(),
            hint,
        );
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
