use http::Method;

use super::*;

fn metrics() -> Metrics {
    Metrics::new("onwards").unwrap()
}

/// The samples in the exposition whose name begins with `name`, without comments.
fn samples(metrics: &Metrics, name: &str) -> Vec<String> {
    let text = prometheus::TextEncoder::new()
        .encode_to_string(&metrics.registry().gather())
        .unwrap();
    text.lines()
        .filter(|line| line.starts_with(name))
        .map(str::to_owned)
        .collect()
}

#[test]
fn routes_are_a_fixed_set() {
    for (path, label) in [
        ("/v1/chat/completions", "/v1/chat/completions"),
        ("/chat/completions", "/v1/chat/completions"),
        ("/v1/completions", "/v1/completions"),
        ("/v1/responses/resp_1/cancel", "/v1/responses"),
        ("/v1/models/a", "/v1/models"),
        ("/models", "/v1/models"),
        ("/v1/audio/speech", "/v1/audio"),
        ("/v1/images/generations", "/v1/images"),
        ("/v1/messages/count_tokens", "/v1/messages"),
        ("/v1/embeddings", "/v1/embeddings"),
        ("/v1/embeddingsx", "other"),
        ("/v1/chat", "other"),
        ("/v1models", "other"),
        ("/v1", "other"),
        ("/", "other"),
        ("", "other"),
    ] {
        assert_eq!(Route::of(path).label(), label, "{path}");
    }
}

#[test]
fn methods_are_a_fixed_set() {
    for (method, label) in [
        ("GET", "GET"),
        ("DELETE", "DELETE"),
        ("TRACE", "other"),
        ("other", "other"),
        ("MADEUP", "other"),
    ] {
        assert_eq!(
            Verb::of(&Method::from_bytes(method.as_bytes()).unwrap()).label(),
            label
        );
    }
}

#[test]
fn statuses_are_bounded() {
    for (status, slot, label) in [
        (100, 0, "100"),
        (200, 100, "200"),
        (599, 499, "599"),
        (600, 500, "other"),
        (99, 500, "other"),
        (u16::MAX, 500, "other"),
    ] {
        assert_eq!(
            (labels::status_slot(status), &*labels::status(status)),
            (slot, label)
        );
    }
}

#[test]
fn enums_count_from_zero() {
    for (at, &verb) in Verb::ALL.iter().enumerate() {
        assert_eq!(verb as usize, at);
    }
    for (at, &route) in Route::ALL.iter().enumerate() {
        assert_eq!(route as usize, at);
    }
}

