//! Order of candidates: who is tried first, and who after a failure.
//!
//! # Why
//!
//! A provider that is slow keeps its requests longer. Handing requests out by weight alone keeps
//! feeding it; handing them out by running requests per weight lets a slow one fill up once and
//! then get only what it finishes. Weights 3 and 1 with 6 and 1 requests running give 6/3 = 2
//! and 1/1 = 1, so the second is next, although it is the "smaller" one. With nothing running
//! all fractions are 0 and chance decides by weight: of 400 idle requests about 300 go to the
//! first.
//!
//! # Rules
//!
//! * [`Strategy::WeightedRandom`]: least `in_flight / weight`. **Ties** are broken by chance in
//!   proportion to weight. Fractions are compared by multiplying across, exactly.
//! * [`Strategy::Priority`]: the first in definition order; there are no ties.
//! * **Passes**: a provider tried once is left out until no other is left, then all come back
//!   for another pass. Two providers and five attempts give A B A B A. With replacement
//!   (weighted only) nobody is left out.
//! * **Full** providers are passed over and cost nothing, in any pass.
//! * **Paused** providers (their `not_before` lies ahead) come last within the pass, the one
//!   whose pause ends first before the others. A pause never takes the last candidate away.
//! * **First choice**: [`First`] may replace the first choice only. It leaves nobody out but the
//!   provider it tried: two providers and four attempts give B A A B.
//! * **Zero**: no providers, or all full, gives no candidate. Weight and budget cannot be zero.
//! * **Reload, idle, cancel**: there is no state beyond one request.

use std::cmp::Ordering;
use std::num::NonZeroU32;
use std::time::Duration;

use crate::load::{Load, LoadView};
use crate::point::below;

/// How a pool chooses among its providers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// Fewest running attempts per weight, ties by chance in proportion to weight.
    WeightedRandom,
    /// Definition order.
    Priority,
}

/// Who is tried first in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum First {
    /// Whoever the strategy chooses.
    #[default]
    ByStrategy,
    /// The first provider in definition order, other than the very first, that has room and is
    /// not paused. If there is none, the strategy chooses.
    Alternate,
    /// This provider, if it has room and is not paused, else whoever the strategy chooses.
    Provider(usize),
}

/// The settled part of choosing: strategy, weights, budget. Made once per pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    strategy: Strategy,
    weights: Vec<NonZeroU32>,
    max_attempts: u32,
    with_replacement: bool,
}

/// Candidates of one request, one after the other.
#[derive(Debug)]
pub struct Candidates<'o> {
    order: &'o Order,
    first: First,
    attempts: u32,
    tried: Tried,
}

impl Order {
    /// An order over one provider per weight, with as many attempts as providers.
    #[must_use]
    pub fn new(strategy: Strategy, weights: impl IntoIterator<Item = NonZeroU32>) -> Self {
        let weights: Vec<_> = weights.into_iter().collect();
        Self {
            strategy,
            max_attempts: u32::try_from(weights.len()).unwrap_or(u32::MAX),
            weights,
            with_replacement: false,
        }
    }

    /// Sets the number of attempts a request may make; it may exceed the number of providers.
    #[must_use]
    pub fn with_max_attempts(mut self, max_attempts: NonZeroU32) -> Self {
        self.max_attempts = max_attempts.get();
        self
    }

    /// Lets a request choose a provider again that it has tried. Ignored with
    /// [`Strategy::Priority`], which would never get past the first.
    #[must_use]
    pub fn with_replacement(mut self, with_replacement: bool) -> Self {
        self.with_replacement = with_replacement && self.strategy == Strategy::WeightedRandom;
        self
    }

    /// Number of providers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there is no provider at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// The candidates of one request.
    #[must_use]
    pub fn candidates(&self, first: First) -> Candidates<'_> {
        Candidates {
            order: self,
            first,
            attempts: 0,
            tried: Tried::default(),
        }
    }
}

