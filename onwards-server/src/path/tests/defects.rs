//! What goes wrong inside.

use super::*;

#[tokio::test]
async fn a_panic_is_a_500_and_frees_what_it_held() {
    let limit = r#""concurrency_limit":{"max_concurrent_requests":1},"url""#;
    let stage = Stage::new(&ONE.replace(r#""url""#, limit)).acts([Act::Panic]);
    let broken = stage.post(r#"{"model":"m"}"#, &[]).await;
    assert_eq!(code(&broken), "500 internal_error");
    assert!(!broken.1.contains("purpose"), "{}", broken.1);
    assert_eq!(code(&stage.post(r#"{"model":"m"}"#, &[]).await), "200 -");
    assert_eq!(stage.house.metrics().model_inflight("m").get(), 0);
}
