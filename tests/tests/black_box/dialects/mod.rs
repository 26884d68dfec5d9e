//! Clients of four protocols, providers of five kinds: what each side gets of the other.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "helpers of tests fail the test, at once and loudly"
)]

mod addresses;
mod arrays;
mod ask;
mod asked;
mod beside;
mod content;
mod envelopes;
mod failover;
mod faults;
mod foreign;
mod log;
mod matrix;
mod native;
mod operator;
mod own;
mod pictures;
mod secrets;
mod signatures;
mod streams;
mod thoughts;
mod told;
mod unanswered;
mod wire;

use onwards_tests::{Gateway, Launch, Recorded, Upstream};
use serde_json::{Value, json};

/// The key of every provider that is no other test's business.
pub(crate) const KEY: &str = "sk-of-the-provider";

/// What a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Client {
    Chat,
    Responses,
    Messages,
    Gemini,
}

/// What a provider is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    OpenAi,
    Azure,
    Anthropic,
    Gemini,
    Bedrock,
}

/// What passes between the gateway and a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    Chat,
    Responses,
    Messages,
    Gemini,
    Converse,
}

impl Client {
    pub(crate) const ALL: [Self; 4] = [Self::Chat, Self::Responses, Self::Messages, Self::Gemini];

    /// The path for the alias `m`.
    pub(crate) fn path(self, stream: bool) -> &'static str {
        match (self, stream) {
            (Self::Chat, _) => "/v1/chat/completions",
            (Self::Responses, _) => "/v1/responses",
            (Self::Messages, _) => "/v1/messages",
            (Self::Gemini, false) => "/v1beta/models/m:generateContent",
            (Self::Gemini, true) => "/v1beta/models/m:streamGenerateContent?alt=sse",
        }
    }
}

impl Kind {
    pub(crate) const ALL: [Self; 5] = [
        Self::OpenAi,
        Self::Azure,
        Self::Anthropic,
        Self::Gemini,
        Self::Bedrock,
    ];

    /// Its name in the configuration.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Azure => "azure_openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Bedrock => "bedrock",
        }
    }

    /// The provider's name for the model.
    pub(crate) fn model(self) -> &'static str {
        match self {
            Self::Bedrock => "anthropic.vendor-model-v1:0",
            _ => "vendor-model",
        }
    }

    /// What the configuration says of such a provider.
    pub(crate) fn provider(self, up: &Upstream) -> Value {
        let mut provider =
            json!({"kind": self.name(), "url": up.url(), "onwards_model": self.model()});
        if self == Self::Bedrock {
            provider["aws"] = json!({
                "region": "us-east-1", "access_key_id": "AKIDEXAMPLE", "secret_access_key": KEY,
            });
        } else {
            provider["onwards_key"] = KEY.into();
        }
        provider
    }

    /// The same with more members.
    pub(crate) fn provider_with(self, up: &Upstream, members: &Value) -> Value {
        let mut provider = self.provider(up);
        for (name, value) in members.as_object().unwrap() {
            provider[name] = value.clone();
        }
        provider
    }

    /// What such a provider speaks with a client of this protocol.
    pub(crate) fn wire(self, client: Client) -> Wire {
        match (self, client) {
            (Self::OpenAi, Client::Responses) => Wire::Responses,
            (Self::OpenAi | Self::Azure, _) => Wire::Chat,
            (Self::Anthropic, _) => Wire::Messages,
            (Self::Gemini, _) => Wire::Gemini,
            (Self::Bedrock, _) => Wire::Converse,
        }
    }

    /// True where the client's own bytes are sent on.
    pub(crate) fn speaks(self, client: Client) -> bool {
        matches!(
            (self, client),
            (Self::OpenAi, Client::Chat | Client::Responses)
                | (Self::Azure, Client::Chat)
                | (Self::Anthropic, Client::Messages)
                | (Self::Gemini, Client::Gemini)
        )
    }

    /// The request line that such a provider expects.
    pub(crate) fn line(self, client: Client, stream: bool) -> String {
        let target = match (self, stream) {
            (Self::OpenAi, _) if client == Client::Responses => "/v1/responses",
            (Self::OpenAi, _) => "/v1/chat/completions",
            (Self::Azure, _) => {
                "/openai/deployments/vendor-model/chat/completions?api-version=2024-10-21"
            }
            (Self::Anthropic, _) => "/v1/messages",
            (Self::Gemini, false) => "/v1beta/models/vendor-model:generateContent",
            (Self::Gemini, true) => "/v1beta/models/vendor-model:streamGenerateContent?alt=sse",
            (Self::Bedrock, false) => "/model/anthropic.vendor-model-v1%3A0/converse",
            (Self::Bedrock, true) => "/model/anthropic.vendor-model-v1%3A0/converse-stream",
        };
        format!("POST {target} HTTP/1.1")
    }

    /// Holds that the request carries the provider's key where such a provider looks for it, and nobody else's.
    pub(crate) fn is_authorized(self, request: &Recorded) {
        let headers = ["authorization", "api-key", "x-api-key", "x-goog-api-key"];
        let sent = headers
            .into_iter()
            .filter_map(|name| Some((name, request.header(name)?)));
        let sent: Vec<(&str, &str)> = sent.collect();
        let bearer = format!("Bearer {KEY}");
        match self {
            Self::OpenAi => assert_eq!(sent, [("authorization", bearer.as_str())]),
            Self::Azure => assert_eq!(sent, [("api-key", KEY)]),
            Self::Anthropic => assert_eq!(sent, [("x-api-key", KEY)]),
            Self::Gemini => assert_eq!(sent, [("x-goog-api-key", KEY)]),
            Self::Bedrock => {
                let [("authorization", signature)] = sent[..] else {
                    panic!("{sent:?}");
                };
                let scheme = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/";
                assert!(signature.starts_with(scheme), "{signature}");
                assert!(request.header("x-amz-date").is_some());
            }
        }
    }
}

/// A gateway with one provider behind the alias `m`.
pub(crate) async fn serve(kind: Kind, up: &Upstream) -> Gateway {
    Launch::targets(&json!({"m": kind.provider(up)}))
        .start()
        .await
}
