use crate::{Gateway, Part, compare};

fn gateway(text: &str) -> Gateway {
    match crate::read(text.as_bytes(), &()) {
        Ok(loaded) => loaded.gateway,
        Err(problems) => panic!("{text}: {problems}"),
    }
}

/// The lines told of a change from one file to another, and none the other way round is missing.
#[track_caller]
fn check(old: &str, new: &str, lines: &[&str]) {
    let (old, new) = (gateway(old), gateway(new));
    let told = compare(&old, &new).to_string();
    assert_eq!(told.lines().collect::<Vec<_>>(), lines);
    assert_eq!(compare(&new, &old).0.len(), lines.len(), "the way back");
    for same in [&old, &new] {
        assert_eq!(compare(same, same).0, []);
    }
    assert!(!told.contains("sk-"), "a secret: {told}");
}

/// The same for one target `m`.
#[track_caller]
fn target(old: &str, new: &str, lines: &[&str]) {
    let file = |target: &str| format!(r#"{{"targets": {{"m": {target}}}}}"#);
    let lines = [&["~ alias m"], lines].concat();
    check(&file(old), &file(new), &lines);
}

#[test]
fn settings() {
    let targets = r#""targets": {}"#;
    for (old, new, line) in [
        (
            "",
            r#""strict_mode": true,"#,
            "~ setting strict_mode: false -> true",
        ),
        (
            "",
            r#""http_pool": {"max_idle_per_host": 5, "idle_timeout_secs": 7},"#,
            "~ setting http_pool: 100 idle for 90 s -> 5 idle for 7 s",
        ),
        (
            r#""first_token_timeout_ms": 5,"#,
            "",
            "~ setting first_token_timeout_ms: 5 -> none",
        ),
        (
            "",
            r#""batch_inflight_enforce": true,"#,
            "~ setting batch_inflight_enforce: false -> true",
        ),
        (
            "",
            r#""max_inflight_requests": 9,"#,
            "~ setting max_inflight_requests: none -> 9",
        ),
        (
            r#""max_inflight_requests": 9,"#,
            r#""max_inflight_requests": 8,"#,
            "~ setting max_inflight_requests: 9 -> 8",
        ),
        (
            "",
            r#""exempt_header": "x-batch","#,
            "~ setting exempt_header",
        ),
        (
            r#""proxy": {"http": "http://user:sk-1@a:1"},"#,
            r#""proxy": {"http": "http://user:sk-2@a:1"},"#,
            "~ setting proxy",
        ),
        (
            "",
            r#""rate_limit_headers": false,"#,
            "~ setting rate_limit_headers: true -> false",
        ),
        (
            "",
            r#""shared_state": {"redis": "redis://:sk-1@h"},"#,
            "~ setting shared_state: none -> a store",
        ),
        (
            r#""shared_state": {"redis": "redis://:sk-1@h"},"#,
            r#""shared_state": {"redis": "redis://:sk-2@h", "timeout_ms": 9, "rate_limits": true},"#,
            "~ setting shared_state: redis, timeout_ms, rate_limits",
        ),
        (
            r#""proxy": {"from_environment": true},"#,
            "",
            "~ setting proxy",
        ),
    ] {
        let file = |part: &str| format!("{{{part}{targets}}}");
        check(&file(old), &file(new), &[line]);
    }
}

#[test]
fn settings_of_dialects() {
    for (old, new, line) in [
        (
            "",
            r#""ingress": {"gemini": false, "allowed_betas": ["b"]},"#,
            "~ setting ingress: gemini, allowed_betas",
        ),
        (
            r#""image_fetch": {"timeout_ms": 500, "allow_private": true},"#,
            "",
            "~ setting image_fetch: timeout_ms, allow_private",
        ),
        (
            "",
            r#""reasoning_state": {"ttl_secs": 5},"#,
            "~ setting reasoning_state: ttl_secs",
        ),
        (
            r#""dry_run_key": "sk-1","#,
            r#""dry_run_key": "sk-2","#,
            "~ setting dry_run_key",
        ),
    ] {
        let file = |part: &str| format!(r#"{{{part}"targets": {{}}}}"#);
        check(&file(old), &file(new), &[line]);
    }
}

#[test]
fn keys() {
    let file = |definitions: &str, global: &str, keys: &str| {
        format!(
            r#"{{"auth": {{"global_keys": [{global}], "key_definitions": {{{definitions}}}}},
                "targets": {{"m": {{"url": "http://a", "keys": [{keys}]}}}}}}"#
        )
    };
    let (ann, bob) = (r#""ann": {"key": "sk-ann"}"#, r#""bob": {"key": "sk-bob"}"#);
    let both = &format!("{ann}, {bob}");
    check(&file(ann, "", ""), &file(both, "", ""), &["+ key bob"]);
    check(
        &file(ann, "", r#""ann""#),
        &file(r#""ann": {"key": "sk-new"}"#, "", r#""ann""#),
        &["~ key ann: key"],
    );
    check(
        &file(
            r#""ann": {"key": "sk-ann", "labels": {"account": "x"}, "concurrency_limit": {"max_concurrent_requests": 3}}"#,
            "",
            "",
        ),
        &file(
            r#""ann": {"key": "sk-ann", "concurrency_limit": {"max_concurrent_requests": 5}, "rate_limit": {"requests_per_second": 1.5, "burst_size": 2}}"#,
            "",
            "",
        ),
        &[
            "~ key ann: labels",
            "+ limit key ann rate_limit: 1.5/s burst 2",
            "~ limit key ann concurrency_limit: 3 -> 5",
        ],
    );
    // A global key is told once, not for every pool it opens.
    check(
        &file(both, r#""ann", "sk-1""#, ""),
        &file(both, r#""bob", "sk-2", "sk-3""#, ""),
        &["~ key global_keys: +bob +2 unnamed -ann -1 unnamed"],
    );
    check(
        &file(both, "", r#""ann", "sk-1""#),
        &file(both, "", r#""bob", "sk-2""#),
        &[
            "~ alias m",
            "~ pool m/default: keys (+bob +1 unnamed -ann -1 unnamed)",
        ],
    );
    target(
        r#"{"url": "http://a"}"#,
        r#"{"url": "http://a", "keys": ["sk-1"]}"#,
        &["~ pool m/default: keys (open -> listed)"],
    );
}

#[test]
fn aliases_and_pools() {
    check(
        r#"{"targets": {"a": {"url": "http://a"}, "b": {"url": "http://b"}}}"#,
        r#"{"targets": {"b": {"url": "http://b"}, "c": {"url": "http://c"}}}"#,
        &["- alias a", "+ alias c"],
    );
    let with = |pool: &str| {
        format!(r#"{{"pools": {{"default": {{"providers": [{{"url": "http://a"}}]}}{pool}}}}}"#)
    };
    target(
        &with(""),
        &with(r#", "completions": {"providers": [{"url": "http://b"}]}"#),
        &["+ pool m/completions"],
    );
    target(
        r#"{"providers": [{"url": "http://a"}], "rate_limit": {"requests_per_second": 1, "burst_size": 2}, "inflight_limit": 4, "account_inflight_limits": {"x": 1, "y": 2}}"#,
        r#"{"providers": [{"url": "http://a"}], "strategy": "priority", "fallback": {"enabled": true}, "routing_rules": [{"match_labels": {}, "action": {"type": "deny"}}], "batch_inflight_limit": 9, "account_inflight_limits": {"x": 3}}"#,
        &[
            "~ pool m/default: strategy, fallback, routing_rules",
            "- limit m/default rate_limit: 1/s burst 2",
            "- limit m/default inflight_limit: 4",
            "+ limit m/default batch_inflight_limit: 9",
            "~ limit m/default account_inflight_limits.x: 1 -> 3",
            "- limit m/default account_inflight_limits.y: 2",
        ],
    );
    // Another way to write the same.
    check(
        r#"{"targets": {"m": {"url": "http://a/v1"}}}"#,
        r#"{"targets": {"m": {"providers": [{"url": "http://a/v1/", "weight": 1}]}}}"#,
        &[],
    );
}

#[test]
fn providers() {
    let pool = |providers: &[&str]| format!(r#"{{"providers": [{}]}}"#, providers.join(", "));
    let (a, b) = (r#"{"url": "http://a"}"#, r#"{"url": "http://b"}"#);
    target(
        &pool(&[a]),
        &pool(&[b, a]),
        &["+ provider m/default/0 (http://b)"],
    );
    target(
        &pool(&[a, b]),
        &pool(&[b, a]),
        &["~ pool m/default: order of providers"],
    );
    target(
        &pool(&[a, a]),
        &pool(&[a]),
        &["- provider m/default/1 (http://a)"],
    );
    target(
        &pool(&[a]),
        &pool(&[r#"{"url": "http://a", "onwards_model": "x"}"#]),
        &[
            "- provider m/default/0 (http://a)",
            "+ provider m/default/0 (http://a)",
        ],
    );
    target(
        &pool(&[
            r#"{"name": "one", "url": "http://a", "onwards_key": "sk-1", "response_headers": {"x-a": "sk-b"}, "concurrency_limit": {"max_concurrent_requests": 3}}"#,
        ]),
        &pool(&[
            r#"{"name": "one", "url": "https://a", "onwards_key": "sk-2", "onwards_model": "x", "weight": 3, "request_timeout_secs": 4}"#,
        ]),
        &[
            "~ provider m/default/one: url, onwards_key, onwards_model, weight, response_headers, request_timeout_secs",
            "- limit m/default/one concurrency_limit: 3",
        ],
    );
    target(
        &pool(&[r#"{"url": "http://a", "onwards_key": "sk-1"}"#]),
        &pool(&[
            r#"{"url": "http://a", "onwards_key": "sk-1", "upstream_auth_header_prefix": "Key "}"#,
        ]),
        &["~ provider m/default/0 (http://a): upstream_auth_header_prefix"],
    );
    let translated = |effort: &str| {
        format!(
            r#"{{"url": "http://a", "reasoning_translation": {{"chat_completions": {{"unsupported_efforts": ["{effort}"], "writes": []}}}}}}"#
        )
    };
    target(
        &pool(&[&translated("low")]),
        &pool(&[b, &translated("high")]),
        &[
            "~ provider m/default/1 (http://a): reasoning_translation",
            "+ provider m/default/0 (http://b)",
        ],
    );
    target(
        &pool(&[&translated("low")]),
        &pool(&[b, &translated("low")]),
        &["+ provider m/default/0 (http://b)"],
    );
}

#[test]
fn dialects() {
    target(
        r#"{"url": "http://a", "onwards_key": "sk-1", "headers": {"x-a": "sk-b"}}"#,
        r#"{"url": "http://a", "onwards_key": "sk-1", "headers": {"x-a": "sk-c"}, "kind": "gemini", "stream_path": "/s"}"#,
        &[
            "~ pool m/default: fallback",
            "~ provider m/default/0 (http://a): kind, stream_path, headers, upstream_auth_header_name, upstream_auth_header_prefix, request_timeout_secs, idle_timeout_ms",
        ],
    );
    let claude = |members: &str| format!(r#"{{"kind": "anthropic", "url": "http://a"{members}}}"#);
    target(
        &claude(""),
        &claude(
            r#", "path": "/p", "betas": ["b"], "expose_reasoning": "text", "extra_body": {"a": 1}, "passthrough": true, "reasoning_budgets": {"low": 5}"#,
        ),
        &[
            "~ provider m/default/0 (http://a): path, stream_path, extra_body, passthrough, reasoning_budgets, expose_reasoning, betas",
        ],
    );
    // What is only its default is no change.
    target(
        &claude(r#", "default_max_tokens": 4096, "image_urls": "forward""#),
        &claude(r#", "reasoning_budgets": {}"#),
        &["~ provider m/default/0 (http://a): image_urls"],
    );
    let signed = |key: &str, service: &str| {
        format!(
            r#"{{"kind": "bedrock", "aws": {{"region": "eu-west-1", "access_key_id": "sk-i", "secret_access_key": "{key}", "service": "{service}"}}}}"#
        )
    };
    let url = "https://bedrock-runtime.eu-west-1.amazonaws.com";
    for (old, new) in [
        (signed("sk-1", "bedrock"), signed("sk-2", "bedrock")),
        (signed("sk-1", "bedrock"), signed("sk-1", "other")),
    ] {
        let line = format!("~ provider m/default/0 ({url}): aws");
        target(&old, &new, &[&line]);
    }
}

#[test]
fn shared_providers() {
    let file = |provider: &str, first: &str| {
        format!(
            r#"{{"providers": {{"one": {provider}, "two": {{"url": "http://b"}}}},
                "targets": {{"m": {{"providers": [{first}, {{"provider": "one", "onwards_model": "y"}}]}}, "n": {{"url": "http://c"}}}}}}"#
        )
    };
    let reference = r#"{"provider": "one", "onwards_model": "x"}"#;
    check(
        &file(r#"{"url": "http://a", "onwards_key": "sk-1"}"#, reference),
        &file(r#"{"url": "http://a", "onwards_key": "sk-2"}"#, reference),
        &[
            "~ alias m",
            "~ provider m/default/one (x): onwards_key",
            "~ provider m/default/one (y): onwards_key",
        ],
    );
    check(
        &file(r#"{"url": "http://a"}"#, reference),
        &file(r#"{"url": "http://a"}"#, r#"{"provider": "two"}"#),
        &[
            "~ alias m",
            "- provider m/default/one (x)",
            "+ provider m/default/two",
        ],
    );
    // Nobody refers to it.
    let unused =
        |url: &str| format!(r#"{{"providers": {{"one": {{"url": "{url}"}}}}, "targets": {{}}}}"#);
    check(&unused("http://a"), &unused("http://b"), &[]);
}

#[test]
fn a_summary_is_bounded() {
    let file = |aliases: std::ops::Range<u32>| {
        let aliases: Vec<String> = aliases
            .map(|at| format!(r#""a{at}": {{"url": "http://a"}}"#))
            .collect();
        gateway(&format!(r#"{{"targets": {{{}}}}}"#, aliases.join(", ")))
    };
    let changes = compare(&file(0..5), &file(1..9));
    assert_eq!(
        changes.summary(Part::Alias, 9).as_deref(),
        Some("-a0 +a5 +a6 +a7 +a8")
    );
    assert_eq!(
        changes.summary(Part::Alias, 2).as_deref(),
        Some("-a0 +a5 and 3 more")
    );
    assert_eq!(changes.summary(Part::Pool, 9), None);
}
