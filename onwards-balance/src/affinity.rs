//! Which conversations stay with the preferred provider when it cannot take all.
//!
//! # Why
//!
//! Each turn of a conversation repeats the turns before it, and the provider that served the
//! last one still has them in its cache. Choosing per request, at a share of a half, sends every
//! second turn away from its cache. Choosing per conversation keeps half the conversations here
//! for good and half there.
//!
//! Every conversation has a fixed point in [0, 1), spread evenly by a hash. Those below the share
//! are admitted. With 200 conversations active, a target of 50 and a margin of 5, a share of
//! about 0.25 admits 50; it stays put while 45 to 55 are admitted, so a conversation moves only
//! when the population does. Raising the share by a little admits a few more and moves nobody
//! who is admitted already.
//!
//! # Rules
//!
//! * **Epochs**: time is cut at multiples of the update interval on the wall clock. The first
//!   request of a new epoch forgets conversations not seen for a window and sets the share
//!   anew if the admitted count has left `target ± margin`: just above the `target`-th smallest
//!   point, or 1 if there are not so many. Gateways that see the same conversations come to the
//!   same share at the same moment without talking to each other.
//! * **Start**: a share of 1. **Idle**: nothing happens until the next request.
//! * **Full**: beyond `max_tracked` conversations those with the greatest points are not kept;
//!   they are the ones not admitted.
//! * **Ties**: conversations with the same 64 bits are one.
//! * **Overload**: the caller compares with the smaller of this share and the controller's, so
//!   an overloaded provider sheds conversations, those with the greatest points first.
//! * **Wall clock set back**: by more than an epoch, it starts a new one, and no conversation
//!   counts as seen later than now.
//! * **Reload**: the caller keeps this while the settings are equal. **Cancel**: a request that
//!   came counts as seen.
//!
//! Noting a request costs O(log tracked), an epoch O(tracked).

use std::collections::BTreeMap;
use std::time::Duration;

use crate::point::point;
use crate::settings::{SettingsError, demand};

/// What steers an [`Affinity`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AffinitySettings {
    /// Conversations to admit; at least 1.
    pub target_conversations: u32,
    /// How far the admitted count may be off before the share moves; from 1 to the target.
    pub margin: u32,
    /// A conversation not seen for this long is over. Above zero.
    pub active_window: Duration,
    /// Length of an epoch; above zero and at most the window.
    pub update_interval: Duration,
    /// Conversations kept; at least target + margin.
    pub max_tracked: usize,
}

/// The conversations of one pool and the share they come to. Times are wall clock time since
/// the Unix epoch.
#[derive(Debug)]
pub struct Affinity {
    settings: AffinitySettings,
    /// Last time seen by key. Keys sort as their points do.
    seen: BTreeMap<u64, Duration>,
    share: f64,
    epoch: Option<u128>,
}

/// The conversations as an epoch found them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Census {
    /// Conversations seen within the window and kept.
    pub active: usize,
    /// Those below the share in force from now on.
    pub admitted: usize,
    /// The share in force from now on, in [0, 1].
    pub share: f64,
}

impl AffinitySettings {
    /// The defaults for a target: a tenth of it as margin (rounded up, at least 1), a window of
    /// 10 minutes, epochs of one minute, 100,000 conversations.
    #[must_use]
    pub fn for_target(target_conversations: u32) -> Self {
        Self {
            target_conversations,
            margin: target_conversations.div_ceil(10).max(1),
            active_window: Duration::from_secs(600),
            update_interval: Duration::from_secs(60),
            max_tracked: 100_000,
        }
    }

    fn check(&self) -> Result<(), SettingsError> {
        let (target, margin) = (self.target_conversations, self.margin);
        let epochs = Duration::from_nanos(1)..=self.active_window;
        demand(target >= 1, "target conversations", "at least 1")?;
        demand(
            (1..=target).contains(&margin),
            "margin",
            "from 1 to the target",
        )?;
        demand(
            epochs.contains(&self.update_interval),
            "update interval",
            "above zero and at most the active window",
        )?;
        demand(
            self.max_tracked as u64 >= u64::from(target) + u64::from(margin),
            "max tracked",
            "at least target plus margin",
        )
    }
}

impl Affinity {
    /// An affinity with a share of 1 that knows no conversation.
    ///
    /// # Errors
    ///
    /// [`SettingsError`] names a setting out of its range.
    pub fn new(settings: AffinitySettings) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self {
            settings,
            seen: BTreeMap::new(),
            share: 1.0,
            epoch: None,
        })
    }

    /// The settings given at creation; a reload with equal ones keeps the affinity.
    #[must_use]
    pub fn settings(&self) -> &AffinitySettings {
        &self.settings
    }

    /// Notes a request of the conversation with this key, the first 64 bits of a good hash. Call
    /// it before reading the [`share`](Self::share). Answers with a census on the first request
    /// of an epoch.
    pub fn arrive(&mut self, key: u64, wall: Duration) -> Option<Census> {
        let interval = self.settings.update_interval.as_nanos().max(1);
        let epoch = wall.as_nanos() / interval;
        // Requests may reach the lock out of order around a turn, so one epoch back is not new.
        let new = self
            .epoch
            .is_none_or(|last| epoch > last || epoch + 1 < last);
        let census = new.then(|| {
            self.epoch = Some(epoch);
            self.census(wall)
        });
        self.note(key, wall);
        census
    }

    /// The share in force. A conversation is admitted exactly when its [`point`] is below it.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.share
    }

    /// Number of conversations kept, among them some that ended since the last epoch.
    #[must_use]
    pub fn tracked(&self) -> usize {
        self.seen.len()
    }

    fn note(&mut self, key: u64, wall: Duration) {
        // One more than the admitted count may reach, so that exceeding it can be seen.
        let least = self.settings.target_conversations as usize + self.settings.margin as usize + 1;
        self.seen.insert(key, wall);
        if self.seen.len() > self.settings.max_tracked.max(least) {
            self.seen.pop_last();
        }
    }

    fn census(&mut self, wall: Duration) -> Census {
        let window = self.settings.active_window;
        self.seen.retain(|_, seen| {
            *seen = wall.min(*seen);
            wall.saturating_sub(*seen) <= window
        });
        let (target, margin) = (
            self.settings.target_conversations as usize,
            self.settings.margin as usize,
        );
        let admitted = self.admitted();
        let too_many = admitted > target + margin;
        let too_few = admitted + margin < target;
        if too_many || too_few {
            self.share = self.seen.keys().nth(target).map_or(1.0, |&key| point(key));
        }
        Census {
            active: self.seen.len(),
            admitted: self.admitted(),
            share: self.share,
        }
    }

    fn admitted(&self) -> usize {
        self.seen
            .keys()
            .take_while(|&&key| point(key) < self.share)
            .count()
    }
}

#[cfg(test)]
mod tests;
