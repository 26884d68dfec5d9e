//! OpenAI Chat Completions, spoken by clients, by OpenAI and compatible servers, and by Azure (spec providers 3.0.7, 3.1, 3.2).

mod answer;
mod encoder;
mod failure;
mod message;
mod request;
mod tools;

pub(crate) use answer::write_answer;
pub(crate) use encoder::Encoder;
pub(crate) use failure::write_failure;
pub(crate) use request::read_request;

#[cfg(test)]
mod tests;
