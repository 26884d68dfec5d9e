//! The attempt loop: candidates in order, one send each, until one is answered for good (spec F.4 to F.6).
//!
//! Nothing of an attempt reaches the client before it is committed, and nothing can be retried afterwards: an
//! [`Uncommitted`] answer can be dropped, [`Committed`] can only become the response.

use std::sync::Arc;

use http::Response;
use onwards_balance::{Candidates, First, Load, LoadView};
use onwards_config::StatusPattern;
use onwards_limits::Permit;
use tokio::time::Instant;

use crate::admit::Admission;
use crate::answer::{Egress, Lead, Opened};
use crate::body::Body;
use crate::facts::Facts;
use crate::fault::Fault;
use crate::house::House;
use crate::metrics::Role;
use crate::plan::Plan;
use crate::policy::{Pool, Provider};
use crate::refusal::Refusal;
use crate::transport::{Answer, Call};

/// A provider's answer that may still be given up for another provider's.
#[derive(Debug)]
pub(crate) struct Uncommitted {
    response: Response<Body>,
    permit: Permit,
}

/// A provider's answer that the client will get.
#[derive(Debug)]
pub(crate) struct Committed {
    response: Response<Body>,
    permit: Permit,
}

impl Uncommitted {
    /// The point of no return.
    fn commit(self, provider: &Arc<Provider>) -> Committed {
        let Self { mut response, permit } = self;
        response.extensions_mut().insert(ServedBy(provider.clone()));
        Committed { response, permit }
    }
}

impl Committed {
    /// The response, and the provider's slot, which lasts as long as its body.
    pub(crate) fn into_response(self) -> (Response<Body>, Permit) {
        (self.response, self.permit)
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
                let may_go_on = candidates.attempts_left() > 0 && pool.providers.len() > 1;
                Attempt { house, plan, provider, may_go_on }.make(call, permit, facts).await
            }
        };
        match verdict {
            Verdict::Deliver(answer) => return Ok(answer.commit(provider)),
            Verdict::Stop(fault) => return Err(exhausted(&fault, &plan.egress)),
            Verdict::Next(fault) => {
                facts.failed(pool, provider, &fault);
                last = Some(fault);
            }
        }
    }
    Err(last.map_or(Refusal::AllAtCapacity, |fault| exhausted(&fault, &plan.egress)))
}

/// One attempt at one provider.
struct Attempt<'a> {
    house: &'a House,
    plan: &'a Plan<'a>,
    provider: &'a Arc<Provider>,
    /// The budget and the pool leave another provider to try.
    may_go_on: bool,
}

impl Attempt<'_> {
    /// Sends the call, waits for the head of its answer, and looks into it as far as the plan wants it.
    async fn make(self, call: Call, permit: Permit, facts: &mut Facts) -> Verdict {
        let Self { house, plan, provider, .. } = self;
        let begun = Instant::now();
        let sent = send(provider, call).await;
        facts.answered_by_provider(sent.as_ref().ok().map(Answer::status));
        let answer = match self.by_status(sent) {
            Ok(answer) => answer,
            Err(verdict) => return verdict,
        };
        let mut lead = Lead::default();
        let opened = plan.egress.open(answer, provider, &house.settings, &mut lead, begun).await;
        if let Some(elapsed) = lead.first_frame {
            let preferred = plan.pool.providers.first().is_some_and(|first| Arc::ptr_eq(first, provider));
            let role = if preferred { Role::Preferred } else { Role::Alternate };
            plan.alias.series(plan.pool).first_token(role).observe(elapsed.as_secs_f64());
        }
        self.by_content(opened, permit)
    }

    /// What the head alone says (spec F.4).
    fn by_status(&self, sent: Result<Answer, Fault>) -> Result<Answer, Verdict> {
        let pool = self.plan.pool;
        let answer = sent.map_err(|fault| after(fault, pool, true))?;
        let status = answer.status();
        let realtime = self.may_go_on && listed(&pool.fallback.realtime_on_status, status.as_u16());
        if pool.fallback.enabled && (realtime || listed(&pool.fallback.on_status, status.as_u16())) {
            return Err(Verdict::Next(Fault::Status(status)));
        }
        Ok(answer)
    }

    /// What the look into an answer says (spec F.4, F.5). An embedded error that leads nowhere else is the client's.
    fn by_content(&self, opened: Opened, permit: Permit) -> Verdict {
        let pool = self.plan.pool;
        let fallback = &pool.fallback;
        match opened {
            Opened::Ready(response) => Verdict::Deliver(Uncommitted { response, permit }),
            Opened::Embedded { status, response } => {
                let next = listed(&fallback.on_status, status)
                    || (status == 429 && fallback.on_rate_limit)
                    || (self.may_go_on && listed(&fallback.realtime_on_status, status));
                if fallback.enabled && next {
                    return Verdict::Next(Fault::Embedded(status));
                }
                Verdict::Deliver(Uncommitted { response, permit })
            }
            Opened::Empty => after(Fault::Empty, pool, listed(&fallback.on_status, 502)),
            Opened::Malformed => after(Fault::Malformed, pool, true),
            Opened::Unreadable(error) => after(Fault::Transport(error), pool, true),
        }
    }
}

fn listed(patterns: &[StatusPattern], status: u16) -> bool {
    patterns.iter().any(|pattern| pattern.matches(status))
}

/// The next provider of the pool to try.
fn next<'a>(
    candidates: &mut Candidates<'_>,
    pool: &'a Pool,
    house: &House,
) -> Option<&'a Arc<Provider>> {
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

/// What a fault means: another provider, where the pool fails over at all and this fault is a reason to.
fn after(fault: Fault, pool: &Pool, reason: bool) -> Verdict {
    if pool.fallback.enabled && reason {
        Verdict::Next(fault)
    } else {
        Verdict::Stop(fault)
    }
}

/// How the client learns that no provider answered (spec F.6).
fn exhausted(last: &Fault, egress: &Egress) -> Refusal {
    match last {
        Fault::Transport(_) | Fault::Status(_) => Refusal::BadGateway,
        Fault::Timeout => Refusal::GatewayTimeout,
        Fault::Embedded(_) | Fault::Empty => Refusal::Unavailable,
        Fault::Malformed if egress.is_strict() => Refusal::Malformed,
        Fault::Malformed => Refusal::Internal,
        Fault::RateLimited { wait } => Refusal::RateLimited { wait: *wait },
    }
}

/// A response extension that says which provider answered, for layers around the gateway.
#[derive(Clone, Debug)]
pub struct ServedBy(Arc<Provider>);

impl ServedBy {
    /// The provider's configured name, or its place in the pool.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The provider's URL.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.0.url
    }

    /// The model name the provider was sent, if it is not the client's.
    #[must_use]
    pub fn model(&self) -> Option<String> {
        let text = self.0.model.as_ref()?;
        serde_json::from_str(&text.0).ok()
    }

    /// Whether the provider's errors may be shown to strict clients.
    #[must_use]
    pub fn trusted(&self) -> bool {
        self.0.trusted
    }
}