#[test]
fn the_http_layer() {
    let metrics = Metrics::new("gate").unwrap();
    let pending = metrics.arrived(Verb::Post, Route::Completions);
    assert_eq!(
        samples(&metrics, "gate_http_requests_pending"),
        [r#"gate_http_requests_pending{endpoint="/v1/completions",method="POST"} 1"#]
    );
    metrics.answered(
        Verb::Post,
        Route::Completions,
        200,
        Duration::from_millis(30),
    );
    metrics.answered(Verb::Post, Route::Completions, 200, Duration::from_secs(30));
    metrics.body_ended(Verb::Post, Route::Completions, 5000);
    drop(pending);
    assert_eq!(
        samples(&metrics, "gate_http_requests_pending"),
        [r#"gate_http_requests_pending{endpoint="/v1/completions",method="POST"} 0"#]
    );
    assert_eq!(
        samples(&metrics, "gate_http_requests_total"),
        [r#"gate_http_requests_total{endpoint="/v1/completions",method="POST",status="200"} 2"#]
    );
    let durations = samples(&metrics, "gate_http_requests_duration_seconds_bucket");
    assert!(
        durations[3].ends_with(r#"status="200",le="0.05"} 1"#),
        "{durations:?}"
    );
    assert_eq!(durations.len(), 12);
    assert_eq!(
        samples(&metrics, "gate_http_response_body_size_sum"),
        [r#"gate_http_response_body_size_sum{endpoint="/v1/completions",method="POST"} 5000"#]
    );
    assert_eq!(samples(&metrics, "onwards_http"), [""; 0]);
}

#[test]
fn a_model_gauge_exists_from_the_first_and_stays() {
    let metrics = metrics();
    let gauge = metrics.model_inflight("a");
    assert_eq!(
        samples(&metrics, "onwards_model_inflight"),
        [r#"onwards_model_inflight{model="a"} 0"#]
    );
    gauge.inc();
    metrics.model_inflight("a").inc();
    drop(gauge);
    assert_eq!(
        samples(&metrics, "onwards_model_inflight"),
        [r#"onwards_model_inflight{model="a"} 2"#]
    );
}

#[test]
fn the_gateways_own_counters() {
    let running = std::sync::Arc::new(onwards_limits::Slots::default());
    let metrics = Metrics::counting("onwards", running.clone()).unwrap();
    let _one = running.try_enter(None).unwrap();
    drop(running.try_enter(None));
    metrics.upstream_failed(Failure::RetriesExhausted, 503, "a");
    metrics.retried();
    metrics.retry_budget_exhausted();
    metrics.rejected(&Rejection {
        model: "",
        status: 404,
        code: "model_not_found",
        traffic: Traffic::Realtime,
    });
    metrics.unsupported_param("n", "a", Traffic::Dispatched, "rejected");
    metrics.batch_refused("a");
    metrics.config_loaded(7);
    metrics.config_refused();
    assert_eq!(
        samples(&metrics, "onwards_"),
        [
            r#"onwards_batch_inflight_refusals_total{model="a"} 1"#,
            "onwards_config_generation 7",
            r#"onwards_config_reloads_total{result="error"} 1"#,
            r#"onwards_config_reloads_total{result="ok"} 1"#,
            r#"onwards_rejections_total{code="model_not_found",model="",status="404",traffic="realtime"} 1"#,
            "onwards_requests_inflight 1",
            "onwards_retries_total 1",
            "onwards_retry_budget_exhausted_total 1",
            r#"onwards_unsupported_params_total{action="rejected",model="a",param="n",traffic="dispatched"} 1"#,
            r#"onwards_upstream_failed_total{model="a",reason="retries_exhausted",status="503"} 1"#,
        ]
    );
}

#[test]
fn every_metric_of_the_table_can_be_touched() {
    let metrics = metrics();
    drop(metrics.arrived(Verb::Get, Route::Other));
    metrics.answered(Verb::Get, Route::Other, 404, Duration::ZERO);
    metrics.body_ended(Verb::Get, Route::Other, 0);
    metrics.model_inflight("a");
    metrics.upstream_failed(Failure::NoProviders, 503, "a");
    metrics.rejected(&Rejection {
        model: "a",
        status: 401,
        code: "unauthenticated",
        traffic: Traffic::Dispatched,
    });
    metrics.unsupported_param("n", "a", Traffic::Realtime, "ignored");
    metrics.dropped_param("p", "seed");
    metrics.batch_refused("a");
    metrics
        .attempts("a", "default", "0")
        .count(Attempted::OperatorFault);
    let answers = metrics.answers("a");
    answers.ended(Form::Stream, Outcome::Stalled);
    answers.counted(Tokens::Cached, 3);
    metrics.tls().reloaded(true);
    metrics.config_refused();
    let shared = metrics.shared_state();
    shared.up(true);
    shared.count(SharedEvent::LeaseLost, 2);
    let pool = metrics.pool("a", "default");
    pool.first_token(Role::Preferred).observe(10.0);
    pool.first_token_breaches(Role::Alternate).inc();
    pool.share().set(0.5);
    pool.share_adjustments(Direction::Decrease).inc();
    pool.aimd_active().set(1);
    pool.aimd_window_samples().set(3);
    pool.aimd_window_breach_rate().set(0.25);
    pool.aimd_in_flight().inc();
    pool.aimd_unknown().inc();
    pool.aimd_overload_breaches(529).inc();
    pool.affinity_share().set(1.0);
    pool.affinity_active_conversations().set(2);
    pool.affinity_admitted_conversations().set(1);
    pool.affinity_routed(Role::Preferred).inc();
    let text = prometheus::TextEncoder::new()
        .encode_to_string(&metrics.registry().gather())
        .unwrap();
    for name in Name::ALL {
        let row = name.row();
        let kind = match row.kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram(_) => "histogram",
        };
        assert!(
            text.contains(&format!("# TYPE {} {kind}\n", row.full_name("onwards"))),
            "{name:?}"
        );
        assert_eq!(
            row.name.ends_with("_total"),
            row.kind == Kind::Counter,
            "{name:?}"
        );
        assert!(row.prefixed || row.name.starts_with("onwards_"), "{name:?}");
    }
    assert!(text.contains(r#"onwards_first_token_seconds_bucket{model="a",pool="default",role="preferred",le="7.5"} 0"#));
    assert!(text.contains(
        r#"onwards_first_token_seconds_bucket{model="a",pool="default",role="preferred",le="10"} 1"#
    ));
    assert_eq!(
        samples(&metrics, "onwards_provider_share"),
        [r#"onwards_provider_share{model="a",pool="default"} 0.5"#]
    );
}

#[test]
fn answers_are_counted_by_form_and_outcome() {
    let metrics = metrics();
    let answers = metrics.answers("a");
    for &form in Form::ALL {
        for &outcome in Outcome::ALL {
            answers.ended(form, outcome);
        }
    }
    answers.ended(Form::Unary, Outcome::Overflow);
    let again = metrics.answers("a"); // as a reload does
    again.counted(Tokens::Prompt, 3);
    answers.counted(Tokens::Prompt, 4);
    answers.counted(Tokens::Reasoning, 0);
    let ended = samples(&metrics, "onwards_response_outcomes_total");
    let twice = r#"onwards_response_outcomes_total{kind="unary",model="a",outcome="overflow"} 2"#;
    assert_eq!(ended.len(), 10);
    assert!(
        ended
            .iter()
            .all(|line| line.ends_with(" 1") || line == twice)
    );
    assert!(ended.iter().any(|line| line == twice));
    assert_eq!(
        samples(&metrics, "onwards_tokens_total"),
        [
            r#"onwards_tokens_total{model="a",type="prompt"} 7"#,
            r#"onwards_tokens_total{model="a",type="reasoning"} 0"#
        ]
    );
}

#[test]
fn a_store_has_series_only_while_one_is_configured() {
    let metrics = metrics();
    assert_eq!(samples(&metrics, "onwards_shared"), [""; 0]);
    let series = metrics.shared_state();
    series.count(SharedEvent::LeaseLost, 2);
    series.up(true);
    let found = samples(&metrics, "onwards_shared");
    assert!(
        found.contains(&r#"onwards_shared_state_events_total{event="lease_lost"} 2"#.to_owned())
    );
    assert!(found.contains(&r#"onwards_shared_state_events_total{event="away"} 0"#.to_owned()));
    assert!(found.contains(&"onwards_shared_state_up 1".to_owned()));
    assert_eq!(found.len(), SharedEvent::ALL.len() + 1);
    metrics.shared_state_gone();
    assert_eq!(samples(&metrics, "onwards_shared_state_up"), [""; 0]);
    metrics.shared_state();
    assert_eq!(
        samples(&metrics, "onwards_shared_state_up"),
        ["onwards_shared_state_up 0"]
    );
}

#[test]
fn a_prefix_must_begin_a_metric_name() {
    for prefix in ["", "9a", "a-b", "a b", "é"] {
        assert_eq!(
            Metrics::new(prefix).err(),
            Some(BadPrefix {
                prefix: prefix.to_owned()
            }),
            "{prefix:?}"
        );
    }
    for prefix in ["a", "_", "Gate_9"] {
        assert!(Metrics::new(prefix).is_ok(), "{prefix:?}");
    }
}
