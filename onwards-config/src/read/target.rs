//! `targets`.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use http::{HeaderName, HeaderValue};

use super::connection::{NAME, connection, is_name, reference};
use super::header::header_name;
use super::{concurrency_limit, keys, labels, list, map, rate_limit, read};
use crate::gateway::Strategy;
use crate::json::Json;
use crate::members::Members;
use crate::node::Node;
use crate::problem::{Severity, nearest};
use crate::spec::connection::Connection;
use crate::spec::{
    Action, NamedPools, Pool, Pools, Provider, RoutingRule, Serving, Shared, Single, Target,
    Upstream,
};

pub(super) fn targets(node: &Node<'_>) -> BTreeMap<String, Target> {
    map(node, "an object of aliases", target).unwrap_or_default()
}

fn target(node: &Node<'_>) -> Option<Target> {
    match node.json {
        Json::Array(_) => list(node, "an array of providers", single).map(Target::List),
        Json::Object(members) => {
            let names = || members.iter().map(|(name, _)| name.as_str());
            let has = |wanted: &str| names().any(|name| name == wanted);
            let refers = members
                .iter()
                .any(|(name, json)| name == "provider" && matches!(json, Json::String(_)));
            let whole = has("url") || refers;
            let like = |wanted: &str| has(wanted) || (!whole && nearest(wanted, names()).is_some());
            if has("pools") || (!has("providers") && like("pools")) {
                named(node).map(|named| Target::Named(Box::new(named)))
            } else if like("providers") {
                pool(node).map(|pool| Target::Pool(Box::new(pool)))
            } else {
                single(node).map(|single| Target::Single(Box::new(single)))
            }
        }
        other => node.wrong_unseen(
            other.kind(),
            "an object (a provider, a pool or named pools) or an array of providers",
        ),
    }
}

fn single(node: &Node<'_>) -> Option<Single> {
    let mut m = node.object("single_target")?;
    let single = Single {
        upstream: upstream(
            &mut m,
            "an absolute http:// or https:// URL (or `providers`, or `pools`)",
        ),
        shared: shared(&mut m),
        serving: serving(&mut m),
    };
    m.done();
    Some(single)
}

fn named(node: &Node<'_>) -> Option<NamedPools> {
    let mut m = node.object("named_pools")?;
    let pools = m
        .need("pools", "an object with the pool `default`")
        .and_then(|node| pools(&node));
    m.done();
    Some(NamedPools { pools: pools? })
}

fn pools(node: &Node<'_>) -> Option<Pools> {
    let mut m = node.object("pools")?;
    let default = m.need("default", "a pool").and_then(|node| pool(&node));
    let completions = read(&mut m, "completions", pool);
    m.done_closed();
    Some(Pools {
        default: default?,
        completions,
    })
}

fn pool(node: &Node<'_>) -> Option<Pool> {
    let mut m = node.object("pool")?;
    let pool = Pool {
        providers: m
            .need("providers", "an array of providers")
            .and_then(|node| list(&node, "an array of providers", provider))
            .unwrap_or_default(),
        shared: shared(&mut m),
        serving: serving(&mut m),
    };
    m.done();
    Some(pool)
}

fn provider(node: &Node<'_>) -> Option<Provider> {
    let mut m = node.object("provider")?;
    let upstream = upstream(&mut m, "an absolute http:// or https:// URL");
    let provider = Provider {
        upstream,
        shared: shared(&mut m),
    };
    m.done();
    Some(provider)
}

fn upstream(m: &mut Members<'_>, expected: &'static str) -> Upstream {
    let provider = m.get("provider");
    let named = provider.as_ref().and_then(|node| reference_name(node));
    let connection = match (&provider, &named) {
        (None, _) => connection(m, Some(expected)),
        (Some(_), None) => connection(m, None),
        (Some(_), Some(name)) => {
            reference(m, name);
            Connection::default()
        }
    };
    let own_name = m.get("name");
    if let (Some(_), Some(node)) = (&named, &own_name) {
        node.reading.error(
            &node.path,
            "`name` beside `provider`",
            "no name: that of the shared provider counts",
        );
    }
    Upstream {
        provider: named,
        connection,
        name: own_name.as_ref().and_then(name),
        onwards_model: read(m, "onwards_model", Node::string),
        propagate_trace_context: read(m, "propagate_trace_context", Node::bool),
        reasoning_translation: read(m, "reasoning_translation", super::reasoning::translation),
        accepts_scheduling_priority: read(m, "accepts_scheduling_priority", Node::bool),
        weight: read(m, "weight", weight),
    }
}

