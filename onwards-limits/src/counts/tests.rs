use std::collections::HashMap;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::thread;

use proptest::prelude::*;

use super::*;
use crate::{Admission, BATCH_SCOPE, Counter};

#[test]
fn counts_per_pair_and_forgets_what_ended() {
    let counts = Counts::default();
    let first = counts.try_enter("acme", "gpt", 2).unwrap();
    let second = counts.clone().try_enter("acme", "gpt", 2).unwrap();
    assert!(counts.try_enter("acme", "gpt", 2).is_none());
    let other_alias = counts.try_enter("acme", "llama", 1).unwrap();
    let other_scope = counts.try_enter(BATCH_SCOPE, "gpt", 1).unwrap();
    assert_eq!((counts.in_use("acme", "gpt"), counts.scopes()), (2, 2));
    drop(first);
    assert_eq!(counts.in_use("acme", "gpt"), 1);
    drop(second);
    assert_eq!(counts.scopes(), 2);
    drop((other_alias, other_scope));
    assert_eq!(counts.scopes(), 0);
    assert!(lock(&counts.table).scopes.is_empty());
}

#[test]
fn pairs_are_not_run_together() {
    let counts = Counts::default();
    let _one = counts.try_enter("a", "bc", 1).unwrap();
    let _two = counts.try_enter("ab", "c", 1).unwrap();
    assert_eq!(counts.in_use("a", "bc"), 1);
    assert_eq!(counts.in_use("abc", ""), 0);
}

#[test]
fn a_refusal_stores_nothing_and_a_lower_limit_cuts_nobody() {
    let counts = Counts::default();
    assert!(counts.try_enter("acme", "gpt", 0).is_none());
    assert_eq!(counts.scopes(), 0);
    let held: Vec<_> = (0..3)
        .map(|_| counts.try_enter("acme", "gpt", 3).unwrap())
        .collect();
    for _ in 0..5 {
        assert!(counts.try_enter("acme", "gpt", 1).is_none());
    }
    assert_eq!(counts.in_use("acme", "gpt"), 3);
    drop(held);
    assert_eq!(counts.scopes(), 0);
}

#[test]
fn memory_follows_the_running_requests() {
    let counts = Counts::default();
    let mut held: Vec<_> = (0..10_000)
        .map(|n| counts.try_enter(&n.to_string(), "gpt", 1).unwrap())
        .collect();
    let peak = lock(&counts.table).scopes.capacity();
    held.truncate(10);
    let after = lock(&counts.table).scopes.capacity();
    assert!(peak >= 10_000 && after <= 160, "{peak} then {after}");
    assert_eq!(counts.in_use("9", "gpt"), 1);
    assert_eq!(counts.in_use("10", "gpt"), 0);
}

#[test]
fn serves_as_the_local_counter() {
    let counts = Counts::default();
    let shared: Arc<dyn Counter> = Arc::new(counts.clone());
    let enter = || {
        let mut entering = pin!(shared.enter("acme", "gpt", 1));
        match entering
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            Poll::Ready(admission) => admission,
            Poll::Pending => panic!("the local counter never waits"),
        }
    };
    let Admission::Counted(guard) = enter() else {
        panic!("the first one fits")
    };
    assert_eq!(counts.in_use("acme", "gpt"), 1);
    let refused = enter();
    assert!(matches!(refused, Admission::Refused));
    assert_eq!(
        format!("{refused:?} {:?}", Admission::Uncounted),
        "Refused Uncounted"
    );
    drop(guard);
    assert_eq!(counts.in_use("acme", "gpt"), 0);
}

#[test]
fn threads_never_exceed_the_cap() {
    let counts = Counts::default();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for n in 0..3000 {
                    let account = ["a", "b", "c"][n % 3];
                    let guard = counts.try_enter(account, "gpt", 2);
                    assert!(counts.in_use(account, "gpt") <= 2);
                    drop(guard);
                }
            });
        }
    });
    assert_eq!(counts.scopes(), 0);
}

proptest! {
    /// Any order of entering and leaving, against a plain table of numbers.
    #[test]
    fn agrees_with_a_plain_table(
        steps in prop::collection::vec((any::<bool>(), 0_usize..3, 0_usize..3, 0_u32..4, any::<prop::sample::Index>()), 1..200),
    ) {
        let names = ["", "a", "aa"];
        let counts = Counts::default();
        let mut held = Vec::new();
        for (enter, scope, alias, limit, which) in steps {
            if enter {
                let running = held.iter().filter(|(pair, _)| *pair == (scope, alias)).count() as u32;
                let guard = counts.try_enter(names[scope], names[alias], limit);
                prop_assert_eq!(guard.is_some(), running < limit);
                held.extend(guard.map(|guard| ((scope, alias), guard)));
            } else if !held.is_empty() {
                drop(held.swap_remove(which.index(held.len())));
            }
            let mut plain: HashMap<_, u32> = HashMap::new();
            for (pair, _) in &held {
                *plain.entry(*pair).or_default() += 1;
            }
            let kept = lock(&counts.table).scopes.values().map(HashMap::len).sum::<usize>();
            prop_assert_eq!(kept, plain.len());
            for ((scope, alias), n) in plain {
                prop_assert_eq!(counts.in_use(names[scope], names[alias]), n);
            }
        }
    }
}
