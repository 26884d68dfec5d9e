//! What a kind of provider wants around a body: paths, headers, framing (the sections "URL", "Auth" and "Headers" of spec
//! providers 3.1 to 3.5).

use crate::options::{BedrockApi, Options, Settings};
use crate::{Kind, Protocol, azure_path, bedrock};

/// Headers of providers' answers that are the operator's business, not the client's.
pub const TELLING_HEADERS: &[&str] = &[
    "anthropic-organization-id",
    "apim-request-id",
    "openai-organization",
    "openai-project",
    "request-id",
    "x-ms-client-request-id",
    "x-request-id",
];

/// Headers of requests whose values the operator chooses, not the client.
pub const OPERATORS_HEADERS: &[&str] = &["anthropic-beta", "openai-organization", "openai-project"];

/// True for a header of a request, in lower case, that proves to somebody who the client is: whom a provider serves is the operator's
/// to say, and a client's key is for the gateway alone (spec providers 4 and 8.1).
#[must_use]
pub fn proves_client(header: &str) -> bool {
    const ENDINGS: &[&str] = &[
        "-api-key",
        "-apikey",
        "-access-key",
        "-secret",
        "-secret-key",
        "-subscription-key",
        "-token",
    ];
    ENDINGS.iter().any(|ending| header.ends_with(ending))
        || header.contains("authorization")
        || matches!(
            header,
            "api-key" | "apikey" | "cookie" | "cookie2" | "token" | "x-auth"
        )
}

/// The same of a query's parameter, decoded.
#[must_use]
pub fn parameter_proves_client(name: &str) -> bool {
    let name = name.trim().to_ascii_lowercase().replace('_', "-");
    matches!(
        name.as_str(),
        "access-key" | "auth" | "key" | "sig" | "x-amz-credential" | "x-amz-signature"
    ) || proves_client(&name)
        || proves_client(&["-", &name].concat())
}

/// The header that a client of Messages names the version of its protocol in.
pub const MESSAGES_VERSION: &str = "anthropic-version";

/// The header of Messages that asks for what is not in the protocol yet.
pub const MESSAGES_BETA: &str = "anthropic-beta";

/// A path for a request in the provider's own protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NativePath {
    /// The path, perhaps with a query.
    pub path: String,
    /// The client's query goes with it.
    pub takes_query: bool,
}

impl Kind {
    /// The kind by its word in configurations.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Some(match word {
            "openai" => Self::OpenAi,
            "azure_openai" => Self::Azure,
            "anthropic" => Self::Anthropic,
            "gemini" => Self::Gemini,
            "bedrock" => Self::Bedrock,
            _ => return None,
        })
    }

    /// Whether the limit of an answer goes under its newer name where a client of another protocol gave it.
    #[must_use]
    pub fn wants_newer_limit(self, host: &str) -> bool {
        self == Self::Azure || host == "openai.com" || host.ends_with(".openai.com")
    }

    /// Whether it has embeddings, pictures, speech and moderation under OpenAI's paths.
    #[must_use]
    pub fn serves_beside(self) -> bool {
        matches!(self, Self::OpenAi | Self::Azure)
    }

    /// Where one of those is, if not where the client asks: `asked` is the client's path.
    #[must_use]
    pub fn beside_path(self, asked: &str, settings: &Settings<'_>) -> Option<String> {
        let operation = asked.strip_prefix("/v1").unwrap_or(asked);
        (self == Self::Azure).then(|| azure(operation, settings))
    }

    /// Where a request is sent that is in the provider's own protocol. `asked` is the client's path.
    #[must_use]
    pub fn native_path(
        self,
        protocol: Protocol,
        asked: &str,
        settings: &Settings<'_>,
    ) -> NativePath {
        let path = match (self, protocol) {
            (Self::Azure, _) => azure("/chat/completions", settings),
            (_, Protocol::GenerateContent) => {
                let version = if asked.starts_with("/v1/") {
                    "/v1"
                } else {
                    "/v1beta"
                };
                let method = asked.rsplit_once(':').map_or("", |(_, method)| method);
                let model = crate::gemini::resource_path(settings.model);
                format!("{version}/{model}:{method}")
            }
            (_, Protocol::Messages) if asked.ends_with("/count_tokens") => {
                "/v1/messages/count_tokens".to_owned()
            }
            (_, Protocol::Messages) => "/v1/messages".to_owned(),
            (_, Protocol::Responses) => "/v1/responses".to_owned(),
            (_, Protocol::Chat) => "/v1/chat/completions".to_owned(),
        };
        NativePath {
            path,
            takes_query: self != Self::Azure,
        }
    }

    /// Headers that every request has, unless the operator has set them otherwise.
    #[must_use]
    pub fn headers(self, options: &Options) -> Vec<(&'static str, String)> {
        if self != Self::Anthropic {
            return Vec::new();
        }
        let mut headers = vec![(MESSAGES_VERSION, "2023-06-01".to_owned())];
        if !options.betas.is_empty() {
            headers.push((MESSAGES_BETA, options.betas.join(",")));
        }
        headers
    }

    /// Whether values of [`MESSAGES_BETA`] may go to it.
    #[must_use]
    pub fn takes_betas(self) -> bool {
        self == Self::Anthropic
    }

    /// The type of answer to ask for.
    #[must_use]
    pub fn accept(self, stream: bool) -> &'static str {
        match (self, stream) {
            (_, false) => "application/json",
            (Self::Bedrock, true) => "application/vnd.amazon.eventstream",
            (_, true) => "text/event-stream",
        }
    }

    /// Whether it tells the end of a call before the next one begins.
    #[must_use]
    pub fn is_sequential(self) -> bool {
        !matches!(self, Self::OpenAi | Self::Azure)
    }

    /// Whether this model of it signs all its thoughts, as Claude does.
    #[must_use]
    pub fn signs(self, model: &str, options: &Options) -> bool {
        match self {
            Self::Anthropic => true,
            Self::Bedrock => {
                options.bedrock_api == BedrockApi::InvokeAnthropic || bedrock::is_claude(model)
            }
            Self::OpenAi | Self::Azure | Self::Gemini => false,
        }
    }

    /// The header of an answer that names it, where its body does not.
    #[must_use]
    pub fn id_header(self) -> Option<&'static str> {
        (self == Self::Bedrock).then_some("x-amzn-requestid")
    }

    /// Whether a stream may come as one JSON array.
    #[must_use]
    pub fn streams_arrays(self) -> bool {
        self == Self::Gemini
    }
}

