//! Rules and request classes choose the pool; failover happens within it, and labels say which one it was.

use onwards_tests::{Gateway, Launch, Reply, Request, Upstream};
use serde_json::{Value, json};

use super::rig::{at_rest, merged, pool, refusal, thorough};

/// Four providers behind two aliases. `m` refuses keys of `tier: none` and sends those of `tier: free` to `n`, which
/// has a pool of its own for completions.
struct Routes {
    m: Upstream,
    default: Upstream,
    completions: [Upstream; 2],
    gateway: Gateway,
}

impl Routes {
    async fn start() -> Self {
        let (m, default) = (Upstream::start().await, Upstream::start().await);
        let completions = [Upstream::start().await, Upstream::start().await];
        let [one, two] = &completions;
        let rule =
            |tier: &str, action: Value| json!({"match_labels": {"tier": tier}, "action": action});
        let keyed = |pool| merged(pool, &json!({"keys": ["sk-only-n"]}));
        let classes = json!({"pools": {
            "default": keyed(pool(&[&default], 1, thorough())),
            "completions": keyed(pool(&[one, two], 1, thorough())),
        }});
        let config = json!({
            "auth": {"key_definitions": {
                "free": {"key": "sk-free", "labels": {"tier": "free"}},
                "none": {"key": "sk-none", "labels": {"tier": "none"}},
                "paid": {"key": "sk-paid", "labels": {"tier": "paid"}},
            }},
            "targets": {
                "m": merged(pool(&[&m], 1, thorough()), &json!({"routing_rules": [
                    rule("none", json!({"type": "deny"})),
                    rule("free", json!({"type": "redirect", "target": "n"})),
                ]})),
                "n": classes,
            },
        });
        let gateway = Launch::new(&config).start().await;
        Self {
            m,
            default,
            completions,
            gateway,
        }
    }

    fn asked(&self) -> [usize; 4] {
        let [one, two] = self.completions.each_ref().map(Upstream::count);
        [self.m.count(), self.default.count(), one, two]
    }
}

fn completion() -> Request {
    Request::post("/v1/completions")
        .json(&json!({"model": "m", "prompt": "x", "priority": 3, "nvext": {"a": 1}}))
}

#[tokio::test]
async fn rules_go_by_the_labels_of_the_key() {
    let routes = Routes::start().await;
    let gateway = &routes.gateway;
    let denied = gateway.send(Request::chat().bearer("sk-none")).await;
    assert_eq!(refusal(&denied), (403, json!("forbidden")));
    assert_eq!(routes.asked(), [0, 0, 0, 0]);
    // The redirected client holds no key of the alias it is sent to.
    assert_eq!(
        gateway.send(Request::chat().bearer("sk-free")).await.status,
        200
    );
    assert_eq!(routes.asked(), [0, 1, 0, 0]);
    for token in ["sk-paid", "sk-unknown"] {
        assert_eq!(
            gateway.send(Request::chat().bearer(token)).await.status,
            200
        );
    }
    assert_eq!(gateway.send(Request::chat()).await.status, 200);
    assert_eq!(routes.asked(), [3, 1, 0, 0]);
    at_rest(gateway).await;
}

#[tokio::test]
async fn a_redirected_completion_fails_over_within_its_pool() {
    let routes = Routes::start().await;
    routes.completions[0].reply(Reply::json(503, &json!({})));
    routes.completions[1].reply(Reply::json(200, &json!({"from": "the second"})));
    let answer = routes.gateway.send(completion().bearer("sk-free")).await;
    assert_eq!(answer.json(), json!({"from": "the second"}));
    assert_eq!(routes.asked(), [0, 0, 1, 1]);
    for up in &routes.completions {
        // Only a pool of its own drops what only a scheduler understands.
        assert_eq!(
            up.request(0).await.json(),
            json!({"model": "m", "prompt": "x"})
        );
    }
    let page = routes.gateway.metrics().await;
    for (provider, outcome) in [("0", "server_error"), ("1", "answered")] {
        let labels = [
            ("model", "n"),
            ("pool", "completions"),
            ("provider", provider),
            ("outcome", outcome),
        ];
        assert_eq!(
            page.count("onwards_attempts_total", &labels),
            1.0,
            "{provider}"
        );
    }
    // In flight it was under the name that the client used.
    assert_eq!(
        page.get("onwards_model_inflight", &[("model", "m")]),
        Some(0.0)
    );
    at_rest(&routes.gateway).await;
}

#[tokio::test]
async fn an_exhausted_pool_does_not_borrow_from_another_one() {
    let routes = Routes::start().await;
    for up in &routes.completions {
        up.always(Reply::json(503, &json!({})));
    }
    let answer = routes.gateway.send(completion().bearer("sk-free")).await;
    assert_eq!(refusal(&answer), (502, json!("internal_error")));
    assert_eq!(routes.asked(), [0, 0, 1, 1]);
    let labels = [
        ("reason", "retries_exhausted"),
        ("status", "503"),
        ("model", "m"),
    ];
    assert_eq!(
        routes
            .gateway
            .metrics()
            .await
            .count("onwards_upstream_failed_total", &labels),
        1.0
    );
    at_rest(&routes.gateway).await;
}

#[tokio::test]
async fn a_class_without_a_pool_of_its_own_has_the_default_one() {
    let routes = Routes::start().await;
    assert_eq!(routes.gateway.send(completion()).await.status, 200);
    assert_eq!(routes.asked(), [1, 0, 0, 0]);
    // That pool keeps the scheduler's members.
    assert_eq!(routes.m.request(0).await.json()["priority"], 3);
    at_rest(&routes.gateway).await;
}

#[tokio::test]
async fn a_redirect_to_nowhere_is_a_502() {
    let up = Upstream::start().await;
    let rule = json!({"match_labels": {}, "action": {"type": "redirect", "target": "empty"}});
    let targets = json!({
        "m": {"url": up.url(), "routing_rules": [rule]},
        "empty": {"providers": []},
    });
    let gateway = Gateway::serve(targets).await;
    let answer = gateway.send(Request::chat().bearer("any")).await;
    assert!(matches!(answer.status, 502 | 503), "{}", answer.status);
    assert_eq!(up.count(), 0);
    at_rest(&gateway).await;
}

#[tokio::test]
async fn labels_of_providers_are_names_or_places_and_never_urls() {
    let (a, b) = (Upstream::start().await, Upstream::start().await);
    let targets = json!({"m": {
        "strategy": "priority",
        "providers": [{"url": a.url(), "name": "first"}, {"url": b.url()}],
        "fallback": thorough(),
    }});
    let gateway = Launch::strict(&targets).start().await;
    a.reply(Reply::default().then(onwards_tests::Step::Reset));
    at_rest(&gateway).await;
    at_rest(&gateway).await;
    let page = gateway.side("/metrics").await.text();
    let mut providers = onwards_tests::Metrics::parse(&page)
        .label_values("provider")
        .into_iter()
        .map(str::to_owned)
        .collect::<Vec<_>>();
    providers.sort();
    providers.dedup();
    assert_eq!(providers, ["1", "first"]);
    for up in [&a, &b] {
        let (host, port) = (
            up.address().ip().to_string(),
            up.address().port().to_string(),
        );
        assert!(!page.contains(&host) && !page.contains(&port), "{page}");
    }
}
