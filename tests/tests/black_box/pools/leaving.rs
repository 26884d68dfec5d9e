//! A client that leaves, at every stage: the call is cancelled, nobody else is asked for it, every slot is free again,
//! and nothing is learnt from it.

use onwards_tests::{Gate, RawConn, Reply, Request, Step, eventually};
use serde_json::json;
use tokio::task::JoinSet;

use super::rig::{Pair, stream, streamed, thorough_with};

/// Without a deadline, so that only the client ends anything.
async fn pair(strict: bool) -> Pair {
    let patient = json!({"first_token_timeout_ms": 0, "max_total_backoff_ms": 600_000});
    Pair::start(strict, thorough_with(&patient)).await
}

/// The client goes: in an orderly way, or not.
fn leave(conn: RawConn, abruptly: bool) {
    if abruptly {
        conn.reset();
    }
}

async fn nothing_learnt(pair: &Pair, unknown: f64) {
    pair.gateway
        .metric_becomes("onwards_aimd_in_flight", &[], 0.0)
        .await;
    let page = pair.gateway.metrics().await;
    assert_eq!(page.count("onwards_aimd_window_samples", &[]), 0.0);
    assert_eq!(page.count("onwards_aimd_unknown_total", &[]), unknown);
    assert_eq!(page.count("onwards_first_token_seconds_count", &[]), 0.0);
}

/// The client leaves while the first provider is at this point of its answer.
async fn leaves_at(strict: bool, abruptly: bool, answer: Reply, said: &str) {
    let pair = pair(strict).await;
    pair.a.reply(answer.clone().then(Step::Hang));
    let mut conn = pair.gateway.begin(stream()).await;
    let asked = pair.a.request(0).await;
    conn.until(said.as_bytes()).await;
    leave(conn, abruptly);
    asked.gone().await;
    // Answered, if the head had been read by then.
    eventually("the attempt to be counted", || async {
        pair.attempts("0", "cancelled").await + pair.attempts("0", "answered").await == 1.0
    })
    .await;
    assert_eq!(pair.asked(), (1, 0), "{answer:?}");
    nothing_learnt(&pair, f64::from(u8::from(strict))).await;
    pair.at_rest().await;
}

fn comments(number: usize) -> Reply {
    (0..number).fold(Reply::stream(), |reply, _| reply.chunk(": still here\n\n"))
}

#[tokio::test]
async fn before_the_headers() {
    for abruptly in [false, true] {
        for strict in [false, true] {
            leaves_at(strict, abruptly, Reply::default(), "").await;
        }
    }
}

/// What a client may have sent behind its request: while it waits to be read, the protocol does not see the connection end.
const BEHIND: [&str; 3] = [
    "\r\n",
    "G",
    "GET /v1/models HTTP/1.1\r\nhost: gateway.test\r\n\r\n",
];

/// One after the other they would take long: a client that left is looked for every few seconds.
#[tokio::test]
async fn with_bytes_behind_its_request() {
    let mut cases = JoinSet::new();
    for abruptly in [false, true] {
        for behind in BEHIND {
            cases.spawn(leaves_behind(abruptly, behind, Reply::default(), ""));
            let begun = Reply::stream().delta("one");
            cases.spawn(leaves_behind(abruptly, behind, begun, "one"));
        }
    }
    cases.join_all().await;
}

async fn leaves_behind(abruptly: bool, behind: &str, answer: Reply, said: &str) {
    let pair = pair(false).await;
    pair.a.reply(answer.then(Step::Hang));
    let mut conn = pair.gateway.begin(stream()).await;
    conn.send(behind.as_bytes()).await;
    let asked = pair.a.request(0).await;
    conn.until(said.as_bytes()).await;
    leave(conn, abruptly);
    asked.gone().await;
    assert_eq!(pair.asked(), (1, 0), "{behind:?}");
    pair.at_rest().await;
}

#[tokio::test]
async fn in_the_middle_of_the_headers() {
    let half = Reply::default().send("HTTP/1.1 200 OK\r\ncontent-type: text/ev");
    leaves_at(true, false, half, "").await;
}

#[tokio::test]
async fn while_the_first_token_is_awaited() {
    for abruptly in [false, true] {
        leaves_at(true, abruptly, Reply::stream(), "").await;
        leaves_at(true, abruptly, comments(2), "").await;
        leaves_at(true, abruptly, Reply::stream().chunk("data: {\"id\""), "").await;
    }
}

#[tokio::test]
async fn after_the_headers_and_before_the_first_token() {
    for abruptly in [false, true] {
        // Four comments end the first look; the share's controller still waits for the token.
        leaves_at(true, abruptly, comments(5), "\r\n\r\n").await;
        leaves_at(false, abruptly, Reply::stream(), "\r\n\r\n").await;
    }
}

#[tokio::test]
async fn after_the_first_token() {
    for abruptly in [false, true] {
        let pair = pair(true).await;
        pair.a.reply(Reply::stream().delta("one").then(Step::Hang));
        let mut conn = pair.gateway.begin(stream()).await;
        conn.until(b"one").await;
        leave(conn, abruptly);
        pair.a.request(0).await.gone().await;
        // It did come in time, so this one is a sample.
        let page = pair.gateway.metrics().await;
        assert_eq!(page.count("onwards_aimd_window_samples", &[]), 1.0);
        assert_eq!(pair.asked(), (1, 0));
        pair.at_rest().await;
    }
}

