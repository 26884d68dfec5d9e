//! Gemini generateContent, spoken by clients and by Google (spec providers 3.4, 4.3).
//!
//! What a provider says is read by [`wire`] for whole answers ([`answer`]) and streams ([`decoder`]) alike; what a client is told is
//! written by [`parts`] for both ([`answer`], [`encoder`]).

mod answer;
pub(crate) mod array;
mod client;
mod decoder;
mod encoder;
mod failure;
mod listing;
mod parts;
mod request;
mod schema;
mod wire;

pub(crate) use answer::{read_answer, write_answer};
pub(crate) use client::{read_count_request, read_request};
pub(crate) use decoder::Decoder;
pub(crate) use encoder::Encoder;
pub(crate) use failure::{embedded_error, read_failure, write_failure};
pub(crate) use listing::{read_count, write_count_answer, write_models};
pub(crate) use request::{count_path, path, resource_path, write_count, write_request};
pub(crate) use wire::{Counts, tokens};

/// What a stream may hold back, in bytes: thoughts and calls that are not over.
const HELD: usize = 8 << 20;

/// Candidates that a stream may have.
const CANDIDATES: usize = 256;
