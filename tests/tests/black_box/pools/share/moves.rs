//! Down under overload, up again with the provider, and every client served meanwhile.

use std::time::Duration;

use onwards_tests::{Reply, Step, eventually};
use serde_json::json;

use super::super::rig::{Pair, error, merged, past, stream, streamed};
use super::{fallback, overload, pair, quick, share};

#[tokio::test]
async fn an_overloaded_provider_sheds_requests_and_stays_reachable() {
    let pair = pair(&quick()).await;
    let low = overload(&pair.gateway, &pair.a, &pair.b, 0.1).await;
    // Most requests go to the other one first.
    let (a, b) = pair.asked();
    for _ in 0..40 {
        assert_eq!(pair.gateway.send(stream()).await.status, 200);
    }
    let now = pair.asked();
    assert_eq!(now.0 - a + now.1 - b, 40, "each request asks one provider");
    assert!(now.0 - a < 20, "{} of 40 at a share of {low}", now.0 - a);
    // The preferred one is still there when the other one fails.
    pair.b.always(Reply::json(500, &error("x")));
    for _ in 0..5 {
        assert!(pair.gateway.send(stream()).await.text().contains("from a"));
    }
    let page = pair.gateway.metrics().await;
    assert!(
        page.count(
            "onwards_share_adjustments_total",
            &[("direction", "decrease")]
        ) >= 4.0
    );
    pair.at_rest().await;
}

#[tokio::test]
async fn the_share_recovers_with_the_provider() {
    // By first tokens in time; then by silence, after one interval.
    for (step, idle) in [(0.2, 0), (0.5, 300)] {
        let aimd = merged(
            quick(),
            &json!({"share_step": step, "idle_recovery_ms": idle}),
        );
        let pair = pair(&aimd).await;
        overload(&pair.gateway, &pair.a, &pair.b, 0.5).await;
        if idle > 0 {
            past(Duration::from_millis(idle)).await;
            assert_eq!(
                share(&pair.gateway).await,
                0.5,
                "without a request nothing moves"
            );
            pair.gateway.send(stream()).await;
        }
        eventually("the share to come back", || async {
            let back = share(&pair.gateway).await == 1.0;
            if !back && idle == 0 {
                assert_eq!(pair.gateway.send(stream()).await.status, 200);
            }
            back
        })
        .await;
        let page = pair.gateway.metrics().await;
        let increases = page.count(
            "onwards_share_adjustments_total",
            &[("direction", "increase")],
        );
        assert_eq!(increases, if idle == 0 { 3.0 } else { 1.0 });
        pair.at_rest().await;
    }
}

#[tokio::test]
async fn a_slow_provider_under_load_sheds_and_every_client_is_served() {
    // One of four comes in time, the others wait for ever.
    let aimd = merged(
        quick(),
        &json!({"window_samples": 10, "min_samples": 4, "share_decay": 0.7, "share_floor": 0.05}),
    );
    let pair = Pair::with_room(64, true, fallback(&aimd)).await;
    let running = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    pair.a.answer(move |_| {
        let before = running.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if before.is_multiple_of(4) {
            streamed("from a")
        } else {
            Reply::default().then(Step::Hang)
        }
    });
    pair.b.always(streamed("from b"));
    for _ in 0..6 {
        let mut clients = Vec::new();
        for _ in 0..16 {
            clients.push(pair.gateway.begin(stream()).await);
        }
        for mut client in clients {
            let answer = client.response().await;
            assert_eq!(answer.status, 200);
            assert!(
                answer.text().ends_with("data: [DONE]\n\n"),
                "{}",
                answer.text()
            );
        }
    }
    assert!(
        share(&pair.gateway).await < 0.5,
        "{}",
        share(&pair.gateway).await
    );
    pair.at_rest().await;
}
