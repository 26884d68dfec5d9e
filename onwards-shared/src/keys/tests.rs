use super::*;

#[track_caller]
fn check(scope: &str, alias: &str, expect: &str) {
    assert_eq!(Keys::new("onwards").running(scope, alias), expect);
}

#[test]
fn counts_are_placed_by_alias() {
    check("acme", "gpt", "{onwards:gpt}:running:acme");
    check(
        onwards_limits::BATCH_SCOPE,
        "org/llama-3",
        "{onwards:org/llama-3}:running:__batch__",
    );
    check("", "", "{onwards:}:running:");
    check("{x}", "a{b", "{onwards:a{b}:running:{x}");
}

#[test]
fn pairs_cannot_share_a_key() {
    check(
        "c",
        "a}:running:b",
        "{onwards:a%7D%3Arunning%3Ab}:running:c",
    );
    check("b}:running:c", "a", "{onwards:a}:running:b}:running:c");
    check("x", "a%7D", "{onwards:a%257D}:running:x");
    check("x", "a}", "{onwards:a%7D}:running:x");
    check("x", "eu:gpt", "{onwards:eu%3Agpt}:running:x");
    let other = Keys::new("onwards:eu");
    assert_eq!(other.running("x", "gpt"), "{onwards:eu:gpt}:running:x");
}

#[test]
fn buckets_lie_together() {
    let keys = Keys::new("p");
    assert_eq!(keys.rate("key:1"), "{p}:rate:key:1");
    assert_eq!(keys.rate("pool:gpt"), "{p}:rate:pool:gpt");
    assert_eq!(keys.probe(), "{p}:probe");
}
