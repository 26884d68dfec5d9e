//! Which statuses lead to another provider, whose fault they are, and which prompt is asked about again.

use onwards_tests::{Gate, Gateway, Launch, Reply, Request, Step, Upstream};
use serde_json::{Value, json};

use super::rig::{
    Pair, at_rest, attempts, behind, error, merged, pool, stream, streamed, thorough, thorough_with,
};

/// The first provider answers with this status; the client's status and how often each provider was asked.
async fn answered(strict: bool, status: u16, on_status: Value) -> (u16, (usize, usize), Pair) {
    let pair = Pair::start(strict, json!({"enabled": true, "on_status": on_status})).await;
    pair.a.reply(Reply::json(status, &error("invalid_value")));
    let answer = pair.gateway.send(Request::chat()).await;
    (answer.status, pair.asked(), pair)
}

#[tokio::test]
async fn a_clients_error_is_final_unless_it_is_listed() {
    for status in [400, 404, 409, 413, 422] {
        for strict in [false, true] {
            let what = format!("{status}, strict {strict}");
            let (told, asked, pair) = answered(strict, status, json!([429, 5])).await;
            assert_eq!((told, asked), (status, (1, 0)), "{what}");
            assert_eq!(pair.attempts("0", "client_error").await, 1.0, "{what}");
            pair.at_rest().await;
            let (told, asked, pair) = answered(strict, status, json!([status])).await;
            assert_eq!((told, asked), (200, (1, 1)), "{what}");
            pair.at_rest().await;
        }
    }
}

#[tokio::test]
async fn the_key_of_the_provider_is_the_operators_fault() {
    for status in [401, 402, 403] {
        for (list, told, asked) in [
            (json!([429, 5]), status, (1, 0)),
            (json!([status]), 200, (1, 1)),
        ] {
            let (status, seen, pair) = answered(false, status, list).await;
            assert_eq!((status, seen), (told, asked));
            let page = pair.gateway.metrics().await;
            assert_eq!(attempts(&page, "0", "operator_fault"), 1.0);
            assert_eq!(
                page.count("onwards_attempts_total", &[("provider", "0")]),
                1.0
            );
            pair.at_rest().await;
        }
    }
}

#[tokio::test]
async fn wildcards_match_by_their_digits() {
    for (pattern, matches, not) in [
        (json!(5), [500, 503, 599], [404, 450, 499]),
        (json!(50), [500, 503, 509], [510, 599, 450]),
        (json!(529), [529, 529, 529], [500, 503, 528]),
        (json!(4), [400, 404, 499], [500, 503, 599]),
    ] {
        for (status, fails_over) in matches
            .map(|s| (s, true))
            .into_iter()
            .chain(not.map(|s| (s, false)))
        {
            let (told, asked, _) = answered(false, status, json!([pattern])).await;
            let expected = if fails_over {
                (200, (1, 1))
            } else {
                (status, (1, 0))
            };
            assert_eq!((told, asked), expected, "{status} with {pattern}");
        }
    }
}

/// A pool of three: two providers with the model of the client, a third one with a model of its own.
struct Models {
    same: [Upstream; 2],
    other: Upstream,
    gateway: Gateway,
}

impl Models {
    async fn start(strict: bool, on_rejected_prompt: bool) -> Self {
        let same = [Upstream::start().await, Upstream::start().await];
        let other = Upstream::start().await;
        let mut fallback = thorough_with(&json!({"on_status": [400, 413, 422, 5]}));
        if on_rejected_prompt {
            fallback["on_rejected_prompt"] = json!(true);
        }
        let [one, two] = &same;
        let pool = merged(
            pool(&[one, two, &other], 1, fallback),
            &json!({"providers": [{"url": one.url()}, {"url": two.url()}, {"url": other.url(), "onwards_model": "large"}]}),
        );
        let config = json!({"strict_mode": strict, "targets": {"m": pool}});
        let gateway = Launch::new(&config).start().await;
        Self {
            same,
            other,
            gateway,
        }
    }

    fn asked(&self) -> [usize; 3] {
        let [one, two] = self.same.each_ref().map(Upstream::count);
        [one, two, self.other.count()]
    }
}

#[tokio::test]
async fn a_rejected_prompt_is_final() {
    for code in [
        "context_length_exceeded",
        "content_policy_violation",
        "content_filter",
    ] {
        for status in [400, 413, 422] {
            let pool = Models::start(false, false).await;
            pool.same[0].reply(Reply::json(status, &error(code)));
            let answer = pool.gateway.send(Request::chat()).await;
            // Listed or not: every provider would say the same.
            assert_eq!((answer.status, answer.json()), (status, error(code)));
            assert_eq!(pool.asked(), [1, 0, 0], "{code}");
            at_rest(&pool.gateway).await;
        }
    }
}

#[tokio::test]
async fn a_rejected_prompt_may_be_shown_to_another_model_only() {
    for strict in [false, true] {
        let pool = Models::start(strict, true).await;
        pool.same[0].reply(Reply::json(400, &error("context_length_exceeded")));
        pool.other.reply(Reply::chat("from the large one"));
        let answer = pool.gateway.send(Request::chat()).await;
        assert!(
            answer.text().contains("from the large one"),
            "{}",
            answer.text()
        );
        assert_eq!(pool.asked(), [1, 0, 1]);
        assert_eq!(pool.other.request(0).await.json()["model"], "large");
        at_rest(&pool.gateway).await;
    }
}

