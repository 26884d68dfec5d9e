//! A place and tokens at once: both or neither, in one round trip.

use onwards_limits::Counter;
use onwards_shared::{Admitted, Limit, NotAdmitted, Place, WhenAway};

use crate::server::{LONG, Server};
use crate::support::{Gateway, limit, patient};

fn place(most: u32) -> Option<Place<'static>> {
    Some(Place {
        scope: "acme",
        alias: "gpt",
        limit: most,
    })
}

/// How many of the key's tokens are left after this, or why it was refused.
fn left(admitted: &Result<Admitted, NotAdmitted>) -> Result<u32, &'static str> {
    match admitted {
        Ok(admitted) => Ok(admitted.taken.as_ref().unwrap().gauges()[0].remaining),
        Err(NotAdmitted::Full) => Err("full"),
        Err(NotAdmitted::Empty { .. }) => Err("empty"),
        Err(_) => Err("away"),
    }
}

#[tokio::test]
async fn both_are_given_or_neither() {
    let Some(server) = Server::start().await else {
        return;
    };
    let gateway = Gateway::up(patient(&server)).await;
    let (key, pool) = (limit("key:1", 1e-6, 3), limit("pool:gpt", 1e-6, 9));
    let admit = async |most, limits: &[Limit<'_>]| gateway.admit(place(most), limits).await;
    let first = admit(1, &[key, pool]).await;
    assert_eq!(left(&first), Ok(2));
    // Another gateway does not know the first one's places, so the store has to say it.
    let other = Gateway::up(patient(&server)).await;
    for _ in 0..3 {
        let full = other.admit(place(1), &[key, pool]).await;
        assert_eq!(left(&full), Err("full"));
    }
    let second = admit(9, &[key, pool]).await;
    let third = admit(9, &[key, pool]).await;
    assert_eq!((left(&second), left(&third)), (Ok(1), Ok(0)));
    let empty = other.admit(place(9), &[key, pool]).await;
    assert!(
        matches!(&empty, Err(NotAdmitted::Empty { refused, gauges })
            if refused.index == 0 && gauges[1].remaining == 6),
        "{empty:?}"
    );
    let running: u32 = server.tell(&["ZCARD", "{onwards:gpt}:running:acme"]).await;
    assert_eq!(running, 3, "the refused one has no place");
    // What one gives back, the other may have.
    let third = third.unwrap();
    third.taken.unwrap().give_back();
    drop((first, second, third.place));
    assert!(gateway.settle(LONG).await);
    assert_eq!(left(&other.admit(place(1), &[key, pool]).await), Ok(0));
}

#[tokio::test]
async fn an_admission_is_one_round_trip() {
    let Some(server) = Server::start().await else {
        return;
    };
    let gateway = Gateway::up(patient(&server)).await;
    let both = [limit("key:1", 1.0, 9), limit("pool:gpt", 1.0, 9)];
    for (place, limits) in [(place(5), &both[..]), (place(5), &[]), (None, &both)] {
        let _: String = server.tell(&["CONFIG", "RESETSTAT"]).await;
        let admitted = gateway.admit(place, limits).await.unwrap();
        assert_eq!(
            (admitted.place.is_some(), admitted.taken.is_some()),
            (place.is_some(), !limits.is_empty())
        );
        let stats: String = server.tell(&["INFO", "commandstats"]).await;
        let calls = stats.lines().find(|line| line.contains("_evalsha:"));
        assert!(
            calls.is_some_and(|line| line.contains("calls=1,")),
            "{stats}"
        );
    }
    let nothing = gateway.admit(None, &[]).await.unwrap();
    assert_eq!(
        format!("{nothing:?}"),
        "Admitted { place: false, taken: None }"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn neither_limit_is_exceeded_by_two_gateways() {
    let Some(server) = Server::start().await else {
        return;
    };
    let gateways = [
        Gateway::up(patient(&server)).await,
        Gateway::up(patient(&server)).await,
    ];
    let mut callers = tokio::task::JoinSet::new();
    for caller in 0..8 {
        let shared = gateways[caller % 2].handle();
        callers.spawn(async move {
            let mut admitted = Vec::new();
            for _ in 0..40 {
                let limits = [limit("key:1", 1e-6, 60)];
                admitted.extend(shared.admit(place(25), &limits).await.ok());
            }
            admitted
        });
    }
    let held = callers
        .join_all()
        .await
        .into_iter()
        .flatten()
        .collect::<Vec<_>>();
    assert_eq!(held.len(), 25, "of 320, with 60 tokens");
    let left = gateways[0].take(&[limit("key:1", 1e-6, 60)]).await.unwrap();
    assert_eq!(left.gauges()[0].remaining, 60 - 25 - 1);
}

#[tokio::test]
async fn without_the_store_both_are_decided_alone() {
    let Some(mut server) = Server::start().await else {
        return;
    };
    server.kill();
    let mut settings = patient(&server);
    let key = [limit("key:1", 1e-6, 2)];
    let alone = Gateway::start(settings.clone());
    let held = alone.admit(place(1), &key).await;
    assert_eq!(left(&held), Ok(1));
    assert_eq!(left(&alone.admit(place(1), &key).await), Err("full"));
    assert_eq!(left(&alone.admit(place(9), &key).await), Ok(0));
    assert_eq!(left(&alone.admit(place(9), &key).await), Err("empty"));
    assert_eq!(alone.held(), 1, "who is refused for the rate has no place");
    settings.when_away = WhenAway::Refuse;
    let strict = Gateway::start(settings);
    assert_eq!(left(&strict.admit(place(1), &key).await), Err("away"));
    assert!(matches!(
        strict.handle().enter("acme", "gpt", 1).await,
        onwards_limits::Admission::Unavailable
    ));
    assert!(matches!(
        strict.handle().enter("acme", "gpt", 0).await,
        onwards_limits::Admission::Refused
    ));
}
