//! Gemini's streams as one JSON array: for a client that does not ask for events, and from a provider that sends none.

use onwards_tests::{End, Gate, Gateway, Launch, Reply, Request, Step, Upstream};
use serde_json::{Value, json};

use super::ask::{self, Feature};
use super::faults::{code, hello};
use super::{Client, KEY, Kind, Wire, serve, streams, told, wire};

const JSON: (&str, &str) = ("content-type", "application/json");

/// A request for an array.
fn request() -> Request {
    Request::post("/v1beta/models/m:streamGenerateContent").json(&ask::body(
        Client::Gemini,
        Feature::Text,
        true,
    ))
}

/// What the provider says, piece by piece.
fn pieces() -> Vec<String> {
    let events = streams::events(Wire::Gemini, &hello()).into_iter();
    let data = events.map(|event| String::from_utf8(event).unwrap());
    data.map(|event| event.trim().trim_start_matches("data: ").to_owned())
        .collect()
}

fn head() -> Reply {
    Reply::default()
        .send("HTTP/1.1 200 OK\r\ncontent-type: application/json; charset=UTF-8\r\ntransfer-encoding: chunked\r\n\r\n")
}

/// The array as Google writes it, up to its end.
fn array<'p>(pieces: impl IntoIterator<Item = &'p String>) -> Reply {
    let pieces = pieces.into_iter().enumerate();
    pieces.fold(head(), |reply, (place, piece)| {
        let before = if place == 0 { "[" } else { "\n,\r\n" };
        let piece = piece.replacen('{', "{\n  ", 1);
        reply.chunk(format!("{before}{piece}"))
    })
}

fn error() -> String {
    let secret = KEY.replace('-', "\\u002d");
    let error = wire::error_body(Wire::Gemini, 503, "vendor-model is busy, SECRET");
    error.to_string().replace("SECRET", &secret)
}

