//! Pictures: given as data or by address, fetched for providers that want them in the body, and never from where clients must not
//! reach.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use onwards_tests::{Gateway, Launch, Reply, Request, Upstream};
use serde_json::{Value, json};

use super::ask::{self, Feature, PNG};
use super::wire::{self, Say};
use super::{Client, Kind, asked};

/// The kinds that get pictures in the body.
const FETCHING: [Kind; 3] = [Kind::Anthropic, Kind::Gemini, Kind::Bedrock];

/// A request with a picture at this address, or several.
fn with_pictures(client: Client, urls: &[&str]) -> Request {
    let parts = urls.iter().map(|url| match client {
        Client::Chat => json!({"type": "image_url", "image_url": {"url": url}}),
        Client::Responses => json!({"type": "input_image", "image_url": url}),
        Client::Messages => json!({"type": "image", "source": {"type": "url", "url": url}}),
        Client::Gemini => json!({"fileData": {"mimeType": "image/png", "fileUri": url}}),
    });
    let parts: Vec<Value> = parts.collect();
    let turn = json!({"role": "user", "content": parts});
    let body = match client {
        Client::Chat => json!({"model": "m", "messages": [turn]}),
        Client::Responses => json!({"model": "m", "input": [turn]}),
        Client::Messages => json!({"model": "m", "max_tokens": 9, "messages": [turn]}),
        Client::Gemini => json!({"contents": [{"role": "user", "parts": parts}]}),
    };
    Request::post(client.path(false)).json(&body)
}

/// One gateway that may fetch from the tests' own servers.
async fn fetching(kind: Kind, up: &Upstream) -> Gateway {
    let config = json!({
        "image_fetch": {"allow_private": true, "allow_http": true, "max_bytes": 1000, "max_images": 3, "timeout_ms": 500},
        "targets": {"m": kind.provider(up)},
    });
    Launch::new(&config).start().await
}

fn picture() -> Reply {
    // What the server says of the type is not believed.
    let bytes = STANDARD.decode(PNG).unwrap();
    Reply::new(
        200,
        &[("content-type", "text/html"), ("set-cookie", "a=b")],
        bytes,
    )
}

#[tokio::test]
async fn pictures_by_address_are_fetched_and_sent() {
    for kind in FETCHING {
        let (up, shop) = (Upstream::start().await, Upstream::start().await);
        let gateway = fetching(kind, &up).await;
        shop.always(picture());
        for client in [Client::Chat, Client::Responses, Client::Messages] {
            if kind.speaks(client) {
                continue;
            }
            let before = shop.count();
            up.reply(wire::whole(
                kind.wire(client),
                &Say::to(Feature::Text, None),
            ));
            let url = format!("{}/cat.png?sig=1", shop.url());
            let request = with_pictures(client, &[&url, &url]);
            let answer = gateway
                .send(request.bearer("sk-client").header("cookie", "c"))
                .await;
            assert_eq!(answer.status, 200, "{kind:?} {client:?}: {}", answer.text());
            let sent = up.request(up.count() - 1).await;
            let lines = asked::lines(kind.wire(client), &sent);
            let expected = format!("picture image/png {PNG}");
            assert_eq!(lines[..2], [expected.clone(), expected], "{kind:?}");
            let fetched = shop.request(before).await;
            assert_eq!(fetched.line, "GET /cat.png?sig=1 HTTP/1.1");
            for name in ["authorization", "cookie", "x-api-key"] {
                assert_eq!(fetched.header(name), None);
            }
            assert_eq!(shop.count(), before + 1, "the same picture is fetched once");
        }
    }
}

#[tokio::test]
async fn openai_and_azure_are_sent_the_address() {
    for kind in [Kind::OpenAi, Kind::Azure] {
        let (up, shop) = (Upstream::start().await, Upstream::start().await);
        let gateway = fetching(kind, &up).await;
        let url = format!("{}/cat.png", shop.url());
        for client in [Client::Chat, Client::Messages, Client::Responses] {
            up.reply(wire::whole(
                kind.wire(client),
                &Say::to(Feature::Text, None),
            ));
            assert_eq!(
                gateway.send(with_pictures(client, &[&url])).await.status,
                200
            );
            assert!(
                up.request(up.count() - 1)
                    .await
                    .json()
                    .to_string()
                    .contains(&url)
            );
        }
        assert_eq!(shop.count(), 0);
    }
}

