//! A provider that says when it may be asked again is not asked before that while somebody else is there.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use onwards_tests::{Gate, Gateway, Launch, Reply, Request, Upstream, eventually};
use serde_json::{Value, json};

use super::rig::{Pair, behind, error, pool, refusal, thorough, thorough_with};

fn limited(headers: &[(&str, &str)]) -> Reply {
    Reply::new(429, headers, error("slow_down").to_string())
}

async fn ask(gateway: &Gateway) -> u16 {
    gateway.send(Request::chat()).await.status
}

/// Eight requests after this answer of the first provider; how often each has been asked then.
async fn after(first: Reply) -> (usize, usize) {
    let pair = Pair::start(false, thorough()).await;
    pair.a.reply(first);
    for _ in 0..8 {
        assert_eq!(ask(&pair.gateway).await, 200);
    }
    pair.asked()
}

#[tokio::test]
async fn a_hint_in_any_spelling_is_honoured_while_another_provider_is_there() {
    for (name, value) in [
        ("retry-after", "1000"),
        ("retry-after", http_date(1000).as_str()),
        ("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT"),
        ("retry-after-ms", "1000000"),
        ("Retry-After", " 1000 "),
    ] {
        assert_eq!(
            after(limited(&[(name, value)])).await,
            (1, 8),
            "{name}: {value}"
        );
    }
    // In milliseconds it is more exact, so that one counts.
    let both = limited(&[("retry-after", "1000"), ("retry-after-ms", "0")]);
    assert_eq!(after(both).await, (8, 1));
}

#[tokio::test]
async fn no_hint_and_no_sense_are_no_pause() {
    for value in ["0", "-5", "soon", "Sun, 06 Nov 1994 08:49:37 GMT", ""] {
        assert_eq!(
            after(limited(&[("retry-after", value)])).await,
            (8, 1),
            "{value:?}"
        );
    }
    assert_eq!(after(limited(&[])).await, (8, 1));
}

#[tokio::test]
async fn a_failing_provider_may_ask_for_a_pause_too() {
    let hint = [("retry-after", "1000")];
    assert_eq!(after(Reply::new(503, &hint, "{}")).await, (1, 8));
    // What it says beside an answer is not about failing.
    assert_eq!(after(Reply::new(200, &hint, "{}")).await, (8, 0));
}

#[tokio::test]
async fn after_the_pause_it_is_asked_again() {
    let pair = Pair::start(false, thorough()).await;
    let begun = Instant::now();
    pair.a.reply(limited(&[("retry-after-ms", "400")]));
    eventually("the first provider to be asked again", || async {
        assert_eq!(ask(&pair.gateway).await, 200);
        pair.a.count() == 2
    })
    .await;
    assert!(
        begun.elapsed() >= Duration::from_millis(400),
        "{:?}",
        begun.elapsed()
    );
    pair.at_rest().await;
}

#[tokio::test]
async fn a_pause_survives_a_reload() {
    let pair = Pair::start(false, thorough()).await;
    pair.a.reply(limited(&[("retry-after", "1000")]));
    assert_eq!(ask(&pair.gateway).await, 200);
    let mut config = json!({"targets": {"m": pool(&[&pair.a, &pair.b], 1, thorough())}});
    config["targets"]["n"] = json!({"url": pair.b.url()});
    pair.gateway.replace_config(&config);
    pair.gateway
        .metric_becomes("onwards_config_generation", &[], 2.0)
        .await;
    assert_eq!(ask(&pair.gateway).await, 200);
    assert_eq!(pair.asked(), (1, 2));
}

