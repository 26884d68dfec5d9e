//! While the store is there.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use onwards_tests::{Gate, Gateway, Reply, Request, Upstream, eventually};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::{Store, config, gateway, patient, stream};

/// Two gateways on one store, with the same configuration.
async fn two(store: &Store, config: &Value) -> [Arc<Gateway>; 2] {
    [
        Arc::new(gateway(store, config).await),
        Arc::new(gateway(store, config).await),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_gateways_under_load_never_exceed_one_limit() {
    let Some(store) = Store::start().await else {
        return;
    };
    let up = Upstream::start().await;
    let gateways = two(&store, &config(&up, &patient())).await;
    // What runs is counted at the provider: from a request's arrival until just before its answer may end.
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let gates: Arc<Vec<Gate>> = Arc::new((0..400).map(|_| Gate::new()).collect());
    let (answers, arrived, highest) = (gates.clone(), running.clone(), most.clone());
    up.answer(move |request| {
        let now = arrived.fetch_add(1, Ordering::SeqCst) + 1;
        highest.fetch_max(now, Ordering::SeqCst);
        let number: usize = request.header("x-number").unwrap().parse().unwrap();
        Reply::stream().delta("one").wait(&answers[number]).done()
    });
    let mut clients = JoinSet::new();
    for client in 0..10 {
        let (gateway, gates) = (gateways[client % 2].clone(), gates.clone());
        let (running, most) = (running.clone(), most.clone());
        clients.spawn(async move {
            // Two callers, one account.
            let key = ["sk-one", "sk-other"][client / 2 % 2];
            let mut served = 0;
            for number in client * 40..(client + 1) * 40 {
                let asked = Request::chat_with(&json!({"stream": true}))
                    .bearer(key)
                    .header("x-number", number.to_string());
                let mut conn = gateway.begin(asked).await;
                let head = conn.head().await;
                if head.status != 200 {
                    assert_eq!(head.status, 429);
                    assert_eq!(head.header("retry-after"), Some("1"));
                    continue;
                }
                served += 1;
                eventually("the limit to be reached", || async {
                    most.load(Ordering::SeqCst) >= 3
                })
                .await;
                running.fetch_sub(1, Ordering::SeqCst);
                gates[number].open();
                conn.body(&head).await;
            }
            served
        });
    }
    let served: usize = clients.join_all().await.into_iter().sum();
    assert_eq!(most.load(Ordering::SeqCst), 3, "of {served} served");
    assert!(served > 10, "{served}");
    for gateway in &gateways {
        let metrics = gateway.metrics().await;
        for event in ["timed_out", "admitted_alone", "refused_alone", "lease_lost"] {
            let labels = [("event", event)];
            let count = metrics.get("onwards_shared_state_events_total", &labels);
            assert_eq!(count, Some(0.0), "{event}");
        }
    }
    eventually("nothing to be left", || async {
        store.running("acme", "m").await == 0
    })
    .await;
}

#[tokio::test]
async fn streams_hold_their_place_to_the_end_for_both() {
    let Some(store) = Store::start().await else {
        return;
    };
    let up = Upstream::start().await;
    let gate = Gate::new();
    up.always(Reply::stream().delta("one").wait(&gate).done());
    let [one, other] = two(&store, &config(&up, &patient())).await;
    let mut held = Vec::new();
    for gateway in [&one, &other, &one] {
        let mut conn = gateway.begin(stream()).await;
        conn.until(b"one").await;
        held.push(conn);
    }
    for gateway in [&one, &other] {
        let refused = gateway.send(stream()).await;
        assert_eq!(
            (refused.status, refused.code()),
            (429, json!("inflight_limit_exceeded"))
        );
    }
    assert_eq!(store.running("acme", "m").await, 3);
    // A client that leaves makes room at the other gateway.
    drop(held.pop());
    eventually("room at the other", || async {
        let mut conn = other.begin(stream()).await;
        conn.head().await.status == 200
    })
    .await;
    gate.open();
    for mut conn in held {
        conn.until(b"[DONE]").await;
    }
    eventually("all places to be free", || async {
        store.running("acme", "m").await == 0
    })
    .await;
}

#[tokio::test]
async fn batch_requests_have_a_count_of_their_own() {
    let Some(store) = Store::start().await else {
        return;
    };
    let up = Upstream::start().await;
    let gate = Gate::new();
    up.always(Reply::stream().delta("one").wait(&gate).done());
    let [one, other] = two(&store, &config(&up, &patient())).await;
    let batch = || stream().header("x-batch", "1");
    let mut held = Vec::new();
    for gateway in [&one, &other] {
        let mut conn = gateway.begin(batch()).await;
        conn.until(b"one").await;
        held.push(conn);
    }
    for gateway in [&one, &other] {
        let refused = gateway.send(batch()).await;
        assert_eq!(
            (refused.status, refused.code()),
            (529, json!("batch_capacity_exceeded"))
        );
    }
    let mut realtime = one.begin(stream()).await;
    assert_eq!(realtime.head().await.status, 200);
    assert_eq!(store.running("__batch__", "m").await, 2);
    assert_eq!(store.running("acme", "m").await, 1);
}

#[tokio::test]
async fn rates_of_keys_and_pools_are_shared_if_so_said() {
    let Some(store) = Store::start().await else {
        return;
    };
    let up = Upstream::start().await;
    let mut shared = patient();
    let rated = || Request::chat().bearer("sk-rated");
    let pooled = || Request::chat_with(&json!({"model": "pool"}));
    // Without the switch each has its own.
    let [one, other] = two(&store, &config(&up, &shared)).await;
    for gateway in [&one, &other] {
        let answer = gateway.send(rated()).await;
        assert_eq!(remaining(&answer.head), "6 5");
    }
    shared["rate_limits"] = json!(true);
    let [one, other] = two(&store, &config(&up, &shared)).await;
    for (index, gateway) in [&one, &other, &one, &other].iter().enumerate() {
        let answer = gateway.send(rated()).await;
        assert_eq!(
            (answer.status, remaining(&answer.head)),
            (200, format!("6 {}", 5 - index))
        );
        let answer = gateway.send(pooled()).await;
        assert_eq!(
            (answer.status, remaining(&answer.head)),
            (200, format!("4 {}", 3 - index))
        );
    }
    for gateway in [&one, &other] {
        let refused = gateway.send(pooled()).await;
        assert_eq!(
            (refused.status, refused.code(), remaining(&refused.head)),
            (429, json!("rate_limit"), "4 0".to_owned())
        );
        let wait: u64 = refused.head.header("retry-after").unwrap().parse().unwrap();
        assert!((900..=1000).contains(&wait), "{wait}");
        let reset = refused.head.header("x-ratelimit-reset-requests");
        // Four tokens at one in a thousand seconds.
        assert!(
            reset.is_some_and(|reset| reset.starts_with("1h6m")),
            "{reset:?}"
        );
    }
    // No key of a client is in the store, and no name but those of the configuration.
    let names = store.names().await;
    assert!(!names.contains("sk-"), "{names}");
    for name in [
        "{onwards}:rate:key:rated",
        "{onwards}:rate:pool:default:pool",
    ] {
        assert!(names.contains(name), "{names}");
    }
}

#[tokio::test]
async fn a_refusal_further_on_gives_shared_tokens_back() {
    let Some(store) = Store::start().await else {
        return;
    };
    let up = Upstream::start().await;
    let mut shared = patient();
    shared["rate_limits"] = json!(true);
    let mut config = config(&up, &shared);
    config["targets"]["m"]["concurrency_limit"] = json!({"max_concurrent_requests": 0});
    let gateway = gateway(&store, &config).await;
    for _ in 0..10 {
        let refused = gateway.send(Request::chat().bearer("sk-rated")).await;
        assert_eq!(refused.code(), "concurrency_limit_exceeded");
    }
    config["targets"]["m"]["concurrency_limit"] = json!(null);
    gateway.replace_config(&config);
    let mut left = String::new();
    eventually("a served request", || async {
        gateway.send(Request::chat()).await.status == 401
            && gateway
                .metrics()
                .await
                .count("onwards_config_generation", &[])
                == 2.0
    })
    .await;
    let answer = gateway.send(Request::chat().bearer("sk-rated")).await;
    left.push_str(&remaining(&answer.head));
    assert_eq!((answer.status, left.as_str()), (200, "6 5"));
    assert_eq!(up.count(), 1);
}

#[tokio::test]
async fn a_killed_gateway_frees_its_places_within_the_lease() {
    let Some(store) = Store::start().await else {
        return;
    };
    let up = Upstream::start().await;
    let gate = Gate::new();
    up.always(Reply::stream().delta("one").wait(&gate).done());
    let config = config(&up, &patient());
    let mut dying = gateway(&store, &config).await;
    let staying = gateway(&store, &config).await;
    let mut held = Vec::new();
    for gateway in [&dying, &dying, &staying] {
        let mut conn = gateway.begin(stream()).await;
        conn.until(b"one").await;
        held.push(conn);
    }
    assert_eq!(staying.send(stream()).await.status, 429);
    dying.signal("KILL");
    dying.exit().await;
    let died = tokio::time::Instant::now();
    eventually("a place", || async {
        let mut conn = staying.begin(stream()).await;
        conn.head().await.status == 200
    })
    .await;
    // The lease, renewed at most just before, and some time to look.
    assert!(died.elapsed().as_millis() < 3000, "{:?}", died.elapsed());
    // The one that lives has kept its place all the while.
    eventually("its own place alone", || async {
        store.running("acme", "m").await == 1
    })
    .await;
}

#[tokio::test]
async fn a_gateway_that_drains_leaves_nothing_behind() {
    let Some(store) = Store::start().await else {
        return;
    };
    let up = Upstream::start().await;
    let gate = Gate::new();
    up.always(Reply::stream().delta("one").wait(&gate).done());
    let mut shared = patient();
    shared["lease_ms"] = json!(600_000);
    let config = config(&up, &shared);
    let launch = onwards_tests::Launch::new(&config)
        .env("REDIS_URL", &store.url())
        .args(&["--shutdown-delay-secs", "0"]);
    let mut gateway = launch.start().await;
    let mut conn = gateway.begin(stream()).await;
    conn.until(b"one").await;
    gateway.signal("TERM");
    gateway.logs("draining", 1).await;
    assert_eq!(store.running("acme", "m").await, 1);
    gate.open();
    conn.until(b"[DONE]").await;
    drop(conn);
    assert_eq!(gateway.exit().await, Some(0));
    assert_eq!(store.running("acme", "m").await, 0);
}

fn remaining(head: &onwards_tests::Head) -> String {
    let header = |name: &str| head.header(name).unwrap_or("-").to_owned();
    format!(
        "{} {}",
        header("x-ratelimit-limit-requests"),
        header("x-ratelimit-remaining-requests")
    )
}
