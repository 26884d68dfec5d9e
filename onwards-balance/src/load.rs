//! What choosing a provider needs to know about each.

use std::time::Duration;

/// State of one provider at the moment of a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    /// Attempts whose answer has not ended.
    pub in_flight: u32,
    /// Whether it has room for one more attempt; without room it is never offered.
    pub open: bool,
    /// Time before which the provider asked not to be called, if it did. It is offered earlier
    /// only when no other provider is left.
    pub not_before: Option<Duration>,
}

/// Idle, open, not paused.
impl Default for Load {
    fn default() -> Self {
        Self {
            in_flight: 0,
            open: true,
            not_before: None,
        }
    }
}

/// Tells the load of a pool's providers.
///
/// A choice asks up to twice per provider; answers may change in between.
pub trait LoadView {
    /// Load of the provider at this position of the pool.
    fn load(&self, provider: usize) -> Load;
}

/// One entry per provider; those beyond the end have no room.
impl LoadView for [Load] {
    fn load(&self, provider: usize) -> Load {
        self.get(provider).copied().unwrap_or(Load {
            open: false,
            ..Load::default()
        })
    }
}
