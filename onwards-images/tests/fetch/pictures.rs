//! What goes well.

use super::support::*;
use onwards_images::{Failed, Fetcher, Reason, Settings};
use std::time::Duration;

#[tokio::test]
async fn each_address_is_given_with_its_picture() {
    let (fetcher, script, _) = scripted(
        plain(),
        [
            ("/1", picture(b"\x89PNG\r\n\x1a\n.")),
            ("/2?a=b", picture(b"\xff\xd8\xff.")),
            ("/3", picture(GIF)),
            ("/4", picture(b"RIFF\x04\0\0\0WEBP")),
        ],
    )
    .await;
    let urls =
        ["/1", "/2?a=b", "/3", "/2?a=b", "/4"].map(|path| format!("http://pics.example{path}"));
    let fetched = fetcher.fetch(&urls).await.unwrap();
    let told: Vec<_> = fetched
        .iter()
        .map(|(url, picture)| (url.as_str(), picture.mime, picture.base64.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            ("http://pics.example/1", "image/png", "iVBORw0KGgou"),
            ("http://pics.example/2?a=b", "image/jpeg", "/9j/Lg=="),
            ("http://pics.example/3", "image/gif", "R0lGODlhIHBpeGVscw=="),
            ("http://pics.example/4", "image/webp", "UklGRgQAAABXRUJQ"),
        ]
    );
    assert_eq!(script.asked().len(), 4);
}

#[tokio::test]
async fn a_request_says_nothing_of_who_asks() {
    let (fetcher, script, world) = scripted(plain(), [("/a%20b?c", picture(GIF))]).await;
    let url = "http://pics.example:8080/a b?c#d";
    assert_eq!(types(fetcher.fetch(&[url]).await), Ok(vec!["image/gif"]));
    assert_eq!(
        script.asked(),
        [
            "GET /a%20b?c HTTP/1.1\r\nhost: pics.example:8080\r\nuser-agent: onwards\r\n\
          accept: image/jpeg, image/png, image/gif, image/webp\r\naccept-encoding: identity\r\n\
          connection: close\r\n\r\n"
        ]
    );
    assert_eq!(world.log(), ["? pics.example", "> 93.184.216.34:8080"]);
}

#[tokio::test]
async fn every_framing_is_read() {
    let head = "HTTP/1.1 200 OK\r\n";
    let chunked = format!(
        "{head}transfer-encoding: chunked\r\n\r\n3\r\nGIF\r\n3;x=y\r\n89a\r\n0\r\nt: u\r\n\r\n"
    );
    let acts = [
        ("/chunked", vec![Act::Say(chunked.into_bytes())]),
        (
            "/close",
            vec![Act::Say(format!("{head}\r\nGIF89a").into_bytes())],
        ),
        (
            "/old",
            vec![Act::Say(b"HTTP/1.0 200 OK\r\n\r\nGIF89a".to_vec())],
        ),
        (
            "/cut",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nGIF89a"
                .bytes()
                .map(|byte| Act::Say(vec![byte]))
                .collect(),
        ),
    ];
    let (fetcher, ..) = scripted(plain(), acts).await;
    let urls = ["chunked", "close", "old", "cut"].map(|path| format!("http://pics.example/{path}"));
    assert_eq!(types(fetcher.fetch(&urls).await), Ok(vec!["image/gif"; 4]));
}

#[tokio::test]
async fn four_are_fetched_at_once() {
    let slow = || [vec![Act::Wait(Duration::from_millis(60))], picture(GIF)].concat();
    let paths: Vec<String> = (0..10).map(|number| format!("/{number}")).collect();
    let acts = paths.iter().map(|path| (path.as_str(), slow()));
    let (fetcher, script, _) = scripted(plain(), acts).await;
    let urls: Vec<String> = paths
        .iter()
        .map(|path| format!("http://pics.example{path}"))
        .collect();
    assert_eq!(fetcher.fetch(&urls).await.unwrap().len(), 10);
    script.empty().await;
    assert_eq!(*script.counts.lock().unwrap(), [0, 4, 10]);
}

#[tokio::test]
async fn nothing_is_asked_for_no_address() {
    let (fetcher, script, _) = scripted(plain(), []).await;
    assert_eq!(fetcher.fetch(&[""; 0]).await, Ok(Vec::new()));
    assert_eq!(script.asked(), [""; 0]);
}

/// Over the system's own resolver and sockets.
#[tokio::test]
async fn a_private_network_is_reached_where_that_is_allowed() {
    let (script, at) = Script::new([("/", picture(GIF))]).serve(None).await;
    let settings = Settings {
        allow_private: true,
        ..plain()
    };
    let urls = [
        format!("http://{at}/"),
        format!("http://localhost:{}/", at.port()),
    ];
    let open = Fetcher::new(settings, no_trust());
    assert_eq!(types(open.fetch(&urls).await), Ok(vec!["image/gif"; 2]));
    let closed = Fetcher::new(plain(), no_trust());
    for url in &urls {
        assert_eq!(closed.fetch(&[url]).await, failed(Reason::BlockedAddress));
    }
    assert_eq!(script.asked().len(), 2);
}

#[tokio::test]
async fn the_first_failure_ends_the_others_and_is_named() {
    let (fetcher, script, _) = scripted(
        plain(),
        [("/good", picture(GIF)), ("/hang", vec![Act::Hang])],
    )
    .await;
    let urls =
        ["/good", "/hang", "/hang", "/none"].map(|path| format!("http://pics.example{path}"));
    let failed = Failed {
        index: 3,
        reason: Reason::BadStatus,
    };
    assert_eq!(fetcher.fetch(&urls).await, Err(failed));
    assert_eq!(failed.to_string(), "picture 3: bad_status");
    script.empty().await;
}

#[tokio::test]
async fn a_dropped_fetch_closes_its_connections() {
    let (fetcher, script, _) = scripted(plain(), [("/hang", vec![Act::Hang])]).await;
    let urls = ["http://pics.example/hang"];
    let fetch = fetcher.fetch(&urls);
    assert!(
        tokio::time::timeout(Duration::from_millis(50), fetch)
            .await
            .is_err()
    );
    script.empty().await;
    assert_eq!(script.asked().len(), 1);
}

/// A server's tasks move between threads.
#[tokio::test]
async fn a_fetch_may_be_spawned() {
    let (fetcher, ..) = scripted(plain(), [("/", picture(GIF))]).await;
    let urls = vec!["http://pics.example/".to_owned()];
    let fetched = tokio::spawn(async move { fetcher.fetch(&urls).await });
    assert_eq!(types(fetched.await.unwrap()), Ok(vec!["image/gif"]));
}

#[test]
fn the_words_are_a_closed_set() {
    let words = [
        (Reason::BlockedAddress, "blocked_address"),
        (Reason::TooLarge, "too_large"),
        (Reason::Timeout, "timeout"),
        (Reason::BadStatus, "bad_status"),
        (Reason::NotAnImage, "not_an_image"),
        (Reason::BadUrl, "bad_url"),
    ];
    for (reason, word) in words {
        assert_eq!((reason.word(), reason.to_string().as_str()), (word, word));
    }
}
