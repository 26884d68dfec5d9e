//! How a provider is reached, and which dialect it is spoken to in.

use std::time::Duration;

use http::{HeaderName, HeaderValue};
use schemars::{JsonSchema, Schema};

use super::KeyText;
use crate::endpoint::Endpoint;
use crate::gateway::{
    ApiStyle, BedrockApi, ExposeReasoning, ImageUrls, MaxTokensField, MidSystem, OnUnsupported,
    ProviderKind, ReasoningStyle, SchemaMode, StructuredOutput,
};
use crate::secret::Secret;

/// A provider that several targets may name. Unknown members are errors.
#[derive(JsonSchema)]
#[schemars(
    rename = "connection",
    deny_unknown_fields,
    transform = reachable
)]
pub(crate) struct Shared {
    #[schemars(flatten)]
    pub(crate) connection: Connection,
}

/// Members that say how a provider is reached.
#[derive(JsonSchema, Default)]
#[schemars(rename = "reach")]
pub(crate) struct Connection {
    /// Which API the provider speaks. Requests are written in its dialect and answers read from it, whatever protocol the
    /// client speaks. Without it nothing is translated: the provider gets and gives bytes as they are.
    pub(crate) kind: Option<ProviderKind>,
    /// Absolute `http` or `https` URL of the provider, or `builtin:echo` for the embedded one. No user
    /// information and no fragment; a query is dropped. Required, but for `bedrock` with `aws`, where it is made of the
    /// region: `https://bedrock-runtime.REGION.amazonaws.com`.
    #[schemars(
        with = "Option<String>",
        regex(pattern = r"^([hH][tT][tT][pP][sS]?://[^/?#@]+([/?][^#]*)?|builtin:echo)$")
    )]
    pub(crate) url: Option<Endpoint>,
    /// Path of every request instead of the kind's own (without a kind: the client's), perhaps with a query. In it `{model}`
    /// is the model's name.
    #[schemars(regex(pattern = r"^/[^\s#]*$"))]
    pub(crate) path: Option<String>,
    /// The same for requests that ask for a stream (`gemini`, `bedrock`). Without it `path` counts for them too.
    #[schemars(regex(pattern = r"^/[^\s#]*$"))]
    pub(crate) stream_path: Option<String>,
    /// Key sent to the provider. A secret. Without it no key is sent. The header is `Authorization` with `Bearer`; for
    /// `azure_openai` it is `api-key`, for `anthropic` `x-api-key`, for `gemini` `x-goog-api-key`.
    #[schemars(with = "Option<KeyText>")]
    pub(crate) onwards_key: Option<Secret>,
    /// Header the key is sent in, instead of the kind's.
    #[schemars(with = "Option<String>", regex(pattern = "^[!#-'*+.0-9A-Z^-z|~-]+$"), extend("default" = "Authorization"))]
    pub(crate) upstream_auth_header_name: Option<HeaderName>,
    /// What stands before the key in that header. Without it nothing, where the kind has a header of its own and
    /// `upstream_auth_header_name` does not say `Authorization`.
    #[schemars(extend("default" = "Bearer "))]
    pub(crate) upstream_auth_header_prefix: Option<String>,
    /// Header and key in one, instead of `onwards_key`.
    pub(crate) auth: Option<Auth>,
    /// Signs requests for AWS, instead of a key (`bedrock`).
    pub(crate) aws: Option<Aws>,
    /// Headers set on every request. Their values are secrets. The header of the key or of the signature is refused.
    #[schemars(with = "Option<std::collections::BTreeMap<String, KeyText>>", extend("default" = {}))]
    pub(crate) headers: Option<Vec<(HeaderName, HeaderValue)>>,
    /// Merged into every body last: objects member by member, anything else in place of what is there. Needs `kind`. Not a
    /// secret.
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>", extend("default" = {}))]
    pub(crate) extra_body: Option<String>,
    /// Translate nothing although the kind is known.
    #[schemars(extend("default" = false))]
    pub(crate) passthrough: Option<bool>,
    /// Bound on the wait for response headers. Without it there is none; with `kind` it is 600.
    #[schemars(with = "Option<u64>", range(min = 1))]
    pub(crate) request_timeout_secs: Option<Duration>,
    /// The same in milliseconds; only one of the two may be given.
    #[schemars(with = "Option<u64>", range(min = 1000, max = 3_600_000))]
    pub(crate) request_timeout_ms: Option<Duration>,
    /// Bound on connecting.
    #[schemars(with = "Option<u64>", range(min = 1), extend("default" = 5000))]
    pub(crate) connect_timeout_ms: Option<Duration>,
    /// Bound on the silence between two pieces of a response body. 0: none. Without it there is none; with `kind` it is
    /// 120000.
    #[schemars(with = "Option<u64>", extend("default" = 0))]
    pub(crate) idle_timeout_ms: Option<Duration>,
    #[schemars(flatten)]
    pub(crate) dialect: Dialect,
}

