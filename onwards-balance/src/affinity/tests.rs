use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

fn s(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

/// Some Tuesday.
const START: u64 = 1_700_000_040;

fn affinity(target: u32) -> Affinity {
    Affinity::new(AffinitySettings::for_target(target)).unwrap()
}

/// Conversation `n` of `of`, evenly spread, in the middle of its stretch.
fn key(n: u64, of: u64) -> u64 {
    u64::MAX / of * n + u64::MAX / of / 2
}

/// Each conversation once.
fn talk(affinity: &mut Affinity, of: u64, wall: Duration) {
    for n in 0..of {
        affinity.arrive(key(n, of), wall);
    }
}

#[test]
fn the_worked_number_of_the_module_comment() {
    let mut affinity = affinity(50);
    assert_eq!(affinity.settings().margin, 5);
    talk(&mut affinity, 200, s(START));
    assert_eq!(affinity.share(), 1.0, "until the epoch turns");
    let census = affinity.arrive(key(0, 200), s(START + 60)).unwrap();
    assert_eq!((census.active, census.admitted), (200, 50));
    assert!((census.share - 0.25).abs() < 0.01);
    assert_eq!(affinity.share(), census.share);
    let admitted = (0..200)
        .filter(|&n| point(key(n, 200)) < affinity.share())
        .count();
    assert_eq!(admitted, 50);
}

#[test]
fn epochs_turn_with_the_wall_clock_and_only_once() {
    let mut affinity = affinity(1);
    assert!(
        affinity.arrive(1, s(START + 10)).is_some(),
        "the first request opens one"
    );
    assert!(affinity.arrive(1, s(START + 59)).is_none());
    assert!(affinity.arrive(1, s(START + 60)).is_some());
    assert!(affinity.arrive(1, s(START + 61)).is_none());
    assert!(
        affinity.arrive(1, s(START + 59)).is_none(),
        "late for the lock, not a new epoch"
    );
    assert!(affinity.arrive(1, s(START + 119)).is_none());
    assert!(affinity.arrive(1, s(START + 600)).is_some());
    assert!(
        affinity.arrive(1, s(START - 600)).is_some(),
        "the clock was set back"
    );
}

#[test]
fn the_share_holds_within_the_margin_and_moves_outside() {
    let mut affinity = affinity(50);
    talk(&mut affinity, 200, s(START));
    talk(&mut affinity, 200, s(START + 60));
    let share = affinity.share();
    let mut extra = (0..6).map(|n| n + 1);
    let mut wall = START + 60;
    let mut turn = |affinity: &mut Affinity, keys: &[u64]| {
        keys.iter()
            .for_each(|&key| assert!(affinity.arrive(key, s(wall)).is_none()));
        wall += 60;
        affinity.arrive(key(0, 200), s(wall)).unwrap()
    };
    let five: Vec<u64> = extra.by_ref().take(5).collect();
    assert_eq!(
        turn(&mut affinity, &five),
        Census {
            active: 205,
            admitted: 55,
            share
        }
    );
    let sixth: Vec<u64> = extra.collect();
    let census = turn(&mut affinity, &sixth);
    assert_eq!((census.active, census.admitted), (206, 50));
    assert!(census.share < share);
}

#[test]
fn a_shrinking_population_raises_the_share_up_to_one() {
    let mut affinity = affinity(50);
    talk(&mut affinity, 200, s(START));
    talk(&mut affinity, 200, s(START + 60));
    assert!(affinity.share() < 0.26);
    // Half of them go on; the others count until ten minutes have passed.
    for minute in 2..=11 {
        for n in (0..200).step_by(2) {
            affinity.arrive(key(n, 200), s(START + 60 * minute));
        }
        assert!(affinity.share() < 0.26);
    }
    let census = affinity.arrive(key(0, 200), s(START + 60 * 12)).unwrap();
    assert_eq!((census.active, census.admitted), (100, 50));
    assert!((census.share - 0.5).abs() < 0.01);
    let alone = affinity.arrive(key(0, 200), s(START + 6000)).unwrap();
    assert_eq!(
        alone,
        Census {
            active: 0,
            admitted: 0,
            share: 1.0
        }
    );
}

#[test]
fn a_count_short_by_the_margin_holds() {
    for (silent, moves) in [(5, false), (6, true)] {
        let mut affinity = affinity(50);
        talk(&mut affinity, 200, s(START));
        talk(&mut affinity, 200, s(START + 60));
        let share = affinity.share();
        for n in silent..200 {
            affinity.arrive(key(n, 200), s(START + 660));
        }
        let census = affinity.arrive(key(199, 200), s(START + 720)).unwrap();
        assert_eq!(census.active as u64, 200 - silent);
        assert_eq!(census.share > share, moves, "{silent} of 50 are silent");
        assert_eq!(census.admitted, if moves { 50 } else { 45 });
    }
}

#[test]
fn a_conversation_is_over_after_the_window() {
    let mut affinity = affinity(5);
    affinity.arrive(7, s(START));
    affinity.arrive(8, s(START + 60));
    assert_eq!(
        affinity.arrive(9, s(START + 600)).unwrap().active,
        2,
        "exactly a window ago"
    );
    assert_eq!(
        affinity.arrive(9, s(START + 660)).unwrap().active,
        2,
        "7 is over"
    );
    assert_eq!(affinity.tracked(), 2);
}

#[test]
fn a_clock_set_back_keeps_nobody_for_ever() {
    let mut affinity = affinity(5);
    affinity.arrive(7, s(START + 1_000_000));
    assert_eq!(affinity.arrive(8, s(START)).unwrap().active, 1);
    assert_eq!(affinity.arrive(8, s(START + 660)).unwrap().active, 0);
}

#[test]
fn a_full_table_keeps_the_smallest_points() {
    let settings = AffinitySettings {
        max_tracked: 11,
        ..AffinitySettings::for_target(10)
    };
    let mut affinity = Affinity::new(settings).unwrap();
    let keys: Vec<u64> = (0..1000)
        .map(|n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        .collect();
    for &key in &keys {
        affinity.arrive(key, s(START));
        assert!(affinity.tracked() <= 12);
    }
    let mut least = keys.clone();
    least.sort_unstable();
    assert!(affinity.seen.keys().eq(&least[..12]));
    // Though no more than target + margin are asked for, too many are noticed.
    let census = affinity.arrive(least[0], s(START + 60)).unwrap();
    assert_eq!((census.active, census.admitted), (12, 10));
}

#[test]
fn settings_out_of_range_are_named() {
    let defaults = AffinitySettings::for_target;
    let cases = [
        (
            AffinitySettings {
                target_conversations: 0,
                ..defaults(1)
            },
            "target conversations must be at least 1",
        ),
        (
            AffinitySettings {
                margin: 0,
                ..defaults(9)
            },
            "margin must be from 1 to the target",
        ),
        (
            AffinitySettings {
                margin: 10,
                ..defaults(9)
            },
            "margin must be from 1 to the target",
        ),
        (
            AffinitySettings {
                update_interval: s(0),
                ..defaults(9)
            },
            "update interval must be above zero and at most the active window",
        ),
        (
            AffinitySettings {
                update_interval: s(601),
                ..defaults(9)
            },
            "update interval must be above zero and at most the active window",
        ),
        (
            AffinitySettings {
                max_tracked: 9,
                ..defaults(9)
            },
            "max tracked must be at least target plus margin",
        ),
        (
            defaults(u32::MAX),
            "max tracked must be at least target plus margin",
        ),
    ];
    for (settings, expect) in cases {
        assert_eq!(Affinity::new(settings).unwrap_err().to_string(), expect);
    }
    let margins = [(1, 1), (9, 1), (10, 1), (11, 2), (1000, 100)];
    for (target, margin) in margins {
        assert_eq!(defaults(target).margin, margin);
    }
}

proptest! {
    /// A steady population, everybody heard of in each epoch.
    #[test]
    fn admits_the_target_and_then_nobody_moves(
        keys in prop::collection::hash_set(any::<u64>(), 1..400), target in 1_u32..200, epochs in 2_u64..8,
    ) {
        let mut affinity = affinity(target);
        let mut sides: Option<Vec<bool>> = None;
        for epoch in 0..=epochs {
            for &key in &keys {
                affinity.arrive(key, s(START + 60 * epoch));
            }
            let now: Vec<bool> = keys.iter().map(|&key| point(key) < affinity.share()).collect();
            if epoch > 0 {
                let admitted = now.iter().filter(|admitted| **admitted).count();
                let margin = affinity.settings().margin as usize;
                let wanted = (target as usize).min(keys.len());
                prop_assert!(admitted <= target as usize + margin);
                prop_assert!(admitted + margin >= wanted);
                prop_assert!(sides.is_none_or(|before| before == now));
                sides = Some(now);
            } else {
                prop_assert!(now.iter().all(|admitted| *admitted));
            }
        }
    }

    /// A population that comes and goes: each census leaves the count within the margin, or
    /// everybody is admitted.
    #[test]
    fn every_census_leaves_the_count_within_the_margin(
        arrivals in prop::collection::vec((0_u64..30, any::<u64>()), 1..400), target in 1_u32..40,
    ) {
        let mut affinity = affinity(target);
        let mut wall = START;
        for (gap, key) in arrivals {
            wall += gap;
            if let Some(census) = affinity.arrive(key, s(wall)) {
                let (target, margin) = (target as usize, affinity.settings().margin as usize);
                prop_assert!(census.admitted <= target + margin);
                prop_assert!(census.admitted + margin >= target || census.share == 1.0);
                prop_assert!(census.admitted <= census.active);
            }
        }
    }

    /// Two gateways that hear the same conversations in another order.
    #[test]
    fn replicas_agree(keys in prop::collection::hash_set(any::<u64>(), 1..200), target in 1_u32..100) {
        let (mut one, mut two) = (affinity(target), affinity(target));
        let sorted: Vec<_> = keys.iter().copied().collect::<HashSet<_>>().into_iter().collect();
        for epoch in 0..3 {
            keys.iter().for_each(|&key| { one.arrive(key, s(START + 60 * epoch + 1)); });
            sorted.iter().rev().for_each(|&key| { two.arrive(key, s(START + 60 * epoch + 9)); });
            prop_assert_eq!(one.share(), two.share());
        }
    }
}
