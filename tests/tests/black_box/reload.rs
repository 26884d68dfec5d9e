//! The configuration changes under running traffic, whatever tool writes the file.

use std::fs;

use onwards_tests::{Gate, Gateway, Launch, Reply, Request, Upstream, eventually, run};
use serde_json::{Value, json};

/// A configuration that serves `alias` and nothing else.
fn only(up: &Upstream, alias: &str) -> Value {
    json!({"targets": {alias: {"url": up.url()}}})
}

async fn serves(gateway: &Gateway, alias: &str) -> bool {
    gateway
        .send(Request::chat_with(&json!({"model": alias})))
        .await
        .status
        == 200
}

async fn comes_to_serve(gateway: &Gateway, alias: &str) {
    eventually(&format!("{alias} to be served"), || serves(gateway, alias)).await;
}

#[tokio::test]
async fn a_file_renamed_over_it_again_and_again() {
    let up = Upstream::start().await;
    let gateway = Launch::new(&only(&up, "v0")).start().await;
    for i in 1..=5 {
        gateway.replace_config(&only(&up, &format!("v{i}")));
        comes_to_serve(&gateway, &format!("v{i}")).await;
        assert!(
            !serves(&gateway, &format!("v{}", i - 1)).await,
            "the alias before is gone"
        );
    }
}

#[tokio::test]
async fn a_file_written_in_place() {
    let up = Upstream::start().await;
    let gateway = Launch::new(&only(&up, "v0")).start().await;
    for i in 1..=3 {
        gateway.write_config(&only(&up, &format!("v{i}")));
        comes_to_serve(&gateway, &format!("v{i}")).await;
    }
}

#[tokio::test]
async fn a_mounted_folder_that_is_swapped() {
    let up = Upstream::start().await;
    let gateway = Launch::new(&only(&up, "v1")).mounted().start().await;
    for i in 2..=4 {
        gateway.swap_mount(&format!("..v{i}"), &only(&up, &format!("v{i}")));
        comes_to_serve(&gateway, &format!("v{i}")).await;
    }
}

#[tokio::test]
async fn a_file_written_in_two_halves() {
    let up = Upstream::start().await;
    let gateway = Launch::new(&only(&up, "v0")).start().await;
    let text = only(&up, "v1").to_string();
    let (half, rest) = text.split_at(text.len() / 2);
    let mut file = fs::File::create(gateway.config_path()).unwrap();
    std::io::Write::write_all(&mut file, half.as_bytes()).unwrap();
    std::io::Write::write_all(&mut file, rest.as_bytes()).unwrap();
    comes_to_serve(&gateway, "v1").await;
    assert!(!gateway.log().contains("ERROR"), "{}", gateway.log());
}

#[tokio::test]
async fn half_a_file_that_stays_half_keeps_the_old_configuration() {
    let up = Upstream::start().await;
    let gateway = Launch::new(&only(&up, "v0")).start().await;
    let text = only(&up, "v1").to_string();
    fs::write(gateway.config_path(), text.split_at(text.len() / 2).0).unwrap();
    gateway.logs("ERROR", 1).await;
    assert!(serves(&gateway, "v0").await);
    fs::write(gateway.config_path(), text).unwrap();
    comes_to_serve(&gateway, "v1").await;
}

#[tokio::test]
async fn a_bad_file_keeps_the_old_configuration_and_says_where() {
    let up = Upstream::start().await;
    let gateway = Launch::new(&only(&up, "v0")).start().await;
    let bad =
        json!({"targets": {"v1": {"url": "not a url"}, "v2": {"url": up.url(), "weight": "x"}}});
    gateway.replace_config(&bad);
    gateway.logs("targets.v1.url", 1).await;
    gateway.logs("targets.v2.weight", 1).await;
    assert!(serves(&gateway, "v0").await && !serves(&gateway, "v2").await);
    gateway.replace_config(&only(&up, "v3"));
    comes_to_serve(&gateway, "v3").await;
}

#[tokio::test]
async fn a_file_that_is_removed_keeps_the_old_configuration() {
    let up = Upstream::start().await;
    let mut gateway = Launch::new(&only(&up, "v0")).start().await;
    fs::remove_file(gateway.config_path()).unwrap();
    gateway.logs("ERROR", 1).await;
    assert!(serves(&gateway, "v0").await);
    assert!(gateway.is_running());
    gateway.write_config(&only(&up, "v1"));
    comes_to_serve(&gateway, "v1").await;
}

