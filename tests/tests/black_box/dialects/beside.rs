//! What is no chat: embeddings, pictures, sound and moderation go to those who have them under OpenAI's paths, with the model's name
//! replaced; others do not serve them.

use onwards_tests::{Gateway, Reply, Request, Upstream};
use serde_json::json;

use super::{KEY, Kind, serve};

const PATHS: [&str; 4] = [
    "/v1/embeddings",
    "/v1/images/generations",
    "/v1/audio/speech",
    "/v1/moderations",
];

#[tokio::test]
async fn openai_serves_them_with_its_own_model() {
    let up = Upstream::start().await;
    let gateway = serve(Kind::OpenAi, &up).await;
    for path in PATHS {
        let theirs = "{ \"data\":[ ], \"x\":1.10 }";
        up.reply(Reply::new(
            200,
            &[("content-type", "application/json")],
            theirs,
        ));
        let body = "{ \"model\" : \"m\", \"input\":\"x\" , \"n\":1.0 }";
        let request = Request::post(path).header("content-type", "application/json");
        let answer = gateway.send(request.body(body)).await;
        assert_eq!(
            (answer.status, answer.text().as_str()),
            (200, theirs),
            "{path}"
        );
        let sent = up.request(up.count() - 1).await;
        assert_eq!(sent.line, format!("POST {path} HTTP/1.1"));
        assert_eq!(
            sent.body,
            body.replace("\"m\"", "\"vendor-model\"").as_bytes()
        );
        Kind::OpenAi.is_authorized(&sent);
    }
}

#[tokio::test]
async fn azure_serves_them_under_its_deployments() {
    let up = Upstream::start().await;
    let v1 = Kind::Azure.provider_with(&up, &json!({"api_style": "v1"}));
    let gateway = Gateway::serve(json!({"m": Kind::Azure.provider(&up), "v1": v1})).await;
    for path in PATHS {
        let operation = path.strip_prefix("/v1").unwrap();
        for (alias, expected) in [
            (
                "m",
                format!("/openai/deployments/vendor-model{operation}?api-version=2024-10-21"),
            ),
            ("v1", format!("/openai/v1{operation}")),
        ] {
            let body = json!({"model": alias, "input": "x"});
            let answer = gateway.send(Request::post(path).json(&body)).await;
            assert_eq!(answer.status, 200);
            let sent = up.request(up.count() - 1).await;
            assert_eq!(sent.line, format!("POST {expected} HTTP/1.1"));
            assert_eq!(sent.json()["model"], "vendor-model");
            Kind::Azure.is_authorized(&sent);
        }
    }
}

#[tokio::test]
async fn the_others_do_not_serve_them() {
    for kind in [Kind::Anthropic, Kind::Gemini, Kind::Bedrock] {
        let up = Upstream::start().await;
        let gateway = serve(kind, &up).await;
        for path in PATHS {
            let body = json!({"model": "m", "input": "x"});
            let answer = gateway.send(Request::post(path).json(&body)).await;
            assert_eq!(
                (answer.status, answer.code()),
                (400, json!("endpoint_not_supported")),
                "{path}"
            );
            assert!(!answer.text().contains(KEY));
        }
        assert_eq!(up.count(), 0);
    }
}
