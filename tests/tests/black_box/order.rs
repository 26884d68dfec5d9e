//! A request that breaks several rules is refused by the first one in the documented order, and what it was refused
//! by later rules costs nothing.

use onwards_tests::{Gate, Gateway, Launch, Reply, Request, Upstream};
use serde_json::{Value, json};

/// A configuration where everything can go wrong on the alias `m`, whose keys are `plain`, `denied` and `limited`.
fn config(up: &Upstream, strict: bool, providers: usize) -> Value {
    let efforts = ["none", "minimal", "medium", "high", "xhigh", "max"];
    let translation = json!({"chat_completions": {
        "unsupported_efforts": efforts,
        "writes": [{"target_path": "/reasoning_effort", "values": {"low": "low"}}],
    }});
    let provider = json!({"url": up.url(), "reasoning_translation": translation});
    json!({
        "strict_mode": strict,
        "auth": {"key_definitions": {
            "denied": {"key": "sk-denied", "labels": {"tier": "denied"}},
            "limited": {
                "key": "sk-limited",
                "labels": {"account": "acme"},
                "rate_limit": {"requests_per_second": 0.001, "burst_size": 1},
                "concurrency_limit": {"max_concurrent_requests": 1},
            },
        }},
        "targets": {"m": {
            "keys": ["plain", "denied", "limited"],
            "routing_rules": [{"match_labels": {"tier": "denied"}, "action": {"type": "deny"}}],
            "rate_limit": {"requests_per_second": 0.5, "burst_size": 3},
            "concurrency_limit": {"max_concurrent_requests": 2},
            "account_inflight_limits": {"acme": 1},
            "providers": vec![provider; providers],
        }},
    })
}

/// Status, code and `Retry-After` of the answer to a chat request.
async fn ask(gateway: &Gateway, token: &str, members: Value) -> (u16, Value, Option<String>) {
    let request = Request::chat_with(&members);
    let request = if token.is_empty() {
        request
    } else {
        request.bearer(token)
    };
    let answer = gateway.send(request).await;
    let code = if answer.status == 200 {
        Value::Null
    } else {
        answer.code()
    };
    (
        answer.status,
        code,
        answer.head.header("retry-after").map(str::to_owned),
    )
}

#[tokio::test]
async fn the_first_broken_rule_answers() {
    let up = Upstream::start().await;
    let bad_effort = json!("high");
    for strict in [false, true] {
        let gateway = Launch::new(&config(&up, strict, 0)).start().await;
        // The size beats everything: not even the first byte of the body is looked at.
        let mut conn = gateway.connect().await;
        conn.send(
            b"POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-length: 99999999\r\n\r\n",
        )
        .await;
        assert_eq!(conn.response().await.status, 413);
        let cases = [
            // No model beats the missing token; strict parses the body first of all.
            (
                "",
                json!({"model": null, "reasoning_effort": bad_effort}),
                400,
            ),
            // The unknown alias beats the missing token.
            (
                "",
                json!({"model": "unknown", "reasoning_effort": bad_effort}),
                404,
            ),
            // The missing and the wrong token beat everything after.
            ("", json!({"reasoning_effort": bad_effort}), 401),
            ("wrong", json!({"reasoning_effort": bad_effort}), 401),
            // The rule beats reasoning.
            ("sk-denied", json!({"reasoning_effort": bad_effort}), 403),
            // An effort of an unknown kind beats the empty pool.
            ("sk-limited", json!({"reasoning_effort": "ultra"}), 400),
            // The empty pool beats the limits, and spends nothing of them.
            ("sk-limited", json!({}), 503),
            ("sk-limited", json!({}), 503),
        ];
        for (token, members, status) in cases {
            let answer = ask(&gateway, token, members.clone()).await;
            assert_eq!(answer.0, status, "strict {strict}: {token} {members}");
        }
    }
    assert_eq!(up.count(), 0);
}

#[tokio::test]
async fn strict_looks_at_the_body_before_anything_else() {
    let up = Upstream::start().await;
    let gateway = Launch::new(&config(&up, true, 1)).start().await;
    // The wrong shape beats the unknown alias and the missing token; with the right shape these answer.
    assert_eq!(
        ask(&gateway, "", json!({"model": "unknown", "messages": 1}))
            .await
            .0,
        400
    );
    assert_eq!(ask(&gateway, "", json!({"model": "unknown"})).await.0, 404);
    assert_eq!(ask(&gateway, "", json!({"thinking": true})).await.0, 401);
    let native = ask(&gateway, "plain", json!({"thinking": true})).await;
    assert_eq!((native.0, native.1), (400, json!("unsupported_parameter")));
    assert_eq!(up.count(), 0);
}

