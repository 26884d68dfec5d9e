//! What a caller is told of its rate limits: how many requests are left, and when all of them are there again.
//!
//! Of several limits the nearest is told: the one with the fewest requests left, and of equals the one that takes longer to
//! fill. Worked case: a key with 9 of 10 left and a pool with 3 of 60 left that is full again in 57 s: the caller reads 60, 3, 57s.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use onwards_limits::Gauge;

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit-requests");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining-requests");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset-requests");

/// The nearest rate limit of a request, as it stands after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quota {
    /// Requests that pass at once when none has for a while.
    limit: u32,
    /// Requests that would pass now.
    remaining: u32,
    /// Time until `limit` would pass again.
    reset: Duration,
}

impl Quota {
    /// The nearest of several limits; `None` of none.
    pub(crate) fn nearest(gauges: impl IntoIterator<Item = Gauge>) -> Option<Self> {
        let nearest = gauges
            .into_iter()
            .min_by_key(|gauge| (gauge.remaining, std::cmp::Reverse(gauge.reset)))?;
        Some(Self {
            limit: nearest.limit,
            remaining: nearest.remaining,
            reset: nearest.reset,
        })
    }

    /// Writes the headers, in the place of those that are there.
    pub(crate) fn tell(self, headers: &mut HeaderMap) {
        headers.insert(LIMIT, HeaderValue::from(self.limit));
        headers.insert(REMAINING, HeaderValue::from(self.remaining));
        if let Ok(reset) = HeaderValue::try_from(span(self.reset)) {
            headers.insert(RESET, reset);
        }
    }
}

/// A span as clients of this API know it: `0s`, `120ms`, `1.5s`, `6m0s`, `1h0m0s`. Rounded up to a millisecond.
fn span(time: Duration) -> String {
    let up = u128::from(!time.subsec_nanos().is_multiple_of(1_000_000));
    let millis = time.as_millis() + up;
    if (1..1000).contains(&millis) {
        return format!("{millis}ms");
    }
    let (seconds, part) = (millis / 1000, millis % 1000);
    let (minutes, seconds) = (seconds / 60, seconds % 60);
    let (hours, minutes) = (minutes / 60, minutes % 60);
    let fraction = format!(".{part:03}");
    let fraction = fraction.trim_end_matches('0').trim_end_matches('.');
    match (hours, minutes) {
        (0, 0) => format!("{seconds}{fraction}s"),
        (0, _) => format!("{minutes}m{seconds}{fraction}s"),
        _ => format!("{hours}h{minutes}m{seconds}{fraction}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_read_as_clients_expect() {
        for (nanos, text) in [
            (0, "0s"),
            (1, "1ms"),
            (1_000_000, "1ms"),
            (119_000_001, "120ms"),
            (999_000_001, "1s"),
            (1_000_000_000, "1s"),
            (1_050_000_000, "1.05s"),
            (8_640_000_000, "8.64s"),
            (59_999_500_000, "1m0s"),
            (360_000_000_000, "6m0s"),
            (90_951_000_000, "1m30.951s"),
            (3_600_000_000_000, "1h0m0s"),
            (90_061_500_000_000, "25h1m1.5s"),
        ] {
            assert_eq!(span(Duration::from_nanos(nanos)), text, "{nanos} ns");
        }
        assert!(span(Duration::MAX).ends_with('s'));
    }

    #[test]
    fn the_nearest_limit_is_told() {
        let gauge = |limit, remaining, seconds| Gauge {
            limit,
            remaining,
            next: Duration::ZERO,
            reset: Duration::from_secs(seconds),
        };
        let nearest = |gauges: &[Gauge]| {
            Quota::nearest(gauges.iter().copied())
                .map(|quota| (quota.limit, quota.remaining, quota.reset.as_secs()))
        };
        assert_eq!(nearest(&[]), None);
        assert_eq!(nearest(&[gauge(10, 9, 1)]), Some((10, 9, 1)));
        let (key, pool) = (gauge(10, 9, 100), gauge(60, 3, 57));
        assert_eq!(nearest(&[key, pool]), Some((60, 3, 57)));
        assert_eq!(nearest(&[pool, key]), Some((60, 3, 57)));
        let (quick, slow) = (gauge(5, 0, 1), gauge(7, 0, 9));
        assert_eq!(nearest(&[quick, slow]), Some((7, 0, 9)));
        assert_eq!(nearest(&[slow, quick]), Some((7, 0, 9)));
    }

    #[test]
    fn what_was_there_is_replaced() {
        let mut headers = HeaderMap::new();
        headers.append(REMAINING, HeaderValue::from_static("1"));
        headers.append(REMAINING, HeaderValue::from_static("2"));
        let quota = Quota {
            limit: 60,
            remaining: 59,
            reset: Duration::from_secs(1),
        };
        quota.tell(&mut headers);
        let told: Vec<_> = [LIMIT, REMAINING, RESET]
            .iter()
            .map(|name| headers.get_all(name).iter().collect::<Vec<_>>())
            .collect();
        assert_eq!(told, [["60"], ["59"], ["1s"]]);
    }
}
