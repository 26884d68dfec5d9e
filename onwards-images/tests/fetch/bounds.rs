//! Sizes, times, and answers that are no picture.

use std::sync::Arc;
use std::time::Duration;

use super::support::*;
use onwards_images::{Failed, Reason, Settings};

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: image/gif\r\n";

fn say(text: &str) -> Act {
    Act::Say(text.as_bytes().to_vec())
}

#[track_caller]
fn check(fetched: Fetched, expect: Result<usize, Reason>) {
    let count = fetched
        .map(|pictures| pictures.len())
        .map_err(|failed| failed.reason);
    assert_eq!(count, expect);
}

#[tokio::test]
async fn a_picture_is_as_large_as_the_limit_or_refused() {
    let sized = |size: usize| [GIF, &vec![0; size - GIF.len()]].concat();
    let chunked = |body: &[u8]| {
        let mut bytes = format!(
            "{HEAD}transfer-encoding: chunked\r\n\r\n{:x}\r\n",
            body.len()
        )
        .into_bytes();
        bytes.extend(body);
        bytes.extend(b"\r\n0\r\n\r\n");
        vec![Act::Say(bytes)]
    };
    let settings = Settings {
        max_bytes: 5000,
        ..plain()
    };
    let acts = [
        ("/most", picture(&sized(5000))),
        ("/more", picture(&sized(5001))),
        ("/most-chunked", chunked(&sized(5000))),
        ("/more-chunked", chunked(&sized(5001))),
    ];
    let (fetcher, ..) = scripted(settings, acts).await;
    for (path, expect) in [("/most", Ok(1)), ("/more", Err(Reason::TooLarge))] {
        check(
            fetcher.fetch(&[format!("http://pics.example{path}")]).await,
            expect,
        );
        check(
            fetcher
                .fetch(&[format!("http://pics.example{path}-chunked")])
                .await,
            expect,
        );
    }
}

#[tokio::test]
async fn a_body_without_end_is_cut() {
    let endless =
        |head: &str, piece: &[u8]| vec![say(HEAD), say(head), Act::Forever(piece.to_vec())];
    let settings = Settings {
        max_bytes: 100_000,
        ..plain()
    };
    let acts = [
        ("/close", endless("\r\n", GIF)),
        (
            "/chunked",
            endless(
                "transfer-encoding: chunked\r\n\r\n",
                b"d\r\nGIF89a pixels\r\n",
            ),
        ),
        // The length is a promise that nobody has to believe.
        (
            "/length",
            endless("content-length: 999999999999\r\n\r\n", GIF),
        ),
    ];
    let (fetcher, script, _) = scripted(settings, acts).await;
    for path in ["close", "chunked", "length"] {
        check(
            fetcher
                .fetch(&[format!("http://pics.example/{path}")])
                .await,
            Err(Reason::TooLarge),
        );
    }
    script.empty().await;
}

#[tokio::test]
async fn all_pictures_together_have_a_limit() {
    let settings = Settings {
        max_total_bytes: 3 * GIF.len(),
        ..plain()
    };
    let paths = ["/1", "/2", "/3", "/4"];
    let (fetcher, ..) = scripted(settings, paths.map(|path| (path, picture(GIF)))).await;
    let urls = paths.map(|path| format!("http://pics.example{path}"));
    check(fetcher.fetch(&urls[..3]).await, Ok(3));
    check(fetcher.fetch(&urls).await, Err(Reason::TooLarge));
    // What one request used up is not the next one's concern.
    check(fetcher.fetch(&urls[1..]).await, Ok(3));
}

#[tokio::test]
async fn no_more_addresses_than_the_limit_are_asked() {
    let settings = Settings {
        max_images: 2,
        ..plain()
    };
    let (fetcher, script, _) = scripted(settings, [("/", picture(GIF))]).await;
    let url = "http://pics.example/";
    check(fetcher.fetch(&[url; 2]).await, Ok(1));
    let failed = Failed {
        index: 2,
        reason: Reason::TooLarge,
    };
    assert_eq!(fetcher.fetch(&[url; 3]).await, Err(failed));
    assert_eq!(script.asked().len(), 1);
}

#[tokio::test]
async fn one_deadline_is_kept_however_slow_the_server_is() {
    let drip = |text: &str| {
        let wait = Act::Wait(Duration::from_millis(40));
        text.bytes()
            .flat_map(|byte| [Act::Say(vec![byte]), wait.clone()])
            .collect::<Vec<_>>()
    };
    let slow_head = drip(&format!("{HEAD}{}", "x: y\r\n".repeat(50)));
    let slow_body = [vec![say(HEAD), say("\r\n")], drip(&"x".repeat(200))].concat();
    let slow_hops = [vec![Act::Wait(Duration::from_millis(150))], moved("/hops")].concat();
    let settings = Settings {
        timeout: Duration::from_millis(300),
        max_redirects: 10,
        ..plain()
    };
    let acts = [
        ("/silent", vec![Act::Hang]),
        ("/head", slow_head),
        ("/body", slow_body),
        (
            "/half",
            vec![say(HEAD), say("content-length: 9\r\n\r\nGIF"), Act::Hang],
        ),
        ("/hops", slow_hops),
        (
            "/informed",
            vec![Act::Forever(b"HTTP/1.1 102 Processing\r\n\r\n".to_vec())],
        ),
    ];
    let (fetcher, script, _) = scripted(settings, acts).await;
    for path in ["silent", "head", "body", "half", "hops", "informed"] {
        let begun = tokio::time::Instant::now();
        let fetched = fetcher
            .fetch(&[format!("http://pics.example/{path}")])
            .await;
        assert_eq!(fetched, failed(Reason::Timeout), "{path}");
        let took = begun.elapsed();
        assert!((300..4000).contains(&took.as_millis()), "{path} {took:?}");
    }
    script.empty().await;
}

