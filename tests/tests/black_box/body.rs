//! The model is read from the body without changing it, or changed without touching anything else.

use std::io::Write;

use onwards_tests::{Gateway, Launch, Request, Response, Upstream};
use serde_json::json;

async fn send(gateway: &Gateway, body: impl Into<Vec<u8>>) -> Response {
    gateway
        .send(
            Request::post("/v1/x")
                .header("content-type", "application/json")
                .body(body),
        )
        .await
}

#[tokio::test]
async fn where_the_model_may_stand() {
    let up = Upstream::start().await;
    let target = json!({"url": up.url()});
    let gateway = Gateway::serve(json!({"m": target, "a/b": target, "é": target})).await;
    let megabytes = "x".repeat(4 * 1024 * 1024);
    let good = [
        r#"{"model":"m"}"#.to_owned(),
        r#"{"mod\u0065l":"m"}"#.to_owned(),
        r#"{"model":"a\/b"}"#.to_owned(),
        r#"{"model":"\u00e9"}"#.to_owned(),
        " \r\n\t{ \"model\" :\"m\" } \n".to_owned(),
        r#"{"nested":{"model":"other"},"text":"\"model\":\"other\"","model":"m"}"#.to_owned(),
        r#"{"dup":1,"dup":2,"model":"m"}"#.to_owned(),
        format!(r#"{{"messages":[{{"content":"{megabytes}"}}],"model":"m"}}"#),
    ];
    for (i, body) in good.iter().enumerate() {
        let answer = send(&gateway, body.as_str()).await;
        assert_eq!(
            answer.status,
            200,
            "{}",
            body.chars().take(80).collect::<String>()
        );
        assert!(
            up.request(i).await.body == body.as_bytes(),
            "the body differs"
        );
    }
    let bad = [
        "",
        "m",
        r#"["m"]"#,
        r#"[{"model":"m"}]"#,
        r#""m""#,
        r#"{"model":1}"#,
        r#"{"model":null}"#,
        r#"{"model":["m"]}"#,
        r#"{"Model":"m"}"#,
        r#"{"model":"m","model":"m"}"#,
        r#"{"model":"m","mod\u0065l":"m"}"#,
        r#"{"model":"m"} x"#,
        r#"{"model":"m"}{}"#,
        r#"{"model":"m""#,
        r#"{"model":"m",}"#,
        "{\"model\":\"m\x01\"}",
        r#"{"model":"m","x":01}"#,
        r#"{"model":"m","x":NaN}"#,
        r#"{"model":"m","x":"\ud800"}"#,
        "\u{feff}{\"model\":\"m\"}",
        r#"{'model':'m'}"#,
    ];
    for body in bad {
        let answer = send(&gateway, body).await;
        assert_eq!(
            (answer.status, answer.code()),
            (400, json!("bad_request")),
            "{body:?}"
        );
    }
    let mut not_utf8 = br#"{"model":"m","x":""#.to_vec();
    not_utf8.extend(b"\xff\"}");
    assert_eq!(send(&gateway, not_utf8).await.status, 400);
    let deep = format!(
        r#"{{"model":"m","x":{}{}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert_eq!(send(&gateway, deep).await.status, 400);
    assert_eq!(up.count(), good.len());
}

#[tokio::test]
async fn the_model_is_replaced_and_nothing_else() {
    let up = Upstream::start().await;
    let gateway =
        Gateway::serve(json!({"m": {"url": up.url(), "onwards_model": "real \"é\""}})).await;
    let odd = "{ \"z\" : 1.0 ,\"mod\\u0065l\" : \"\\u006d\"\t,\"a\":1e2,\"dup\":1,\"dup\":2, \"s\":\"\\u0041\\/\" } \n";
    assert_eq!(send(&gateway, odd).await.status, 200);
    let seen = up.request(0).await;
    let expected = odd.replace("\"\\u006d\"", "\"real \\\"é\\\"\"");
    assert_eq!(String::from_utf8_lossy(&seen.body), expected);
    assert_eq!(
        seen.header("content-length"),
        Some(expected.len().to_string().as_str())
    );
}

#[tokio::test]
async fn the_override_beats_the_body_and_is_not_forwarded() {
    let up = Upstream::start().await;
    let gateway = Gateway::serve(
        json!({"m": {"url": up.url()}, "n": {"url": up.url(), "onwards_model": "real"}}),
    )
    .await;
    let over = |alias: &str, body: &str| {
        Request::post("/v1/x")
            .header("Model-Override", alias)
            .body(body)
    };
    assert_eq!(
        gateway.send(over("m", r#"{"model":"other"}"#)).await.status,
        200
    );
    assert_eq!(up.request(0).await.body, br#"{"model":"other"}"#);
    assert_eq!(up.request(0).await.header("model-override"), None);
    assert_eq!(gateway.send(over("m", "--multipart")).await.status, 200);
    assert_eq!(
        gateway.send(over("n", r#"{"model":"other"}"#)).await.status,
        200
    );
    assert_eq!(up.request(2).await.body, br#"{"model":"real"}"#);
    assert_eq!(gateway.send(over("n", "")).await.status, 200);
    for body in ["--multipart", "[1]", r#"{"x":1}"#] {
        assert_eq!(gateway.send(over("n", body)).await.status, 400, "{body}");
    }
    assert_eq!(gateway.send(over("", r#"{"model":"m"}"#)).await.status, 404);
    let chat = Request::post("/v1/chat/completions")
        .header("model-override", "m")
        .body("no json");
    let answer = gateway.send(chat).await;
    assert_eq!(
        (answer.status, answer.json()["error"]["message"].clone()),
        (400, json!("Request body must be valid JSON."))
    );
    assert_eq!(up.count(), 4);
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

/// A Zstandard frame of one stored block, and after it `runs` blocks of 128 KiB of the letter `a`, four bytes each.
fn zstd(plain: &[u8], runs: u32) -> Vec<u8> {
    const RUN: u32 = 128 * 1024;
    // The magic number, a header without a content size, a window of 128 KiB.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38];
    let mut block = |kind: u32, length: u32, last: bool, content: &[u8]| {
        let header = length << 3 | kind << 1 | u32::from(last);
        frame.extend(&header.to_le_bytes()[..3]);
        frame.extend(content);
    };
    block(0, u32::try_from(plain.len()).unwrap(), runs == 0, plain);
    for run in 1..=runs {
        block(1, RUN, run == runs, b"a");
    }
    frame
}

/// A brotli stream of stored blocks: format and length, then the bytes themselves.
fn brotli(plain: &[u8]) -> Vec<u8> {
    // A window of 64 KiB (bit 0), then blocks "not last, four nibbles of length - 1, stored", then "last, empty".
    let mut stream = Vec::new();
    for (i, block) in plain.chunks(1 << 16).enumerate() {
        let (first, length) = (i == 0, u32::try_from(block.len() - 1).unwrap());
        let header = length << 3 | 1 << 19;
        let header = if first { header << 1 } else { header };
        stream.extend(&header.to_le_bytes()[..3]);
        stream.extend(block);
    }
    stream.push(0x03);
    stream
}

fn encoded(encoding: &str, body: Vec<u8>) -> Request {
    Request::post("/v1/x")
        .header("content-encoding", encoding)
        .header("content-type", "application/json")
        .body(body)
}

#[tokio::test]
async fn compressed_bodies_are_read_and_sent_on_plain() {
    let up = Upstream::start().await;
    let gateway = Gateway::serve(json!({"m": {"url": up.url()}})).await;
    let plain = br#"{"model":"m","text":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}"#;
    for (i, (encoding, body)) in [
        ("gzip", gzip(plain)),
        ("GZIP", gzip(plain)),
        ("br", brotli(plain)),
        ("zstd", zstd(plain, 0)),
        ("identity", plain.to_vec()),
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(
            gateway.send(encoded(encoding, body)).await.status,
            200,
            "{encoding}"
        );
        let seen = up.request(i).await;
        assert_eq!(
            String::from_utf8_lossy(&seen.body),
            String::from_utf8_lossy(plain),
            "{encoding}"
        );
        assert_eq!(
            seen.header("content-length"),
            Some(plain.len().to_string().as_str())
        );
        if encoding != "identity" {
            assert_eq!(seen.header("content-encoding"), None, "{encoding}");
        }
    }
}

#[tokio::test]
async fn encodings_that_cannot_be_undone_are_refused() {
    let up = Upstream::start().await;
    let gateway = Gateway::serve(json!({"m": {"url": up.url()}})).await;
    let plain = br#"{"model":"m"}"#;
    for encoding in ["compress", "x-made-up", "gzip, br"] {
        assert_eq!(
            gateway.send(encoded(encoding, plain.to_vec())).await.status,
            415,
            "{encoding}"
        );
    }
    let short = gzip(plain);
    for (encoding, body) in [
        ("gzip", plain.to_vec()),
        ("gzip", short[..short.len() - 9].to_vec()),
        ("br", vec![0xff; 40]),
        ("zstd", b"no".to_vec()),
    ] {
        assert_eq!(
            gateway.send(encoded(encoding, body)).await.status,
            400,
            "{encoding}"
        );
    }
    assert_eq!(up.count(), 0);
}

#[tokio::test]
async fn bodies_that_unfold_beyond_the_limit_are_refused() {
    let up = Upstream::start().await;
    let gateway = Gateway::serve(json!({"m": {"url": up.url()}})).await;
    let start = br#"{"model":"m","x":""#;
    let mut megabytes = start.to_vec();
    megabytes.resize(64 << 20, b'a');
    // The second one is a gibibyte.
    for (encoding, body) in [("gzip", gzip(&megabytes)), ("zstd", zstd(start, 8192))] {
        assert!(body.len() < 2 * 1024 * 1024, "{} bytes", body.len());
        let answer = gateway.send(encoded(encoding, body)).await;
        assert_eq!(
            (answer.status, answer.code()),
            (413, json!("payload_too_large")),
            "{encoding}"
        );
    }
    assert!(
        gateway.resident_bytes() < 300 << 20,
        "{} bytes",
        gateway.resident_bytes()
    );
    assert_eq!(up.count(), 0);
    assert_eq!(gateway.send(Request::chat()).await.status, 200);
}

#[tokio::test]
async fn a_body_nobody_needs_to_read_stays_compressed() {
    let up = Upstream::start().await;
    let gateway = Gateway::serve(json!({"m": {"url": up.url()}})).await;
    let body = gzip(b"anything");
    let request = encoded("gzip", body.clone()).header("model-override", "m");
    assert_eq!(gateway.send(request).await.status, 200);
    let seen = up.request(0).await;
    assert_eq!(
        (&seen.body, seen.header("content-encoding")),
        (&body, Some("gzip"))
    );
}

#[tokio::test]
async fn strict_endpoints_read_compressed_bodies_too() {
    let up = Upstream::start().await;
    let gateway = Launch::strict(&json!({"m": {"url": up.url()}}))
        .start()
        .await;
    let plain = json!({"model": "m", "messages": []}).to_string();
    let request = Request::post("/v1/chat/completions")
        .header("content-encoding", "gzip")
        .body(gzip(plain.as_bytes()));
    assert_eq!(gateway.send(request).await.status, 200);
    assert_eq!(up.request(0).await.body, plain.as_bytes());
}
