//! Members of the whole.

use std::time::Duration;

use super::{Changes, Kind, Part, differing, same_secret, same_secrets};
use crate::gateway::{Gateway, HttpPool, ImageFetch, Ingress, Proxy, ReasoningState, SharedState};

pub(super) fn compare(changes: &mut Changes, old: &Gateway, new: &Gateway) {
    let differing = differing!(old, new, Gateway {
        strict_mode as "strict_mode",
        http_pool as "http_pool",
        proxy as "proxy" by same_proxy,
        rejected_params as "rejected_params",
        exempt_header as "exempt_header",
        first_token_timeout as "first_token_timeout_ms",
        batch_inflight_enforce as "batch_inflight_enforce",
        max_inflight_requests as "max_inflight_requests",
        rate_limit_headers as "rate_limit_headers",
        shared_state as "shared_state" by same_store,
        ingress as "ingress",
        image_fetch as "image_fetch",
        reasoning_state as "reasoning_state",
        dry_run_key as "dry_run_key" by same_secrets;
        auth, targets
    });
    for name in differing {
        let detail = match name.as_str() {
            "strict_mode" => format!("{} -> {}", old.strict_mode, new.strict_mode),
            "http_pool" => format!("{} -> {}", kept(old.http_pool), kept(new.http_pool)),
            "first_token_timeout_ms" => format!(
                "{} -> {}",
                millis(old.first_token_timeout),
                millis(new.first_token_timeout)
            ),
            "batch_inflight_enforce" => format!(
                "{} -> {}",
                old.batch_inflight_enforce, new.batch_inflight_enforce
            ),
            "max_inflight_requests" => format!(
                "{} -> {}",
                number(old.max_inflight_requests),
                number(new.max_inflight_requests)
            ),
            "rate_limit_headers" => {
                format!("{} -> {}", old.rate_limit_headers, new.rate_limit_headers)
            }
            "shared_state" => match (&old.shared_state, &new.shared_state) {
                (Some(old), Some(new)) => of_store(old, new).join(", "),
                (None, _) => "none -> a store".to_owned(),
                (_, None) => "a store -> none".to_owned(),
            },
            "ingress" => of_ingress(&old.ingress, &new.ingress).join(", "),
            "image_fetch" => of_images(&old.image_fetch, &new.image_fetch).join(", "),
            "reasoning_state" => of_thoughts(&old.reasoning_state, &new.reasoning_state).join(", "),
            _ => String::new(),
        };
        changes.push(Part::Setting, Kind::Changed, name, detail);
    }
}

fn kept(pool: HttpPool) -> String {
    format!(
        "{} idle for {} s",
        pool.max_idle_per_host,
        pool.idle_timeout.as_secs()
    )
}

fn millis(duration: Option<Duration>) -> String {
    duration.map_or_else(
        || "none".to_owned(),
        |duration| duration.as_millis().to_string(),
    )
}

fn number(bound: Option<u32>) -> String {
    bound.map_or_else(|| "none".to_owned(), |bound| bound.to_string())
}

fn same_proxy(old: &Option<Proxy>, new: &Option<Proxy>) -> bool {
    match (old, new) {
        (None, None) | (Some(Proxy::FromEnvironment), Some(Proxy::FromEnvironment)) => true,
        (
            Some(Proxy::Fixed {
                http: old_http,
                https: old_https,
                no_proxy: old_direct,
            }),
            Some(Proxy::Fixed {
                http,
                https,
                no_proxy,
            }),
        ) => {
            same_secrets(old_http, http) && same_secrets(old_https, https) && old_direct == no_proxy
        }
        _ => false,
    }
}

fn same_store(old: &Option<SharedState>, new: &Option<SharedState>) -> bool {
    match (old, new) {
        (None, None) => true,
        (Some(old), Some(new)) => of_store(old, new).is_empty(),
        _ => false,
    }
}

fn of_store(old: &SharedState, new: &SharedState) -> Vec<String> {
    differing!(old, new, SharedState {
        redis as "redis" by same_secret,
        ca as "ca" by same_secrets,
        prefix as "prefix",
        timeout as "timeout_ms",
        lease as "lease_ms",
        when_away as "when_away",
        rate_limits as "rate_limits";
    })
}

fn of_ingress(old: &Ingress, new: &Ingress) -> Vec<String> {
    differing!(old, new, Ingress {
        anthropic as "anthropic",
        gemini as "gemini",
        responses as "responses",
        same_dialect as "same_dialect",
        allowed_betas as "allowed_betas",
        trust_request_id as "trust_request_id";
    })
}

fn of_images(old: &ImageFetch, new: &ImageFetch) -> Vec<String> {
    differing!(old, new, ImageFetch {
        enabled as "enabled",
        max_bytes as "max_bytes",
        timeout as "timeout_ms",
        max_images as "max_images",
        max_redirects as "max_redirects",
        allow_hosts as "allow_hosts",
        allow_private as "allow_private",
        allow_http as "allow_http",
        mime_types as "mime_types";
    })
}

fn of_thoughts(old: &ReasoningState, new: &ReasoningState) -> Vec<String> {
    differing!(old, new, ReasoningState {
        enabled as "enabled",
        max_entries as "max_entries",
        ttl as "ttl_secs";
    })
}
