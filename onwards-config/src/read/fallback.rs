//! `fallback` and what is inside it.

use std::num::NonZeroU32;
use std::ops::RangeInclusive;

use super::{list, milliseconds, read};
use crate::gateway::{Jitter, StatusPattern};
use crate::node::Node;
use crate::spec::fallback::{Affinity, Aimd, Backoff, Fallback};

const DAY_MS: u64 = 86_400_000;

pub(super) fn fallback(node: &Node<'_>) -> Option<Fallback> {
    let mut m = node.object("fallback")?;
    let statuses = |node: &Node<'_>| list(node, "an array of statuses", status);
    let fallback = Fallback {
        enabled: read(&mut m, "enabled", Node::bool),
        on_status: read(&mut m, "on_status", statuses),
        realtime_on_status: read(&mut m, "realtime_on_status", statuses),
        on_rate_limit: read(&mut m, "on_rate_limit", Node::bool),
        on_rejected_prompt: read(&mut m, "on_rejected_prompt", Node::bool),
        on_translation_error: read(&mut m, "on_translation_error", Node::bool),
        first_token_timeout_ms: read(&mut m, "first_token_timeout_ms", |node| {
            node.integer(0..=u64::MAX)
        }),
        max_attempts: read(&mut m, "max_attempts", |node| {
            node.u32(1..=u32::MAX).and_then(NonZeroU32::new)
        }),
        with_replacement: read(&mut m, "with_replacement", Node::bool),
        backoff: read(&mut m, "backoff", backoff),
        max_total_backoff_ms: read(&mut m, "max_total_backoff_ms", |node| milliseconds(node, 0)),
        aimd: read(&mut m, "aimd", aimd),
        affinity: read(&mut m, "affinity", affinity),
    };
    m.done();
    Some(fallback)
}

fn status(node: &Node<'_>) -> Option<StatusPattern> {
    node.integer(1..=599)
        .and_then(|value| u16::try_from(value).ok())
        .and_then(StatusPattern::new)
}

fn backoff(node: &Node<'_>) -> Option<Backoff> {
    let mut m = node.object("backoff")?;
    let initial = m
        .need("initial_ms", "an integer of at least 0")
        .and_then(|node| milliseconds(&node, 0));
    let backoff = Backoff {
        initial_ms: initial.unwrap_or_default(),
        max_ms: read(&mut m, "max_ms", |node| milliseconds(node, 0)),
        factor: read(&mut m, "factor", |node| {
            node.number(|value| value > 0.0, "a number above 0")
        }),
        jitter: read(&mut m, "jitter", |node| {
            node.choice(&[("none", Jitter::None), ("full", Jitter::Full)])
        }),
    };
    m.done();
    Some(backoff)
}

/// Bounds hold only for a controller that runs: `enabled: false` may stand beside any numbers.
fn aimd(node: &Node<'_>) -> Option<Aimd> {
    let mut m = node.object("aimd")?;
    let enabled = read(&mut m, "enabled", Node::bool);
    let on = enabled != Some(false);
    let whole = |range: RangeInclusive<u64>| {
        let range = if on { range } else { 0..=u64::MAX };
        move |node: &Node<'_>| node.integer(range.clone())
    };
    let count = |least: u32, most: u32| {
        let range = if on { least..=most } else { 0..=u32::MAX };
        move |node: &Node<'_>| node.u32(range.clone())
    };
    let rate = |node: &Node<'_>| {
        node.number(
            |v| !on || (0.0..1.0).contains(&v),
            "a number from 0 to below 1",
        )
    };
    let share = |node: &Node<'_>| {
        node.number(
            |v| !on || (v > 0.0 && v <= 1.0),
            "a number above 0, at most 1",
        )
    };
    let factor = |node: &Node<'_>| {
        node.number(
            |v| !on || (v > 0.0 && v < 1.0),
            "a number above 0 and below 1",
        )
    };
    let aimd = Aimd {
        enabled,
        latency_budget_ms: read(&mut m, "latency_budget_ms", whole(1..=3_600_000)),
        breach_rate_target: read(&mut m, "breach_rate_target", rate),
        recovery_breach_rate: read(&mut m, "recovery_breach_rate", rate),
        window_samples: read(&mut m, "window_samples", count(2, 100_000)),
        min_samples: read(&mut m, "min_samples", count(2, 100_000)),
        share_step: read(&mut m, "share_step", share),
        share_decay: read(&mut m, "share_decay", factor),
        share_floor: read(&mut m, "share_floor", share),
        dwell_ms: read(&mut m, "dwell_ms", whole(1..=DAY_MS)),
        idle_recovery_ms: read(&mut m, "idle_recovery_ms", whole(0..=DAY_MS)),
        overload_statuses: read(&mut m, "overload_statuses", |node| {
            overload_statuses(node, on)
        }),
    };
    m.done_closed();
    Some(aimd)
}

fn overload_statuses(node: &Node<'_>, on: bool) -> Option<Vec<u16>> {
    let range = if on {
        400..=599
    } else {
        0..=u64::from(u16::MAX)
    };
    let status = |node: &Node<'_>| {
        node.integer(range.clone())
            .and_then(|value| u16::try_from(value).ok())
    };
    let elements = node.elements("an array of statuses")?;
    if on && elements.len() > 32 {
        let found = format!("{} statuses", elements.len());
        return node.wrong_unseen(found, "at most 32 statuses");
    }
    Some(elements.iter().filter_map(status).collect())
}

fn affinity(node: &Node<'_>) -> Option<Affinity> {
    let mut m = node.object("affinity")?;
    let enabled = read(&mut m, "enabled", Node::bool);
    let target = m
        .need("target_conversations", "an integer from 1 to 1000000")
        .and_then(|node| node.u32(1..=1_000_000));
    let span = |node: &Node<'_>| node.integer(1000..=DAY_MS);
    let affinity = Affinity {
        enabled,
        target_conversations: target.unwrap_or(1),
        margin: read(&mut m, "margin", |node| node.u32(0..=1_000_000)),
        active_window_ms: read(&mut m, "active_window_ms", span),
        update_interval_ms: read(&mut m, "update_interval_ms", span),
        max_tracked: read(&mut m, "max_tracked", |node| node.u32(1..=10_000_000)),
    };
    m.done_closed();
    target.map(|_| affinity)
}
