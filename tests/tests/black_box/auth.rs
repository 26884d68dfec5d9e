//! Who may ask for what: keys, names of keys, global keys, open aliases.

use onwards_tests::{Gateway, Launch, Request, Upstream};
use serde_json::{Value, json};

/// Posts for each alias with each token; `expected` holds a status per alias, in order.
async fn check(gateway: &Gateway, aliases: &[&str], table: &[(Option<&str>, &[u16])]) {
    for (token, expected) in table {
        for (alias, status) in aliases.iter().zip(*expected) {
            let request = Request::post("/v1/x").json(&json!({"model": alias}));
            let request = token
                .iter()
                .fold(request, |request, token| request.bearer(token));
            let answer = gateway.send(request).await;
            assert_eq!(answer.status, *status, "{alias} with {token:?}");
            match status {
                401 => {
                    assert_eq!(answer.code(), "unauthenticated");
                    assert_eq!(answer.head.header("www-authenticate"), Some("Bearer"));
                }
                404 => assert_eq!(answer.code(), "model_not_found"),
                _ => {}
            }
        }
    }
}

fn definitions() -> Value {
    json!({"alice": {"key": "sk-alice"}, "bob": {"key": "sk-bob"}, "idle": {"key": "sk-idle"}})
}

#[tokio::test]
async fn keys_of_aliases() {
    let up = Upstream::start().await;
    let with = |keys: Value| json!({"url": up.url(), "keys": keys});
    let targets = json!({
        "open": {"url": up.url()},
        "literal": with(json!(["k1", "k2"])),
        "named": with(json!(["alice", "k1"])),
        "nobody": with(json!([])),
    });
    let config = json!({"targets": targets, "auth": {"key_definitions": definitions()}});
    let gateway = Launch::new(&config).start().await;
    check(
        &gateway,
        &["open", "literal", "named", "nobody", "unknown"],
        &[
            (None, &[200, 401, 401, 401, 404]),
            (Some("k1"), &[200, 200, 200, 401, 404]),
            (Some("k2"), &[200, 200, 401, 401, 404]),
            (Some("sk-alice"), &[200, 401, 200, 401, 404]),
            (Some("sk-bob"), &[200, 401, 401, 401, 404]),
            (Some("alice"), &[200, 401, 401, 401, 404]),
            (Some("K1"), &[200, 401, 401, 401, 404]),
            (Some("k1 "), &[200, 200, 200, 401, 404]),
            (Some(""), &[200, 401, 401, 401, 404]),
        ],
    )
    .await;
}

#[tokio::test]
async fn global_keys() {
    let up = Upstream::start().await;
    let targets = json!({
        "bare": {"url": up.url()},
        "own": {"url": up.url(), "keys": ["k1"]},
        "empty": {"url": up.url(), "keys": []},
    });
    let auth = json!({"global_keys": ["g1", "alice"], "key_definitions": definitions()});
    let gateway = Launch::new(&json!({"targets": targets, "auth": auth}))
        .start()
        .await;
    check(
        &gateway,
        &["bare", "own", "empty"],
        &[
            (None, &[401, 401, 401]),
            (Some("g1"), &[200, 200, 200]),
            (Some("sk-alice"), &[200, 200, 200]),
            (Some("alice"), &[401, 401, 401]),
            (Some("k1"), &[401, 200, 401]),
        ],
    )
    .await;
}

#[tokio::test]
async fn only_a_bearer_token_counts() {
    let up = Upstream::start().await;
    let gateway = Gateway::serve(json!({"m": {"url": up.url(), "keys": ["k1"]}})).await;
    let wrong = [
        ("authorization", "bearer k1"),
        ("authorization", "BEARER k1"),
        ("authorization", "Basic k1"),
        ("authorization", "k1"),
        ("authorization", "Bearer"),
        ("authorization", "Bearer k1, Bearer k1"),
        ("x-api-key", "k1"),
        ("api-key", "k1"),
        ("cookie", "authorization=k1"),
    ];
    for (name, value) in wrong {
        assert_eq!(
            gateway
                .send(Request::chat().header(name, value))
                .await
                .status,
            401,
            "{name}: {value}"
        );
    }
    let binary = Request::chat().header("authorization", b"Bearer \xff\xfe");
    assert_eq!(gateway.send(binary).await.status, 401);
    let query =
        Request::post("/v1/x?key=k1&authorization=Bearer%20k1").json(&json!({"model": "m"}));
    assert_eq!(gateway.send(query).await.status, 401);
    assert_eq!(up.count(), 0);
    assert_eq!(gateway.send(Request::chat().bearer("k1")).await.status, 200);
}

#[tokio::test]
async fn the_listing_shows_what_a_token_opens() {
    let up = Upstream::start().await;
    let targets = json!({
        "zeta": {"url": up.url()},
        "alpha": {"url": up.url(), "keys": ["k1"]},
        "beta": {"url": up.url(), "keys": ["k2", "k1"]},
    });
    let gateway = Gateway::serve(targets).await;
    for (token, expected) in [
        ("", &["zeta"][..]),
        ("k1", &["alpha", "beta", "zeta"]),
        ("k2", &["beta", "zeta"]),
        ("x", &["zeta"]),
    ] {
        for path in ["/v1/models", "/models"] {
            let answer = gateway.send(Request::get(path).bearer(token)).await;
            assert_eq!(answer.status, 200);
            let listing = answer.json();
            let ids: Vec<&str> = listing["data"]
                .as_array()
                .unwrap()
                .iter()
                .map(|m| m["id"].as_str().unwrap())
                .collect();
            assert_eq!(ids, expected, "{path} with {token:?}");
            assert_eq!(
                (&listing["object"], &listing["data"][0]["owned_by"]),
                (&json!("list"), &json!("None"))
            );
        }
    }
    assert_eq!(up.count(), 0);
}

#[tokio::test]
async fn the_operators_key_is_sent_as_configured() {
    let up = Upstream::start().await;
    let targets = json!({
        "usual": {"url": up.url(), "onwards_key": "op"},
        "named": {"url": up.url(), "onwards_key": "op", "upstream_auth_header_name": "X-API-Key", "upstream_auth_header_prefix": ""},
        "none": {"url": up.url()},
    });
    let gateway = Gateway::serve(targets).await;
    let cases = [
        ("usual", Some("Bearer op"), None),
        ("named", None, Some("op")),
        ("none", None, None),
    ];
    for (i, (alias, authorization, api_key)) in cases.into_iter().enumerate() {
        let request = Request::post("/v1/x")
            .bearer("client")
            .header("x-api-key", "client")
            .json(&json!({"model": alias}));
        assert_eq!(gateway.send(request).await.status, 200);
        let seen = up.request(i).await;
        assert_eq!(
            (seen.header("authorization"), seen.header("x-api-key")),
            (authorization, api_key),
            "{alias}"
        );
    }
}
