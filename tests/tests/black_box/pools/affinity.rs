//! Conversations stay with the provider that has served them, as long as the population and the settings are the same.

use onwards_tests::{Gateway, Launch, Reply, Request, eventually};
use serde_json::{Value, json};

use super::rig::{Pair, at_rest, merged, pool, streamed, thorough};

const CONVERSATIONS: usize = 24;

fn few() -> Value {
    json!({"target_conversations": 8, "margin": 1, "update_interval_ms": 1000})
}

fn fallback(affinity: &Value) -> Value {
    json!({"enabled": true, "on_status": [5], "affinity": affinity})
}

async fn pair(strict: bool) -> Pair {
    Pair::with_room(2, strict, fallback(&few())).await
}

fn turn(conversation: usize) -> Request {
    Request::chat().header("x-session-id", format!("session {conversation}"))
}

/// One turn of each conversation; whether it went to the preferred provider.
async fn turns(gateway: &Gateway) -> Vec<bool> {
    let mut sides = Vec::new();
    for conversation in 0..CONVERSATIONS {
        let answer = gateway.send(turn(conversation)).await;
        assert_eq!(answer.status, 200);
        sides.push(answer.text().contains("from a"));
    }
    sides
}

/// Turns until the share has been set by all conversations; where each of them goes from then on.
async fn settled(gateway: &Gateway) -> Vec<bool> {
    eventually("the share to be set by all conversations", || async {
        turns(gateway).await;
        let page = gateway.metrics().await;
        page.count(
            "onwards_affinity_active_conversations",
            &[("model", "m"), ("pool", "default")],
        ) == 24.0
            && page.count("onwards_affinity_share", &[]) < 1.0
    })
    .await;
    turns(gateway).await
}

fn preferred(sides: &[bool]) -> usize {
    sides.iter().filter(|&&preferred| preferred).count()
}

#[tokio::test]
async fn conversations_keep_their_provider_over_turns_and_reloads() {
    let pair = pair(false).await;
    assert_eq!(
        preferred(&turns(&pair.gateway).await),
        CONVERSATIONS,
        "at first all of them"
    );
    let sides = settled(&pair.gateway).await;
    assert_eq!(preferred(&sides), 8);
    let page = pair.gateway.metrics().await;
    assert_eq!(
        page.count("onwards_affinity_admitted_conversations", &[]),
        8.0
    );
    assert!(page.count("onwards_affinity_routed_total", &[("side", "alternate")]) >= 16.0);
    assert_eq!(turns(&pair.gateway).await, sides);
    let mut config = json!({"targets": {"m": pool(&[&pair.a, &pair.b], 2, fallback(&few()))}});
    config["targets"]["n"] = json!({"url": pair.b.url()});
    pair.gateway.replace_config(&config);
    pair.gateway
        .metric_becomes("onwards_config_generation", &[], 2.0)
        .await;
    for _ in 0..3 {
        assert_eq!(turns(&pair.gateway).await, sides, "the same after a reload");
    }
    // Other settings start anew.
    let many = merged(few(), &json!({"target_conversations": 100}));
    config["targets"]["m"] = pool(&[&pair.a, &pair.b], 2, fallback(&many));
    pair.gateway.replace_config(&config);
    pair.gateway
        .metric_becomes("onwards_config_generation", &[], 3.0)
        .await;
    assert_eq!(preferred(&turns(&pair.gateway).await), CONVERSATIONS);
    pair.at_rest().await;
}

#[tokio::test]
async fn a_conversation_is_known_by_its_id_or_its_opening() {
    let pair = pair(false).await;
    let sides = settled(&pair.gateway).await;
    // One of each side, so that how they open, which is the same, cannot be what decides.
    for (preferred, from) in [(true, "from a"), (false, "from b")] {
        let number = sides.iter().position(|side| *side == preferred).unwrap();
        let id = format!("session {number}");
        for same in [
            Request::chat_with(&json!({"session_id": id})),
            Request::chat_with(&json!({"prompt_cache_key": id, "stream": false})),
            Request::chat_with(&json!({"session_id": id, "prompt_cache_key": "another"})),
        ] {
            let answer = pair.gateway.send(same).await;
            assert!(answer.text().contains(from), "{id}: {}", answer.text());
        }
    }
    // Without any id, how it opens: later messages change nothing.
    let opening = |number: usize, more: usize| {
        let mut messages = vec![
            json!({"role": "system", "content": "be brief"}),
            json!({"role": "user", "content": format!("question {number}")}),
        ];
        messages.extend(
            (0..more).map(|turn| json!({"role": "assistant", "content": format!("{turn}")})),
        );
        Request::chat_with(&json!({"messages": messages}))
    };
    let mut both = [0, 0];
    for number in 0..16 {
        let mut side = Vec::new();
        for more in 0..3 {
            side.push(
                pair.gateway
                    .send(opening(number, more))
                    .await
                    .text()
                    .contains("from a"),
            );
        }
        assert!(
            side.iter().all(|turn| *turn == side[0]),
            "conversation {number}: {side:?}"
        );
        both[usize::from(side[0])] += 1;
    }
    assert!(
        both[0] > 0,
        "some of them belong to the other provider: {both:?}"
    );
    pair.at_rest().await;
}

