//! The attempt loop: candidates in order, one send each, until one is answered for good (spec F.4 to F.6).
//!
//! Nothing of an attempt reaches the client before it is committed, and nothing can be retried afterwards: an
//! [`Uncommitted`] answer can be dropped, [`Committed`] can only become the response.

use std::time::Duration;

use http::Response;
use onwards_balance::{Candidates, First, Load, LoadView};
use onwards_config::StatusPattern;
use onwards_limits::Permit;

use crate::admit::Admission;
use crate::body::Body;
use crate::facts::Facts;
use crate::fault::Fault;
use crate::headers;
use crate::house::House;
use crate::plan::Plan;
use crate::policy::{Pool, Provider};
use crate::refusal::Refusal;
use crate::transport::{Answer, Call};

/// A provider's answer that may still be given up for another provider's.
#[derive(Debug)]
pub(crate) struct Uncommitted {
    answer: Answer,
    permit: Permit,
}

/// A provider's answer that the client will get.
#[derive(Debug)]
pub(crate) struct Committed {
    answer: Answer,
    permit: Permit,
    idle_timeout: Option<Duration>,
}

impl Uncommitted {
    /// The point of no return.
    fn commit(mut self, provider: &Provider) -> Committed {
        headers::downstream(self.answer.headers_mut(), &provider.response_headers);
        Committed {
            answer: self.answer,
            permit: self.permit,
            idle_timeout: provider.idle_timeout,
        }
    }
}

impl Committed {
    /// The response, and the provider's slot, which lasts as long as its body.
    pub(crate) fn into_response(self) -> (Response<Body>, Permit) {
        let Self {
            answer,
            permit,
            idle_timeout,
        } = self;
        (
            answer.map(|body| Body::upstream(body, idle_timeout)),
            permit,
        )
    }
}

/// What follows from the outcome of an attempt.
#[derive(Debug)]
enum Verdict {
    /// The client gets this answer.
    Deliver(Uncommitted),
    /// Another provider may do better.
    Next(Fault),
    /// No provider can do better.
    Stop(Fault),
}

/// Tries candidates until one is answered for good.
///
/// # Errors
/// The refusal that says how the last attempt failed, or why none was possible (spec F.6).
pub(crate) async fn until_committed(
    house: &House,
    plan: &Plan<'_>,
    admission: &mut Admission,
    facts: &mut Facts,
) -> Result<Committed, Refusal> {
    let pool = plan.pool;
    let mut candidates = pool.order.candidates(First::ByStrategy);
    let mut waits = pool
        .backoff
        .map(|backoff| backoff.waits(pool.fallback.max_total_backoff));
    let mut last: Option<Fault> = None;
    while let Some(provider) = next(&mut candidates, pool, house) {
        if let (Some(waits), true) = (&mut waits, facts.attempts > 0) {
            let Some(wait) = waits.next(fastrand::u64(..)) else {
                house.metrics().retry_budget_exhausted();
                break;
            };
            tokio::time::sleep(wait).await; // holds no provider's slot
            house.metrics().retried();
        }
        let Some(permit) = provider.slots.try_enter(provider.concurrency_limit) else {
            candidates.was_full();
            continue;
        };
        let verdict = match take_token(house, provider) {
            Err(fault) => after(fault, pool, pool.fallback.on_rate_limit),
            Ok(()) => {
                let call = plan.call(provider)?;
                admission.spend();
                facts.attempt(provider);
                let sent = send(provider, call).await;
                facts.answered_by_provider(sent.as_ref().ok().map(Answer::status));
                let may_go_on = candidates.attempts_left() > 0 && pool.providers.len() > 1;
                classify(pool, sent, permit, may_go_on)
            }
        };
        match verdict {
            Verdict::Deliver(answer) => return Ok(answer.commit(provider)),
            Verdict::Stop(fault) => return Err(exhausted(&fault)),
            Verdict::Next(fault) => {
                facts.failed(pool, provider, &fault);
                last = Some(fault);
            }
        }
    }
    Err(last.map_or(Refusal::AllAtCapacity, |fault| exhausted(&fault)))
}

/// The next provider of the pool to try.
fn next<'a>(
    candidates: &mut Candidates<'_>,
    pool: &'a Pool,
    house: &House,
) -> Option<&'a Provider> {
    let index = candidates.next(pool, house.now(), fastrand::u64(..))?;
    pool.providers.get(index)
}

impl LoadView for Pool {
    fn load(&self, provider: usize) -> Load {
        self.providers.get(provider).map_or(
            Load {
                open: false,
                ..Load::default()
            },
            |provider| Load {
                in_flight: provider.slots.in_use(),
                open: provider.slots.has_room(provider.concurrency_limit),
                not_before: None,
            },
        )
    }
}

/// A token of the provider's own rate limit (spec E.3).
fn take_token(house: &House, provider: &Provider) -> Result<(), Fault> {
    let Some(bucket) = &provider.bucket else {
        return Ok(());
    };
    bucket
        .take(house.now())
        .map_err(|refused| Fault::RateLimited {
            wait: refused.wait(),
        })
}

/// Sends one call and waits for the head of its answer, no longer than the provider may take for it.
async fn send(provider: &Provider, call: Call) -> Result<Answer, Fault> {
    let sending = provider
        .destination
        .clone()
        .send(call, provider.connect_timeout);
    match provider.request_timeout {
        None => Ok(sending.await?),
        Some(limit) => Ok(tokio::time::timeout(limit, sending)
            .await
            .map_err(|_| Fault::Timeout)??),
    }
}

/// What an outcome means for the loop. Total: every outcome has one verdict (spec F.4).
///
/// `may_go_on` says that the budget and the pool leave another provider to try.
fn classify(pool: &Pool, sent: Result<Answer, Fault>, permit: Permit, may_go_on: bool) -> Verdict {
    let answer = match sent {
        Ok(answer) => answer,
        Err(fault) => return after(fault, pool, true),
    };
    let fallback = &pool.fallback;
    let status = answer.status().as_u16();
    let listed =
        |patterns: &[StatusPattern]| patterns.iter().any(|pattern| pattern.matches(status));
    if fallback.enabled
        && (listed(&fallback.on_status) || (may_go_on && listed(&fallback.realtime_on_status)))
    {
        return Verdict::Next(Fault::Status(answer.status()));
    }
    Verdict::Deliver(Uncommitted { answer, permit })
}

/// What a fault means: another provider, where the pool fails over at all and this fault is a reason to.
fn after(fault: Fault, pool: &Pool, reason: bool) -> Verdict {
    if pool.fallback.enabled && reason {
        Verdict::Next(fault)
    } else {
        Verdict::Stop(fault)
    }
}

/// How the client learns that no provider answered (spec F.6).
fn exhausted(last: &Fault) -> Refusal {
    match last {
        Fault::Transport(_) | Fault::Status(_) => Refusal::BadGateway,
        Fault::Timeout => Refusal::GatewayTimeout,
        Fault::RateLimited { wait } => Refusal::RateLimited { wait: *wait },
    }
}