#[tokio::test]
async fn the_deadline_is_that_of_all_pictures_together() {
    let slow = || [vec![Act::Wait(Duration::from_millis(400))], picture(GIF)].concat();
    let settings = Settings {
        timeout: Duration::from_millis(700),
        ..plain()
    };
    let paths = ["/1", "/2", "/3", "/4", "/5"];
    let (fetcher, ..) = scripted(settings, paths.map(|path| (path, slow()))).await;
    let urls = paths.map(|path| format!("http://pics.example{path}"));
    check(fetcher.fetch(&urls[..4]).await, Ok(4));
    let failed = Failed {
        index: 4,
        reason: Reason::Timeout,
    };
    assert_eq!(fetcher.fetch(&urls).await, Err(failed));
}

#[tokio::test]
async fn names_and_connections_that_hang_time_out() {
    let settings = || Settings {
        timeout: Duration::from_millis(100),
        ..plain()
    };
    let mute = Arc::new(World {
        mute: true,
        ..World::default()
    });
    let fetched = fetcher(settings(), &mute)
        .fetch(&["http://pics.example/"])
        .await;
    assert_eq!(fetched, failed(Reason::Timeout));
    let dead = World {
        dead: vec![PUBLIC.parse().unwrap()],
        ..World::default()
    };
    let dead = Arc::new(dead.name("pics.example", &[&[PUBLIC]]));
    let fetched = fetcher(settings(), &dead)
        .fetch(&["http://pics.example/"])
        .await;
    assert_eq!(fetched, failed(Reason::Timeout));
}

#[tokio::test]
async fn what_is_no_picture_is_not_given() {
    let acts = [
        ("/html", picture(b"<html>GIF89a</html>")),
        (
            "/svg",
            picture(b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
        ),
        ("/empty", picture(b"")),
        ("/short", picture(b"GIF8")),
    ];
    let (fetcher, ..) = scripted(plain(), acts).await;
    for path in ["html", "svg", "empty", "short"] {
        let fetched = fetcher
            .fetch(&[format!("http://pics.example/{path}")])
            .await;
        assert_eq!(fetched, failed(Reason::NotAnImage), "{path}");
    }
    let settings = Settings {
        mime_types: vec!["image/png".to_owned()],
        ..plain()
    };
    let (fetcher, script, _) = scripted(settings, [("/", picture(GIF))]).await;
    let fetched = fetcher.fetch(&["http://pics.example/"]).await;
    assert_eq!(fetched, failed(Reason::NotAnImage));
    assert!(script.asked()[0].contains("\r\naccept: image/png\r\n"));
}

#[tokio::test]
async fn an_answer_that_is_not_whole_is_a_bad_status() {
    let long = format!("{HEAD}x: {}\r\n\r\n", "y".repeat(300_000));
    let many = format!("{HEAD}{}\r\n", "x: y\r\n".repeat(200));
    let acts = [
        ("/404", answer("404 Not Found", "", GIF)),
        ("/500", answer("500 Internal Server Error", "", GIF)),
        ("/206", answer("206 Partial Content", "", GIF)),
        ("/204", vec![say("HTTP/1.1 204 No Content\r\n\r\n")]),
        (
            "/101",
            vec![say(
                "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
            )],
        ),
        (
            "/cut",
            vec![say(HEAD), say("content-length: 20\r\n\r\nGIF89a")],
        ),
        (
            "/cut-chunk",
            vec![
                say(HEAD),
                say("transfer-encoding: chunked\r\n\r\n9\r\nGIF89a"),
            ],
        ),
        (
            "/bad-chunk",
            vec![
                say(HEAD),
                say("transfer-encoding: chunked\r\n\r\nzz\r\nGIF89a"),
            ],
        ),
        ("/cut-head", vec![say(HEAD)]),
        ("/nothing", vec![]),
        ("/ssh", vec![say("SSH-2.0-OpenSSH_9.6\r\n")]),
        (
            "/two",
            vec![
                say(HEAD),
                say("content-length: 5\r\ncontent-length: 6\r\n\r\nGIF89a"),
            ],
        ),
        ("/long", vec![Act::Say(long.into_bytes())]),
        ("/many", vec![Act::Say(many.into_bytes())]),
        (
            "/endless",
            vec![say(HEAD), Act::Forever(b"x: y\r\n".to_vec())],
        ),
    ];
    let paths: Vec<&str> = acts.iter().map(|(path, _)| *path).collect();
    let (fetcher, ..) = scripted(plain(), acts.clone()).await;
    for path in paths {
        let fetched = fetcher.fetch(&[format!("http://pics.example{path}")]).await;
        assert_eq!(fetched, failed(Reason::BadStatus), "{path}");
    }
    let refused = Arc::new(World::default().name("pics.example", &[&[PUBLIC]]));
    let fetched = fetcher_of(&refused).await;
    assert_eq!(fetched, failed(Reason::BadStatus));
}

async fn fetcher_of(world: &Arc<World>) -> Fetched {
    fetcher(plain(), world)
        .fetch(&["http://pics.example/"])
        .await
}
