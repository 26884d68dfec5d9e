//! Chat requests, answers and streams, translated between wire dialects.
//!
//! A client speaks a [`Protocol`], a provider is of a [`Kind`]. Between them stands one canonical model: [`Request`], [`Answer`]
//! and [`Event`]. Each dialect is a module that reads and writes it, so that every protocol reaches every kind.
//!
//! Bytes and values in, bytes and values out: the crate opens nothing, reads no clock and draws no random number. Whatever it needs
//! of the kind (ids, the time of an answer, pictures that were fetched) is an argument.
//!
//! # Invariants
//!
//! - Strings pass in the escapes they were written in, numbers in their spelling, objects in their order: tool arguments and
//!   schemas are text.
//! - What cannot be kept is noted in a [`Report`], or refused with a [`Rejected`]; nothing is lost silently.
//! - No function panics on any input, and none recurses deeper than the JSON scanner allows.

mod alike;
pub mod answer;
mod bedrock;
mod chat;
mod codec;
mod conversation;
mod count;
mod data_uri;
mod dispatch;
mod estimate;
pub mod failure;
pub mod fidelity;
mod gemini;
mod kept;
mod messages;
mod native;
pub mod options;
mod read;
pub mod request;
mod responses;
mod stream;
#[cfg(test)]
mod testing;
pub mod text;
pub mod wire;
mod write;

pub use answer::{Answer, Event};
pub use chat::foreign_members;
pub use codec::{Decoder, Encoder};
pub use conversation::media::to_fetch;
pub use dispatch::{azure_path, echo, read_exception};
pub use estimate::prompt_tokens;
pub use failure::{Failure, Rejected, Unreadable};
pub use fidelity::Report;
pub use gemini::array::{ArrayError, Splitter as ArraySplitter};
pub use native::{NativeEvents, Shown, named, tokens};
pub use options::{Context, Memory, Options, Settings, Written};
pub use request::Request;
pub use stream::{Ended, Translator};

/// What a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// OpenAI Chat Completions.
    Chat,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Messages,
    /// Gemini generateContent.
    GenerateContent,
}

/// What a provider speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// OpenAI or a server compatible with it.
    OpenAi,
    /// Azure OpenAI: Chat Completions at other addresses.
    Azure,
    /// Anthropic.
    Anthropic,
    /// Google Gemini.
    Gemini,
    /// AWS Bedrock, Converse.
    Bedrock,
}

/// Models that can read each other's opaque state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Claude, at Anthropic or Bedrock.
    Anthropic,
    /// Gemini.
    Google,
}

/// What a reader of a stream says after each payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// More may come.
    Open,
    /// The dialect's terminal signal was seen: the stream may end, and what follows is not needed.
    Complete,
    /// The provider tells of an error.
    Failed(Failure),
}
