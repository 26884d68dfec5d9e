//! What goes wrong inside, and what never comes.

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

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_read_whole_may_not_be_silent_for_long() {
    const JSON: &[(&str, &str)] = &[("content-type", "application/json")];
    let timed =
        r#"{"strict_mode":true,"targets":{"m":{"url":"http://up.example","idle_timeout_ms":500}}}"#;
    for config in [
        timed.to_owned(),
        timed
            .replace("true", "false")
            .replace(r#""url""#, r#""sanitize_response":true,"url""#),
    ] {
        let stage = Stage::new(&config).acts([Act::Silence(JSON)]);
        let begun = tokio::time::Instant::now();
        let answer = stage.post(
            r#"{"model":"m","messages":[{"role":"user","content":"a"}]}"#,
            &[],
        );
        let answer = tokio::time::timeout(Duration::from_secs(60), answer)
            .await
            .unwrap();
        assert_eq!(
            (code(&answer).as_str(), begun.elapsed().as_millis()),
            ("502 internal_error", 500),
            "{config}"
        );
    }
}
