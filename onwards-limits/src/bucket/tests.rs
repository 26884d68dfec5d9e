use std::sync::Arc;
use std::thread;

use proptest::prelude::*;

use super::*;

const NS: Duration = Duration::from_nanos(1);

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn rate(per_second: f64, burst: u32) -> Rate {
    Rate::new(per_second, burst).unwrap()
}

/// Takes at each time (ms) from a full bucket and notes `ok` or the wait.
#[track_caller]
fn check(rate: Rate, times: &[u64], expect: &[Result<(), Duration>]) {
    let bucket = Bucket::new(rate, Duration::ZERO);
    let found: Vec<_> = times
        .iter()
        .map(|&t| bucket.take(ms(t)).map_err(Wait::wait))
        .collect();
    assert_eq!(found, expect);
}

#[test]
fn the_worked_number_of_the_module_comment() {
    let bucket = Bucket::new(rate(5.0, 10), Duration::ZERO);
    for _ in 0..10 {
        assert_eq!(bucket.take(ms(0)), Ok(()));
    }
    assert_eq!(bucket.take(ms(0)), Err(Wait(ms(200))));
    for n in 1..50 {
        assert_eq!(
            bucket.take(ms(200 * n)),
            Ok(()),
            "one every 200 ms is never refused"
        );
    }
    assert_eq!(bucket.gauge(ms(200 * 49 + 1000)).remaining, 5);
    assert_eq!(bucket.gauge(ms(200 * 49 + 2000)).remaining, 10);
    assert_eq!(bucket.gauge(ms(200 * 49 + 9000)).remaining, 10);
}

#[test]
fn takes_and_waits() {
    check(
        rate(1.0, 1),
        &[0, 0, 999, 1000, 1000],
        &[Ok(()), Err(ms(1000)), Err(ms(1)), Ok(()), Err(ms(1000))],
    );
    check(
        rate(0.001, 1),
        &[0, 0, 400_000, 1_000_000],
        &[
            Ok(()),
            // 0.001 as a float is a little above one thousandth.
            Err(Duration::from_nanos(1_000_000_000_000)),
            Err(Duration::from_nanos(600_000_000_000)),
            Ok(()),
        ],
    );
    check(
        rate(1e6, 1),
        &[0, 0, 1, 1],
        &[
            Ok(()),
            Err(Duration::from_nanos(1000)),
            Ok(()),
            Err(Duration::from_nanos(1000)),
        ],
    );
    check(
        rate(3.0, 1),
        &[0, 0],
        &[Ok(()), Err(Duration::from_nanos(333_333_334))],
    );
}

#[test]
fn an_older_now_counts_as_the_newest_and_mints_nothing() {
    check(
        rate(1.0, 1),
        &[5000, 0, 5999, 0, 6000, 1000, 5000, 6000, 7000],
        &[
            Ok(()),
            Err(ms(1000)),
            Err(ms(1)),
            Err(ms(1)),
            Ok(()),
            Err(ms(1000)),
            Err(ms(1000)),
            Err(ms(1000)),
            Ok(()),
        ],
    );
}

#[test]
fn extremes_neither_overflow_nor_stall() {
    for per_second in [f64::MIN_POSITIVE, 1e-9, 0.001, 1e6, 1e18, f64::MAX] {
        for burst in [1, u32::MAX] {
            let bucket = Bucket::new(rate(per_second, burst), Duration::ZERO);
            assert_eq!(bucket.take(Duration::ZERO), Ok(()));
            assert_eq!(bucket.gauge(Duration::ZERO).remaining, burst - 1);
            let reset = bucket.gauge(Duration::ZERO).reset;
            assert!(reset > Duration::ZERO);
            assert!(bucket.level(Duration::ZERO).is_finite());
            bucket.give_back();
            bucket.give_back();
            assert_eq!(bucket.level(Duration::ZERO), f64::from(burst));
            assert_eq!(bucket.take(Duration::MAX), Ok(()));
            bucket.set_rate(rate(f64::MAX, u32::MAX), Duration::MAX);
            bucket.set_rate(rate(1e-300, 1), Duration::MAX);
            assert!(bucket.level(Duration::MAX) <= 1.0);
            bucket.set_rate(rate(7.3, u32::MAX), Duration::ZERO);
            assert!(bucket.level(Duration::ZERO) <= f64::from(u32::MAX));
        }
    }
    let slow = Bucket::new(rate(f64::MIN_POSITIVE, u32::MAX), Duration::ZERO);
    slow.set_rate(rate(f64::MIN_POSITIVE, 1), Duration::ZERO);
    slow.take(Duration::ZERO).unwrap();
    slow.set_rate(rate(f64::MIN_POSITIVE, u32::MAX), Duration::ZERO);
    assert_eq!(slow.gauge(Duration::ZERO).remaining, u32::MAX - 1);
    assert!(slow.gauge(Duration::ZERO).reset >= Duration::from_secs(1 << 62));
}