/// A refusal of a picture: the pointer to it, and the reason.
async fn refused(gateway: &Gateway, client: Client, url: &str) -> (Value, String) {
    let answer = gateway.send(with_pictures(client, &[url])).await;
    assert_eq!(answer.status, 400, "{url}: {}", answer.text());
    let error = answer.json()["error"].clone();
    assert!(
        answer.text().contains("image_fetch_failed"),
        "{}",
        answer.text()
    );
    let message = error["message"].as_str().unwrap().to_owned();
    let reason = message.rsplit(": ").next().unwrap().to_owned();
    (error["param"].clone(), reason)
}

#[tokio::test]
async fn addresses_inside_are_never_asked() {
    for kind in FETCHING {
        let (up, inside) = (Upstream::start().await, Upstream::start().await);
        let gateway = Launch::new(&json!({
            "image_fetch": {"allow_http": true}, "targets": {"m": kind.provider(&up)},
        }))
        .start()
        .await;
        let port = inside.address().port();
        for host in [
            "127.0.0.1",
            "localhost",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "0.0.0.0",
            "10.0.0.1",
            "192.168.1.1",
            "172.16.0.1",
            "169.254.169.254",
            "100.64.0.1",
            "[fd00::1]",
            "[fe80::1]",
            "2130706433",
            "0x7f.1",
            "127.1",
        ] {
            let url = format!("http://{host}:{port}/cat.png");
            let (param, reason) = refused(&gateway, Client::Chat, &url).await;
            assert_eq!(reason, "blocked_address", "{host}");
            let pointer = param.as_str().unwrap();
            assert!(pointer.starts_with("/messages/0/content/0"), "{pointer}");
        }
        assert_eq!((inside.connections(), up.count()), (0, 0));
    }
}

#[tokio::test]
async fn what_is_fetched_is_bounded_and_checked() {
    let (up, shop) = (Upstream::start().await, Upstream::start().await);
    let gateway = fetching(Kind::Anthropic, &up).await;
    let url = shop.url();
    let long = [STANDARD.decode(PNG).unwrap(), vec![0; 2000]].concat();
    for (reply, expected) in [
        (Reply::new(404, &[], "no"), "bad_status"),
        (
            Reply::new(200, &[("content-type", "image/png")], "<html>"),
            "not_an_image",
        ),
        (Reply::new(200, &[], &long), "too_large"),
        (Reply::default().then(onwards_tests::Step::Hang), "timeout"),
        (
            Reply::new(302, &[("location", "file:///etc/passwd")], ""),
            "bad_url",
        ),
    ] {
        shop.reply(reply);
        assert_eq!(refused(&gateway, Client::Chat, &url).await.1, expected);
    }
    let with_password = "http://user:pw@example.com/x";
    assert_eq!(
        refused(&gateway, Client::Chat, with_password).await.1,
        "bad_url"
    );
    for bad in ["ftp://example.com/x", "file:///etc/passwd"] {
        let answer = gateway.send(with_pictures(Client::Chat, &[bad])).await;
        let told = (answer.status, answer.code());
        assert_eq!(told, (400, json!("unsupported_content")), "{bad}");
    }
    let answer = gateway
        .send(with_pictures(
            Client::Chat,
            &[
                &url,
                &url,
                "http://a.test/1",
                "http://a.test/2",
                "http://a.test/3",
            ],
        ))
        .await;
    assert_eq!(answer.status, 400, "too many pictures: {}", answer.text());
    assert_eq!(up.count(), 0);
}

