//! Admission: a place among the running requests and a token from each of several buckets, in one round trip.

use std::fmt;

use onwards_limits::{Gauge, Guard, Refused};
use redis::Value;
use thiserror::Error;

use crate::core::Unanswered;
use crate::observer::Event;
use crate::rates::{Decision, Limit, decision, taking, with_rates};
use crate::script;
use crate::settings::WhenAway;
use crate::slot::Slot;
use crate::state::{SharedState, Taken};

/// A place among the running requests of a scope on an alias.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'a> {
    /// The account, or [`onwards_limits::BATCH_SCOPE`].
    pub scope: &'a str,
    /// The name the client asked for.
    pub alias: &'a str,
    /// The most that may run; zero: none.
    pub limit: u32,
}

/// What a request was given.
#[derive(Default)]
pub struct Admitted {
    /// The place, if one was asked for; its drop frees it.
    pub place: Option<Guard>,
    /// The tokens, if there were limits; dropping it keeps them spent.
    pub taken: Option<Taken>,
}

/// Why a request was given nothing: neither counted nor charged.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NotAdmitted {
    /// As many requests run as may.
    #[error("as many requests run as may")]
    Full,
    /// A bucket is empty.
    #[error("{refused}")]
    Empty {
        /// Which one, and the time until it has a token, to the microsecond.
        refused: Refused,
        /// How all of them stand, in the order asked.
        gauges: Vec<Gauge>,
    },
    /// The store is away and the settings refuse everybody then.
    #[error("the shared state is away")]
    Away,
}

impl SharedState {
    /// Takes a place, if one is asked for, and one token from each bucket: everything or nothing, in one round trip. The place
    /// is asked for first, so a full count is what is told when a bucket is empty as well.
    ///
    /// A bucket named twice pays twice. A call that is dropped or times out may have spent its tokens; its place is free again.
    ///
    /// # Errors
    ///
    /// [`NotAdmitted::Full`]; [`NotAdmitted::Empty`] with the longest wait among the empty buckets; [`NotAdmitted::Away`]
    /// without the store, if the settings say so.
    pub async fn admit(
        &self,
        place: Option<Place<'_>>,
        limits: &[Limit<'_>],
    ) -> Result<Admitted, NotAdmitted> {
        let core = &self.desk.core;
        let rates = || limits.iter().map(|limit| core.keys.rate(limit.name));
        let mut slot = None;
        if let Some(place) = place {
            slot = Some(Slot::about_to_ask(&self.desk, place).ok_or(NotAdmitted::Full)?);
        }
        let lease = core.settings.lease_millis();
        let limit = place.map_or(0, |place| place.limit);
        let (script, command) = match &slot {
            None if limits.is_empty() => return Ok(Admitted::default()),
            None => {
                let keys: Vec<String> = rates().collect();
                (
                    &core.scripts.take,
                    taking(&core.scripts.take, &keys, limits),
                )
            }
            Some(slot) if limits.is_empty() => {
                let command = core
                    .scripts
                    .entering(slot.key(), slot.number(), limit, lease);
                (&core.scripts.enter, command)
            }
            Some(slot) => {
                let mut keys = vec![slot.key().to_owned()];
                keys.extend(rates());
                let mut command = script::call(&core.scripts.admit, &keys);
                let member = core.scripts.member(slot.number());
                command.arg(member).arg(limit).arg(lease);
                with_rates(&mut command, limits);
                (&core.scripts.admit, command)
            }
        };
        match heard(core.ask(script, &command).await, limits) {
            Ok(Some(Decision {
                refused: None,
                gauges,
            })) => {
                if let Some(slot) = &mut slot {
                    slot.counted();
                }
                Ok(self.admitted(slot, rates().collect(), false, gauges))
            }
            Ok(decision) => {
                if let Some(slot) = &mut slot {
                    slot.refused();
                }
                Err(NotAdmitted::of(decision))
            }
            Err(unanswered) => self.alone(slot, limit, unanswered, limits),
        }
    }

    /// Decides without the store.
    fn alone(
        &self,
        mut slot: Option<Slot>,
        most: u32,
        unanswered: Unanswered,
        limits: &[Limit<'_>],
    ) -> Result<Admitted, NotAdmitted> {
        let core = &self.desk.core;
        let keys: Vec<String> = limits
            .iter()
            .map(|limit| core.keys.rate(limit.name))
            .collect();
        let refuses = core.settings.when_away == WhenAway::Refuse;
        let full = slot
            .as_mut()
            .is_some_and(|slot| refuses || !slot.held_alone(unanswered, most));
        let decided = if refuses {
            Err(NotAdmitted::Away)
        } else if full {
            Err(NotAdmitted::Full)
        } else {
            match core.rates.take(&keys, limits) {
                Decision {
                    refused: None,
                    gauges,
                } => Ok(self.admitted(slot, keys, true, gauges)),
                decision => Err(NotAdmitted::of(Some(decision))),
            }
        };
        core.observer.event(&Event::Alone {
            admitted: decided.is_ok(),
        });
        decided
    }

    fn admitted(
        &self,
        slot: Option<Slot>,
        keys: Vec<String>,
        alone: bool,
        gauges: Vec<Gauge>,
    ) -> Admitted {
        Admitted {
            place: slot.map(|slot| Box::new(slot) as Guard),
            taken: (!keys.is_empty()).then(|| self.taken(keys, alone, gauges)),
        }
    }
}

impl NotAdmitted {
    /// What a refusing decision says; none is a full count.
    fn of(decision: Option<Decision>) -> Self {
        match decision {
            Some(Decision {
                refused: Some(refused),
                gauges,
            }) => Self::Empty { refused, gauges },
            _ => Self::Full,
        }
    }
}

/// What a script has answered; no decision is a full count. An answer of another shape is none.
fn heard(
    answer: Result<Value, Unanswered>,
    limits: &[Limit<'_>],
) -> Result<Option<Decision>, Unanswered> {
    let answer = answer?;
    if let Value::Int(counted) = answer {
        let free = Decision {
            refused: None,
            gauges: Vec::new(),
        };
        return Ok((counted == 1).then_some(free));
    }
    if matches!(&answer, Value::Array(numbers) if numbers.as_slice() == [Value::Int(-1)]) {
        return Ok(None);
    }
    decision(&answer, limits).map(Some).ok_or(Unanswered::Sent)
}

impl fmt::Debug for Admitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Admitted")
            .field("place", &self.place.is_some())
            .field("taken", &self.taken)
            .finish()
    }
}
