use axum::body::Body;
use http::{Method, Request};
use http_body_util::BodyExt;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;

use super::*;
use crate::metrics::Metrics;

async fn ask(router: &Router, method: Method, path: &str) -> (u16, String) {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .body(Body::empty())
        .unwrap();
    let response = TowerToHyperService::new(router.clone())
        .call(request)
        .await
        .unwrap();
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

fn text(status: u16, body: &str) -> (u16, String) {
    (status, body.to_owned())
}

#[tokio::test]
async fn probes_follow_readiness_and_health_does_not() {
    let readiness = Readiness::default();
    let router = router(None, readiness.clone());
    assert_eq!(ask(&router, Method::GET, "/healthz").await, text(200, ""));
    assert_eq!(
        ask(&router, Method::GET, "/readyz").await,
        text(200, "ready")
    );
    readiness.drain();
    assert_eq!(ask(&router, Method::GET, "/healthz").await, text(200, ""));
    assert_eq!(
        ask(&router, Method::GET, "/readyz").await,
        text(503, "draining")
    );
    assert_eq!(ask(&router, Method::HEAD, "/readyz").await, text(503, ""));
}

#[tokio::test]
async fn metrics_are_there_only_with_a_registry() {
    let metrics = Metrics::new("onwards").unwrap();
    metrics.config_loaded(3);
    let on = router(Some(metrics.registry().clone()), Readiness::default());
    let (status, body) = ask(&on, Method::GET, "/metrics").await;
    assert_eq!(status, 200);
    assert!(body.contains("\nonwards_config_generation 3\n"), "{body}");
    let off = router(None, Readiness::default());
    assert_eq!(ask(&off, Method::GET, "/metrics").await.0, 404);
}

#[tokio::test]
async fn nothing_else_is_served() {
    let router = router(None, Readiness::default());
    assert_eq!(ask(&router, Method::GET, "/v1/models").await.0, 404);
    assert_eq!(ask(&router, Method::GET, "/").await.0, 404);
    assert_eq!(ask(&router, Method::POST, "/readyz").await.0, 405);
}
