//! A store that is away: at the start, frozen, killed, started again without its data.

use std::time::Duration;

use onwards_limits::Counter;
use onwards_shared::{Event, NotTaken, Reason, Settings, SharedState, WhenAway};
use tokio::time::Instant;

use crate::server::{LONG, Server, eventually};
use crate::support::{Gateway, entered, limit, patient};

/// A machine that runs other tests too: what a bound may be exceeded by.
const SLACK: Duration = Duration::from_millis(250);

#[tokio::test]
async fn a_start_without_the_store_waits_for_nobody() {
    let Some(mut server) = Server::start().await else {
        return;
    };
    server.kill();
    let mut settings = patient(&server);
    for (when_away, admitted) in [(WhenAway::Admit, true), (WhenAway::Refuse, false)] {
        settings.when_away = when_away;
        let gateway = Gateway::start(settings.clone());
        let start = Instant::now();
        let guard = gateway.enter("acme", "gpt", 1).await;
        assert_eq!(guard.is_some(), admitted);
        assert!(gateway.enter("acme", "gpt", 1).await.is_none());
        let token = gateway.take(&[limit("key", 1e-6, 1)]).await;
        assert_eq!(token.is_ok(), admitted);
        let token = gateway.take(&[limit("key", 1e-6, 1)]).await;
        match (token, admitted) {
            (Err(NotTaken::Empty { .. }), true) | (Err(NotTaken::Away), false) => {}
            other => panic!("{other:?}"),
        }
        assert!(
            start.elapsed() < SLACK,
            "no call waits: {:?}",
            start.elapsed()
        );
        assert!(!gateway.is_up());
        gateway
            .hears("why", |event| {
                matches!(event, Event::Away(Reason::Unreachable { problem }) if problem.contains("refused"))
            })
            .await;
    }

    let gateway = Gateway::start(patient(&server));
    let _guard = gateway.enter("acme", "gpt", 1).await.expect("alone");
    server.start_again().await;
    tokio::time::timeout(LONG, gateway.up())
        .await
        .expect("it comes up");
    let other = Gateway::up(patient(&server)).await;
    assert!(
        other.enter("acme", "gpt", 1).await.is_none(),
        "what was admitted alone is counted once the store is there"
    );
    assert_eq!(
        gateway.count(|event| matches!(event, Event::LeaseLost { .. })),
        0
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_partition_costs_the_bound_a_few_times_and_then_nothing() {
    let Some(server) = Server::start().await else {
        return;
    };
    for (when_away, admitted) in [(WhenAway::Admit, true), (WhenAway::Refuse, false)] {
        let mut settings = Settings::new(server.url());
        settings.bound = Duration::from_millis(50);
        settings.when_away = when_away;
        let gateway = Gateway::up(settings).await;
        let before = gateway.enter("acme", "gpt", 3).await;
        assert!(before.is_some());
        server.freeze();
        let frozen = Instant::now();
        // Ten calls at once are one strike.
        let together: Vec<_> = (0..10)
            .map(|_| {
                let shared = gateway.handle();
                tokio::spawn(async move { shared.enter("acme", "gpt", 100).await })
            })
            .collect();
        let mut held = Vec::new();
        for call in together {
            held.push(entered(call.await.unwrap()));
        }
        assert!(gateway.is_up());
        for call in 1..3 {
            let start = Instant::now();
            let guard = gateway.enter("acme", "gpt", 100).await;
            assert_eq!(guard.is_some(), admitted, "call {call}");
            held.push(guard);
            let took = start.elapsed();
            assert!(
                took < Duration::from_millis(50) + SLACK,
                "call {call}: {took:?}"
            );
        }
        assert!(!gateway.is_up());
        let start = Instant::now();
        for _ in 0..1000 {
            assert_eq!(gateway.enter("acme", "gpt", 100).await.is_some(), admitted);
            assert_eq!(
                gateway.take(&[limit("key", 1e6, 1000)]).await.is_ok(),
                admitted
            );
        }
        assert!(
            start.elapsed() < Duration::from_millis(1000),
            "{:?}",
            start.elapsed()
        );
        assert!(
            gateway
                .enter("acme", "gpt", if admitted { 13 } else { 100 })
                .await
                .is_none(),
            "the limit holds here, with what ran before"
        );
        assert_eq!(gateway.count(|event| *event == Event::TimedOut), 12);
        assert_eq!(
            gateway.count(|event| *event == Event::Away(Reason::TimedOut)),
            1
        );

        server.thaw();
        tokio::time::timeout(LONG, gateway.up())
            .await
            .expect("it comes back");
        gateway
            .hears("since when", |event| {
                matches!(event, Event::Back { after } if *after <= frozen.elapsed() && *after >= Duration::from_millis(1))
            })
            .await;
        drop((before, held));
        assert!(gateway.settle(LONG).await);
        eventually("no slot is left behind", async || {
            let left: u32 = server.tell(&["ZCARD", "{onwards:gpt}:running:acme"]).await;
            left == 0
        })
        .await;
        let back = gateway.enter("acme", "gpt", 1).await;
        assert!(back.is_some(), "{:?}", gateway.heard());
    }
}

#[tokio::test]
async fn time_outs_that_are_not_in_a_row_close_nothing() {
    let Some(server) = Server::start().await else {
        return;
    };
    let mut settings = Settings::new(server.url());
    settings.bound = Duration::from_millis(100);
    let gateway = Gateway::up(settings).await;
    for round in 1..=4 {
        server.freeze();
        assert!(gateway.enter("acme", "gpt", 1).await.is_some(), "alone");
        server.thaw();
        eventually("an answer in time", async || {
            let before = gateway.count(|event| matches!(event, Event::Alone { .. }));
            gateway
                .take(&[limit("key", 1e6, 1000)])
                .await
                .expect("tokens");
            gateway.count(|event| matches!(event, Event::Alone { .. })) == before
        })
        .await;
        let away = gateway.count(|event| matches!(event, Event::Away(_)));
        assert_eq!(away, 0, "round {round}: {:?}", gateway.heard());
    }
    assert!(gateway.settle(LONG).await);
    let left: u32 = server.tell(&["EXISTS", "{onwards:gpt}:running:acme"]).await;
    assert_eq!(left, 0, "what was asked for and not answered is released");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_without_data_is_told_what_runs() {
    let Some(mut server) = Server::start().await else {
        return;
    };
    let one = Gateway::up(patient(&server)).await;
    let two = Gateway::up(patient(&server)).await;
    let mut held = Vec::new();
    for _ in 0..2 {
        held.push(one.enter("acme", "gpt", 4).await.expect("room"));
        held.push(two.enter("acme", "gpt", 4).await.expect("room"));
    }
    server.start_again().await;
    for gateway in [&one, &two] {
        gateway
            .hears("lost leases", |event| {
                *event == Event::LeaseLost { count: 2 }
            })
            .await;
        tokio::time::timeout(LONG, gateway.up())
            .await
            .expect("it comes back");
    }
    let count: u32 = server.tell(&["ZCARD", "{onwards:gpt}:running:acme"]).await;
    assert_eq!(count, 4);
    assert!(one.enter("acme", "gpt", 4).await.is_none());
    held.pop();
    assert!(two.settle(LONG).await);
    let again = one.enter("acme", "gpt", 4).await;
    assert!(again.is_some(), "{:?}", one.heard());
}

#[tokio::test]
async fn a_store_that_refuses_is_away() {
    let Some(server) = Server::start_with(&["--requirepass", "open sesame"]).await else {
        return;
    };
    let stranger = Gateway::start(Settings::new(server.url()));
    stranger
        .hears("why", |event| matches!(event, Event::Away(_)))
        .await;
    let away = stranger.heard();
    assert!(
        matches!(away.as_slice(), [Event::Away(Reason::Server { code })] if code == "NOAUTH"),
        "{away:?}"
    );
    let mut settings = patient(&server);
    settings.url = server.url().replace("127", ":open%20sesame@127");
    let guest = Gateway::up(settings.clone()).await;
    assert!(guest.enter("acme", "gpt", 1).await.is_some());
    settings.url = server.url().replace("127", ":hidden@127");
    let thief = Gateway::start(settings);
    thief
        .hears("why", |event| matches!(event, Event::Away(_)))
        .await;
    let heard = format!("{:?} {:?}", thief.heard(), thief.handle());
    assert!(
        !heard.contains("hidden") && !heard.contains("sesame"),
        "{heard}"
    );
}

#[tokio::test]
async fn a_store_that_turns_read_only_is_away_until_it_writes_again() {
    let Some(server) = Server::start().await else {
        return;
    };
    let gateway = Gateway::up(patient(&server)).await;
    let before = gateway.enter("acme", "gpt", 1).await.expect("room");
    let _: String = server.tell(&["REPLICAOF", "127.0.0.1", "1"]).await;
    for _ in 0..3 {
        assert!(gateway.take(&[limit("key", 1.0, 9)]).await.is_ok(), "alone");
    }
    assert!(!gateway.is_up());
    let away = Event::Away(Reason::Server {
        code: "READONLY".to_owned(),
    });
    assert_eq!(gateway.count(|event| *event == away), 1);
    drop(before);
    let _: String = server.tell(&["REPLICAOF", "NO", "ONE"]).await;
    tokio::time::timeout(LONG, gateway.up())
        .await
        .expect("it comes back");
}

#[tokio::test]
async fn a_store_that_comes_and_goes_is_asked_ever_less() {
    let Some(server) = Server::start().await else {
        return;
    };
    let gateway = Gateway::up(patient(&server)).await;
    // The probe may be written and read, counts may not.
    let rights = ["ACL", "SETUSER", "default", "resetkeys", "~{onwards}:*"];
    let _: String = server.tell(&rights).await;
    let guard = gateway.enter("acme", "gpt", 1).await;
    drop(guard.expect("alone"));
    let start = Instant::now();
    gateway
        .hears(
            "why",
            |event| matches!(event, Event::Away(Reason::Server { code }) if code == "NOPERM"),
        )
        .await;
    eventually("it comes and goes", async || {
        gateway.count(|event| matches!(event, Event::Back { .. })) >= 5
    })
    .await;
    // The start, and after pauses of 50, 100, 200 and 400 ms, or half of each by jitter.
    let took = start.elapsed();
    assert!(took >= Duration::from_millis(375), "{took:?}");
}

#[tokio::test]
async fn one_spoilt_key_does_not_spoil_the_others() {
    let Some(server) = Server::start().await else {
        return;
    };
    let mut settings = patient(&server);
    settings.lease = Duration::from_millis(300);
    let gateway = Gateway::up(settings).await;
    let _: String = server
        .tell(&["SET", "{onwards:gpt}:running:acme", "x"])
        .await;
    let _alone = gateway.enter("acme", "gpt", 1).await.expect("alone");
    gateway
        .hears(
            "a renewal of it",
            |event| matches!(event, Event::Faulted { code } if code == "WRONGTYPE"),
        )
        .await;
    assert!(gateway.enter("acme", "llama", 1).await.is_some());
    eventually("more renewals", async || {
        gateway.count(|event| matches!(event, Event::Faulted { .. })) >= 4
    })
    .await;
    assert!(gateway.is_up());
}

#[tokio::test]
async fn a_full_queue_is_said_and_leaves_slots_to_their_lease() {
    let Some(server) = Server::start().await else {
        return;
    };
    let mut settings = patient(&server);
    settings.queue = 4;
    settings.lease = Duration::from_millis(900);
    let gateway = Gateway::up(settings).await;
    let mut held = Vec::new();
    for _ in 0..10 {
        held.push(gateway.enter("acme", "gpt", 10).await.expect("room"));
    }
    // On one thread nobody drains the queue in between.
    drop(held);
    assert_eq!(gateway.queued(), 4);
    assert_eq!(gateway.count(|event| *event == Event::Unsent), 6);
    assert!(gateway.settle(LONG).await);
    assert_eq!(gateway.enter("acme", "gpt", 6).await.map(drop), None);
    eventually("their leases end", async || {
        gateway.enter("acme", "gpt", 1).await.is_some()
    })
    .await;
}

#[test]
fn without_a_runtime_there_is_an_error() {
    let refused = SharedState::connect(
        Settings::new("redis://127.0.0.1:1/"),
        std::sync::Arc::new(()),
    );
    assert_eq!(
        refused.map(drop).unwrap_err().to_string(),
        "must be called on a tokio runtime"
    );
    fn serves(_: impl Counter + Clone + 'static) {}
    let _: fn(SharedState) = serves;
}
