//! The fourth stage: rates and slots (spec E.2 to E.5).
//!
//! Order: account in-flight, key rate, pool rate, pool slots, key slots. A refused request costs nothing: tokens are
//! taken from all buckets or from none, and what was taken before a later refusal goes back, also when no provider
//! can be tried at all. Worked case: a key with one token left and a pool that is full: the request is refused
//! for the pool, and the key's token is still there.
//!
//! Slots are held to the end of the response body or until the client is gone, whichever comes first.

use std::sync::Arc;
use std::time::Duration;

use onwards_limits::{Bucket, CountGuard, Permit, take_all};

use crate::identify::Identity;
use crate::policy::Ledger;
use crate::refusal::Refusal;

/// A request's right to be served. Dropping it frees every slot; until [`spend`](Self::spend), its tokens too.
#[derive(Debug)]
pub(crate) struct Admission {
    taken: Option<[Option<Arc<Bucket>>; 2]>,
    /// Slots of the pool and of the key, and the account's place.
    _held: (Option<Permit>, Option<Permit>, Option<CountGuard>),
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

/// Takes what the request needs, or refuses it.
///
/// # Errors
/// [`Refusal::AtInflight`], [`Refusal::RateLimited`] or [`Refusal::AtConcurrency`].
pub(crate) fn admit(
    ledger: &Ledger,
    identity: &Identity,
    now: Duration,
) -> Result<Admission, Refusal> {
    let account = enter_account(ledger, identity)?;
    let (pool, caller) = (&identity.pool, identity.caller.as_deref());
    let buckets = [
        caller.and_then(|caller| caller.bucket.clone()),
        pool.bucket.clone(),
    ];
    take_all(buckets.iter().flatten().map(Arc::as_ref), now)
        .map_err(|refused| Refusal::RateLimited { wait: refused.wait })?;
    let mut admission = Admission {
        taken: Some(buckets),
        _held: (None, None, account),
    };
    let at_capacity = || Refusal::AtConcurrency;
    admission._held.0 = Some(
        pool.slots
            .try_enter(pool.concurrency_limit)
            .ok_or_else(at_capacity)?,
    );
    if let Some(caller) = caller {
        admission._held.1 = Some(
            caller
                .slots
                .try_enter(caller.concurrency_limit)
                .ok_or_else(at_capacity)?,
        );
    }
    Ok(admission)
}

/// The account's place on the alias that the client named; `None` where nothing is counted.
fn enter_account(ledger: &Ledger, identity: &Identity) -> Result<Option<CountGuard>, Refusal> {
    let alias = &identity.alias;
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
    match ledger.accounts.try_enter(account, &alias.name, limit) {
        Some(place) => Ok(Some(place)),
        None => Err(Refusal::AtInflight {
            alias: alias.name.clone(),
        }),
    }
}
