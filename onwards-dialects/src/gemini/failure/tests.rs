use expect_test::expect;

use super::{embedded_error, read_failure, write_failure};
use crate::failure::Failure;

fn read(status: u16, body: &str) -> Failure {
    read_failure(status, &|_| None, body.as_bytes())
}

#[test]
fn captures_of_a_server() {
    for (status, body, code, kind, message) in [
        (
            400,
            include_str!("../../../tests/data/gemini/err400.json"),
            "invalid_request_error",
            "invalid_request_error",
            "Invalid value for 'temperature': expected a number between 0 and 2.",
        ),
        (
            429,
            include_str!("../../../tests/data/gemini/err429.json"),
            "rate_limit_error",
            "rate_limit_error",
            "Rate limit reached for requests",
        ),
        (
            500,
            include_str!("../../../tests/data/gemini/err500.json"),
            "server_error",
            "api_error",
            "The server had an error while processing your request",
        ),
    ] {
        let failure = read(status, body);
        assert_eq!(failure, Failure::of(status, Some(code), message));
        assert_eq!(failure.kind, kind);
    }
}

#[test]
fn a_delay_in_the_details_is_rounded_up() {
    for (delay, seconds) in [
        ("34s", Some(34)),
        ("1.5s", Some(2)),
        ("2.000s", Some(2)),
        ("0s", Some(0)),
        ("-1s", None),
        ("1.xs", None),
        ("34", None),
        ("s", None),
    ] {
        let body = format!(
            r#"[{{"error":{{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED","details":[
            {{"@type":"type.googleapis.com/google.rpc.Help"}},
            {{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"{delay}"}}]}}}}]"#
        );
        let expected = Failure {
            retry_after: seconds,
            ..Failure::of(429, Some("resource_exhausted"), "m")
        };
        assert_eq!(read(429, &body), expected, "{delay}");
    }
}

#[test]
fn what_says_nothing_is_told_by_its_status() {
    for body in ["", "<html>", "{}", "[]", "null", r#"{"error":null}"#] {
        assert_eq!(read(503, body), Failure::unsaid(503), "{body}");
        assert_eq!(embedded_error(body), None, "{body}");
    }
    assert_eq!(
        read(502, r#"{"error":"down"}"#),
        Failure::of(502, None, "down")
    );
    assert!(!read(400, r#"{"error":{"message":"API key not valid."}}"#).retryable);
}

#[test]
fn an_error_in_place_of_an_answer_has_its_own_status() {
    for (code, status) in [("503", 503), ("7", 500), ("\"503\"", 500), ("600", 500)] {
        let body = format!(r#"{{"error":{{"code":{code},"message":"m","status":"UNAVAILABLE"}}}}"#);
        let expected = Failure::of(status, Some("unavailable"), "m");
        assert_eq!(embedded_error(&body), Some(expected));
    }
}

#[test]
fn statuses_in_words() {
    let words = [
        400, 401, 402, 403, 404, 408, 413, 422, 429, 499, 500, 501, 502, 503, 504, 529,
    ]
    .map(|status| format!("{status} {}", super::status(status)));
    expect![[r#"
        400 INVALID_ARGUMENT
        401 UNAUTHENTICATED
        402 FAILED_PRECONDITION
        403 PERMISSION_DENIED
        404 NOT_FOUND
        408 DEADLINE_EXCEEDED
        413 INVALID_ARGUMENT
        422 INVALID_ARGUMENT
        429 RESOURCE_EXHAUSTED
        499 CANCELLED
        500 INTERNAL
        501 UNIMPLEMENTED
        502 UNAVAILABLE
        503 UNAVAILABLE
        504 DEADLINE_EXCEEDED
        529 UNAVAILABLE
    "#]]
    .assert_eq(&(words.join("\n") + "\n"));
}

#[test]
fn a_client_is_told() {
    let written = |failure: &Failure| {
        let mut out = String::new();
        write_failure(failure, "req-1", &mut out);
        out
    };
    let failure = Failure::of(404, Some("model_not_found"), "the model 'x' does not exist");
    expect![[r#"{"error":{"code":404,"message":"the model 'x' does not exist","status":"NOT_FOUND","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"model_not_found"}]}}"#]].assert_eq(&written(&failure));
    expect![[r#"{"error":{"code":529,"message":"the provider returned an error","status":"UNAVAILABLE"}}"#]].assert_eq(&written(&Failure::unsaid(529)));
}