#[tokio::test]
async fn while_a_whole_answer_is_read() {
    let part = Reply::default().send(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{\"id\"",
    );
    for strict in [false, true] {
        let pair = pair(strict).await;
        pair.a.reply(part.clone().then(Step::Hang));
        let conn = pair.gateway.begin(Request::chat()).await;
        let asked = pair.a.request(0).await;
        drop(conn);
        asked.gone().await;
        assert_eq!(pair.asked(), (1, 0));
        pair.at_rest().await;
    }
}

#[tokio::test]
async fn at_the_second_provider() {
    for strict in [false, true] {
        let pair = pair(strict).await;
        pair.a.reply(Reply::json(500, &json!({})));
        pair.b.reply(Reply::default().then(Step::Hang));
        let conn = pair.gateway.begin(stream()).await;
        let asked = pair.b.request(0).await;
        drop(conn);
        asked.gone().await;
        eventually("the attempt to be counted", || async {
            pair.attempts("1", "cancelled").await == 1.0
        })
        .await;
        assert_eq!(pair.asked(), (1, 1));
        nothing_learnt(&pair, f64::from(u8::from(strict))).await;
        pair.at_rest().await;
    }
}

#[tokio::test]
async fn while_a_backoff_is_waited_for() {
    let waits = json!({"backoff": {"initial_ms": 60_000, "max_ms": 60_000, "jitter": "none"}});
    let pair = Pair::start(false, thorough_with(&waits)).await;
    pair.a.reply(Reply::json(500, &json!({})));
    let conn = pair.gateway.begin(Request::chat()).await;
    pair.gateway.logs("attempt failed", 1).await;
    // No provider's slot is held meanwhile: both serve somebody else.
    let gate = Gate::new();
    pair.a.reply(super::rig::behind(&gate, Reply::chat("held")));
    let mut other = pair.gateway.begin(Request::chat()).await;
    gate.reached(1).await;
    gate.open();
    assert_eq!(other.response().await.status, 200);
    drop(conn);
    pair.gateway
        .metric_becomes("onwards_requests_inflight", &[], 0.0)
        .await;
    assert_eq!(pair.asked(), (2, 0));
    pair.at_rest().await;
}

#[tokio::test]
async fn while_a_pause_is_waited_for() {
    let pair = pair(false).await;
    let hint = |up: &onwards_tests::Upstream| {
        up.reply(Reply::new(429, &[("retry-after-ms", "1500")], "{}"));
    };
    hint(&pair.a);
    hint(&pair.b);
    let fallback = json!({"enabled": true, "on_status": [429], "max_attempts": 3, "max_total_backoff_ms": 600_000});
    let config = json!({"targets": {"m": super::rig::pool(&[&pair.a, &pair.b], 1, fallback)}});
    pair.gateway.replace_config(&config);
    pair.gateway
        .metric_becomes("onwards_config_generation", &[], 2.0)
        .await;
    let conn = pair.gateway.begin(Request::chat()).await;
    pair.gateway.logs("attempt failed", 2).await;
    drop(conn);
    pair.gateway
        .metric_becomes("onwards_requests_inflight", &[], 0.0)
        .await;
    assert_eq!(pair.asked(), (1, 1));
    // The next one waits for the pause and is served.
    let answer = pair.gateway.send(Request::chat()).await;
    assert_eq!((answer.status, pair.asked()), (200, (2, 1)));
    pair.at_rest().await;
}

#[tokio::test]
async fn before_the_request_is_complete() {
    let pair = pair(true).await;
    let mut conn = pair.gateway.connect().await;
    conn.send(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{\"mod")
        .await;
    pair.gateway
        .metric_becomes("onwards_requests_inflight", &[], 1.0)
        .await;
    drop(conn);
    pair.gateway
        .metric_becomes("onwards_requests_inflight", &[], 0.0)
        .await;
    assert_eq!(pair.asked(), (0, 0));
    pair.at_rest().await;
}

#[tokio::test]
async fn a_crowd_that_leaves_in_the_middle_of_everything() {
    const CLIENTS: usize = 60;
    let pair = Pair::with_room(
        CLIENTS,
        true,
        thorough_with(&json!({"first_token_timeout_ms": 0})),
    )
    .await;
    let turn = std::sync::atomic::AtomicUsize::new(0);
    pair.a.answer(
        move |_| match turn.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % 5 {
            0 => Reply::default().then(Step::Hang),
            1 => Reply::stream().then(Step::Hang),
            2 => comments(6).then(Step::Hang),
            3 => Reply::json(500, &json!({})),
            _ => Reply::default().then(Step::Reset),
        },
    );
    pair.b.always(Reply::default().then(Step::Hang));
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        clients.push(pair.gateway.begin(stream()).await);
    }
    pair.a.arrived(CLIENTS).await;
    pair.b.arrived(CLIENTS / 5 * 2).await;
    for (number, client) in clients.into_iter().enumerate() {
        leave(client, number % 2 == 0);
    }
    for request in pair.b.requests() {
        request.gone().await;
    }
    nothing_learnt(&pair, 60.0).await;
    pair.b.always(streamed("from b"));
    pair.at_rest().await;
}
