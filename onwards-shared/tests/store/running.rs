//! Running requests: one limit for all, slots free at once, after a death with the lease.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use onwards_limits::{BATCH_SCOPE, Counter};
use onwards_shared::Event;
use tokio::time::Instant;

use crate::server::{LONG, Server, eventually};
use crate::support::{Gateway, entered, patient};

/// Polls a future once and drops it.
fn poll_once<F: Future + Unpin>(mut future: F) {
    let mut context = Context::from_waker(Waker::noop());
    let pending = Pin::new(&mut future).poll(&mut context).is_pending();
    assert!(pending, "it waits for the store");
}

/// Slots the store counts under a pair.
async fn running(server: &Server, scope: &str, alias: &str) -> u32 {
    server
        .tell(&["ZCARD", &format!("{{onwards:{alias}}}:running:{scope}")])
        .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_gateways_never_exceed_one_limit() {
    const LIMIT: u32 = 7;
    let Some(server) = Server::start().await else {
        return;
    };
    let gateways = [
        Gateway::up(patient(&server)).await,
        Gateway::up(patient(&server)).await,
    ];
    let now = Arc::new(AtomicU32::new(0));
    let most = Arc::new(AtomicU32::new(0));
    let mut callers = tokio::task::JoinSet::new();
    for caller in 0..32 {
        let shared = gateways[caller % 2].handle();
        let (now, most) = (Arc::clone(&now), Arc::clone(&most));
        callers.spawn(async move {
            let mut counts = [0_u32; 2];
            for _ in 0..200 {
                let guard = entered(shared.enter("acme", "gpt", LIMIT).await);
                counts[usize::from(guard.is_some())] += 1;
                if guard.is_some() {
                    most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    tokio::task::yield_now().await;
                    now.fetch_sub(1, Ordering::SeqCst);
                }
            }
            counts
        });
    }
    let [refused, admitted] = callers
        .join_all()
        .await
        .into_iter()
        .reduce(|a, b| [a[0] + b[0], a[1] + b[1]])
        .unwrap();
    for gateway in &gateways {
        assert_eq!(gateway.count(|event| *event == Event::TimedOut), 0);
        assert!(gateway.settle(LONG).await);
        assert_eq!((gateway.held(), gateway.queued()), (0, 0));
    }
    assert_eq!(most.load(Ordering::SeqCst), LIMIT, "reached, not exceeded");
    assert!(
        refused > 0 && admitted > LIMIT,
        "{refused} refused, {admitted} admitted"
    );
    assert_eq!(running(&server, "acme", "gpt").await, 0);
    let left: Vec<String> = server.tell(&["KEYS", "*running*"]).await;
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn a_limit_is_one_for_all_gateways_and_its_own_for_each_pair() {
    let Some(server) = Server::start().await else {
        return;
    };
    let one = Gateway::up(patient(&server)).await;
    let two = Gateway::up(patient(&server)).await;
    let _first = one.enter("acme", "gpt", 2).await.expect("room for two");
    let second = two.enter("acme", "gpt", 2).await.expect("room for two");
    assert!(one.enter("acme", "gpt", 2).await.is_none());
    assert!(two.enter("acme", "gpt", 2).await.is_none());
    let _other = two.enter("acme", "llama", 1).await.expect("another alias");
    let _batch = one
        .enter(BATCH_SCOPE, "gpt", 1)
        .await
        .expect("another scope");
    assert!(two.enter(BATCH_SCOPE, "gpt", 1).await.is_none());
    assert!(one.enter("acme", "gpt", 0).await.is_none());
    let third = one.enter("acme", "gpt", 3).await.expect("a higher limit");
    assert!(
        two.enter("acme", "gpt", 1).await.is_none(),
        "a lower one cuts nobody"
    );
    assert_eq!((one.held(), two.held()), (3, 2));

    drop((second, third));
    assert!(one.settle(LONG).await && two.settle(LONG).await);
    assert_eq!(running(&server, "acme", "gpt").await, 1);
    assert!(two.enter("acme", "gpt", 2).await.is_some(), "free at once");
    assert!(
        one.heard()
            .iter()
            .all(|event| matches!(event, Event::Back { .. }))
    );
}

#[tokio::test]
async fn another_prefix_is_another_count() {
    let Some(server) = Server::start().await else {
        return;
    };
    let one = Gateway::up(patient(&server)).await;
    let mut settings = patient(&server);
    settings.prefix = "staging".to_owned();
    let two = Gateway::up(settings).await;
    let _first = one.enter("acme", "gpt", 1).await.expect("room");
    assert!(two.enter("acme", "gpt", 1).await.is_some());
}

#[tokio::test]
async fn leases_are_renewed_while_their_requests_run() {
    let Some(server) = Server::start().await else {
        return;
    };
    let mut settings = patient(&server);
    settings.lease = Duration::from_millis(600);
    let one = Gateway::up(settings.clone()).await;
    let two = Gateway::up(settings).await;
    let mut held = Vec::new();
    for alias in ["gpt", "llama", "a}b"] {
        held.push(one.enter("acme", alias, 1).await.expect("room"));
    }
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(2000) {
        for alias in ["gpt", "llama", "a}b"] {
            assert!(two.enter("acme", alias, 1).await.is_none());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(
        one.count(|event| matches!(event, Event::LeaseLost { .. })),
        0
    );
    drop(held);
    assert!(one.settle(LONG).await);
    assert!(two.enter("acme", "gpt", 1).await.is_some());
}

#[test]
fn a_killed_gateway_frees_its_slots_with_the_lease() {
    let runtime = || tokio::runtime::Runtime::new().unwrap();
    let main = runtime();
    let Some(server) = main.block_on(Server::start()) else {
        return;
    };
    let mut settings = patient(&server);
    settings.lease = Duration::from_millis(900);
    let victim = runtime();
    let (gateway, guard) = victim.block_on(async {
        let gateway = Gateway::up(settings.clone()).await;
        let guard = gateway.enter("acme", "gpt", 1).await;
        (gateway, guard)
    });
    assert!(guard.is_some());
    main.block_on(async {
        let other = Gateway::up(settings).await;
        // No task of it runs any more and none is told of a release.
        victim.shutdown_background();
        let killed = Instant::now();
        drop(guard);
        assert!(
            other.enter("acme", "gpt", 1).await.is_none(),
            "its lease runs"
        );
        let mut freed = None;
        eventually("the lease ends", async || {
            freed = other.enter("acme", "gpt", 1).await;
            freed.is_some()
        })
        .await;
        let took = killed.elapsed();
        assert!(
            took >= Duration::from_millis(500),
            "{took:?}: was it renewed or released?"
        );
        assert!(took <= Duration::from_millis(1500), "{took:?}");
        drop(gateway);
    });
}

#[tokio::test]
async fn a_dropped_call_leaves_no_slot() {
    let Some(server) = Server::start().await else {
        return;
    };
    let gateway = Gateway::up(patient(&server)).await;
    let shared = gateway.handle();
    // Before it is sent.
    poll_once(shared.enter("acme", "gpt", 100));
    // After it was sent, before the answer; the store carries it out all the same.
    server.freeze();
    let sent = Duration::from_millis(30);
    let call = tokio::time::timeout(sent, shared.enter("acme", "gpt", 100)).await;
    assert!(call.is_err());
    server.thaw();
    assert_eq!(gateway.held(), 0);
    assert!(gateway.settle(LONG).await);
    assert_eq!(running(&server, "acme", "gpt").await, 0);
    assert_eq!(gateway.count(|event| *event == Event::TimedOut), 0);
}

#[tokio::test]
async fn forgotten_scripts_are_loaded_again() {
    let Some(server) = Server::start().await else {
        return;
    };
    let mut settings = patient(&server);
    settings.lease = Duration::from_millis(300);
    let gateway = Gateway::up(settings).await;
    let guard = gateway.enter("acme", "gpt", 1).await.expect("room");
    for _ in 0..5 {
        let _: String = server.tell(&["SCRIPT", "FLUSH"]).await;
        assert!(gateway.enter("acme", "gpt", 1).await.is_none());
        assert!(gateway.enter("acme", "llama", 1).await.is_some());
        // A renewal falls into each of these.
        tokio::time::sleep(Duration::from_millis(120)).await;
    }
    drop(guard);
    assert!(gateway.settle(LONG).await);
    assert!(gateway.enter("acme", "gpt", 1).await.is_some());
    let events = gateway.heard();
    assert!(
        matches!(events.as_slice(), [Event::Back { .. }]),
        "{events:?}"
    );
}

#[tokio::test]
async fn the_last_handle_sends_what_is_queued() {
    let Some(server) = Server::start().await else {
        return;
    };
    let gateway = Gateway::up(patient(&server)).await;
    let mut held = Vec::new();
    for _ in 0..100 {
        held.push(gateway.enter("acme", "gpt", 100).await.expect("room"));
    }
    assert_eq!(running(&server, "acme", "gpt").await, 100);
    drop(gateway);
    drop(held);
    eventually("all slots are free", async || {
        running(&server, "acme", "gpt").await == 0
    })
    .await;
}

#[tokio::test]
async fn clocks_of_gateways_do_not_matter() {
    let Some(server) = Server::start().await else {
        return;
    };
    let gateway = Gateway::up(patient(&server)).await;
    let _guard = gateway.enter("acme", "gpt", 1).await.expect("room");
    let ends: Vec<(String, u64)> = server
        .tell(&[
            "ZRANGE",
            "{onwards:gpt}:running:acme",
            "0",
            "-1",
            "WITHSCORES",
        ])
        .await;
    let (seconds, micros): (u64, u64) = server.tell(&["TIME"]).await;
    let now = seconds * 1000 + micros / 1000;
    let left = ends[0].1 - now;
    assert!(
        (14_000..=15_000).contains(&left),
        "{left} ms by the store's own clock"
    );
}