#[test]
fn polling_an_empty_slow_bucket_loses_no_time() {
    let bucket = Bucket::new(rate(0.1, 1), Duration::ZERO);
    bucket.take(Duration::ZERO).unwrap();
    let step = Duration::from_nanos(99_991);
    let mut now = Duration::ZERO;
    while now + step < ms(10_000) {
        now += step;
        assert!(bucket.take(now).is_err());
    }
    assert_eq!(bucket.take(ms(10_000)), Ok(()));
}

#[test]
fn reload_keeps_what_was_spent_and_cuts() {
    let bucket = Bucket::new(rate(2.0, 10), Duration::ZERO);
    for _ in 0..5 {
        bucket.take(Duration::ZERO).unwrap();
    }
    bucket.set_rate(rate(2.0, 10), ms(250));
    assert_eq!(bucket.level(ms(250)), 5.5);
    bucket.set_rate(rate(0.75, 20), ms(250));
    assert_eq!(bucket.level(ms(250)), 15.5);
    assert_eq!(bucket.level(ms(1250)), 16.25);
    bucket.set_rate(rate(3.0, 20), ms(1250));
    assert_eq!(bucket.level(ms(1250)), 16.25);
    bucket.set_rate(rate(1000.0, 3), ms(1250));
    assert_eq!(bucket.level(ms(1250)), 3.0);
    assert_eq!(bucket.rate(), rate(1000.0, 3));
    assert_eq!(bucket.take(ms(1250)), Ok(()));
    bucket.set_rate(rate(1.0, 9), ms(1250));
    assert_eq!(bucket.level(ms(1250)), 8.0);
    assert_eq!(bucket.level(ms(9000)), 9.0);
}

#[test]
fn the_gauge_shows_whole_requests_and_times() {
    let bucket = Bucket::new(rate(4.0, 2), Duration::ZERO);
    let gauge = |remaining, next, reset| Gauge {
        limit: 2,
        remaining,
        next: ms(next),
        reset: ms(reset),
    };
    assert_eq!(bucket.gauge(ms(0)), gauge(2, 0, 0));
    bucket.take(ms(0)).unwrap();
    assert_eq!(bucket.gauge(ms(0)), gauge(1, 0, 250));
    bucket.take(ms(0)).unwrap();
    assert_eq!(bucket.gauge(ms(0)), gauge(0, 250, 500));
    assert_eq!(bucket.gauge(ms(100)), gauge(0, 150, 400));
    assert_eq!(bucket.gauge(ms(300)), gauge(1, 0, 200));
    assert_eq!(bucket.gauge(ms(900)), gauge(2, 0, 0));
}

#[test]
fn all_or_none() {
    let now = Duration::ZERO;
    let key = Bucket::new(rate(1.0, 3), now);
    let pool = Bucket::new(rate(2.0, 2), now);
    let both = [&key, &pool];
    assert_eq!(take_all(both, now), Ok(()));
    assert_eq!(take_all(both, now), Ok(()));
    let refused = Refused {
        index: 1,
        wait: ms(500),
    };
    for _ in 0..3 {
        assert_eq!(take_all(both, now), Err(refused), "the key pays nothing");
    }
    assert_eq!((key.level(now), pool.level(now)), (1.0, 0.0));
    key.take(now).unwrap();
    assert_eq!(
        take_all(both, now),
        Err(Refused {
            index: 0,
            wait: ms(1000)
        }),
        "the longest wait"
    );
    assert_eq!(take_all([], now), Ok(()));
    give_back_all(both);
    assert_eq!((key.level(now), pool.level(now)), (1.0, 1.0));
    assert_eq!(
        take_all([&key, &key], now),
        Err(Refused {
            index: 1,
            wait: ms(1000)
        }),
        "twice pays twice"
    );
    assert_eq!(key.level(now), 1.0);
    assert_eq!(take_all(Some(&key).into_iter().chain(None), now), Ok(()));
}

