//! Rates: one bucket for all gateways, all buckets or none.

use std::time::Duration;

use onwards_limits::Refused;
use onwards_shared::NotTaken;

use crate::server::{LONG, Server};
use crate::support::{Gateway, limit, patient};

/// The refusal, or `None` if the tokens were taken.
async fn refused(gateway: &Gateway, limits: &[onwards_shared::Limit<'_>]) -> Option<Refused> {
    match gateway.take(limits).await {
        Ok(_) => None,
        Err(NotTaken::Empty { refused, .. }) => Some(refused),
        Err(other) => panic!("{other}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_gateways_share_one_bucket() {
    let Some(server) = Server::start().await else {
        return;
    };
    let gateways = [
        Gateway::up(patient(&server)).await,
        Gateway::up(patient(&server)).await,
    ];
    let before = gateways[0].handle();
    let start = tokio::time::Instant::now();
    assert!(before.take(&[limit("key:1", 50.0, 20)]).await.is_ok());
    let mut callers = tokio::task::JoinSet::new();
    for caller in 0..16 {
        let shared = gateways[caller % 2].handle();
        callers.spawn(async move {
            let mut admitted = 0_u32;
            for _ in 0..100 {
                admitted += u32::from(shared.take(&[limit("key:1", 50.0, 20)]).await.is_ok());
            }
            admitted
        });
    }
    let admitted = 1 + callers.join_all().await.into_iter().sum::<u32>();
    let most = 20.0 + 50.0 * start.elapsed().as_secs_f64();
    assert!(admitted >= 20, "{admitted}");
    assert!(f64::from(admitted) <= most, "{admitted} of at most {most}");
}

#[tokio::test]
async fn a_refused_call_costs_nothing_and_knows_its_wait() {
    let Some(server) = Server::start().await else {
        return;
    };
    let gateway = Gateway::up(patient(&server)).await;
    // So slow that the test's own time does not show.
    let (key, pool) = (limit("key:1", 1e-6, 3), limit("pool:gpt", 1e-5, 1));
    let taken = gateway.take(&[key, pool]).await.expect("full buckets");
    let left: Vec<_> = taken
        .gauges()
        .iter()
        .map(|g| (g.limit, g.remaining))
        .collect();
    assert_eq!(left, [(3, 2), (1, 0)]);
    assert_eq!(taken.gauges()[0].next, Duration::ZERO);
    for _ in 0..5 {
        let found = gateway.take(&[key, pool]).await;
        let Err(NotTaken::Empty { refused, gauges }) = found else {
            panic!("{found:?}")
        };
        assert_eq!(refused.index, 1);
        let second = Duration::from_secs(1);
        assert!(
            (99_990 * second..=100_000 * second).contains(&refused.wait),
            "{refused:?}"
        );
        assert_eq!((gauges[0].remaining, gauges[1].next), (2, refused.wait));
    }
    assert_eq!(
        refused(&gateway, &[key, key]).await,
        None,
        "two are left, and both pay"
    );
    let wait = refused(&gateway, &[pool, key]).await.unwrap();
    assert_eq!(wait.index, 1, "the longer wait of the two");
    taken.give_back();
    assert!(gateway.settle(LONG).await);
    assert_eq!(
        refused(&gateway, &[key, pool]).await,
        None,
        "one token each came back"
    );
    assert!(refused(&gateway, &[key]).await.is_some());
}

#[tokio::test]
async fn whoever_comes_back_after_the_wait_is_served() {
    let Some(server) = Server::start().await else {
        return;
    };
    let gateway = Gateway::up(patient(&server)).await;
    for per_second in [37.3, 3.0, 1000.0 / 3.0] {
        let name = per_second.to_string();
        let one = [limit(&name, per_second, 1)];
        assert_eq!(refused(&gateway, &one).await, None);
        for _ in 0..5 {
            if let Some(wait) = refused(&gateway, &one).await {
                tokio::time::sleep(wait.wait).await;
                assert_eq!(refused(&gateway, &one).await, None, "after {wait:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_reload_keeps_what_is_spent() {
    let Some(server) = Server::start().await else {
        return;
    };
    let gateway = Gateway::up(patient(&server)).await;
    let left = async |burst| {
        let taken = gateway.take(&[limit("key", 1e-6, burst)]).await;
        taken.map(|taken| taken.gauges()[0].remaining).ok()
    };
    assert_eq!(left(1).await, Some(0));
    assert_eq!(
        left(50).await,
        Some(48),
        "as many more as the burst is larger"
    );
    assert_eq!(left(3).await, Some(0));
    assert_eq!(left(3).await, None);
    assert_eq!(left(4).await, Some(0), "back and forth mints nothing");
    assert_eq!(left(2).await, None);
}

#[tokio::test]
async fn a_full_bucket_is_not_kept() {
    let Some(server) = Server::start().await else {
        return;
    };
    let gateway = Gateway::up(patient(&server)).await;
    let slow = [limit("slow", 1e-30, u32::MAX)];
    let quick = [limit("quick", 1000.0, 5)];
    assert_eq!(refused(&gateway, &slow).await, None);
    gateway.take(&quick).await.expect("full").give_back();
    assert!(gateway.settle(LONG).await);
    let left: Vec<String> = server.tell(&["KEYS", "*:rate:*"]).await;
    assert_eq!(left, ["{onwards}:rate:slow"]);
    assert_eq!(refused(&gateway, &quick).await, None);
    let life: i64 = server.tell(&["PTTL", "{onwards}:rate:quick"]).await;
    assert!((1..=1002).contains(&life), "{life} ms");
    assert!(
        gateway
            .take(&[])
            .await
            .expect("nothing to pay")
            .gauges()
            .is_empty()
    );
}
