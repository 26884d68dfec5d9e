//! Providers that fail: who is asked next, of whatever kind, and what the client hears when nobody is left.

use onwards_tests::{Gateway, Launch, Reply, Upstream};
use serde_json::{Value, json};

use super::ask::{self, Feature};
use super::faults::{begun, error_event, hello, streamed};
use super::{Client, Kind, Wire, streams, told, wire};

/// A gateway with two providers behind the alias `m`, asked in this order.
async fn pair(first: Value, second: Value) -> Gateway {
    Launch::targets(&json!({"m": {
        "strategy": "priority", "fallback": {"enabled": true}, "providers": [first, second],
    }}))
    .start()
    .await
}

/// Every kind, and one of another kind to go to.
fn neighbours() -> [(Kind, Kind); 5] {
    let next = |at: usize| Kind::ALL[(at + 2) % Kind::ALL.len()];
    std::array::from_fn(|at| (Kind::ALL[at], next(at)))
}

#[tokio::test]
async fn an_error_in_the_place_of_an_answer_goes_to_a_provider_of_another_kind() {
    for (first, second) in neighbours() {
        let (bad, good) = (Upstream::start().await, Upstream::start().await);
        let gateway = pair(first.provider(&bad), second.provider(&good)).await;
        for client in Client::ALL {
            let (of_bad, of_good) = (first.wire(client), second.wire(client));
            let mut events = streams::events(of_bad, &hello());
            events.truncate(match of_bad {
                // What comes before anything of an answer.
                Wire::Messages => 2,
                Wire::Converse => 1,
                Wire::Responses => 2,
                _ => 0,
            });
            let early = events.into_iter().fold(streams::head(of_bad), Reply::chunk);
            for bad_stream in [
                streams::head(of_bad)
                    .chunk(error_event(of_bad))
                    .last_chunk(),
                early.chunk(error_event(of_bad)).last_chunk(),
                wire::error(of_bad, 500, "broken"),
                streams::head(of_bad).last_chunk(),
            ] {
                bad.reply(bad_stream);
                good.reply(streams::whole(of_good, &hello()));
                let answer = gateway
                    .send(ask::request(client, Feature::Text, true))
                    .await;
                assert_eq!(
                    told::stream(client, &answer).text,
                    "Hello there",
                    "{client:?} {first:?}"
                );
            }
            bad.reply(wire::error(of_bad, 500, "broken"));
            good.reply(wire::whole(of_good, &hello()));
            let answer = gateway
                .send(ask::request(client, Feature::Text, false))
                .await;
            assert_eq!(
                told::whole(client, &answer).text,
                "Hello there",
                "{client:?} {first:?}"
            );
        }
        assert_eq!((bad.count(), good.count()), (20, 20));
        for request in good.requests() {
            second.is_authorized(&request);
        }
    }
}

#[tokio::test]
async fn nothing_is_asked_again_after_the_first_word() {
    for (first, second) in neighbours() {
        let (bad, good) = (Upstream::start().await, Upstream::start().await);
        let gateway = pair(first.provider(&bad), second.provider(&good)).await;
        for client in Client::ALL {
            let wire = first.wire(client);
            bad.reply(begun(wire).chunk(error_event(wire)).last_chunk());
            let text = streamed(&gateway, client).await;
            assert!(
                text.contains("Hello") && text.contains("all of it is busy"),
                "{text}"
            );
        }
        assert_eq!(good.count(), 0);
    }
}

#[tokio::test]
async fn when_all_fail_the_client_hears_the_last_one() {
    for (first, second) in neighbours() {
        let (one, other) = (Upstream::start().await, Upstream::start().await);
        for client in Client::ALL {
            for stream in [false, true] {
                // The second asks for a pause, so that each is asked once by each gateway.
                let gateway = pair(first.provider(&one), second.provider(&other)).await;
                one.reply(wire::error(first.wire(client), 500, "the first is broken"));
                other.reply(wire::error(
                    second.wire(client),
                    503,
                    "the second is closed",
                ));
                let answer = gateway
                    .send(ask::request(client, Feature::Text, stream))
                    .await;
                let text = answer.text();
                assert_eq!(
                    answer.status, 503,
                    "{client:?} {first:?} {second:?}: {text}"
                );
                assert!(text.contains("the second is closed"), "{text}");
                assert!(!text.contains("first"), "{text}");
                assert_eq!(answer.head.header("retry-after"), Some("7"));
            }
        }
    }
}

