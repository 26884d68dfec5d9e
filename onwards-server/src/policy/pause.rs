//! Pauses that providers ask for: until then others are asked first.
//!
//! A pause outlives a reload and is bounded: whatever a provider says, it is asked again after an hour.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::{HeaderMap, header};

use super::resets;

/// The longest pause that is honoured.
const LONGEST: Duration = Duration::from_secs(3600);

/// When a provider may be asked again, in milliseconds since the gateway was made; 0 for one that asked for nothing.
#[derive(Debug, Default)]
pub(crate) struct Pause(AtomicU64);

impl Pause {
    /// The provider asks not to be called for so long. Shorter asks do not shorten longer ones.
    pub(crate) fn ask(&self, wait: Duration, now: Duration) {
        let until = now.saturating_add(wait.min(LONGEST));
        self.0.fetch_max(
            u64::try_from(until.as_millis()).unwrap_or(u64::MAX),
            Ordering::Relaxed,
        );
    }

    /// The time before which the provider asked not to be called, if that is still to come.
    pub(crate) fn until(&self, now: Duration) -> Option<Duration> {
        let until = Duration::from_millis(self.0.load(Ordering::Relaxed));
        (until > now).then_some(until)
    }
}

/// How long an answer asks to be left alone: `retry-after-ms`, else `retry-after` in seconds or as a date (RFC 9110, 10.2.3), else
/// until the limits that it tells of are whole again (spec providers 3.0.8).
pub(crate) fn asked(status: u16, headers: &HeaderMap, wall: SystemTime) -> Option<Duration> {
    said(headers, wall).or_else(|| resets::asked(status, headers))
}

fn said(headers: &HeaderMap, wall: SystemTime) -> Option<Duration> {
    let text = |name: &str| {
        headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .map(str::trim)
    };
    let millis = text("retry-after-ms")
        .and_then(|text| text.parse::<f64>().ok())
        .map(|millis| millis / 1000.0);
    let after = text(header::RETRY_AFTER.as_str());
    if let Some(seconds) = millis.or_else(|| after?.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = httpdate::parse_http_date(after?).ok()?;
    let now = wall.duration_since(UNIX_EPOCH).ok()?;
    Some(date.duration_since(UNIX_EPOCH).ok()?.saturating_sub(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_hint_is_read() {
        let wall = UNIX_EPOCH + Duration::from_secs(784_111_777); // Sun, 06 Nov 1994 08:49:37 GMT
        for (name, value, wait) in [
            ("retry-after", "7", Some(Duration::from_secs(7))),
            ("retry-after", "0.5", Some(Duration::from_millis(500))),
            (
                "retry-after",
                "Sun, 06 Nov 1994 08:50:00 GMT",
                Some(Duration::from_secs(23)),
            ),
            (
                "retry-after",
                "Sun, 06 Nov 1994 08:00:00 GMT",
                Some(Duration::ZERO),
            ),
            ("retry-after", "soon", None),
            ("retry-after", "-1", None),
            ("retry-after", "NaN", None),
            ("retry-after", "1e300", None),
            ("retry-after-ms", "1500", Some(Duration::from_millis(1500))),
            ("x-other", "7", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            assert_eq!(asked(429, &headers, wall), wait, "{name}: {value}");
        }
    }

    #[test]
    fn a_limit_that_tells_when_it_is_whole_counts_where_nothing_is_asked() {
        let mut headers = HeaderMap::new();
        headers.insert("x-ratelimit-reset-tokens", "6m0s".parse().unwrap());
        let wait = |status, headers: &_| asked(status, headers, UNIX_EPOCH);
        assert_eq!(wait(429, &headers), Some(Duration::from_secs(360)));
        assert_eq!(wait(500, &headers), None);
        headers.insert("retry-after", "7".parse().unwrap());
        assert_eq!(wait(429, &headers), Some(Duration::from_secs(7)));
    }

    #[test]
    fn a_pause_ends_and_is_bounded() {
        let pause = Pause::default();
        let at = Duration::from_secs;
        assert_eq!(pause.until(at(0)), None);
        pause.ask(at(10), at(5));
        pause.ask(at(1), at(5));
        assert_eq!(pause.until(at(14)), Some(at(15)));
        assert_eq!(pause.until(at(15)), None);
        pause.ask(Duration::MAX, at(20));
        assert_eq!(pause.until(at(20)), Some(at(3620)));
    }
}
