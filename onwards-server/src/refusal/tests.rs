use super::*;
use expect_test::expect;

/// Refusals of every kind that has a row of its own.
fn all() -> Vec<Refusal> {
    vec![
        Refusal::BadRequest("Why."),
        Refusal::ModelMissing,
        Refusal::BodyNotJson,
        Refusal::BodyTimeout,
        Refusal::BodyTooLarge { limit: 7 },
        Refusal::UnknownEncoding,
        Refusal::BrokenEncoding,
        Refusal::Unauthenticated,
        Refusal::Forbidden,
        Refusal::ModelNotFound {
            model: "m".to_owned(),
        },
        Refusal::NotFound,
        Refusal::MethodNotAllowed { allow: "GET,HEAD" },
        Refusal::RateLimited {
            wait: Duration::from_millis(1200),
            quota: Quota::nearest([onwards_limits::Gauge {
                limit: 5,
                remaining: 0,
                next: Duration::from_millis(1200),
                reset: Duration::from_secs(6),
            }]),
        },
        Refusal::RateLimited {
            wait: Duration::from_millis(1200),
            quota: None,
        },
        Refusal::LimitsUnavailable,
        Refusal::Overloaded { closes: false },
        Refusal::Overloaded { closes: true },
        Refusal::AtConcurrency,
        Refusal::AllAtCapacity,
        Refusal::AtInflight {
            alias: "m".to_owned(),
        },
        Refusal::NoProviders,
        Refusal::Untranslatable(onwards_dialects::Rejected::unsupported("n")),
        Refusal::Unreachable,
        Refusal::Late,
        Refusal::Unreadable,
        Refusal::BadGateway,
        Refusal::GatewayTimeout,
        Refusal::Internal,
    ]
}

/// The whole error table in one picture: status, type, code, param, headers.
#[test]
fn every_refusal_has_its_row() {
    let all = all();
    let mut table = String::new();
    for refusal in all {
        let row = refusal.row();
        let response = refusal.response();
        let extra: Vec<_> = response
            .headers()
            .iter()
            .filter(|(name, _)| *name != header::CONTENT_TYPE)
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
            .collect();
        table += &format!(
            "{} {} {} {} {}\n",
            row.status.as_u16(),
            row.kind,
            row.code.unwrap_or("null"),
            row.param.as_deref().unwrap_or("-"),
            extra.join(", ")
        );
    }
    expect![[r#"
        400 invalid_request_error bad_request - 
        400 invalid_request_error bad_request model 
        400 invalid_request_error bad_request - 
        408 invalid_request_error request_timeout - connection: close
        413 invalid_request_error payload_too_large - connection: close
        415 invalid_request_error unsupported_content_encoding - 
        400 invalid_request_error bad_request - 
        401 invalid_request_error unauthenticated - www-authenticate: Bearer
        403 invalid_request_error forbidden - 
        404 invalid_request_error model_not_found - 
        404 invalid_request_error not_found - 
        405 invalid_request_error method_not_allowed - allow: GET,HEAD
        429 rate_limit_error rate_limit - retry-after: 2, x-ratelimit-limit-requests: 5, x-ratelimit-remaining-requests: 0, x-ratelimit-reset-requests: 6s
        429 rate_limit_error rate_limit - retry-after: 2
        503 internal_error limits_unavailable - retry-after: 1
        503 overloaded_error overloaded - retry-after: 1
        503 overloaded_error overloaded - retry-after: 1, connection: close
        429 rate_limit_error concurrency_limit_exceeded - retry-after: 1
        429 rate_limit_error concurrency_limit_exceeded - retry-after: 1
        429 rate_limit_error inflight_limit_exceeded - retry-after: 1
        503 internal_error service_unavailable - 
        400 invalid_request_error unsupported_parameter n 
        502 api_error provider_unreachable - 
        504 api_error provider_timeout - 
        502 api_error provider_malformed_response - 
        502 internal_error internal_error - 
        504 internal_error gateway_timeout - 
        500 internal_error internal_error - 
    "#]]
    .assert_eq(&table);
}

#[test]
fn the_envelope_is_openais() {
    assert_eq!(
        envelope("a \"b\"", "t", None, Some("c")),
        r#"{"error":{"message":"a \"b\"","type":"t","param":null,"code":"c"}}"#
    );
}

#[test]
fn a_wait_is_rounded_up_and_never_zero() {
    for (millis, seconds) in [(0, 1), (1, 1), (1000, 1), (1001, 2), (59_999, 60)] {
        assert_eq!(
            whole_seconds(Duration::from_millis(millis)),
            seconds,
            "{millis} ms"
        );
    }
}

#[test]
fn an_echoed_name_is_cut() {
    assert_eq!(shortened(&"é".repeat(300)).chars().count(), 257);
    assert_eq!(shortened("m"), "m");
}
