//! A reload in the middle of a failover: the request ends as it began, the next one is the new configuration's.

use onwards_tests::{Gate, Gateway, Reply, Request, Upstream};
use serde_json::{Value, json};

use super::rig::{Pair, at_rest, behind, pool, stream, streamed, thorough};

async fn reload(gateway: &Gateway, strict: bool, pool: Value) {
    gateway.replace_config(&json!({"strict_mode": strict, "targets": {"m": pool}}));
    gateway
        .metric_becomes("onwards_config_generation", &[], 2.0)
        .await;
}

#[tokio::test]
async fn a_failover_goes_on_where_the_old_configuration_says() {
    for strict in [false, true] {
        let (pair, new) = (
            Pair::start(strict, thorough()).await,
            Upstream::start().await,
        );
        new.always(streamed("from the new one"));
        let gate = Gate::new();
        pair.a.reply(behind(&gate, Reply::json(503, &json!({}))));
        let mut conn = pair.gateway.begin(Request::chat()).await;
        gate.reached(1).await;
        reload(&pair.gateway, strict, pool(&[&new], 2, json!({}))).await;
        let answer = pair.gateway.send(stream()).await;
        assert!(
            answer.text().contains("from the new one"),
            "{}",
            answer.text()
        );
        gate.open();
        let answer = conn.response().await;
        assert!(answer.text().contains("from b"), "{}", answer.text());
        assert_eq!((pair.asked(), new.count()), ((1, 1), 1));
        new.always(Reply::chat("from the new one"));
        at_rest(&pair.gateway).await;
    }
}

#[tokio::test]
async fn slots_taken_before_a_reload_count_after_it() {
    let pair = Pair::start(false, thorough()).await;
    let gate = Gate::new();
    pair.a.reply(behind(&gate, Reply::chat("from a")));
    let mut conn = pair.gateway.begin(Request::chat()).await;
    gate.reached(1).await;
    // The same providers in the other order.
    reload(
        &pair.gateway,
        false,
        pool(&[&pair.b, &pair.a], 1, thorough()),
    )
    .await;
    pair.b.always(Reply::json(503, &json!({})));
    // The other one is still full: there is nobody but the failing one.
    let answer = pair.gateway.send(Request::chat()).await;
    assert_eq!(answer.status, 502, "{}", answer.text());
    assert_eq!(pair.asked(), (1, 2));
    gate.open();
    assert_eq!(conn.response().await.status, 200);
    pair.at_rest().await;
}

#[tokio::test]
async fn a_provider_that_is_taken_out_finishes_what_it_has() {
    let pair = Pair::start(true, thorough()).await;
    let gate = Gate::new();
    pair.a
        .reply(Reply::stream().delta("one").wait(&gate).delta("two").done());
    let mut conn = pair.gateway.begin(stream()).await;
    conn.until(b"one").await;
    reload(&pair.gateway, true, pool(&[&pair.b], 2, thorough())).await;
    assert!(
        pair.gateway
            .send(Request::chat())
            .await
            .text()
            .contains("from b")
    );
    gate.open();
    conn.until(b"two").await;
    conn.until(b"data: [DONE]").await;
    conn.until(b"0\r\n\r\n").await;
    assert_eq!(pair.asked(), (1, 1));
    at_rest(&pair.gateway).await;
}

#[tokio::test]
async fn a_bad_file_in_the_middle_of_a_failover_changes_nothing() {
    let pair = Pair::start(false, thorough()).await;
    let gate = Gate::new();
    pair.a.reply(behind(&gate, Reply::json(503, &json!({}))));
    let mut conn = pair.gateway.begin(Request::chat()).await;
    gate.reached(1).await;
    pair.gateway
        .replace_config(&json!({"targets": {"m": {"url": "nonsense"}}}));
    pair.gateway.logs("targets.m.url", 1).await;
    gate.open();
    assert!(conn.response().await.text().contains("from b"));
    assert_eq!(pair.asked(), (1, 1));
    pair.at_rest().await;
}
