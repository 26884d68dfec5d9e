//! Traces over OTLP: a span per request, one per attempt, exported to a collector that the test plays.

use std::collections::BTreeMap;

use onwards_tests::{Gateway, Launch, Reply, Request, Step, Upstream, eventually, within};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value as Any};
use opentelemetry_proto::tonic::trace::v1::{Span, span::SpanKind, status::StatusCode};
use prost::Message;
use serde_json::{Value, json};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

/// A collector that takes everything.
async fn collector() -> Upstream {
    let collector = Upstream::start().await;
    collector.always(Reply::new(
        200,
        &[("content-type", "application/x-protobuf")],
        "",
    ));
    collector
}

/// The gateway told to export there, soon.
fn exporting(launch: Launch, collector: &Upstream) -> Launch {
    launch
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url())
        .env("OTEL_BSP_SCHEDULE_DELAY", "20")
}

/// A span with its attributes by name.
#[derive(Debug)]
struct Told {
    span: Span,
    attributes: BTreeMap<String, Value>,
}

impl Told {
    fn is(&self, kind: SpanKind) -> bool {
        self.span.kind == i32::from(kind)
    }

    fn has(&self, attributes: &Value) {
        for (name, value) in attributes.as_object().unwrap() {
            assert_eq!(self.attributes.get(name), Some(value), "{name} of {self:?}");
        }
    }

