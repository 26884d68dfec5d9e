//! What holds for the translation between protocols as a whole.

use std::time::Duration;

use schemars::JsonSchema;

use crate::gateway::SameDialect;

/// Which protocols clients may speak beside Chat Completions. Unknown members are errors.
#[derive(JsonSchema)]
#[schemars(rename = "ingress", deny_unknown_fields)]
pub(crate) struct Ingress {
    /// Serve Anthropic Messages.
    #[schemars(extend("default" = true))]
    pub(crate) anthropic: Option<bool>,
    /// Serve Gemini generateContent.
    #[schemars(extend("default" = true))]
    pub(crate) gemini: Option<bool>,
    /// Serve Responses.
    #[schemars(extend("default" = true))]
    pub(crate) responses: Option<bool>,
    /// What a provider is sent that speaks the client's protocol.
    #[schemars(extend("default" = "native"))]
    pub(crate) same_dialect: Option<SameDialect>,
    /// Values of `anthropic-beta` that clients may send; others are left out.
    #[schemars(inner(regex(pattern = "^[A-Za-z0-9_.-]{1,64}$")), extend("default" = []))]
    pub(crate) allowed_betas: Option<Vec<String>>,
    /// Take a request's id from the client's `x-request-id`. `false`: always make one.
    #[schemars(extend("default" = true))]
    pub(crate) trust_request_id: Option<bool>,
}

/// How pictures are fetched that clients give by address, for providers that want them in the body. Unknown members are
/// errors.
#[derive(JsonSchema)]
#[schemars(rename = "image_fetch", deny_unknown_fields)]
pub(crate) struct ImageFetch {
    /// `false`: requests that need it are refused.
    #[schemars(extend("default" = true))]
    pub(crate) enabled: Option<bool>,
    /// Largest picture.
    #[schemars(range(min = 1, max = 52_428_800), extend("default" = 10_485_760))]
    pub(crate) max_bytes: Option<u32>,
    /// Longest time for all pictures of a request.
    #[schemars(with = "Option<u64>", range(min = 100, max = 60_000), extend("default" = 10_000))]
    pub(crate) timeout_ms: Option<Duration>,
    /// Most pictures of a request.
    #[schemars(range(min = 1, max = 100), extend("default" = 20))]
    pub(crate) max_images: Option<u32>,
    /// Most redirects of a picture.
    #[schemars(range(max = 10), extend("default" = 3))]
    pub(crate) max_redirects: Option<u32>,
    /// Hosts that are asked; `*.example.com` stands for every name below it. Empty: any.
    #[schemars(inner(regex(pattern = r"^(\*\.)?[A-Za-z0-9_.:-]{1,253}$")), extend("default" = []))]
    pub(crate) allow_hosts: Option<Vec<String>>,
    /// Ask addresses too that are not public (loopback, private, link-local, …).
    #[schemars(extend("default" = false))]
    pub(crate) allow_private: Option<bool>,
    /// Allow `http` beside `https`.
    #[schemars(extend("default" = false))]
    pub(crate) allow_http: Option<bool>,
    /// Types of pictures that are sent on. Told by their first bytes, not by what their server says.
    #[schemars(
        inner(regex(pattern = "^image/[a-z0-9.+-]{1,64}$")),
        extend("default" = ["image/jpeg", "image/png", "image/gif", "image/webp"])
    )]
    pub(crate) mime_types: Option<Vec<String>>,
}

/// What the gateway remembers of the thoughts before a tool call, for clients that do not send them back. Unknown members
/// are errors.
#[derive(JsonSchema)]
#[schemars(rename = "reasoning_state", deny_unknown_fields)]
pub(crate) struct ReasoningState {
    /// `false`: nothing is remembered.
    #[schemars(extend("default" = true))]
    pub(crate) enabled: Option<bool>,
    /// Most calls that are remembered.
    #[schemars(range(min = 1, max = 1_000_000), extend("default" = 10_000))]
    pub(crate) max_entries: Option<u32>,
    /// How long one is.
    #[schemars(with = "Option<u64>", range(min = 1, max = 86_400), extend("default" = 3600))]
    pub(crate) ttl_secs: Option<Duration>,
}
