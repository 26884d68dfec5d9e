use super::*;

#[test]
fn points_fill_the_unit_interval_and_keep_order() {
    let cases = [
        (0, 0.0),
        (1 << 63, 0.5),
        (1 << 11, 1.0 / 9_007_199_254_740_992.0),
        (2047, 0.0),
    ];
    for (bits, expect) in cases {
        assert_eq!(point(bits), expect, "{bits:#x}");
    }
    assert!(point(u64::MAX) < 1.0);
}

#[test]
fn below_reaches_both_ends_and_no_further() {
    for bound in [1, 2, 3, 7, u64::MAX] {
        assert_eq!(below(bound, 0), 0);
        assert_eq!(below(bound, u64::MAX), bound - 1);
    }
    assert_eq!(below(0, u64::MAX), 0);
    assert_eq!(below(4, 1 << 63), 2);
}