impl Candidates<'_> {
    /// The next provider to try, counted as an attempt. `None` when the budget is spent or no
    /// provider has room; in the latter case a later call may find one.
    ///
    /// Costs one or two looks at each provider's load and no allocation up to 64 providers.
    pub fn next(
        &mut self,
        load: &(impl LoadView + ?Sized),
        now: Duration,
        random: u64,
    ) -> Option<usize> {
        if self.attempts_left() == 0 {
            return None;
        }
        let chosen = self
            .first_choice(load, now)
            .or_else(|| self.pick(load, now, random))
            .or_else(|| {
                // Nobody left in this pass: start another.
                self.tried.clear();
                self.pick(load, now, random)
            })?;
        self.attempts += 1;
        if !self.order.with_replacement {
            self.tried.insert(chosen);
        }
        Some(chosen)
    }

    /// Takes the last attempt back because the provider's last slot went to somebody else
    /// between the choice and the attempt. The provider is not offered again in this pass.
    pub fn was_full(&mut self) {
        self.attempts = self.attempts.saturating_sub(1);
    }

    /// Attempts made so far.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Attempts the budget still allows; zero during the last one.
    #[must_use]
    pub fn attempts_left(&self) -> u32 {
        self.order.max_attempts.saturating_sub(self.attempts)
    }

    fn first_choice(&self, load: &(impl LoadView + ?Sized), now: Duration) -> Option<usize> {
        if self.attempts > 0 {
            return None;
        }
        let mut choices = match self.first {
            First::ByStrategy => return None,
            First::Alternate => 1..self.order.len(),
            First::Provider(provider) => provider..self.order.len().min(provider.saturating_add(1)),
        };
        choices.find(|&provider| {
            self.load(load, provider)
                .is_some_and(|load| load.not_before.is_none_or(|time| time <= now))
        })
    }

    fn pick(&self, load: &(impl LoadView + ?Sized), now: Duration, random: u64) -> Option<usize> {
        let mut best: Option<Rank> = None;
        let mut tied: u64 = 0;
        for rank in self.ranks(load, now) {
            match best.map_or(Ordering::Less, |best| rank.cmp(&best)) {
                Ordering::Less => (best, tied) = (Some(rank), u64::from(rank.weight)),
                Ordering::Equal => tied += u64::from(rank.weight),
                Ordering::Greater => {}
            }
        }
        let best = best?;
        if self.order.strategy == Strategy::Priority {
            return Some(best.provider);
        }
        let mut ticket = below(tied, random);
        for rank in self
            .ranks(load, now)
            .filter(|rank| rank.cmp(&best) == Ordering::Equal)
        {
            match ticket.checked_sub(u64::from(rank.weight)) {
                None => return Some(rank.provider),
                Some(rest) => ticket = rest,
            }
        }
        // Reached only if loads changed between the two looks; the best of the first still holds.
        Some(best.provider)
    }

    fn ranks(&self, load: &(impl LoadView + ?Sized), now: Duration) -> impl Iterator<Item = Rank> {
        self.order
            .weights
            .iter()
            .enumerate()
            .filter_map(move |(provider, weight)| {
                let load = self.load(load, provider)?;
                let by_load = self.order.strategy == Strategy::WeightedRandom;
                Some(Rank {
                    ready: load.not_before.unwrap_or(now).max(now),
                    in_flight: if by_load { load.in_flight } else { 0 },
                    weight: weight.get(),
                    provider,
                })
            })
    }

    /// Load of a provider that may be offered in this pass.
    fn load(&self, load: &(impl LoadView + ?Sized), provider: usize) -> Option<Load> {
        if self.tried.contains(provider) {
            return None;
        }
        Some(load.load(provider)).filter(|load| load.open)
    }
}

/// What candidates are compared by: ready sooner, then fewer in flight per weight.
#[derive(Debug, Clone, Copy)]
struct Rank {
    ready: Duration,
    in_flight: u32,
    weight: u32,
    provider: usize,
}

impl Rank {
    fn cmp(&self, other: &Self) -> Ordering {
        // a/v < b/w exactly when a*w < b*v; two 32-bit factors cannot overflow.
        let ours = u64::from(self.in_flight) * u64::from(other.weight);
        let theirs = u64::from(other.in_flight) * u64::from(self.weight);
        self.ready.cmp(&other.ready).then(ours.cmp(&theirs))
    }
}

/// A set of positions; allocates only beyond the 64th.
#[derive(Debug, Default)]
struct Tried {
    low: u64,
    high: Vec<usize>,
}

impl Tried {
    fn bit(provider: usize) -> Option<u64> {
        1_u64.checked_shl(u32::try_from(provider).ok()?)
    }

    fn contains(&self, provider: usize) -> bool {
        match Self::bit(provider) {
            Some(bit) => self.low & bit != 0,
            None => self.high.contains(&provider),
        }
    }

    fn insert(&mut self, provider: usize) {
        match Self::bit(provider) {
            Some(bit) => self.low |= bit,
            None => self.high.push(provider),
        }
    }

    fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests;