#[tokio::test]
async fn limits_are_asked_in_order_and_a_refusal_costs_nothing() {
    let up = Upstream::start().await;
    let gate = Gate::new();
    up.always(
        Reply::default()
            .wait(&gate)
            .send("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"),
    );
    let gateway = Launch::new(&config(&up, false, 1)).start().await;

    // Reasoning is checked before any token is spent, however often.
    for _ in 0..5 {
        let refused = ask(&gateway, "sk-limited", json!({"reasoning_effort": "high"})).await;
        assert_eq!(refused.1, json!("unsupported_value"));
    }
    // The account has one request in flight, and the key's rate, its slot and the pool's rate would refuse too.
    let first = gateway.begin(Request::chat().bearer("sk-limited")).await;
    up.arrived(1).await;
    let refused = ask(&gateway, "sk-limited", json!({})).await;
    assert_eq!(
        refused,
        (429, json!("inflight_limit_exceeded"), Some("1".to_owned()))
    );
    // Two of three tokens of the pool are left, and one of its two slots.
    let second = gateway.begin(Request::chat().bearer("plain")).await;
    up.arrived(2).await;
    for _ in 0..3 {
        let refused = ask(&gateway, "plain", json!({})).await;
        assert_eq!(
            refused,
            (
                429,
                json!("concurrency_limit_exceeded"),
                Some("1".to_owned())
            )
        );
    }
    gate.open();
    for mut conn in [first, second] {
        assert_eq!(conn.response().await.status, 200);
    }
    gateway
        .metric_becomes("onwards_model_inflight", &[("model", "m")], 0.0)
        .await;
    // The key's rate is asked before the pool's: its wait is the long one, and it leaves the pool's tokens alone.
    for _ in 0..3 {
        let (status, code, wait) = ask(&gateway, "sk-limited", json!({})).await;
        assert_eq!((status, code), (429, json!("rate_limit")));
        assert!(
            wait.as_deref().unwrap().parse::<u32>().unwrap() > 100,
            "{wait:?}"
        );
    }
    // The third token of the pool, which no refusal has taken; after it the pool's own wait.
    assert_eq!(ask(&gateway, "plain", json!({})).await.0, 200);
    let mut last = ask(&gateway, "plain", json!({})).await;
    if last.0 == 200 {
        // A slow machine has seen a token come back.
        last = ask(&gateway, "plain", json!({})).await;
    }
    assert_eq!((last.0, last.1), (429, json!("rate_limit")));
    assert!(
        last.2.as_deref().unwrap().parse::<u32>().unwrap() <= 2,
        "{:?}",
        last.2
    );
}

#[tokio::test]
async fn refusals_of_every_kind_are_counted_once() {
    let up = Upstream::start().await;
    let gateway = Launch::new(&config(&up, false, 1)).start().await;
    let cases = [
        ("", json!({"model": null}), "bad_request", ""),
        ("", json!({"model": "unknown"}), "model_not_found", ""),
        ("", json!({}), "unauthenticated", "m"),
        ("sk-denied", json!({}), "forbidden", "m"),
        ("plain", json!({"reasoning_effort": 1}), "invalid_type", "m"),
    ];
    let all = f64::from(u32::try_from(cases.len()).unwrap());
    for (token, members, code, model) in cases {
        ask(&gateway, token, members).await;
        let labels = [("code", code), ("model", model), ("traffic", "realtime")];
        assert_eq!(
            gateway
                .metrics()
                .await
                .count("onwards_rejections_total", &labels),
            1.0,
            "{code}"
        );
    }
    assert_eq!(
        gateway
            .metrics()
            .await
            .count("onwards_rejections_total", &[]),
        all
    );
    up.reply(Reply::json(400, &json!({"error": {}})));
    assert_eq!(
        gateway.send(Request::chat().bearer("plain")).await.status,
        400
    );
    assert_eq!(
        gateway
            .metrics()
            .await
            .count("onwards_rejections_total", &[]),
        all,
        "the provider's refusal is not ours"
    );
}