#[tokio::test]
async fn a_hangup_reloads_even_unwatched() {
    let up = Upstream::start().await;
    let mut gateway = Launch::new(&only(&up, "v0"))
        .args(&["--watch", "false"])
        .start()
        .await;
    gateway.replace_config(&only(&up, "v1"));
    assert!(serves(&gateway, "v0").await);
    gateway.signal("HUP");
    comes_to_serve(&gateway, "v1").await;
    assert!(gateway.is_running());
}

#[tokio::test]
async fn running_requests_keep_the_configuration_they_began_with() {
    let (old, new) = (Upstream::start().await, Upstream::start().await);
    let config = |up: &Upstream| json!({"targets": {"m": {"url": up.url(), "response_headers": {"x-side": up.url()}}}});
    let gateway = Launch::new(&config(&old)).start().await;
    let gate = Gate::new();
    old.reply(Reply::stream().delta("one").wait(&gate).delta("two").done());
    let mut running = gateway.begin(Request::chat()).await;
    assert_eq!(
        running.head().await.header("x-side"),
        Some(old.url().as_str())
    );
    gateway.replace_config(&config(&new));
    eventually("the new provider to serve", || async {
        gateway.send(Request::chat()).await.head.header("x-side") == Some(new.url().as_str())
    })
    .await;
    gate.open();
    running.until(b"two").await;
    running.until(b"0\r\n\r\n").await;
}

#[tokio::test]
async fn limits_and_slots_outlive_a_reload() {
    let up = Upstream::start().await;
    let gate = Gate::new();
    up.reply(Reply::stream().delta("one").wait(&gate).done());
    let config = |version: u32| {
        json!({"targets": {
            "m": {"url": up.url(), "concurrency_limit": {"max_concurrent_requests": 1}},
            "r": {"url": up.url(), "rate_limit": {"requests_per_second": 0.001, "burst_size": 1}},
            format!("v{version}"): {"url": up.url()},
        }})
    };
    let gateway = Launch::new(&config(0)).start().await;
    let mut running = gateway.begin(Request::chat()).await;
    running.until(b"one").await;
    assert!(serves(&gateway, "r").await);
    gateway.replace_config(&config(1));
    comes_to_serve(&gateway, "v1").await;
    assert_eq!(
        gateway.send(Request::chat()).await.code(),
        "concurrency_limit_exceeded"
    );
    assert_eq!(
        gateway
            .send(Request::chat_with(&json!({"model": "r"})))
            .await
            .code(),
        "rate_limit"
    );
    gate.open();
    running.until(b"0\r\n\r\n").await;
    comes_to_serve(&gateway, "m").await;
}

#[tokio::test]
async fn two_hundred_reloads_under_fifty_streams() {
    let up = Upstream::start().await;
    let gate = Gate::new();
    let held = Reply::stream().delta("one").wait(&gate).delta("two").done();
    up.answer(move |request| {
        if request.json()["stream"] == true {
            held.clone()
        } else {
            Reply::chat("short")
        }
    });
    let config = |version: usize| json!({"targets": {"m": {"url": up.url()}, format!("v{version}"): {"url": up.url()}}});
    let gateway = Launch::new(&config(0)).start().await;
    let mut streams = Vec::new();
    for _ in 0..50 {
        let mut conn = gateway
            .begin(Request::chat_with(&json!({"stream": true})))
            .await;
        conn.until(b"one").await;
        streams.push(conn);
    }
    let mut client = gateway.connect().await;
    let mut answered = 0;
    for version in 1..=200 {
        gateway.replace_config(&config(version));
        gateway.signal("HUP");
        let alias = format!("v{version}");
        eventually("the new configuration", || async {
            let listing = gateway.send(Request::get("/v1/models")).await.text();
            listing.contains(&format!("\"{alias}\""))
        })
        .await;
        for model in ["m", &alias] {
            let answer = client
                .ask(&Request::chat_with(&json!({"model": model})))
                .await;
            assert_eq!(answer.status, 200, "{model}");
            answered += 1;
        }
    }
    let labels = [("model", "m")];
    assert_eq!(
        gateway
            .metrics()
            .await
            .count("onwards_model_inflight", &labels),
        50.0
    );
    gate.open();
    for mut stream in streams {
        stream.until(b"two").await;
        stream.until(b"0\r\n\r\n").await;
    }
    gateway
        .metric_becomes("onwards_model_inflight", &labels, 0.0)
        .await;
    gateway
        .metric_becomes("onwards_requests_inflight", &[], 0.0)
        .await;
    let chats = [
        ("endpoint", "/v1/chat/completions"),
        ("status", "200"),
        ("method", "POST"),
    ];
    gateway
        .metric_becomes(
            "onwards_http_requests_total",
            &chats,
            f64::from(answered + 50),
        )
        .await;
    assert_eq!(up.count(), usize::try_from(answered + 50).unwrap());
    assert!(!gateway.log().contains("ERROR"), "{}", gateway.log());
}

