//! The attempt loop: candidates in order, one send each, until one is answered for good (spec F.4 to F.8).
//!
//! Nothing of an attempt reaches the client before it is committed, and nothing can be retried afterwards: an
//! [`Uncommitted`] answer can be dropped, [`Committed`] can only become the response.
//!
//! A provider that asked for a pause (`retry-after`) is not asked before it has passed while another one can be. With nobody
//! else left the pause is waited for if it fits the pool's `max_total_backoff_ms`; else the client is told to come back, after the
//! shortest of the pauses. Worked case: A answers 429 and asks for 30 s, B is down, no backoff budget: the client gets 429 with
//! `retry-after: 30`. This holds where failover is enabled; elsewhere the client sees the provider's own answer.

mod progress;
mod served_by;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http::{Response, StatusCode};
use onwards_balance::{Candidates, Load, LoadView};
use onwards_config::StatusPattern;
use onwards_limits::Permit;
use tokio::time::{Instant, timeout_at};

use crate::admit::Admission;
use crate::answer::{self, Look, Opened, Way};
use crate::body::Body;
use crate::facts::Facts;
use crate::fault::Fault;
use crate::headers::Parent;
use crate::house::{House, unix_now};
use crate::metrics::{Attempted, Role};
use crate::plan::{Plan, Prepared, Unsendable};
use crate::policy::{Pool, Provider, asked};
use crate::refusal::Refusal;
use crate::transport::{Answer, Switched, TransportError};

use self::progress::Progress;
pub use self::served_by::ServedBy;

/// A provider's answer that may still be given up for another provider's.
#[derive(Debug)]
pub(crate) struct Uncommitted {
    response: Response<Body>,
    /// The provider's slot; none where its answer is complete and it has been left.
    permit: Option<Permit>,
}

/// A provider's answer that the client will get.
#[derive(Debug)]
pub(crate) struct Committed {
    response: Response<Body>,
    permit: Option<Permit>,
}

impl Uncommitted {
    /// The point of no return.
    fn commit(self, house: &House, provider: &Arc<Provider>) -> Committed {
        let Self {
            mut response,
            permit,
        } = self;
        if house.settings.served_by {
            response.extensions_mut().insert(ServedBy(provider.clone()));
        }
        Committed { response, permit }
    }
}

impl Committed {
    /// The response, and the provider's slot, which lasts as long as its body.
    pub(crate) fn into_response(self) -> (Response<Body>, Option<Permit>) {
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
    /// Another provider may do better; if none answers, the client gets this answer.
    NextOr(Fault, Box<Uncommitted>),
    /// A provider with another model may do better; if none does, the client gets this answer.
    OtherModel(Uncommitted),
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
    let mut candidates = pool.order.candidates(plan.steering.first);
    let mut progress = Progress::new(pool);
    while let Some(provider) = next(&mut candidates, pool, house) {
        if progress.refuses_model_of(plan, provider) {
            continue; // counts against the budget, so that the loop ends
        }
        if !progress
            .wait(house, pool, provider, facts.attempts > 0)
            .await
        {
            break;
        }
        let Some(permit) = provider.slots.try_enter(provider.concurrency_limit) else {
            candidates.was_full();
            continue;
        };
        let verdict = match take_token(house, provider) {
            Err(fault) => after(fault, pool, pool.fallback.on_rate_limit),
            Ok(()) => match plan.prepare(provider).await {
                Err(Unsendable::Refused(refusal)) => return Err(refusal),
                Err(Unsendable::Rejected(rejected)) => {
                    let goes_on = pool.fallback.on_translation_error;
                    after(Fault::Untranslatable(rejected), pool, goes_on)
                }
                Ok(prepared) => {
                    match &prepared.way {
                        Way::Translated(translated) => {
                            facts.translated(provider, &translated.report);
                        }
                        Way::Native(native) if !native.report.is_empty() => {
                            facts.translated(provider, &native.report);
                        }
                        _ => {}
                    }
                    admission.spend();
                    let may_go_on = candidates.attempts_left() > 0 && pool.providers.len() > 1;
                    Attempt {
                        house,
                        plan,
                        provider,
                        may_go_on,
                    }
                    .make(prepared, permit, facts)
                    .await
                }
            },
        };
        match verdict {
            Verdict::Deliver(answer) => return Ok(answer.commit(house, provider)),
            Verdict::Stop(fault) => {
                facts.failed(pool, provider, &fault);
                return Err(exhausted(&fault, plan, pool.earliest(house.now())));
            }
            Verdict::NextOr(fault, answer) => {
                facts.failed(pool, provider, &fault);
                progress.last = Some(fault);
                progress.words = Some((*answer, provider.clone()));
            }
            Verdict::OtherModel(answer) => {
                facts.failed(pool, provider, &Fault::PromptRejected);
                progress.set_aside(answer, provider);
            }
            Verdict::Next(fault) => {
                facts.failed(pool, provider, &fault);
                progress.last = Some(fault);
            }
        }
    }
    progress.give_up(house, plan)
}

/// One attempt at one provider.
struct Attempt<'a, 'p> {
    house: &'a House,
    plan: &'a Plan<'p>,
    provider: &'a Arc<Provider>,
    /// The budget and the pool leave another provider to try.
    may_go_on: bool,
}

impl Attempt<'_, '_> {
    /// Sends the call, waits for the head of its answer, and looks into it as far as the plan wants it.
    async fn make(self, prepared: Prepared, permit: Permit, facts: &mut Facts) -> Verdict {
        let Self { plan, provider, .. } = self;
        let preferred = plan
            .pool
            .providers
            .first()
            .is_some_and(|first| Arc::ptr_eq(first, provider));
        let begun = Instant::now();
        let mut look = Look {
            begun,
            deadline: plan
                .steering
                .first_token
                .filter(|_| self.may_go_on)
                .map(|limit| begun + limit),
            observation: plan
                .steering
                .observed
                .as_ref()
                .filter(|_| preferred)
                .map(|share| share.observe(begun)),
            first_frame: None,
        };
        let mut open = Open {
            provider,
            outcome: Attempted::Cancelled,
        };
        let verdict = self
            .judge(prepared, permit, &mut look, &mut open, facts)
            .await;
        let series = plan.alias.series(plan.pool);
        let role = if preferred {
            Role::Preferred
        } else {
            Role::Alternate
        };
        if let Some(elapsed) = look.first_frame {
            series.first_token(role).observe(elapsed.as_secs_f64());
        }
        if let Verdict::Next(Fault::FirstToken) = verdict {
            series.first_token_breaches(role).inc();
            if let Some(observation) = &mut look.observation {
                observation.deadline();
            }
        }
        verdict
    }

