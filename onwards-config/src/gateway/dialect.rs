//! What is known of a provider whose dialect is known.

use std::collections::BTreeMap;

use schemars::JsonSchema;

use crate::secret::Secret;

/// Which API a provider speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, JsonSchema)]
#[schemars(rename = "kind", rename_all = "snake_case")]
pub enum ProviderKind {
    /// Chat Completions of OpenAI, or of a server that is compatible with it.
    #[schemars(rename = "openai")]
    OpenAi,
    /// Azure OpenAI: the same with addresses of its own.
    #[schemars(rename = "azure_openai")]
    AzureOpenAi,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini generateContent.
    Gemini,
    /// AWS Bedrock: Converse, or InvokeModel with Anthropic's bodies.
    Bedrock,
}

impl ProviderKind {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::OpenAi,
        Self::AzureOpenAi,
        Self::Anthropic,
        Self::Gemini,
        Self::Bedrock,
    ];

    /// As written in the file.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::AzureOpenAi => "azure_openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Bedrock => "bedrock",
        }
    }

    /// Whether it speaks Chat Completions.
    #[must_use]
    pub fn speaks_chat(self) -> bool {
        matches!(self, Self::OpenAi | Self::AzureOpenAi)
    }
}

/// How requests are written for a provider and its answers are read. What its kind does not know has a value without
/// meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dialect {
    /// What becomes of parameters that it does not know.
    pub on_unsupported: OnUnsupported,
    /// What becomes of addresses of pictures.
    pub image_urls: ImageUrls,
    /// The limit of an answer whose client gives none: 1 to 1,000,000.
    pub default_max_tokens: Option<u32>,
    /// Under which name Chat Completions is sent the limit.
    pub max_tokens_field: MaxTokensField,
    /// How structured output is asked for.
    pub structured_output: StructuredOutput,
    /// How Gemini is told schemas.
    pub schema_mode: SchemaMode,
    /// `strict` of tools is passed on.
    pub strict_tools: bool,
    /// How reasoning is asked for.
    pub reasoning_style: ReasoningStyle,
    /// Tokens for single efforts (`none` to `max`) instead of the usual ones: 0 to 1,000,000.
    pub reasoning_budgets: BTreeMap<String, u32>,
    /// What clients see of the model's thoughts; its default follows [`Gateway::strict_mode`](super::Gateway::strict_mode).
    pub expose_reasoning: ExposeReasoning,
    /// Values of `anthropic-beta`: letters, digits, `_`, `.` and `-`.
    pub betas: Vec<String>,
    /// `api-version` of Azure's addresses by deployment: 1–32 of `A–Z a–z 0–9 . -`.
    pub api_version: String,
    /// How Azure's addresses are made.
    pub api_style: ApiStyle,
    /// Which API of Bedrock is used.
    pub api: BedrockApi,
    /// What becomes of system messages within the conversation.
    pub mid_system: MidSystem,
    /// `stream_options` may be sent.
    pub stream_options: bool,
    /// The file gives `image_urls` other than `forward`. That holds for the provider's own protocol too, which is then translated
    /// instead of passed on.
    pub images_for_all: bool,
    /// The same for `expose_reasoning` other than `full`.
    pub reasoning_for_all: bool,
}

impl Dialect {
    /// The defaults of a kind outside strict mode.
    #[must_use]
    pub fn of(kind: ProviderKind) -> Self {
        use ProviderKind::{Anthropic, Bedrock};
        let chat = kind.speaks_chat();
        Self {
            on_unsupported: OnUnsupported::Drop,
            image_urls: if chat {
                ImageUrls::Forward
            } else {
                ImageUrls::Fetch
            },
            default_max_tokens: (kind == Anthropic).then_some(4096),
            max_tokens_field: MaxTokensField::Auto,
            structured_output: if matches!(kind, Anthropic | Bedrock) {
                StructuredOutput::Tool
            } else {
                StructuredOutput::Native
            },
            schema_mode: SchemaMode::OpenApi,
            strict_tools: chat,
            reasoning_style: if chat {
                ReasoningStyle::Effort
            } else {
                ReasoningStyle::Budget
            },
            reasoning_budgets: BTreeMap::new(),
            expose_reasoning: ExposeReasoning::Full,
            betas: Vec::new(),
            api_version: "2024-10-21".to_owned(),
            api_style: ApiStyle::Deployments,
            api: BedrockApi::Converse,
            mid_system: MidSystem::Hoist,
            stream_options: true,
            images_for_all: false,
            reasoning_for_all: false,
        }
    }
}

