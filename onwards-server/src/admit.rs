//! The fourth stage: who may have how much at once, and how fast (spec E.2 to E.6).
//!
//! Order: account in-flight or batch in-flight, key rate, pool rate, pool slots, key slots. A refused request costs nothing:
//! tokens are taken from all buckets or from none, and what was taken before a later refusal goes back, also when no provider
//! can be tried at all. Worked case: a key with one token left and a pool that is full: the request is refused
//! for the pool, and the key's token is still there.
//!
//! Realtime requests count against their account, dispatched ones against the batch limit of their alias and only where that is
//! enforced; neither ever counts for the other. Both counts are those of the alias that the client named, whoever serves it.
//!
//! Slots are held to the end of the response body or until the client is gone, whichever comes first.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use onwards_limits::{Admission as Answer, BATCH_SCOPE, Bucket, Counter, Guard, Permit, take_all};

use crate::facts::Facts;
use crate::identify::Identity;
use crate::policy::Snapshot;
use crate::refusal::Refusal;

/// A request's right to be served. Dropping it frees every slot; until [`spend`](Self::spend), its tokens too.
pub(crate) struct Admission {
    taken: Option<[Option<Arc<Bucket>>; 2]>,
    /// Slots of the pool and of the key, and the place in the in-flight count.
    held: (Option<Permit>, Option<Permit>, Option<Guard>),
}

impl Admission {
    /// The request is on its way to a provider: its tokens are gone.
    pub(crate) fn spend(&mut self) {
        self.taken = None;
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        for bucket in self.taken.iter().flatten().flatten() {
            bucket.give_back();
        }
    }
}

impl fmt::Debug for Admission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Admission")
            .field("spent", &self.taken.is_none())
            .field("counted", &self.held.2.is_some())
            .finish()
    }
}

/// Who counts requests in flight. Shared counters let several gateways enforce one limit.
#[derive(Clone)]
pub(crate) struct Counters {
    /// Realtime requests, by account.
    pub(crate) accounts: Arc<dyn Counter>,
    /// Dispatched requests, in the scope [`BATCH_SCOPE`].
    pub(crate) batch: Arc<dyn Counter>,
}

impl Default for Counters {
    /// Counts of this process.
    fn default() -> Self {
        let local = Arc::new(onwards_limits::Counts::default());
        Self {
            accounts: local.clone(),
            batch: local,
        }
    }
}

impl fmt::Debug for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Counters").finish_non_exhaustive()
    }
}

/// Takes what the request needs, or refuses it.
///
/// # Errors
/// [`Refusal::AtInflight`], [`Refusal::BatchCapacity`], [`Refusal::RateLimited`] or [`Refusal::AtConcurrency`].
pub(crate) async fn admit(
    counters: &Counters,
    snapshot: &Snapshot,
    identity: &Identity,
    now: Duration,
    facts: &Facts,
) -> Result<Admission, Refusal> {
    let place = enter(counters, snapshot, identity, facts).await?;
    let (pool, caller) = (&identity.pool, identity.caller.as_deref());
    let buckets = [
        caller.and_then(|caller| caller.bucket.clone()),
        pool.bucket.clone(),
    ];
    take_all(buckets.iter().flatten().map(Arc::as_ref), now)
        .map_err(|refused| Refusal::RateLimited { wait: refused.wait })?;
    let mut admission = Admission {
        taken: Some(buckets),
        held: (None, None, place),
    };
    let at_capacity = || Refusal::AtConcurrency;
    admission.held.0 = Some(
        pool.slots
            .try_enter(pool.concurrency_limit)
            .ok_or_else(at_capacity)?,
    );
    if let Some(caller) = caller {
        admission.held.1 = Some(
            caller
                .slots
                .try_enter(caller.concurrency_limit)
                .ok_or_else(at_capacity)?,
        );
    }
    Ok(admission)
}

/// The request's place in the in-flight count of the alias that the client named; `None` where nothing is counted.
async fn enter(
    counters: &Counters,
    snapshot: &Snapshot,
    identity: &Identity,
    facts: &Facts,
) -> Result<Option<Guard>, Refusal> {
    let alias = &identity.alias;
    let name = alias.name.as_str();
    if facts.is_dispatched() {
        let Some(limit) = alias
            .batch_inflight_limit
            .filter(|_| snapshot.enforces_batch)
        else {
            return Ok(None);
        };
        return match counters.batch.enter(BATCH_SCOPE, name, limit).await {
            Answer::Counted(guard) => Ok(Some(guard)),
            Answer::Uncounted => Ok(None),
            Answer::Refused => Err(Refusal::BatchCapacity {
                alias: name.to_owned(),
                limit,
            }),
        };
    }
    let Some(account) = identity
        .caller
        .as_deref()
        .and_then(|caller| caller.account())
    else {
        return Ok(None);
    };
    let Some(limit) = alias
        .account_inflight_limits
        .get(account)
        .copied()
        .or(alias.inflight_limit)
    else {
        return Ok(None);
    };
    match counters.accounts.enter(account, name, limit).await {
        Answer::Counted(guard) => Ok(Some(guard)),
        Answer::Uncounted => Ok(None),
        Answer::Refused => Err(Refusal::AtInflight {
            alias: name.to_owned(),
        }),
    }
}
