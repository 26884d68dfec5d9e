//! What clients ask beside answers: how many tokens a prompt has, and which models there are (spec providers 4.2, 4.3).

use crate::failure::Rejected;
use crate::options::{Settings, Written};
use crate::request::Request;
use crate::write::object;
use crate::{Kind, Protocol, bedrock, gemini, messages};

impl Protocol {
    /// Reads a request for a number of tokens.
    ///
    /// # Errors
    /// As [`read_request`](Self::read_request); `endpoint_not_supported` for protocols that do not ask.
    pub fn read_count(self, body: &[u8]) -> Result<Request<'_>, Rejected> {
        match self {
            Self::Messages => messages::read_count_request(body),
            Self::GenerateContent => gemini::read_count_request(body),
            Self::Chat | Self::Responses => Err(uncounted()),
        }
    }

    /// Appends a number of tokens, the whole body of an answer.
    pub fn write_count(self, tokens: u64, out: &mut String) {
        match self {
            Self::GenerateContent => gemini::write_count_answer(tokens, out),
            Self::Messages | Self::Chat | Self::Responses => {
                messages::write_count_answer(tokens, out);
            }
        }
    }

    /// Appends the list of models, the whole body of an answer. `created` is in seconds since 1970.
    pub fn write_models(self, names: &[&str], created: u64, out: &mut String) {
        match self {
            Self::Messages => messages::write_models(names, created, out),
            Self::GenerateContent => gemini::write_models(names, out),
            Self::Chat | Self::Responses => object(out, |o| {
                o.text("object", "list");
                o.array("data", |list| {
                    for name in names {
                        list.object(|o| {
                            o.text("id", name);
                            o.text("object", "model");
                            o.u64("created", created);
                            o.text("owned_by", "None");
                        });
                    }
                });
            }),
        }
    }
}

impl Kind {
    /// Whether a provider of this kind counts tokens itself.
    #[must_use]
    pub fn counts(self) -> bool {
        matches!(self, Self::Anthropic | Self::Gemini | Self::Bedrock)
    }

    /// Where it does: a path; empty for a kind that does not.
    #[must_use]
    pub fn count_path(self, settings: &Settings<'_>) -> String {
        match self {
            Self::Anthropic => messages::count_path().to_owned(),
            Self::Gemini => gemini::count_path(settings),
            Self::Bedrock => bedrock::count_path(settings),
            Self::OpenAi | Self::Azure => String::new(),
        }
    }

    /// Writes a request for a number of tokens.
    ///
    /// # Errors
    /// As [`write_request`](Self::write_request); `endpoint_not_supported` for a kind that does not count.
    pub fn write_count(
        self,
        request: &Request<'_>,
        settings: &Settings<'_>,
    ) -> Result<Written, Rejected> {
        if let Some(rejected) = &request.native_only {
            return Err(rejected.clone());
        }
        match self {
            Self::Anthropic => messages::write_count(request, settings),
            Self::Gemini => gemini::write_count(request, settings),
            Self::Bedrock => bedrock::write_count(request, settings),
            Self::OpenAi | Self::Azure => Err(uncounted()),
        }
    }

    /// The number that a provider has counted; `None` where the body does not say it.
    #[must_use]
    pub fn read_count(self, body: &str) -> Option<u64> {
        match self {
            Self::Anthropic => messages::read_count(body),
            Self::Gemini => gemini::read_count(body),
            Self::Bedrock => bedrock::read_count(body),
            Self::OpenAi | Self::Azure => None,
        }
    }
}

fn uncounted() -> Rejected {
    Rejected::new(
        "endpoint_not_supported",
        None,
        "tokens are not counted in this dialect",
    )
}

#[cfg(test)]
mod tests;