/// What becomes of parameters that a provider does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(rename = "on_unsupported", rename_all = "snake_case")]
pub enum OnUnsupported {
    /// They are left out, and told in the answer's headers.
    Drop,
    /// The request is refused with 400.
    Reject,
}

/// What becomes of addresses of pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(rename = "image_urls", rename_all = "snake_case")]
pub enum ImageUrls {
    /// The provider is sent the address.
    Forward,
    /// The gateway fetches what is there and sends that.
    Fetch,
    /// The request is refused with 400.
    Reject,
}

/// Under which name Chat Completions is sent the limit of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(rename = "max_tokens_field", rename_all = "snake_case")]
pub enum MaxTokensField {
    /// As the client calls it; from another protocol `max_completion_tokens` for Azure and hosts under `openai.com`, else
    /// `max_tokens`.
    Auto,
    /// `max_tokens`.
    MaxTokens,
    /// `max_completion_tokens`.
    MaxCompletionTokens,
}

/// How structured output is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(rename = "structured_output", rename_all = "snake_case")]
pub enum StructuredOutput {
    /// With a tool that must be called.
    Tool,
    /// With the provider's own member.
    Native,
}

/// How Gemini is told schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(rename = "schema_mode", rename_all = "snake_case")]
pub enum SchemaMode {
    /// In its subset of OpenAPI: `responseSchema`, `parameters`.
    #[schemars(rename = "openapi")]
    OpenApi,
    /// As they are: `responseJsonSchema`, `parametersJsonSchema`.
    JsonSchema,
}

/// How reasoning is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(rename = "reasoning_style", rename_all = "snake_case")]
pub enum ReasoningStyle {
    /// As a number of tokens (`anthropic`, `gemini`, `bedrock`).
    Budget,
    /// As a level (`gemini`).
    Level,
    /// As adaptive thinking with an effort (`anthropic`, `bedrock`).
    Adaptive,
    /// As an effort (`openai`, `azure_openai`).
    Effort,
    /// Not at all.
    Off,
}

/// What clients see of the model's thoughts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(rename = "expose_reasoning", rename_all = "snake_case")]
pub enum ExposeReasoning {
    /// Nothing.
    None,
    /// Their text.
    Text,
    /// Text, signatures and redacted thoughts.
    Full,
}

/// How Azure's addresses are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(rename = "api_style", rename_all = "snake_case")]
pub enum ApiStyle {
    /// The deployment is in the path.
    Deployments,
    /// The deployment is in the body.
    V1,
}

/// Which API of Bedrock is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(rename = "api", rename_all = "snake_case")]
pub enum BedrockApi {
    /// Converse.
    Converse,
    /// InvokeModel with Anthropic's bodies.
    InvokeAnthropic,
}

/// What becomes of system messages within the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(rename = "mid_system", rename_all = "snake_case")]
pub enum MidSystem {
    /// They join those at its beginning.
    Hoist,
    /// They stay where they are, as a note of the user.
    UserNote,
}

/// With what requests for AWS are signed.
#[derive(Debug, Clone)]
pub struct Aws {
    /// Region: 1–32 of `a–z 0–9 -`.
    pub region: String,
    /// Id of the key, visible ASCII.
    pub access_key_id: Secret,
    /// The key.
    pub secret_access_key: Secret,
    /// Token of temporary keys, visible ASCII.
    pub session_token: Option<Secret>,
    /// Service the signature is for: 1–32 of `a–z 0–9 -`.
    pub service: String,
}
