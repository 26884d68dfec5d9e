//! OpenAI Chat Completions, spoken by clients, by OpenAI and compatible servers, and by Azure (spec providers 3.0.7, 3.1, 3.2).
//!
//! As a client protocol: [`read_request`], [`write_answer`], [`Encoder`], [`write_failure`]. As the dialect of a provider:
//! [`write_request`], [`read_answer`], [`Decoder`], [`read_failure`], [`embedded_error`].

mod address;
mod answer;
mod calls;
mod decoder;
mod encoder;
mod failure;
mod foreign;
mod message;
pub(crate) mod native;
mod receive;
mod request;
mod send;
mod send_message;
mod tools;

pub(crate) use address::{PATH, azure_path};
pub(crate) use answer::write_answer;
pub(crate) use decoder::Decoder;
pub(crate) use encoder::Encoder;
pub(crate) use failure::{embedded_error, frame_failure, read_failure, write_failure};
pub use foreign::foreign_members;
pub(crate) use receive::read_answer;
pub(crate) use request::read_request;
pub(crate) use send::write_request;

#[cfg(test)]
mod tests;