    async fn judge(
        &self,
        mut prepared: Prepared,
        permit: Permit,
        look: &mut Look,
        open: &mut Open<'_>,
        facts: &mut Facts,
    ) -> Verdict {
        if let Way::Counted(response) = prepared.way {
            open.outcome = Attempted::status(200);
            return self.by_content(Opened::Ready(*response), permit);
        }
        let sent = self.sent(&mut prepared, look.deadline, facts).await;
        facts.answered_by_provider(sent.as_ref().ok().map(Answer::status));
        open.outcome = Attempted::of(&sent);
        let answer = match sent {
            Ok(answer) => answer,
            Err(Fault::Transport(TransportError::Broken(error)))
                if error.is::<Switched>() && prepared.way.knows_answers() =>
            {
                return after(Fault::Malformed, self.plan.pool, true);
            }
            Err(fault) => return after(fault, self.plan.pool, true),
        };
        self.note_pause(&answer);
        if let Some(observation) = look
            .observation
            .as_mut()
            .filter(|_| !answer.status().is_success())
        {
            observation.status(answer.status().as_u16());
        }
        if prepared.way.knows_answers() && !speaks(answer.status()) {
            tracing::error!(status = %answer.status(), "a provider's answer has a status that none has");
            open.outcome = Attempted::Malformed;
            return after(Fault::Malformed, self.plan.pool, true);
        }
        let (by_status, answer) = match self.by_status(answer).await {
            Ok(answer) => answer,
            Err(fault) => return Verdict::Next(fault),
        };
        let (egress, settings) = (&self.plan.egress, &self.house.settings);
        let opened = egress
            .open(answer, self.provider, settings, look, prepared.way)
            .await;
        match by_status {
            ByStatus::NextOr(fault) => match opened {
                Opened::Ready(response) => Verdict::NextOr(
                    fault,
                    Box::new(Uncommitted {
                        response,
                        permit: None,
                    }),
                ),
                _ => Verdict::Next(fault),
            },
            ByStatus::OtherModel => match self.by_content(opened, permit) {
                Verdict::Deliver(answer) => Verdict::OtherModel(answer),
                verdict => verdict,
            },
            ByStatus::Open => {
                open.outcome = open.outcome.refined(&opened);
                self.by_content(opened, permit)
            }
        }
    }

    /// Sends the request, a second time where AWS says that only the clocks differ.
    async fn sent(
        &self,
        prepared: &mut Prepared,
        deadline: Option<Instant>,
        facts: &mut Facts,
    ) -> Result<Answer, Fault> {
        let parent = facts.attempt(self.provider, self.plan.alias);
        let answer = self.send(prepared, parent.as_ref(), deadline).await?;
        if !self.agrees_on_time(&answer) {
            return Ok(answer);
        }
        drop(answer);
        self.send(prepared, parent.as_ref(), deadline).await
    }