/// An error that tells when the provider's limits are whole again, and nothing else of a pause.
fn limited(kind: Kind, wire: Wire, status: u16, limits: &[(&str, &str)]) -> Reply {
    let mut headers = vec![("content-type", "application/json")];
    if kind == Kind::Bedrock {
        headers.push(("x-amzn-errortype", "ThrottlingException"));
    }
    headers.extend(limits);
    let body = wire::error_body(wire, status, "slow down");
    Reply::new(status, &headers, body.to_string())
}

#[tokio::test]
async fn a_limit_that_tells_when_it_is_whole_is_a_hint_to_come_back() {
    let reached = [
        ("x-ratelimit-remaining-requests", "0"),
        ("x-ratelimit-reset-requests", "6m0.2s"),
        ("x-ratelimit-remaining-tokens", "100"),
        ("x-ratelimit-reset-tokens", "20m"),
    ];
    for kind in Kind::ALL {
        let up = Upstream::start().await;
        for strict in [false, true] {
            let config = json!({"strict_mode": strict, "targets": {"m": kind.provider(&up)}});
            let gateway = Launch::new(&config).start().await;
            for client in Client::ALL {
                for (status, limits, wait) in [
                    (429, &reached[..], Some("361")),
                    (503, &reached, Some("361")),
                    (529, &reached, Some("361")),
                    (500, &reached, None),
                    (429, &[("x-ratelimit-reset-tokens", "120ms")], Some("1")),
                    (
                        429,
                        &[("retry-after", "7"), ("x-ratelimit-reset-tokens", "9s")],
                        Some("7"),
                    ),
                    (429, &[("retry-after-ms", "2500")], Some("3")),
                ] {
                    up.reply(limited(kind, kind.wire(client), status, limits));
                    let answer = gateway
                        .send(ask::request(client, Feature::Text, false))
                        .await;
                    let told = answer.head.header("retry-after");
                    assert_eq!(
                        told, wait,
                        "{kind:?} {client:?} {status} {limits:?} {strict}"
                    );
                }
            }
        }
    }
}

#[tokio::test]
async fn a_provider_whose_limit_is_reached_is_left_alone() {
    for (first, second) in neighbours() {
        let (one, other) = (Upstream::start().await, Upstream::start().await);
        let gateway = pair(first.provider(&one), second.provider(&other)).await;
        let wire = first.wire(Client::Chat);
        one.reply(limited(
            first,
            wire,
            429,
            &[("x-ratelimit-reset-requests", "5m")],
        ));
        for _ in 0..3 {
            other.reply(wire::whole(second.wire(Client::Chat), &hello()));
            let request = ask::request(Client::Chat, Feature::Text, false);
            assert_eq!(gateway.send(request).await.status, 200);
        }
        assert_eq!((one.count(), other.count()), (1, 3), "{first:?}");
    }
}

#[tokio::test]
async fn statuses_that_the_operator_names_are_all_that_count() {
    let body = r#"{"__type":"x#ModelErrorException","message":"the model erred"}"#;
    for (named, status, next) in [
        (json!([429]), 503, false),
        (json!([429]), 429, true),
        (json!([]), 500, false),
        (json!([503]), 424, false),
        // Where none are named, what the API calls worth another try counts besides.
        (Value::Null, 424, true),
        (Value::Null, 404, false),
    ] {
        let (bad, good) = (Upstream::start().await, Upstream::start().await);
        let mut target = json!({
            "strategy": "priority", "fallback": {"enabled": true},
            "providers": [Kind::Bedrock.provider(&bad), Kind::OpenAi.provider(&good)],
        });
        if !named.is_null() {
            target["fallback"]["on_status"] = named.clone();
        }
        let gateway = Launch::targets(&json!({"m": target})).start().await;
        let name = if status == 424 {
            "ModelErrorException"
        } else {
            "Other"
        };
        bad.reply(Reply::new(status, &[("x-amzn-errortype", name)], body));
        good.reply(wire::whole(Wire::Chat, &hello()));
        let answer = gateway
            .send(ask::request(Client::Chat, Feature::Text, false))
            .await;
        let expected = if next { (200, 1) } else { (status, 0) };
        assert_eq!((answer.status, good.count()), expected, "{named} {status}");
    }
}
