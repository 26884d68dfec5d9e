use super::*;

#[test]
fn refuses_numbers_that_are_no_rate() {
    for found in [0.0, -0.0, -1.0, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(Rate::new(found, 1), Err(RateError::PerSecond { found }));
    }
    assert!(Rate::new(f64::NAN, 1).is_err());
    assert!(Rate::with_default_burst(f64::NAN).is_err());
    assert_eq!(Rate::new(1.0, 0), Err(RateError::Burst));
    assert_eq!(
        Rate::new(-1.5, 1).unwrap_err().to_string(),
        "requests per second must be a finite number above zero, found -1.5"
    );
}

#[test]
fn default_burst_is_the_rate_rounded_up() {
    let cases = [
        (0.001, 1),
        (1.0, 1),
        (1.5, 2),
        (100.0, 100),
        (4_294_967_295.0, u32::MAX),
        (1e300, u32::MAX),
    ];
    for (per_second, burst) in cases {
        let rate = Rate::with_default_burst(per_second).unwrap();
        assert_eq!((rate.per_second(), rate.burst()), (per_second, burst));
    }
}

#[test]
fn units_are_exact_and_fit() {
    // (rate, scale, units per nanosecond)
    let cases = [
        (5.0, 0, 5),
        (0.5, 1, 1),
        (2.75, 2, 11),
        (1e6, 0, 1_000_000),
        (f64::MIN_POSITIVE, 62, 1),
        (1e300, 0, u64::MAX),
    ];
    for (per_second, scale, per_nano) in cases {
        let units = Rate::new(per_second, u32::MAX).unwrap().units();
        assert_eq!(
            (units.scale, units.per_nano),
            (scale, per_nano),
            "{per_second}"
        );
        assert_eq!(units.token, 1_000_000_000 << scale);
        assert_eq!(units.full / units.token, u128::from(u32::MAX));
    }
    for per_second in [0.001, 0.1, 1.0 / 3.0, 3.3, 123.456, 1e6 + 0.1] {
        let units = Rate::new(per_second, 1).unwrap().units();
        let back = units.per_nano as f64 / 2f64.powi(units.scale as i32);
        assert_eq!(back, per_second);
    }
}
