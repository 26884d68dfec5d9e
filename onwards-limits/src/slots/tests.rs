use std::thread;

use proptest::prelude::*;

use super::*;

#[test]
fn the_limit_is_an_argument_and_the_count_lives_on() {
    let slots = Arc::new(Slots::default());
    let mut held: Vec<_> = (0..5).map(|_| slots.try_enter(Some(5)).unwrap()).collect();
    assert!(slots.try_enter(Some(5)).is_none());
    assert!(!slots.has_room(Some(5)));
    assert!(slots.has_room(Some(6)));
    for left in [4, 3] {
        held.pop();
        assert_eq!(slots.in_use(), left);
        assert!(
            slots.try_enter(Some(3)).is_none(),
            "lowered to 3 with {left} in use"
        );
    }
    held.pop();
    held.push(slots.try_enter(Some(3)).unwrap());
    assert!(slots.try_enter(Some(3)).is_none());
    held.clear();
    assert_eq!(slots.in_use(), 0);
}

#[test]
fn no_limit_counts_and_a_limit_of_zero_refuses_all() {
    let slots = Arc::new(Slots::default());
    assert!(slots.try_enter(Some(0)).is_none());
    assert!(!slots.has_room(Some(0)));
    let held: Vec<_> = (0..100).map(|_| slots.try_enter(None).unwrap()).collect();
    assert_eq!(slots.in_use(), 100);
    assert!(slots.has_room(None));
    drop(held);
    assert_eq!(slots.in_use(), 0);
}

#[test]
fn the_end_of_the_count_refuses() {
    let slots = Arc::new(Slots {
        in_use: AtomicU32::new(u32::MAX - 1),
    });
    let last = slots.try_enter(None).unwrap();
    assert!(slots.try_enter(None).is_none());
    assert!(slots.try_enter(Some(u32::MAX)).is_none());
    drop(last);
    assert_eq!(slots.in_use(), u32::MAX - 1);
}

#[test]
fn threads_never_exceed_the_cap() {
    let slots = Arc::new(Slots::default());
    let inside = AtomicU32::new(0);
    let most = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..5000 {
                    if let Some(permit) = slots.try_enter(Some(3)) {
                        let now_inside = inside.fetch_add(1, Ordering::SeqCst) + 1;
                        most.fetch_max(now_inside, Ordering::SeqCst);
                        thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                        drop(permit);
                    }
                }
            });
        }
    });
    assert!(most.into_inner() <= 3);
    assert_eq!(slots.in_use(), 0);
}

proptest! {
    /// Enter under a limit (or none), or drop any of the permits held, in any order.
    #[test]
    fn permits_never_exceed_the_cap(
        steps in prop::collection::vec((any::<bool>(), prop::option::of(0_u32..6), any::<prop::sample::Index>()), 1..200),
    ) {
        let slots = Arc::new(Slots::default());
        let mut held = Vec::new();
        for (enter, max, which) in steps {
            if enter {
                let room = max.is_none_or(|max| (held.len() as u32) < max);
                prop_assert_eq!(slots.has_room(max), room);
                let permit = slots.try_enter(max);
                prop_assert_eq!(permit.is_some(), room);
                held.extend(permit);
            } else if !held.is_empty() {
                drop(held.swap_remove(which.index(held.len())));
            }
            prop_assert_eq!(slots.in_use() as usize, held.len());
        }
        drop(held);
        prop_assert_eq!(slots.in_use(), 0);
    }
}
