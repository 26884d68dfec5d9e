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