/// A path of Azure's, by deployment or of its `v1` interface.
fn azure(operation: &str, settings: &Settings<'_>) -> String {
    let options = settings.options;
    let chat = azure_path(settings.model, &options.api_version, options.api_v1);
    chat.replacen("/chat/completions", operation, 1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Kind, NativePath, Protocol, Settings, parameter_proves_client, proves_client};
    use crate::options::BedrockApi;
    use crate::testing::options;

    #[test]
    fn what_proves_who_the_client_is() {
        for header in [
            "authorization",
            "proxy-authorization",
            "x-goog-iam-authorization-token",
            "x-auth-token",
            "x-amz-security-token",
            "ocp-apim-subscription-key",
            "x-goog-api-key",
            "x-api-key",
            "api-key",
            "cookie",
        ] {
            assert!(proves_client(header), "{header}");
        }
        for header in [
            "accept",
            "anthropic-version",
            "content-type",
            "idempotency-key",
            "user-agent",
            "x-goog-api-client",
            "x-session-id",
            "x-stainless-lang",
            "x-max-tokens",
        ] {
            assert!(!proves_client(header), "{header}");
        }
        for name in [
            "key",
            "KEY",
            "access_token",
            "token",
            "api_key",
            "api-key",
            "apikey",
            "subscription-key",
            "X-Amz-Security-Token",
            "X-Amz-Signature",
        ] {
            assert!(parameter_proves_client(name), "{name}");
        }
        for name in [
            "alt",
            "api-version",
            "keys",
            "beta",
            "prettyPrint",
            "pageToken",
            "fields",
        ] {
            assert!(!parameter_proves_client(name), "{name}");
        }
    }

    #[test]
    fn claude_at_bedrock_is_told_by_its_id_or_its_api() {
        let converse = options();
        let mut invoke = options();
        invoke.bedrock_api = BedrockApi::InvokeAnthropic;
        for (model, claude) in [
            ("anthropic.claude-sonnet-4-5-20250929-v1:0", true),
            ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", true),
            (
                "arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-sonnet-4-5-20250929-v1:0",
                true,
            ),
            (
                "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-1-20250805-v1:0",
                true,
            ),
            (
                "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3d4e5f6",
                false,
            ),
            ("amazon.nova-pro-v1:0", false),
        ] {
            assert_eq!(Kind::Bedrock.signs(model, &converse), claude, "{model}");
            assert!(Kind::Bedrock.signs(model, &invoke), "{model}");
        }
        assert!(Kind::Anthropic.signs("x", &converse));
        assert!(!Kind::OpenAi.signs("anthropic.claude", &converse));
    }

    #[test]
    fn paths_of_every_kind() {
        let mut options = options();
        options.api_version = "2024-10-21".to_owned();
        options.api_v1 = false;
        let pictures = BTreeMap::new();
        let settings = Settings {
            model: "a b",
            options: &options,
            pictures: &pictures,
            recall: &|_| None,
        };
        let native = |kind: Kind, protocol, asked| kind.native_path(protocol, asked, &settings);
        let path = |path: &str, takes_query| NativePath {
            path: path.to_owned(),
            takes_query,
        };
        for (kind, protocol, asked, expected) in [
            (
                Kind::OpenAi,
                Protocol::Chat,
                "/x/chat/completions",
                path("/v1/chat/completions", true),
            ),
            (
                Kind::OpenAi,
                Protocol::Responses,
                "/v1/responses",
                path("/v1/responses", true),
            ),
            (
                Kind::Azure,
                Protocol::Chat,
                "/v1/chat/completions",
                path(
                    "/openai/deployments/a%20b/chat/completions?api-version=2024-10-21",
                    false,
                ),
            ),
            (
                Kind::Anthropic,
                Protocol::Messages,
                "/v1/messages",
                path("/v1/messages", true),
            ),
            (
                Kind::Anthropic,
                Protocol::Messages,
                "/v1/messages/count_tokens",
                path("/v1/messages/count_tokens", true),
            ),
            (
                Kind::Gemini,
                Protocol::GenerateContent,
                "/v1beta/models/m:streamGenerateContent",
                path("/v1beta/models/a%20b:streamGenerateContent", true),
            ),
            (
                Kind::Gemini,
                Protocol::GenerateContent,
                "/v1/models/m:countTokens",
                path("/v1/models/a%20b:countTokens", true),
            ),
        ] {
            assert_eq!(native(kind, protocol, asked), expected, "{kind:?}");
        }
        assert_eq!(
            Kind::Azure
                .beside_path("/v1/embeddings", &settings)
                .as_deref(),
            Some("/openai/deployments/a%20b/embeddings?api-version=2024-10-21")
        );
        assert_eq!(Kind::OpenAi.beside_path("/v1/embeddings", &settings), None);
    }
}
