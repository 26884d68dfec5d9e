//! Stopping: probes first, then the door, then the last answer.

use std::io::Write;
use std::time::Instant;

use onwards_tests::{Gate, Gateway, Launch, Reply, Request, Step, Upstream, eventually};
use serde_json::json;

async fn launch(up: &Upstream, args: &[&str]) -> Gateway {
    Launch::targets(&json!({"m": {"url": up.url()}}))
        .args(args)
        .start()
        .await
}

async fn side(gateway: &Gateway) -> (u16, String, u16) {
    let ready = gateway.side("/readyz").await;
    (
        ready.status,
        ready.text(),
        gateway.side("/healthz").await.status,
    )
}

#[tokio::test]
async fn the_whole_timeline() {
    let up = Upstream::start().await;
    let gate = Gate::new();
    up.reply(Reply::stream().delta("one").wait(&gate).delta("two").done());
    let mut gateway = launch(
        &up,
        &[
            "--shutdown-delay-secs",
            "2",
            "--shutdown-timeout-secs",
            "60",
        ],
    )
    .await;
    assert_eq!(side(&gateway).await, (200, "ready".to_owned(), 200));
    let mut stream = gateway.begin(Request::chat()).await;
    stream.until(b"one").await;
    let mut idle = gateway.connect().await;
    assert_eq!(idle.ask(&Request::chat()).await.status, 200);

    let signalled = Instant::now();
    gateway.signal("TERM");
    eventually("readiness to go", || async {
        side(&gateway).await == (503, "draining".to_owned(), 200)
    })
    .await;
    assert_eq!(
        gateway.send(Request::chat()).await.status,
        200,
        "served during the delay"
    );
    assert_eq!(
        idle.ask(&Request::chat()).await.status,
        200,
        "served during the delay"
    );
    assert!(
        signalled.elapsed().as_millis() < 2000,
        "a machine too slow for this test"
    );

    assert_eq!(idle.rest().await.0, b"", "idle connections are closed");
    eventually("the door to close", || async { !gateway.accepts().await }).await;
    assert!(
        signalled.elapsed().as_millis() >= 1900,
        "closed before the delay was over"
    );
    assert_eq!(side(&gateway).await, (503, "draining".to_owned(), 200));
    assert_eq!(
        gateway
            .metrics()
            .await
            .count("onwards_model_inflight", &[("model", "m")]),
        1.0
    );
    assert!(gateway.is_running());

    gate.open();
    stream.until(b"two").await;
    stream.until(b"0\r\n\r\n").await;
    assert_eq!(gateway.exit().await, Some(0));
}

#[tokio::test]
async fn an_idle_gateway_ends_at_once_with_zero() {
    let up = Upstream::start().await;
    for signal in ["TERM", "INT"] {
        let mut gateway = launch(&up, &["--shutdown-delay-secs", "0"]).await;
        assert_eq!(gateway.send(Request::chat()).await.status, 200);
        gateway.signal(signal);
        assert_eq!(gateway.exit().await, Some(0));
    }
}

#[tokio::test]
async fn signals_before_the_first_request_can_come_are_no_sudden_death() {
    let config = json!({"targets": {}}).to_string();
    let launch = Launch::targets(&json!({})).args(&["--shutdown-delay-secs", "0"]);
    let (mut gateway, mut pipe) = launch.begin().await;
    gateway.signal("HUP");
    gateway.signal("TERM");
    pipe.write_all(config.as_bytes()).unwrap();
    drop(pipe);
    assert_eq!(gateway.exit().await, Some(0));
}

#[tokio::test]
async fn what_is_left_at_the_deadline_is_cut_off() {
    let up = Upstream::start().await;
    up.always(Reply::stream().delta("one").then(Step::Hang));
    let mut gateway = launch(
        &up,
        &["--shutdown-delay-secs", "0", "--shutdown-timeout-secs", "1"],
    )
    .await;
    let mut stream = gateway.begin(Request::chat()).await;
    stream.until(b"one").await;
    gateway.signal("TERM");
    let (said, _) = stream.rest().await;
    assert!(
        !said.ends_with(b"0\r\n\r\n"),
        "a clean end: {}",
        String::from_utf8_lossy(&said)
    );
    assert_eq!(gateway.exit().await, Some(1));
    let log = gateway.log();
    assert!(
        log.contains("drain deadline") && log.contains("WARN"),
        "{log}"
    );
    up.request(0).await.gone().await;
}

#[tokio::test]
async fn a_second_signal_skips_the_delay_and_a_third_ends_it() {
    let up = Upstream::start().await;
    up.always(Reply::stream().delta("one").then(Step::Hang));
    let mut gateway = launch(&up, &["--shutdown-delay-secs", "600"]).await;
    let mut stream = gateway.begin(Request::chat()).await;
    stream.until(b"one").await;
    gateway.signal("TERM");
    eventually("readiness to go", || async {
        gateway.side("/readyz").await.status == 503
    })
    .await;
    assert!(gateway.accepts().await);
    gateway.signal("TERM");
    eventually("the door to close", || async { !gateway.accepts().await }).await;
    assert!(gateway.is_running());
    gateway.signal("INT");
    assert_eq!(gateway.exit().await, Some(1));
}

#[tokio::test]
async fn a_request_without_an_answer_yet_is_finished() {
    let up = Upstream::start().await;
    let gate = Gate::new();
    let whole = Reply::chat("late").0;
    up.always(Reply([vec![Step::Wait(gate.clone())], whole].concat()));
    let mut gateway = launch(&up, &["--shutdown-delay-secs", "0"]).await;
    let mut conn = gateway.begin(Request::chat()).await;
    up.arrived(1).await;
    gateway.signal("TERM");
    eventually("the door to close", || async { !gateway.accepts().await }).await;
    gate.open();
    let answer = conn.response().await;
    assert_eq!(answer.json()["choices"][0]["message"]["content"], "late");
    assert_eq!(
        conn.rest().await.0,
        b"",
        "the connection ends with its answer"
    );
    assert_eq!(gateway.exit().await, Some(0));
}

#[tokio::test]
async fn the_environment_sets_the_delay_and_a_flag_beats_it() {
    let up = Upstream::start().await;
    let targets = json!({"m": {"url": up.url()}});
    let launch = || Launch::targets(&targets).env("ONWARDS_SHUTDOWN_DELAY_SECS", "600");
    let mut patient = launch().start().await;
    patient.signal("TERM");
    eventually("readiness to go", || async {
        patient.side("/readyz").await.status == 503
    })
    .await;
    assert_eq!(patient.send(Request::chat()).await.status, 200);
    assert!(patient.is_running());
    let mut quick = launch().args(&["--shutdown-delay-secs", "0"]).start().await;
    quick.signal("TERM");
    assert_eq!(quick.exit().await, Some(0));
}
