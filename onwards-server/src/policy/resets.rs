//! Limits of a provider's that tell when they are whole again (`x-ratelimit-reset-*`, spec providers 3.0.8).
//!
//! These headers stand beside every answer, not only where a limit is reached, so not each of them is a hint:
//!
//! - Of the limits with nothing left (`x-ratelimit-remaining-*` is 0) the last one to return counts: before that the next request
//!   fails as this one did.
//! - Without such a one, the last to return of those that do not say what is left.
//! - Where each has something left, a 429 says that it was too little for this request, and the last one to return counts. An
//!   overload (503, 529) has nothing to do with them then.

use std::time::Duration;

use http::HeaderMap;

const RESET: &str = "x-ratelimit-reset";
const REMAINING: &str = "x-ratelimit-remaining";

/// A larger number is no duration but a point in time.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// How long until what was reached is whole again, for statuses that a client is told to come back after.
pub(super) fn asked(status: u16, headers: &HeaderMap) -> Option<Duration> {
    if !matches!(status, 429 | 503 | 529) {
        return None;
    }
    let mut longest: [Option<Duration>; 3] = [None; 3];
    for (name, value) in headers {
        let Some(limit) = name.as_str().strip_prefix(RESET) else {
            continue;
        };
        let Some(wait) = value.to_str().ok().and_then(duration) else {
            continue;
        };
        let remaining = headers.get([REMAINING, limit].concat());
        let remaining = remaining.and_then(|left| left.to_str().ok()?.trim().parse::<f64>().ok());
        let [reached, unsaid, not_reached] = &mut longest;
        let among = match remaining {
            Some(left) if left > 0.0 => not_reached,
            Some(_) => reached,
            None => unsaid,
        };
        *among = (*among).max(Some(wait));
    }
    let [reached, unsaid, not_reached] = longest;
    reached.or(unsaid).or(not_reached.filter(|_| status == 429))
}

/// `1s`, `6m0s`, `120ms`, `1h2m3.5s`, or a number of seconds.
fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let seconds = match text.parse::<f64>() {
        Ok(seconds) => seconds,
        Err(_) => with_units(text)?,
    };
    let wait = Duration::try_from_secs_f64(seconds).ok()?;
    (wait <= LONGEST).then_some(wait)
}

fn with_units(mut text: &str) -> Option<f64> {
    let mut seconds = (!text.is_empty()).then_some(0.0)?;
    while !text.is_empty() {
        let (number, rest) = text.split_at_checked(
            text.find(|c: char| !c.is_ascii_digit() && c != '.')
                .unwrap_or(text.len()),
        )?;
        let (unit, rest) = rest.split_at_checked(
            rest.find(|c: char| !c.is_ascii_alphabetic())
                .unwrap_or(rest.len()),
        )?;
        let unit = match unit {
            "d" => 86_400.0,
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            "us" => 1e-6,
            "ns" => 1e-9,
            _ => return None,
        };
        seconds += number.parse::<f64>().ok()? * unit;
        text = rest;
    }
    Some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(given: &[(&'static str, &str)]) -> HeaderMap {
        let given = given.iter();
        given
            .map(|(name, value)| (http::HeaderName::from_static(name), value.parse().unwrap()))
            .collect()
    }

    #[test]
    fn durations_in_every_spelling() {
        for (text, millis) in [
            ("1s", Some(1000)),
            ("6m0s", Some(360_000)),
            ("120ms", Some(120)),
            ("1h2m3.5s", Some(3_723_500)),
            ("1d", Some(86_400_000)),
            (" 7 ", Some(7000)),
            ("0.25", Some(250)),
            ("0s", Some(0)),
            ("2d", None),
            ("1700000000", None),
            ("1700000000000", None),
            ("-1", None),
            ("-1s", None),
            ("NaN", None),
            ("inf", None),
            ("", None),
            ("s", None),
            ("1", Some(1000)),
            ("1s2", None),
            ("1.2.3s", None),
            ("1x", None),
            ("1 s", None),
            ("2026-01-15T12:00:00Z", None),
            ("999999999999999999999999999999h", None),
        ] {
            assert_eq!(duration(text), millis.map(Duration::from_millis), "{text}");
        }
    }

    #[test]
    fn the_limit_that_was_reached_counts() {
        let (requests, tokens) = ("x-ratelimit-reset-requests", "x-ratelimit-reset-tokens");
        let (left, left_tokens) = (
            "x-ratelimit-remaining-requests",
            "x-ratelimit-remaining-tokens",
        );
        let both = [(requests, "90s"), (tokens, "2s")];
        let with = |more: &[(&'static str, &str)]| headers(&[&both[..], more].concat());
        for (status, given, seconds) in [
            (429, with(&[]), Some(90)),
            (503, with(&[]), Some(90)),
            (529, with(&[]), Some(90)),
            (500, with(&[]), None),
            (200, with(&[]), None),
            (429, with(&[(left, "5"), (left_tokens, "0")]), Some(2)),
            (429, with(&[(left, "0"), (left_tokens, "0")]), Some(90)),
            (429, with(&[(left, "5")]), Some(2)),
            (429, with(&[(left, "5"), (left_tokens, "7")]), Some(90)),
            (503, with(&[(left, "5"), (left_tokens, "7")]), None),
            (503, with(&[(left, "5"), (left_tokens, "0")]), Some(2)),
            (429, headers(&[("x-ratelimit-reset", "3")]), Some(3)),
            (429, headers(&[(requests, "soon"), (tokens, "4s")]), Some(4)),
            (429, headers(&[(requests, "1700000000")]), None),
        ] {
            let wait = seconds.map(Duration::from_secs);
            assert_eq!(asked(status, &given), wait, "{status} {given:?}");
        }
    }
}
