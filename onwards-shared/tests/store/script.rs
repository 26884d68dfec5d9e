//! The bucket script against the bucket of one process, at times made up here.

use std::time::Duration;

use onwards_limits::{Bucket, Rate, take_all};
use redis::Script;

use crate::server::Server;

/// The script with the time as its last argument, in microseconds.
fn timed() -> Script {
    let text = concat!(
        include_str!("../../src/scripts/rates.lua"),
        include_str!("../../src/scripts/take.lua")
    );
    let own = "local time = redis.call('TIME')";
    let made_up = "local time = { 0, tonumber(ARGV[#ARGV]) }";
    assert!(text.contains(own));
    Script::new(&text.replace(own, made_up))
}

/// Numbers without pattern, the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

#[tokio::test]
async fn decides_as_the_bucket_of_one_process() {
    let Some(server) = Server::start().await else {
        return;
    };
    let mut connection = server.connection().await;
    let script = timed();
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    let rates = [
        (5.0, 10),
        (0.1, 3),
        (0.2, 2),
        (1000.0, 7),
        (0.001, 1),
        (2.5, u32::MAX),
        (1e6, 4),
        (1e9, 1),
    ];
    // In binary 0.1, 0.2 and 0.001 are a little more than they say, so at whole steps the exact bucket has its token.
    let (mut taken, mut refused) = (0, 0);
    for (at, pair) in rates.windows(2).enumerate() {
        let rates: Vec<Rate> = pair
            .iter()
            .map(|&(per_second, burst)| Rate::new(per_second, burst).unwrap())
            .collect();
        let mut now: u64 = 1_700_000_000_000_000;
        let buckets: Vec<Bucket> = rates
            .iter()
            .map(|&rate| Bucket::new(rate, Duration::from_micros(now)))
            .collect();
        let scale = (2e6 / pair[0].0) as u64 + 2;
        for step in 0..400 {
            // Sometimes several at once, sometimes exactly after the wait, sometimes at whole steps.
            now += match numbers.below(3) {
                0 => 0,
                1 if step < 200 => numbers.below(scale),
                _ => numbers.below(20) * (scale / 20),
            };
            let time = Duration::from_micros(now);
            let expect = take_all(&buckets, time);
            let mut call = script.prepare_invoke();
            for (name, rate) in rates.iter().enumerate() {
                call.key(format!("{at}:{name}"));
                call.arg(format!("{:?}", rate.per_second()))
                    .arg(rate.burst());
            }
            let found: Vec<u64> = call
                .arg(now)
                .invoke_async(&mut connection)
                .await
                .expect("an answer");
            let place = format!("{pair:?}, step {step}");
            let index = expect.map_or_else(|refused| refused.index as u64 + 1, |()| 0);
            assert_eq!(found[0], index, "{place}: {expect:?}, {found:?}");
            for (bucket, found) in buckets.iter().zip(found[1..].chunks(3)) {
                let gauge = bucket.gauge(time);
                assert_eq!(found[0], u64::from(gauge.remaining), "{place}");
                assert_near(found[1], gauge.next, &place);
                assert_near(found[2], gauge.reset, &place);
            }
            match expect {
                Ok(()) => taken += 1,
                Err(wait) => {
                    refused += 1;
                    if numbers.below(4) == 0 {
                        now += wait.wait.as_nanos().div_ceil(1000) as u64;
                    }
                }
            }
        }
    }
    assert!(
        taken > 300 && refused > 300,
        "{taken} taken, {refused} refused"
    );
}

/// The same wait, rounded up to a microsecond; a float may be off by one more, or by a trillionth.
#[track_caller]
fn assert_near(found: u64, expect: Duration, place: &str) {
    let expect = expect.as_nanos().div_ceil(1000) as u64;
    let off = found.abs_diff(expect);
    assert!(
        off <= 1 + expect / 1_000_000_000_000,
        "{place}: {found} for {expect}"
    );
}
