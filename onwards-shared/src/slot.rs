//! A running request's slot: on its way in, held, or refused.

use std::sync::Arc;

use crate::admit::Place;
use crate::core::Unanswered;
use crate::keeper::Note;
use crate::leases::{Known, Number};
use crate::state::Desk;

/// A slot on its way in, held, or refused; its drop frees it.
pub(crate) struct Slot {
    desk: Arc<Desk>,
    key: Arc<str>,
    number: Number,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The store may have it.
    Asked,
    /// Held and noted.
    Held,
    /// The store does not have it.
    Free,
}

impl Slot {
    /// A slot about to be asked for: a call that is dropped from here on may leave it behind, and its drop releases it. None
    /// when this process alone is at the limit: all its slots are counted in the store too, so there is no room either.
    pub(crate) fn about_to_ask(desk: &Arc<Desk>, place: Place<'_>) -> Option<Self> {
        let Place {
            scope,
            alias,
            limit,
        } = place;
        if limit == 0 {
            return None;
        }
        let key: Arc<str> = desk.core.keys.running(scope, alias).into();
        if desk.core.leases.count(&key) >= limit as usize {
            return None;
        }
        Some(Self {
            desk: Arc::clone(desk),
            key,
            number: desk.core.number(),
            state: State::Asked,
        })
    }

    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    pub(crate) fn number(&self) -> Number {
        self.number
    }

    /// The store has counted it.
    pub(crate) fn counted(&mut self) {
        self.hold(Known::Yes, None);
    }

    /// The store has not counted it.
    pub(crate) fn refused(&mut self) {
        self.state = State::Free;
    }

    /// Counts it here, without the store; false if this process alone is at the limit.
    pub(crate) fn held_alone(&mut self, unanswered: Unanswered, limit: u32) -> bool {
        let known = match unanswered {
            Unanswered::Unsent => {
                self.state = State::Free;
                Known::No
            }
            Unanswered::Sent => Known::Perhaps,
        };
        self.hold(known, Some(limit))
    }

    fn hold(&mut self, known: Known, limit: Option<u32>) -> bool {
        let leases = &self.desk.core.leases;
        let held = leases.enter(&self.key, self.number, known, limit);
        if held {
            self.state = State::Held;
        }
        held
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let told = match self.state {
            State::Free => false,
            State::Asked => true,
            State::Held => {
                let known = self.desk.core.leases.leave(&self.key, self.number);
                known.is_some_and(|known| known != Known::No)
            }
        };
        if told {
            self.desk.note(Note::Release {
                key: Arc::clone(&self.key),
                number: self.number,
            });
        }
    }
}