/// Members that need `kind`.
#[derive(JsonSchema, Default)]
#[schemars(rename = "dialect")]
pub(crate) struct Dialect {
    /// What becomes of parameters that the provider does not know.
    #[schemars(extend("default" = "drop"))]
    pub(crate) on_unsupported: Option<OnUnsupported>,
    /// What becomes of addresses of pictures. Without it `forward` for `openai` and `azure_openai`, `fetch` for the others where
    /// requests are translated. Given as `fetch` or `reject`, requests in the provider's own protocol are translated too.
    pub(crate) image_urls: Option<ImageUrls>,
    /// The limit of an answer whose client gives none. Without it 4096 for Anthropic Messages, which needs one, and none for
    /// the others.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub(crate) default_max_tokens: Option<u32>,
    /// Under which name the limit of an answer is sent (`openai`, `azure_openai`). Given a name, requests of Chat Completions are
    /// translated too.
    #[schemars(extend("default" = "auto"))]
    pub(crate) max_tokens_field: Option<MaxTokensField>,
    /// How structured output is asked for. Without it `tool` for `anthropic` and `bedrock`; the others know only `native`.
    pub(crate) structured_output: Option<StructuredOutput>,
    /// How schemas are written (`gemini`).
    #[schemars(extend("default" = "openapi"))]
    pub(crate) schema_mode: Option<SchemaMode>,
    /// Pass on `strict` of tools. Without it `true` for `openai` and `azure_openai`, `false` for the others.
    pub(crate) strict_tools: Option<bool>,
    /// How reasoning is asked for. Without it `effort` for `openai` and `azure_openai`, `budget` for the others.
    pub(crate) reasoning_style: Option<ReasoningStyle>,
    /// Tokens for single efforts instead of the usual ones (`anthropic`, `gemini`, `bedrock`).
    pub(crate) reasoning_budgets: Option<Budgets>,
    /// What clients see of the model's thoughts. Without it `full`, in strict mode `none`. Given as `none` or `text`, answers in the
    /// provider's own protocol are translated too.
    pub(crate) expose_reasoning: Option<ExposeReasoning>,
    /// Values of `anthropic-beta` (`anthropic`, `bedrock`).
    #[schemars(inner(regex(pattern = "^[A-Za-z0-9_.-]{1,64}$")), extend("default" = []))]
    pub(crate) betas: Option<Vec<String>>,
    /// `api-version` of addresses by deployment (`azure_openai`).
    #[schemars(regex(pattern = "^[A-Za-z0-9.-]{1,32}$"), extend("default" = "2024-10-21"))]
    pub(crate) api_version: Option<String>,
    /// How addresses are made (`azure_openai`).
    #[schemars(extend("default" = "deployments"))]
    pub(crate) api_style: Option<ApiStyle>,
    /// Which API is used (`bedrock`).
    #[schemars(extend("default" = "converse"))]
    pub(crate) api: Option<BedrockApi>,
    /// What becomes of system messages within the conversation (`anthropic`, `gemini`, `bedrock`).
    #[schemars(extend("default" = "hoist"))]
    pub(crate) mid_system: Option<MidSystem>,
    /// `false` for servers that refuse `stream_options` (`openai`, `azure_openai`).
    #[schemars(extend("default" = true))]
    pub(crate) stream_options: Option<bool>,
}

