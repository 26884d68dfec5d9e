use proptest::prelude::*;

use super::*;

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn backoff(initial: u64, factor: f64, jitter: Jitter) -> Backoff {
    Backoff::new(ms(initial), ms(5000), factor, jitter).unwrap()
}

#[track_caller]
fn check(initial: u64, factor: f64, expect: &[u64]) {
    let backoff = backoff(initial, factor, Jitter::None);
    let ceilings: Vec<_> = (1..)
        .take(expect.len())
        .map(|n| backoff.ceiling(n))
        .collect();
    assert_eq!(ceilings, expect.iter().map(|&n| ms(n)).collect::<Vec<_>>());
    let mut waits = backoff.waits(None);
    let waited: Vec<_> = expect.iter().map(|_| waits.next(7).unwrap()).collect();
    assert_eq!(waited, ceilings);
    assert_eq!(waits.waited(), ms(expect.iter().sum()));
}

#[test]
fn ceilings_grow_to_the_largest() {
    check(100, 2.0, &[100, 200, 400, 800, 1600, 3200, 5000, 5000]);
    check(100, 1.0, &[100, 100, 100]);
    check(100, 1.5, &[100, 150, 225]);
    check(800, 0.5, &[800, 400, 200]);
    check(9000, 2.0, &[5000, 5000]);
    check(0, 2.0, &[0, 0, 0]);
}

#[test]
fn far_attempts_neither_overflow_nor_vanish() {
    for factor in [1e300, 1e-300, 2.0] {
        for initial in [0, 1] {
            let backoff = backoff(initial, factor, Jitter::Full);
            assert!(backoff.ceiling(u32::MAX) <= ms(5000));
            assert_eq!(backoff.ceiling(0), ms(initial));
        }
    }
    assert_eq!(backoff(1, 1e300, Jitter::None).ceiling(9), ms(5000));
    assert_eq!(backoff(0, 1e300, Jitter::None).ceiling(9), ms(0));
    let endless = Backoff::new(Duration::MAX, Duration::MAX, 2.0, Jitter::Full).unwrap();
    assert!(endless.waits(None).next(u64::MAX).unwrap() > ms(1 << 40));
}

#[test]
fn full_jitter_reaches_both_ends() {
    let backoff = backoff(100, 2.0, Jitter::Full);
    for (random, expect) in [(0, ms(0)), (1 << 63, ms(50)), (u64::MAX, ms(100))] {
        assert_eq!(backoff.waits(None).next(random), Some(expect));
    }
}

#[test]
fn the_total_is_what_was_drawn_and_counts_before_the_sleep() {
    let mut waits = backoff(100, 2.0, Jitter::None).waits(Some(ms(700)));
    assert_eq!(
        [(); 3].map(|()| waits.next(0)),
        [Some(ms(100)), Some(ms(200)), Some(ms(400))]
    );
    assert_eq!(waits.next(0), None);
    assert_eq!(waits.waited(), ms(700));

    let mut waits = backoff(100, 2.0, Jitter::Full).waits(Some(ms(99)));
    assert_eq!(waits.next(u64::MAX), None, "a drawn 100 ms exceeds 99");
    assert_eq!(
        waits.next(1 << 63),
        Some(ms(50)),
        "a refused wait costs nothing"
    );
    assert_eq!(waits.next(0), Some(ms(0)));

    let mut none = backoff(100, 2.0, Jitter::None).waits(Some(Duration::ZERO));
    assert_eq!(none.next(0), None);
    let mut zero = backoff(0, 2.0, Jitter::None).waits(Some(Duration::ZERO));
    assert_eq!(zero.next(0), Some(Duration::ZERO));
}

#[test]
fn factors_out_of_range_are_refused() {
    for factor in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        let error = Backoff::new(ms(1), ms(1), factor, Jitter::None).unwrap_err();
        assert_eq!(
            error.to_string(),
            "backoff factor must be a finite number above zero"
        );
    }
}

proptest! {
    #[test]
    fn drawn_waits_stay_below_their_ceilings_and_the_total(
        initial in 0_u64..2000, factor in 0.5..4.0, total in prop::option::of(0_u64..20_000), draws in prop::collection::vec(any::<u64>(), 0..20),
    ) {
        let backoff = backoff(initial, factor, Jitter::Full);
        let mut waits = backoff.waits(total.map(ms));
        let mut sum = Duration::ZERO;
        let mut granted = 0;
        for random in draws {
            let ceiling = backoff.ceiling(granted + 1);
            if let Some(wait) = waits.next(random) {
                granted += 1;
                sum += wait;
                prop_assert!(wait <= ceiling);
            }
            prop_assert_eq!(waits.waited(), sum);
            prop_assert!(total.is_none_or(|total| sum <= ms(total)));
        }
    }
}