#[tokio::test]
async fn fetching_can_be_switched_off_or_left_to_the_provider() {
    let (up, shop) = (Upstream::start().await, Upstream::start().await);
    let forward = Kind::Anthropic.provider_with(&up, &json!({"image_urls": "forward"}));
    let reject = Kind::Gemini.provider_with(&up, &json!({"image_urls": "reject"}));
    let config = json!({"image_fetch": {"enabled": false}, "targets": {
        "m": Kind::Gemini.provider(&up), "forward": forward, "reject": reject,
    }});
    let gateway = Launch::new(&config).start().await;
    let url = shop.url();
    refused(&gateway, Client::Chat, &url).await;
    let request = with_pictures(Client::Chat, &[&url]).header("model-override", "reject");
    let answer = gateway.send(request).await;
    assert_eq!(
        (answer.status, answer.code()),
        (400, json!("unsupported_content")),
        "{}",
        answer.text()
    );
    up.reply(wire::whole(
        super::Wire::Messages,
        &Say::to(Feature::Text, None),
    ));
    let request = with_pictures(Client::Chat, &[&url]).header("model-override", "forward");
    assert_eq!(gateway.send(request).await.status, 200);
    let source = &up.request(0).await.json()["messages"][0]["content"][0]["source"];
    assert_eq!(source, &json!({"type": "url", "url": url}));
    assert_eq!(shop.count(), 0);
}

#[tokio::test]
async fn data_that_is_no_picture_is_refused() {
    for kind in FETCHING {
        let up = Upstream::start().await;
        let gateway = super::serve(kind, &up).await;
        let svg = format!("data:image/svg+xml;base64,{}", STANDARD.encode("<svg/>"));
        // Gemini takes more than pictures and judges types itself.
        if kind != Kind::Gemini {
            let answer = gateway.send(with_pictures(Client::Chat, &[&svg])).await;
            let told = (answer.status, answer.code());
            assert_eq!(told, (400, json!("unsupported_content")), "{kind:?}");
        }
        // The type that the bytes have counts.
        up.reply(wire::whole(
            kind.wire(Client::Chat),
            &Say::to(Feature::Text, None),
        ));
        let mislabelled = format!("data:image/jpeg;name=a;base64,{PNG}");
        assert_eq!(
            gateway
                .send(with_pictures(Client::Chat, &[&mislabelled]))
                .await
                .status,
            200
        );
        let sent = up.request(0).await;
        let lines = asked::lines(kind.wire(Client::Chat), &sent);
        assert_eq!(lines[0], format!("picture image/png {PNG}"));
    }
}

/// A conversation with a system text, a call and its result, and then a picture as the second part of a turn; where that stands in the
/// client's own request.
fn late(client: Client, url: &str) -> (Value, &'static str) {
    let mut body = ask::body(client, Feature::Tools, false);
    let (list, parts, place) = match client {
        Client::Chat => (
            "messages",
            json!({"role": "user", "content": [
                {"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {"url": url}}]}),
            "/messages/4/content/1",
        ),
        Client::Responses => (
            "input",
            json!({"role": "user", "content": [
                {"type": "input_text", "text": "Look"}, {"type": "input_image", "image_url": url}]}),
            "/input/3/content/1",
        ),
        Client::Messages => (
            "messages",
            json!({"role": "user", "content": [
                {"type": "text", "text": "Look"}, {"type": "image", "source": {"type": "url", "url": url}}]}),
            "/messages/3/content/1",
        ),
        Client::Gemini => (
            "contents",
            json!({"role": "user", "parts": [
                {"text": "Look"}, {"fileData": {"mimeType": "image/png", "fileUri": url}}]}),
            "/contents/3/parts/1",
        ),
    };
    body[list].as_array_mut().unwrap().push(parts);
    (body, place)
}

#[tokio::test]
async fn an_error_names_the_place_in_the_clients_own_request() {
    for kind in FETCHING {
        let up = Upstream::start().await;
        let gateway = super::serve(kind, &up).await;
        // None of these is fetched, each for a reason of its own.
        for url in ["https://127.0.0.1/cat.png", "ftp://example.org/cat.png"] {
            for client in Client::ALL
                .into_iter()
                .filter(|client| !kind.speaks(*client))
            {
                let (body, place) = late(client, url);
                let request = Request::post(client.path(false)).json(&body);
                let answer = gateway.send(request).await;
                let text = answer.text();
                assert_eq!(answer.status, 400, "{kind:?} {client:?}: {text}");
                let error = &answer.json()["error"];
                let message = error["message"].as_str().unwrap();
                assert!(
                    message.contains(&format!("{place}: ")),
                    "{kind:?} {client:?}: {text}"
                );
                if matches!(client, Client::Chat | Client::Responses) {
                    assert_eq!(error["param"], place, "{text}");
                }
            }
        }
        assert_eq!(up.count(), 0);
    }
}
