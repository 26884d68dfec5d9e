//! A provider that closes its idle connections whenever it likes: the request that meets the end of one goes out on a
//! fresh connection, once, and counts as no failure.

use std::collections::BTreeMap;

use onwards_tests::{Gate, Reply, Request, Step};
use serde_json::json;

use super::rig::{Pair, attempts, behind, thorough};

fn numbered(number: usize) -> Request {
    Request::chat_with(&json!({"number": number}))
}

/// How often each numbered body has been answered for.
fn seen(pair: &Pair) -> BTreeMap<u64, usize> {
    let mut seen = BTreeMap::new();
    for request in pair.a.requests() {
        if let Some(number) = request.json()["number"].as_u64() {
            *seen.entry(number).or_insert(0) += 1;
        }
    }
    seen
}

fn once(numbers: std::ops::Range<u64>) -> BTreeMap<u64, usize> {
    numbers.map(|number| (number, 1)).collect()
}

/// Nobody was asked in vain, and nobody else was asked.
async fn counts_as_no_failure(pair: &Pair, answered: f64) {
    let page = pair.gateway.metrics().await;
    assert_eq!(attempts(&page, "0", "answered"), answered);
    assert_eq!(page.count("onwards_attempts_total", &[]), answered);
    assert_eq!(pair.b.count(), 0);
}

#[tokio::test]
async fn the_race_two_hundred_times() {
    for strict in [false, true] {
        let pair = Pair::start(strict, thorough()).await;
        pair.a.answer(|request| {
            let whole = Reply::chat("from a");
            match request.json()["number"].as_u64() {
                Some(number) if number % 3 == 0 => whole.then(Step::Close),
                Some(number) if number % 3 == 1 => whole.then(Step::CloseOnNextRequest),
                Some(_) => whole.then(Step::Reset),
                None => whole,
            }
        });
        let mut conn = pair.gateway.connect().await;
        for number in 0..200 {
            let answer = conn.ask(&numbered(number)).await;
            assert_eq!(answer.status, 200, "{number}: {}", answer.text());
        }
        assert_eq!(seen(&pair), once(0..200));
        counts_as_no_failure(&pair, 200.0).await;
        pair.at_rest().await;
    }
}

/// Sixteen kept connections, all idle, all closed when the gate is opened.
async fn warm(pair: &Pair, first: usize) -> Gate {
    let (held, close) = (Gate::new(), Gate::new());
    pair.a.always(
        behind(&held, Reply::chat("from a"))
            .wait(&close)
            .then(Step::Close),
    );
    let mut clients = Vec::new();
    for number in 0..16 {
        clients.push(pair.gateway.begin(numbered(first + number)).await);
    }
    held.reached(16).await;
    held.open();
    for mut client in clients {
        assert_eq!(client.response().await.status, 200);
    }
    close.reached(16).await;
    pair.a.always(Reply::chat("from a"));
    close
}

#[tokio::test]
async fn sixteen_warm_sockets_closed_at_once_under_eight_posts() {
    const ROUNDS: usize = 10;
    let pair = Pair::with_room(16, false, thorough()).await;
    for round in 0..ROUNDS {
        let close = warm(&pair, round * 24).await;
        let mut posts = tokio::task::JoinSet::new();
        for number in 0..8 {
            let mut conn = pair.gateway.connect().await;
            let request = numbered(round * 24 + 16 + number);
            posts.spawn(async move { conn.ask(&request).await });
        }
        // Before, between and after the posts, as the rounds go.
        for _ in 0..round {
            tokio::task::yield_now().await;
        }
        close.open();
        while let Some(answer) = posts.join_next().await {
            let answer = answer.unwrap();
            assert_eq!(answer.status, 200, "round {round}: {}", answer.text());
        }
    }
    let numbers = u64::try_from(ROUNDS * 24).unwrap();
    assert_eq!(seen(&pair), once(0..numbers));
    counts_as_no_failure(&pair, 240.0).await;
    pair.at_rest().await;
}