#[tokio::test]
async fn a_reload_tells_what_it_changes_and_what_it_keeps() {
    let up = Upstream::start().await;
    let bucket = |per_second| json!({"requests_per_second": per_second, "burst_size": 9});
    let config = |rate, key: &str, more: &str| {
        json!({
            "auth": {"key_definitions": {"ann": {"key": key, "rate_limit": bucket(5)}}},
            "targets": {
                "m": {"url": up.url(), "keys": ["ann"], "rate_limit": bucket(rate)},
                more: {"url": up.url()},
            },
        })
    };
    let gateway = Launch::new(&config(1, "sk-secret-1", "old")).start().await;
    gateway.replace_config(&config(2, "sk-secret-2", "new"));
    gateway.logs("configuration reloaded", 1).await;
    let log = gateway.log();
    let line = log.lines().find(|line| line.contains("reloaded")).unwrap();
    let told = line.split_once("generation=").unwrap().1;
    assert_eq!(
        told,
        "2 targets=2 keys=\"~ann\" aliases=\"~m +new -old\" \
         limits=\"~m/default rate_limit\" kept_buckets=2 kept_counts=3 kept_shares=0 kept_affinities=0"
    );
    gateway.signal("HUP");
    gateway.logs("configuration reloaded", 2).await;
    let log = gateway.log();
    let line = log.lines().rfind(|line| line.contains("reloaded")).unwrap();
    let told = line.split_once("generation=").unwrap().1;
    assert_eq!(
        told,
        "3 targets=2 kept_buckets=2 kept_counts=5 kept_shares=0 kept_affinities=0"
    );
    assert!(!log.contains("sk-secret"));
}

#[tokio::test]
async fn answers_tell_their_generation_if_asked_to() {
    let up = Upstream::start().await;
    let told = |answer: onwards_tests::Response| {
        let number = answer.head.header("x-onwards-generation");
        (answer.status, number.map(str::to_owned))
    };
    let requests = || {
        [
            Request::chat(),
            Request::get("/v1/models"),
            Request::chat_with(&json!({"model": "none"})),
        ]
    };
    let silent = Gateway::serve(json!({"m": {"url": up.url()}})).await;
    for (request, status) in requests().into_iter().zip([200, 200, 404]) {
        assert_eq!(told(silent.send(request).await), (status, None));
    }
    let launch = Launch::new(&only(&up, "m")).args(&["--generation-header"]);
    let gateway = launch.start().await;
    let gate = Gate::new();
    up.reply(Reply::stream().delta("one").wait(&gate).done());
    let mut running = gateway.begin(Request::chat()).await;
    let number = |number: u32| Some(number.to_string());
    let head = running.head().await;
    assert_eq!(head.header("x-onwards-generation"), Some("1"));
    let mut both = only(&up, "m");
    both["targets"]["n"] = json!({"url": up.url()});
    gateway.replace_config(&both);
    comes_to_serve(&gateway, "n").await;
    for (request, status) in requests().into_iter().zip([200, 200, 404]) {
        assert_eq!(told(gateway.send(request).await), (status, number(2)));
    }
    gate.open();
    running.until(b"0\r\n\r\n").await;
}

#[tokio::test]
async fn a_change_is_told_before_it_is_made() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &Value| {
        fs::write(dir.path().join(name), text.to_string()).unwrap();
    };
    let key = |key: &str| json!({"targets": {"m": {"url": "http://a", "onwards_key": key}}});
    write("old.json", &key("sk-one"));
    write("new.json", &key("sk-two"));
    write("bad.json", &json!({"targets": {"m": {"url": "a"}}, "x": 1}));
    let lines = "~ alias m\n~ provider m/default/0 (http://a): onwards_key\n";
    for (files, code, output) in [
        (["old.json", "old.json"], 0, ""),
        (["old.json", "new.json"], 1, lines),
    ] {
        let ended = run(dir.path(), &["diff", files[0], files[1]]).await;
        assert_eq!((ended.code, ended.output.as_str()), (Some(code), output));
    }
    for (files, told) in [
        (["old.json", "bad.json"], "targets.m.url"),
        (["none.json", "old.json"], "none.json does not exist"),
    ] {
        let ended = run(dir.path(), &["diff", files[0], files[1]]).await;
        assert_eq!(ended.code, Some(2), "{}", ended.output);
        assert!(ended.output.contains(told), "{}", ended.output);
    }
}
