//! Kinds of providers, shared providers, and what surrounds translation.

use std::time::Duration;

use expect_test::{Expect, expect};

use super::read;
use crate::{
    Dialect, Endpoint, ExposeReasoning, ImageUrls, Provider, ProviderKind, ReasoningStyle,
    StructuredOutput,
};

/// Everything that is said about a file.
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

/// The same for shared providers: one line each.
#[track_caller]
fn check_shared(providers: &str, expect: Expect) {
    check(
        &format!("{{ \"targets\": {{}}, \"providers\": {{{providers}}} }}"),
        expect,
    );
}

fn target(members: &str) -> String {
    format!(r#"{{ "targets": {{ "m": {members} }} }}"#)
}

/// The only provider of a target with these members.
#[track_caller]
fn provider(members: &str) -> Provider {
    let loaded = read(&target(&format!("{{ {members} }}"))).unwrap();
    assert_eq!(loaded.warnings, []);
    loaded.gateway.targets["m"].default.providers[0].clone()
}

#[test]
fn a_reference_is_the_provider_it_names() {
    let shared =
        r#""kind": "anthropic", "url": "https://a.example", "onwards_key": "sk-a", "betas": ["b"]"#;
    let text = format!(
        r#"{{ "providers": {{ "a.1": {{ {shared} }} }}, "targets": {{
            "by-name": {{ "provider": "a.1", "onwards_model": "x" }},
            "in-a-pool": {{ "providers": [{{ "provider": "a.1", "onwards_model": "x" }}] }},
            "in-a-list": [{{ "provider": "a.1", "onwards_model": "x" }}],
            "inline": {{ {shared}, "name": "a.1", "onwards_model": "x" }}
        }} }}"#
    );
    let loaded = read(&text).unwrap();
    assert_eq!(loaded.warnings, []);
    let shown = |alias: &str| {
        let mut provider = loaded.gateway.targets[alias].default.providers[0].clone();
        assert_eq!(provider.name.as_deref(), Some("a.1"), "{alias}");
        provider.path.clear();
        format!("{provider:?}")
    };
    for alias in ["in-a-pool", "in-a-list", "inline"] {
        assert_eq!(shown(alias), shown("by-name"), "{alias}");
    }
}

