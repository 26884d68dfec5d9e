//! Streams and errors of providers that speak the client's own protocol, where the rules of the protocol change something: Chat
//! Completions, and what strict mode makes of Responses.

use onwards_tests::{End, Gateway, Launch, Reply, Step, Upstream};
use serde_json::{Value, json};

use super::ask::{self, Feature};
use super::faults::{error_event, hello};
use super::told::{self, events, payloads};
use super::{Client, Kind, Wire, streams};

/// Each with its client; Chat Completions first.
const OWN: [(Client, Kind); 3] = [
    (Client::Chat, Kind::OpenAi),
    (Client::Chat, Kind::Azure),
    (Client::Responses, Kind::OpenAi),
];

async fn serve(strict: bool, target: Value) -> Gateway {
    let config = json!({"strict_mode": strict, "targets": {"m": target}});
    Launch::new(&config).start().await
}

fn pair(kind: Kind, bad: &Upstream, good: &Upstream) -> Value {
    json!({
        "strategy": "priority", "fallback": {"enabled": true, "on_status": [429, 5]},
        "providers": [kind.provider(bad), kind.provider(good)],
    })
}

/// A chunk with these choices; `more` are further members, with a comma in front.
fn chunk(choices: &str, more: &str) -> String {
    format!(
        "data: {{\"id\":\"c-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"vendor-model\",\
         \"choices\":[{choices}]{more}}}\n\n"
    )
}

/// A choice with this delta.
fn says(delta: &str) -> String {
    format!("{{\"index\":0,\"delta\":{delta},\"finish_reason\":null}}")
}

const STOP: &str = "{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}";
const COUNTS: &str = ",\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2,\"total_tokens\":3}";

/// What comes before anything of an answer.
fn opening(client: Client) -> Vec<Vec<u8>> {
    if client == Client::Responses {
        let mut events = streams::events(Wire::Responses, &hello());
        events.truncate(2);
        return events;
    }
    [
        chunk("", ",\"prompt_filter_results\":[{\"prompt_index\":0}]"),
        ": a comment\n\n".to_owned(),
        chunk(&says("{\"role\":\"assistant\",\"content\":\"\"}"), ""),
        chunk(
            &says("{\"role\":\"assistant\",\"refusal\":null}"),
            ",\"usage\":null",
        ),
        chunk(
            "{\"index\":0,\"content_filter_results\":{},\"delta\":{},\"finish_reason\":null}",
            "",
        ),
    ]
    .map(String::into_bytes)
    .into()
}