#[tokio::test]
async fn a_rejection_is_told_if_the_other_model_does_no_better() {
    for worse in [
        Reply::json(503, &json!({})),
        Reply::default().then(Step::Reset),
    ] {
        let pool = Models::start(false, true).await;
        pool.same[0].reply(Reply::json(400, &error("context_length_exceeded")));
        pool.other.reply(worse);
        let answer = pool.gateway.send(Request::chat()).await;
        assert_eq!(
            (answer.status, answer.json()),
            (400, error("context_length_exceeded"))
        );
        assert_eq!(pool.asked(), [1, 0, 1]);
        at_rest(&pool.gateway).await;
    }
}

#[tokio::test]
async fn an_ordinary_400_that_is_listed_is_no_rejection_of_the_prompt() {
    let pool = Models::start(false, true).await;
    let mut words = error("invalid_value");
    words["error"]["message"] = json!("context_length_exceeded, says the message");
    pool.same[0].reply(Reply::json(400, &words));
    assert_eq!(pool.gateway.send(Request::chat()).await.status, 200);
    assert_eq!(pool.asked(), [1, 1, 0]);
}

/// The status 529 from the first provider, with and without the header of dispatched traffic.
#[tokio::test]
async fn realtime_statuses_are_passed_on_to_dispatched_traffic() {
    for strict in [false, true] {
        let pair = Pair::start(strict, thorough()).await;
        let fallback = json!({"enabled": true, "on_status": [503], "realtime_on_status": [529]});
        let gateway = Launch::new(&json!({
            "strict_mode": strict,
            "exempt_header": "x-dispatched",
            "targets": {"m": merged(pool(&[&pair.a, &pair.b], 1, fallback), &json!({"trusted": true}))},
        }))
        .start()
        .await;
        let overloaded = error("overloaded");
        pair.a.always(Reply::json(529, &overloaded));
        assert_eq!(gateway.send(Request::chat()).await.status, 200);
        assert_eq!(pair.asked(), (1, 1));
        let batch = Request::chat().header("X-Dispatched", "");
        let answer = gateway.send(batch.clone()).await;
        assert_eq!((answer.status, answer.json()), (529, overloaded.clone()));
        assert_eq!(pair.asked(), (2, 1));
        // `on_status` is for both, and another status for neither.
        pair.a.always(Reply::json(503, &json!({})));
        assert_eq!(gateway.send(batch).await.status, 200);
        pair.a.always(Reply::json(500, &overloaded));
        assert_eq!(gateway.send(Request::chat()).await.status, 500);
        assert_eq!(pair.asked(), (4, 2));
        // With nobody left to ask, it is the client's.
        pair.a.always(Reply::json(503, &json!({})));
        pair.b.always(Reply::json(529, &overloaded));
        let answer = gateway.send(Request::chat()).await;
        assert_eq!((answer.status, answer.json()), (529, overloaded));
        assert_eq!(pair.asked(), (5, 3));
        pair.a.always(Reply::chat("well again"));
        at_rest(&gateway).await;
    }
}

#[tokio::test]
async fn a_realtime_status_embedded_in_a_success_counts_too() {
    let pair = Pair::start(true, json!({"enabled": true, "realtime_on_status": [529]})).await;
    pair.a.reply(Reply::json(200, &error(529)));
    assert_eq!(pair.gateway.send(Request::chat()).await.status, 200);
    assert_eq!(pair.asked(), (1, 1));
    pair.at_rest().await;
}

#[tokio::test]
async fn dispatched_traffic_has_no_deadline() {
    let pair = Pair::start(false, thorough()).await;
    let gateway = Launch::new(&json!({
        "exempt_header": "x-dispatched",
        "targets": {"m": pool(&[&pair.a, &pair.b], 1, thorough())},
    }))
    .start()
    .await;
    let gate = Gate::new();
    pair.a.reply(behind(&gate, streamed("from a")));
    let mut conn = gateway.begin(stream().header("x-dispatched", "1")).await;
    gate.reached(1).await;
    // The deadline of a realtime request that begins later passes first: on the second provider of another gateway.
    pair.a.reply(Reply::default().then(Step::Hang));
    pair.b.reply(streamed("from b"));
    let answer = pair.gateway.send(stream()).await;
    assert!(answer.text().contains("from b"), "{}", answer.text());
    gate.open();
    let answer = conn.response().await;
    assert!(answer.text().contains("from a"), "{}", answer.text());
    assert_eq!(pair.asked(), (2, 1));
    at_rest(&gateway).await;
}

#[tokio::test]
async fn a_pool_without_a_deadline_has_the_one_of_the_whole_configuration() {
    let (a, b) = (Upstream::start().await, Upstream::start().await);
    a.always(Reply::default().then(Step::Hang));
    b.always(streamed("from b"));
    let targets = json!({"m": pool(&[&a, &b], 1, json!({"enabled": true}))});
    let config = json!({"first_token_timeout_ms": 100, "targets": targets});
    let gateway = Launch::new(&config).start().await;
    let answer = gateway.send(stream()).await;
    assert!(answer.text().contains("from b"), "{}", answer.text());
    let page = gateway.metrics().await;
    let labels = [("model", "m"), ("pool", "default"), ("role", "preferred")];
    assert_eq!(
        page.count("onwards_first_token_breaches_total", &labels),
        1.0
    );
    // Nobody times a request that does not stream.
    a.always(Reply::chat("from a"));
    at_rest(&gateway).await;
}
