// Not by glob: proptest has a trait `Strategy`, too.
use proptest::prelude::{Just, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest};
use proptest::strategy::Strategy as Generator;

use super::*;

const NOW: Duration = Duration::from_secs(100);

fn order(strategy: Strategy, weights: &[u32]) -> Order {
    Order::new(
        strategy,
        weights
            .iter()
            .map(|&weight| NonZeroU32::new(weight).unwrap()),
    )
}

fn priority(providers: usize, attempts: u32) -> Order {
    let order = order(Strategy::Priority, &vec![1; providers]);
    order.with_max_attempts(NonZeroU32::new(attempts).unwrap())
}

fn weighted(weights: &[u32]) -> Order {
    order(Strategy::WeightedRandom, weights)
}

fn busy(in_flight: u32) -> Load {
    Load {
        in_flight,
        ..Load::default()
    }
}

fn full() -> Load {
    Load {
        open: false,
        ..Load::default()
    }
}

/// Paused until `secs` after now.
fn paused(secs: u64) -> Load {
    Load {
        not_before: Some(NOW + Duration::from_secs(secs)),
        ..Load::default()
    }
}

/// All candidates under a load that stays, as letters.
fn all(order: &Order, first: First, load: &[Load], random: u64) -> String {
    let mut candidates = order.candidates(first);
    std::iter::from_fn(|| candidates.next(load, NOW, random))
        .map(|provider| char::from(b'A' + provider as u8))
        .collect()
}

#[track_caller]
fn check(order: &Order, first: First, load: &[Load], expect: &str) {
    assert_eq!(all(order, first, load, 0), expect);
}

#[test]
fn priority_goes_in_passes_within_the_budget() {
    let idle = [Load::default(); 3];
    check(&priority(2, 5), First::ByStrategy, &idle, "ABABA");
    check(&priority(1, 3), First::ByStrategy, &idle, "AAA");
    check(&priority(3, 2), First::ByStrategy, &idle, "AB");
    check(
        &order(Strategy::Priority, &[1, 9, 9]),
        First::ByStrategy,
        &idle,
        "ABC",
    );
    check(
        &order(Strategy::Priority, &[]),
        First::ByStrategy,
        &idle,
        "",
    );
    check(&order(Strategy::Priority, &[]), First::Alternate, &idle, "");
}

#[test]
fn priority_does_not_look_at_load_or_weight() {
    check(
        &order(Strategy::Priority, &[1, 1000]),
        First::ByStrategy,
        &[busy(900), busy(0)],
        "AB",
    );
    let replaced = priority(2, 4).with_replacement(true);
    check(&replaced, First::ByStrategy, &[Load::default(); 2], "ABAB");
}

#[test]
fn a_first_choice_leaves_out_only_what_was_tried() {
    let idle = [Load::default(); 3];
    check(&priority(2, 4), First::Alternate, &idle, "BAAB");
    check(&priority(3, 6), First::Alternate, &idle, "BACABC");
    check(&priority(3, 5), First::Provider(2), &idle, "CABAB");
    check(&priority(3, 3), First::Provider(7), &idle, "ABC");
    check(&priority(3, 3), First::Provider(usize::MAX), &idle, "ABC");
    check(&priority(1, 2), First::Alternate, &idle, "AA");
    check(&weighted(&[1, 1, 1]), First::Provider(2), &idle, "CAB");
}

#[test]
fn a_first_choice_gives_way_to_full_and_paused_providers() {
    let open = Load::default();
    check(
        &priority(3, 3),
        First::Alternate,
        &[open, full(), open],
        "CAA",
    );
    check(
        &priority(3, 3),
        First::Alternate,
        &[open, paused(5), open],
        "CAB",
    );
    check(&priority(2, 2), First::Alternate, &[open, full()], "AA");
    check(&priority(2, 2), First::Alternate, &[open, paused(5)], "AB");
    check(&priority(2, 2), First::Provider(0), &[full(), open], "BB");
}

#[test]
fn full_providers_are_passed_over() {
    let open = Load::default();
    check(
        &priority(3, 3),
        First::ByStrategy,
        &[full(), open, open],
        "BCB",
    );
    check(&priority(2, 9), First::ByStrategy, &[full(), full()], "");
    check(
        &weighted(&[1, 1]),
        First::ByStrategy,
        &[full(), busy(500)],
        "BB",
    );
    let replaced = weighted(&[1, 1]).with_replacement(true);
    check(&replaced, First::ByStrategy, &[full(), full()], "");
}