#[test]
fn references() {
    check(
        r#"{ "providers": { "openai": { "kind": "openai", "url": "http://h" } }, "targets": {
            "a": { "provider": "opnai" },
            "b": { "provider": "other" },
            "c": { "provider": 5 },
            "d": { "providers": [{ "provider": "openai", "name": "x", "url": "http://h", "betas": ["b"], "timeout": 5 }] },
            "e": { "providers": [{ "provider": "openai", "weight": 2 }, { "provider": "openai" }, { "url": "http://h", "name": "openai" }] },
            "f": { "providers": [{ "url": "http://h", "name": "openai" }, { "provider": "openai" }] },
            "g": { "provider": null }
        } }"#,
        expect![[r#"
            targets.a.provider (line 2, column 32): found "opnai"; expected a name of `providers` at the top of the file; did you mean `openai`?
            targets.b.provider (line 3, column 32): found "other"; expected a name of `providers` at the top of the file
            targets.c.providers (line 4, column 18): found nothing; expected an array of providers; is `provider` misspelt?
            warning: targets.c.provider (line 4, column 32): found an unknown member; expected a member of a pool; it is ignored; did you mean `providers`?
            targets.d.providers[0].name (line 5, column 66): found `name` beside `provider`; expected no name: that of the shared provider counts
            targets.d.providers[0].url (line 5, column 78): found `url` beside `provider`; expected it in `providers.openai` at the top of the file only: there stands how the provider is reached
            targets.d.providers[0].betas (line 5, column 99): found `betas` beside `provider`; expected it in `providers.openai` at the top of the file only: there stands how the provider is reached
            warning: targets.d.providers[0].timeout (line 5, column 117): found an unknown member; expected a member of a provider; it is ignored
            targets.e.providers[2].name (line 6, column 128): found "openai"; expected a name no other provider of the pool has
            targets.f.providers[1].provider (line 7, column 89): found "openai"; expected a name no other provider of the pool has
            targets.g.providers (line 8, column 18): found nothing; expected an array of providers; is `provider` misspelt?
            warning: targets.g.provider (line 8, column 32): found an unknown member; expected a member of a pool; it is ignored; did you mean `providers`?
        "#]],
    );
    check(
        r#"{ "targets": { "a": { "provider": "x" } } }"#,
        expect![[r#"
            targets.a.provider (line 1, column 35): found "x"; expected a name of `providers` at the top of the file
        "#]],
    );
}

#[test]
fn shared_providers() {
    check_shared(
        r#"
        "1": {},
        "2": 5,
        "3": { "url": "http://h", "weight": 2, "trusted": true, "ulr": "x", "provider": "1", "zzz": 1 },
        "": { "url": "http://h" }, "a b": { "url": "http://h" },
        "4": { "url": "ftp://h" },
        "5": null
        "#,
        expect![[r#"
            providers.1.url (line 2, column 14): found nothing; expected an absolute http:// or https:// URL
            providers.2 (line 3, column 14): found a number; expected an object (a provider at the top of the file)
            providers.3.weight (line 4, column 45): found an unknown member; expected a member of a provider at the top of the file; it belongs in the entries of targets, beside `provider`
            providers.3.trusted (line 4, column 59): found an unknown member; expected a member of a provider at the top of the file; it belongs in the entries of targets, beside `provider`
            providers.3.ulr (line 4, column 72): found an unknown member; expected a member of a provider at the top of the file; did you mean `url`?
            providers.3.provider (line 4, column 89): found an unknown member; expected a member of a provider at the top of the file; it belongs in the entries of targets, beside `provider`
            providers.3.zzz (line 4, column 101): found an unknown member; expected a member of a provider at the top of the file
            providers[""] (line 5, column 13): found ""; expected a name of 1 to 64 letters, digits, `_`, `.` or `-`
            providers["a b"] (line 5, column 43): found "a b"; expected a name of 1 to 64 letters, digits, `_`, `.` or `-`
            providers.4.url (line 6, column 23): found "ftp://h"; expected an absolute http:// or https:// URL
            providers.5 (line 7, column 14): found null; expected an object (a provider at the top of the file)
        "#]],
    );
    check(
        r#"{ "targets": {}, "providers": [] }"#,
        expect![[r#"
        providers (line 1, column 31): found an array; expected an object of providers
    "#]],
    );
    // One that cannot be read is told of once, not wherever it is referred to.
    check(
        r#"{ "providers": { "p": { "kind": "gemin", "url": 5 }, "q": 5 }, "targets": { "a": { "provider": "p" }, "b": { "provider": "q" } } }"#,
        expect![[r#"
            providers.p.kind (line 1, column 33): found "gemin"; expected `openai` or `azure_openai` or `anthropic` or `gemini` or `bedrock`; did you mean `gemini`?
            providers.p.url (line 1, column 49): found 5; expected an absolute http:// or https:// URL
            providers.q (line 1, column 59): found a number; expected an object (a provider at the top of the file)
        "#]],
    );
}

#[test]
fn kinds_and_their_members() {
    check(
        &target(
            r#"{ "url": "http://h", "betas": [], "stream_path": "/x", "extra_body": {}, "passthrough": false, "aws": null,
            "path": "/x", "headers": {}, "request_timeout_ms": 1000 }"#,
        ),
        expect![[r#"
            targets.m.betas (line 1, column 51): found `betas` without `kind`; expected `kind` beside it; without one nothing is translated
            targets.m.stream_path (line 1, column 70): found `stream_path` without `kind`; expected `kind` beside it; without one nothing is translated
            targets.m.extra_body (line 1, column 90): found `extra_body` without `kind`; expected `kind` beside it; without one nothing is translated
            targets.m.passthrough (line 1, column 109): found `passthrough` without `kind`; expected `kind` beside it; without one nothing is translated
        "#]],
    );
    check_shared(
        r#"
        "openai": { "kind": "openai", "url": "http://h", "api_version": "1", "mid_system": "hoist", "reasoning_budgets": {}, "stream_path": "/x" },
        "azure": { "kind": "azure_openai", "url": "http://h", "schema_mode": "openapi", "api": "converse", "api_style": "v1", "api_version": "1" },
        "anthropic": { "kind": "anthropic", "url": "http://h", "stream_options": true, "max_tokens_field": "auto", "schema_mode": "openapi" },
        "gemini": { "kind": "gemini", "url": "http://h", "betas": ["b"], "aws": { "region": "r", "access_key_id": "i", "secret_access_key": "k" } },
        "bedrock": { "kind": "bedrock", "url": "http://h", "onwards_key": "k", "api_style": "v1", "stream_path": "/x" }
        "#,
        expect![[r#"
            providers.openai.api_version (line 2, column 73): found `api_version` beside the kind `openai`; expected `kind` to be `azure_openai`, or no such member
            providers.openai.mid_system (line 2, column 92): found `mid_system` beside the kind `openai`; expected `kind` to be `anthropic`, `gemini` or `bedrock`, or no such member
            providers.openai.reasoning_budgets (line 2, column 122): found `reasoning_budgets` beside the kind `openai`; expected `kind` to be `anthropic`, `gemini` or `bedrock`, or no such member
            providers.openai.stream_path (line 2, column 141): found `stream_path` beside the kind `openai`; expected `kind` to be `gemini` or `bedrock`, or no such member
            providers.azure.schema_mode (line 3, column 78): found `schema_mode` beside the kind `azure_openai`; expected `kind` to be `gemini`, or no such member
            providers.azure.api (line 3, column 96): found `api` beside the kind `azure_openai`; expected `kind` to be `bedrock`, or no such member
            providers.azure.api_version (line 3, column 142): found `api_version` beside the `api_style` `v1`; expected either it or `v1`, whose addresses have no version
            providers.anthropic.stream_options (line 4, column 82): found `stream_options` beside the kind `anthropic`; expected `kind` to be `openai` or `azure_openai`, or no such member
            providers.anthropic.max_tokens_field (line 4, column 108): found `max_tokens_field` beside the kind `anthropic`; expected `kind` to be `openai` or `azure_openai`, or no such member
            providers.anthropic.schema_mode (line 4, column 131): found `schema_mode` beside the kind `anthropic`; expected `kind` to be `gemini`, or no such member
            providers.gemini.betas (line 5, column 67): found `betas` beside the kind `gemini`; expected `kind` to be `anthropic` or `bedrock`, or no such member
            providers.gemini.aws (line 5, column 81): found `aws` beside the kind `gemini`; expected `kind` to be `bedrock`, or no such member
            providers.bedrock.api_style (line 6, column 93): found `api_style` beside the kind `bedrock`; expected `kind` to be `azure_openai`, or no such member
        "#]],
    );
}

#[test]
fn values_that_not_every_kind_has() {
    check_shared(
        r#"
        "1": { "kind": "openai", "url": "http://h", "reasoning_style": "budget", "structured_output": "tool" },
        "2": { "kind": "anthropic", "url": "http://h", "reasoning_style": "level", "structured_output": "tool" },
        "3": { "kind": "gemini", "url": "http://h", "reasoning_style": "adaptive", "structured_output": "tool" },
        "4": { "kind": "bedrock", "url": "http://h", "onwards_key": "k", "reasoning_style": "effort", "structured_output": "auto" },
        "5": { "kind": "gemini", "url": "builtin:echo" }, "6": { "kind": "openai", "url": "builtin:echo" }
        "#,
        expect![[r#"
            providers.1.reasoning_style (line 2, column 72): found "budget"; expected one that the kind `openai` knows: `effort` or `off`
            providers.1.structured_output (line 2, column 103): found "tool"; expected one that the kind `openai` knows: `native`
            providers.2.reasoning_style (line 3, column 75): found "level"; expected one that the kind `anthropic` knows: `budget`, `adaptive` or `off`
            providers.3.reasoning_style (line 4, column 72): found "adaptive"; expected one that the kind `gemini` knows: `budget`, `level` or `off`
            providers.3.structured_output (line 4, column 105): found "tool"; expected one that the kind `gemini` knows: `native`
            providers.4.reasoning_style (line 5, column 93): found "effort"; expected one that the kind `bedrock` knows: `budget`, `adaptive` or `off`
            providers.4.structured_output (line 5, column 124): found "auto"; expected `tool` or `native`
            providers.5.url (line 6, column 41): found "builtin:echo"; expected an absolute http:// or https:// URL for the kind `gemini`; the embedded provider speaks Chat Completions
        "#]],
    );
}

#[test]
fn values_alone() {
    check_shared(
        r#"
        "1": { "kind": "openai", "url": "http://h", "on_unsupported": "warn", "image_urls": 5, "default_max_tokens": 0, "max_tokens_field": "max",
               "strict_tools": 1, "expose_reasoning": "all", "stream_options": "no", "passthrough": "yes", "extra_body": [1], "request_timeout_ms": 999 },
        "2": { "kind": "anthropic", "url": "http://h", "betas": ["a,b", 5], "mid_system": "keep", "default_max_tokens": 1000001,
               "reasoning_budgets": { "high": 1000001, "huge": 5 } },
        "3": { "kind": "azure_openai", "url": "http://h", "api_version": "a b", "api_style": "v2" },
        "4": { "kind": "gemini", "url": "http://h", "schema_mode": "json", "path": "x", "stream_path": "/a/../b" },
        "5": { "kind": "bedrock", "url": "http://h", "api": "invoke", "aws": { "region": "US", "access_key_id": "a b", "service": "", "zone": 1 } },
        "6": { "kind": "mistral", "url": "http://h", "betas": 5 }
        "#,
        expect![[r#"
            providers.1.on_unsupported (line 2, column 71): found "warn"; expected `drop` or `reject`
            providers.1.image_urls (line 2, column 93): found 5; expected `forward` or `fetch` or `reject`
            providers.1.default_max_tokens (line 2, column 118): found 0; expected an integer from 1 to 1000000
            providers.1.max_tokens_field (line 2, column 141): found "max"; expected `auto` or `max_tokens` or `max_completion_tokens`
            providers.1.strict_tools (line 3, column 32): found 1; expected true or false
            providers.1.expose_reasoning (line 3, column 55): found "all"; expected `none` or `text` or `full`
            providers.1.stream_options (line 3, column 80): found "no"; expected true or false
            providers.1.passthrough (line 3, column 101): found "yes"; expected true or false
            providers.1.extra_body (line 3, column 122): found an array; expected an object
            providers.1.request_timeout_ms (line 3, column 149): found 999; expected an integer from 1000 to 3600000
            providers.2.betas[0] (line 4, column 66): found "a,b"; expected 1 to 64 letters, digits, `_`, `.` or `-`
            providers.2.betas[1] (line 4, column 73): found 5; expected 1 to 64 letters, digits, `_`, `.` or `-`
            providers.2.mid_system (line 4, column 91): found "keep"; expected `hoist` or `user_note`
            providers.2.default_max_tokens (line 4, column 121): found 1000001; expected an integer from 1 to 1000000
            providers.2.reasoning_budgets.high (line 5, column 47): found 1000001; expected an integer from 0 to 1000000
            providers.2.reasoning_budgets.huge (line 5, column 64): found an unknown member; expected one of `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`
            providers.3.api_version (line 6, column 74): found "a b"; expected 1 to 32 letters, digits, `.` or `-`
            providers.3.api_style (line 6, column 94): found "v2"; expected `deployments` or `v1`
            providers.4.schema_mode (line 7, column 68): found "json"; expected `openapi` or `json_schema`
            providers.4.path (line 7, column 84): found "x"; expected a path that begins with `/`
            providers.4.stream_path (line 7, column 104): found "/a/../b"; expected a path without `.` and `..` segments
            providers.5.api (line 8, column 61): found "invoke"; expected `converse` or `invoke_anthropic`
            providers.5.aws.secret_access_key (line 8, column 78): found nothing; expected a key of AWS
            providers.5.aws.region (line 8, column 90): found "US"; expected 1 to 32 lower-case letters, digits or `-`
            providers.5.aws.access_key_id (line 8, column 113): found another text; expected the id of a key in visible ASCII
            providers.5.aws.service (line 8, column 131): found ""; expected 1 to 32 lower-case letters, digits or `-`
            providers.5.aws.zone (line 8, column 143): found an unknown member; expected one of `region`, `access_key_id`, `secret_access_key`, `session_token`, `service`
            providers.6.kind (line 9, column 24): found "mistral"; expected `openai` or `azure_openai` or `anthropic` or `gemini` or `bedrock`
            providers.6.betas (line 9, column 63): found a number; expected an array of strings
        "#]],
    );
}

#[test]
fn paths() {
    check_shared(
        r#"
        "1": { "url": "http://h", "path": "/a b" }, "2": { "url": "http://h", "path": "/a#b" }, "3": { "url": "http://h", "path": "/%zz" },
        "4": { "url": "http://h", "path": "/a?key=hunter2 x" }, "5": { "url": "http://h", "path": "/{other}" }, "6": { "url": "http://h", "path": "/%2e%2E" },
        "7": { "url": "http://h", "path": "/a?b=%" }, "8": { "url": "http://h", "path": "" }
        "#,
        expect![[r#"
            providers.1.path (line 2, column 43): found "/a b"; expected a path of URL characters, others percent-encoded
            providers.2.path (line 2, column 87): found "/a#b"; expected a path without a fragment (`#…`)
            providers.3.path (line 2, column 131): found "/%zz"; expected two hexadecimal digits behind each `%` of the path
            providers.4.path (line 3, column 43): found "/a?***"; expected a path of URL characters, others percent-encoded
            providers.5.path (line 3, column 99): found "/{other}"; expected a path of URL characters, others percent-encoded
            providers.6.path (line 3, column 147): found "/%2e%2E"; expected a path without `.` and `..` segments
            providers.7.path (line 4, column 43): found "/a?***"; expected two hexadecimal digits behind each `%` of the path
            providers.8.path (line 4, column 89): found ""; expected a path that begins with `/`
        "#]],
    );
    for path in [
        "/",
        "/v1/",
        "/v1/{model}:generate?alt=sse&x=..",
        "/a?u=http://x/../y",
        "/a%20b?",
    ] {
        let given = provider(&format!(r#""url": "http://h", "path": "{path}""#));
        assert_eq!(given.request_path.as_deref(), Some(path));
        assert_eq!(given.stream_path.as_deref(), Some(path));
    }
}

#[test]
fn keys_of_providers() {
    check_shared(
        r#"
        "1": { "url": "http://h", "auth": { "header": "X-Key", "value": "k" }, "onwards_key": "k" },
        "2": { "url": "http://h", "auth": { "header": "X-Key", "value": "k" }, "upstream_auth_header_name": "X", "upstream_auth_header_prefix": "Y" },
        "3": { "url": "http://h", "auth": { "header": "Host", "value": "" } },
        "4": { "url": "http://h", "auth": { "value": "a\nb", "header": "x", "prefix": "\n", "scheme": "Bearer" } },
        "5": { "url": "http://h", "auth": {} },
        "6": { "url": "http://h", "auth": "k" },
        "7": { "url": "http://h", "auth": { "header": "content-type", "value": "${NOPE}" } },
        "8": { "url": "http://h", "auth": { "header": "X", "value": "k\u0001" } }
        "#,
        expect![[r#"
            providers.1.auth (line 2, column 43): found `auth` beside `onwards_key`; expected either it or `onwards_key`
            providers.2.auth (line 3, column 43): found `auth` beside `upstream_auth_header_name`; expected either it or `upstream_auth_header_name`
            providers.2.auth (line 3, column 43): found `auth` beside `upstream_auth_header_prefix`; expected either it or `upstream_auth_header_prefix`
            providers.3.auth.header (line 4, column 55): found "Host"; expected a header that does not frame the message or belong to the connection
            providers.3.auth.value (line 4, column 72): found an empty text; expected the provider's key: a string that is not empty
            providers.4.auth.value (line 5, column 54): found characters a header cannot hold; expected text without control characters
            providers.4.auth.prefix (line 5, column 87): found characters a header cannot hold; expected text without control characters
            providers.4.auth.scheme (line 5, column 103): found an unknown member; expected one of `header`, `value`, `prefix`
            providers.5.auth.header (line 6, column 43): found nothing; expected the header that the key is sent in
            providers.5.auth.value (line 6, column 43): found nothing; expected the provider's key
            providers.6.auth (line 7, column 43): found a string; expected an object
            providers.7.auth.header (line 8, column 55): found "content-type"; expected a header without a meaning of its own
            providers.7.auth.value (line 8, column 80): found ${NOPE}; expected the variable NOPE to be set
            providers.8.auth.value (line 9, column 69): found characters a header cannot hold; expected text without control characters
        "#]],
    );
}

#[test]
fn bedrock_signs_or_has_a_key() {
    let aws = r#""aws": { "region": "us-east-1", "access_key_id": "i", "secret_access_key": "k" }"#;
    check_shared(
        &format!(
            r#"
        "1": {{ "kind": "bedrock" }},
        "2": {{ "kind": "bedrock", "url": "http://h" }},
        "3": {{ "kind": "bedrock", "onwards_key": "k" }},
        "4": {{ "kind": "bedrock", {aws}, "onwards_key": "k" }},
        "5": {{ "kind": "bedrock", {aws}, "auth": {{ "header": "x", "value": "k" }} }},
        "6": {{ "kind": "bedrock", {aws}, "headers": {{ "X-Amz-Date": "x", "authorization": "x", "x-ok": "x" }} }},
        "7": {{ "kind": "bedrock", "aws": {{}} }},
        "8": {{ {aws} }}
        "#
        ),
        expect![[r#"
            providers.1.aws (line 2, column 14): found nothing; expected keys of AWS, or a key of Bedrock in `onwards_key` or `auth`
            providers.2.aws (line 3, column 14): found nothing; expected keys of AWS, or a key of Bedrock in `onwards_key` or `auth`
            providers.3.url (line 4, column 14): found nothing; expected an absolute http:// or https:// URL: without `aws` the region is not known
            providers.4.aws (line 5, column 42): found `aws` beside `onwards_key`; expected either it or `onwards_key`
            providers.5.aws (line 6, column 42): found `aws` beside `auth`; expected either it or `auth`
            providers.6.headers (line 7, column 128): found `x-amz-date`; expected no header that the key or the signature is sent in
            providers.6.headers (line 7, column 128): found `authorization`; expected no header that the key or the signature is sent in
            providers.7.aws.region (line 8, column 42): found nothing; expected a region such as `us-east-1`
            providers.7.aws.access_key_id (line 8, column 42): found nothing; expected the id of a key
            providers.7.aws.secret_access_key (line 8, column 42): found nothing; expected a key of AWS
            providers.8.url (line 9, column 14): found nothing; expected an absolute http:// or https:// URL
            providers.8.aws (line 9, column 23): found `aws` without `kind`; expected `kind` beside it; without one nothing is translated
        "#]],
    );
    let url = |members: &str| provider(&format!(r#""kind": "bedrock", {members}"#));
    let signed = url(aws);
    assert_eq!(
        signed.endpoint.url(),
        "https://bedrock-runtime.us-east-1.amazonaws.com"
    );
    let signing = signed.aws.unwrap();
    assert_eq!(
        (signing.region.as_str(), signing.service.as_str()),
        ("us-east-1", "bedrock")
    );
    assert!(signed.key.is_none() && signed.auth_value.is_none());
    let elsewhere = url(&format!(r#""url": "http://localhost:1", {aws}"#));
    assert_eq!(elsewhere.endpoint.url(), "http://localhost:1");
    let keyed = url(r#""url": "http://localhost:1", "onwards_key": "k""#);
    assert_eq!(keyed.auth_value.unwrap(), "Bearer k");
}

#[test]
fn headers_of_requests() {
    check_shared(
        r#"
        "1": { "url": "http://h", "headers": { "Host": "x", "content-length": "1", "Transfer-Encoding": "x", "Proxy-Authorization": "x", "content-type": "x",
               "x y": "x", "x-request-id": "x", "traceparent": "x", "X-A": 5, "x-b": "", "x-c": "a\nb", "x-d": "${NOPE}", "x-e": "ok", "X-E": "ok" } },
        "2": { "url": "http://h", "onwards_key": "k", "headers": { "Authorization": "x" } },
        "3": { "kind": "gemini", "url": "http://h", "onwards_key": "k", "headers": { "X-Goog-Api-Key": "x", "Authorization": "x" } },
        "4": { "url": "http://h", "headers": ["x"] }
        "#,
        expect![[r#"
            providers.1.headers.Host (line 2, column 56): found "Host"; expected a header that does not frame the message or belong to the connection
            providers.1.headers.content-length (line 2, column 79): found "content-length"; expected a header that does not frame the message or belong to the connection
            providers.1.headers.Transfer-Encoding (line 2, column 105): found "Transfer-Encoding"; expected a header that does not frame the message or belong to the connection
            providers.1.headers.Proxy-Authorization (line 2, column 133): found "Proxy-Authorization"; expected a header that the gateway does not write itself
            providers.1.headers.content-type (line 2, column 154): found "content-type"; expected a header that the gateway does not write itself
            providers.1.headers["x y"] (line 3, column 23): found "x y"; expected a header name (letters, digits and !#$%&'*+-.^_`|~)
            providers.1.headers.x-request-id (line 3, column 44): found "x-request-id"; expected a header that the gateway does not write itself
            providers.1.headers.traceparent (line 3, column 64): found "traceparent"; expected a header that the gateway does not write itself
            providers.1.headers.X-A (line 3, column 76): found a number; expected the value of a header: a string
            providers.1.headers.x-b (line 3, column 86): found an empty text; expected the value of a header: a string that is not empty
            providers.1.headers.x-c (line 3, column 97): found characters a header cannot hold; expected text without control characters
            providers.1.headers.x-d (line 3, column 112): found ${NOPE}; expected the variable NOPE to be set
            warning: providers.1.headers.X-E (line 3, column 143): found a header already set; expected each header once, whatever its case; the last one counts
            providers.2.headers (line 4, column 66): found `authorization`; expected no header that the key or the signature is sent in
            providers.3.headers (line 5, column 84): found `x-goog-api-key`; expected no header that the key or the signature is sent in
            providers.4.headers (line 6, column 46): found an array; expected an object of strings
        "#]],
    );
    let given = provider(
        r#""url": "http://h", "headers": { "Authorization": "${GLOBAL}", "OpenAI-Organization": "org" }"#,
    );
    let shown: Vec<_> = given
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.to_str().unwrap(), value.is_sensitive()))
        .collect();
    assert_eq!(
        shown,
        [
            ("authorization", "sk-global-from-env", true),
            ("openai-organization", "org", true)
        ]
    );
}

#[test]
fn the_key_is_sent_in_the_header_of_the_kind() {
    let check = |members: &str, expect: (&str, &str)| {
        let given = provider(&format!(r#""url": "http://h", {members}"#));
        let value = given.auth_value.unwrap();
        assert!(value.is_sensitive());
        assert_eq!(
            (given.auth_header.as_str(), value.to_str().unwrap()),
            expect,
            "{members}"
        );
        assert_eq!(given.key.unwrap().expose(), "k", "{members}");
    };
    let key = r#""onwards_key": "k""#;
    for (kind, expect) in [
        ("openai", ("authorization", "Bearer k")),
        ("azure_openai", ("api-key", "k")),
        ("anthropic", ("x-api-key", "k")),
        ("gemini", ("x-goog-api-key", "k")),
        ("bedrock", ("authorization", "Bearer k")),
    ] {
        check(&format!(r#""kind": "{kind}", {key}"#), expect);
    }
    let gemini = format!(r#""kind": "gemini", {key}"#);
    for (more, expect) in [
        (
            r#""upstream_auth_header_name": "Authorization""#,
            ("authorization", "Bearer k"),
        ),
        (r#""upstream_auth_header_name": "X-Key""#, ("x-key", "k")),
        (
            r#""upstream_auth_header_prefix": "Key ""#,
            ("x-goog-api-key", "Key k"),
        ),
    ] {
        check(&format!("{gemini}, {more}"), expect);
    }
    check(
        &format!(r#"{key}, "upstream_auth_header_name": "X-Key""#),
        ("x-key", "Bearer k"),
    );
    check(
        r#""kind": "gemini", "auth": { "header": "Authorization", "value": "k" }"#,
        ("authorization", "k"),
    );
    check(
        r#""auth": { "header": "X-Key", "value": "k", "prefix": "Key " }"#,
        ("x-key", "Key k"),
    );
}

#[test]
fn defaults_follow_the_kind() {
    let dialect = |kind: ProviderKind| {
        let given = provider(&format!(
            r#""kind": "{}", "url": "http://h", "onwards_key": "k""#,
            kind.word()
        ));
        assert_eq!(given.kind, Some(kind));
        assert_eq!(given.dialect, Dialect::of(kind));
        assert_eq!(given.request_timeout, Some(Duration::from_secs(600)));
        assert_eq!(given.connect_timeout, Duration::from_secs(5));
        assert_eq!(given.idle_timeout, Some(Duration::from_secs(120)));
        given.dialect
    };
    let shown: String = ProviderKind::ALL
        .into_iter()
        .map(|kind| {
            let it = dialect(kind);
            format!(
                "{} {:?} {:?} {:?} {:?} {}\n",
                kind.word(),
                it.image_urls,
                it.default_max_tokens,
                it.structured_output,
                it.reasoning_style,
                it.strict_tools,
            )
        })
        .collect();
    expect![[r#"
        openai Forward None Native Effort true
        azure_openai Forward None Native Effort true
        anthropic Fetch Some(4096) Tool Budget false
        gemini Fetch None Native Budget false
        bedrock Fetch None Tool Budget false
    "#]]
    .assert_eq(&shown);
    let plain = provider(r#""url": "http://h""#);
    assert_eq!(plain.kind, None);
    assert_eq!((plain.request_timeout, plain.idle_timeout), (None, None));
    let invoke = provider(
        r#""kind": "bedrock", "url": "http://h", "onwards_key": "k", "api": "invoke_anthropic""#,
    );
    assert_eq!(invoke.dialect.default_max_tokens, Some(4096));
}

#[test]
fn what_is_given_wins() {
    let given = provider(
        r#""kind": "anthropic", "url": "http://h", "image_urls": "forward", "structured_output": "native",
           "reasoning_style": "off", "default_max_tokens": 7, "request_timeout_ms": 1500, "idle_timeout_ms": 0,
           "reasoning_budgets": { "low": 9 }, "extra_body": { "b": 1, "a": { "x": "\u2028\"" }, "b": [1e2, -0.0, 18446744073709551615] }"#,
    );
    assert_eq!(given.dialect.image_urls, ImageUrls::Forward);
    assert_eq!(given.dialect.structured_output, StructuredOutput::Native);
    assert_eq!(given.dialect.reasoning_style, ReasoningStyle::Off);
    assert_eq!(given.dialect.default_max_tokens, Some(7));
    assert_eq!(
        given.dialect.reasoning_budgets,
        [("low".to_owned(), 9)].into()
    );
    assert_eq!(given.request_timeout, Some(Duration::from_millis(1500)));
    assert_eq!(given.idle_timeout, None);
    assert_eq!(
        given.extra_body.as_deref(),
        Some("{\"a\":{\"x\":\"\u{2028}\\\"\"},\"b\":[100.0,-0.0,18446744073709551615]}")
    );
}

#[test]
fn one_spelling_of_a_timeout() {
    check(
        &target(r#"{ "url": "http://h", "request_timeout_ms": 2000, "request_timeout_secs": 2 }"#),
        expect![[r#"
            targets.m.request_timeout_ms (line 1, column 64): found `request_timeout_ms` beside `request_timeout_secs`; expected either it or `request_timeout_secs`
        "#]],
    );
}

#[test]
fn strict_mode_hides_thoughts_unless_told_otherwise() {
    for (strict, member, expect) in [
        (false, "", ExposeReasoning::Full),
        (true, "", ExposeReasoning::None),
        (
            true,
            r#", "expose_reasoning": "text""#,
            ExposeReasoning::Text,
        ),
    ] {
        let text = format!(
            r#"{{ "strict_mode": {strict}, "targets": {{ "m": {{ "kind": "gemini", "url": "http://h"{member} }} }} }}"#
        );
        let gateway = read(&text).unwrap().gateway;
        let provider = &gateway.targets["m"].default.providers[0];
        assert_eq!(provider.dialect.expose_reasoning, expect, "{text}");
    }
}

#[test]
fn other_kinds_bring_a_chain_of_their_own() {
    let check = |kind: &str, fallback: &str, statuses: &[u16], translation: bool| {
        let text = target(&format!(
            r#"{{ "providers": [{{ "url": "http://h" }}, {{ {kind} "url": "http://i" }}]{fallback} }}"#
        ));
        let gateway = read(&text).unwrap().gateway;
        let fallback = &gateway.targets["m"].default.fallback;
        let found: Vec<_> = fallback.on_status.iter().map(|it| it.get()).collect();
        assert_eq!(found, statuses, "{text}");
        assert_eq!(fallback.on_translation_error, translation, "{text}");
    };
    let enabled = r#", "fallback": { "enabled": true }"#;
    check("", enabled, &[], false);
    check(r#""kind": "openai","#, enabled, &[], false);
    check(r#""kind": "azure_openai","#, enabled, &[429, 5], true);
    check(r#""kind": "gemini","#, enabled, &[429, 5], true);
    check(r#""kind": "gemini","#, "", &[429, 5], true);
    check(
        r#""kind": "gemini","#,
        r#", "fallback": { "enabled": true, "on_status": [], "on_translation_error": false }"#,
        &[],
        false,
    );
    check(
        "",
        r#", "fallback": { "enabled": true, "on_status": [50], "on_translation_error": true }"#,
        &[50],
        true,
    );
}

#[test]
fn what_surrounds_translation() {
    check(
        r#"{ "targets": {}, "ingress": { "openai": true, "gemini": 1, "same_dialect": "same", "allowed_betas": ["a b"] },
            "image_fetch": { "max_bytes": 0, "timeout_ms": 60001, "max_images": 101, "max_redirects": 11, "allow_hosts": ["http://h", "*.", ""], "mime_types": ["text/plain", "image/PNG"] },
            "reasoning_state": { "max_entries": 0, "ttl_secs": 0, "ttl_ms": 5 }, "dry_run_key": "" }"#,
        expect![[r#"
            ingress.openai (line 1, column 41): found an unknown member; expected one of `anthropic`, `gemini`, `responses`, `same_dialect`, `allowed_betas`, `trust_request_id`
            ingress.gemini (line 1, column 57): found 1; expected true or false
            ingress.same_dialect (line 1, column 76): found "same"; expected `native` or `canonical`
            ingress.allowed_betas[0] (line 1, column 102): found "a b"; expected 1 to 64 letters, digits, `_`, `.` or `-`
            image_fetch.max_bytes (line 2, column 43): found 0; expected an integer from 1 to 52428800
            image_fetch.timeout_ms (line 2, column 60): found 60001; expected an integer from 100 to 60000
            image_fetch.max_images (line 2, column 81): found 101; expected an integer from 1 to 100
            image_fetch.max_redirects (line 2, column 103): found 11; expected an integer from 0 to 10
            image_fetch.allow_hosts[0] (line 2, column 123): found "http://h"; expected a host, without scheme and port, or `*.` and a domain
            image_fetch.allow_hosts[1] (line 2, column 135): found "*."; expected a host, without scheme and port, or `*.` and a domain
            image_fetch.allow_hosts[2] (line 2, column 141): found ""; expected a host, without scheme and port, or `*.` and a domain
            image_fetch.mime_types[0] (line 2, column 161): found "text/plain"; expected a type of pictures in lower case, such as `image/png`
            image_fetch.mime_types[1] (line 2, column 175): found "image/PNG"; expected a type of pictures in lower case, such as `image/png`
            reasoning_state.max_entries (line 3, column 49): found 0; expected an integer from 1 to 1000000
            reasoning_state.ttl_secs (line 3, column 64): found 0; expected an integer from 1 to 86400
            reasoning_state.ttl_ms (line 3, column 77): found an unknown member; expected one of `enabled`, `max_entries`, `ttl_secs`
            dry_run_key (line 3, column 97): found an empty text; expected the token that opens the dry run: a string that is not empty
        "#]],
    );
    check(
        r#"{ "targets": { "m": { "url": "http://h", "ingress": {}, "dry_run_key": "x" } }, "ingress": [], "dry_run_key": ["sk-x"] }"#,
        expect![[r#"
            warning: targets.m.ingress (line 1, column 53): found an unknown member; expected a member of a target with `url`; it is ignored; it belongs at the top of the file
            warning: targets.m.dry_run_key (line 1, column 72): found an unknown member; expected a member of a target with `url`; it is ignored; it belongs at the top of the file
            ingress (line 1, column 92): found an array; expected an object
            dry_run_key (line 1, column 111): found an array; expected the token that opens the dry run: a string
        "#]],
    );
    let gateway = read(r#"{ "targets": {}, "dry_run_key": "${GLOBAL}" }"#)
        .unwrap()
        .gateway;
    assert_eq!(gateway.dry_run_key.unwrap().expose(), "sk-global-from-env");
    assert_eq!(gateway.ingress, crate::Ingress::default());
    assert_eq!(gateway.image_fetch, crate::ImageFetch::default());
    assert_eq!(gateway.reasoning_state, crate::ReasoningState::default());
}

#[test]
fn an_echo_may_be_named() {
    let text = r#"{ "providers": { "echo": { "url": "builtin:echo" } }, "targets": { "m": { "provider": "echo" } } }"#;
    let gateway = read(text).unwrap().gateway;
    assert_eq!(
        gateway.targets["m"].default.providers[0].endpoint,
        Endpoint::Echo
    );
}