fn shared(m: &mut Members<'_>) -> Shared {
    Shared {
        rate_limit: read(m, "rate_limit", rate_limit),
        concurrency_limit: read(m, "concurrency_limit", concurrency_limit),
        response_headers: read(m, "response_headers", response_headers),
        sanitize_response: read(m, "sanitize_response", Node::bool),
        trusted: read(m, "trusted", Node::bool),
    }
}

fn serving(m: &mut Members<'_>) -> Serving {
    let limit = |node: &Node<'_>| node.u32(0..=u32::MAX);
    Serving {
        keys: read(m, "keys", keys),
        strategy: read(m, "strategy", |node| {
            node.choice(&[
                ("weighted_random", Strategy::WeightedRandom),
                ("priority", Strategy::Priority),
            ])
        }),
        fallback: read(m, "fallback", super::fallback::fallback),
        routing_rules: read(m, "routing_rules", |node| {
            list(node, "an array of rules", routing_rule)
        }),
        inflight_limit: read(m, "inflight_limit", limit),
        account_inflight_limits: read(m, "account_inflight_limits", |node| {
            map(node, "an object of limits", limit)
        }),
        batch_inflight_limit: read(m, "batch_inflight_limit", limit),
    }
}

fn routing_rule(node: &Node<'_>) -> Option<RoutingRule> {
    let mut m = node.object("routing_rule")?;
    let match_labels = m
        .need("match_labels", "an object of strings")
        .and_then(|node| labels(&node));
    let action = m
        .need("action", "an object with `type`")
        .and_then(|node| action(&node));
    m.done();
    // An unreadable rule keeps its place: the paths of the rules behind it stay right.
    Some(RoutingRule {
        match_labels: match_labels.unwrap_or_default(),
        action: action.unwrap_or(Action::Deny),
    })
}

fn action(node: &Node<'_>) -> Option<Action> {
    let mut m = node.object("action")?;
    let kind = m
        .need("type", "`deny` or `redirect`")
        .and_then(|node| node.choice(&[("deny", false), ("redirect", true)]));
    let action = match kind {
        Some(true) => m
            .need("target", "an alias")
            .and_then(|node| node.string())
            .map(|target| Action::Redirect { target }),
        Some(false) => Some(Action::Deny),
        None => {
            m.get("target");
            None
        }
    };
    m.done();
    action
}

fn weight(node: &Node<'_>) -> Option<NonZeroU32> {
    if node.json.value() == 0 {
        let hint = "a provider of weight 0 could never be chosen: leave it out, or use `priority` for a spare one";
        let (found, expected) = ("0".to_owned(), "an integer from 1 to 4294967295".to_owned());
        node.reading.push(
            Severity::Error,
            &node.path,
            found,
            expected,
            Some(hint.to_owned()),
        );
        return None;
    }
    node.u32(1..=u32::MAX).and_then(NonZeroU32::new)
}

fn reference_name(node: &Node<'_>) -> Option<String> {
    node.str("the name of a provider at the top of the file")
        .map(str::to_owned)
}

fn name(node: &Node<'_>) -> Option<String> {
    let text = node.str(NAME)?;
    if is_name(text) {
        Some(text.to_owned())
    } else {
        node.wrong(NAME)
    }
}

fn response_headers(node: &Node<'_>) -> Option<Vec<(HeaderName, HeaderValue)>> {
    let mut headers: Vec<(HeaderName, HeaderValue)> = Vec::new();
    for (name, node) in node.entries("an object of strings")? {
        let value = node
            .str("a string")
            .and_then(|text| match HeaderValue::from_str(text) {
                Ok(value) => Some(value),
                Err(_) => node.wrong("text without control characters"),
            });
        let (Some(name), Some(value)) = (header_name(&node, name), value) else {
            continue;
        };
        match headers.iter_mut().find(|(known, _)| *known == name) {
            Some(header) => {
                node.reading.warn(
                    &node.path,
                    "a header already set",
                    "each header once, whatever its case; the last one counts",
                );
                header.1 = value;
            }
            None => headers.push((name, value)),
        }
    }
    Some(headers)
}
