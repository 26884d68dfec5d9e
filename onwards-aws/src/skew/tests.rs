use super::*;

const NOON: Duration = Duration::from_millis(1_768_478_400_250);

#[track_caller]
fn check(date: &str, expect: Option<i64>) {
    assert_eq!(Skew::read(date, NOON).map(Skew::seconds), expect, "{date}");
}

#[test]
fn a_date_says_how_far_its_clock_is_ahead() {
    check("Thu, 15 Jan 2026 12:00:00 GMT", Some(0));
    check(" Thu, 15 Jan 2026 12:10:01 GMT ", Some(601));
    check("Thu, 15 Jan 2026 11:00:00 GMT", Some(-3600));
    check("Thu, 01 Jan 1970 00:00:00 GMT", Some(-1_768_478_400));
}

#[test]
fn what_is_no_date_says_nothing() {
    for date in [
        "",
        "now",
        "Thu, 15 Jan 2026 12:00:00",
        "Thu, 15 Jan 2026 25:00:00 GMT",
        "Wed, 31 Dec 1969 23:59:59 GMT",
        "20260115T120000Z",
        "Thu, 15 Jan 99999999999999999999 12:00:00 GMT",
        "\u{fffd}, 15 Jan 2026 12:00:00 GMT",
    ] {
        check(date, None);
    }
    assert_eq!(
        Skew::read("Thu, 15 Jan 2026 12:00:00 GMT", Duration::MAX),
        None
    );
}

#[test]
fn it_is_applied_to_any_time() {
    let seconds = |skew: i64, now: u64| Skew(skew).apply(Duration::from_secs(now)).as_secs();
    assert_eq!(seconds(0, 5), 5);
    assert_eq!(seconds(7, 5), 12);
    assert_eq!(seconds(-3, 5), 2);
    assert_eq!(seconds(-7, 5), 0);
    assert_eq!(seconds(i64::MIN, 5), 0);
    assert_eq!(Skew(i64::MAX).apply(Duration::MAX), Duration::MAX);
    assert_eq!(Skew::default().seconds(), 0);
}