    fn status(&self) -> StatusCode {
        self.span
            .status
            .as_ref()
            .map_or(StatusCode::Unset, |status| status.code())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn plain(attributes: &[KeyValue]) -> BTreeMap<String, Value> {
    let value = |pair: &KeyValue| match pair.value.as_ref().and_then(|value| value.value.clone()) {
        Some(Any::StringValue(text)) => json!(text),
        Some(Any::IntValue(number)) => json!(number),
        Some(Any::DoubleValue(number)) => json!(number),
        _ => Value::Null,
    };
    attributes
        .iter()
        .map(|pair| (pair.key.clone(), value(pair)))
        .collect()
}

fn exports(collector: &Upstream) -> Vec<ExportTraceServiceRequest> {
    let read = |body: &[u8]| ExportTraceServiceRequest::decode(body).unwrap();
    let requests = collector.requests();
    requests.iter().map(|request| read(&request.body)).collect()
}

/// Who exports.
fn resource(collector: &Upstream) -> BTreeMap<String, Value> {
    let export = exports(collector).into_iter().next().unwrap();
    let first = export.resource_spans.into_iter().next().unwrap();
    plain(&first.resource.unwrap().attributes)
}

/// Waits for so many spans; gives the requests' own and those of attempts, each in the order of their starts.
async fn spans(collector: &Upstream, count: usize) -> (Vec<Told>, Vec<Told>) {
    let all = || {
        let exports = exports(collector);
        let resources = exports.into_iter().flat_map(|export| export.resource_spans);
        let scopes = resources.flat_map(|resource| resource.scope_spans);
        scopes.flat_map(|scope| scope.spans).collect::<Vec<_>>()
    };
    eventually("spans at the collector", || async { all().len() >= count }).await;
    let mut spans = all();
    assert_eq!(spans.len(), count, "{spans:?}");
    spans.sort_by_key(|span| span.start_time_unix_nano);
    let told = spans.into_iter().map(|span| Told {
        attributes: plain(&span.attributes),
        span,
    });
    let (servers, attempts): (Vec<_>, Vec<_>) = told.partition(|told| told.is(SpanKind::Server));
    assert!(attempts.iter().all(|told| told.is(SpanKind::Client)));
    (servers, attempts)
}

#[tokio::test]
async fn a_request_is_a_span_around_those_of_its_attempts() {
    let (up, collector) = (Upstream::start().await, collector().await);
    let config = json!({"targets": {"fast": {"strategy": "priority", "fallback": {"enabled": true, "on_status": [503]}, "providers": [
        {"name": "one", "url": up.url(), "onwards_model": "one-fast", "onwards_key": "sk-operator", "propagate_trace_context": true},
        {"url": up.url()},
    ]}}});
    let gateway = exporting(Launch::new(&config), &collector)
        .env("OTEL_EXPORTER_OTLP_HEADERS", "x-collector=secret%201")
        .env(
            "OTEL_RESOURCE_ATTRIBUTES",
            "deployment.environment.name=test",
        )
        .start()
        .await;
    up.reply(Reply::json(503, &json!({})));
    up.reply(
        Reply::stream()
            .delta("answer-text")
            .chunk("data: {\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":4,\"prompt_tokens_details\":{\"cached_tokens\":8}}}\n\n")
            .done(),
    );
    let request = Request::chat_with(&json!({"model": "fast", "stream": true}))
        .header("traceparent", format!("00-{TRACE}-{PARENT}-01"))
        .header("tracestate", "a=1")
        .header("x-request-id", "abc-1");
    gateway.send(request).await;

    let (servers, attempts) = spans(&collector, 3).await;
    let [server] = &servers[..] else {
        panic!("{servers:?}")
    };
    assert_eq!(server.span.name, "chat fast");
    assert_eq!(
        (hex(&server.span.trace_id), hex(&server.span.parent_span_id)),
        (TRACE.into(), PARENT.into())
    );
    assert_eq!(server.span.trace_state, "a=1");
    server.has(&json!({
        "http.request.method": "POST", "http.route": "/v1/chat/completions", "http.response.status_code": 200,
        "gen_ai.operation.name": "chat", "gen_ai.request.model": "fast", "gen_ai.usage.input_tokens": 9,
        "gen_ai.usage.output_tokens": 4, "gen_ai.usage.cache_read.input_tokens": 8, "onwards.pool": "default",
        "onwards.attempts": 2, "onwards.outcome": "complete", "onwards.request_id": "abc-1",
    }));
    assert_eq!(server.status(), StatusCode::Unset);

    let [first, second] = &attempts[..] else {
        panic!("{attempts:?}")
    };
    check_attempts(server, [first, second], up.address().port());
    check_exports(&collector).await;

    // The one that may know the trace learns of its own attempt; the other one of nothing.
    let sent = up.request(0).await;
    let expected = format!("00-{TRACE}-{}-01", hex(&first.span.span_id));
    assert_eq!(
        (sent.header("traceparent"), sent.header("tracestate")),
        (Some(expected.as_str()), Some("a=1"))
    );
    let sent = up.request(1).await;
    assert_eq!(
        (sent.header("traceparent"), sent.header("tracestate")),
        (None, None)
    );
}

fn check_attempts(server: &Told, [first, second]: [&Told; 2], port: u16) {
    for attempt in [first, second] {
        assert_eq!(attempt.span.trace_id, server.span.trace_id);
        assert_eq!(attempt.span.parent_span_id, server.span.span_id);
        assert!(server.span.start_time_unix_nano <= attempt.span.start_time_unix_nano);
        assert!(attempt.span.end_time_unix_nano <= server.span.end_time_unix_nano);
        attempt.has(&json!({"gen_ai.operation.name": "chat", "server.address": "127.0.0.1", "server.port": port}));
    }
    assert_ne!(first.span.span_id, second.span.span_id);
    assert_eq!(
        (first.span.name.as_str(), second.span.name.as_str()),
        ("chat one-fast", "chat fast")
    );
    first.has(&json!({"gen_ai.provider.name": "one", "gen_ai.request.model": "one-fast", "http.response.status_code": 503, "error.type": "503"}));
    assert_eq!(
        (first.status(), second.status()),
        (StatusCode::Error, StatusCode::Unset)
    );
    second.has(&json!({"gen_ai.provider.name": "127.0.0.1", "gen_ai.request.model": "fast", "http.response.status_code": 200, "gen_ai.usage.output_tokens": 4}));
    assert!(!second.attributes.contains_key("error.type"));
}

async fn check_exports(collector: &Upstream) {
    let export = collector.request(0).await;
    assert_eq!(export.line, "POST /v1/traces HTTP/1.1");
    assert_eq!(export.header("x-collector"), Some("secret 1"));
    assert_eq!(
        export.header("content-type"),
        Some("application/x-protobuf")
    );
    let resource = resource(collector);
    for (name, value) in [
        ("service.name", "onwards"),
        ("deployment.environment.name", "test"),
    ] {
        assert_eq!(resource.get(name), Some(&json!(value)));
    }
    for request in collector.requests() {
        let text = String::from_utf8_lossy(&request.body).into_owned();
        assert!(
            !text.contains("answer-text")
                && !text.contains("sk-operator")
                && !text.contains("\"hi\"")
        );
    }
}

#[tokio::test]
async fn a_client_without_a_trace_begins_one() {
    let (up, collector) = (Upstream::start().await, collector().await);
    let config = json!({"targets": {"m": {"url": up.url(), "trusted": true}}});
    let gateway = exporting(Launch::new(&config), &collector)
        .env("OTEL_SERVICE_NAME", "gate")
        .start()
        .await;
    gateway.send(Request::chat()).await;
    // A state without a trace is nobody's.
    let broken = Request::chat()
        .header("traceparent", "00-nonsense")
        .header("tracestate", "a=1");
    gateway.send(broken).await;
    let (servers, attempts) = spans(&collector, 4).await;
    assert_ne!(servers[0].span.trace_id, servers[1].span.trace_id);
    for ((server, attempt), sent) in servers.iter().zip(&attempts).zip(up.requests()) {
        assert!(server.span.parent_span_id.is_empty());
        let expected = format!(
            "00-{}-{}-01",
            hex(&server.span.trace_id),
            hex(&attempt.span.span_id)
        );
        assert_eq!(
            (sent.header("traceparent"), sent.header("tracestate")),
            (Some(expected.as_str()), None)
        );
    }
    assert_eq!(
        resource(&collector).get("service.name"),
        Some(&json!("gate"))
    );
}

#[tokio::test]
async fn every_way_that_a_request_ends_is_told() {
    let (up, collector) = (Upstream::start().await, collector().await);
    let targets = json!({"m": {"url": up.url(), "idle_timeout_ms": 200}, "closed": {"keys": ["sk-1"], "url": up.url()}});
    let gateway = exporting(Launch::targets(&targets), &collector)
        .start()
        .await;
    gateway.send(Request::get("/v1/models")).await;
    gateway
        .send(Request::chat_with(&json!({"model": "closed"})))
        .await;
    up.reply(Reply::default().then(Step::Close));
    gateway.send(Request::chat()).await;
    up.reply(Reply::stream().delta("a").then(Step::Hang));
    let mut client = gateway.begin(Request::chat()).await;
    let head = client.head().await;
    client.body(&head).await;
    let number = up.count();
    up.reply(Reply::default().then(Step::Hang));
    let client = gateway.begin(Request::chat()).await;
    up.arrived(number + 1).await;
    drop(client);

    let (servers, attempts) = spans(&collector, 8).await;
    let [list, refused, failed, stalled, gone] = &servers[..] else {
        panic!("{servers:?}")
    };
    assert_eq!(list.span.name, "GET /v1/models");
    list.has(&json!({"onwards.attempts": 0, "http.response.status_code": 200}));
    assert_eq!(refused.span.name, "chat closed");
    refused
        .has(&json!({"http.response.status_code": 401, "onwards.error.code": "unauthenticated"}));
    failed.has(&json!({"http.response.status_code": 502, "error.type": "502", "onwards.error.code": "internal_error"}));
    stalled.has(&json!({"http.response.status_code": 200, "error.type": "stalled", "onwards.outcome": "stalled"}));
    gone.has(&json!({"onwards.outcome": "client_gone", "onwards.attempts": 1}));
    assert!(!gone.attributes.contains_key("http.response.status_code"));
    let statuses: Vec<_> = servers.iter().map(Told::status).collect();
    let (unset, error) = (StatusCode::Unset, StatusCode::Error);
    assert_eq!(statuses, [unset, unset, error, error, unset]);
    attempts[0].has(&json!({"error.type": "transport_error"}));
    attempts[1].has(&json!({"error.type": "stalled"}));
    assert!(!attempts[2].attributes.contains_key("error.type"));
}

#[tokio::test]
async fn what_is_not_sampled_is_not_exported_but_still_propagated() {
    let (up, collector) = (Upstream::start().await, collector().await);
    let config = json!({"targets": {"m": {"url": up.url(), "propagate_trace_context": true}}});
    let gateway = exporting(Launch::new(&config), &collector).start().await;
    let unsampled = Request::chat().header("traceparent", format!("00-{TRACE}-{PARENT}-00"));
    gateway.send(unsampled).await;
    gateway.send(Request::get("/v1/models")).await;
    spans(&collector, 1).await;
    let sent = up.request(0).await;
    let parent = sent.header("traceparent").unwrap();
    assert!(
        parent.starts_with(&format!("00-{TRACE}-")) && parent.ends_with("-00"),
        "{parent}"
    );
    assert!(!parent.contains(PARENT));
}

/// Sends requests one after the other, each of which must be answered at once.
async fn answers(gateway: &Gateway, count: usize) {
    let mut client = gateway.connect().await;
    for _ in 0..count {
        assert_eq!(client.ask(&Request::chat()).await.status, 200);
    }
}

#[tokio::test]
async fn a_collector_that_hangs_or_is_away_costs_no_request() {
    let (up, collector) = (Upstream::start().await, Upstream::start().await);
    collector.always(Reply::default().then(Step::Hang));
    let targets = json!({"m": {"url": up.url()}});
    for endpoint in [collector.url(), "http://127.0.0.1:1".to_owned()] {
        let mut gateway = Launch::targets(&targets)
            .args(&["--shutdown-delay-secs", "0"])
            .env("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint)
            .env("OTEL_EXPORTER_OTLP_TIMEOUT", "300")
            .env("OTEL_BSP_SCHEDULE_DELAY", "20")
            .env("OTEL_BSP_MAX_QUEUE_SIZE", "16")
            .env("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "8")
            .start()
            .await;
        answers(&gateway, 100).await;
        gateway
            .logs("spans cannot be exported and are lost", 1)
            .await;
        answers(&gateway, 100).await;
        gateway.signal("TERM");
        assert_eq!(within("an end in order", gateway.exit()).await, Some(0));
        assert_eq!(gateway.log().matches("spans cannot be exported").count(), 1);
    }
}

#[tokio::test]
async fn the_last_spans_are_exported_before_the_end() {
    let (up, collector) = (Upstream::start().await, collector().await);
    let mut gateway = Launch::targets(&json!({"m": {"url": up.url()}}))
        .args(&["--shutdown-delay-secs", "0"])
        .env(
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
            &format!("{}/custom/path", collector.url()),
        )
        .env("OTEL_BSP_SCHEDULE_DELAY", "600000")
        .start()
        .await;
    gateway.send(Request::chat()).await;
    gateway
        .metric_becomes("onwards_requests_inflight", &[], 0.0)
        .await;
    assert_eq!(collector.count(), 0);
    gateway.signal("TERM");
    assert_eq!(gateway.exit().await, Some(0));
    assert_eq!(
        collector.request(0).await.line,
        "POST /custom/path HTTP/1.1"
    );
    spans(&collector, 2).await;
}

#[tokio::test]
async fn traces_are_off_unless_the_environment_asks_for_what_there_is() {
    let (up, collector) = (Upstream::start().await, collector().await);
    let config = json!({"targets": {"m": {"url": up.url(), "propagate_trace_context": true}}});
    for (name, value, says) in [
        ("OTEL_SERVICE_NAME", "x", ""),
        ("OTEL_SDK_DISABLED", "true", ""),
        ("OTEL_TRACES_EXPORTER", "none", ""),
        (
            "OTEL_EXPORTER_OTLP_PROTOCOL",
            "grpc",
            "the OTLP protocol `grpc` is not supported",
        ),
        (
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
            "http://[",
            "do not name a usable exporter",
        ),
    ] {
        let launch = Launch::new(&config).env(name, value);
        let launch = if name == "OTEL_SERVICE_NAME" {
            launch
        } else {
            exporting(launch, &collector)
        };
        let gateway = launch.start().await;
        // The client's own headers pass, byte for byte.
        let own = format!("00-{TRACE}-{PARENT}-01");
        gateway
            .send(Request::chat().header("traceparent", &own))
            .await;
        let sent = up.request(up.count() - 1).await;
        assert_eq!(sent.header("traceparent"), Some(own.as_str()));
        assert!(!gateway.log().contains("spans are exported"));
        assert!(gateway.log().contains(says), "{name}: {}", gateway.log());
    }
    assert_eq!(collector.count(), 0);
}