#[test]
fn a_pause_puts_a_provider_last_in_its_pass() {
    let open = Load::default();
    check(
        &priority(3, 6),
        First::ByStrategy,
        &[paused(5), open, open],
        "BCABCA",
    );
    check(
        &priority(3, 3),
        First::ByStrategy,
        &[paused(9), paused(5), full()],
        "BAB",
    );
    check(&priority(1, 2), First::ByStrategy, &[paused(5)], "AA");
    check(&priority(2, 2), First::ByStrategy, &[paused(0), open], "AB");
    check(
        &weighted(&[9, 1]),
        First::ByStrategy,
        &[paused(1), busy(7)],
        "BA",
    );
    let replaced = weighted(&[9, 1]).with_replacement(true);
    check(&replaced, First::ByStrategy, &[paused(1), busy(7)], "BB");
}

#[test]
fn a_pause_that_is_over_is_no_pause() {
    let past = |secs| Load {
        not_before: Some(NOW - Duration::from_secs(secs)),
        ..Load::default()
    };
    check(
        &priority(2, 2),
        First::ByStrategy,
        &[past(1), past(5)],
        "AB",
    );
    check(&priority(2, 2), First::Alternate, &[past(5), past(0)], "BA");
}

#[test]
fn least_in_flight_per_weight_comes_first() {
    check(
        &weighted(&[3, 1]),
        First::ByStrategy,
        &[busy(6), busy(1)],
        "BA",
    );
    check(
        &weighted(&[3, 1]),
        First::ByStrategy,
        &[busy(5), busy(2)],
        "AB",
    );
    check(
        &weighted(&[1, 1, 1]),
        First::ByStrategy,
        &[busy(2), busy(1), busy(0)],
        "CBA",
    );
    let max = u32::MAX;
    check(
        &weighted(&[max, max - 1]),
        First::ByStrategy,
        &[busy(max), busy(max)],
        "AB",
    );
    check(
        &weighted(&[max - 1, max]),
        First::ByStrategy,
        &[busy(max), busy(max)],
        "BA",
    );
}

#[test]
fn ties_are_drawn_in_proportion_to_weight() {
    // Evenly spread random bits must hit each provider exactly in proportion.
    let order = weighted(&[3, 1]);
    let mut hits = [0; 2];
    for n in 0..400 {
        let random = (u64::MAX / 400) * n + u64::MAX / 800;
        let first = order
            .candidates(First::ByStrategy)
            .next(&[busy(6), busy(2)][..], NOW, random);
        hits[first.unwrap()] += 1;
    }
    assert_eq!(hits, [300, 100]);
    let heavy = weighted(&[u32::MAX; 5]);
    for (random, expect) in [(0, "A"), (u64::MAX / 2, "C"), (u64::MAX, "E")] {
        let picks = all(&heavy, First::ByStrategy, &[Load::default(); 5], random);
        assert!(picks.starts_with(expect), "{picks} for {random}");
    }
}

#[test]
fn only_ties_take_part_in_the_draw() {
    let load = [busy(1), busy(0), busy(1), busy(0)];
    for (random, expect) in [
        (0, "B"),
        (u64::MAX / 2, "B"),
        (u64::MAX / 2 + 2, "D"),
        (u64::MAX, "D"),
    ] {
        let picks = all(&weighted(&[7, 1, 7, 1]), First::ByStrategy, &load, random);
        assert!(picks.starts_with(expect), "{picks} for {random}");
    }
}

#[test]
fn with_replacement_the_least_busy_comes_again() {
    let order = weighted(&[1, 1])
        .with_replacement(true)
        .with_max_attempts(NonZeroU32::new(3).unwrap());
    check(&order, First::ByStrategy, &[busy(1), busy(0)], "BBB");
}

#[test]
fn a_lost_slot_costs_no_attempt_and_no_second_look() {
    let order = priority(3, 2);
    let idle = &[Load::default(); 3][..];
    let mut candidates = order.candidates(First::Alternate);
    assert_eq!(candidates.next(idle, NOW, 0), Some(1));
    candidates.was_full();
    assert_eq!(
        candidates.next(idle, NOW, 0),
        Some(2),
        "still the first choice"
    );
    assert_eq!((candidates.attempts(), candidates.attempts_left()), (1, 1));
    assert_eq!(candidates.next(idle, NOW, 0), Some(0));
    assert_eq!((candidates.attempts(), candidates.attempts_left()), (2, 0));
    assert_eq!(candidates.next(idle, NOW, 0), None);
    candidates.was_full();
    assert_eq!(candidates.next(idle, NOW, 0), Some(0), "a new pass");
}

#[test]
fn a_load_that_changes_between_two_looks_does_no_harm() {
    struct Restless(std::cell::Cell<u32>);
    impl LoadView for Restless {
        fn load(&self, _: usize) -> Load {
            self.0.set(self.0.get() + 1);
            busy(self.0.get())
        }
    }
    let order = weighted(&[1, 1, 1]);
    let first =
        order
            .candidates(First::ByStrategy)
            .next(&Restless(Default::default()), NOW, u64::MAX);
    assert_eq!(first, Some(0));
}

