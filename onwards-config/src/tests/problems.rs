//! Bad files and everything that is said about them.

use expect_test::{Expect, expect};

use super::read;
use crate::{BrokenRule, ReasoningTranslation, Surroundings};

#[track_caller]
fn check(text: &str, expect: Expect) {
    let found = match read(text) {
        Ok(loaded) => loaded
            .warnings
            .iter()
            .map(|warning| format!("warning: {warning}\n"))
            .collect::<String>(),
        Err(problems) => format!("{problems}\n"),
    };
    expect.assert_eq(&found);
}

/// The members of one target.
#[track_caller]
fn check_target(members: &str, expect: Expect) {
    check(&format!(r#"{{ "targets": {{ "m": {members} }} }}"#), expect);
}

#[test]
fn not_json() {
    check(
        "",
        expect![[r#"
            configuration (line 1, column 1): found a syntax error (EOF while parsing a value); expected a JSON object
        "#]],
    );
    check(
        "{\n  \"targets\": {,}\n}",
        expect![[r#"
        configuration (line 2, column 15): found a syntax error (key must be a string); expected a JSON object
    "#]],
    );
    check(
        "\u{feff}{}",
        expect![[r#"
        configuration (line 1, column 1): found a byte order mark; expected JSON in UTF-8 without a byte order mark
    "#]],
    );
    check(
        "{ \"targets\": {} } x",
        expect![[r#"
        configuration (line 1, column 19): found a syntax error (trailing characters); expected a JSON object
    "#]],
    );
    check(
        "[1]",
        expect![[r#"
            configuration (line 1, column 1): found an array; expected an object (the configuration)
        "#]],
    );
    check(
        &"[".repeat(200),
        expect![[r#"
        configuration (line 1, column 128): found a syntax error (recursion limit exceeded); expected a JSON object
    "#]],
    );
    check(
        r#"{ "targets": 1e999 }"#,
        expect![[r#"
        configuration (line 1, column 18): found a syntax error (number out of range); expected a JSON object
    "#]],
    );
    let problems = crate::read(b"{\n \"t\": \"\xff\" }", &()).unwrap_err();
    expect!["configuration (line 2, column 8): found bytes that are not UTF-8; expected JSON in UTF-8 without a byte order mark"].assert_eq(&problems.to_string());
}

#[test]
fn top_level() {
    check(
        "{}",
        expect![[r#"
        targets (line 1, column 1): found nothing; expected an object of aliases
    "#]],
    );
    check(
        r#"{ "targts": {} }"#,
        expect![[r#"
        targets (line 1, column 1): found nothing; expected an object of aliases; is `targts` misspelt?
        warning: targts (line 1, column 13): found an unknown member; expected a member of the configuration; it is ignored; did you mean `targets`?
    "#]],
    );
    check(
        r#"{ "targets": {}, "strict-mode": true, "http_pool": { "max_idle_per_host": -1 }, "rejected_params": ["n", 5] }"#,
        expect![[r#"
            warning: strict-mode (line 1, column 33): found an unknown member; expected a member of the configuration; it is ignored; did you mean `strict_mode`?
            http_pool.max_idle_per_host (line 1, column 75): found -1; expected an integer from 0 to 4294967295
            rejected_params[1] (line 1, column 106): found 5; expected a string
        "#]],
    );
    check(
        r#"{ "targets": {}, "strict_mode": "yes", "auth": [], "http_pool": 3 }"#,
        expect![[r#"
            strict_mode (line 1, column 33): found "yes"; expected true or false
            auth (line 1, column 48): found an array; expected an object
            http_pool (line 1, column 65): found a number; expected an object
        "#]],
    );
}

#[test]
fn dispatched_traffic() {
    check(
        r#"{ "targets": {}, "exempt_header": "x batch", "first_token_timeout_ms": 3600001 }"#,
        expect![[r#"
            exempt_header (line 1, column 35): found "x batch"; expected a header name (letters, digits and !#$%&'*+-.^_`|~)
            first_token_timeout_ms (line 1, column 72): found 3600001; expected an integer from 0 to 3600000
        "#]],
    );
    check(
        r#"{ "targets": {}, "exempt_header": true, "first_token_timeout_ms": -1 }"#,
        expect![[r#"
            exempt_header (line 1, column 35): found true; expected a header name
            first_token_timeout_ms (line 1, column 67): found -1; expected an integer from 0 to 3600000
        "#]],
    );
    check(
        r#"{ "targets": {}, "exempt_header": "Transfer-Encoding" }"#,
        expect![[r#"
            exempt_header (line 1, column 35): found "Transfer-Encoding"; expected a header that does not frame the message or belong to the connection
        "#]],
    );
    check(
        r#"{ "targets": {}, "exempt_header": "Authorization" }"#,
        expect![[r#"
            exempt_header (line 1, column 35): found "Authorization"; expected a header without a meaning of its own
        "#]],
    );
    for name in [
        "cookie",
        "content-type",
        "Content-Length",
        "HOST",
        "connection",
        "Model-Override",
        "x-session-id",
        "x-api-key",
        "User-Agent",
        "",
    ] {
        let text = format!(r#"{{ "targets": {{}}, "exempt_header": "{name}" }}"#);
        assert_eq!(read(&text).unwrap_err().0.len(), 1, "{text}");
    }
    check_target(
        r#"{ "providers": [], "exempt_header": "x-batch", "first_token_timeout_ms": 5, "fallback": { "on_rejected_prompt": 1 } }"#,
        expect![[r#"
            warning: targets.m.exempt_header (line 1, column 57): found an unknown member; expected a member of a pool; it is ignored; it belongs at the top of the file
            warning: targets.m.first_token_timeout_ms (line 1, column 94): found an unknown member; expected a member of a pool; it is ignored; it belongs in `fallback`, or at the top of the file
            targets.m.fallback.on_rejected_prompt (line 1, column 133): found 1; expected true or false
        "#]],
    );
    check(
        r#"{ "targets": {}, "auth": { "key_definitions": { "a": { "key": "k", "labels": { "account": "__batch__", "other": "__batch__" } } } } }"#,
        expect![[r#"
            auth.key_definitions.a.labels.account (line 1, column 91): found "__batch__"; expected another account; dispatched requests are counted under this name
        "#]],
    );
}

#[test]
fn proxies() {
    check(
        r#"{ "targets": {}, "proxy": { "from_environment": true, "http": "http://p" } }"#,
        expect![[r#"
            proxy.from_environment (line 1, column 49): found true beside other members; expected either it or `http`, `https`, `no_proxy`
        "#]],
    );
    check(
        r#"{ "targets": {}, "proxy": { "http": "socks5://p", "https": "http://user:pass@p/path" } }"#,
        expect![[r#"
            proxy.http (line 1, column 37): found another text; expected an absolute http:// or https:// URL
            proxy.https (line 1, column 60): found another text; expected a proxy URL without path, query and fragment
        "#]],
    );
    check(
        r#"{ "targets": {}, "proxy": { "http": "${NOPE}", "no_proxy": ["a"] } }"#,
        expect![[r#"
            proxy.http (line 1, column 37): found ${NOPE}; expected the variable NOPE to be set
            proxy.no_proxy (line 1, column 60): found an array; expected a string
        "#]],
    );
}

#[test]
fn keys() {
    check(
        r#"{ "targets": { "m": { "url": "http://h", "keys": ["b", "", 7, "${NOPE}", "${EMPTY}", "${file:/keys/locked}", "${file:/none}", "${NOT CLOSED", "${GLOBAL}x", "${a b}", "${file:}"] } },
             "auth": { "key_definitions": { "a": { "key": "b" }, "b": { "key": "c" }, "c2": { "key": "c" }, "d": {}, "e": { "key": 5, "labels": { "account": 1 } } } } }"#,
        expect![[r#"
            targets.m.keys[0] (line 1, column 51): found a text that is the name of one definition and the key of another; expected a text with one meaning
            targets.m.keys[1] (line 1, column 56): found an empty text; expected a key: a string that is not empty
            targets.m.keys[2] (line 1, column 60): found a number; expected a key: a string
            targets.m.keys[3] (line 1, column 63): found ${NOPE}; expected the variable NOPE to be set
            targets.m.keys[4] (line 1, column 74): found an empty text; expected a key: a string that is not empty
            targets.m.keys[5] (line 1, column 86): found ${file:/keys/locked}; expected a file that can be read (permission denied)
            targets.m.keys[6] (line 1, column 110): found ${file:/none}; expected a file that can be read (entity not found)
            targets.m.keys[7] (line 1, column 127): found a reference without a closing brace; expected ${NAME} or ${file:PATH} as the whole value
            targets.m.keys[8] (line 1, column 143): found a reference with text behind it; expected ${NAME} or ${file:PATH} as the whole value
            targets.m.keys[9] (line 1, column 157): found a reference to an impossible variable name; expected ${NAME} or ${file:PATH} as the whole value
            targets.m.keys[10] (line 1, column 167): found a reference to a file without a path; expected ${NAME} or ${file:PATH} as the whole value
            auth.key_definitions.c2.key (line 2, column 102): found the key of `b`; expected a key of its own
            auth.key_definitions.d.key (line 2, column 114): found nothing; expected the token callers send
            auth.key_definitions.e.key (line 2, column 132): found a number; expected the token callers send: a string
            auth.key_definitions.e.labels.account (line 2, column 158): found 1; expected a string
        "#]],
    );
    check(
        r#"{ "targets": {}, "auth": { "global_keys": ["a"], "key_definitions": { "a": { "key": "b" }, "b": { "key": "a" } } } }"#,
        expect![[r#"
            auth.global_keys[0] (line 1, column 44): found a text that is the name of one definition and the key of another; expected a text with one meaning
        "#]],
    );
    check(
        r#"{ "targets": {}, "auth": { "global_keys": ["a"], "key_definitions": { "a": { "key": "a" } } } }"#,
        expect![],
    );
}

#[test]
fn urls() {
    check(
        r#"{ "targets": {
            "1": { "url": "api.example.com" }, "2": { "url": "ftp://h" }, "3": { "url": "http://" }, "4": { "url": "http://user:pass@h" },
            "5": { "url": "http://h#frag" }, "6": { "url": "http://h:0" }, "7": { "url": "http://h:99999" }, "8": { "url": "http://10.0.0.256" },
            "9": { "url": "http://[::1" }, "10": { "url": "http://h/a b" }, "11": { "url": "http://h/../x" }, "12": { "url": "http://h/%2e%2E/x" },
            "13": { "url": "http://h/%zz" }, "14": { "url": "http://bücher.example" }, "15": { "url": 5 }, "16": { "url": "builtin:ecko" },
            "17": { "url": "http://h?api_key=secret" }, "18": { "url": "http://h:80:80" }, "19": { "url": " http://h" }
        } }"#,
        expect![[r#"
            targets.1.url (line 2, column 27): found "api.example.com"; expected an absolute http:// or https:// URL
            targets.2.url (line 2, column 62): found "ftp://h"; expected an absolute http:// or https:// URL
            targets.3.url (line 2, column 89): found "http://"; expected a host behind the scheme
            targets.4.url (line 2, column 116): found "http://***@h"; expected a URL without user information (`user@`); the key belongs in `onwards_key`
            targets.5.url (line 3, column 27): found "http://h#frag"; expected a URL without a fragment (`#…`)
            targets.6.url (line 3, column 60): found "http://h:0"; expected a port from 1 to 65535 behind the host
            targets.7.url (line 3, column 90): found "http://h:99999"; expected a port from 1 to 65535 behind the host
            targets.8.url (line 3, column 124): found "http://10.0.0.256"; expected a complete IPv4 address (four numbers from 0 to 255) or a host name
            targets.9.url (line 4, column 27): found "http://[::1"; expected a closing bracket behind the IPv6 address
            targets.10.url (line 4, column 59): found "http://h/a b"; expected a path of URL characters, others percent-encoded
            targets.11.url (line 4, column 92): found "http://h/../x"; expected a path without `.` and `..` segments
            targets.12.url (line 4, column 126): found "http://h/%2e%2E/x"; expected a path without `.` and `..` segments
            targets.13.url (line 5, column 28): found "http://h/%zz"; expected two hexadecimal digits behind each `%` of the path
            targets.14.url (line 5, column 61): found "http://bücher.example"; expected a host of letters, digits, `-`, `_` and dots (international names in their xn-- form)
            targets.15.url (line 5, column 103): found 5; expected an absolute http:// or https:// URL
            targets.16.url (line 5, column 123): found "builtin:ecko"; expected an absolute http:// or https:// URL
            warning: targets.17.url (line 6, column 28): found a query; expected a URL without one; it is dropped
            targets.18.url (line 6, column 72): found "http://h:80:80"; expected a port from 1 to 65535 behind the host
            targets.19.url (line 6, column 107): found " http://h"; expected an absolute http:// or https:// URL
        "#]],
    );
}

#[test]
fn forms_of_targets() {
    check_target(
        "5",
        expect![[r#"
            targets.m (line 1, column 21): found a number; expected an object (a provider, a pool or named pools) or an array of providers
        "#]],
    );
    check_target(
        "{}",
        expect![[r#"
        targets.m.url (line 1, column 21): found nothing; expected an absolute http:// or https:// URL (or `providers`, or `pools`)
    "#]],
    );
    check_target(
        r#"{ "provider": [] }"#,
        expect![[r#"
        targets.m.providers (line 1, column 21): found nothing; expected an array of providers; is `provider` misspelt?
        warning: targets.m.provider (line 1, column 35): found an unknown member; expected a member of a pool; it is ignored; did you mean `providers`?
    "#]],
    );
    check_target(
        r#"{ "pool": {} }"#,
        expect![[r#"
        targets.m.pools (line 1, column 21): found nothing; expected an object with the pool `default`; is `pool` misspelt?
        warning: targets.m.pool (line 1, column 31): found an unknown member; expected a member of a target with `pools`; it is ignored; did you mean `pools`?
    "#]],
    );
    check_target(
        r#"{ "pools": { "completions": { "providers": [] } } }"#,
        expect![[r#"
            targets.m.pools.default (line 1, column 32): found nothing; expected a pool
        "#]],
    );
    check_target(
        r#"{ "keys": ["a"], "pools": { "default": { "providers": [] }, "batch": {} } }"#,
        expect![[r#"
            warning: targets.m.keys (line 1, column 31): found an unknown member; expected a member of a target with `pools`; it is ignored; it belongs in the pools, beside `providers`
            targets.m.pools.batch (line 1, column 90): found an unknown member; expected one of `default`, `completions`
        "#]],
    );
    check_target(
        r#"{ "url": "http://h", "providers": [] }"#,
        expect![[r#"
        warning: targets.m.url (line 1, column 30): found an unknown member; expected a member of a pool; it is ignored; it belongs in the entries of `providers`
    "#]],
    );
    check_target(
        r#"[{ "url": "http://a", "trusted": true }, { "url": "http://b" }, { "trusted": true, "fallback": {} }]"#,
        expect![[r#"
            targets.m[1].trusted (line 1, column 62): found false; expected the same as in the first entry of the list
            targets.m[2].url (line 1, column 85): found nothing; expected an absolute http:// or https:// URL (or `providers`, or `pools`)
            warning: targets.m[2].fallback (line 1, column 116): found `fallback`; expected a pool with `providers` to use it; it is ignored in a list
        "#]],
    );
    check_target("[]", expect![]);
}

#[test]
fn members_of_providers_and_pools() {
    check_target(
        r#"{
            "propagate_trace_context": true, "strategy": "priorty", "trusted": "no", "inflight_limit": -1, "account_inflight_limits": { "a": 1.5 },
            "providers": [
                { "url": "http://h", "weight": 0, "keys": ["sk-x"], "onwards_keey": "x", "connect_timeout_ms": 0, "request_timeout_secs": 0 },
                { "url": "http://h", "name": "a b", "weight": -1, "rate_limit": { "requests_per_second": 0, "burst_size": 0 } },
                { "url": "http://h", "name": "x", "rate_limit": { "burst_size": 4294967296 }, "concurrency_limit": { "max_concurrent_requests": 0 } },
                { "url": "http://h", "name": "x", "rate_limit": 5, "concurrency_limit": {} }
            ]
        }"#,
        expect![[r#"
            warning: targets.m.propagate_trace_context (line 2, column 40): found an unknown member; expected a member of a pool; it is ignored; it belongs in the entries of `providers`
            targets.m.strategy (line 2, column 58): found "priorty"; expected `weighted_random` or `priority`; did you mean `priority`?
            targets.m.trusted (line 2, column 80): found "no"; expected true or false
            targets.m.inflight_limit (line 2, column 104): found -1; expected an integer from 0 to 4294967295
            targets.m.account_inflight_limits.a (line 2, column 142): found 1.5; expected an integer from 0 to 4294967295
            targets.m.providers[0].weight (line 4, column 48): found 0; expected an integer from 1 to 4294967295; a provider of weight 0 could never be chosen: leave it out, or use `priority` for a spare one
            warning: targets.m.providers[0].keys (line 4, column 59): found an unknown member; expected a member of a provider; it is ignored; it belongs beside `providers`
            warning: targets.m.providers[0].onwards_keey (line 4, column 85): found an unknown member; expected a member of a provider; it is ignored; did you mean `onwards_key`?
            targets.m.providers[0].connect_timeout_ms (line 4, column 112): found 0; expected an integer of at least 1
            targets.m.providers[0].request_timeout_secs (line 4, column 139): found 0; expected an integer of at least 1
            targets.m.providers[1].name (line 5, column 46): found "a b"; expected 1 to 64 letters, digits, `_`, `.` or `-`
            targets.m.providers[1].weight (line 5, column 63): found -1; expected an integer from 1 to 4294967295
            targets.m.providers[1].rate_limit.requests_per_second (line 5, column 106): found 0; expected a number above 0
            targets.m.providers[1].rate_limit.burst_size (line 5, column 123): found 0; expected an integer from 1 to 4294967295
            targets.m.providers[2].rate_limit.requests_per_second (line 6, column 65): found nothing; expected a number above 0
            targets.m.providers[2].rate_limit.burst_size (line 6, column 81): found 4294967296; expected an integer from 1 to 4294967295
            warning: targets.m.providers[2].concurrency_limit.max_concurrent_requests (line 6, column 145): found 0; expected at least 1; this refuses every request
            targets.m.providers[3].name (line 7, column 46): found "x"; expected a name no other provider of the pool has
            targets.m.providers[3].rate_limit (line 7, column 65): found a number; expected an object
            targets.m.providers[3].concurrency_limit.max_concurrent_requests (line 7, column 89): found nothing; expected an integer from 0 to 4294967295
        "#]],
    );
}

#[test]
fn headers() {
    check_target(
        r#"{ "url": "http://h", "upstream_auth_header_name": "X Key", "upstream_auth_header_prefix": "Bearer\n", "onwards_key": "${file:/keys/two-lines}",
             "response_headers": { "X-A": "1", "x-a": "2", "bad name": "1", "X-B": "a\nb", "Content-Length": "5", "X-C": 1 } }"#,
        expect![[r#"
            targets.m.upstream_auth_header_name (line 1, column 71): found "X Key"; expected a header name (letters, digits and !#$%&'*+-.^_`|~)
            targets.m.upstream_auth_header_prefix (line 1, column 111): found characters a header cannot hold; expected text without control characters
            targets.m.onwards_key (line 1, column 138): found characters a header cannot hold; expected text without control characters
            warning: targets.m.response_headers.x-a (line 2, column 55): found a header already set; expected each header once, whatever its case; the last one counts
            targets.m.response_headers["bad name"] (line 2, column 72): found "bad name"; expected a header name (letters, digits and !#$%&'*+-.^_`|~)
            targets.m.response_headers.X-B (line 2, column 84): found "a\nb"; expected text without control characters
            targets.m.response_headers.Content-Length (line 2, column 110): found "Content-Length"; expected a header that does not frame the message or belong to the connection
            targets.m.response_headers.X-C (line 2, column 122): found 1; expected a string
        "#]],
    );
    check_target(
        r#"{ "url": "http://h", "upstream_auth_header_name": "X-Forwarded-Proto", "onwards_key": "a" }"#,
        expect![[r#"
            targets.m.upstream_auth_header_name (line 1, column 71): found "X-Forwarded-Proto"; expected a header without a meaning of its own
        "#]],
    );
    check_target(
        r#"{ "url": "http://h", "upstream_auth_header_name": "Host", "onwards_key": "a\u007f" }"#,
        expect![[r#"
            targets.m.upstream_auth_header_name (line 1, column 71): found "Host"; expected a header that does not frame the message or belong to the connection
            targets.m.onwards_key (line 1, column 94): found characters a header cannot hold; expected text without control characters
        "#]],
    );
}

#[test]
fn fallback() {
    check_target(
        r#"{ "providers": [], "fallback": { "enabled": "yes", "on_status": ["5xx", 0, 600, 5.5], "realtime_on_status": 529, "max_attempts": 0,
             "backoff": { "factor": 0, "jitter": "equal" }, "on_statuses": [5] } }"#,
        expect![[r#"
            targets.m.fallback.enabled (line 1, column 65): found "yes"; expected true or false
            targets.m.fallback.on_status[0] (line 1, column 86): found "5xx"; expected an integer from 1 to 599
            targets.m.fallback.on_status[1] (line 1, column 93): found 0; expected an integer from 1 to 599
            targets.m.fallback.on_status[2] (line 1, column 96): found 600; expected an integer from 1 to 599
            targets.m.fallback.on_status[3] (line 1, column 101): found 5.5; expected an integer from 1 to 599
            targets.m.fallback.realtime_on_status (line 1, column 129): found a number; expected an array of statuses
            targets.m.fallback.max_attempts (line 1, column 150): found 0; expected an integer from 1 to 4294967295
            targets.m.fallback.backoff.initial_ms (line 2, column 25): found nothing; expected an integer of at least 0
            targets.m.fallback.backoff.factor (line 2, column 37): found 0; expected a number above 0
            targets.m.fallback.backoff.jitter (line 2, column 50): found "equal"; expected `none` or `full`
            warning: targets.m.fallback.on_statuses (line 2, column 76): found an unknown member; expected a member of `fallback`; it is ignored; did you mean `on_status`?
        "#]],
    );
    check_target(
        r#"{ "providers": [], "strategy": "priority", "fallback": { "enabled": true, "with_replacement": true } }"#,
        expect![[r#"
            warning: targets.m.fallback.with_replacement (line 1, column 115): found true; expected `weighted_random`; it has no effect under `priority`
        "#]],
    );
}

/// The members of `fallback` in a pool under `priority`.
#[track_caller]
fn check_aimd(fallback: &str, expect: Expect) {
    let pool =
        format!(r#"{{ "providers": [], "strategy": "priority", "fallback": {{ {fallback} }} }}"#);
    check_target(&pool, expect);
}

#[test]
fn load_aware_share() {
    check_aimd(
        r#""enabled": true, "aimd": {}"#,
        expect![[r#"
        targets.m.fallback.first_token_timeout_ms (line 1, column 76): found nothing; expected 0, or from the latency budget (10000) to 3600000, beside an enabled `aimd`
    "#]],
    );
    check_aimd(
        r#""enabled": false, "first_token_timeout_ms": 10000, "aimd": {}"#,
        expect![[r#"
            targets.m.fallback.aimd (line 1, column 137): found an enabled `aimd`; expected `fallback.enabled` to be true beside it
        "#]],
    );
    check_aimd(
        r#""enabled": true, "first_token_timeout_ms": 9999, "aimd": {}"#,
        expect![[r#"
            targets.m.fallback.first_token_timeout_ms (line 1, column 121): found 9999; expected 0, or from the latency budget (10000) to 3600000, beside an enabled `aimd`
        "#]],
    );
    check_aimd(
        r#""enabled": true, "first_token_timeout_ms": 3600001, "aimd": {}"#,
        expect![[r#"
            targets.m.fallback.first_token_timeout_ms (line 1, column 121): found 3600001; expected 0, or from the latency budget (10000) to 3600000, beside an enabled `aimd`
        "#]],
    );
    check_aimd(
        r#""enabled": true, "first_token_timeout_ms": 10000, "aimd": {}"#,
        expect![""],
    );
}

#[test]
fn bounds_of_the_load_aware_share() {
    check_aimd(
        r#""enabled": true, "first_token_timeout_ms": 0, "aimd": { "latency_budget": 1 }"#,
        expect![[r#"
            targets.m.fallback.aimd.latency_budget (line 1, column 152): found an unknown member; expected one of `enabled`, `latency_budget_ms`, `breach_rate_target`, `recovery_breach_rate`, `window_samples`, `min_samples`, `share_step`, `share_decay`, `share_floor`, `dwell_ms`, `idle_recovery_ms`, `overload_statuses`; did you mean `latency_budget_ms`?
        "#]],
    );
    check_aimd(
        r#""enabled": true, "first_token_timeout_ms": 0, "aimd": { "window_samples": 10, "recovery_breach_rate": 0.2 }"#,
        expect![[r#"
            targets.m.fallback.aimd.min_samples (line 1, column 132): found 20; expected at most `window_samples` (10)
            targets.m.fallback.aimd.recovery_breach_rate (line 1, column 180): found 0.2; expected at most `breach_rate_target` (0.1)
        "#]],
    );
    check_aimd(
        r#""enabled": true, "first_token_timeout_ms": 0, "aimd": { "latency_budget_ms": 0, "breach_rate_target": 1, "recovery_breach_rate": -0.1,
           "window_samples": 100001, "min_samples": 1, "share_step": 0, "share_decay": 1, "share_floor": 1.1, "dwell_ms": 0, "idle_recovery_ms": 86400001,
           "overload_statuses": [399] }"#,
        expect![[r#"
            targets.m.fallback.aimd.latency_budget_ms (line 1, column 155): found 0; expected an integer from 1 to 3600000
            targets.m.fallback.aimd.breach_rate_target (line 1, column 180): found 1; expected a number from 0 to below 1
            targets.m.fallback.aimd.recovery_breach_rate (line 1, column 207): found -0.1; expected a number from 0 to below 1
            targets.m.fallback.aimd.window_samples (line 2, column 30): found 100001; expected an integer from 2 to 100000
            targets.m.fallback.aimd.min_samples (line 2, column 53): found 1; expected an integer from 2 to 100000
            targets.m.fallback.aimd.share_step (line 2, column 70): found 0; expected a number above 0, at most 1
            targets.m.fallback.aimd.share_decay (line 2, column 88): found 1; expected a number above 0 and below 1
            targets.m.fallback.aimd.share_floor (line 2, column 106): found 1.1; expected a number above 0, at most 1
            targets.m.fallback.aimd.dwell_ms (line 2, column 123): found 0; expected an integer from 1 to 86400000
            targets.m.fallback.aimd.idle_recovery_ms (line 2, column 146): found 86400001; expected an integer from 0 to 86400000
            targets.m.fallback.aimd.overload_statuses[0] (line 3, column 34): found 399; expected an integer from 400 to 599
        "#]],
    );
    let many: Vec<_> = (400..433).map(|status| status.to_string()).collect();
    check_aimd(
        &format!(
            r#""enabled": true, "first_token_timeout_ms": 0, "aimd": {{ "overload_statuses": [{}] }}"#,
            many.join(",")
        ),
        expect![[r#"
            targets.m.fallback.aimd.overload_statuses (line 1, column 155): found 33 statuses; expected at most 32 statuses
        "#]],
    );
}

#[test]
fn places_of_the_load_aware_share() {
    check_target(
        r#"{ "providers": [], "fallback": { "enabled": true, "first_token_timeout_ms": 0, "aimd": {} } }"#,
        expect![[r#"
            targets.m.fallback.aimd (line 1, column 108): found an enabled `aimd`; expected the strategy `priority`
        "#]],
    );
    check_target(
        r#"{ "pools": { "default": { "providers": [] }, "completions": { "providers": [], "strategy": "priority", "fallback": { "enabled": true, "first_token_timeout_ms": 0, "aimd": {} } } } }"#,
        expect![[r#"
            warning: targets.m.pools.completions.fallback.aimd (line 1, column 192): found `aimd`; expected it in the pool `default`; the share never runs in this pool
        "#]],
    );
}

#[test]
fn affinity() {
    let check_affinity = |affinity: &str, expect: Expect| {
        check_target(
            &format!(
                r#"{{ "providers": [], "strategy": "priority", "fallback": {{ "enabled": true, "affinity": {affinity} }} }}"#
            ),
            expect,
        );
    };
    check_affinity(
        "{}",
        expect![[r#"
        targets.m.fallback.affinity.target_conversations (line 1, column 107): found nothing; expected an integer from 1 to 1000000
    "#]],
    );
    check_affinity(
        r#"{ "target_conversations": 0, "target": 5 }"#,
        expect![[r#"
            targets.m.fallback.affinity.target_conversations (line 1, column 133): found 0; expected an integer from 1 to 1000000
            targets.m.fallback.affinity.target (line 1, column 146): found an unknown member; expected one of `enabled`, `target_conversations`, `margin`, `active_window_ms`, `update_interval_ms`, `max_tracked`
        "#]],
    );
    check_affinity(
        r#"{ "target_conversations": 10, "margin": 11, "active_window_ms": 1000, "update_interval_ms": 1001, "max_tracked": 20 }"#,
        expect![[r#"
            targets.m.fallback.affinity.margin (line 1, column 147): found 11; expected at most `target_conversations` (10)
            targets.m.fallback.affinity.update_interval_ms (line 1, column 199): found 1001; expected at most `active_window_ms` (1000)
            targets.m.fallback.affinity.max_tracked (line 1, column 220): found 20; expected at least target plus margin (21)
        "#]],
    );
    check_affinity(
        r#"{ "target_conversations": 10, "active_window_ms": 999, "max_tracked": 10000001 }"#,
        expect![[r#"
            targets.m.fallback.affinity.active_window_ms (line 1, column 157): found 999; expected an integer from 1000 to 86400000
            targets.m.fallback.affinity.max_tracked (line 1, column 177): found 10000001; expected an integer from 1 to 10000000
        "#]],
    );
    check_target(
        r#"{ "url": "http://h", "fallback": { "affinity": { "target_conversations": 5 } } }"#,
        expect![[r#"
            warning: targets.m.fallback.affinity (line 1, column 68): found `affinity`; expected fallback enabled, the strategy `priority` and the default pool of a target; it has no effect
        "#]],
    );
}

#[test]
fn routing_rules() {
    check_target(
        r#"{ "url": "http://h", "routing_rules": [
            {}, { "match_labels": { "a": 1 }, "action": { "type": "allow" } }, { "match_labels": {}, "action": { "type": "redirect" } },
            { "match_labels": {}, "action": { "type": "redirect", "target": "n" } }, { "match_labels": {}, "action": { "type": "deny", "target": "m" } }, 7 ] }"#,
        expect![[r#"
            targets.m.routing_rules[0].match_labels (line 2, column 13): found nothing; expected an object of strings
            targets.m.routing_rules[0].action (line 2, column 13): found nothing; expected an object with `type`
            targets.m.routing_rules[1].match_labels.a (line 2, column 42): found 1; expected a string
            targets.m.routing_rules[1].action.type (line 2, column 67): found "allow"; expected `deny` or `redirect`
            targets.m.routing_rules[2].action.target (line 2, column 112): found nothing; expected an alias
            targets.m.routing_rules[3].action.target (line 3, column 77): found "n"; expected an alias of `targets`
            warning: targets.m.routing_rules[4].action.target (line 3, column 146): found an unknown member; expected a member of `action`; it is ignored
            targets.m.routing_rules[5] (line 3, column 155): found a number; expected an object (a routing rule)
        "#]],
    );
}

#[test]
fn reasoning_shapes() {
    check_target(
        r#"{ "url": "http://h", "reasoning_translation": { "chat": {}, "chat_completions": { "writes": [{ "values": [] }, 5] },
             "responses": { "unsupported_efforts": "none", "writes": {} } } }"#,
        expect![[r#"
            warning: targets.m.reasoning_translation.chat (line 1, column 77): found an unknown member; expected a member of `reasoning_translation`; it is ignored
            targets.m.reasoning_translation.chat_completions.unsupported_efforts (line 1, column 101): found nothing; expected an array of efforts
            targets.m.reasoning_translation.chat_completions.writes[0].target_path (line 1, column 114): found nothing; expected a JSON pointer
            targets.m.reasoning_translation.chat_completions.writes[0].values (line 1, column 126): found an array; expected an object of efforts
            targets.m.reasoning_translation.chat_completions.writes[1] (line 1, column 132): found a number; expected an object
            targets.m.reasoning_translation.responses.unsupported_efforts (line 2, column 52): found a string; expected an array of efforts
            targets.m.reasoning_translation.responses.writes (line 2, column 70): found an object; expected an array of writes
        "#]],
    );
}

/// Surroundings with rules of their own.
struct Picky;

impl Surroundings for Picky {
    fn env(&self, _: &str) -> Option<String> {
        None
    }

    fn file(&self, _: &str) -> std::io::Result<String> {
        Err(std::io::ErrorKind::NotFound.into())
    }

    fn translation_problems(&self, translation: &ReasoningTranslation) -> Vec<BrokenRule> {
        let given = [
            ("chat_completions", &translation.chat_completions),
            ("responses", &translation.responses),
        ];
        let mut found = String::new();
        let mut paths = vec![String::new()];
        for (name, surface) in given {
            if let Some(surface) = surface {
                found = format!("{found}{name} ");
                paths.push(format!("{name}.writes[1].target_path"));
                paths.extend(
                    surface
                        .writes
                        .iter()
                        .flat_map(|write| write.values.keys())
                        .map(|effort| format!("{name}.writes[0].values.{effort}")),
                );
                paths.push(format!("{name}.unsupported_efforts[0].nowhere"));
            }
        }
        let broken = |path| BrokenRule {
            path,
            found: found.trim().to_owned(),
            expected: "less".to_owned(),
        };
        paths.into_iter().map(broken).collect()
    }

    fn knows_parameter(&self, name: &str) -> bool {
        name == "n"
    }
}

#[track_caller]
fn check_picky(text: &str, expect: Expect) {
    let problems = crate::read(text.as_bytes(), &Picky).unwrap_err();
    expect.assert_eq(&format!("{problems}\n"));
}

#[test]
fn rules_of_the_surroundings_are_told_with_their_places() {
    check_picky(
        r#"{ "rejected_params": ["n", "m"], "targets": { "a": { "url": "nope" }, "b": { "url": "http://h", "reasoning_translation": {
             "chat_completions": { "unsupported_efforts": ["low"], "writes": [
                { "target_path": "/a", "values": { "high": 1, "a.b[0].c": 2, "a": 3, "a.b": 4 } },
                { "target_path": "/b", "values": {} }] } } } } }"#,
        expect![[r#"
            rejected_params[1] (line 1, column 28): found "m"; expected a parameter of the catalog of those that not every provider can honour
            targets.a.url (line 1, column 61): found "nope"; expected an absolute http:// or https:// URL
            targets.b.reasoning_translation (line 1, column 122): found chat_completions; expected less
            targets.b.reasoning_translation.chat_completions.unsupported_efforts[0] (line 2, column 60): found chat_completions; expected less
            targets.b.reasoning_translation.chat_completions.writes[0].values.high (line 3, column 60): found chat_completions; expected less
            targets.b.reasoning_translation.chat_completions.writes[0].values["a.b[0].c"] (line 3, column 75): found chat_completions; expected less
            targets.b.reasoning_translation.chat_completions.writes[0].values.a (line 3, column 83): found chat_completions; expected less
            targets.b.reasoning_translation.chat_completions.writes[0].values["a.b"] (line 3, column 93): found chat_completions; expected less
            targets.b.reasoning_translation.chat_completions.writes[1].target_path (line 4, column 34): found chat_completions; expected less
        "#]],
    );
}

#[test]
fn rules_are_checked_for_surfaces_of_the_right_shape() {
    let check_surfaces = |surfaces: &str, expect| {
        check_picky(
            &format!(
                r#"{{ "targets": {{ "m": {{ "url": "http://h", "reasoning_translation": {surfaces} }} }} }}"#
            ),
            expect,
        );
    };
    check_surfaces(
        "{}",
        expect![[r#"
        targets.m.reasoning_translation (line 1, column 67): found ; expected less
    "#]],
    );
    check_surfaces(
        r#"{ "responses": { "writes": [] } }"#,
        expect![[r#"
        targets.m.reasoning_translation.responses.unsupported_efforts (line 1, column 82): found nothing; expected an array of efforts
    "#]],
    );
    check_surfaces(
        r#"{ "responses": { "unsupported_efforts": [], "writes": [5] }, "chat_completions": { "unsupported_efforts": [], "writes": [] } }"#,
        expect![[r#"
            targets.m.reasoning_translation (line 1, column 67): found chat_completions; expected less
            targets.m.reasoning_translation.responses.writes[0] (line 1, column 122): found a number; expected an object
            targets.m.reasoning_translation.chat_completions.unsupported_efforts (line 1, column 173): found chat_completions; expected less
            targets.m.reasoning_translation.chat_completions.writes (line 1, column 187): found chat_completions; expected less
        "#]],
    );
}

#[test]
fn duplicates() {
    check(
        r#"{ "targets": { "m": { "url": "http://a" }, "m": { "url": "http://b", "weight": 1, "weight": 0 } }, "targets": { "n": { "url": "http://c" } }, "strict_mode": false }"#,
        expect![[r#"
            warning: targets (line 1, column 111): found the member more than once; expected it once; the last one counts
        "#]],
    );
}

#[test]
fn a_batch_limit_that_nobody_enforces_has_no_effect() {
    let config = |enforce: &str| {
        format!(
            r#"{{ "targets": {{ "m": {{ "url": "http://a", "batch_inflight_limit": 8 }} }}{enforce} }}"#
        )
    };
    check(
        &config(""),
        expect![[r#"
            warning: targets.m.batch_inflight_limit (line 1, column 66): found 8; expected `batch_inflight_enforce` at the top of the file: without it the limit has no effect
        "#]],
    );
    check(&config(r#", "batch_inflight_enforce": true"#), expect![""]);
}

#[test]
fn a_limit_per_account_wants_accounts() {
    let config = |labels: &str| {
        format!(
            r#"{{ "auth": {{ "key_definitions": {{ "a": {{ "key": "sk-a"{labels} }} }} }},
                "targets": {{ "m": {{ "url": "http://a", "keys": ["a"], "inflight_limit": 8 }} }} }}"#
        )
    };
    check(
        &config(""),
        expect![[r#"
        warning: targets.m.inflight_limit (line 2, column 89): found 8; expected some key definition with the label `account`: requests of keys without one are not counted
    "#]],
    );
    check(&config(r#", "labels": { "account": "x" }"#), expect![""]);
}

#[test]
fn a_name_of_a_key_that_is_misspelt() {
    let config = |key: &str| {
        format!(
            r#"{{ "auth": {{ "key_definitions": {{ "team-a": {{ "key": "sk-a" }} }} }},
                "targets": {{ "m": {{ "url": "http://a", "keys": ["{key}"] }} }} }}"#
        )
    };
    check(
        &config("taem-a"),
        expect![[r#"
        warning: targets.m.keys[0] (line 2, column 65): found no name of a definition, but nearly one; expected a key, or the name `team-a`; as it stands its text is the key
    "#]],
    );
    check(&config("team-a"), expect![""]);
    check(&config("sk-other"), expect![""]);
}

#[test]
fn a_bound_on_all_requests_lets_at_least_one_in() {
    let config =
        |bound: &str| format!(r#"{{ "targets": {{}}, "max_inflight_requests": {bound} }}"#);
    check(&config("1"), expect![""]);
    check(
        &config("0"),
        expect![[r#"
            max_inflight_requests (line 1, column 43): found 0; expected an integer from 1 to 4294967295
        "#]],
    );
    check(
        &config(r#""many""#),
        expect![[r#"
            max_inflight_requests (line 1, column 43): found "many"; expected an integer from 1 to 4294967295
        "#]],
    );
}