/// Tokens for efforts. Unknown members are errors.
#[derive(JsonSchema)]
#[schemars(rename = "reasoning_budgets", deny_unknown_fields)]
pub(crate) struct Budgets {
    /// For `none`.
    #[schemars(range(max = 1_000_000))]
    pub(crate) none: Option<u32>,
    /// For `minimal`.
    #[schemars(range(max = 1_000_000))]
    pub(crate) minimal: Option<u32>,
    /// For `low`.
    #[schemars(range(max = 1_000_000))]
    pub(crate) low: Option<u32>,
    /// For `medium`.
    #[schemars(range(max = 1_000_000))]
    pub(crate) medium: Option<u32>,
    /// For `high`.
    #[schemars(range(max = 1_000_000))]
    pub(crate) high: Option<u32>,
    /// For `xhigh`.
    #[schemars(range(max = 1_000_000))]
    pub(crate) xhigh: Option<u32>,
    /// For `max`.
    #[schemars(range(max = 1_000_000))]
    pub(crate) max: Option<u32>,
}

/// A header with a key. Unknown members are errors.
#[derive(JsonSchema)]
#[schemars(rename = "provider_auth", deny_unknown_fields)]
pub(crate) struct Auth {
    /// The header.
    #[schemars(with = "String", regex(pattern = "^[!#-'*+.0-9A-Z^-z|~-]+$"))]
    pub(crate) header: HeaderName,
    /// The key. A secret.
    #[schemars(with = "KeyText")]
    pub(crate) value: Secret,
    /// What stands before the key in the header, for example `Bearer ` with its space.
    #[schemars(extend("default" = ""))]
    pub(crate) prefix: Option<String>,
}

/// What requests for AWS are signed with. Unknown members are errors.
#[derive(JsonSchema)]
#[schemars(rename = "aws", deny_unknown_fields)]
pub(crate) struct Aws {
    /// The region, for example `us-east-1`.
    #[schemars(regex(pattern = "^[a-z0-9-]{1,32}$"))]
    pub(crate) region: String,
    /// Id of the key. A secret.
    #[schemars(with = "String", regex(pattern = r"^([!-~]+|\$\{[^}]+\})$"))]
    pub(crate) access_key_id: Secret,
    /// The key. A secret.
    #[schemars(with = "KeyText")]
    pub(crate) secret_access_key: Secret,
    /// Token that belongs to temporary keys. A secret.
    #[schemars(with = "Option<String>", regex(pattern = r"^([!-~]+|\$\{[^}]+\})$"))]
    pub(crate) session_token: Option<Secret>,
    /// Service that the signature is for.
    #[schemars(regex(pattern = "^[a-z0-9-]{1,32}$"), extend("default" = "bedrock"))]
    pub(crate) service: Option<String>,
}

/// A provider has an address, or a region that gives it one.
fn reachable(schema: &mut Schema) {
    require_one_of(schema, &[("url", "string"), ("aws", "object")]);
}

/// An entry of a target may also refer to a provider that has one.
pub(crate) fn reachable_or_named(schema: &mut Schema) {
    let ways = [("url", "string"), ("provider", "string"), ("aws", "object")];
    require_one_of(schema, &ways);
}

/// One of these members has to be there, with a value of that kind.
fn require_one_of(schema: &mut Schema, ways: &[(&str, &str)]) {
    let way = |(name, kind): &(&str, &str)| serde_json::json!({ "required": [name], "properties": { *name: { "type": kind } } });
    schema.insert("anyOf".to_owned(), ways.iter().map(way).collect());
}
