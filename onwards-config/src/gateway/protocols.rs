//! What holds for the translation between protocols as a whole.

use std::time::Duration;

use schemars::JsonSchema;

/// Which protocols clients may speak, and how far they are believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ingress {
    /// Anthropic Messages is served.
    pub anthropic: bool,
    /// Gemini generateContent is served.
    pub gemini: bool,
    /// Responses is served.
    pub responses: bool,
    /// What a provider is sent that speaks the client's protocol.
    pub same_dialect: SameDialect,
    /// Values of `anthropic-beta` that clients may send: letters, digits, `_`, `.` and `-`.
    pub allowed_betas: Vec<String>,
    /// A client's `x-request-id` is the request's id.
    pub trust_request_id: bool,
}

impl Default for Ingress {
    fn default() -> Self {
        Self {
            anthropic: true,
            gemini: true,
            responses: true,
            same_dialect: SameDialect::Native,
            allowed_betas: Vec::new(),
            trust_request_id: true,
        }
    }
}

/// What a provider is sent that speaks the client's protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(rename = "same_dialect", rename_all = "snake_case")]
pub enum SameDialect {
    /// The client's own body with the model's name replaced.
    Native,
    /// What any other provider would be sent.
    Canonical,
}

/// How pictures are fetched that clients give by address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageFetch {
    /// `false`: such requests are refused.
    pub enabled: bool,
    /// Largest picture: 1 byte to 50 MiB.
    pub max_bytes: u32,
    /// Longest time for all pictures of a request: 100 ms to 1 min.
    pub timeout: Duration,
    /// Most pictures of a request: 1 to 100.
    pub max_images: u32,
    /// Most redirects of a picture: 0 to 10.
    pub max_redirects: u32,
    /// Hosts that are asked, in lower case; `*.` before one stands for every name below it. Empty: any.
    pub allow_hosts: Vec<String>,
    /// Addresses that are not public are asked too.
    pub allow_private: bool,
    /// `http` is allowed beside `https`.
    pub allow_http: bool,
    /// Types of pictures that are sent on: `image/…`, in lower case.
    pub mime_types: Vec<String>,
}

impl Default for ImageFetch {
    fn default() -> Self {
        let types = ["image/jpeg", "image/png", "image/gif", "image/webp"];
        Self {
            enabled: true,
            max_bytes: 10_485_760,
            timeout: Duration::from_secs(10),
            max_images: 20,
            max_redirects: 3,
            allow_hosts: Vec::new(),
            allow_private: false,
            allow_http: false,
            mime_types: types.map(str::to_owned).to_vec(),
        }
    }
}

/// What is remembered of thoughts, for clients that do not send them back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReasoningState {
    /// `false`: nothing.
    pub enabled: bool,
    /// Most calls that are remembered: 1 to 1,000,000.
    pub max_entries: u32,
    /// How long one is: 1 s to 1 day.
    pub ttl: Duration,
}

impl Default for ReasoningState {
    fn default() -> Self {
        Self {
            enabled: true,
            max_entries: 10_000,
            ttl: Duration::from_secs(3600),
        }
    }
}