#[test]
fn more_than_64_providers() {
    let order = weighted(&[1; 100]).with_max_attempts(NonZeroU32::new(250).unwrap());
    let load = [Load::default(); 100];
    let mut candidates = order.candidates(First::ByStrategy);
    let mut picks: Vec<_> =
        std::iter::from_fn(|| candidates.next(&load[..], NOW, 1 << 60)).collect();
    assert_eq!(picks.len(), 250);
    for pass in picks.chunks_mut(100) {
        pass.sort_unstable();
        pass.windows(2)
            .for_each(|pair| assert_ne!(pair[0], pair[1]));
    }
    assert_eq!(picks[..100], (0..100).collect::<Vec<_>>());
}

#[derive(Debug, Clone)]
struct Case {
    order: Order,
    load: Vec<Load>,
    first: First,
    seed: u64,
}

fn cases() -> impl Generator<Value = Case> {
    let load = (
        0_u32..5,
        prop::bool::weighted(0.8),
        prop::option::of(0_u64..200),
    )
        .prop_map(|(in_flight, open, not_before)| Load {
            in_flight,
            open,
            not_before: not_before.map(Duration::from_secs),
        });
    let weight = prop_oneof![1_u32..5, Just(u32::MAX)];
    let provider = (weight, load);
    let first = prop_oneof![
        Just(First::ByStrategy),
        Just(First::Alternate),
        (0_usize..8).prop_map(First::Provider)
    ];
    (
        prop::collection::vec(provider, 0..7),
        any::<bool>(),
        1_u32..20,
        any::<bool>(),
        first,
        any::<u64>(),
    )
        .prop_map(|(providers, by_load, attempts, replace, first, seed)| {
            let strategy = if by_load {
                Strategy::WeightedRandom
            } else {
                Strategy::Priority
            };
            let (weights, load): (Vec<_>, Vec<_>) = providers.into_iter().unzip();
            let order = order(strategy, &weights)
                .with_max_attempts(NonZeroU32::new(attempts).unwrap())
                .with_replacement(replace);
            Case {
                order,
                load,
                first,
                seed,
            }
        })
}

fn picks(case: &Case) -> Vec<usize> {
    let mut random = fastrand::Rng::with_seed(case.seed);
    let mut candidates = case.order.candidates(case.first);
    std::iter::from_fn(|| candidates.next(&case.load[..], NOW, random.u64(..))).collect()
}

proptest! {
    #[test]
    fn each_open_provider_comes_once_per_pass_and_the_budget_holds(case in cases()) {
        let open: Vec<_> = (0..case.load.len()).filter(|&n| case.load[n].open).collect();
        let picks = picks(&case);
        let budget = case.order.max_attempts as usize;
        prop_assert_eq!(picks.len(), if open.is_empty() { 0 } else { budget });
        prop_assert!(picks.iter().all(|pick| open.contains(pick)));
        if !case.order.with_replacement && !open.is_empty() {
            for pass in picks.chunks(open.len()) {
                let mut sorted = pass.to_vec();
                sorted.sort_unstable();
                sorted.dedup();
                prop_assert_eq!(sorted.len(), pass.len());
            }
        }
    }

    #[test]
    fn equal_randomness_gives_equal_picks(case in cases()) {
        prop_assert_eq!(picks(&case), picks(&case));
    }

    #[test]
    fn nobody_paused_comes_before_somebody_ready_in_a_pass(case in cases()) {
        let open = case.load.iter().filter(|load| load.open).count().max(1);
        let pause = |&pick: &usize| case.load[pick].not_before.unwrap_or(NOW).max(NOW);
        if !case.order.with_replacement {
            for pass in picks(&case).chunks(open) {
                prop_assert!(pass.iter().map(pause).is_sorted());
            }
        }
    }

    /// Against fractions compared as floats, which are exact for such small numbers.
    #[test]
    fn the_first_pick_has_the_least_fraction(case in cases(), weights in prop::collection::vec(1_u32..9, 7)) {
        let order = weighted(&weights[..case.load.len()]);
        let ready: Vec<_> = case.load.iter().map(|load| Load { not_before: None, ..*load }).collect();
        let fraction = |n: usize| f64::from(ready[n].in_flight) / f64::from(weights[n]);
        let least = (0..ready.len()).filter(|&n| ready[n].open).map(fraction).min_by(f64::total_cmp);
        let pick = order.candidates(First::ByStrategy).next(&ready[..], NOW, case.seed);
        prop_assert_eq!(pick.map(fraction), least);
    }
}
