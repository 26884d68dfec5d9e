//! Every hop is a request of its own, under every rule.

use std::sync::Arc;

use super::support::*;
use onwards_images::{Reason, Settings};

#[tokio::test]
async fn redirects_are_followed_and_each_hop_is_looked_up() {
    let (script, at) = Script::new([
        (
            "/a",
            answer("301 Moved Permanently", "location: b\r\n", b"not read"),
        ),
        (
            "/b",
            answer(
                "307 Temporary Redirect",
                "location: //cdn.example:8080/c?d#e\r\n",
                b"",
            ),
        ),
        (
            "/c?d",
            answer(
                "308 Permanent Redirect",
                "location: http://pics.example/f\r\n",
                b"",
            ),
        ),
        ("/f", picture(GIF)),
    ])
    .serve(None)
    .await;
    let world = World::new(at)
        .name("pics.example", &[&[PUBLIC]])
        .name("cdn.example", &[&["8.8.8.8"]]);
    let world = Arc::new(world);
    let fetched = fetcher(plain(), &world)
        .fetch(&["http://pics.example/a"])
        .await;
    assert_eq!(fetched.as_ref().unwrap()[0].0, "http://pics.example/a");
    assert_eq!(types(fetched), Ok(vec!["image/gif"]));
    assert_eq!(
        world.log(),
        [
            "? pics.example",
            "> 93.184.216.34:80",
            "? pics.example",
            "> 93.184.216.34:80",
            "? cdn.example",
            "> 8.8.8.8:8080",
            "? pics.example",
            "> 93.184.216.34:80",
        ]
    );
    let hosts: Vec<String> = script
        .asked()
        .iter()
        .filter_map(|head| head.lines().nth(1).map(str::to_owned))
        .collect();
    assert_eq!(
        hosts,
        [
            "host: pics.example",
            "host: pics.example",
            "host: cdn.example:8080",
            "host: pics.example"
        ]
    );
}

#[tokio::test]
async fn no_more_than_the_limit_are_followed() {
    let acts = || {
        [
            ("/3", moved("/2")),
            ("/2", moved("/1")),
            ("/1", moved("/0")),
            ("/0", picture(GIF)),
            ("/loop", moved("/loop")),
        ]
    };
    for (limit, path, expect) in [
        (3, "/3", Ok(vec!["image/gif"])),
        (2, "/3", Err(Reason::BadStatus)),
        (0, "/1", Err(Reason::BadStatus)),
        (0, "/0", Ok(vec!["image/gif"])),
        (3, "/loop", Err(Reason::BadStatus)),
    ] {
        let settings = Settings {
            max_redirects: limit,
            ..plain()
        };
        let (fetcher, script, _) = scripted(settings, acts()).await;
        assert_eq!(
            types(fetcher.fetch(&[format!("http://pics.example{path}")]).await),
            expect
        );
        assert!(script.asked().len() <= limit + 1);
    }
}

#[tokio::test]
async fn a_redirect_reaches_no_private_network() {
    for location in [
        "http://127.0.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]/",
        "//0x7f000001/",
        "http://private.example/",
        "http://mixed.example/",
        "http://unknown.example/",
    ] {
        let (script, at) =
            Script::new([("/", moved(location)), ("/latest/meta-data/", picture(GIF))])
                .serve(None)
                .await;
        let world = World::new(at)
            .name("pics.example", &[&[PUBLIC]])
            .name("private.example", &[&["192.168.1.1"]])
            .name("mixed.example", &[&[PUBLIC, "10.0.0.1"]]);
        let world = Arc::new(world);
        let fetched = fetcher(plain(), &world)
            .fetch(&["http://pics.example/"])
            .await;
        assert_eq!(fetched, failed(Reason::BlockedAddress), "{location}");
        assert_eq!(script.asked().len(), 1);
        assert_eq!(world.log()[1], "> 93.184.216.34:80");
        assert!(world.log().len() < 4, "{:?}", world.log());
    }
}

/// The same name is public for the first hop and private for the second.
#[tokio::test]
async fn a_redirect_to_the_same_name_is_checked_anew() {
    let (script, at) = Script::new([("/", moved("/again")), ("/again", picture(GIF))])
        .serve(None)
        .await;
    let world = Arc::new(World::new(at).name("pics.example", &[&[PUBLIC], &["127.0.0.1"]]));
    let fetched = fetcher(plain(), &world)
        .fetch(&["http://pics.example/"])
        .await;
    assert_eq!(fetched, failed(Reason::BlockedAddress));
    assert_eq!(
        world.log(),
        ["? pics.example", "> 93.184.216.34:80", "? pics.example"]
    );
    assert_eq!(script.asked().len(), 1);
}

#[tokio::test]
async fn a_redirect_that_leads_nowhere_is_said() {
    for (status, headers, reason) in [
        ("302 Found", "", Reason::BadStatus),
        ("302 Found", "location: \u{e4}\r\n", Reason::BadStatus),
        (
            "302 Found",
            "location: ftp://pics.example/\r\n",
            Reason::BadUrl,
        ),
        (
            "302 Found",
            "location: file:///etc/passwd\r\n",
            Reason::BadUrl,
        ),
        (
            "302 Found",
            "location: data:image/gif;base64,R0lGODlh\r\n",
            Reason::BadUrl,
        ),
        (
            "302 Found",
            "location: http://u:p@pics.example/\r\n",
            Reason::BadUrl,
        ),
        ("302 Found", "location: http://\r\n", Reason::BadUrl),
        (
            "300 Multiple Choices",
            "location: /good\r\n",
            Reason::BadStatus,
        ),
        ("304 Not Modified", "location: /good\r\n", Reason::BadStatus),
    ] {
        let acts = [("/", answer(status, headers, b"")), ("/good", picture(GIF))];
        let (fetcher, script, _) = scripted(plain(), acts).await;
        assert_eq!(
            fetcher.fetch(&["http://pics.example/"]).await,
            failed(reason),
            "{headers}"
        );
        assert_eq!(script.asked().len(), 1);
    }
}

#[tokio::test]
async fn a_redirect_stays_on_the_list_of_hosts() {
    let settings = Settings {
        allow_hosts: vec!["pics.example".to_owned()],
        ..plain()
    };
    let acts = [
        ("/out", moved("http://8.8.8.8/in")),
        ("/home", moved("/in")),
        ("/in", picture(GIF)),
    ];
    let (fetcher, ..) = scripted(settings, acts).await;
    assert_eq!(
        fetcher.fetch(&["http://pics.example/out"]).await,
        failed(Reason::BlockedAddress)
    );
    assert_eq!(
        types(fetcher.fetch(&["http://pics.example/home"]).await),
        Ok(vec!["image/gif"])
    );
}
