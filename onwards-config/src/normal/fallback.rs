//! `fallback`: defaults, and the rules between its members, the strategy and the place of the pool.

use std::time::Duration;

use crate::gateway::{Affinity, Aimd, Backoff, Fallback, StatusPattern, Strategy};
use crate::node::Reading;
use crate::path::Path;
use crate::read::LONGEST_DEADLINE_MS;
use crate::spec::fallback as spec;

/// Where the fallback stands.
pub(super) struct Place<'a> {
    pub(super) path: Path,
    /// In the pool every class of requests may use.
    pub(super) default: bool,
    pub(super) strategy: Strategy,
    /// A provider of the pool has a kind other than the usual one.
    pub(super) translates: bool,
    pub(super) reading: &'a Reading<'a>,
}

impl Place<'_> {
    pub(super) fn fallback(&self, given: Option<spec::Fallback>) -> Fallback {
        let Some(given) = given else {
            return Fallback {
                on_status: self.usual_statuses(),
                by_class: self.translates,
                on_translation_error: self.translates,
                ..Fallback::default()
            };
        };
        let enabled = given.enabled.unwrap_or(false);
        if given.with_replacement == Some(true) && self.strategy == Strategy::Priority {
            self.reading.warn(
                &self.path.member("with_replacement"),
                "true",
                "`weighted_random`; it has no effect under `priority`",
            );
        }
        Fallback {
            enabled,
            aimd: self.aimd(&given, enabled),
            affinity: given
                .affinity
                .and_then(|given| self.affinity(&given, enabled)),
            by_class: self.translates && given.on_status.is_none(),
            on_status: given.on_status.unwrap_or_else(|| self.usual_statuses()),
            realtime_on_status: given.realtime_on_status.unwrap_or_default(),
            on_rate_limit: given.on_rate_limit.unwrap_or(false),
            on_rejected_prompt: given.on_rejected_prompt.unwrap_or(false),
            on_translation_error: given.on_translation_error.unwrap_or(self.translates),
            first_token_timeout: given.first_token_timeout_ms.map(span),
            max_attempts: given.max_attempts,
            with_replacement: given.with_replacement.unwrap_or(false),
            backoff: given.backoff.map(|given| Backoff {
                initial: given.initial_ms,
                max: given.max_ms.unwrap_or(Duration::from_millis(5000)),
                factor: given.factor.unwrap_or(2.0),
                jitter: given.jitter.unwrap_or_default(),
            }),
            max_total_backoff: given.max_total_backoff_ms,
        }
    }

    /// Statuses that lead to the next provider where the file names none.
    fn usual_statuses(&self) -> Vec<StatusPattern> {
        let usual: &[u16] = if self.translates { &[429, 5] } else { &[] };
        usual
            .iter()
            .copied()
            .filter_map(StatusPattern::new)
            .collect()
    }

    /// Whether share and affinity run here.
    fn acts(&self, enabled: bool) -> bool {
        self.default && enabled && self.strategy == Strategy::Priority
    }

    fn aimd(&self, fallback: &spec::Fallback, enabled: bool) -> Option<Aimd> {
        let aimd = match &fallback.aimd {
            None => Aimd::default(),
            Some(given) if given.enabled == Some(false) => return None,
            Some(given) => {
                let aimd = completed(given);
                self.check_aimd(&aimd);
                self.check_surroundings(&aimd, fallback.first_token_timeout_ms, enabled);
                aimd
            }
        };
        self.acts(enabled).then_some(aimd)
    }

    /// Bounds between members, defaults included.
    fn check_aimd(&self, aimd: &Aimd) {
        let path = self.path.member("aimd");
        if aimd.recovery_breach_rate > aimd.breach_rate_target {
            let expected = format!("at most `breach_rate_target` ({})", aimd.breach_rate_target);
            self.reading.error(
                &path.member("recovery_breach_rate"),
                aimd.recovery_breach_rate.to_string(),
                expected,
            );
        }
        if aimd.min_samples > aimd.window_samples {
            let expected = format!("at most `window_samples` ({})", aimd.window_samples);
            self.reading.error(
                &path.member("min_samples"),
                aimd.min_samples.to_string(),
                expected,
            );
        }
    }

    /// What an enabled explicit object needs around it.
    fn check_surroundings(&self, aimd: &Aimd, deadline: Option<u64>, enabled: bool) {
        let path = self.path.member("aimd");
        if !self.default {
            self.reading.warn(
                &path,
                "`aimd`",
                "it in the pool `default`; the share never runs in this pool",
            );
        }
        if !enabled {
            self.reading.error(
                &path,
                "an enabled `aimd`",
                "`fallback.enabled` to be true beside it",
            );
        }
        if self.strategy != Strategy::Priority {
            self.reading
                .error(&path, "an enabled `aimd`", "the strategy `priority`");
        }
        let budget = aimd.latency_budget.as_millis();
        let found = match deadline {
            Some(0) => return,
            Some(deadline) if u128::from(deadline) >= budget && deadline <= LONGEST_DEADLINE_MS => {
                return;
            }
            Some(deadline) => deadline.to_string(),
            None => "nothing".to_owned(),
        };
        let expected = format!(
            "0, or from the latency budget ({budget}) to {LONGEST_DEADLINE_MS}, beside an enabled `aimd`"
        );
        self.reading
            .error(&self.path.member("first_token_timeout_ms"), found, expected);
    }

    fn affinity(&self, given: &spec::Affinity, enabled: bool) -> Option<Affinity> {
        let path = self.path.member("affinity");
        let target = given.target_conversations;
        let margin = given.margin.unwrap_or_else(|| target.div_ceil(10).max(1));
        let most = target.saturating_add(margin);
        let window = given.active_window_ms.unwrap_or(600_000);
        let interval = given
            .update_interval_ms
            .unwrap_or_else(|| window.min(60_000));
        let tracked = given.max_tracked.unwrap_or_else(|| most.max(100_000));
        let rules = [
            (
                "margin",
                margin <= target,
                u64::from(margin),
                format!("at most `target_conversations` ({target})"),
            ),
            (
                "update_interval_ms",
                interval <= window,
                interval,
                format!("at most `active_window_ms` ({window})"),
            ),
            (
                "max_tracked",
                tracked >= most,
                u64::from(tracked),
                format!("at least target plus margin ({most})"),
            ),
        ];
        for (name, _, found, expected) in rules.into_iter().filter(|(_, holds, ..)| !holds) {
            self.reading
                .error(&path.member(name), found.to_string(), expected);
        }
        if given.enabled == Some(false) {
            return None;
        }
        if !self.acts(enabled) {
            let expected = "fallback enabled, the strategy `priority` and the default pool of a target; it has no effect";
            self.reading.warn(&path, "`affinity`", expected);
            return None;
        }
        Some(Affinity {
            target_conversations: target,
            margin,
            active_window: Duration::from_millis(window),
            update_interval: Duration::from_millis(interval),
            max_tracked: tracked,
        })
    }
}

fn completed(given: &spec::Aimd) -> Aimd {
    let default = Aimd::default();
    let target = given
        .breach_rate_target
        .unwrap_or(default.breach_rate_target);
    let idle = given
        .idle_recovery_ms
        .map_or(default.idle_recovery, |idle| (idle > 0).then(|| span(idle)));
    Aimd {
        latency_budget: given.latency_budget_ms.map_or(default.latency_budget, span),
        breach_rate_target: target,
        recovery_breach_rate: given
            .recovery_breach_rate
            .unwrap_or(default.recovery_breach_rate.min(target)),
        window_samples: given.window_samples.unwrap_or(default.window_samples),
        min_samples: given.min_samples.unwrap_or(default.min_samples),
        share_step: given.share_step.unwrap_or(default.share_step),
        share_decay: given.share_decay.unwrap_or(default.share_decay),
        share_floor: given.share_floor.unwrap_or(default.share_floor),
        dwell: given.dwell_ms.map_or(default.dwell, span),
        idle_recovery: idle,
        overload_statuses: given
            .overload_statuses
            .clone()
            .unwrap_or(default.overload_statuses),
    }
}

/// Milliseconds, cut to what a clock can add.
fn span(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds).min(crate::read::LONGEST)
}
