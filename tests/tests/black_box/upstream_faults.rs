//! Providers that fail: no clean end without a complete answer, no request seen twice by a live provider, nothing
//! left running for a client that has gone.

use onwards_tests::{End, Gate, Gateway, Launch, Reply, Request, Step, Upstream};
use serde_json::json;

fn numbered(i: usize) -> (Request, Vec<u8>) {
    let body = json!({"model": "m", "number": i}).to_string().into_bytes();
    (Request::post("/v1/x").body(body.clone()), body)
}

#[tokio::test]
async fn a_kept_connection_closed_under_a_request_is_replaced() {
    let up = Upstream::start().await;
    up.always(Reply::json(200, &json!({})).then(Step::CloseOnNextRequest));
    let gateway = Gateway::serve(json!({"m": {"url": up.url()}})).await;
    let mut conn = gateway.connect().await;
    let mut bodies = Vec::new();
    for i in 0..20 {
        let (request, body) = numbered(i);
        assert_eq!(conn.ask(&request).await.status, 200, "request {i}");
        bodies.push(body);
    }
    let seen: Vec<Vec<u8>> = up
        .requests()
        .iter()
        .map(|request| request.body.clone())
        .collect();
    assert!(seen == bodies, "each body once and in order");
    assert_eq!(up.connections(), 20);
}

#[tokio::test]
async fn idle_connections_closed_by_the_provider_are_not_used() {
    let up = Upstream::start().await;
    up.always(Reply::json(200, &json!({})).then(Step::Close));
    let gateway = Gateway::serve(json!({"m": {"url": up.url()}})).await;
    let requests = (0..20).map(|i| numbered(i).0);
    for (i, request) in requests.enumerate() {
        assert_eq!(gateway.send(request).await.status, 200, "request {i}");
    }
    assert_eq!((up.count(), up.connections()), (20, 20));
}

#[tokio::test]
async fn a_large_body_survives_the_race_too() {
    let up = Upstream::start().await;
    up.always(Reply::json(200, &json!({})).then(Step::CloseOnNextRequest));
    let gateway = Gateway::serve(json!({"m": {"url": up.url()}})).await;
    let body = json!({"model": "m", "text": "x".repeat(4 << 20)}).to_string();
    for i in 0..4 {
        let answer = gateway
            .send(Request::post("/v1/x").body(body.as_str()))
            .await;
        assert_eq!(answer.status, 200, "request {i}");
        assert!(up.request(i).await.body == body.as_bytes());
    }
}

#[tokio::test]
async fn connections_are_kept_and_used_again() {
    let up = Upstream::start().await;
    let gateway = Gateway::serve(json!({"m": {"url": up.url()}})).await;
    for i in 0..20 {
        assert_eq!(gateway.send(numbered(i).0).await.status, 200);
    }
    assert!(
        up.connections() <= 2,
        "{} connections for requests in a row",
        up.connections()
    );
}

#[tokio::test]
async fn nothing_is_sent_again_once_an_answer_has_begun() {
    let up = Upstream::start().await;
    let gateway = Gateway::serve(json!({"m": {"url": up.url()}})).await;
    assert_eq!(gateway.send(numbered(0).0).await.status, 200);
    up.reply(
        Reply::default()
            .send("HTTP/1.1 200 OK\r\ncontent-le")
            .then(Step::Reset),
    );
    let answer = gateway.send(numbered(1).0).await;
    assert_eq!(
        (answer.status, answer.code()),
        (502, json!("internal_error"))
    );
    assert_eq!(up.count(), 2);
}

#[tokio::test]
async fn a_fresh_connection_that_fails_is_not_tried_again() {
    let up = Upstream::start().await;
    up.always(Reply::default().then(Step::Close));
    let gateway = Gateway::serve(json!({"m": {"url": up.url()}})).await;
    let answer = gateway.send(numbered(0).0).await;
    assert_eq!(
        (answer.status, answer.code()),
        (502, json!("internal_error"))
    );
    assert_eq!(up.count(), 1);
}

#[tokio::test]
async fn a_provider_that_is_not_there_is_a_502() {
    let gone = Upstream::start().await.url();
    let gateway =
        Gateway::serve(json!({"m": {"url": gone}, "n": {"url": "http://nowhere.invalid"}})).await;
    for alias in ["m", "n"] {
        let answer = gateway
            .send(Request::chat_with(&json!({"model": alias})))
            .await;
        assert_eq!(
            (answer.status, answer.code()),
            (502, json!("internal_error")),
            "{alias}"
        );
    }
}

