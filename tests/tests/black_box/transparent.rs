//! Nothing but what a rule names is changed, in either direction.

use onwards_tests::{Gate, Gateway, Reply, Request, Upstream};
use serde_json::json;

/// JSON that every careless rewrite would change.
const ODD: &str = "{ \"z\" : 1.0 ,\t\"a\":1e2, \"model\" : \"m\",\r\n \"big\":123456789012345678901234567890,\
\"text\":\"\\u0041\\/\\ud83e\\udd80 \u{feff}é\",\"dup\":1,\"dup\":2,\"nested\":{\"b\":[ ],\"a\":-0}} \n";

#[tokio::test]
async fn requests_keep_every_byte() {
    let up = Upstream::start().await;
    let gateway = Gateway::serve(json!({"m": {"url": up.url()}})).await;
    let request = Request::new("PATCH", "/v1/x%2Fy/%7Eé;p=1?b=2&a=1&b=%20+")
        .header("User-Agent", "client/1.0")
        .header("X-Twice", "one")
        .header("X-Twice", "two")
        .header("Accept-Encoding", "gzip, br")
        .header("X-Bytes", b"caf\xe9")
        .header("Content-Type", "application/json; charset=utf-8")
        .body(ODD);
    assert_eq!(gateway.send(request).await.status, 200);
    let seen = up.request(0).await;
    assert_eq!(
        seen.line,
        "PATCH /v1/x%2Fy/%7Eé;p=1?b=2&a=1&b=%20+ HTTP/1.1"
    );
    assert_eq!(String::from_utf8_lossy(&seen.body), ODD);
    let of = |name: &str| {
        seen.headers
            .iter()
            .filter(|(n, _)| n == name)
            .map(|(_, v)| v.as_str())
            .collect::<Vec<_>>()
    };
    assert_eq!(of("x-twice"), ["one", "two"]);
    assert_eq!(of("user-agent"), ["client/1.0"]);
    assert_eq!(of("accept-encoding"), ["gzip, br"]);
    assert_eq!(of("x-bytes"), ["caf\u{fffd}"]);
    assert_eq!(of("content-type"), ["application/json; charset=utf-8"]);
    assert_eq!(of("x-forwarded-proto"), ["https"]);
    assert_eq!(of("authorization"), Vec::<&str>::new());
}

#[tokio::test]
async fn what_identifies_the_client_stays_here() {
    let up = Upstream::start().await;
    let gateway = Gateway::serve(json!({"m": {"url": up.url()}})).await;
    let private = [
        "authorization",
        "x-api-key",
        "api-key",
        "cookie",
        "origin",
        "referer",
        "sec-fetch-site",
        "sec-fetch-mode",
        "sec-fetch-dest",
        "sec-fetch-user",
        "sec-ch-ua",
        "sec-ch-ua-platform",
        "if-modified-since",
        "if-none-match",
        "if-match",
        "if-unmodified-since",
        "if-range",
        "traceparent",
        "tracestate",
        "baggage",
        "proxy-authorization",
    ];
    let request = private
        .iter()
        .fold(Request::post("/v1/x"), |request, name| {
            request.header(name, "private")
        });
    let request = request.header("model-override", "m").body("x");
    assert_eq!(gateway.send(request).await.status, 200);
    let seen = up.request(0).await;
    let leaked: Vec<_> = seen
        .headers
        .iter()
        .filter(|(name, v)| v == "private" || name == "model-override")
        .collect();
    assert!(leaked.is_empty(), "{leaked:?}");
}

#[tokio::test]
async fn answers_keep_every_byte() {
    let up = Upstream::start().await;
    let gateway = Gateway::serve(json!({"m": {"url": up.url()}})).await;
    let body: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    let headers = [
        ("Set-Cookie", "a=1"),
        ("Set-Cookie", "b=2"),
        ("X-Vendor", "kept"),
        ("Content-Encoding", "gzip"),
        ("Content-Type", "application/octet-stream"),
        ("Location", "http://elsewhere.test/"),
        ("Connection", "x-hop"),
        ("X-Hop", "dropped"),
        ("Keep-Alive", "timeout=5"),
    ];
    for status in [200, 201, 302, 418, 500, 529] {
        up.reply(Reply::new(status, &headers, &body));
        let answer = gateway
            .send(Request::post("/v1/x").json(&json!({"model": "m"})))
            .await;
        assert_eq!(answer.status, status);
        assert!(answer.body == body, "{status}: the body differs");
        let of = |name: &str| {
            answer
                .head
                .headers
                .iter()
                .filter(|(n, _)| n == name)
                .map(|(_, v)| v.as_str())
                .collect::<Vec<_>>()
        };
        assert_eq!(of("set-cookie"), ["a=1", "b=2"]);
        assert_eq!(
            (of("x-vendor"), of("content-encoding")),
            (vec!["kept"], vec!["gzip"])
        );
        assert_eq!(of("location"), ["http://elsewhere.test/"]);
        assert_eq!((of("x-hop"), of("keep-alive")), (vec![], vec![]));
    }
    assert_eq!(up.count(), 6, "no redirect is followed");
}

#[tokio::test]
async fn streams_pass_as_they_come() {
    let up = Upstream::start().await;
    let gateway = Gateway::serve(json!({"m": {"url": up.url()}})).await;
    let pieces = [
        ": comment\r\n\r\n",
        "event: x\rdata:{\"a\"",
        ":1}\r\r",
        "\u{feff}data: half",
        " of it",
        "\n\ndata: [DO",
    ];
    let gates: Vec<Gate> = pieces.iter().map(|_| Gate::new()).collect();
    let script = pieces
        .iter()
        .zip(&gates)
        .fold(Reply::stream(), |reply, (piece, gate)| {
            reply.chunk(piece).wait(gate)
        });
    up.reply(script.last_chunk());
    let mut conn = gateway
        .begin(Request::chat_with(&json!({"stream": true})))
        .await;
    assert_eq!(
        conn.head().await.header("content-type"),
        Some("text/event-stream")
    );
    for (piece, gate) in pieces.iter().zip(&gates) {
        // Each piece arrives while the provider still holds the next one back.
        let chunk = conn.until(format!("{piece}\r\n").as_bytes()).await;
        assert_eq!(
            String::from_utf8_lossy(&chunk),
            format!("{:X}\r\n{piece}\r\n", piece.len())
        );
        gate.open();
    }
    assert_eq!(conn.until(b"\r\n\r\n").await, b"0\r\n\r\n");
}
