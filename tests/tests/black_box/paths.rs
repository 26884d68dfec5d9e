//! Scheme, host, port and base path come from the configuration alone: no request target reaches another host, and
//! none leaves the base path. The operator's key would go with it.

use onwards_tests::{Gateway, Request, Upstream};
use serde_json::json;

#[tokio::test]
async fn no_target_reaches_another_host() {
    let (up, other) = (Upstream::start().await, Upstream::start().await);
    let target = json!({"url": format!("{}/base", up.url()), "onwards_key": "operator"});
    let gateway = Gateway::serve(json!({"m": target})).await;
    let host = other.address();
    let targets = [
        (
            format!("/http://{host}/x"),
            Some(format!("/base/http://{host}/x")),
        ),
        (format!("//{host}/x"), Some(format!("/base//{host}/x"))),
        (format!("///{host}/x"), Some(format!("/base///{host}/x"))),
        (format!("/\\\\{host}/x"), None),
        (format!("/\\{host}/x"), None),
        (format!("/@{host}/x"), Some(format!("/base/@{host}/x"))),
        (
            format!("/v1/x?url=http://{host}/"),
            Some(format!("/base/v1/x?url=http://{host}/")),
        ),
        (format!("http://{host}/v1/x"), Some("/base/v1/x".to_owned())),
    ];
    let mut served = 0;
    for (target, expected) in targets {
        let status = gateway
            .send(Request::post(&target).json(&json!({"model": "m"})))
            .await
            .status;
        if status == 200 {
            let seen = up.request(served).await;
            served += 1;
            assert_eq!(
                seen.header("host"),
                Some(up.address().to_string().as_str()),
                "{target}"
            );
            assert!(
                seen.line.starts_with("POST /base/"),
                "{target}: {}",
                seen.line
            );
            if let Some(expected) = expected {
                assert_eq!(seen.line, format!("POST {expected} HTTP/1.1"), "{target}");
            }
        } else {
            assert!(expected.is_none() && status == 400, "{target}: {status}");
        }
    }
    assert_eq!((up.count(), other.connections()), (served, 0));
}

#[tokio::test]
async fn dot_segments_are_refused_however_they_are_spelt() {
    let up = Upstream::start().await;
    let gateway = Gateway::serve(json!({"m": {"url": format!("{}/base/v1", up.url())}})).await;
    for path in [
        "/v1/../../admin",
        "/../admin",
        "/v1/..",
        "/..",
        "/v1/%2e%2e/admin",
        "/v1/%2E%2E/admin",
        "/v1/.%2e/admin",
        "/v1/%2e./admin",
        "/v1/./x",
        "/v1/%2e/x",
        "/v1/..?q",
    ] {
        let answer = gateway
            .send(Request::post(path).json(&json!({"model": "m"})))
            .await;
        assert_eq!(
            (answer.status, answer.code()),
            (400, json!("bad_request")),
            "{path}"
        );
    }
    assert_eq!(up.count(), 0);
}

#[tokio::test]
async fn dots_that_are_no_segments_pass() {
    let up = Upstream::start().await;
    let gateway = Gateway::serve(json!({"m": {"url": up.url()}})).await;
    for (i, path) in [
        "/v1/.well-known/x",
        "/v1/a..b",
        "/v1/...",
        "/v1/x?a=/../b",
        "/v1/%2fx",
    ]
    .iter()
    .enumerate()
    {
        assert_eq!(
            gateway
                .send(Request::post(path).json(&json!({"model": "m"})))
                .await
                .status,
            200,
            "{path}"
        );
        assert_eq!(up.request(i).await.line, format!("POST {path} HTTP/1.1"));
    }
}
