//! What a request must not reach.

use std::sync::Arc;
use std::time::Duration;

use super::support::*;
use onwards_images::{Reason, Settings};

/// A fetcher in a world where one name has these addresses.
async fn resolving(addresses: &[&str]) -> (Result<Vec<&'static str>, Reason>, Vec<String>) {
    let (_script, at) = Script::new([("/", picture(GIF))]).serve(None).await;
    let world = Arc::new(World::new(at).name("pics.example", &[addresses]));
    let fetched = fetcher(plain(), &world)
        .fetch(&["http://pics.example/"])
        .await;
    (types(fetched), world.log())
}

#[tokio::test]
async fn every_address_of_a_name_must_be_public() {
    let blocked = Err(Reason::BlockedAddress);
    for addresses in [
        &["127.0.0.1"][..],
        &["10.1.2.3"],
        &["169.254.169.254"],
        &["::1"],
        &["fd00::1"],
        &["::ffff:192.168.0.1"],
        &[PUBLIC, "127.0.0.1"],
        &["2a00::1", PUBLIC, "fe80::1"],
        &[],
    ] {
        let (fetched, log) = resolving(addresses).await;
        assert_eq!(fetched, blocked, "{addresses:?}");
        assert_eq!(log, ["? pics.example"], "{addresses:?}");
    }
    let (fetched, log) = resolving(&[PUBLIC, "2a00::1"]).await;
    assert_eq!(fetched, Ok(vec!["image/gif"]));
    assert_eq!(log, ["? pics.example", "> 93.184.216.34:80"]);
}

#[tokio::test]
async fn addresses_in_an_address_are_checked_and_not_looked_up() {
    let (fetcher, _, world) = scripted(plain(), [("/", picture(GIF))]).await;
    for host in [
        "127.0.0.1",
        "2130706433",
        "0x7f.1",
        "0",
        "[::1]",
        "[::ffff:a9fe:a9fe]",
        "100.100.100.200",
    ] {
        let url = format!("http://{host}/");
        assert_eq!(
            fetcher.fetch(&[&url]).await,
            failed(Reason::BlockedAddress),
            "{url}"
        );
    }
    assert_eq!(world.log(), [""; 0]);
    let fetched = fetcher
        .fetch(&["http://93.184.216.34:81/", "http://[2a00::1]/"])
        .await;
    assert_eq!(types(fetched), Ok(vec!["image/gif"; 2]));
    assert_eq!(world.log(), ["> 93.184.216.34:81", "> [2a00::1]:80"]);
}

/// A name that is public when it is checked and private when it is connected to.
#[tokio::test]
async fn a_name_is_looked_up_once_and_the_connection_goes_where_it_was_checked() {
    let (_script, at) = Script::new([("/", picture(GIF))]).serve(None).await;
    let world = Arc::new(World::new(at).name("pics.example", &[&[PUBLIC], &["127.0.0.1"]]));
    let fetcher = fetcher(plain(), &world);
    assert_eq!(
        types(fetcher.fetch(&["http://pics.example/"]).await),
        Ok(vec!["image/gif"])
    );
    assert_eq!(world.log(), ["? pics.example", "> 93.184.216.34:80"]);
    // The next request asks again, and is refused.
    assert_eq!(
        fetcher.fetch(&["http://pics.example/"]).await,
        failed(Reason::BlockedAddress)
    );
    assert_eq!(world.log().len(), 3);
}

/// The answer is the same as for a private name, so that nobody learns which names there are.
#[tokio::test]
async fn a_name_that_is_not_known_is_refused_like_a_private_one() {
    let (fetcher, _, world) = scripted(plain(), []).await;
    assert_eq!(
        fetcher.fetch(&["http://intranet/"]).await,
        failed(Reason::BlockedAddress)
    );
    assert_eq!(world.log(), ["? intranet"]);
}

#[tokio::test]
async fn a_host_that_is_not_listed_is_not_looked_up() {
    let settings = Settings {
        allow_hosts: vec!["pics.example".to_owned()],
        ..plain()
    };
    let (fetcher, _, world) = scripted(settings, [("/", picture(GIF))]).await;
    assert_eq!(
        fetcher.fetch(&["http://other.example/"]).await,
        failed(Reason::BlockedAddress)
    );
    assert_eq!(world.log(), [""; 0]);
    assert_eq!(
        types(fetcher.fetch(&["http://pics.example/"]).await),
        Ok(vec!["image/gif"])
    );
}

/// Being listed opens no private network.
#[tokio::test]
async fn a_listed_host_must_be_public_too() {
    let settings = Settings {
        allow_hosts: vec!["pics.example".to_owned(), "127.0.0.1".to_owned()],
        ..plain()
    };
    let world = Arc::new(World::default().name("pics.example", &[&["10.0.0.1"]]));
    let fetcher = fetcher(settings, &world);
    for url in ["http://pics.example/", "http://127.0.0.1/"] {
        assert_eq!(fetcher.fetch(&[url]).await, failed(Reason::BlockedAddress));
    }
}

#[tokio::test]
async fn addresses_that_cannot_be_asked_send_nobody_out() {
    let (fetcher, _, world) = scripted(Settings::default(), []).await;
    for url in [
        "http://pics.example/",
        "https://u:p@pics.example/",
        "file:///etc/passwd",
        "cat.png",
    ] {
        assert_eq!(fetcher.fetch(&[url]).await, failed(Reason::BadUrl), "{url}");
    }
    assert_eq!(world.log(), [""; 0]);
}

#[tokio::test]
async fn a_dead_address_gives_way_to_the_next() {
    let (_script, at) = Script::new([("/", picture(GIF))]).serve(None).await;
    let mut world = World::new(at).name("pics.example", &[&["2a00::1", PUBLIC]]);
    world.dead = vec!["2a00::1".parse().unwrap()];
    let world = Arc::new(world);
    let begun = tokio::time::Instant::now();
    let fetched = fetcher(plain(), &world)
        .fetch(&["http://pics.example/"])
        .await;
    assert_eq!(types(fetched), Ok(vec!["image/gif"]));
    assert_eq!(
        world.log(),
        ["? pics.example", "> [2a00::1]:80", "> 93.184.216.34:80"]
    );
    assert!(begun.elapsed() < Duration::from_secs(2));
}

#[tokio::test]
async fn a_name_with_many_addresses_is_tried_eight_times() {
    let all: Vec<String> = (1..20).map(|last| format!("8.8.8.{last}")).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let world = Arc::new(World::default().name("pics.example", &[&all]));
    let fetched = fetcher(plain(), &world)
        .fetch(&["http://pics.example/"])
        .await;
    assert_eq!(fetched, failed(Reason::BadStatus));
    assert_eq!(world.log().len(), 9);
}
