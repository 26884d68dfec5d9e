//! The whole path without sockets: a configuration, a scripted transport, requests in and responses out.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use expect_test::{Expect, expect};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use onwards_config::HttpEndpoint;
use parking_lot::Mutex;

use super::serve;
use crate::body::Body;
use crate::embed::AppState;
use crate::house::House;
use crate::transport::{
    Answer, Call, Conditions, Destination, Sending, Transport, TransportError, UpstreamBody,
};

/// What the scripted provider does with the next call.
enum Act {
    Answer(u16, &'static [(&'static str, &'static str)], &'static str),
    /// A success with these bytes.
    Bytes(&'static [(&'static str, &'static str)], Vec<u8>),
    /// A success whose body never comes.
    Silence(&'static [(&'static str, &'static str)]),
    Refuse,
    Break,
    Hang,
    Panic,
}

fn answer(status: u16, headers: &[(&'static str, &str)], body: UpstreamBody) -> Answer {
    let mut answer = Answer::new(body);
    *answer.status_mut() = StatusCode::from_u16(status).unwrap();
    for (name, value) in headers {
        answer.headers_mut().append(*name, value.parse().unwrap());
    }
    answer
}

/// A body that never has anything.
struct Never;

impl http_body::Body for Never {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, io::Error>>> {
        std::task::Poll::Pending
    }
}

#[derive(Debug, Default, Clone)]
struct Script(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    acts: VecDeque<Act>,
    seen: Vec<String>,
    headers: Vec<HeaderMap>,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(&self.seen).finish()
    }
}

#[derive(Debug)]
struct Place {
    script: Script,
    authority: String,
}

impl Transport for Script {
    fn destination(&self, endpoint: &HttpEndpoint, _: Conditions<'_>) -> Arc<dyn Destination> {
        Arc::new(Place {
            script: self.clone(),
            authority: endpoint.authority.clone(),
        })
    }
}

impl Destination for Place {
    fn send<'a>(self: Arc<Self>, call: Call<'a>, _: Duration) -> Sending<'a> {
        let (head, body) = call.into_request().into_parts();
        let body = body.joined();
        let mut inner = self.script.0.lock();
        inner.seen.push(format!(
            "{} {} {} {}",
            head.method,
            self.authority,
            head.uri,
            String::from_utf8_lossy(&body)
        ));
        inner.headers.push(head.headers);
        let act = inner.acts.pop_front();
        Box::pin(async move {
            match act {
                None => Ok(Answer::new(UpstreamBody::new(Full::new(Bytes::from("{}"))))),
                Some(Act::Answer(status, headers, text)) => Ok(answer(
                    status,
                    headers,
                    UpstreamBody::new(Full::new(Bytes::from(text))),
                )),
                Some(Act::Bytes(headers, bytes)) => Ok(answer(
                    200,
                    headers,
                    UpstreamBody::new(Full::new(Bytes::from(bytes))),
                )),
                Some(Act::Silence(headers)) => Ok(answer(200, headers, UpstreamBody::new(Never))),
                Some(Act::Panic) => panic!("on purpose"),
                Some(Act::Refuse) => Err(TransportError::Connect(
                    io::ErrorKind::ConnectionRefused.into(),
                )),
                Some(Act::Break) => Err(TransportError::Broken("reset".into())),
                Some(Act::Hang) => std::future::pending().await,
            }
        })
    }
}

struct Stage {
    house: Arc<House>,
    script: Script,
}

impl Stage {
    fn new(config: &str) -> Self {
        Self::with(config, |state| state)
    }

    fn with(config: &str, options: impl FnOnce(AppState) -> AppState) -> Self {
        let script = Script::default();
        let gateway = onwards_config::read(config.as_bytes(), &())
            .unwrap()
            .gateway;
        let state = AppState::new(gateway)
            .with_transport(Box::new(script.clone()))
            .with_body_limit(1024);
        Self {
            house: options(state).build().unwrap(),
            script,
        }
    }

