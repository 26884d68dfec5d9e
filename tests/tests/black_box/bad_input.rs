//! Names and headers made to confuse.

use onwards_tests::{Gateway, Request, Upstream};
use serde_json::{Value, json};

#[tokio::test]
async fn headers_that_a_client_nominates_go_no_further() {
    let up = Upstream::start().await;
    let gateway = Gateway::serve(json!({"m": {"url": up.url()}})).await;
    let request = Request::post("/v1/x")
        .header("connection", "x-internal, keep-alive, X-Second")
        .header("x-internal", "1")
        .header("x-second", "2")
        .header("x-third", "3")
        .header("te", "trailers")
        .header("upgrade", "websocket")
        .json(&json!({"model": "m"}));
    assert_eq!(gateway.send(request).await.status, 200);
    let seen = up.request(0).await;
    for name in ["x-internal", "x-second", "te", "upgrade", "keep-alive"] {
        assert_eq!(seen.header(name), None, "{name}");
    }
    assert_eq!(seen.header("x-third"), Some("3"));
}

#[tokio::test]
async fn nominating_what_the_gateway_itself_sends_takes_nothing_away() {
    let up = Upstream::start().await;
    let gateway = Gateway::serve(json!({"m": {"url": up.url(), "onwards_key": "operator"}})).await;
    let request = Request::post("/v1/x")
        .header("connection", "authorization, content-length, host")
        .json(&json!({"model": "m"}));
    assert_eq!(gateway.send(request).await.status, 200);
    let seen = up.request(0).await;
    assert_eq!(seen.header("authorization"), Some("Bearer operator"));
    assert_eq!(seen.header("host"), Some(up.address().to_string().as_str()));
    assert_eq!(seen.body, br#"{"model":"m"}"#);
}

#[tokio::test]
async fn model_names_of_any_kind_are_names() {
    let up = Upstream::start().await;
    let names = [
        "naïve 模型 🦀",
        "a/b",
        "with \"quotes\" \\",
        "line\nbreak",
        " ",
    ];
    let targets: Value = names
        .iter()
        .map(|name| ((*name).to_owned(), json!({"url": up.url()})))
        .collect();
    let gateway = Gateway::serve(targets).await;
    for (i, name) in names.iter().enumerate() {
        let body = json!({"model": name});
        assert_eq!(
            gateway
                .send(Request::post("/v1/x").json(&body))
                .await
                .status,
            200,
            "{name:?}"
        );
        assert_eq!(up.request(i).await.json(), body);
    }
    let over = Request::post("/v1/x")
        .header("model-override", "naïve 模型 🦀")
        .body("");
    assert_eq!(
        gateway.send(over).await.status,
        200,
        "the header's bytes are UTF-8"
    );
}

#[tokio::test]
async fn unknown_names_are_echoed_within_bounds_and_never_become_labels() {
    let up = Upstream::start().await;
    let gateway = Gateway::serve(json!({"m": {"url": up.url()}})).await;
    let long = "n".repeat(10 * 1024);
    for name in [
        "no\nlevel=ERROR forged",
        "no\r\n\r\nHTTP/1.1 200",
        &long,
        "模型",
        "\u{202e}m",
        "\0",
        "",
    ] {
        let answer = gateway
            .send(Request::post("/v1/x").json(&json!({"model": name})))
            .await;
        assert_eq!(
            (answer.status, answer.code()),
            (404, json!("model_not_found")),
            "{name:?}"
        );
        assert!(answer.body.len() < 4096, "{} bytes", answer.body.len());
    }
    let long = Request::post("/v1/x")
        .header("model-override", "n".repeat(10 * 1024))
        .body("");
    assert_eq!(gateway.send(long).await.status, 404);
    assert_eq!(up.count(), 0);
    let metrics = gateway.metrics().await;
    assert_eq!(
        metrics.count(
            "onwards_rejections_total",
            &[("code", "model_not_found"), ("model", "")]
        ),
        8.0
    );
    assert!(
        metrics
            .label_values("model")
            .iter()
            .all(|model| ["", "m"].contains(model))
    );
    let log = gateway.log();
    assert!(
        log.lines()
            .all(|line| !line.starts_with("level=ERROR forged")),
        "a client's line in the log"
    );
    assert!(
        log.lines().all(|line| line.len() < 4096),
        "a client's name at full length in the log"
    );
}

#[tokio::test]
async fn paths_do_not_become_labels() {
    let up = Upstream::start().await;
    let gateway = Gateway::serve(json!({"m": {"url": up.url()}})).await;
    assert_eq!(gateway.send(Request::chat()).await.status, 200);
    let request = |i: usize| {
        Request::new(&format!("M{i}"), &format!("/v1/x{i}")).json(&json!({"model": "m"}))
    };
    assert_eq!(gateway.send(request(0)).await.status, 200);
    let before = gateway.metrics().await.series();
    for i in 1..20 {
        assert_eq!(gateway.send(request(i)).await.status, 200);
    }
    assert_eq!(gateway.metrics().await.series(), before);
}
