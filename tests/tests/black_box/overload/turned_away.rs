//! Who is turned away, who is not, and what becomes of the connection.

use onwards_tests::{
    End, Gate, Gateway, Launch, RawConn, Reply, Request, Upstream, chunked, eventually,
};
use serde_json::{Value, json};

use super::{at_rest, bounded, config, finish, held, is_shed, stream};

/// With a bound of two, two streams are held and the third request is shed.
async fn check(strict: bool) {
    let (up, gate) = (Upstream::start().await, Gate::new());
    let gateway = Launch::new(&config(&up, Some(2), strict)).start().await;
    let one = held(&up, &gateway, &gate).await;
    let two = held(&up, &gateway, &gate).await;
    let mut conn = gateway.connect().await;
    for _ in 0..3 {
        is_shed(&conn.ask(&Request::chat()).await);
    }
    let labels = [
        ("model", ""),
        ("status", "503"),
        ("code", "overloaded"),
        ("traffic", "realtime"),
    ];
    let metrics = gateway.metrics().await;
    assert_eq!(metrics.count("onwards_rejections_total", &labels), 3.0);
    assert_eq!(metrics.count("onwards_requests_inflight", &[]), 2.0);
    assert_eq!(metrics.count("onwards_upstream_failed_total", &[]), 0.0);
    gate.open();
    finish(one).await;
    finish(two).await;
    // The connection that was turned away is as good as another one.
    assert_eq!(conn.ask(&Request::chat()).await.status, 200);
    assert_eq!(up.count(), 3);
    at_rest(&gateway).await;
}

#[tokio::test]
async fn one_more_than_the_bound_is_shed() {
    check(false).await;
}

#[tokio::test]
async fn one_more_than_the_bound_is_shed_in_strict_mode() {
    check(true).await;
}

#[tokio::test]
async fn a_full_gateway_still_answers_for_itself() {
    let (up, gate) = (Upstream::start().await, Gate::new());
    let gateway = bounded(&up, 1).await;
    let running = held(&up, &gateway, &gate).await;
    is_shed(&gateway.send(Request::chat()).await);
    for path in ["/healthz", "/readyz", "/metrics"] {
        assert_eq!(gateway.side(path).await.status, 200, "{path}");
    }
    let list = gateway.send(Request::get("/v1/models")).await;
    assert_eq!(
        (list.status, &list.json()["data"][0]["id"]),
        (200, &json!("m"))
    );
    assert_eq!(gateway.send(Request::get("/")).await.status, 404);
    gate.open();
    finish(running).await;
}

#[tokio::test]
async fn a_full_gateway_looks_no_further_than_the_path() {
    let (up, gate) = (Upstream::start().await, Gate::new());
    let mut config = config(&up, Some(1), false);
    config["targets"]["locked"] = json!({"url": up.url(), "keys": ["k"]});
    let gateway = Launch::new(&config).start().await;
    let running = held(&up, &gateway, &gate).await;
    for request in [
        Request::chat_with(&json!({"model": "locked"})),
        Request::chat_with(&json!({"model": "nobody"})),
        Request::post("/v1/chat/completions").body("no json"),
        Request::get("/v1/files"),
    ] {
        is_shed(&gateway.send(request).await);
    }
    gate.open();
    finish(running).await;
}

const HEAD: &str = "POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\n";

/// Sends a head, then a body, and gives the connection after its 503.
async fn shed(gateway: &Gateway, head: &str, body: &[u8]) -> (RawConn, Option<String>) {
    let mut conn = gateway.connect().await;
    conn.send(format!("{HEAD}{head}\r\n\r\n").as_bytes()).await;
    // It may stop reading before all of it is sent.
    conn.try_send(body).await.ok();
    let answer = conn.response().await;
    is_shed(&answer);
    let closes = answer.head.header("connection").map(str::to_owned);
    (conn, closes)
}

#[tokio::test]
async fn a_small_body_is_read_and_forgotten_and_its_connection_stays() {
    let (up, gate) = (Upstream::start().await, Gate::new());
    let gateway = bounded(&up, 1).await;
    let running = held(&up, &gateway, &gate).await;
    let body = vec![b'x'; 256 * 1024];
    let mut conns = Vec::new();
    for (head, body) in [
        ("content-length: 0", vec![]),
        ("content-length: 262144", body.clone()),
        ("transfer-encoding: chunked", chunked(body.chunks(5000))),
    ] {
        let (conn, closes) = shed(&gateway, head, &body).await;
        assert_eq!(closes, None, "{head}");
        conns.push(conn);
    }
    gate.open();
    finish(running).await;
    for mut conn in conns {
        assert_eq!(conn.ask(&Request::chat()).await.status, 200);
    }
}

