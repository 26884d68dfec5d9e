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
//! Where the configuration names a store (`shared_state`), several gateways count there: the place in flight, and the rates of
//! keys and pools if so said, are asked for in one call. An embedder's own counter comes before the store.
//!
//! Slots are held to the end of the response body or until the client is gone, whichever comes first.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use onwards_limits::{
    Admission as Answer, BATCH_SCOPE, Counter, Counts, Gauge, Guard, Permit, take_all,
};

use crate::facts::Facts;
use crate::identify::Identity;
use crate::policy::{Meter, Snapshot};
use crate::quota::Quota;
use crate::refusal::Refusal;
use crate::shared::{self, Denied, Place};

/// A request's right to be served. Dropping it frees every slot; until [`spend`](Self::spend), its tokens too.
pub(crate) struct Admission {
    taken: Option<Taken>,
    quota: Option<Quota>,
    /// Slots of the pool and of the key, and the place in the in-flight count.
    held: (Option<Permit>, Option<Permit>, Option<Guard>),
    /// The place among all the requests in flight.
    inside: Option<Permit>,
}

/// The tokens of a request.
enum Taken {
    Here([Option<Arc<Meter>>; 2]),
    InStore(shared::Taken),
}

impl Admission {
    /// The request is on its way to a provider: its tokens are gone.
    pub(crate) fn spend(&mut self) {
        self.taken = None;
    }

    /// What the caller is told of its rate limits, if it has one and is told.
    pub(crate) fn quota(&self) -> Option<Quota> {
        self.quota
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        match self.taken.take() {
            None => {}
            Some(Taken::Here(meters)) => {
                for meter in meters.iter().flatten() {
                    meter.bucket.give_back();
                }
            }
            Some(Taken::InStore(taken)) => taken.give_back(),
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

/// Who counts requests in flight.
#[derive(Clone, Default)]
pub(crate) struct Counters {
    /// Realtime requests, by account: an embedder's.
    pub(crate) accounts: Option<Arc<dyn Counter>>,
    /// Dispatched requests, in the scope [`BATCH_SCOPE`]: an embedder's.
    pub(crate) batch: Option<Arc<dyn Counter>>,
    /// This process, where nobody else does.
    here: Arc<Counts>,
}

impl fmt::Debug for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Counters").finish_non_exhaustive()
    }
}

/// Takes what the request needs, or refuses it. It is `inside` already, and stays so until it has its answer.
///
/// # Errors
/// [`Refusal::AtInflight`], [`Refusal::BatchCapacity`], [`Refusal::LimitsUnavailable`], [`Refusal::RateLimited`] or
/// [`Refusal::AtConcurrency`].
pub(crate) async fn admit(
    counters: &Counters,
    snapshot: &Snapshot,
    identity: &Identity,
    inside: Permit,
    now: Duration,
    facts: &Facts,
) -> Result<Admission, Refusal> {
    let (pool, caller) = (&identity.pool, identity.caller.as_deref());
    let asked = Asked {
        place: place(snapshot, identity, facts),
        dispatched: facts.is_dispatched(),
        meters: [
            caller.and_then(|caller| caller.rate.clone()),
            pool.rate.clone(),
        ],
        tells: snapshot.tells_rates,
    };
    let mut admission = asked.granted(counters, snapshot, now).await?;
    admission.inside = Some(inside);
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

/// The place that the request needs in the in-flight count of the alias that the client named; `None` where nothing is counted.
fn place<'a>(snapshot: &Snapshot, identity: &'a Identity, facts: &Facts) -> Option<Place<'a>> {
    let alias = &identity.alias;
    let (scope, limit) = if facts.is_dispatched() {
        let limit = alias
            .batch_inflight_limit
            .filter(|_| snapshot.enforces_batch)?;
        (BATCH_SCOPE, limit)
    } else {
        let account = identity.caller.as_deref()?.account()?;
        let own = alias.account_inflight_limits.get(account).copied();
        (account, own.or(alias.inflight_limit)?)
    };
    Some(Place {
        scope,
        alias: &alias.name,
        limit,
    })
}

