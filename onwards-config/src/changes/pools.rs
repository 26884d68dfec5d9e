//! A pool, its limits, and its providers one by one.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Changes, Kind, Part, Roster, crowd, differing, limits, same_secret, same_secrets, union,
};
use crate::gateway::{
    Access, Aws, Dialect, Pool, Provider, ReasoningSurface, ReasoningTranslation,
};

pub(super) fn compare(
    changes: &mut Changes,
    name: &str,
    (old_roster, old): (&Roster<'_>, &Pool),
    (new_roster, new): (&Roster<'_>, &Pool),
) {
    let mut members = differing!(old, new, Pool {
        strategy as "strategy",
        fallback as "fallback",
        routing_rules as "routing_rules";
        path, access, rate_limit, concurrency_limit, inflight_limit, account_inflight_limits,
        batch_inflight_limit, providers
    });
    if let Some(detail) = access((old_roster, &old.access), (new_roster, &new.access)) {
        members.insert(0, format!("keys ({detail})"));
    }
    let pairs = pairs(&old.providers, &new.providers);
    let kept: Vec<usize> = pairs.iter().filter_map(|(_, new)| *new).collect();
    if !kept.is_sorted() {
        members.push("order of providers".to_owned());
    }
    changes.differing(Part::Pool, name, &members);
    limits(
        changes,
        name,
        (old.rate_limit, old.concurrency_limit),
        (new.rate_limit, new.concurrency_limit),
    );
    providers(changes, name, old, new, &pairs);
}

/// The limits of an alias, which its default pool holds for all of them.
pub(super) fn in_flight(changes: &mut Changes, name: &str, old: &Pool, new: &Pool) {
    for (member, old, new) in [
        ("inflight_limit", old.inflight_limit, new.inflight_limit),
        (
            "batch_inflight_limit",
            old.batch_inflight_limit,
            new.batch_inflight_limit,
        ),
    ] {
        changes.limit(name, member, old.as_ref(), new.as_ref(), u32::to_string);
    }
    let accounts = union(&old.account_inflight_limits, &new.account_inflight_limits);
    for (account, old, new) in accounts {
        let member = format!("account_inflight_limits.{account}");
        changes.limit(name, &member, old, new, u32::to_string);
    }
}

/// Who may call, the global keys left out: a change of those is told once.
fn access(
    (old_roster, old): (&Roster<'_>, &Access),
    (new_roster, new): (&Roster<'_>, &Access),
) -> Option<String> {
    match (old, new) {
        (Access::Open, Access::Open) => None,
        (Access::Open, Access::Keys(_)) => Some("open -> listed".to_owned()),
        (Access::Keys(_), Access::Open) => Some("listed -> open".to_owned()),
        (Access::Keys(old), Access::Keys(new)) => {
            crowd(&old_roster.own_holders(old), &new_roster.own_holders(new))
        }
    }
}

/// The place of each old provider in the new pool, if it is there.
fn pairs(old: &[Provider], new: &[Provider]) -> Vec<(usize, Option<usize>)> {
    let repeated = repeated(old, new);
    let mut places: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (place, provider) in new.iter().enumerate().rev() {
        places
            .entry(identity(provider, &repeated))
            .or_default()
            .push(place);
    }
    old.iter()
        .enumerate()
        .map(|(place, provider)| {
            let found = places
                .get_mut(&identity(provider, &repeated))
                .and_then(Vec::pop);
            (place, found)
        })
        .collect()
}

/// Names of shared providers that serve several models of a pool.
fn repeated<'a>(old: &'a [Provider], new: &'a [Provider]) -> BTreeSet<&'a str> {
    let mut repeated = BTreeSet::new();
    for pool in [old, new] {
        let mut seen = BTreeSet::new();
        let names = pool.iter().filter_map(|provider| provider.name.as_deref());
        repeated.extend(names.filter(|name| !seen.insert(*name)));
    }
    repeated
}

/// What a reader takes for the same provider.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Identity<'a> {
    Named(&'a str),
    Serving(&'a str, Option<&'a str>),
    At(String, Option<&'a str>),
}

fn identity<'a>(provider: &'a Provider, repeated: &BTreeSet<&str>) -> Identity<'a> {
    let model = provider.model.as_deref();
    match provider.name.as_deref() {
        Some(name) if repeated.contains(name) => Identity::Serving(name, model),
        Some(name) => Identity::Named(name),
        None => Identity::At(provider.endpoint.url(), model),
    }
}

fn label(pool: &str, place: usize, provider: &Provider, repeated: &BTreeSet<&str>) -> String {
    match (provider.name.as_deref(), &provider.model) {
        (Some(name), Some(model)) if repeated.contains(name) => format!("{pool}/{name} ({model})"),
        (Some(name), _) => format!("{pool}/{name}"),
        (None, _) => format!("{pool}/{place} ({})", provider.endpoint.url()),
    }
}

fn providers(
    changes: &mut Changes,
    pool: &str,
    old: &Pool,
    new: &Pool,
    pairs: &[(usize, Option<usize>)],
) {
    let repeated = repeated(&old.providers, &new.providers);
    let label = |place: usize, provider: &Provider| label(pool, place, provider, &repeated);
    for (old, place) in old.providers.iter().zip(pairs) {
        let found = place.1.and_then(|at| Some((at, new.providers.get(at)?)));
        match found {
            None => changes.push(Part::Provider, Kind::Removed, label(place.0, old), ""),
            Some((at, new)) => {
                let name = label(at, new);
                changes.differing(Part::Provider, &name, &members(old, new));
                limits(
                    changes,
                    &name,
                    (old.rate_limit, old.concurrency_limit),
                    (new.rate_limit, new.concurrency_limit),
                );
            }
        }
    }
    for (place, provider) in new.providers.iter().enumerate() {
        if !pairs.iter().any(|(_, found)| *found == Some(place)) {
            let name = label(place, provider);
            changes.push(Part::Provider, Kind::Added, name, "");
        }
    }
}

fn members(old: &Provider, new: &Provider) -> Vec<String> {
    let mut members = differing!(old, new, Provider {
        endpoint as "url",
        kind as "kind",
        request_path as "path",
        stream_path as "stream_path",
        headers as "headers",
        extra_body as "extra_body",
        passthrough as "passthrough",
        aws as "aws" by same_aws,
        key as "onwards_key" by same_secrets,
        model as "onwards_model",
        weight as "weight",
        auth_header as "upstream_auth_header_name",
        auth_value as "upstream_auth_header_prefix",
        response_headers as "response_headers",
        sanitize_response as "sanitize_response",
        trusted as "trusted",
        propagate_trace_context as "propagate_trace_context",
        reasoning_translation as "reasoning_translation" by same_translation,
        request_timeout as "request_timeout_secs",
        connect_timeout as "connect_timeout_ms",
        idle_timeout as "idle_timeout_ms",
        accepts_scheduling_priority as "accepts_scheduling_priority";
        path, name, rate_limit, concurrency_limit, dialect
    });
    // Another kind has other defaults, and none has no dialect: neither is a change of its own.
    if old.kind == new.kind && old.kind.is_some() {
        members.extend(of_dialect(&old.dialect, &new.dialect));
    }
    if !same_secrets(&old.key, &new.key) {
        // The prefix is kept with the key behind it, so whether it changed too cannot be told.
        members.retain(|member| member != "upstream_auth_header_prefix");
    }
    members
}

fn of_dialect(old: &Dialect, new: &Dialect) -> Vec<String> {
    let mut members = differing!(old, new, Dialect {
        on_unsupported as "on_unsupported",
        image_urls as "image_urls",
        images_for_all as "image_urls",
        default_max_tokens as "default_max_tokens",
        max_tokens_field as "max_tokens_field",
        structured_output as "structured_output",
        schema_mode as "schema_mode",
        strict_tools as "strict_tools",
        reasoning_style as "reasoning_style",
        reasoning_budgets as "reasoning_budgets",
        expose_reasoning as "expose_reasoning",
        reasoning_for_all as "expose_reasoning",
        betas as "betas",
        api_version as "api_version",
        api_style as "api_style",
        api as "api",
        mid_system as "mid_system",
        stream_options as "stream_options";
    });
    members.dedup();
    members
}

fn same_aws(old: &Option<Aws>, new: &Option<Aws>) -> bool {
    match (old, new) {
        (None, None) => true,
        (Some(old), Some(new)) => differing!(old, new, Aws {
            region as "region",
            access_key_id as "access_key_id" by same_secret,
            secret_access_key as "secret_access_key" by same_secret,
            session_token as "session_token" by same_secrets,
            service as "service";
        })
        .is_empty(),
        _ => false,
    }
}

fn same_translation(
    old: &Option<ReasoningTranslation>,
    new: &Option<ReasoningTranslation>,
) -> bool {
    let surfaces = |translation: &Option<ReasoningTranslation>| {
        let of = |surface: &Option<ReasoningSurface>| {
            surface
                .as_ref()
                .map(|surface| (surface.unsupported_efforts.clone(), surface.writes.clone()))
        };
        translation.as_ref().map(|translation| {
            (
                of(&translation.chat_completions),
                of(&translation.responses),
            )
        })
    };
    surfaces(old) == surfaces(new)
}