#[tokio::test]
async fn a_pause_is_no_reason_to_prefer_a_full_provider() {
    let pair = Pair::start(false, thorough_with(&json!({"max_total_backoff_ms": 5000}))).await;
    pair.a.reply(limited(&[("retry-after-ms", "300")]));
    assert_eq!(ask(&pair.gateway).await, 200);
    // The second one is full: the first one's pause is waited for.
    let gate = Gate::new();
    pair.b.reply(behind(&gate, Reply::chat("from b")));
    let mut held = pair.gateway.begin(Request::chat()).await;
    gate.reached(1).await;
    let answer = pair.gateway.send(Request::chat()).await;
    assert!(answer.text().contains("from a"), "{}", answer.text());
    assert_eq!(pair.asked(), (2, 2));
    gate.open();
    assert_eq!(held.response().await.status, 200);
    pair.at_rest().await;
}

/// A lone provider that asks for a pause, with a budget for waits; what the client gets, how often the provider was
/// asked, how many waits were counted, and how long it took.
async fn alone(hint_ms: &str, budget: Value) -> (u16, usize, f64, Duration) {
    let up = Upstream::start().await;
    up.reply(limited(&[("retry-after-ms", hint_ms)]));
    let mut fallback = thorough_with(&json!({"max_attempts": 2}));
    if !budget.is_null() {
        fallback["max_total_backoff_ms"] = budget;
    }
    let targets = json!({"m": {"providers": [{"url": up.url()}], "fallback": fallback}});
    let gateway = Launch::targets(&targets).start().await;
    let begun = Instant::now();
    let status = ask(&gateway).await;
    let took = begun.elapsed();
    let waits = gateway.metrics().await.count("onwards_retries_total", &[]);
    (status, up.count(), waits, took)
}

#[tokio::test]
async fn with_nobody_else_it_is_waited_for_if_that_fits_the_budget() {
    let (status, asked, waits, took) = alone("300", json!(2000)).await;
    assert_eq!((status, asked, waits), (200, 2, 1.0));
    assert!(took >= Duration::from_millis(300), "{took:?}");
    for budget in [json!(1000), json!(null)] {
        let (status, asked, waits, _) = alone("60000", budget.clone()).await;
        assert_eq!((status, asked, waits), (429, 1, 0.0), "{budget}");
    }
}

#[tokio::test]
async fn a_request_that_finds_everybody_paused_is_told_when_to_come_back() {
    let pair = Pair::start(false, thorough()).await;
    pair.a.reply(limited(&[("retry-after", "700")]));
    pair.b.reply(limited(&[("retry-after", "300")]));
    for _ in 0..2 {
        let answer = pair.gateway.send(Request::chat()).await;
        assert_eq!(refusal(&answer), (429, json!("rate_limit_exceeded")));
        assert_eq!(answer.json()["error"]["type"], "rate_limit_error");
        let seconds: u64 = answer.head.header("retry-after").unwrap().parse().unwrap();
        assert!((280..=300).contains(&seconds), "{seconds}");
    }
    // The second request was answered without asking anybody.
    assert_eq!(pair.asked(), (1, 1));
    pair.gateway
        .metric_becomes("onwards_requests_inflight", &[], 0.0)
        .await;
}

#[tokio::test]
async fn the_smallest_hint_of_all_is_told_whatever_its_spelling() {
    let date = http_date(500);
    let cases = [
        ([("retry-after", "3")], [("retry-after", "700")], 1..=3),
        (
            [("retry-after", "700")],
            [("retry-after-ms", "1200")],
            1..=2,
        ),
        (
            [("retry-after", date.as_str())],
            [("retry-after", "700")],
            480..=500,
        ),
    ];
    for (first, second, told) in cases {
        let pair = Pair::start(true, thorough()).await;
        pair.a.reply(limited(&first));
        pair.b.reply(limited(&second));
        let answer = pair.gateway.send(Request::chat()).await;
        assert_eq!(refusal(&answer), (429, json!("rate_limit_exceeded")));
        let seconds: u64 = answer.head.header("retry-after").unwrap().parse().unwrap();
        assert!(told.contains(&seconds), "{seconds} of {told:?}");
    }
}

