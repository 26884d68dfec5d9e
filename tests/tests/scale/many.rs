//! Ten thousand aliases with a key each, in one file: checked, loaded, listed, served and exchanged.

use onwards_tests::{Gateway, Launch, Request, Upstream, run};
use serde_json::{Map, Value, json};

const MANY: usize = 10_000;

/// What the log says when a configuration is in force.
const RELOADED: &str = "configuration reloaded";

/// Aliases `m0`, `m1`, …, each opened by the key of its number; every second key is a named one.
fn config(up: &Upstream, count: usize) -> Value {
    let mut targets = Map::new();
    let mut definitions = Map::new();
    for i in 0..count {
        let key = if i % 2 == 0 {
            definitions.insert(format!("name-{i}"), json!({"key": token(i)}));
            format!("name-{i}")
        } else {
            token(i)
        };
        targets.insert(format!("m{i}"), json!({"url": up.url(), "keys": [key]}));
    }
    json!({"targets": targets, "auth": {"key_definitions": definitions}})
}

fn token(i: usize) -> String {
    format!("sk-{i:030}")
}

/// The status of a request for the alias of one number with the key of another.
async fn asks(gateway: &Gateway, alias: usize, key: usize) -> u16 {
    let request = Request::chat_with(&json!({"model": format!("m{alias}")}));
    gateway.send(request.bearer(&token(key))).await.status
}

async fn listed(gateway: &Gateway, request: Request) -> Vec<String> {
    let list = gateway.send(request).await.json();
    let models = list.get("data").and_then(Value::as_array).unwrap();
    let id = |model: &Value| model.get("id").and_then(Value::as_str).unwrap().to_owned();
    models.iter().map(id).collect()
}

#[tokio::test]
async fn aliases_and_keys() {
    let up = Upstream::start().await;
    let all = config(&up, MANY);
    let gateway = Launch::new(&all).start().await;
    let file = gateway.config_path();
    let checked = run(file.parent().unwrap(), &["check", "config.json"]).await;
    assert_eq!(checked.code, Some(0), "{}", checked.output);
    let last = MANY - 1;
    for i in [0, 1, MANY / 2, last] {
        assert_eq!(asks(&gateway, i, i).await, 200);
        assert_eq!(asks(&gateway, i, (i + 1) % MANY).await, 401);
        let own = Request::get("/v1/models").bearer(&token(i));
        assert_eq!(listed(&gateway, own).await, [format!("m{i}")]);
    }
    assert_eq!(asks(&gateway, MANY, last).await, 404);
    assert_eq!(listed(&gateway, Request::get("/v1/models")).await, [""; 0]);

    // One more alias, and one less.
    let mut next = config(&up, MANY + 1);
    next["targets"].as_object_mut().unwrap().remove("m0");
    gateway.replace_config(&next);
    gateway.logs(RELOADED, 1).await;
    assert_eq!(asks(&gateway, MANY, MANY).await, 200);
    assert_eq!(asks(&gateway, last, last).await, 200);
    assert_eq!(asks(&gateway, 0, 0).await, 404);

    // One key for all of them.
    next["auth"]["global_keys"] = json!(["sk-all"]);
    gateway.replace_config(&next);
    gateway.logs(RELOADED, 2).await;
    let everything = Request::get("/v1/models").bearer("sk-all");
    let models = listed(&gateway, everything).await;
    assert_eq!(models.len(), MANY);
    assert!(models.is_sorted());
}
