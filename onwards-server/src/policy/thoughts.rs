//! Thoughts of models, kept for clients that do not send them back (spec providers 3.0.6 b).
//!
//! A model that thinks and then calls a tool wants its own thoughts again with the result, signed as they were. Clients of
//! protocols that have no place for them cannot send them, so they are kept here by the id of the call, apart for every caller and
//! alias, for a while and up to a number. What is forgotten costs the model its train of thought and nothing else.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use onwards_dialects::options::Kept;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use tokio::time::Instant;

/// The most bytes that are kept of the thoughts before one call.
const LARGEST: usize = 256 * 1024;

/// Who the thoughts are kept for: a caller at an alias. Says nothing about the caller's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Holder([u8; 32]);

impl Holder {
    /// By the token that the caller presented, and the alias.
    pub(crate) fn of(token: Option<&[u8]>, alias: &str) -> Self {
        let mut digest = Sha256::new();
        digest.update(token.map_or([0; 32], |token| Sha256::digest(token).into()));
        digest.update(alias);
        Self(digest.finalize().into())
    }

    fn key(&self, call: &str) -> [u8; 32] {
        Sha256::new()
            .chain_update(self.0)
            .chain_update(call)
            .finalize()
            .into()
    }
}

/// The shelf of one caller at one alias.
#[derive(Clone, Debug)]
pub(crate) struct Keeper {
    pub(crate) thoughts: Arc<Thoughts>,
    pub(crate) holder: Holder,
    pub(crate) bounds: Bounds,
}

impl Keeper {
    /// Keeps what was thought before a call.
    pub(crate) fn keep(&self, call: &str, kept: Kept) {
        self.thoughts.keep(&self.holder, call, kept, self.bounds);
    }

    /// What was thought before a call, if that is still known.
    pub(crate) fn recall(&self, call: &str) -> Option<Kept> {
        self.thoughts.recall(&self.holder, call, self.bounds.ttl)
    }
}

/// How much is kept and how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) entries: usize,
    pub(crate) ttl: Duration,
}

/// The thoughts that are kept.
#[derive(Debug, Default)]
pub(crate) struct Thoughts(Mutex<Shelf>);

#[derive(Debug, Default)]
struct Shelf {
    kept: HashMap<[u8; 32], (Instant, Kept)>,
    /// In the order they came; an entry that was renewed stands here twice, and the older place does not count.
    order: VecDeque<([u8; 32], Instant)>,
}

impl Thoughts {
    /// Keeps what was thought before a call.
    fn keep(&self, holder: &Holder, call: &str, kept: Kept, bounds: Bounds) {
        if bounds.entries == 0 || kept.size() > LARGEST {
            return;
        }
        let now = Instant::now();
        let mut shelf = self.0.lock();
        let key = holder.key(call);
        shelf.kept.insert(key, (now, kept));
        shelf.order.push_back((key, now));
        while let Some((oldest, came)) = shelf.order.front().copied() {
            let stale = now.duration_since(came) > bounds.ttl;
            if !stale
                && shelf.kept.len() <= bounds.entries
                && shelf.order.len() <= bounds.entries * 2
            {
                break;
            }
            shelf.order.pop_front();
            if shelf.kept.get(&oldest).is_some_and(|(at, _)| *at == came) {
                shelf.kept.remove(&oldest);
            }
        }
    }

    /// What was thought before a call, if that is still known.
    fn recall(&self, holder: &Holder, call: &str, ttl: Duration) -> Option<Kept> {
        let shelf = self.0.lock();
        let (at, kept) = shelf.kept.get(&holder.key(call))?;
        (at.elapsed() <= ttl).then(|| kept.clone())
    }
}

#[cfg(test)]
mod tests {
    use onwards_dialects::options::Kept;
    use onwards_dialects::request::Thinking;
    use onwards_dialects::text::Str;

    use super::{Bounds, Duration, Holder, Thoughts};

    fn thought(text: &str) -> Kept {
        Kept {
            thoughts: vec![Thinking {
                text: Some(Str::owned(text)),
                state: None,
            }],
            state: None,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn thoughts_are_kept_apart_for_a_while_and_up_to_a_number() {
        let bounds = Bounds {
            entries: 2,
            ttl: Duration::from_secs(10),
        };
        let thoughts = Thoughts::default();
        let (a, b) = (Holder::of(Some(b"a"), "m"), Holder::of(Some(b"b"), "m"));
        assert_ne!(a, Holder::of(Some(b"a"), "n"));
        thoughts.keep(&a, "1", thought("one"), bounds);
        assert_eq!(thoughts.recall(&a, "1", bounds.ttl), Some(thought("one")));
        assert_eq!(thoughts.recall(&b, "1", bounds.ttl), None);
        for call in ["2", "2", "3"] {
            thoughts.keep(&a, call, thought(call), bounds);
        }
        assert_eq!(thoughts.recall(&a, "1", bounds.ttl), None);
        assert_eq!(thoughts.recall(&a, "2", bounds.ttl), Some(thought("2")));
        tokio::time::advance(Duration::from_secs(11)).await;
        assert_eq!(thoughts.recall(&a, "3", bounds.ttl), None);
        thoughts.keep(&b, "4", thought("four"), bounds);
        assert_eq!(thoughts.0.lock().kept.len(), 1);
    }
}
