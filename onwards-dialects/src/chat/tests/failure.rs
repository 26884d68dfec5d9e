use expect_test::expect;

use crate::chat::{embedded_error, read_failure};

#[test]
fn errors_are_read_in_every_shape() {
    let mut found = String::new();
    for (status, body) in [
        (400, include_str!("../../../tests/data/chat/err400.json")),
        (429, include_str!("../../../tests/data/chat/err429.json")),
        (
            400,
            include_str!("../../../tests/data/chat/err-too-long.json"),
        ),
        (
            400,
            r#"{"error":{"message":"filtered","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"x"}}}"#,
        ),
        (401, r#"{"statusCode":401,"message":"Access denied"}"#),
        (
            404,
            r#"{"error":{"code":"DeploymentNotFound","message":"gone"}}"#,
        ),
        (503, r#"{"error":"busy"}"#),
        (422, r#"{"detail":"not so"}"#),
        (422, r#"{"detail":[{"loc":["body"]}]}"#),
        (400, r#"[{"error":{"message":"in a list","code":400}}]"#),
        (502, "<html>"),
        (500, ""),
    ] {
        found += &format!("{:?}\n", read_failure(status, body.as_bytes()));
    }
    expect![[r#"
        Failure { status: 400, kind: "invalid_request_error", code: Some("invalid_value"), param: Some("temperature"), message: "Invalid value for 'temperature': expected a number between 0 and 2.", retry_after: None, retryable: false }
        Failure { status: 429, kind: "rate_limit_error", code: Some("429"), param: None, message: "Rate limit reached for requests", retry_after: None, retryable: true }
        Failure { status: 400, kind: "exceed_context_size_error", code: Some("400"), param: None, message: "request (923 tokens) exceeds the available context size (512 tokens), try increasing it", retry_after: None, retryable: false }
        Failure { status: 400, kind: "invalid_request_error", code: Some("content_filter"), param: Some("prompt"), message: "filtered", retry_after: None, retryable: false }
        Failure { status: 401, kind: "authentication_error", code: None, param: None, message: "Access denied", retry_after: None, retryable: false }
        Failure { status: 404, kind: "not_found_error", code: Some("DeploymentNotFound"), param: None, message: "gone", retry_after: None, retryable: false }
        Failure { status: 503, kind: "overloaded_error", code: None, param: None, message: "busy", retry_after: None, retryable: true }
        Failure { status: 422, kind: "invalid_request_error", code: None, param: None, message: "not so", retry_after: None, retryable: false }
        Failure { status: 422, kind: "invalid_request_error", code: None, param: None, message: "the provider returned an error", retry_after: None, retryable: false }
        Failure { status: 400, kind: "invalid_request_error", code: Some("400"), param: None, message: "in a list", retry_after: None, retryable: false }
        Failure { status: 502, kind: "api_error", code: None, param: None, message: "the provider returned an error", retry_after: None, retryable: true }
        Failure { status: 500, kind: "api_error", code: None, param: None, message: "the provider returned an error", retry_after: None, retryable: true }
    "#]].assert_eq(&found);
    assert_eq!(
        read_failure(500, b"\xff").message,
        "the provider returned an error"
    );
}

#[test]
fn an_error_in_a_successful_answer_is_found() {
    for (body, expected) in [
        (r#"{"error":{"message":"m","code":429}}"#, Some(429)),
        (r#"{"error":{"message":"m"},"choices":[]}"#, Some(500)),
        (
            r#"{"error":{"type":"invalid_request_error","message":"m"}}"#,
            Some(400),
        ),
        (
            r#"{"error":null,"choices":[{"message":{"content":"a"}}]}"#,
            None,
        ),
        (
            r#"{"choices":[{"message":{"content":"\"error\""}}],"error":{}}"#,
            None,
        ),
        (r#"{"choices":[]}"#, None),
        ("\"error\"", None),
    ] {
        let status = embedded_error(body).map(|failure| failure.status);
        assert_eq!(status, expected, "{body}");
    }
}
