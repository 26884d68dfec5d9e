//! How the binary ends, and what it says when it does not start.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;

use onwards_tests::{Ended, Launch, Request, Upstream, run};
use serde_json::json;
use tempfile::TempDir;

const PORTS: [&str; 4] = ["--port", "0", "--metrics-port", "0"];

fn folder(config: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("config.json"), config).unwrap();
    dir
}

async fn start(dir: &Path, args: &[&str]) -> Ended {
    run(dir, &[&["-f", "config.json"], args].concat()).await
}

fn expect(ended: &Ended, code: i32, says: &[&str]) {
    assert_eq!(ended.code, Some(code), "{}", ended.output);
    for text in says {
        assert!(
            ended.output.contains(text),
            "{text:?} is missing: {}",
            ended.output
        );
    }
    assert!(
        !ended.output.contains("stack backtrace"),
        "a backtrace: {}",
        ended.output
    );
}

#[tokio::test]
async fn usage_errors_are_two() {
    let dir = folder(r#"{"targets":{}}"#);
    for args in [
        &["--no-such-flag"][..],
        &["--port", "http"],
        &["--port", "65536"],
        &["--port", "-1"],
        &["--shutdown-timeout-secs", "0"],
        &["--shutdown-delay-secs", "soon"],
        &["--sse-buffer-limit", "-1"],
        &["--metrics", "perhaps"],
    ] {
        expect(&start(dir.path(), args).await, 2, &[]);
    }
    expect(&run(dir.path(), &[]).await, 2, &["--targets"]);
    expect(&run(dir.path(), &PORTS).await, 2, &["--targets"]);
}

#[tokio::test]
async fn help_and_version_are_zero_and_nothing_but_that() {
    let dir = folder("{}");
    let version = run(dir.path(), &["--version"]).await;
    expect(&version, 0, &["onwards"]);
    assert_eq!(version.output.lines().count(), 1, "{}", version.output);
    let help = run(dir.path(), &["--help"]).await;
    let flags = [
        "--targets",
        "-f",
        "--port",
        "-p",
        "--metrics-port",
        "--metrics",
        "--metrics-prefix",
        "--watch",
        "--shutdown-delay-secs",
        "--shutdown-timeout-secs",
        "--sse-buffer-limit",
    ];
    expect(&help, 0, &flags);
    assert!(
        !help.output.contains("INFO"),
        "a line of the log: {}",
        help.output
    );
}

#[tokio::test]
async fn an_absent_file_is_one_and_named() {
    let dir = folder("{}");
    expect(
        &run(dir.path(), &["-f", "absent.json"]).await,
        1,
        &["absent.json", "not exist"],
    );
}

#[tokio::test]
async fn an_unusable_file_is_one_with_every_cause() {
    for (config, says) in [
        ("not json", &["line 1"][..]),
        ("{\"targets\":{}", &["line 1"]),
        ("\u{feff}{\"targets\":{}}", &[]),
        ("[]", &[]),
        ("{}", &["targets"]),
        (
            r#"{"targets":{"a":{"url":"nope"},"b":{"url":"http://h","rate_limit":{"requests_per_second":0}},"c":{"providers":[{"url":"ftp://h"}]}}}"#,
            &[
                "targets.a.url",
                "targets.b.rate_limit.requests_per_second",
                "targets.c.providers[0].url",
            ],
        ),
        (
            r#"{"targets":{"a":{"pools":{}}}}"#,
            &["targets.a.pools", "default"],
        ),
        (
            r#"{"targets":{},"auth":{"key_definitions":{"u":{}}}}"#,
            &["auth.key_definitions.u", "key"],
        ),
    ] {
        let dir = folder(config);
        let ended = start(dir.path(), &PORTS).await;
        expect(&ended, 1, says);
    }
}

#[tokio::test]
async fn a_translation_that_breaks_rules_is_one_with_every_cause() {
    let config = r#"{"targets":{"a":{"url":"http://h","reasoning_translation":{"chat_completions":{"unsupported_efforts":[],"writes":[]},"responses":{"unsupported_efforts":[],"writes":[{"target_path":"/model","values":{"low":1}}]}}}}}"#;
    let at = "targets.a.reasoning_translation";
    let (one, other) = (
        format!("{at}.chat_completions.writes"),
        format!("{at}.responses.writes[0].target_path"),
    );
    let dir = folder(config);
    expect(&start(dir.path(), &PORTS).await, 1, &[&one, &other]);
}

#[tokio::test]
async fn a_folder_is_not_a_file() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("config.json")).unwrap();
    expect(&start(dir.path(), &PORTS).await, 1, &["config.json"]);
}

#[tokio::test]
async fn a_port_in_use_is_one_and_named() {
    let taken = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let dir = folder(r#"{"targets":{}}"#);
    for args in [
        ["--port", &port, "--metrics-port", "0"],
        ["--port", "0", "--metrics-port", &port],
    ] {
        expect(&start(dir.path(), &args).await, 1, &[&port, "in use"]);
    }
}

#[tokio::test]
async fn metrics_can_be_switched_off_and_probes_stay() {
    let up = Upstream::start().await;
    let targets = json!({"m": {"url": up.url()}});
    for (args, status) in [
        (&["--metrics", "false"][..], 404),
        (&["--metrics=false"], 404),
        (&["--metrics"], 200),
        (&["--metrics", "true"], 200),
        (&["-m", "true", "--watch=false"], 200),
    ] {
        let gateway = Launch::targets(&targets).args(args).start().await;
        assert_eq!(gateway.side("/metrics").await.status, status, "{args:?}");
        assert_eq!(gateway.side("/healthz").await.status, 200);
        assert_eq!(gateway.send(Request::chat()).await.status, 200);
    }
}

#[tokio::test]
async fn a_check_says_what_a_start_would() {
    let good = folder(r#"{"targets":{"m":{"url":"http://h"}}}"#);
    expect(&run(good.path(), &["check", "config.json"]).await, 0, &[]);
    let bad = folder(r#"{"targets":{"a":{"url":"nope"},"b":{"url":1}}}"#);
    let ended = run(bad.path(), &["check", "config.json"]).await;
    expect(&ended, 1, &["targets.a.url", "targets.b.url"]);
}

#[tokio::test]
async fn the_schema_is_json() {
    let dir = folder("{}");
    let ended = run(dir.path(), &["schema"]).await;
    expect(&ended, 0, &[]);
    let schema: serde_json::Value = serde_json::from_str(&ended.output).unwrap();
    assert!(schema["properties"]["targets"].is_object(), "{schema}");
}

#[tokio::test]
async fn the_demo_shows_itself_once() {
    let dir = folder("{}");
    expect(&run(dir.path(), &["demo", "--once"]).await, 0, &[]);
}