    fn acts(self, acts: impl IntoIterator<Item = Act>) -> Self {
        self.script.0.lock().acts.extend(acts);
        self
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Response<Body> {
        serve(&self.house, request).await
    }

    async fn post(&self, body: &str, headers: &[(&str, &str)]) -> (u16, String) {
        let response = self.send(post("/v1/chat/completions", body, headers)).await;
        let status = response.status().as_u16();
        (status, text(response).await)
    }

    fn seen(&self) -> Vec<String> {
        std::mem::take(&mut self.script.0.lock().seen)
    }
}

mod defects;
mod embedded;
mod limits;
mod listing;

fn post(path: &str, body: &str, headers: &[(&str, &str)]) -> Request<Full<Bytes>> {
    let mut request = Request::post(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request
        .body(Full::new(Bytes::copy_from_slice(body.as_bytes())))
        .unwrap()
}

async fn text(response: Response<Body>) -> String {
    String::from_utf8(
        response
            .into_body()
            .collect()
            .await
            .unwrap()
            .to_bytes()
            .to_vec(),
    )
    .unwrap()
}

/// The error code of a refusal, or the status of an answer.
fn code((status, text): &(u16, String)) -> String {
    let code = text
        .split(r#""code":""#)
        .nth(1)
        .and_then(|rest| rest.split('"').next());
    format!("{status} {}", code.unwrap_or("-"))
}

const ONE: &str = r#"{"targets":{"m":{"url":"http://up.example"}}}"#;

#[tokio::test]
async fn a_body_is_sent_as_it_came() {
    let stage = Stage::new(ONE);
    let body = "{ \"messages\" : [1.0e0],\n \"model\":\"m\" }";
    assert_eq!(stage.post(body, &[]).await, (200, "{}".to_owned()));
    assert_eq!(
        stage.seen(),
        [format!("POST up.example /v1/chat/completions {body}")]
    );
}

#[tokio::test]
async fn only_the_value_of_the_model_is_replaced() {
    let stage = Stage::new(
        r#"{"targets":{"m":{"url":"http://up.example/api/v1","onwards_model":"re\"al"}}}"#,
    );
    stage
        .post(r#"{ "a": {"model":"m"}, "model" : "m" , "b": 1e2}"#, &[])
        .await;
    assert_eq!(
        stage.seen(),
        [
            r#"POST up.example /api/v1/chat/completions { "a": {"model":"m"}, "model" : "re\"al" , "b": 1e2}"#
        ]
    );
    for (body, refused) in [
        (r#"{"model":"m","model":"m"}"#, "400 bad_request"),
        (r#"{"model":"m"}x"#, "400 bad_request"),
        ("\u{feff}{\"model\":\"m\"}", "400 bad_request"),
        (r#"["m"]"#, "400 bad_request"),
    ] {
        assert_eq!(code(&stage.post(body, &[]).await), refused, "{body}");
        assert_eq!(
            code(&stage.post(body, &[("model-override", "m")]).await),
            refused,
            "{body} with the header"
        );
    }
    assert_eq!(
        code(&stage.post("", &[("model-override", "m")]).await),
        "200 -",
        "an empty body needs no rewrite"
    );
    assert_eq!(stage.seen().len(), 1);
}

#[tokio::test]
async fn a_serving_class_is_cut_off_a_name() {
    let stage =
        Stage::new(r#"{"targets":{"m":{"url":"http://a"},"n:standard":{"url":"http://b"}}}"#);
    for (model, outcome) in [
        (
            "m:interactive",
            r#"POST a /v1/chat/completions {"model":"m"}"#,
        ),
        (
            "m:throughput",
            r#"POST a /v1/chat/completions {"model":"m"}"#,
        ),
        (
            "n:standard",
            r#"POST b /v1/chat/completions {"model":"n:standard"}"#,
        ),
    ] {
        stage.post(&format!(r#"{{"model":"{model}"}}"#), &[]).await;
        assert_eq!(stage.seen(), [outcome]);
    }
    for model in ["m:batch", "n:interactive", "m:", ":interactive"] {
        assert_eq!(
            code(&stage.post(&format!(r#"{{"model":"{model}"}}"#), &[]).await),
            "404 model_not_found",
            "{model}"
        );
    }
}

#[tokio::test]
async fn a_named_pool_gets_no_scheduling_fields() {
    let config = r#"{"targets":{"m":{"pools":{
        "default":{"providers":[{"url":"http://d"}]},
        "completions":{"providers":[{"url":"http://c"}]}}}}}"#;
    let stage = Stage::new(config);
    let body = r#"{"model":"m","priority":1,"x":2,"nvext":{}}"#;
    for (path, sent) in [
        (
            "/v1/completions",
            r#"POST c /v1/completions {"model":"m","x":2}"#,
        ),
        (
            "/foo/completions/",
            r#"POST c /foo/completions/ {"model":"m","x":2}"#,
        ),
        (
            "/v1/chat/completions",
            r#"POST d /v1/chat/completions {"model":"m","priority":1,"x":2,"nvext":{}}"#,
        ),
    ] {
        stage.send(post(path, body, &[])).await;
        assert_eq!(stage.seen(), [sent]);
    }
}

/// Requests that break several rules at once: the earlier rule answers (spec E.2).
#[tokio::test]
async fn the_order_of_refusals_is_a_contract() {
    let config = r#"{
        "auth": {"key_definitions": {
            "none": {"key": "k-none", "concurrency_limit": {"max_concurrent_requests": 0},
                     "rate_limit": {"requests_per_second": 0.001, "burst_size": 1}},
            "free": {"key": "k-free", "labels": {"tier": "free"}}}},
        "targets": {
            "shut": {"providers": [{"url": "http://a"}], "keys": ["none", "free"],
                     "routing_rules": [{"match_labels": {"tier": "free"}, "action": {"type": "deny"}}],
                     "concurrency_limit": {"max_concurrent_requests": 0}},
            "empty": {"providers": [], "rate_limit": {"requests_per_second": 0.001, "burst_size": 1}},
            "once": {"url": "http://a", "rate_limit": {"requests_per_second": 0.001, "burst_size": 1},
                     "concurrency_limit": {"max_concurrent_requests": 0}}}}"#;
    let stage = Stage::new(config);
    let long = format!(r#"{{"model":"nope","x":"{}"}}"#, "y".repeat(2000));
    for (body, key, outcome) in [
        (long.as_str(), "wrong", "413 payload_too_large"),
        ("{}", "wrong", "400 bad_request"),
        (r#"{"model":"nope"}"#, "wrong", "404 model_not_found"),
        (r#"{"model":"shut"}"#, "", "401 unauthenticated"),
        (r#"{"model":"shut"}"#, "wrong", "401 unauthenticated"),
        (r#"{"model":"shut"}"#, "none", "401 unauthenticated"),
        (r#"{"model":"shut"}"#, "k-free", "403 forbidden"),
        (r#"{"model":"empty"}"#, "k-none", "503 service_unavailable"),
        (
            r#"{"model":"shut"}"#,
            "k-none",
            "429 concurrency_limit_exceeded",
        ),
        // The refusal before gave the key's only token back.
        (
            r#"{"model":"once"}"#,
            "k-none",
            "429 concurrency_limit_exceeded",
        ),
        (r#"{"model":"once"}"#, "", "429 concurrency_limit_exceeded"),
    ] {
        let key = format!("Bearer {key}");
        assert_eq!(
            code(&stage.post(body, &[("authorization", &key)]).await),
            outcome,
            "{body} with {key}"
        );
    }
    assert!(stage.seen().is_empty());
}

const TWO: &str = r#"{"targets":{"m":{"strategy":"priority","fallback":{"enabled":true,"on_status":[5]},
    "providers":[{"url":"http://a"},{"url":"http://b","response_headers":{"x-by":"b"}}]}}}"#;

async fn outcome(config: &str, acts: impl IntoIterator<Item = Act>, expect: Expect) {
    let stage = Stage::new(config).acts(acts);
    let answer = stage.post(r#"{"model":"m"}"#, &[]).await;
    let hosts: Vec<_> = stage
        .seen()
        .iter()
        .map(|seen| seen.split(' ').nth(1).unwrap().to_owned())
        .collect();
    expect.assert_eq(&format!("{} via {}", code(&answer), hosts.join(" ")));
}

#[tokio::test(start_paused = true)]
async fn faults_lead_to_the_next_provider_or_to_the_client() {
    let failed = || Act::Answer(503, &[], "{}");
    outcome(TWO, [], expect!["200 - via a"]).await;
    outcome(TWO, [failed()], expect!["200 - via a b"]).await;
    outcome(TWO, [Act::Refuse], expect!["200 - via a b"]).await;
    outcome(TWO, [Act::Break], expect!["200 - via a b"]).await;
    outcome(
        TWO,
        [failed(), failed()],
        expect!["502 internal_error via a b"],
    )
    .await;
    outcome(TWO, [Act::Answer(404, &[], "{}")], expect!["404 - via a"]).await;
    let off = TWO.replace("true", "false");
    outcome(&off, [failed()], expect!["503 - via a"]).await;
    outcome(&off, [Act::Refuse], expect!["502 internal_error via a"]).await;
    let timed = TWO.replace(r#""http://a""#, r#""http://a","request_timeout_secs":1"#);
    outcome(&timed, [Act::Hang], expect!["200 - via a b"]).await;
    outcome(
        &timed,
        [Act::Hang, Act::Refuse],
        expect!["502 internal_error via a b"],
    )
    .await;
    let more = TWO.replace(r#""enabled""#, r#""max_attempts":5,"enabled""#);
    outcome(
        &more,
        [failed(), failed(), failed(), failed()],
        expect!["200 - via a b a b a"],
    )
    .await;
    let waits = TWO.replace(
        r#""enabled""#,
        r#""backoff":{"initial_ms":100},"max_total_backoff_ms":0,"enabled""#,
    );
    outcome(
        &waits.replace("100}", "100,\"jitter\":\"none\"}"),
        [failed()],
        expect!["502 internal_error via a"],
    )
    .await;
    let realtime = TWO.replace("on_status", "realtime_on_status");
    outcome(&realtime, [failed()], expect!["200 - via a b"]).await;
    outcome(&realtime, [failed(), failed()], expect!["503 - via a b"]).await;
    let full = TWO.replace(
        r#""http://a""#,
        r#""http://a","concurrency_limit":{"max_concurrent_requests":0}"#,
    );
    outcome(&full, [], expect!["200 - via b"]).await;
    let dry = TWO.replace(
        r#"{"url":"#,
        r#"{"concurrency_limit":{"max_concurrent_requests":0},"url":"#,
    );
    outcome(&dry, [], expect!["429 concurrency_limit_exceeded via "]).await;
}

#[tokio::test]
async fn slots_last_as_long_as_the_body_and_headers_are_the_serving_providers() {
    let limited = TWO.replace(
        r#""strategy""#,
        r#""concurrency_limit":{"max_concurrent_requests":1},"strategy""#,
    );
    let stage = Stage::new(&limited).acts([
        Act::Refuse,
        Act::Answer(
            200,
            &[
                ("x-by", "theirs"),
                ("connection", "x-mine"),
                ("x-mine", "1"),
                ("x-request-id", "up"),
            ],
            "hi",
        ),
    ]);
    let request = || post("/v1/x", r#"{"model":"m"}"#, &[("x-request-id", "client")]);
    let held = stage.send(request()).await;
    let headers: Vec<_> = held
        .headers()
        .iter()
        .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
        .collect();
    assert_eq!(headers, ["x-by: b", "x-request-id: up"]);
    assert_eq!(stage.send(request()).await.status(), 429);
    drop(held);
    let answered = stage.send(request()).await;
    assert_eq!(answered.status(), 200);
    assert_eq!(answered.headers()["x-request-id"], "client");
    assert_eq!(text(answered).await, "{}");
    let gauge = stage.house.metrics().model_inflight("m");
    assert_eq!(gauge.get(), 0);
}

/// The status, the code and the hint that a client gets, and who was asked.
async fn hinted(config: &str, acts: impl IntoIterator<Item = Act>, expect: Expect) {
    let stage = Stage::new(config).acts(acts);
    let response = stage
        .send(post("/v1/chat/completions", r#"{"model":"m"}"#, &[]))
        .await;
    let after = response
        .headers()
        .get("retry-after")
        .map(|value| value.to_str().unwrap().to_owned());
    let answer = (response.status().as_u16(), text(response).await);
    let hosts: Vec<_> = stage
        .seen()
        .iter()
        .map(|seen| seen.split(' ').nth(1).unwrap().to_owned())
        .collect();
    expect.assert_eq(&format!(
        "{} after {after:?} via {}",
        code(&answer),
        hosts.join(" ")
    ));
}

#[tokio::test(start_paused = true)]
async fn limits_that_are_the_last_word_reach_the_client_with_the_shortest_hint() {
    let pool = TWO.replace("[5]", "[5,429]");
    let limited = |after: &'static [(&'static str, &'static str)]| Act::Answer(429, after, "{}");
    hinted(
        &pool,
        [limited(&[]), limited(&[])],
        expect!["429 rate_limit_exceeded after None via a b"],
    )
    .await;
    hinted(
        &pool,
        [
            limited(&[("retry-after", "30")]),
            limited(&[("retry-after-ms", "6500")]),
        ],
        expect![[r#"429 rate_limit_exceeded after Some("7") via a b"#]],
    )
    .await;
    hinted(
        &pool,
        [limited(&[("retry-after", "30")]), Act::Refuse],
        expect!["502 internal_error after None via a b"],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_pause_is_kept_while_another_provider_can_be_asked() {
    let asked = |config: &str| {
        let stage = Stage::new(config).acts([Act::Answer(503, &[("retry-after", "30")], "{}")]);
        async move {
            let mut hosts = Vec::new();
            for _ in 0..3 {
                stage.post(r#"{"model":"m"}"#, &[]).await;
                hosts.extend(
                    stage
                        .seen()
                        .iter()
                        .map(|seen| seen.split(' ').nth(1).unwrap().to_owned()),
                );
            }
            tokio::time::advance(Duration::from_secs(31)).await;
            stage.post(r#"{"model":"m"}"#, &[]).await;
            hosts.extend(
                stage
                    .seen()
                    .iter()
                    .map(|seen| seen.split(' ').nth(1).unwrap().to_owned()),
            );
            hosts.join(" ")
        }
    };
    assert_eq!(asked(TWO).await, "a b b b a");
    // Without failover the client has seen the provider's own words, and the gateway adds nothing to them.
    assert_eq!(asked(&TWO.replace("true", "false")).await, "a a a a");
}

#[tokio::test(start_paused = true)]
async fn with_nobody_else_a_pause_is_waited_for_if_it_fits() {
    let one = r#"{"targets":{"m":{"fallback":{"enabled":true,"on_status":[429],"max_attempts":2,
        "max_total_backoff_ms":5000},"providers":[{"url":"http://a"}]}}}"#;
    let limited = |after: &'static str| match after {
        "4" => Act::Answer(429, &[("retry-after", "4")], "{}"),
        _ => Act::Answer(429, &[("retry-after", "6")], "{}"),
    };
    hinted(one, [limited("4")], expect!["200 - after None via a a"]).await;
    hinted(
        one,
        [limited("6")],
        expect![[r#"429 rate_limit_exceeded after Some("6") via a"#]],
    )
    .await;
}

#[tokio::test]
async fn a_rejected_prompt_is_final_or_goes_to_another_model() {
    let pool = r#"{"targets":{"m":{"strategy":"priority","fallback":{"enabled":true,"on_status":[4]},"providers":[
        {"url":"http://a"},{"url":"http://b"},{"url":"http://c","onwards_model":"long"}]}}}"#;
    let rejected = || Act::Answer(400, &[], r#"{"error":{"code":"context_length_exceeded"}}"#);
    let other = || Act::Answer(400, &[], r#"{"error":{"code":"invalid_value"}}"#);
    outcome(pool, [other()], expect!["200 - via a b"]).await;
    outcome(
        pool,
        [rejected()],
        expect!["400 context_length_exceeded via a"],
    )
    .await;
    let on = pool.replace("[4]", "[4],\"on_rejected_prompt\":true");
    outcome(&on, [rejected()], expect!["200 - via a c"]).await;
    outcome(
        &on,
        [rejected(), other()],
        expect!["400 context_length_exceeded via a c"],
    )
    .await;
    let same = on.replace(r#","onwards_model":"long""#, "");
    outcome(
        &same,
        [rejected()],
        expect!["400 context_length_exceeded via a"],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_stalled_first_token_leads_on_while_somebody_is_left() {
    let timed = TWO.replace(
        r#""on_status""#,
        r#""first_token_timeout_ms":300,"on_status""#,
    );
    let stage = Stage::new(&timed).acts([Act::Hang]);
    let body = r#"{"model":"m","stream":true}"#;
    assert_eq!(code(&stage.post(body, &[]).await), "200 -");
    assert_eq!(stage.seen().len(), 2);
    let breaches = stage
        .house
        .metrics()
        .pool("m", "default")
        .first_token_breaches(crate::metrics::Role::Preferred)
        .clone();
    assert_eq!(breaches.get(), 1);
    // Nobody retries for a client that does not stream, or whose traffic is dispatched.
    let exempt = timed.replace(r#"{"targets""#, r#"{"exempt_header":"x-batch","targets""#);
    for (body, header) in [(r#"{"model":"m"}"#, "x-other"), (body, "x-batch")] {
        let stage = Stage::new(&exempt).acts([Act::Hang]);
        let waited =
            tokio::time::timeout(Duration::from_secs(60), stage.post(body, &[(header, "1")])).await;
        assert!(waited.is_err(), "{body} {header}");
        assert_eq!(stage.seen().len(), 1);
    }
}

#[tokio::test]
async fn attempts_are_counted_by_what_became_of_them() {
    let named = TWO
        .replace(r#""http://b","#, r#""http://b","name":"backup","#)
        .replace("[5]", "[5,401]");
    let stage = Stage::new(&named).acts([Act::Answer(401, &[], "{}"), Act::Answer(500, &[], "{}")]);
    stage.post(r#"{"model":"m"}"#, &[]).await;
    let text = prometheus::TextEncoder::new()
        .encode_to_string(&stage.house.metrics().registry().gather())
        .unwrap();
    let counted: Vec<_> = text
        .lines()
        .filter(|line| line.starts_with("onwards_attempts_total"))
        .collect();
    assert_eq!(
        counted,
        [
            r#"onwards_attempts_total{model="m",outcome="operator_fault",pool="default",provider="0"} 1"#,
            r#"onwards_attempts_total{model="m",outcome="server_error",pool="default",provider="backup"} 1"#,
        ]
    );
}

const COUNTED: &str = r#"{
    "exempt_header": "x-batch", "batch_inflight_enforce": true,
    "auth": {"key_definitions": {
        "a": {"key": "k-a", "labels": {"account": "acme"}}, "b": {"key": "k-b", "labels": {"account": "acme"}},
        "c": {"key": "k-c", "labels": {"account": "globex"}}, "d": {"key": "k-d"}}},
    "targets": {
        "m": {"providers": [{"url": "http://a"}], "inflight_limit": 1, "account_inflight_limits": {"globex": 2},
              "batch_inflight_limit": 1, "rate_limit": {"requests_per_second": 1000, "burst_size": 1000},
              "routing_rules": [{"match_labels": {"account": "globex"}, "action": {"type": "redirect", "target": "n"}}]},
        "n": {"url": "http://b"}}}"#;

#[tokio::test]
async fn realtime_counts_by_account_and_batch_by_alias_and_neither_for_the_other() {
    let stage = Stage::new(COUNTED);
    let mut held = Vec::new();
    for (key, batch, outcome) in [
        ("k-a", false, "200 -"),
        ("k-b", false, "429 inflight_limit_exceeded"),
        ("k-c", false, "200 -"),
        ("k-c", false, "200 -"),
        ("k-c", false, "429 inflight_limit_exceeded"),
        ("k-d", false, "200 -"),
        ("k-a", true, "200 -"),
        ("k-c", true, "529 batch_capacity_exceeded"),
        ("k-d", true, "529 batch_capacity_exceeded"),
    ] {
        let key = format!("Bearer {key}");
        let mut headers = vec![("authorization", key.as_str())];
        headers.extend(batch.then_some(("x-batch", "")));
        let response = stage
            .send(post("/v1/chat/completions", r#"{"model":"m"}"#, &headers))
            .await;
        let status = response.status();
        if status == 200 {
            assert_eq!(outcome, "200 -", "{key} {batch}");
            held.push(response);
            continue;
        }
        assert_eq!(response.headers()["retry-after"], "1");
        assert_eq!(
            code(&(status.as_u16(), text(response).await)),
            outcome,
            "{key} {batch}"
        );
    }
    drop(held);
    assert_eq!(
        code(
            &stage
                .post(r#"{"model":"m"}"#, &[("authorization", "Bearer k-b")])
                .await
        ),
        "200 -"
    );
    let metrics = prometheus::TextEncoder::new()
        .encode_to_string(&stage.house.metrics().registry().gather())
        .unwrap();
    assert!(metrics.contains("onwards_batch_inflight_refusals_total{model=\"m\"} 2\n"));
    assert!(metrics.contains(
        r#"code="inflight_limit_exceeded",model="m",status="429",traffic="realtime"} 2"#
    ));
    assert!(metrics.contains(
        r#"code="batch_capacity_exceeded",model="m",status="529",traffic="dispatched"} 2"#
    ));
    // Without enforcement nothing is counted.
    let stage = Stage::new(&COUNTED.replace("enforce\": true", "enforce\": false"));
    let batch = || {
        post(
            "/v1/chat/completions",
            r#"{"model":"m"}"#,
            &[("x-batch", "")],
        )
    };
    let held = (stage.send(batch()).await, stage.send(batch()).await);
    assert_eq!(
        (held.0.status().as_u16(), held.1.status().as_u16()),
        (200, 200)
    );
}