/// The client's body for an answer that breaks off; the status is out.
async fn broken(strict: bool, reply: Reply) -> (Vec<u8>, End) {
    let up = Upstream::start().await;
    let targets = json!({"m": {"url": up.url()}});
    let launch = if strict {
        Launch::strict(&targets)
    } else {
        Launch::targets(&targets)
    };
    let gateway = launch.start().await;
    up.always(reply);
    let mut conn = gateway
        .begin(Request::chat_with(&json!({"stream": true})))
        .await;
    let head = conn.head().await;
    assert_eq!(head.status, 200);
    let body = conn.body(&head).await;
    gateway
        .metric_becomes("onwards_requests_inflight", &[], 0.0)
        .await;
    body
}

#[tokio::test]
async fn a_body_shorter_than_announced_is_broken() {
    let short = Reply::default().send("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n12345");
    for end in [Step::Close, Step::Reset] {
        let (body, ended) = broken(false, short.clone().then(end)).await;
        assert_eq!(ended, End::Broken);
        assert!(b"12345".starts_with(&body));
    }
}

#[tokio::test]
async fn a_stream_without_its_last_chunk_is_broken() {
    let whole = Reply::stream().delta("one");
    for strict in [false, true] {
        for end in [Step::Close, Step::Reset] {
            let (body, ended) = broken(strict, whole.clone().then(end)).await;
            assert_eq!(
                ended,
                End::Broken,
                "strict {strict}: {}",
                String::from_utf8_lossy(&body)
            );
        }
        let half = whole
            .clone()
            .send("fff\r\ndata: {\"id\":")
            .then(Step::Close);
        let (body, ended) = broken(strict, half).await;
        assert_eq!(ended, End::Broken);
        if strict {
            assert!(
                !body.ends_with(b"{\"id\":"),
                "strict sends whole events only"
            );
        }
    }
}

#[tokio::test]
async fn a_broken_coding_is_broken() {
    let bad = Reply::stream().delta("one").send("zz\r\nnot a chunk\r\n");
    assert_eq!(broken(false, bad).await.1, End::Broken);
}

#[tokio::test]
async fn a_body_that_ends_with_its_connection_is_whole() {
    let reply = Reply::default()
        .send("HTTP/1.1 200 OK\r\n\r\nuntil the end")
        .then(Step::Close);
    assert_eq!(
        broken(false, reply).await,
        (b"until the end".to_vec(), End::Clean)
    );
}

#[tokio::test]
async fn a_client_that_leaves_takes_its_request_along() {
    let up = Upstream::start().await;
    for strict in [false, true] {
        let targets = json!({"m": {"url": up.url()}});
        let launch = if strict {
            Launch::strict(&targets)
        } else {
            Launch::targets(&targets)
        };
        let gateway = launch.start().await;
        // Before the head, after the head, in the middle of a unary body.
        let scripts = [
            (Reply::default().then(Step::Hang), ""),
            (Reply::stream().delta("one").then(Step::Hang), "one"),
            (
                Reply::default()
                    .send("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{")
                    .then(Step::Hang),
                "",
            ),
        ];
        for (script, seen) in scripts {
            up.reply(script);
            let number = up.count();
            let mut conn = gateway
                .begin(Request::chat_with(&json!({"stream": true})))
                .await;
            let request = up.request(number).await;
            conn.until(seen.as_bytes()).await;
            drop(conn);
            request.gone().await;
            gateway
                .metric_becomes("onwards_requests_inflight", &[], 0.0)
                .await;
        }
    }
}

#[tokio::test]
async fn a_provider_that_sends_without_end_waits_for_the_client() {
    let up = Upstream::start().await;
    let piece = vec![b'x'; 1 << 20];
    let gate = Gate::new();
    let script = (0..256)
        .fold(Reply::stream(), |reply, _| reply.chunk(&piece))
        .wait(&gate)
        .last_chunk();
    up.reply(script);
    let gateway = Gateway::serve(json!({"m": {"url": up.url()}})).await;
    let mut conn = gateway.begin(Request::chat()).await;
    conn.head().await;
    // The client reads nothing for now, so the gateway must not have taken all of it.
    let idle = gateway
        .metrics()
        .await
        .count("onwards_requests_inflight", &[]);
    assert_eq!(idle, 1.0);
    assert!(
        gateway.resident_bytes() < 150 << 20,
        "{} bytes resident",
        gateway.resident_bytes()
    );
    drop(conn);
    up.request(0).await.gone().await;
}

