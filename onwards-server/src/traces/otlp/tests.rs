use super::*;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN: &str = "00f067aa0ba902b7";

fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in lines {
        headers.append(*name, value.parse().unwrap());
    }
    headers
}

#[test]
fn a_parent_is_one_that_is_well_formed() {
    let good = format!("00-{TRACE}-{SPAN}-01");
    let found = parent(&headers(&[
        ("traceparent", &good),
        ("tracestate", "a=1"),
        ("tracestate", "b=2"),
    ]))
    .unwrap();
    assert_eq!(found.trace_id().to_string(), TRACE);
    assert_eq!(found.span_id().to_string(), SPAN);
    assert!(found.is_sampled() && found.is_remote());
    assert_eq!(found.trace_state().header(), "a=1,b=2");
    let unsampled = parent(&headers(&[(
        "traceparent",
        &format!("00-{TRACE}-{SPAN}-02"),
    )]));
    assert!(!unsampled.unwrap().is_sampled());
    let later = format!("01-{TRACE}-{SPAN}-01-more");
    assert!(parent(&headers(&[("traceparent", &later)])).is_some());
    for bad in [
        String::new(),
        format!("ff-{TRACE}-{SPAN}-01"),
        format!("00-{TRACE}-{SPAN}-01-more"),
        format!("00-{TRACE}-{SPAN}"),
        format!("00-{TRACE}-{SPAN}-1"),
        format!("00-{}-{SPAN}-01", TRACE.to_uppercase()),
        format!("00-{}-{SPAN}-01", "0".repeat(32)),
        format!("00-{TRACE}-{}-01", "0".repeat(16)),
        format!("00-+{}-{SPAN}-01", TRACE.strip_prefix('4').unwrap()),
    ] {
        assert!(
            parent(&headers(&[("traceparent", &bad)])).is_none(),
            "{bad}"
        );
    }
    assert!(parent(&headers(&[("traceparent", &good), ("traceparent", &good)])).is_none());
    assert!(parent(&HeaderMap::new()).is_none());
    let odd = parent(&headers(&[("traceparent", &good), ("tracestate", "=,;")])).unwrap();
    assert_eq!(odd.trace_state().header(), "");
}

#[test]
fn a_name_is_the_operation_and_the_model() {
    for (route, model, expected) in [
        (Route::ChatCompletions, Some("m"), "chat m"),
        (Route::Responses, Some("m"), "chat m"),
        (Route::Completions, Some("m"), "text_completion m"),
        (Route::Embeddings, Some("m"), "embeddings m"),
        (Route::ChatCompletions, None, "POST /v1/chat/completions"),
        (Route::Audio, Some("m"), "POST /v1/audio"),
    ] {
        assert_eq!(name(route, model, "POST"), expected);
    }
}