/// What a client got: an array that is whole, whatever came.
async fn told_whole(gateway: &Gateway) -> Vec<Value> {
    let mut conn = gateway.begin(request()).await;
    let head = conn.head().await;
    assert_eq!(
        (head.status, head.header("content-type")),
        (200, Some("application/json"))
    );
    let (body, end) = conn.body(&head).await;
    assert_eq!(end, End::Clean);
    let text = String::from_utf8(body).unwrap();
    assert!(
        !text.contains("vendor-model") && !text.contains(KEY),
        "{text}"
    );
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn text_of(elements: &[Value]) -> String {
    let parts = elements.iter().flat_map(|element| {
        let parts = element["candidates"][0]["content"]["parts"].as_array();
        parts.cloned().unwrap_or_default()
    });
    parts
        .map(|part| part["text"].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[tokio::test]
async fn an_array_is_passed_on_element_by_element() {
    let up = Upstream::start().await;
    let gateway = serve(Kind::Gemini, &up).await;
    let pieces = pieces();
    let (first, rest) = pieces.split_first().unwrap();
    let gate = Gate::new();
    let reply = rest
        .iter()
        .fold(array([first]).wait(&gate), |reply, piece| {
            reply.chunk(format!(",{piece}"))
        });
    up.reply(reply.chunk("\n]\n").last_chunk());
    let mut conn = gateway.begin(request()).await;
    let head = conn.head().await;
    assert_eq!(head.header("content-type"), Some("application/json"));
    conn.until(b"Hello").await;
    gate.open();
    conn.until(b"\r\n0\r\n\r\n").await;
    let sent = up.request(0).await;
    assert_eq!(
        sent.line,
        "POST /v1beta/models/vendor-model:streamGenerateContent HTTP/1.1"
    );
    // Nothing but the name is another, and the end is said once.
    up.reply(array(&pieces).chunk("]").last_chunk());
    let answer = gateway.send(request()).await;
    let expected: Vec<String> = pieces
        .iter()
        .map(|piece| piece.replacen('{', "{\n  ", 1))
        .collect();
    let expected = format!("[{}]", expected.join(",\n")).replace("vendor-model", "m");
    assert_eq!(answer.text(), expected);
    for (kind, count) in [("prompt", 22.0), ("completion", 10.0)] {
        let labels = [("model", "m"), ("type", kind)];
        gateway
            .metric_becomes("onwards_tokens_total", &labels, count)
            .await;
    }
}

#[tokio::test]
async fn an_error_in_an_array_is_one() {
    let (bad, good) = (Upstream::start().await, Upstream::start().await);
    let gateway = serve(Kind::Gemini, &bad).await;
    bad.reply(array([&error()]).chunk("]").last_chunk());
    let answer = gateway.send(request()).await;
    assert_eq!(answer.status, 503);
    let body = answer.json();
    assert_eq!(body["error"]["status"], "UNAVAILABLE");
    assert_eq!(body["error"]["message"], "m is busy, [REDACTED]");

    let begun = pieces().into_iter().take(1).chain([error()]);
    bad.reply(array(&begun.collect::<Vec<_>>()).then(Step::Hang));
    let told = told_whole(&gateway).await;
    let [said, error_told] = &told[..] else {
        panic!("{told:?}");
    };
    assert!(text_of(std::slice::from_ref(said)).starts_with("Hello"));
    assert_eq!(error_told["error"]["message"], "m is busy, [REDACTED]");

    let pair = json!({
        "strategy": "priority", "fallback": {"enabled": true, "on_status": [429, 5]},
        "providers": [Kind::Gemini.provider(&bad), Kind::Gemini.provider(&good)],
    });
    let gateway = Launch::targets(&json!({"m": pair})).start().await;
    for reply in [
        array([&error()]).then(Step::Hang),
        head().chunk("[").last_chunk(),
        head().chunk("[{\"candidates\":").last_chunk(),
        head().chunk("<html>").then(Step::Hang),
        head().chunk("[{]").then(Step::Hang),
    ] {
        bad.reply(reply);
        good.reply(array(&pieces()).chunk("]").last_chunk());
        assert_eq!(text_of(&told_whole(&gateway).await), "Hello there");
    }
}

#[tokio::test]
async fn an_array_that_breaks_off_is_told_as_an_error() {
    let up = Upstream::start().await;
    let gateway = serve(Kind::Gemini, &up).await;
    let begun = || array(&pieces()[..1]);
    for (ending, expected) in [
        (begun().last_chunk(), "provider_stream_aborted"),
        (begun().then(Step::Reset), "provider_stream_aborted"),
        (
            begun().chunk(",{\"candidates\":[{\"conte").last_chunk(),
            "provider_stream_aborted",
        ),
        (begun().chunk("]").last_chunk(), "provider_stream_aborted"),
        (
            begun().chunk(",{\"a\":[}]}").then(Step::Hang),
            "provider_malformed_response",
        ),
    ] {
        up.reply(ending);
        let told = told_whole(&gateway).await;
        assert_eq!(told.len(), 2, "{told:?}");
        assert_eq!(code(Client::Gemini, &told[1]), expected);
    }
    // All has been said but the bracket.
    up.reply(array(&pieces()).last_chunk());
    assert_eq!(text_of(&told_whole(&gateway).await), "Hello there");
}

#[tokio::test]
async fn a_whole_answer_in_the_place_of_a_stream_is_its_only_event() {
    let up = Upstream::start().await;
    let gateway = serve(Kind::Gemini, &up).await;
    let whole = wire::body(Wire::Gemini, &hello());
    let whole = serde_json::to_string_pretty(&whole).unwrap();
    let reply = || Reply::new(200, &[JSON], &whole);
    up.reply(reply());
    assert_eq!(text_of(&told_whole(&gateway).await), "Hello there");
    for client in Client::ALL {
        up.reply(reply());
        let answer = gateway
            .send(ask::request(client, Feature::Text, true))
            .await;
        assert_eq!(told::stream(client, &answer).text, "Hello there");
    }
    for client in Client::ALL {
        for none in ["{}", "7", "[]", ""] {
            up.reply(Reply::new(200, &[JSON], none));
            let request = ask::request(client, Feature::Text, true);
            let answer = gateway.send(request).await;
            assert_eq!(answer.status, 502, "{}", answer.text());
            assert_eq!(code(client, &answer.json()), "provider_malformed_response");
        }
    }
}

#[tokio::test]
async fn who_wants_an_array_gets_one_and_who_wants_events_gets_them() {
    let up = Upstream::start().await;
    let gateway = serve(Kind::Gemini, &up).await;
    let mut events = streams::events(Wire::Gemini, &hello());
    events.insert(1, b": a comment\n\n".to_vec());
    let reply = events.iter().fold(Reply::stream(), Reply::chunk);
    up.reply(reply.last_chunk());
    assert_eq!(text_of(&told_whole(&gateway).await), "Hello there");
    let half = events.iter().take(2).fold(Reply::stream(), Reply::chunk);
    up.reply(half.chunk("data: {\"candidates\":[").last_chunk());
    let told = told_whole(&gateway).await;
    assert_eq!(code(Client::Gemini, &told[1]), "provider_stream_aborted");
    up.reply(array(&pieces()).chunk("]").last_chunk());
    let answer = gateway
        .send(ask::request(Client::Gemini, Feature::Text, true))
        .await;
    assert_eq!(
        answer.head.header("content-type"),
        Some("text/event-stream")
    );
    assert_eq!(told::stream(Client::Gemini, &answer).text, "Hello there");
}