#[tokio::test]
async fn a_conversation_is_served_by_the_other_provider_when_its_own_fails() {
    let pair = pair(true).await;
    let sides = settled(&pair.gateway).await;
    pair.b.always(Reply::json(500, &json!({})));
    for conversation in 0..CONVERSATIONS {
        let answer = pair.gateway.send(turn(conversation)).await;
        assert!(answer.text().contains("from a"), "{}", answer.text());
    }
    pair.b.always(Reply::chat("from b"));
    assert_eq!(turns(&pair.gateway).await, sides, "and comes back");
    pair.at_rest().await;
}

#[tokio::test]
async fn dispatched_traffic_and_requests_without_a_key_keep_the_order() {
    let pair = pair(false).await;
    let gateway = Launch::new(&json!({
        "exempt_header": "x-dispatched",
        "targets": {"m": pool(&[&pair.a, &pair.b], 2, fallback(&few()))},
    }))
    .start()
    .await;
    let sides = settled(&gateway).await;
    assert_eq!(preferred(&sides), 8);
    for conversation in 0..CONVERSATIONS {
        let dispatched = turn(conversation).header("x-dispatched", "1");
        assert!(gateway.send(dispatched).await.text().contains("from a"));
    }
    let keyless = Request::post("/v1/embeddings").json(&json!({"model": "m", "input": "x"}));
    for _ in 0..8 {
        assert!(
            gateway
                .send(keyless.clone())
                .await
                .text()
                .contains("from a")
        );
    }
    at_rest(&gateway).await;
}

#[tokio::test]
async fn the_load_aware_share_caps_the_one_of_the_conversations() {
    // All conversations are admitted, and the preferred provider is overloaded.
    let aimd = json!({
        "latency_budget_ms": 200, "min_samples": 2, "window_samples": 50, "share_decay": 0.5, "share_floor": 0.01,
        "share_step": 0.000001, "dwell_ms": 1, "idle_recovery_ms": 0,
    });
    let mut fallback = thorough();
    fallback["aimd"] = aimd;
    fallback["affinity"] = merged(few(), &json!({"target_conversations": 100}));
    let pair = Pair::start(true, fallback).await;
    let streaming = |conversation: usize| {
        super::rig::stream().header("x-session-id", format!("session {conversation}"))
    };
    pair.a.always(Reply::json(529, &super::rig::error("x")));
    pair.b.always(streamed("from b"));
    // Looked at after each request: no overload is seen after the first change.
    let mut conversation = 0;
    while pair
        .gateway
        .metrics()
        .await
        .get("onwards_provider_share", &[])
        != Some(0.5)
    {
        pair.gateway.send(streaming(conversation)).await;
        conversation += 1;
        assert!(conversation < 100, "the share does not fall");
    }
    pair.a.always(streamed("from a"));
    let mut sides = Vec::new();
    for _ in 0..2 {
        let mut round = Vec::new();
        for conversation in 0..CONVERSATIONS {
            round.push(
                pair.gateway
                    .send(streaming(conversation))
                    .await
                    .text()
                    .contains("from a"),
            );
        }
        sides.push(round);
    }
    // The same ones are shed each time, and those that do not stream are not.
    assert_eq!(sides[0], sides[1]);
    assert!(preferred(&sides[0]) < CONVERSATIONS, "{sides:?}");
    pair.a.always(Reply::chat("from a"));
    assert_eq!(preferred(&turns(&pair.gateway).await), CONVERSATIONS);
    pair.at_rest().await;
}
