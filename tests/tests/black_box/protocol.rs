//! HTTP as clients speak it: framing, methods, expectations, pipelining, version 2.

use onwards_tests::{Gate, Gateway, Reply, Request, Upstream, chunked};
use serde_json::json;

async fn gateway(up: &Upstream) -> Gateway {
    Gateway::serve(json!({"m": {"url": up.url()}})).await
}

const BODY: &[u8] = br#"{"model":"m"}"#;

fn post(headers: &str, body: &[u8]) -> Vec<u8> {
    [
        format!("POST /v1/x HTTP/1.1\r\nhost: a\r\n{headers}\r\n").as_bytes(),
        body,
    ]
    .concat()
}

#[tokio::test]
async fn ambiguous_framing_smuggles_nothing() {
    let up = Upstream::start().await;
    let gateway = gateway(&up).await;
    let smuggled = b"0\r\n\r\nGET /v1/models HTTP/1.1\r\nhost: a\r\n\r\n";
    for headers in [
        format!(
            "content-length: {}\r\ntransfer-encoding: chunked\r\n",
            smuggled.len()
        ),
        format!(
            "transfer-encoding: chunked\r\ncontent-length: {}\r\n",
            smuggled.len()
        ),
        "content-length: 13\r\ncontent-length: 5\r\n".to_owned(),
        "content-length: +13\r\n".to_owned(),
        "content-length: 13, 13\r\n".to_owned(),
        "transfer-encoding: gzip\r\n".to_owned(),
        "transfer-encoding: chunked, identity\r\n".to_owned(),
        "transfer-encoding: xchunked\r\n".to_owned(),
        "content-length : 13\r\n".to_owned(),
    ] {
        let mut conn = gateway.connect().await;
        conn.send(&post(&headers, smuggled)).await;
        let answer = conn.head().await;
        assert_eq!(answer.status, 400, "{headers:?}");
        let (said, _) = conn.rest().await;
        assert!(
            !String::from_utf8_lossy(&said).contains("HTTP/1.1"),
            "{headers:?}: a second answer"
        );
    }
    assert_eq!(up.count(), 0);
}

#[tokio::test]
async fn a_chunked_body_is_one_body() {
    let up = Upstream::start().await;
    let gateway = gateway(&up).await;
    let mut conn = gateway.connect().await;
    conn.send(&post(
        "transfer-encoding: chunked\r\n",
        &chunked([&BODY[..3], &BODY[3..]]),
    ))
    .await;
    assert_eq!(conn.response().await.status, 200);
    let seen = up.request(0).await;
    assert_eq!(
        (&*seen.body, seen.header("content-length")),
        (BODY, Some("13"))
    );
    assert_eq!(seen.header("transfer-encoding"), None);
}

#[tokio::test]
async fn head_and_options() {
    let up = Upstream::start().await;
    let gateway = gateway(&up).await;
    let listing = gateway.send(Request::new("HEAD", "/v1/models")).await;
    assert_eq!(listing.status, 200);

    let mut conn = gateway.connect().await;
    up.reply(Reply::default().send("HTTP/1.1 200 OK\r\ncontent-length: 5\r\nx-a: b\r\n\r\n"));
    let head = conn
        .ask(&Request::new("HEAD", "/v1/files").header("model-override", "m"))
        .await
        .head;
    assert_eq!(
        (
            head.status,
            head.header("content-length"),
            head.header("x-a")
        ),
        (200, Some("5"), Some("b"))
    );
    assert_eq!(up.request(0).await.line, "HEAD /v1/files HTTP/1.1");

    up.reply(Reply::new(204, &[("allow", "POST")], ""));
    let options = conn
        .ask(&Request::new("OPTIONS", "/v1/files").header("model-override", "m"))
        .await;
    assert_eq!(
        (options.status, options.head.header("allow")),
        (204, Some("POST"))
    );
    assert_eq!(up.request(1).await.line, "OPTIONS /v1/files HTTP/1.1");

    let nameless = conn.ask(&Request::new("OPTIONS", "/v1/files")).await;
    assert_eq!(
        (nameless.status, nameless.code()),
        (400, json!("bad_request"))
    );
    let wrong = conn.ask(&Request::new("DELETE", "/v1/models")).await;
    assert_eq!(
        (wrong.status, wrong.head.header("allow")),
        (405, Some("GET,HEAD"))
    );
    let trace = conn
        .ask(&Request::new("TRACE", "/v1/files").header("model-override", "m"))
        .await;
    assert_eq!(
        (trace.status, trace.code(), trace.head.header("allow")),
        (
            405,
            json!("method_not_allowed"),
            Some("GET,HEAD,POST,PUT,PATCH,DELETE,OPTIONS")
        )
    );
    assert_eq!(up.count(), 2);
}

