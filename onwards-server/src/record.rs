//! What is known of a request when it is over, for whoever keeps it: the access log, a trace. No content, no key.

use std::time::Duration;

use onwards_usage::Usage;

use crate::metrics::{Outcome, Route, Verb};
use crate::policy::Caller;

/// One request at its end.
#[derive(Debug)]
pub(crate) struct Record<'a> {
    pub(crate) request_id: &'a str,
    pub(crate) verb: Verb,
    pub(crate) route: Route,
    /// The alias, if the request names one of the configuration.
    pub(crate) model: Option<&'a str>,
    /// The pool that served it, or would have.
    pub(crate) pool: Option<&'static str>,
    /// The provider of the last attempt.
    pub(crate) provider: Option<&'a str>,
    pub(crate) attempts: u32,
    /// The status that the client was sent; `None` if it left before that.
    pub(crate) status: Option<u16>,
    pub(crate) outcome: Outcome,
    /// Why the gateway refused the request or could not serve it.
    pub(crate) code: Option<&'static str>,
    pub(crate) caller: Option<&'a Caller>,
    /// From the request's head to the first data of a stream.
    pub(crate) first_token: Option<Duration>,
    /// From the request's head to the end of the response's body.
    pub(crate) total: Duration,
    /// Bytes of the request's body as the client sent them; 0 if it was not read to its end.
    pub(crate) received: u64,
    /// Bytes of the response's body.
    pub(crate) sent: u64,
    /// What the provider counted.
    pub(crate) usage: Option<Usage>,
}

impl Record<'_> {
    /// The line of the access log. `onwards::access` is its target, for filters.
    pub(crate) fn log(&self) {
        let usage = self.usage.unwrap_or_default();
        tracing::info!(
            target: "onwards::access",
            request_id = self.request_id,
            method = self.verb.label(),
            route = self.route.label(),
            status = self.status,
            outcome = self.outcome.label(),
            code = self.code,
            model = self.model,
            pool = self.pool,
            provider = self.provider,
            attempts = self.attempts,
            account = self.caller.and_then(Caller::account),
            api_key_id = self.caller.and_then(Caller::api_key_id),
            first_token_ms = self.first_token.map(milliseconds),
            total_ms = milliseconds(self.total),
            bytes_in = self.received,
            bytes_out = self.sent,
            prompt_tokens = usage.prompt,
            completion_tokens = usage.completion,
            cached_tokens = usage.cached,
            reasoning_tokens = usage.reasoning,
            "request"
        );
    }
}

/// Milliseconds with microseconds behind the point.
fn milliseconds(time: Duration) -> f64 {
    let whole = u32::try_from(time.as_micros()).unwrap_or(u32::MAX);
    f64::from(whole) / 1000.0
}
