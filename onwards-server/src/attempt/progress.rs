//! What the attempts of a request so far have left.

use std::sync::Arc;
use std::time::Duration;

use onwards_balance::Waits;

use super::{Committed, Uncommitted, exhausted};
use crate::fault::Fault;
use crate::house::House;
use crate::plan::Plan;
use crate::policy::{Pool, Provider};
use crate::refusal::Refusal;

/// What the attempts so far have left.
pub(super) struct Progress {
    waits: Option<Waits>,
    /// Time spent on pauses that providers asked for.
    paused: Duration,
    pub(super) last: Option<Fault>,
    /// A rejection of the prompt, and who gave it: the client's, if no other model is asked.
    aside: Option<(Uncommitted, Arc<Provider>)>,
    /// The last answer of a provider that failed: the client's, if nobody does better.
    pub(super) words: Option<(Uncommitted, Arc<Provider>)>,
}

impl Progress {
    pub(super) fn new(pool: &Pool) -> Self {
        let waits = pool
            .backoff
            .map(|backoff| backoff.waits(pool.fallback.max_total_backoff));
        Self {
            waits,
            paused: Duration::ZERO,
            last: None,
            aside: None,
            words: None,
        }
    }

    pub(super) fn set_aside(&mut self, answer: Uncommitted, provider: &Arc<Provider>) {
        self.aside = Some((answer, provider.clone()));
    }

    /// True for a provider that would be sent the model that has rejected the prompt.
    pub(super) fn refuses_model_of(&self, plan: &Plan<'_>, provider: &Provider) -> bool {
        self.aside
            .as_ref()
            .is_some_and(|(_, rejected)| plan.same_model(rejected, provider))
    }

    /// Waits before an attempt: the pause that the provider asked for, and the pool's backoff after a failure. Holds no
    /// slot meanwhile. False when that would take too long.
    pub(super) async fn wait(
        &mut self,
        house: &House,
        pool: &Pool,
        provider: &Provider,
        again: bool,
    ) -> bool {
        let now = house.now();
        if let Some(until) = pool.pause_of(provider, now) {
            let wait = until.saturating_sub(now);
            let spent = self.paused + self.waits.as_ref().map_or(Duration::ZERO, Waits::waited);
            if pool
                .fallback
                .max_total_backoff
                .is_none_or(|most| spent + wait > most)
            {
                self.last = Some(Fault::Paused);
                return false;
            }
            tokio::time::sleep(wait).await;
            self.paused += wait;
            house.metrics().retried();
            return true;
        }
        let Some(waits) = self.waits.as_mut().filter(|_| again) else {
            return true;
        };
        let Some(wait) = waits.next(fastrand::u64(..)) else {
            house.metrics().retry_budget_exhausted();
            return false;
        };
        tokio::time::sleep(wait).await;
        house.metrics().retried();
        true
    }

    /// Nobody is left to try.
    pub(super) fn give_up(self, house: &House, plan: &Plan<'_>) -> Result<Committed, Refusal> {
        if let Some((answer, provider)) = self.aside.or(self.words) {
            return Ok(answer.commit(house, &provider));
        }
        let earliest = plan.pool.earliest(house.now());
        Err(self.last.map_or(Refusal::AllAtCapacity, |fault| {
            exhausted(&fault, plan, earliest)
        }))
    }
}