    /// True when the service refuses a signature for its time and has told its own.
    fn agrees_on_time(&self, answer: &Answer) -> bool {
        let Some(signing) = &self.provider.signing else {
            return false;
        };
        let said = |name: &str| answer.headers().get(name)?.to_str().ok();
        let kind = said("x-amzn-errortype").unwrap_or_default();
        let about_time = matches!(
            kind.split(':').next(),
            Some("RequestTimeTooSkewed" | "InvalidSignatureException")
        );
        if !about_time {
            return false;
        }
        let theirs = said("date").and_then(|date| httpdate::parse_http_date(date).ok());
        let theirs = theirs.and_then(|date| date.duration_since(SystemTime::UNIX_EPOCH).ok());
        theirs.is_some_and(|theirs| signing.set_clock(theirs.as_secs(), wall_clock()))
    }

    /// Sends one call and waits for the head of its answer, no longer than the provider, or its first token, may take.
    async fn send(
        &self,
        prepared: &mut Prepared,
        parent: Option<&Parent>,
        deadline: Option<Instant>,
    ) -> Result<Answer, Fault> {
        let provider = self.provider;
        if prepared.sign(self.plan, provider, wall_clock()).is_err() {
            let error = "the request cannot be signed".into();
            return Err(Fault::Transport(TransportError::Broken(error)));
        }
        let mut call = prepared.call(self.plan, provider);
        if let Some(parent) = parent {
            parent.tell(&mut call.headers);
        }
        let sending = provider
            .destination
            .clone()
            .send(call, provider.connect_timeout);
        let sending = async {
            match provider.request_timeout {
                None => Ok(sending.await?),
                Some(limit) => Ok(tokio::time::timeout(limit, sending)
                    .await
                    .map_err(|_| Fault::Timeout)??),
            }
        };
        let answer = match deadline {
            None => sending.await,
            Some(deadline) => timeout_at(deadline, sending)
                .await
                .unwrap_or(Err(Fault::FirstToken)),
        }?;
        if answer.status().is_informational() && !prepared.way.knows_answers() {
            // No upgrade was asked for, so no other protocol can follow.
            return Err(Fault::UnexpectedSwitch);
        }
        Ok(answer)
    }

    /// Remembers a pause that an overloaded or failing provider asks for.
    fn note_pause(&self, answer: &Answer) {
        let status = answer.status();
        if !self.plan.pool.fallback.enabled || !(status.as_u16() == 429 || status.is_server_error())
        {
            return;
        }
        if let Some(wait) = asked(status.as_u16(), answer.headers(), SystemTime::now()) {
            self.provider.pause.ask(wait, self.house.now());
        }
    }

    /// True for an error that the provider's API calls worth another try, where no statuses are set.
    fn retries(&self, answer: &Answer) -> bool {
        let Some(dialect) = &self.provider.dialect else {
            return false;
        };
        if !self.plan.pool.fallback.by_class {
            return false;
        }
        let name = answer.headers().get("x-amzn-errortype");
        let name = name.and_then(|name| name.to_str().ok()).unwrap_or_default();
        dialect.kind.retries(answer.status().as_u16(), name)
    }

    /// What the head says (spec F.4), and for a listed client error whether it is the prompt that is rejected.
    async fn by_status(&self, answer: Answer) -> Result<(ByStatus, Answer), Fault> {
        let fallback = &self.plan.pool.fallback;
        let status = answer.status().as_u16();
        let realtime = self.plan.steering.realtime
            && self.may_go_on
            && listed(&fallback.realtime_on_status, status);
        if !fallback.enabled
            || !(realtime || listed(&fallback.on_status, status) || self.retries(&answer))
        {
            return Ok((ByStatus::Open, answer));
        }
        if !matches!(status, 400 | 413 | 422) {
            let fault = Fault::Status(answer.status());
            if self.plan.pool.translates {
                return Ok((ByStatus::NextOr(fault), answer));
            }
            return Err(fault);
        }
        match Box::pin(answer::rejects_prompt(answer)).await {
            Ok(rejection) if fallback.on_rejected_prompt => Ok((ByStatus::OtherModel, rejection)),
            Ok(rejection) => Ok((ByStatus::Open, rejection)),
            Err(status) => Err(Fault::Status(status)),
        }
    }

