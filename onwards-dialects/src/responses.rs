//! OpenAI Responses, spoken by clients (spec providers 4.4). Nothing is stored: whatever refers to an earlier answer is refused.

mod echo;
mod items;
mod read;
mod stream;
mod write;

pub(crate) use echo::echo;
pub(crate) use read::read_request;
pub(crate) use stream::Encoder;
pub(crate) use write::write_answer;

/// Errors have the envelope of Chat Completions.
pub(crate) use crate::chat::write_failure;

#[cfg(test)]
mod tests;
