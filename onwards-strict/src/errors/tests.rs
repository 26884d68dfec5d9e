use super::*;

#[test]
fn statuses_of_untrusted_providers() {
    let cases = [
        (400, 400, "invalid_request_error", "Invalid request"),
        (401, 502, "api_error", "Bad gateway"),
        (402, 502, "api_error", "Bad gateway"),
        (403, 502, "api_error", "Bad gateway"),
        (404, 404, "not_found_error", "Not found"),
        (408, 504, "api_error", "Gateway timeout"),
        (413, 413, "invalid_request_error", "Request too large"),
        (418, 418, "api_error", "An error occurred"),
        (422, 422, "invalid_request_error", "Unprocessable request"),
        (429, 429, "rate_limit_error", "Rate limit exceeded"),
        (451, 502, "api_error", "Bad gateway"),
        (500, 500, "api_error", "Internal server error"),
        (502, 502, "api_error", "Bad gateway"),
        (503, 503, "api_error", "Service unavailable"),
        (504, 504, "api_error", "Gateway timeout"),
        (529, 529, "api_error", "An error occurred"),
    ];
    for (status, masked, kind, message) in cases {
        assert_eq!(mask(status), masked, "{status}");
        assert_eq!(standard(masked), Standard { kind, message }, "{status}");
        let expected = format!(
            r#"{{"error":{{"message":"{message}","type":"{kind}","param":null,"code":null}}}}"#
        );
        assert_eq!(body(status), expected);
    }
    assert_eq!(standard(401).kind, "authentication_error");
    assert_eq!(standard(403).message, "Permission denied");
}

#[test]
fn embedded_codes() {
    // The code as sent, its status, the masked one, whether it makes an answer a failed attempt.
    let cases = [
        ("429", 429, 429, true),
        ("\"429\"", 429, 429, true),
        ("\" 429 \"", 429, 429, true),
        ("429.0", 429, 429, true),
        ("401", 401, 502, true),
        ("\"403\"", 403, 502, true),
        ("408", 408, 504, true),
        ("451", 451, 502, true),
        ("599", 599, 599, true),
        ("\"rate_limit\"", 429, 429, false),
        ("\"rate_limit_error\"", 429, 429, false),
        ("\"rate_limit_exceeded\"", 429, 429, false),
        ("\"insufficient_quota\"", 500, 500, false),
        ("null", 500, 500, false),
        ("200", 500, 500, false),
        ("399", 500, 500, false),
        ("600", 500, 500, false),
        ("-429", 500, 500, false),
        ("true", 500, 500, false),
        ("{}", 500, 500, false),
    ];
    for (code, status, masked, is_status) in cases {
        let text =
            format!(r#"{{"id":"x","choices":[],"error":{{"message":"secret","code":{code}}}}}"#);
        let error = embedded(text.as_bytes()).expect(code);
        assert_eq!(
            (error.status(), error.masked(), error.is_status()),
            (status, masked, is_status)
        );
        let mut out = Vec::new();
        error.write_standard(&mut out);
        let Standard { kind, message } = standard(masked);
        let expected = format!(
            r#"{{"error":{{"message":"{message}","type":"{kind}","param":null,"code":{masked}}}}}"#
        );
        assert_eq!(String::from_utf8(out).as_deref(), Ok(&*expected), "{code}");
    }
}

#[test]
fn verbatim_is_the_object_alone_on_one_line() {
    let text = b"{\"id\":\"x\",\n\"error\": {\"code\": 402,\r\n\"metadata\": {\"raw\": 1e2}}}";
    let mut out = Vec::new();
    embedded(text).expect("an error").write_verbatim(&mut out);
    assert_eq!(out, br#"{"error":{"code": 402,"metadata": {"raw": 1e2}}}"#);
}

#[test]
fn what_is_an_error() {
    let cases = [
        (r#"{"error":{"message":"m"}}"#, true),
        (r#"{"error":{"code":1}}"#, true),
        (r#"{"error":"text"}"#, true),
        (r#"{"\u0065rror":{"code":1}}"#, true),
        (r#"{"error":""}"#, false),
        (r#"{"error":null}"#, false),
        (r#"{"error":{}}"#, false),
        (r#"{"error":{"message":null,"code":null}}"#, false),
        (r#"{"error":{"type":"x"}}"#, false),
        (r#"{"error":[1]}"#, false),
        (r#"{"error":true}"#, false),
        (r#"{"x":{"error":{"code":1}}}"#, false),
        (r#"[{"error":{"code":1}}]"#, false),
        (r#"{"error":{"code":1}"#, false),
        (r#"{"error":{"code":1}} x"#, false),
        ("", false),
    ];
    for (text, expected) in cases {
        assert_eq!(embedded(text.as_bytes()).is_some(), expected, "{text}");
    }
}
