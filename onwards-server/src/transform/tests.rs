use bytes::Bytes;
use http::HeaderMap;

use super::*;

fn sanitized(path: &str, body: &'static str) -> Option<String> {
    let answer = WholeAnswer {
        path,
        headers: &HeaderMap::new(),
        body: &Bytes::from(body),
        model: "mine",
    };
    let text = ResponseTransform::new(response_sanitizer())
        .apply(&answer)
        .map_err(|error| error.to_string());
    text.unwrap_or_else(|error| Some(error.into()))
        .map(|text| String::from_utf8(text.to_vec()).unwrap())
}

#[test]
fn the_sanitizer_cleans_chat_answers_and_keeps_others() {
    let answer = r#"{"id":"c","object":"chat.completion","created":1,"cost":2,"model":"theirs","choices":[{"index":0,"message":{"role":"assistant","content":"hi","x":1},"finish_reason":"stop","y":2}]}"#;
    let clean = r#"{"id":"c","object":"chat.completion","created":1,"model":"mine","choices":[{"index":0,"message":{"role":"assistant","content":"hi","x":1},"finish_reason":"stop"}]}"#;
    let error = r#"{"error":{"message":"no","code":429,"x":1}}"#;
    for (path, body, expect) in [
        ("/v1/chat/completions", answer, Some(clean)),
        ("/v1/chat/completions/", answer, Some(clean)),
        ("/v1/responses", answer, None),
        ("/v1/chat/completions", error, Some(error)),
    ] {
        assert_eq!(sanitized(path, body).as_deref(), expect, "{path} {body}");
    }
    let refused = sanitized("/v1/chat/completions", "[]").unwrap();
    assert!(!refused.contains('{'), "{refused}");
}