    /// What the look into an answer says (spec F.4, F.5). An embedded error that leads nowhere else is the client's.
    fn by_content(&self, opened: Opened, permit: Permit) -> Verdict {
        let pool = self.plan.pool;
        let fallback = &pool.fallback;
        let permit = Some(permit);
        match opened {
            Opened::Ready(response) => Verdict::Deliver(Uncommitted { response, permit }),
            Opened::Embedded { status, response } => {
                let realtime = self.plan.steering.realtime && self.may_go_on;
                let next = listed(&fallback.on_status, status)
                    || (status == 429 && fallback.on_rate_limit)
                    || (realtime && listed(&fallback.realtime_on_status, status));
                if fallback.enabled && next {
                    let fault = Fault::Embedded(status);
                    if !pool.translates {
                        return Verdict::Next(fault);
                    }
                    let permit = None;
                    return Verdict::NextOr(fault, Box::new(Uncommitted { response, permit }));
                }
                Verdict::Deliver(Uncommitted { response, permit })
            }
            Opened::Empty => after(Fault::Empty, pool, listed(&fallback.on_status, 502)),
            Opened::Malformed => after(Fault::Malformed, pool, true),
            Opened::Late => after(Fault::FirstToken, pool, true),
            Opened::Unreadable(error) => after(Fault::Transport(error), pool, true),
        }
    }
}

/// What the head of an answer leads to.
enum ByStatus {
    Open,
    OtherModel,
    /// Somebody else is asked; if nobody answers, this is the client's.
    NextOr(Fault),
}

/// Counts an attempt when it is over, however that comes about.
struct Open<'a> {
    provider: &'a Provider,
    outcome: Attempted,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.provider.attempts.count(self.outcome);
    }
}

impl Attempted {
    /// What the head of an answer, or its absence, says.
    fn of(sent: &Result<Answer, Fault>) -> Self {
        match sent {
            Ok(answer) => Self::status(answer.status().as_u16()),
            Err(Fault::Timeout) => Self::Timeout,
            Err(Fault::FirstToken) => Self::FirstTokenTimeout,
            Err(_) => Self::TransportError,
        }
    }

    /// What the look into an answer adds.
    fn refined(self, opened: &Opened) -> Self {
        match opened {
            Opened::Ready(_) => self,
            Opened::Embedded { .. } => Self::EmbeddedError,
            Opened::Empty => Self::Empty,
            Opened::Malformed => Self::Malformed,
            Opened::Late => Self::FirstTokenTimeout,
            Opened::Unreadable(_) => Self::TransportError,
        }
    }
}

/// True for a status that an answer of an API may have: neither a step before it nor the way to another one.
fn speaks(status: StatusCode) -> bool {
    !status.is_informational() && !status.is_redirection()
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
    let now = house.now();
    let index = candidates.next(&View { pool, now }, now, fastrand::u64(..))?;
    pool.providers.get(index)
}

/// The load of a pool's providers at one moment.
struct View<'a> {
    pool: &'a Pool,
    now: Duration,
}

impl LoadView for View<'_> {
    fn load(&self, provider: usize) -> Load {
        let Some(provider) = self.pool.providers.get(provider) else {
            return Load {
                open: false,
                ..Load::default()
            };
        };
        Load {
            in_flight: provider.slots.in_use(),
            open: provider.slots.has_room(provider.concurrency_limit),
            not_before: self.pool.pause_of(provider, self.now),
        }
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

/// What a fault means: another provider, where the pool fails over at all and this fault is a reason to.
fn after(fault: Fault, pool: &Pool, reason: bool) -> Verdict {
    if pool.fallback.enabled && reason {
        Verdict::Next(fault)
    } else {
        Verdict::Stop(fault)
    }
}

/// How the client learns that no provider answered (spec F.6, and a 429 where limits were the last word). `earliest` is the
/// shortest of the pauses that providers of the pool have asked for.
fn exhausted(last: &Fault, plan: &Plan<'_>, earliest: Option<Duration>) -> Refusal {
    let translates = plan.pool.translates;
    match last {
        Fault::Status(status) if status.as_u16() == 429 => {
            Refusal::UpstreamLimited { wait: earliest }
        }
        Fault::Untranslatable(rejected) => Refusal::Untranslatable(rejected.clone()),
        Fault::Paused => Refusal::UpstreamLimited { wait: earliest },
        Fault::Transport(_) if translates => Refusal::Unreachable,
        Fault::Timeout | Fault::FirstToken if translates => Refusal::Late,
        Fault::Malformed | Fault::Empty if translates => Refusal::Unreadable,
        Fault::Transport(_)
        | Fault::UnexpectedSwitch
        | Fault::Status(_)
        | Fault::PromptRejected => Refusal::BadGateway,
        Fault::Timeout | Fault::FirstToken => Refusal::GatewayTimeout,
        Fault::Embedded(_) | Fault::Empty => Refusal::Unavailable,
        Fault::Malformed if plan.egress.is_strict() => Refusal::Malformed,
        Fault::Malformed => Refusal::Internal,
        Fault::RateLimited { wait } => Refusal::RateLimited {
            wait: *wait,
            quota: None,
        },
    }
}

fn wall_clock() -> Duration {
    Duration::from_secs(unix_now())
}
