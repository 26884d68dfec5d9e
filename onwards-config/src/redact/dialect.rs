//! What is shown of a provider's dialect, and of the translation between protocols.

use serde_json::{Value, json};

use super::{HIDDEN, Members, members, milliseconds, object};
use crate::gateway::{
    ApiStyle, Aws, BedrockApi, Dialect, ExposeReasoning, ImageFetch, ImageUrls, Ingress,
    MaxTokensField, MidSystem, OnUnsupported, Provider, ProviderKind, ReasoningState,
    ReasoningStyle, SameDialect, SchemaMode, StructuredOutput,
};
use crate::kinds::{knowing, structures, styles};

/// Members of a provider that its kind knows; without a kind only those that need none.
pub(super) fn provider(provider: &Provider) -> Members {
    let headers = provider
        .headers
        .iter()
        .map(|(name, _)| (name.as_str(), HIDDEN));
    let body = provider.extra_body.as_deref();
    let mut shown = members([
        ("kind", provider.kind.map(|kind| kind.word().into())),
        ("path", provider.request_path.as_deref().map(Value::from)),
        (
            "stream_path",
            provider.stream_path.as_deref().map(Value::from),
        ),
        ("aws", provider.aws.as_ref().map(aws)),
        (
            "headers",
            (!provider.headers.is_empty()).then(|| headers.collect()),
        ),
        (
            "extra_body",
            body.and_then(|body| serde_json::from_str(body).ok()),
        ),
        ("passthrough", Some(provider.passthrough.into())),
    ]);
    if let Some(kind) = provider.kind {
        shown.extend(dialect(&provider.dialect, kind));
    }
    shown.retain(|name, _| match (knowing(name), provider.kind) {
        (None, _) => true,
        (Some(kinds), Some(kind)) => kinds.contains(&kind),
        (Some(_), None) => false,
    });
    if provider.dialect.api_style == ApiStyle::V1 {
        shown.remove("api_version");
    }
    shown
}

fn dialect(dialect: &Dialect, kind: ProviderKind) -> Members {
    members([
        ("on_unsupported", Some(on_unsupported(dialect).into())),
        ("image_urls", Some(image_urls(dialect).into())),
        (
            "default_max_tokens",
            dialect.default_max_tokens.map(Value::from),
        ),
        ("max_tokens_field", Some(max_tokens_field(dialect).into())),
        (
            "structured_output",
            word(
                StructuredOutput::eq,
                structures(kind),
                &dialect.structured_output,
            ),
        ),
        (
            "schema_mode",
            Some(match dialect.schema_mode {
                SchemaMode::OpenApi => "openapi".into(),
                SchemaMode::JsonSchema => "json_schema".into(),
            }),
        ),
        ("strict_tools", Some(dialect.strict_tools.into())),
        (
            "reasoning_style",
            word(ReasoningStyle::eq, styles(kind), &dialect.reasoning_style),
        ),
        ("reasoning_budgets", Some(json!(dialect.reasoning_budgets))),
        ("expose_reasoning", Some(expose_reasoning(dialect).into())),
        ("betas", Some(dialect.betas.as_slice().into())),
        ("api_version", Some(dialect.api_version.as_str().into())),
        (
            "api_style",
            Some(match dialect.api_style {
                ApiStyle::Deployments => "deployments".into(),
                ApiStyle::V1 => "v1".into(),
            }),
        ),
        (
            "api",
            Some(match dialect.api {
                BedrockApi::Converse => "converse".into(),
                BedrockApi::InvokeAnthropic => "invoke_anthropic".into(),
            }),
        ),
        (
            "mid_system",
            Some(match dialect.mid_system {
                MidSystem::Hoist => "hoist".into(),
                MidSystem::UserNote => "user_note".into(),
            }),
        ),
        ("stream_options", Some(dialect.stream_options.into())),
    ])
}

/// The word of a choice that depends on the kind.
fn word<T>(same: fn(&T, &T) -> bool, choices: &[(&'static str, T)], given: &T) -> Option<Value> {
    let found = choices.iter().find(|(_, choice)| same(choice, given));
    found.map(|(word, _)| (*word).into())
}

fn on_unsupported(dialect: &Dialect) -> &'static str {
    match dialect.on_unsupported {
        OnUnsupported::Drop => "drop",
        OnUnsupported::Reject => "reject",
    }
}

fn image_urls(dialect: &Dialect) -> &'static str {
    match dialect.image_urls {
        ImageUrls::Forward => "forward",
        ImageUrls::Fetch => "fetch",
        ImageUrls::Reject => "reject",
    }
}

fn max_tokens_field(dialect: &Dialect) -> &'static str {
    match dialect.max_tokens_field {
        MaxTokensField::Auto => "auto",
        MaxTokensField::MaxTokens => "max_tokens",
        MaxTokensField::MaxCompletionTokens => "max_completion_tokens",
    }
}

fn expose_reasoning(dialect: &Dialect) -> &'static str {
    match dialect.expose_reasoning {
        ExposeReasoning::None => "none",
        ExposeReasoning::Text => "text",
        ExposeReasoning::Full => "full",
    }
}

fn aws(aws: &Aws) -> Value {
    object([
        ("region", Some(aws.region.as_str().into())),
        ("access_key_id", Some(HIDDEN.into())),
        ("secret_access_key", Some(HIDDEN.into())),
        (
            "session_token",
            aws.session_token.as_ref().map(|_| HIDDEN.into()),
        ),
        ("service", Some(aws.service.as_str().into())),
    ])
}

pub(super) fn ingress(ingress: &Ingress) -> Value {
    let same_dialect = match ingress.same_dialect {
        SameDialect::Native => "native",
        SameDialect::Canonical => "canonical",
    };
    json!({
        "anthropic": ingress.anthropic,
        "gemini": ingress.gemini,
        "responses": ingress.responses,
        "same_dialect": same_dialect,
        "allowed_betas": ingress.allowed_betas,
        "trust_request_id": ingress.trust_request_id,
    })
}

pub(super) fn image_fetch(fetch: &ImageFetch) -> Value {
    json!({
        "enabled": fetch.enabled,
        "max_bytes": fetch.max_bytes,
        "timeout_ms": milliseconds(fetch.timeout),
        "max_images": fetch.max_images,
        "max_redirects": fetch.max_redirects,
        "allow_hosts": fetch.allow_hosts,
        "allow_private": fetch.allow_private,
        "allow_http": fetch.allow_http,
        "mime_types": fetch.mime_types,
    })
}

pub(super) fn reasoning_state(state: ReasoningState) -> Value {
    json!({
        "enabled": state.enabled,
        "max_entries": state.max_entries,
        "ttl_secs": state.ttl.as_secs(),
    })
}
