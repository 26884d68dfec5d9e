use std::time::Duration;

use super::*;

fn pool(providers: &str) -> Vec<config::Provider> {
    let text = format!(r#"{{"targets": {{"m": {{"providers": [{providers}]}}}}}}"#);
    let gateway = onwards_config::read(text.as_bytes(), &()).unwrap().gateway;
    gateway.targets.get("m").unwrap().default.providers.clone()
}

fn configured(provider: &str) -> config::Provider {
    pool(provider)[0].clone()
}

fn compiled(provider: &str) -> Arc<Dialect> {
    let pool = pool(provider);
    Dialect::compile(&pool[0], SameDialect::Native, &Words::of(&pool)).unwrap()
}

#[test]
fn errors_show_neither_secrets_nor_addresses_nor_the_models_name() {
    let dialect = compiled(
        r#"{"kind": "openai", "url": "https://up.example:8443", "onwards_key": "sk-very-secret", "onwards_model": "big-model"}"#,
    );
    for (said, shown) in [
        (
            "big-model at https://up.example:8443/v1: key sk-very-secret",
            "m at https://the provider/v1: key [REDACTED]",
        ),
        ("nothing of it", "nothing of it"),
    ] {
        assert_eq!(dialect.scrubbed(said, "m"), shown);
    }
}

#[test]
fn errors_show_nothing_of_others_in_the_pool() {
    let dialect = compiled(
        r#"{"kind": "openai", "url": "https://one.example", "onwards_key": "sk-one", "onwards_model": "big"},
           {"name": "two", "url": "https://two.example:1", "onwards_key": "sk-one-two", "onwards_model": "big-model"}"#,
    );
    for (alias, said, shown) in [
        (
            "m",
            "big or big-model at two.example:1 and one.example: sk-one-two, sk-one",
            "m or m at the provider and the provider: [REDACTED], [REDACTED]",
        ),
        // What stands in a word's place is not looked at again, and the alias may be made of words.
        ("so-big", "big is not so-big: é", "so-big is not so-big: é"),
        ("big", "big-model is no big one", "big is no big one"),
        ("", "big", ""),
    ] {
        assert_eq!(dialect.scrubbed(said, alias), shown);
    }
}

#[test]
fn an_extra_body_is_merged_member_by_member() {
    let dialect = compiled(
        r#"{"kind": "openai", "url": "http://up.example", "extra_body": {"a": {"b": 1, "c": []}, "d": {}, "e": "x"}}"#,
    );
    let extra: Vec<_> = dialect
        .extra
        .iter()
        .map(|(path, value)| (path.join("."), value.as_str()))
        .collect();
    assert_eq!(
        extra,
        [
            ("a.b".to_owned(), "1"),
            ("a.c".to_owned(), "[]"),
            ("d".to_owned(), "{}"),
            ("e".to_owned(), r#""x""#)
        ]
    );
}

#[test]
fn a_clock_that_is_off_is_followed_once() {
    let provider = configured(
        r#"{"kind": "bedrock", "aws": {"region": "us-east-1", "access_key_id": "AKIDEXAMPLE", "secret_access_key": "k"}}"#,
    );
    let signing = signing(&provider).unwrap().unwrap();
    let ours = Duration::from_secs(1000);
    assert_eq!(signing.time(ours), ours);
    assert!(signing.set_clock(400, ours));
    assert_eq!(signing.time(ours), Duration::from_secs(400));
    assert!(!signing.set_clock(400, ours), "it changes nothing any more");
    assert!(signing.set_clock(1900, ours));
    assert_eq!(signing.time(ours), Duration::from_secs(1900));
}

#[test]
fn a_provider_that_passes_on_has_no_dialect_and_is_signed_for() {
    let provider = configured(
        r#"{"kind": "bedrock", "passthrough": true,
            "aws": {"region": "us-east-1", "access_key_id": "AKIDEXAMPLE", "secret_access_key": "k"}}"#,
    );
    assert!(Dialect::compile(&provider, SameDialect::Native, &Arc::default()).is_none());
    assert!(signing(&provider).unwrap().is_some());
}