#[tokio::test]
async fn without_a_hint_none_is_told() {
    let pair = Pair::start(false, thorough()).await;
    pair.a.reply(limited(&[]));
    pair.b.reply(limited(&[]));
    let answer = pair.gateway.send(Request::chat()).await;
    assert_eq!(
        (answer.status, answer.head.header("retry-after")),
        (429, None)
    );
    pair.at_rest().await;
}

#[tokio::test]
async fn a_paused_provider_and_one_that_is_down_are_a_429_with_the_hint() {
    let pair = Pair::start(false, thorough()).await;
    pair.a.reply(limited(&[("retry-after", "300")]));
    assert_eq!(ask(&pair.gateway).await, 200);
    pair.b.always(Reply::json(503, &json!({})));
    let answer = pair.gateway.send(Request::chat()).await;
    assert_eq!(refusal(&answer), (429, json!("rate_limit_exceeded")));
    let seconds: u64 = answer.head.header("retry-after").unwrap().parse().unwrap();
    assert!((280..=300).contains(&seconds), "{seconds}");
    assert_eq!(pair.asked(), (1, 2));
}

#[tokio::test]
async fn without_failover_the_providers_own_hint_passes() {
    let pair = Pair::start(false, json!({})).await;
    for number in 1..=3 {
        pair.a.reply(limited(&[("retry-after", "17")]));
        let answer = pair.gateway.send(Request::chat()).await;
        assert_eq!(
            (answer.status, answer.head.header("retry-after")),
            (429, Some("17"))
        );
        assert_eq!(answer.json(), error("slow_down"));
        assert_eq!(pair.asked(), (number, 0));
    }
}

#[tokio::test]
async fn backoff_is_waited_between_attempts_and_no_longer_than_its_budget() {
    let waits =
        json!({"backoff": {"initial_ms": 40, "factor": 2, "jitter": "none"}, "max_attempts": 6});
    for (budget, asked, retries, exhausted, least) in [
        (json!(10_000), (3, 3), 5.0, 0.0, 40 + 80 + 160 + 320 + 640),
        (json!(300), (2, 2), 3.0, 1.0, 40 + 80 + 160),
    ] {
        let mut fallback = thorough_with(&waits);
        fallback["max_total_backoff_ms"] = budget;
        let pair = Pair::start(false, fallback).await;
        for up in [&pair.a, &pair.b] {
            up.always(Reply::json(500, &json!({})));
        }
        let begun = Instant::now();
        assert_eq!(ask(&pair.gateway).await, 502);
        assert!(
            begun.elapsed() >= Duration::from_millis(least),
            "{:?}",
            begun.elapsed()
        );
        assert_eq!(pair.asked(), asked);
        let page = pair.gateway.metrics().await;
        assert_eq!(page.count("onwards_retries_total", &[]), retries);
        assert_eq!(
            page.count("onwards_retry_budget_exhausted_total", &[]),
            exhausted
        );
        pair.at_rest().await;
    }
}

/// The time so many seconds from now as an HTTP date.
fn http_date(seconds: u64) -> String {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let at = now + seconds;
    let (days, time) = (at / 86400, at % 86400);
    // Civil date of a day number, counted in eras of 400 years that begin on 1 March.
    let day = days + 719_468;
    let (era, day) = (day / 146_097, day % 146_097);
    let year = (day - day / 1460 + day / 36524 - day / 146_096) / 365;
    let in_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * in_year + 2) / 153;
    let date = in_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    let name = |names: &str, number: u64| {
        names
            .split(' ')
            .nth(usize::try_from(number).unwrap())
            .unwrap()
            .to_owned()
    };
    format!(
        "{}, {date:02} {} {year} {:02}:{:02}:{:02} GMT",
        name("Thu Fri Sat Sun Mon Tue Wed", days % 7),
        name("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec", month - 1),
        time / 3600,
        time / 60 % 60,
        time % 60,
    )
}