#[tokio::test]
async fn an_expectation_is_met() {
    let up = Upstream::start().await;
    let gateway = gateway(&up).await;
    let mut conn = gateway.connect().await;
    conn.send(&post("expect: 100-continue\r\ncontent-length: 13\r\n", b""))
        .await;
    assert_eq!(conn.head().await.status, 100);
    conn.send(BODY).await;
    assert_eq!(conn.response().await.status, 200);
    assert_eq!(up.request(0).await.body, BODY);
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let up = Upstream::start().await;
    up.answer(|request| Reply::new(200, &[], &request.body));
    let gateway = gateway(&up).await;
    let mut conn = gateway.connect().await;
    let bodies: Vec<Vec<u8>> = (0..5)
        .map(|i| json!({"model": "m", "i": i}).to_string().into_bytes())
        .collect();
    let requests: Vec<u8> = bodies
        .iter()
        .flat_map(|body| Request::post("/v1/x").body(body.clone()).bytes())
        .collect();
    conn.send(&requests).await;
    for body in bodies {
        assert_eq!(conn.response().await.body, body);
    }
}

#[tokio::test]
async fn http_1_0_is_answered_without_chunks() {
    let up = Upstream::start().await;
    up.always(Reply::stream().chunk("one").chunk("two").last_chunk());
    let gateway = gateway(&up).await;
    let mut conn = gateway.connect().await;
    conn.send(&[b"POST /v1/x HTTP/1.0\r\ncontent-length: 13\r\n\r\n", BODY].concat())
        .await;
    let said = String::from_utf8(conn.rest().await.0).unwrap();
    assert!(
        said.starts_with("HTTP/1.0 200") && said.ends_with("\r\n\r\nonetwo"),
        "{said}"
    );
}

#[tokio::test]
async fn http_2_with_prior_knowledge() {
    let up = Upstream::start().await;
    let gateway = gateway(&up).await;
    let gate = Gate::new();
    up.always(Reply::stream().delta("one").wait(&gate).delta("two").done());
    let client = reqwest::Client::builder()
        .http2_prior_knowledge()
        .build()
        .unwrap();
    let url = format!("http://{}/v1/chat/completions", gateway.address());
    let mut streams = Vec::new();
    for i in 0..10 {
        let body = json!({"model": "m", "stream": true, "i": i}).to_string();
        let answer = client.post(&url).body(body).send().await.unwrap();
        assert_eq!(
            (answer.status().as_u16(), answer.version()),
            (200, reqwest::Version::HTTP_2)
        );
        streams.push(answer);
    }
    gate.reached(10).await;
    assert_eq!(
        gateway
            .metrics()
            .await
            .count("onwards_model_inflight", &[("model", "m")]),
        10.0
    );
    drop(streams.pop());
    up.request(9).await.gone().await;
    gate.open();
    for stream in streams {
        let text = stream.text().await.unwrap();
        assert!(
            text.contains("one") && text.ends_with("data: [DONE]\n\n"),
            "{text}"
        );
    }
    gateway
        .metric_becomes("onwards_model_inflight", &[("model", "m")], 0.0)
        .await;
}

#[tokio::test]
async fn http_2_bodies_beyond_the_limit_are_refused() {
    let up = Upstream::start().await;
    let gateway = gateway(&up).await;
    let client = reqwest::Client::builder()
        .http2_prior_knowledge()
        .build()
        .unwrap();
    let url = format!("http://{}/v1/x", gateway.address());
    let answer = client
        .post(&url)
        .header("content-length", "40000000")
        .body("x")
        .send()
        .await;
    // The client itself may refuse to send a body that is shorter than announced.
    assert!(answer.is_err() || answer.unwrap().status() == 413);
    assert_eq!(
        client.post(&url).body(BODY).send().await.unwrap().status(),
        200
    );
}

#[tokio::test]
async fn garbage_is_answered_400_and_costs_only_its_connection() {
    let up = Upstream::start().await;
    let gateway = gateway(&up).await;
    let mut good = gateway.connect().await;
    for garbage in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"GET\r\n\r\n",
        b"G\0T / HTTP/1.1\r\n\r\n",
    ] {
        let mut conn = gateway.connect().await;
        conn.send(garbage).await;
        conn.finish_sending().await;
        let said = String::from_utf8_lossy(&conn.rest().await.0).into_owned();
        assert!(
            said.is_empty() || said.starts_with("HTTP/1.1 400"),
            "{said}"
        );
    }
    assert_eq!(
        good.ask(&Request::post("/v1/x").body(BODY)).await.status,
        200
    );
}