#[tokio::test]
async fn a_large_body_or_one_that_waits_to_be_asked_for_is_not_read() {
    let (up, gate) = (Upstream::start().await, Gate::new());
    let gateway = bounded(&up, 1).await;
    let running = held(&up, &gateway, &gate).await;
    let mut long = chunked([&[b'x'; 262_145][..]]);
    long.truncate(long.len() - b"0\r\n\r\n".len());
    for (head, body) in [
        ("content-length: 262145", &[][..]),
        // Beyond the limit of any body: the refusal comes first all the same.
        ("content-length: 99999999999", &[]),
        ("content-length: 5\r\nexpect: 100-continue", &[]),
        ("transfer-encoding: chunked", &long),
    ] {
        let (mut conn, closes) = shed(&gateway, head, body).await;
        assert_eq!(closes.as_deref(), Some("close"), "{head}");
        assert_eq!(conn.rest().await, (vec![], End::Clean), "{head}");
    }
    gate.open();
    finish(running).await;
}

#[tokio::test]
async fn http_2_streams_are_shed_one_by_one() {
    let (up, gate) = (Upstream::start().await, Gate::new());
    let gateway = bounded(&up, 1).await;
    let client = reqwest::Client::builder()
        .http2_prior_knowledge()
        .build()
        .unwrap();
    let url = format!("http://{}/v1/chat/completions", gateway.address());
    let send = |body: String| client.post(&url).body(body).send();
    up.reply(Reply::stream().delta("one").wait(&gate).delta("two").done());
    let running = send(json!({"model": "m", "stream": true}).to_string());
    let running = running.await.unwrap();
    assert_eq!(running.status(), 200);
    for size in [0, 1, 100_000, 262_144, 262_145, 2_000_000] {
        let answer = send("x".repeat(size)).await.unwrap();
        assert_eq!(answer.version(), reqwest::Version::HTTP_2);
        assert_eq!((answer.status().as_u16(), size), (503, size));
        assert_eq!(answer.headers()["retry-after"], "1");
        let said: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
        assert_eq!(said["error"]["code"], "overloaded");
    }
    gate.open();
    let said = running.text().await.unwrap();
    assert!(said.ends_with("data: [DONE]\n\n"), "{said}");
    let next = send(json!({"model": "m"}).to_string()).await.unwrap();
    assert_eq!(next.status(), 200);
    at_rest(&gateway).await;
}

#[tokio::test]
async fn a_reload_moves_the_bound_and_ends_no_request() {
    let (up, gates) = (Upstream::start().await, [(); 3].map(|()| Gate::new()));
    let gateway = bounded(&up, 1).await;
    let put = async |bound: Option<u32>, generation: f64| {
        gateway.replace_config(&config(&up, bound, false));
        gateway
            .metric_becomes("onwards_config_generation", &[], generation)
            .await;
    };
    let one = held(&up, &gateway, &gates[0]).await;
    is_shed(&gateway.send(Request::chat()).await);
    put(Some(2), 2.0).await;
    gateway.logs("max_inflight_requests", 1).await;
    let two = held(&up, &gateway, &gates[1]).await;
    is_shed(&gateway.send(Request::chat()).await);
    put(None, 3.0).await;
    let three = held(&up, &gateway, &gates[2]).await;
    // Lowered below what is running: all of them end as they would have.
    put(Some(2), 4.0).await;
    is_shed(&gateway.send(Request::chat()).await);
    gates[0].open();
    finish(one).await;
    is_shed(&gateway.send(Request::chat()).await);
    gates[1].open();
    finish(two).await;
    assert_eq!(gateway.send(Request::chat()).await.status, 200);
    gates[2].open();
    finish(three).await;
    at_rest(&gateway).await;
}

#[tokio::test]
async fn shedding_is_logged_once_and_not_for_every_request() {
    let (up, gate) = (Upstream::start().await, Gate::new());
    let launch = Launch::new(&config(&up, Some(1), false));
    let access = ["--access-log", "--log-format", "json"];
    let gateway = launch.args(&access).start().await;
    let running = held(&up, &gateway, &gate).await;
    for _ in 0..20 {
        is_shed(&gateway.send(stream()).await);
    }
    let lines = || {
        let log = gateway.log();
        let lines = log.lines().map(|line| serde_json::from_str(line).unwrap());
        lines.collect::<Vec<Value>>()
    };
    let shed = || {
        let mut lines = lines();
        lines.retain(|line| line["code"] == "overloaded");
        lines
    };
    eventually("the lines of the access log", || async {
        shed().len() == 20
    })
    .await;
    for line in shed() {
        let said = ["target", "status", "outcome", "model"].map(|name| line[name].clone());
        assert_eq!(
            said,
            [
                json!("onwards::access"),
                json!(503),
                json!("complete"),
                Value::Null
            ]
        );
    }
    let mut warnings = lines();
    warnings.retain(|line| line["level"] == "WARN");
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(warnings[0]["max_inflight_requests"], 1);
    gate.open();
    finish(running).await;
}
