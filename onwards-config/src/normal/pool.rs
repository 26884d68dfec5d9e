//! One pool and its providers, whatever form the file gives them.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::time::Duration;

use http::HeaderName;
use http::header::{AUTHORIZATION, HeaderValue};

use super::fallback::Place;
use super::keys::{distinct, resolved};
use super::{Draft, Whole};
use crate::gateway::{Access, Action, Dialect, Pool, Provider, ProviderKind, RoutingRule};
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
        let place = Place {
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
        Provider {
            path: path.to_string(),
            auth_value: self.auth_value(&upstream, path),
            name: upstream.name,
            endpoint: upstream.url,
            kind: None,
            dialect: Dialect::of(ProviderKind::OpenAi),
            request_path: None,
            stream_path: None,
            headers: Vec::new(),
            extra_body: None,
            passthrough: false,
            aws: None,
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
        const EXPECTED: &str = "text without control characters";
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