#[tokio::test]
async fn many_clients_in_the_race_lose_nothing() {
    let up = Upstream::start().await;
    up.answer(|request| {
        let whole = Reply::new(200, &[], &request.body);
        match request.json()["number"].as_u64().unwrap() % 4 {
            0 => whole.then(Step::Close),
            1 => whole.then(Step::CloseOnNextRequest),
            2 => whole.then(Step::Reset),
            _ => whole,
        }
    });
    let gateway = Gateway::serve(json!({"m": {"url": up.url()}})).await;
    let mut clients = tokio::task::JoinSet::new();
    for client in 0..8 {
        let mut conn = gateway.connect().await;
        clients.spawn(async move {
            for i in 0..25 {
                let (request, body) = numbered(client * 25 + i);
                let answer = conn.ask(&request).await;
                assert_eq!(answer.status, 200, "{}", answer.text());
                assert!(answer.body == body, "another request's answer");
            }
        });
    }
    while let Some(client) = clients.join_next().await {
        client.unwrap();
    }
    let mut seen: Vec<u64> = up
        .requests()
        .iter()
        .map(|request| request.json()["number"].as_u64().unwrap())
        .collect();
    seen.sort_unstable();
    assert!(seen.into_iter().eq(0..200), "each body once");
}

#[tokio::test]
async fn what_follows_an_answer_never_answers_the_next_request() {
    let up = Upstream::start().await;
    let gateway = Gateway::serve(json!({"m": {"url": up.url()}})).await;
    let poison = "HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\npoison";
    let heads = [
        ("POST", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"),
        ("POST", "HTTP/1.1 204 No Content\r\n\r\n"),
        ("POST", "HTTP/1.1 304 Not Modified\r\n\r\n"),
        (
            "POST",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        ),
        ("HEAD", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"),
    ];
    for (method, head) in heads {
        up.reply(Reply::default().send(format!("{head}{poison}")));
        let request = Request::new(method, "/v1/x").header("model-override", "m");
        let mut conn = gateway.connect().await;
        assert!(conn.ask(&request).await.status < 400, "{method} {head:?}");
        let next = conn.ask(&Request::chat()).await;
        assert!(!next.text().contains("poison"), "{method} {head:?}");
        assert_eq!(next.status, 200, "{method} {head:?}: {}", next.text());
    }
}

#[tokio::test]
async fn answers_that_are_no_http_are_a_502() {
    let up = Upstream::start().await;
    let gateway = Gateway::serve(json!({"m": {"url": up.url()}})).await;
    let long = format!("HTTP/1.1 200 OK\r\nx-long: {}\r\n\r\n", "a".repeat(4 << 20));
    for bad in [
        "garbage\r\n\r\n",
        "HTTP/1.1 99 Low\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-le",
        &long,
    ] {
        up.reply(Reply::default().send(bad).then(Step::Close));
        let answer = gateway.send(Request::chat()).await;
        let start: String = bad.chars().take(60).collect();
        assert_eq!(answer.status, 502, "{start:?}");
        assert_eq!(answer.code(), "internal_error");
    }
}

#[tokio::test]
async fn interim_answers_are_passed_over() {
    let up = Upstream::start().await;
    let gateway = Gateway::serve(json!({"m": {"url": up.url()}})).await;
    let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n";
    up.reply(
        Reply::default()
            .send(interim)
            .send("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"),
    );
    let answer = gateway.send(Request::chat()).await;
    assert_eq!((answer.status, answer.text().as_str()), (200, "ok"));
}

#[tokio::test]
async fn a_switch_of_protocols_nobody_asked_for_is_a_502() {
    let up = Upstream::start().await;
    let gateway = Gateway::serve(json!({"m": {"url": up.url()}})).await;
    let switch =
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n";
    up.reply(Reply::default().send(switch).then(Step::Hang));
    let mut conn = gateway.begin(Request::chat()).await;
    assert_eq!(conn.head().await.status, 502);
}