/// What a request needs before its slots.
struct Asked<'a> {
    place: Option<Place<'a>>,
    dispatched: bool,
    /// Rates of the key and of the pool.
    meters: [Option<Arc<Meter>>; 2],
    /// The caller is told of its rates.
    tells: bool,
}

impl Asked<'_> {
    /// Takes the place and the tokens, where they are counted.
    async fn granted(
        self,
        counters: &Counters,
        snapshot: &Snapshot,
        now: Duration,
    ) -> Result<Admission, Refusal> {
        let own = if self.dispatched {
            &counters.batch
        } else {
            &counters.accounts
        };
        let store = snapshot.shared.as_ref();
        let (counter, left): (Option<&dyn Counter>, _) = match (own, store) {
            (Some(own), _) => (Some(own.as_ref()), None),
            (None, None) => (Some(counters.here.as_ref()), None),
            (None, Some(_)) => (None, self.place),
        };
        let mut guard = None;
        if let (Some(counter), Some(place)) = (counter, self.place) {
            guard = self.entered(counter, place).await?;
        }
        let Some(shared) = store else {
            return self.here(guard, now);
        };
        let mut meters: smallvec::SmallVec<[&Meter; 2]> = smallvec::SmallVec::new();
        if shared.rates {
            meters.extend(self.meters.iter().flatten().map(Arc::as_ref));
        }
        let granted = match Box::pin(shared.store.admit(left, &meters)).await {
            Ok(granted) => granted,
            Err(Denied::Full) => return Err(self.full()),
            Err(Denied::Away) => return Err(Refusal::LimitsUnavailable),
            Err(Denied::Empty { wait, gauges }) => return Err(self.empty(wait, gauges)),
        };
        drop(meters);
        let guard = guard.or(granted.place);
        if !shared.rates {
            return self.here(guard, now);
        }
        let gauges = granted
            .taken
            .iter()
            .flat_map(shared::Taken::gauges)
            .copied();
        Ok(Admission {
            quota: self.quota(gauges),
            taken: granted.taken.map(Taken::InStore),
            held: (None, None, guard),
            inside: None,
        })
    }

    /// Asks a counter for the place.
    async fn entered(
        &self,
        counter: &dyn Counter,
        place: Place<'_>,
    ) -> Result<Option<Guard>, Refusal> {
        match counter.enter(place.scope, place.alias, place.limit).await {
            Answer::Counted(guard) => Ok(Some(guard)),
            Answer::Uncounted => Ok(None),
            Answer::Refused => Err(self.full()),
            Answer::Unavailable => Err(Refusal::LimitsUnavailable),
        }
    }

    /// Takes the tokens of this process's own buckets.
    fn here(self, place: Option<Guard>, now: Duration) -> Result<Admission, Refusal> {
        let buckets = || self.meters.iter().flatten().map(|meter| &*meter.bucket);
        let gauges = || buckets().map(|bucket| bucket.gauge(now));
        take_all(buckets(), now).map_err(|refused| self.empty(refused.wait, gauges()))?;
        Ok(Admission {
            quota: self.quota(gauges()),
            taken: Some(Taken::Here(self.meters)),
            held: (None, None, place),
            inside: None,
        })
    }

    fn quota(&self, gauges: impl IntoIterator<Item = Gauge>) -> Option<Quota> {
        self.tells.then(|| Quota::nearest(gauges))?
    }

    fn empty(&self, wait: Duration, gauges: impl IntoIterator<Item = Gauge>) -> Refusal {
        let quota = self.quota(gauges);
        Refusal::RateLimited { wait, quota }
    }

    fn full(&self) -> Refusal {
        let (alias, limit) = self
            .place
            .map_or(("", 0), |place| (place.alias, place.limit));
        let alias = alias.to_owned();
        if self.dispatched {
            Refusal::BatchCapacity { alias, limit }
        } else {
            Refusal::AtInflight { alias }
        }
    }
}
