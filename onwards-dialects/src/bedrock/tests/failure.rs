use crate::bedrock::{read_exception, read_failure};
use crate::failure::Failure;

/// Everything about an error in a line.
fn line(failure: &Failure) -> String {
    format!(
        "{} {} {} {}: {}",
        failure.status,
        failure.kind,
        failure.code.as_deref().unwrap_or("-"),
        if failure.retryable { "next" } else { "final" },
        failure.message
    )
}

#[test]
fn errors_by_status_header_and_body() {
    let at = |status, header: &str, body: &str| {
        let header = |name: &str| {
            (name == "x-amzn-errortype" && !header.is_empty()).then(|| header.to_owned())
        };
        line(&read_failure(status, &header, body.as_bytes()))
    };
    for (status, header, body, expected) in [
        (
            400,
            "ValidationException:http://internal.amazon.com/coral/com.amazon.bedrock/",
            r#"{"message":"bad"}"#,
            "400 invalid_request_error validation final: bad",
        ),
        (
            429,
            "",
            r#"{"__type":"com.amazon.coral.availability#ThrottlingException","Message":"slow"}"#,
            "429 rate_limit_error throttling next: slow",
        ),
        (
            408,
            "ModelTimeoutException",
            r#"{"message":"late"}"#,
            "408 api_error model_timeout next: late",
        ),
        (
            424,
            "ModelErrorException",
            r#"{"message":"m","originalStatusCode":500}"#,
            "424 invalid_request_error model_error next: m",
        ),
        (
            403,
            "",
            r#"{"message":null}"#,
            "403 permission_error - final: the provider returned an error",
        ),
        (
            503,
            "",
            "<html>",
            "503 overloaded_error - next: the provider returned an error",
        ),
    ] {
        assert_eq!(at(status, header, body), expected);
    }
}

#[test]
fn errors_of_a_server_that_only_imitates_the_service() {
    let none = |_: &str| None;
    for (status, body, expected) in [
        (
            400,
            include_str!("../../../tests/data/bedrock/err400.json"),
            "400 invalid_request_error invalid_request_error final: Invalid value for 'temperature': expected a number between 0 and 2.",
        ),
        (
            429,
            include_str!("../../../tests/data/bedrock/err429.json"),
            "429 rate_limit_error rate_limit_error next: Rate limit reached for requests",
        ),
        (
            500,
            include_str!("../../../tests/data/bedrock/err500.json"),
            "500 api_error server_error next: The server had an error while processing your request",
        ),
    ] {
        assert_eq!(
            line(&read_failure(status, &none, body.as_bytes())),
            expected
        );
    }
}

#[test]
fn exceptions_of_streams_have_the_status_that_they_would_have_had() {
    for (kind, payload, expected) in [
        (
            "throttlingException",
            r#"{"message":"slow"}"#,
            "429 rate_limit_error throttling next: slow",
        ),
        (
            "modelStreamErrorException",
            r#"{"message":"m","originalStatusCode":400}"#,
            "424 invalid_request_error model_stream_error next: m",
        ),
        (
            "validationException",
            r#"{"message":"bad"}"#,
            "400 invalid_request_error validation final: bad",
        ),
        (
            "serviceUnavailableException",
            "{}",
            "503 overloaded_error service_unavailable next: the provider returned an error",
        ),
        (
            "InternalServerException",
            "",
            "500 api_error internal_server next: the provider returned an error",
        ),
        (
            "SomeCode",
            "plain words ",
            "500 api_error some_code next: plain words",
        ),
        (
            "",
            "",
            "500 api_error - next: the provider returned an error",
        ),
    ] {
        assert_eq!(line(&read_exception(kind, payload)), expected);
    }
}
