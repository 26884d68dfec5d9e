//! The list of models, as each protocol has it.

use super::*;

#[tokio::test]
async fn models_are_listed_as_the_client_knows_them() {
    let stage = Stage::new(r#"{"targets":{"m":{"kind":"openai","url":"http://up.example"}}}"#);
    for (path, header, expect) in [
        (
            "/v1/models",
            "accept",
            r#"{"object":"list","data":[{"id":"m","#,
        ),
        (
            "/v1/models",
            "anthropic-version",
            r#"{"data":[{"type":"model","id":"m","#,
        ),
        (
            "/v1/models",
            "x-goog-api-key",
            r#"{"models":[{"name":"models/m","#,
        ),
        (
            "/v1beta/models",
            "accept",
            r#"{"models":[{"name":"models/m","#,
        ),
    ] {
        let request = Request::get(path).header(header, "a");
        let answer = stage.send(request.body(Full::default()).unwrap()).await;
        let list = text(answer).await;
        assert!(list.starts_with(expect), "{path} {header}: {list}");
    }
}