#[test]
fn errors_name_the_wait() {
    assert_eq!(
        Wait(ms(1500)).to_string(),
        "rate limit reached, next request possible in 1.5s"
    );
    assert_eq!(
        Refused {
            index: 1,
            wait: ms(20)
        }
        .to_string(),
        "rate limit 1 reached, next request possible in 20ms"
    );
}

#[test]
fn threads_admit_the_burst_and_no_more() {
    let bucket = Arc::new(Bucket::new(rate(0.001, 1000), Duration::ZERO));
    let other = Arc::new(Bucket::new(rate(0.001, 700), Duration::ZERO));
    let admitted: u32 = thread::scope(|scope| {
        let workers: Vec<_> = (0..8)
            .map(|n| {
                let (bucket, other) = (&bucket, &other);
                scope.spawn(move || {
                    let mut admitted = 0;
                    for round in 0..500 {
                        let now = Duration::from_nanos(round * (n + 1));
                        admitted += u32::from(take_all([&**bucket, &**other], now).is_ok());
                    }
                    admitted
                })
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .sum()
    });
    assert_eq!(admitted, 700);
    assert_eq!(bucket.gauge(Duration::ZERO).remaining, 300);
    assert_eq!(other.gauge(Duration::ZERO).remaining, 0);
}

/// The textbook bucket in floats.
struct Naive {
    per_second: f64,
    burst: f64,
    level: f64,
    at: f64,
}

impl Naive {
    fn level(&mut self, now: Duration) -> f64 {
        let now = now.as_secs_f64();
        self.level = (self.level + self.per_second * (now - self.at).max(0.0)).min(self.burst);
        self.at = self.at.max(now);
        self.level
    }

    fn take(&mut self, now: Duration) -> bool {
        self.level(now);
        let ok = self.level >= 1.0;
        self.level -= f64::from(u8::from(ok));
        ok
    }

    fn give_back(&mut self) {
        self.level = (self.level + 1.0).min(self.burst);
    }
}

fn rates() -> impl Strategy<Value = Rate> {
    let per_second = prop_oneof![
        Just(0.001),
        Just(5.0),
        Just(1.0 / 3.0),
        Just(1e6),
        0.001..2000.0
    ];
    let burst = prop_oneof![1_u32..20, Just(u32::MAX)];
    (per_second, burst).prop_map(|(per_second, burst)| rate(per_second, burst))
}

#[derive(Debug, Clone)]
enum Step {
    Take,
    GiveBack,
}

/// Steps with the time before each, scaled to the rate so that the bucket is often near empty.
fn schedule() -> impl Strategy<Value = Vec<(Step, f64)>> {
    let step = prop_oneof![9 => Just(Step::Take), 1 => Just(Step::GiveBack)];
    prop::collection::vec((step, prop_oneof![Just(0.0), 0.0..3.0]), 1..200)
}

proptest! {
    #[test]
    fn agrees_with_the_naive_bucket_within_one_token(rate in rates(), steps in schedule()) {
        let bucket = Bucket::new(rate, Duration::ZERO);
        let burst = f64::from(rate.burst());
        let mut naive = Naive { per_second: rate.per_second(), burst, level: burst, at: 0.0 };
        let (mut ours, mut theirs) = (0_i32, 0_i32);
        let mut now = Duration::ZERO;
        for (step, tokens) in steps {
            now += Duration::from_secs_f64(tokens / rate.per_second());
            match step {
                Step::Take => {
                    ours += i32::from(bucket.take(now).is_ok());
                    theirs += i32::from(naive.take(now));
                }
                Step::GiveBack => {
                    bucket.give_back();
                    naive.give_back();
                }
            }
            prop_assert!((ours - theirs).abs() <= 1);
            prop_assert!((bucket.level(now) - naive.level(now)).abs() <= 1.001);
        }
    }

    #[test]
    fn no_stretch_of_time_admits_more_than_burst_plus_rate(
        per_second in 1_u64..50, burst in 1_u32..10, gaps in prop::collection::vec(0_u64..400, 1..120),
    ) {
        let bucket = Bucket::new(rate(per_second as f64, burst), Duration::ZERO);
        let mut now = 0;
        let mut admitted = Vec::new();
        for gap in gaps {
            now += gap;
            if bucket.take(ms(now)).is_ok() {
                admitted.push(now);
            }
        }
        for (first, &from) in admitted.iter().enumerate() {
            for (last, &to) in admitted.iter().enumerate().skip(first) {
                let requests = (last - first + 1) as u64;
                // In thousandths of a token, without rounding.
                prop_assert!(requests * 1000 <= u64::from(burst) * 1000 + per_second * (to - from));
            }
        }
    }

    #[test]
    fn a_wait_is_exact(rate in rates(), gaps in prop::collection::vec(0.0..1.5, 1..60)) {
        let rate = super::Rate::new(rate.per_second(), rate.burst().min(20)).unwrap();
        let bucket = Bucket::new(rate, Duration::ZERO);
        let mut now = Duration::ZERO;
        for tokens in gaps {
            now += Duration::from_secs_f64(tokens / rate.per_second());
            prop_assert_eq!(bucket.wait(now).is_zero(), bucket.gauge(now).remaining > 0);
            if let Err(refused) = bucket.take(now) {
                now += refused.wait();
                prop_assert_eq!(bucket.take(now - NS), Err(Wait(NS)));
                prop_assert_eq!(bucket.take(now), Ok(()));
            }
        }
    }

    #[test]
    fn a_refund_leaves_no_trace(rate in rates(), steps in schedule(), undone in prop::collection::vec(any::<bool>(), 200)) {
        let plain = Bucket::new(rate, Duration::ZERO);
        let mended = Bucket::new(rate, Duration::ZERO);
        let mut now = Duration::ZERO;
        for ((_, tokens), undo) in steps.into_iter().zip(undone) {
            now += Duration::from_secs_f64(tokens / rate.per_second());
            if undo && mended.take(now).is_ok() {
                mended.give_back();
            }
            prop_assert_eq!(mended.take(now), plain.take(now));
            prop_assert_eq!(mended.gauge(now), plain.gauge(now));
        }
    }

    #[test]
    fn a_refused_call_over_several_costs_nothing(
        bursts in prop::collection::vec(1_u32..6, 1..5), calls in prop::collection::vec((0_u64..300, any::<u8>()), 1..60),
    ) {
        let buckets: Vec<_> = bursts.iter().enumerate()
            .map(|(n, &burst)| Bucket::new(rate(1.0 + n as f64, burst), Duration::ZERO))
            .collect();
        let mut now = Duration::ZERO;
        for (gap, mask) in calls {
            now += ms(gap);
            let chosen: Vec<_> = buckets.iter().enumerate()
                .filter(|(n, _)| mask & (1 << n) != 0).map(|(_, bucket)| bucket).collect();
            let before: Vec<_> = buckets.iter().map(|bucket| bucket.gauge(now)).collect();
            let longest = chosen.iter().map(|bucket| bucket.wait(now)).max().unwrap_or_default();
            let outcome = take_all(chosen.iter().copied(), now);
            prop_assert_eq!(outcome.map_or_else(|refused| refused.wait, |()| Duration::ZERO), longest);
            let took = u32::from(outcome.is_ok());
            for (n, (bucket, before)) in buckets.iter().zip(before).enumerate() {
                let paid = took * u32::from(mask & (1 << n) != 0);
                prop_assert_eq!(bucket.gauge(now).remaining, before.remaining - paid);
            }
        }
    }
}
