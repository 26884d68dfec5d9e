//! What an operator has said of a provider, and what a writer is told of one call.

use std::borrow::Cow;
use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::fidelity::Report;
use crate::request::{State, Thinking};

/// Settings of a provider (spec providers 1.3), defaults filled in.
#[derive(Clone, Debug)]
pub struct Options {
    /// The limit of an answer where a provider must have one and the client gave none.
    pub default_max_tokens: Option<u64>,
    /// Which spelling of the limit Chat Completions is sent.
    pub max_tokens_field: MaxTokensField,
    /// How structured output is asked for.
    pub structured_output: StructuredOutput,
    /// How Gemini is told schemas.
    pub schema_mode: SchemaMode,
    /// `strict` of tools is passed on.
    pub strict_tools: bool,
    /// How reasoning is asked for.
    pub reasoning_style: ReasoningStyle,
    /// Tokens for an effort, over the table of the specification.
    pub reasoning_budgets: BTreeMap<String, u64>,
    /// What clients see of the model's thoughts.
    pub expose_reasoning: Expose,
    /// What becomes of system messages within the conversation.
    pub mid_system: MidSystem,
    /// What becomes of addresses of pictures.
    pub image_urls: ImageUrls,
    /// `stream_options` may be sent.
    pub stream_options: bool,
    /// Losses are refused.
    pub reject_losses: bool,
    /// Which API of Bedrock is used.
    pub bedrock_api: BedrockApi,
    /// `anthropic-beta` values (sent in the body by Bedrock's InvokeModel).
    pub betas: Vec<String>,
    /// The version of Azure's API that addresses by deployment name.
    pub api_version: String,
    /// Azure is addressed without deployments.
    pub api_v1: bool,
}

/// Spelling of the limit of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaxTokensField {
    /// The client's own.
    Auto {
        /// From another protocol `max_completion_tokens`, else `max_tokens`.
        new: bool,
    },
    /// `max_tokens`.
    Old,
    /// `max_completion_tokens`.
    New,
}

/// How structured output is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StructuredOutput {
    /// With a tool that must be called.
    Tool,
    /// With the provider's own member.
    Native,
}

/// How Gemini is told schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaMode {
    /// In the subset of OpenAPI.
    OpenApi,
    /// As JSON Schema.
    JsonSchema,
}

/// How reasoning is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReasoningStyle {
    /// As a number of tokens.
    Budget,
    /// As Gemini's level.
    Level,
    /// As Anthropic's adaptive thinking with an effort.
    Adaptive,
    /// As OpenAI's effort.
    Effort,
    /// Not at all: asking for it is a loss.
    Off,
}

/// What clients see of the model's thoughts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expose {
    /// Nothing.
    None,
    /// Text.
    Text,
    /// Text, signatures and redacted thoughts.
    Full,
}

/// What becomes of system messages within the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MidSystem {
    /// They join those before it.
    Hoist,
    /// They stay, as `System: …` of the user.
    UserNote,
}

/// What becomes of addresses of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageUrls {
    /// They are passed on.
    Forward,
    /// What is there is fetched and sent.
    Fetch,
    /// They are refused.
    Reject,
}

/// Which API of Bedrock is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BedrockApi {
    /// Converse.
    Converse,
    /// InvokeModel with Anthropic's bodies.
    InvokeAnthropic,
}

/// A picture that was fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Media type by its first bytes.
    pub mime: Cow<'static, str>,
    /// Its bytes in base64.
    pub base64: String,
}

/// What is remembered of an earlier answer whose client does not send it back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept {
    /// Thoughts before the call, with their signatures.
    pub thoughts: Vec<Thinking<'static>>,
    /// The signature of the call.
    pub state: Option<State<'static>>,
}

impl Kept {
    /// About how many bytes it takes.
    #[must_use]
    pub fn size(&self) -> usize {
        let state = |state: &Option<State<'_>>| {
            state.as_ref().map_or(0, |state| state.data.decoded().len())
        };
        let text =
            |thought: &Thinking<'_>| thought.text.as_ref().map_or(0, |text| text.decoded().len());
        let thoughts = self.thoughts.iter();
        thoughts
            .map(|thought| text(thought) + state(&thought.state))
            .sum::<usize>()
            + state(&self.state)
    }
}

/// What a writer of requests is told.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "holds a function")]
pub struct Settings<'s> {
    /// The provider's name for the model.
    pub model: &'s str,
    /// What the operator has said.
    pub options: &'s Options,
    /// Pictures that were fetched, by address.
    pub pictures: &'s BTreeMap<String, Picture>,
    /// What is remembered for the id of a call.
    pub recall: &'s dyn Fn(&str) -> Option<Kept>,
}

/// A request in a provider's dialect.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// The body.
    pub body: String,
    /// What the answer is to be read with.
    pub memory: Memory,
    /// What could not be kept.
    pub report: Report,
}

/// What the reader of an answer has to know of the request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Names of tools that the provider was told otherwise: (the provider's, the client's).
    pub tool_names: Vec<(String, String)>,
    /// The tool that stands for structured output, as the provider was told it: its arguments are the answer's text.
    pub structured: Option<String>,
}

impl Memory {
    /// The client's name of a tool.
    #[must_use]
    pub fn client_name<'n>(&'n self, sent: &'n str) -> &'n str {
        self.tool_names
            .iter()
            .find(|(told, _)| told == sent)
            .map_or(sent, |(_, client)| client)
    }
}

/// What a reader of answers is told. Cheap to clone for a stream's sake.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// What the request has left behind.
    pub memory: Memory,
    /// Unique to the request; visible ASCII. What ids are made of that the provider does not give: see [`call_id`].
    pub unique: String,
}

/// The id of a call whose provider gives none: `call_` and 24 characters of base32, the same for the same request and number.
#[must_use]
pub fn call_id(unique: &str, number: u64) -> String {
    const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let digest = Sha256::digest(format!("{unique}/{number}"));
    let letters = digest.iter().take(24).map(|byte| {
        let letter = ALPHABET
            .get(usize::from(byte & 31))
            .copied()
            .unwrap_or(b'a');
        char::from(letter)
    });
    "call_".chars().chain(letters).collect()
}

/// What a writer of answers is told.
#[derive(Clone, Debug)]
pub struct Context {
    /// The name the client asked for.
    pub model: String,
    /// Unique to the request; visible ASCII. What missing ids are made of.
    pub unique: String,
    /// What the client may quote when it asks about an error.
    pub request_id: String,
    /// Seconds since 1970.
    pub created: u64,
    /// Nothing beyond the contract of Chat Completions: no extension members.
    pub strict: bool,
    /// What clients see of thoughts.
    pub expose: Expose,
    /// Members of a Responses request that its answer repeats, as the inside of an object without braces (`"temperature":1,…`).
    pub echo: String,
    /// Gemini: the events are elements of one JSON array, not an event stream.
    pub array: bool,
    /// The provider tells the end of a call before the next one begins.
    pub sequential: bool,
    /// The model signs every thought (Claude): thoughts may leave before their signatures are there.
    pub signed: bool,
}
