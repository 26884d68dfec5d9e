//! `fallback` and what is inside it.

use std::num::NonZeroU32;
use std::time::Duration;

use schemars::JsonSchema;

use super::{Jitter, Statuses};

/// When and how often other providers are tried.
#[derive(JsonSchema)]
#[schemars(rename = "fallback")]
pub(crate) struct Fallback {
    /// `false` switches every failover of the pool off.
    #[schemars(extend("default" = false))]
    pub(crate) enabled: Option<bool>,
    /// Statuses of a provider that lead to the next one: `502` is that status, `50` is 500 to 509, `5` is
    /// 500 to 599. Without it 429 and 5, if a provider of the pool has a `kind` other than `openai`.
    #[schemars(with = "Option<Vec<u16>>", inner(range(min = 1, max = 599)), extend("default" = []))]
    pub(crate) on_status: Option<Statuses>,
    /// The same, for realtime requests only, on top of `on_status`.
    #[schemars(with = "Option<Vec<u16>>", inner(range(min = 1, max = 599)), extend("default" = []))]
    pub(crate) realtime_on_status: Option<Statuses>,
    /// A provider at its own rate limit leads to the next one.
    #[schemars(extend("default" = false))]
    pub(crate) on_rate_limit: Option<bool>,
    /// A provider that rejects the prompt itself (too long for its context, or against its content policy)
    /// leads to the next provider with another upstream model; the same model is never asked again. `false`:
    /// such an answer is final, even if its status is in `on_status`.
    #[schemars(extend("default" = false))]
    pub(crate) on_rejected_prompt: Option<bool>,
    /// A request that cannot be put in a provider's dialect leads to the next one. Without it: if a provider of the pool has a
    /// `kind` other than `openai`.
    pub(crate) on_translation_error: Option<bool>,
    /// Wait for the first token of a streamed answer before the next provider is tried. 0: no deadline.
    /// Without it the member of this name at the top of the file counts. With an enabled explicit `aimd` it is required: 0, or from
    /// the latency budget to 3600000.
    #[schemars(with = "Option<u64>")]
    pub(crate) first_token_timeout_ms: Option<u64>,
    /// Attempts per request in all. Without it: as many as there are providers.
    pub(crate) max_attempts: Option<NonZeroU32>,
    /// A provider already tried may be drawn again. Only for `weighted_random`.
    #[schemars(extend("default" = false))]
    pub(crate) with_replacement: Option<bool>,
    /// Waits between attempts. Without it there are none.
    pub(crate) backoff: Option<Backoff>,
    /// Give up before the waits of one request add up to more. Without it there is no such bound.
    #[schemars(with = "Option<u64>")]
    pub(crate) max_total_backoff_ms: Option<Duration>,
    /// Load-aware share of the preferred provider. It runs by default in the default pool of a target under
    /// `priority` with fallback enabled; the object changes its parameters or switches it off.
    pub(crate) aimd: Option<Aimd>,
    /// Keep conversations on the provider that served them. Acts in the default pool of a target under
    /// `priority` with fallback enabled.
    pub(crate) affinity: Option<Affinity>,
}

/// Waits between attempts: before attempt n+1 the smaller of `initial_ms`·`factor`^(n−1) and `max_ms`.
#[derive(JsonSchema)]
#[schemars(rename = "backoff")]
pub(crate) struct Backoff {
    /// First wait.
    #[schemars(with = "u64")]
    pub(crate) initial_ms: Duration,
    /// Longest wait.
    #[schemars(with = "Option<u64>", extend("default" = 5000))]
    pub(crate) max_ms: Option<Duration>,
    /// Growth per attempt.
    #[schemars(extend("exclusiveMinimum" = 0, "default" = 2.0))]
    pub(crate) factor: Option<f64>,
    /// How chance shortens a wait.
    #[schemars(extend("default" = "full"))]
    pub(crate) jitter: Option<Jitter>,
}

/// Parameters of the load-aware share. Unknown members are errors. An enabled object needs fallback enabled,
/// `priority` and an explicit `first_token_timeout_ms`.
#[derive(JsonSchema)]
#[schemars(rename = "aimd", deny_unknown_fields)]
pub(crate) struct Aimd {
    /// `false`: ordinary priority. The other members are then not checked.
    #[schemars(extend("default" = true))]
    pub(crate) enabled: Option<bool>,
    /// A first frame later than this is a breach.
    #[schemars(range(min = 1, max = 3_600_000), extend("default" = 10_000))]
    pub(crate) latency_budget_ms: Option<u64>,
    /// The share decreases above this rate of breaches.
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1, "default" = 0.1))]
    pub(crate) breach_rate_target: Option<f64>,
    /// The share may increase at or below this rate; at most the target. Without it: 0.03 or the target,
    /// whichever is smaller.
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1, "default" = 0.03))]
    pub(crate) recovery_breach_rate: Option<f64>,
    /// Samples kept; at least `min_samples`.
    #[schemars(range(min = 2, max = 100_000), extend("default" = 100))]
    pub(crate) window_samples: Option<u32>,
    /// Samples needed to decide; at most `window_samples`.
    #[schemars(range(min = 2, max = 100_000), extend("default" = 20))]
    pub(crate) min_samples: Option<u32>,
    /// Added to the share per increase.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0, "default" = 0.05))]
    pub(crate) share_step: Option<f64>,
    /// Factor on the share per decrease.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1, "default" = 0.8))]
    pub(crate) share_decay: Option<f64>,
    /// Lower bound of the share.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0, "default" = 0.05))]
    pub(crate) share_floor: Option<f64>,
    /// Least time between two adjustments.
    #[schemars(range(min = 1, max = 86_400_000), extend("default" = 30_000))]
    pub(crate) dwell_ms: Option<u64>,
    /// One increase per such span without enough samples. 0: off.
    #[schemars(range(min = 0, max = 86_400_000), extend("default" = 300_000))]
    pub(crate) idle_recovery_ms: Option<u64>,
    /// Statuses of the preferred provider that are breaches.
    #[schemars(length(max = 32), inner(range(min = 400, max = 599)), extend("default" = [429, 503, 529]))]
    pub(crate) overload_statuses: Option<Vec<u16>>,
}

/// Parameters of conversation affinity. Unknown members are errors.
#[derive(JsonSchema)]
#[schemars(rename = "affinity", deny_unknown_fields)]
pub(crate) struct Affinity {
    /// `false` switches it off.
    #[schemars(extend("default" = true))]
    pub(crate) enabled: Option<bool>,
    /// Conversations the preferred provider shall hold.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub(crate) target_conversations: u32,
    /// Tolerance around the target; at most the target. Without it: a tenth of the target, rounded up.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub(crate) margin: Option<u32>,
    /// A conversation unseen for so long is over.
    #[schemars(range(min = 1000, max = 86_400_000), extend("default" = 600_000))]
    pub(crate) active_window_ms: Option<u64>,
    /// How often the share is recomputed; at most `active_window_ms`.
    #[schemars(range(min = 1000, max = 86_400_000), extend("default" = 60_000))]
    pub(crate) update_interval_ms: Option<u64>,
    /// Conversations remembered; at least target plus margin.
    #[schemars(range(min = 1, max = 10_000_000), extend("default" = 100_000))]
    pub(crate) max_tracked: Option<u32>,
}