fn reply(wire: Wire, events: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Reply {
    events.into_iter().fold(streams::head(wire), Reply::chunk)
}

#[tokio::test]
async fn what_says_nothing_yet_commits_to_nobody() {
    for (client, kind) in OWN {
        for strict in [false, true] {
            let (bad, good) = (Upstream::start().await, Upstream::start().await);
            let gateway = serve(strict, pair(kind, &bad, &good)).await;
            let wire = kind.wire(client);
            let begun = || reply(wire, opening(client));
            let mut endings = vec![
                begun().chunk(error_event(wire)).last_chunk(),
                begun().last_chunk(),
                begun().then(Step::Reset),
                begun().chunk("data: {\"choices\":[}\n\n").then(Step::Hang),
            ];
            if client == Client::Chat {
                let beside = chunk(
                    &says("{\"content\":\"x\"}"),
                    ",\"error\":{\"message\":\"m\",\"code\":503}",
                );
                endings.push(begun().chunk(beside).last_chunk());
                endings.push(
                    begun()
                        .chunk("data: {\"error\":\"busy\"}\n\n")
                        .then(Step::Hang),
                );
            }
            let number = endings.len();
            for ending in endings {
                bad.reply(ending);
                good.reply(streams::whole(wire, &hello()));
                let answer = gateway
                    .send(ask::request(client, Feature::Text, true))
                    .await;
                assert_eq!(told::stream(client, &answer).text, "Hello there");
            }
            assert_eq!(
                (bad.count(), good.count()),
                (number, number),
                "{client:?} {strict}"
            );
        }
    }
}

#[tokio::test]
async fn content_of_any_kind_commits() {
    for strict in [false, true] {
        let (bad, good) = (Upstream::start().await, Upstream::start().await);
        let gateway = serve(strict, pair(Kind::OpenAi, &bad, &good)).await;
        for choice in [
            says("{\"content\":\"x\"}"),
            says("{\"reasoning\":\"x\"}"),
            says("{\"reasoning_content\":\"x\"}"),
            says("{\"refusal\":\"x\"}"),
            says(
                "{\"tool_calls\":[{\"id\":\"c\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}]}",
            ),
            STOP.to_owned(),
        ] {
            let events = opening(Client::Chat)
                .into_iter()
                .chain([chunk(&choice, "").into_bytes()]);
            bad.reply(
                reply(Wire::Chat, events)
                    .chunk(error_event(Wire::Chat))
                    .then(Step::Hang),
            );
            let answer = gateway
                .send(ask::request(Client::Chat, Feature::Text, true))
                .await;
            assert_eq!(answer.status, 200);
            let told = events_of(&answer.text());
            let [.., error, done] = &told[..] else {
                panic!("{told:?}");
            };
            assert!(error.contains("\"error\":{"), "{error}");
            assert_eq!(done, "[DONE]");
        }
        assert_eq!(good.count(), 0);
    }
}

fn events_of(text: &str) -> Vec<String> {
    events(text).into_iter().map(|(_, data)| data).collect()
}

#[tokio::test]
async fn what_is_held_back_is_bounded() {
    for strict in [false, true] {
        let up = Upstream::start().await;
        let gateway = serve(strict, Kind::OpenAi.provider(&up)).await;
        let opens = chunk(&says("{\"role\":\"assistant\",\"content\":\"\"}"), "");
        let enough = opens.repeat(100 * 1024 / opens.len());
        up.reply(reply(Wire::Chat, [enough]).then(Step::Hang));
        let mut conn = gateway
            .begin(ask::request(Client::Chat, Feature::Text, true))
            .await;
        assert_eq!(conn.head().await.status, 200);
        conn.until(b"assistant").await;
    }
}

#[tokio::test]
async fn an_error_in_the_place_of_a_stream_is_one() {
    for (client, kind) in OWN {
        for strict in [false, true] {
            if client == Client::Responses && !strict {
                continue; // The provider's own event is passed on.
            }
            let up = Upstream::start().await;
            let gateway = serve(strict, kind.provider(&up)).await;
            let wire = kind.wire(client);
            let events = opening(client).into_iter().chain([error_event(wire)]);
            up.reply(reply(wire, events).last_chunk());
            let answer = gateway
                .send(ask::request(client, Feature::Text, true))
                .await;
            let status = if client == Client::Chat { 529 } else { 500 };
            assert_eq!(answer.status, status, "{}", answer.text());
            assert_eq!(answer.head.header("content-type"), Some("application/json"));
            let error = &answer.json()["error"];
            assert!(
                error["type"].is_string() && error["request_id"].is_string(),
                "{error}"
            );
            assert_eq!(error["message"] == "all of it is busy", !strict, "{error}");
        }
    }
}

#[tokio::test]
async fn the_end_of_a_chat_stream_is_the_gateways() {
    let x = || chunk(&says("{\"content\":\"x\"}"), "");
    let stop = || chunk(STOP, "");
    let counts = || chunk("", COUNTS);
    let done = || "data: [DONE]\n\n".to_owned();
    for strict in [false, true] {
        for kind in [Kind::OpenAi, Kind::Azure] {
            let up = Upstream::start().await;
            let gateway = serve(strict, kind.provider(&up)).await;
            for (sent, told) in [
                (
                    vec![x(), stop(), counts(), done()],
                    vec![x(), stop(), counts(), done()],
                ),
                // Nothing is said behind the end, and the end is said once.
                (
                    vec![x(), stop(), done(), x(), done()],
                    vec![x(), stop(), done()],
                ),
                (vec![x(), stop()], vec![x(), stop(), done()]),
                (vec![x(), done()], vec![x(), done()]),
                // Counts come last, once, and by themselves.
                (
                    vec![x(), counts(), stop(), counts(), done()],
                    vec![x(), stop(), counts(), done()],
                ),
                (
                    vec![
                        chunk(&says("{\"content\":\"x\"}"), COUNTS),
                        chunk(STOP, COUNTS),
                        done(),
                    ],
                    vec![x(), stop(), counts(), done()],
                ),
                (
                    vec![
                        chunk(&says("{\"content\":\"x\"}"), ",\"usage\":null"),
                        stop(),
                    ],
                    vec![x(), stop(), done()],
                ),
                // What says nothing.
                (
                    vec![
                        chunk("", ""),
                        x(),
                        chunk("", ",\"usage\":null"),
                        "data:\n\n".to_owned(),
                        stop(),
                    ],
                    vec![x(), stop(), done()],
                ),
                // An event at the end without its blank line counts if it is whole.
                (
                    vec![x(), stop().trim_end().to_owned()],
                    vec![x(), stop(), done()],
                ),
                (
                    vec![x(), stop(), "data: {\"choices\":".to_owned()],
                    vec![x(), stop(), done()],
                ),
            ] {
                up.reply(reply(Wire::Chat, &sent).last_chunk());
                let answer = gateway
                    .send(ask::request(Client::Chat, Feature::Text, true))
                    .await;
                let told = told.concat().replace("vendor-model", "m");
                assert_eq!(answer.text(), told, "{kind:?} {strict} {sent:?}");
            }
        }
    }
}

#[tokio::test]
async fn an_end_marker_that_responses_do_not_have_does_no_harm() {
    for strict in [false, true] {
        let up = Upstream::start().await;
        let gateway = serve(strict, Kind::OpenAi.provider(&up)).await;
        let mut sent = streams::events(Wire::Responses, &hello());
        sent.push(b"data: [DONE]\n\n".to_vec());
        up.reply(reply(Wire::Responses, sent).last_chunk());
        let answer = gateway
            .send(ask::request(Client::Responses, Feature::Text, true))
            .await;
        let text = answer.text();
        assert!(
            !text.contains("error\":{") && !text.contains("failed"),
            "{text}"
        );
        let last = events_of(&text).into_iter().rfind(|data| data != "[DONE]");
        assert!(last.unwrap().contains("response.completed"), "{text}");
        assert_eq!(text.contains("[DONE]"), !strict);
        gateway
            .metric_becomes("onwards_requests_inflight", &[], 0.0)
            .await;
        let log = gateway.log();
        assert!(!log.contains("cannot be passed on"), "{log}");
    }
}

#[tokio::test]
async fn chunks_of_compatible_servers_get_what_clients_know() {
    for strict in [false, true] {
        let up = Upstream::start().await;
        let gateway = serve(strict, Kind::OpenAi.provider(&up)).await;
        let call = |call: &str| chunk(&says(&format!("{{\"tool_calls\":[{call}]}}")), "");
        let begins =
            "\"id\":\"c-1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}";
        let other = begins.replace("c-1", "c-2");
        let goes_on = "\"function\":{\"arguments\":\"{}\"}";
        let sent = [
            chunk(&says("{\"reasoning\":\"hm\"}"), ""),
            call(&format!("{{{begins}}}")),
            call(&format!("{{{goes_on}}}")),
            call(&format!("{{{other}}}")),
            call(&format!("{{{goes_on}}}")),
            chunk(STOP, ""),
        ];
        up.reply(reply(Wire::Chat, &sent).last_chunk());
        let answer = gateway
            .send(ask::request(Client::Chat, Feature::Text, true))
            .await;
        let told = [
            chunk(&says("{\"reasoning_content\":\"hm\"}"), ""),
            call(&format!("{{\"index\":0,{begins}}}")),
            call(&format!("{{\"index\":0,{goes_on}}}")),
            call(&format!("{{\"index\":1,{other}}}")),
            call(&format!("{{\"index\":1,{goes_on}}}")),
            chunk(STOP, ""),
            "data: [DONE]\n\n".to_owned(),
        ];
        assert_eq!(answer.text(), told.concat().replace("vendor-model", "m"));
    }
}

#[tokio::test]
async fn what_azures_filters_found_stays_here() {
    let filtered = "\"content_filter_results\":{\"hate\":{\"filtered\":false}},\"content_filter_offsets\":{\"start\":0}";
    let up = Upstream::start().await;
    for strict in [false, true] {
        let gateway = serve(strict, Kind::Azure.provider(&up)).await;
        let says = |delta: &str| format!("{{{filtered},{}", says(delta).trim_start_matches('{'));
        let sent = [
            chunk("", ",\"prompt_filter_results\":[]"),
            chunk(&says("{\"content\":\"x\"}"), ",\"prompt_annotations\":[]"),
            chunk(
                &format!("{{\"index\":0,{filtered},\"finish_reason\":null}}"),
                "",
            ),
            chunk(&says("{}"), ""),
            chunk(
                &format!("{{{filtered},{}", STOP.trim_start_matches('{')),
                "",
            ),
        ];
        up.reply(reply(Wire::Chat, &sent).last_chunk());
        let answer = gateway
            .send(ask::request(Client::Chat, Feature::Text, true))
            .await;
        let text = answer.text();
        let told: Vec<Value> = payloads(&events(text.trim_end_matches("data: [DONE]\n\n")));
        assert_eq!(told.len(), 2, "{text}");
        assert!(
            !text.contains("filter") && !text.contains("annotations"),
            "{text}"
        );
        let message = "{\"role\":\"assistant\",\"content\":\"x\"}";
        let body = format!(
            "{{\"id\":\"c-1\",\"object\":\"chat.completion\",\"created\":1,\"model\":\"vendor-model\",\"prompt_filter_results\":[],\
             \"choices\":[{{{filtered},\"index\":0,\"message\":{message},\"finish_reason\":\"stop\"}}]}}"
        );
        up.reply(Reply::new(
            200,
            &[("content-type", "application/json")],
            body,
        ));
        let answer = gateway
            .send(ask::request(Client::Chat, Feature::Text, false))
            .await;
        let text = answer.text();
        assert!(answer.status == 200 && !text.contains("filter"), "{text}");
        assert_eq!(told::whole(Client::Chat, &answer).text, "x");
    }
}

#[tokio::test]
async fn errors_of_every_shape_are_in_the_clients_envelope() {
    let up = Upstream::start().await;
    let gateway = serve(false, Kind::Azure.provider(&up)).await;
    let envelope = |message: &str, kind: &str, code: Value| json!({"message": message, "type": kind, "param": null, "code": code});
    for (status, kind, sent, told) in [
        (
            400,
            "application/json",
            "{\"error\":\"too long\"}",
            envelope("too long", "invalid_request_error", Value::Null),
        ),
        (
            503,
            "text/plain",
            "upstream connect error",
            envelope(
                "the provider returned an error",
                "overloaded_error",
                Value::Null,
            ),
        ),
        (
            502,
            "text/html",
            "",
            envelope("the provider returned an error", "api_error", Value::Null),
        ),
        (
            401,
            "application/json",
            "{\"statusCode\":401,\"message\":\"no key\"}",
            envelope("no key", "authentication_error", Value::Null),
        ),
        (
            400,
            "application/json",
            "{\"error\":{\"message\":\"filtered\",\"type\":null,\"param\":\"prompt\",\"code\":\"content_filter\",\"status\":400,\
             \"innererror\":{\"content_filter_result\":{}}}}",
            json!({"message": "filtered", "type": "invalid_request_error", "param": "prompt", "code": "content_filter"}),
        ),
        (
            429,
            "application/json",
            "{ \"error\":{\"message\":\"slow down\",\"type\":\"requests\",\"param\":null,\"code\":\"rate_limit_exceeded\",\"x\":1.0}}",
            json!({"message": "slow down", "type": "requests", "param": null, "code": "rate_limit_exceeded", "x": 1.0}),
        ),
    ] {
        up.reply(Reply::new(status, &[("content-type", kind)], sent));
        let answer = gateway
            .send(ask::request(Client::Chat, Feature::Text, false))
            .await;
        assert_eq!(answer.status, status);
        assert_eq!(answer.head.header("content-type"), Some("application/json"));
        let mut body = answer.json();
        if let Some(error) = body["error"].as_object_mut() {
            error.remove("request_id");
        }
        assert_eq!(body, json!({"error": told}), "{sent}");
    }
}

#[tokio::test]
async fn a_stream_that_is_cleaned_and_fails_tells_nothing_of_the_provider() {
    for (client, kind) in OWN {
        let up = Upstream::start().await;
        let gateway = serve(true, kind.provider(&up)).await;
        let wire = kind.wire(client);
        let begun = streams::events(wire, &hello()).into_iter().take(4);
        let begun: Vec<Vec<u8>> = begun
            .map(|event| {
                String::from_utf8(event)
                    .unwrap()
                    .replacen("\"object\"", "\"x_vendor\":1,\"object\"", 1)
                    .into_bytes()
            })
            .collect();
        up.reply(reply(wire, begun).chunk(error_event(wire)).then(Step::Hang));
        let mut conn = gateway
            .begin(ask::request(client, Feature::Text, true))
            .await;
        let head = conn.head().await;
        let (body, end) = conn.body(&head).await;
        let text = String::from_utf8(body).unwrap();
        assert_eq!(end, End::Clean, "{text}");
        assert!(!text.contains("busy") && !text.contains("vendor"), "{text}");
        let (name, last) = events(&text)
            .into_iter()
            .rfind(|(_, data)| data != "[DONE]")
            .unwrap();
        match client {
            Client::Responses => {
                assert!(name == "response.failed" && last.contains("\"status\":\"failed\""))
            }
            _ => assert!(
                last.contains("\"error\":{") && text.ends_with("data: [DONE]\n\n"),
                "{text}"
            ),
        }
        up.request(0).await.gone().await;
    }
}
