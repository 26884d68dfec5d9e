//! Many at once: a provider that fails now this way, now that way loses no request and repeats none that was answered.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use onwards_tests::{Gate, Gateway, Recorded, Reply, Request, Step, Upstream};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::rig::{
    Pair, at_rest, behind, error, eventually_asked, streamed, thorough, thorough_with,
};

const CLIENTS: usize = 200;

/// Sends that many requests at once, half of them streams; every answer, by number.
async fn crowd(pair: &Pair) -> BTreeMap<usize, String> {
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        let mut conn = pair.gateway.connect().await;
        clients.spawn(async move {
            let members = json!({"number": number, "stream": number % 2 == 0});
            let answer = conn.ask(&Request::chat_with(&members)).await;
            assert_eq!(answer.status, 200, "{number}: {}", answer.text());
            (number, answer.text())
        });
    }
    let mut answers = BTreeMap::new();
    while let Some(answer) = clients.join_next().await {
        let (number, text) = answer.unwrap();
        answers.insert(number, text);
    }
    answers
}

fn number(request: &Recorded) -> usize {
    request.json()["number"]
        .as_u64()
        .unwrap()
        .try_into()
        .unwrap()
}

/// An answer, whole or streamed as the client wants it; who was told one is noted.
fn says(request: &Recorded, told: &Mutex<Vec<usize>>) -> Reply {
    let number = number(request);
    told.lock().unwrap().push(number);
    let text = format!("answer {number}.");
    if request.json()["stream"] == true {
        streamed(&text)
    } else {
        Reply::chat(&text)
    }
}

#[tokio::test]
async fn a_flapping_provider_under_two_hundred_requests() {
    for strict in [false, true] {
        let pair = Pair::with_room(
            CLIENTS,
            strict,
            thorough_with(&json!({"first_token_timeout_ms": 2000})),
        )
        .await;
        let (turn, told) = (AtomicUsize::new(0), Arc::new(Mutex::new(Vec::new())));
        let noted = Arc::clone(&told);
        pair.a.answer(
            move |request| match turn.fetch_add(1, Ordering::Relaxed) % 8 {
                0 => Reply::default().then(Step::Reset),
                1 => Reply::default().then(Step::Close),
                2 => Reply::json(503, &json!({})),
                3 => Reply::json(429, &error("x")),
                4 => Reply::default()
                    .send("HTTP/1.1 200 OK\r\nx: ")
                    .then(Step::Reset),
                5 => says(request, &noted).then(Step::CloseOnNextRequest),
                6 => says(request, &noted).then(Step::Close),
                _ => says(request, &noted),
            },
        );
        let noted = Arc::clone(&told);
        pair.b.answer(move |request| says(request, &noted));
        let answers = crowd(&pair).await;
        assert_eq!(answers.len(), CLIENTS);
        for (number, text) in &answers {
            assert!(
                text.contains(&format!("answer {number}.")),
                "{number}: {text}"
            );
        }
        let numbers = |up: &Upstream| -> Vec<usize> {
            up.requests()
                .iter()
                .map(|request| number(request))
                .collect()
        };
        // A kept connection that ends under a request is replaced once, so the first provider may see one twice.
        let first: BTreeSet<usize> = numbers(&pair.a).into_iter().collect();
        let second: BTreeSet<usize> = numbers(&pair.b).into_iter().collect();
        assert_eq!(
            first,
            (0..CLIENTS).collect(),
            "the first provider is asked first"
        );
        assert_eq!(
            second.len(),
            pair.b.count(),
            "the second one is asked nothing twice"
        );
        let mut answered = std::mem::take(&mut *told.lock().unwrap());
        answered.sort_unstable();
        assert_eq!(
            answered,
            (0..CLIENTS).collect::<Vec<_>>(),
            "each is answered once"
        );
        let page = pair.gateway.metrics().await;
        let total = page.count("onwards_attempts_total", &[]);
        assert_eq!(
            total,
            f64::from(u32::try_from(CLIENTS + second.len()).unwrap())
        );
        pair.at_rest().await;
    }
}

#[tokio::test]
async fn a_slow_provider_keeps_what_it_has_and_gets_no_more() {
    let pair = Pair::with_room(4, false, thorough()).await;
    let gate = Gate::new();
    pair.a.always(behind(&gate, Reply::chat("from a")));
    let mut slow = Vec::new();
    for _ in 0..4 {
        slow.push(pair.gateway.begin(Request::chat()).await);
    }
    gate.reached(4).await;
    for _ in 0..40 {
        let answer = pair.gateway.send(Request::chat()).await;
        assert!(answer.text().contains("from b"), "{}", answer.text());
    }
    assert_eq!(pair.asked(), (4, 40));
    gate.open();
    for mut conn in slow {
        assert!(conn.response().await.text().contains("from a"));
    }
    pair.at_rest().await;
}

#[tokio::test]
async fn by_weight_the_running_requests_keep_the_ratio() {
    let (a, b) = (Upstream::start().await, Upstream::start().await);
    let provider = |up: &Upstream, weight: u32| json!({"url": up.url(), "weight": weight});
    let targets: Value = json!({"m": {"providers": [provider(&a, 3), provider(&b, 1)], "fallback": {"enabled": true}}});
    let gateway = Gateway::serve(targets).await;
    let gate = Gate::new();
    for up in [&a, &b] {
        up.always(behind(&gate, Reply::chat("slow")));
    }
    let mut held = Vec::new();
    for number in 1..=40 {
        held.push(gateway.begin(Request::chat()).await);
        eventually_asked(&[&a, &b], number).await;
    }
    // Fewest running per weight: three to one, whatever chance says at ties.
    assert_eq!((a.count(), b.count()), (30, 10));
    gate.open();
    for mut conn in held {
        assert_eq!(conn.response().await.status, 200);
    }
    at_rest(&gateway).await;
}
