//! From a protocol or a kind to the module that speaks it.

use crate::answer::Answer;
use crate::codec::{Decoder, Encoder};
use crate::failure::{Failure, Rejected, Unreadable};
use crate::options::{Context, Options, Reading, Settings, Written};
use crate::request::Request;
use crate::{Kind, Protocol, bedrock, chat, gemini, responses};

impl Protocol {
    /// Reads a client's request.
    ///
    /// # Errors
    /// For a body that is not JSON (`invalid_json`) or not a request of this protocol (`invalid_request`).
    pub fn read_request(self, body: &[u8]) -> Result<Request<'_>, Rejected> {
        match self {
            Self::Chat => chat::read_request(body),
            Self::Responses => responses::read_request(body),
            Self::Gemini => gemini::read_request(body),
            Self::Messages => Err(unsupported()),
        }
    }

    /// Appends a whole answer.
    pub fn write_answer(self, answer: &Answer<'_>, context: &Context, out: &mut String) {
        match self {
            Self::Chat | Self::Messages => chat::write_answer(answer, context, out),
            Self::Responses => responses::write_answer(answer, context, out),
            Self::Gemini => gemini::write_answer(answer, context, out),
        }
    }

    /// Appends an error: the whole body of an answer.
    pub fn write_failure(self, failure: &Failure, request_id: &str, out: &mut String) {
        match self {
            // The two of OpenAI have one envelope.
            Self::Chat | Self::Responses | Self::Messages => {
                chat::write_failure(failure, request_id, out);
            }
            Self::Gemini => gemini::write_failure(failure, request_id, out),
        }
    }

    /// A writer of a stream.
    #[must_use]
    pub fn encoder(self, context: Context) -> Encoder {
        Encoder::new(self, context)
    }
}

impl Kind {
    /// True where the kind speaks the client's protocol, so that nothing has to be translated.
    #[must_use]
    pub fn speaks(self, protocol: Protocol) -> bool {
        match protocol {
            Protocol::Chat => matches!(self, Self::OpenAi | Self::Azure),
            Protocol::Responses => self == Self::OpenAi,
            Protocol::Messages => self == Self::Anthropic,
            Protocol::Gemini => self == Self::Gemini,
        }
    }

    /// Writes a request.
    ///
    /// # Errors
    /// For what cannot be said in this dialect and must not be left out.
    pub fn write_request(
        self,
        request: &Request<'_>,
        settings: &Settings<'_>,
    ) -> Result<Written, Rejected> {
        if let Some(rejected) = &request.native_only {
            return Err(rejected.clone());
        }
        match self {
            Self::OpenAi | Self::Azure => chat::write_request(request, settings),
            Self::Gemini => gemini::write_request(request, settings),
            Self::Anthropic | Self::Bedrock => Err(unsupported()),
        }
    }

    /// Reads a whole answer.
    ///
    /// # Errors
    /// For what is no answer of this dialect.
    pub fn read_answer<'a>(
        self,
        body: &'a str,
        reading: &Reading,
    ) -> Result<Answer<'a>, Unreadable> {
        match self {
            Self::OpenAi | Self::Azure => chat::read_answer(body, reading),
            Self::Gemini => gemini::read_answer(body, reading),
            Self::Bedrock => bedrock::read_answer(body, reading),
            Self::Anthropic => Err(Unreadable::new("not translated")),
        }
    }

    /// The error that the body of a successful answer holds instead of one.
    #[must_use]
    pub fn embedded_error(self, body: &str) -> Option<Failure> {
        match self {
            Self::OpenAi | Self::Azure => chat::embedded_error(body),
            Self::Gemini => gemini::embedded_error(body),
            Self::Bedrock => bedrock::embedded_error(body),
            Self::Anthropic => None,
        }
    }

    /// Reads an answer with an error status. `header` gives headers of it by lower-case name.
    #[must_use]
    pub fn read_failure(
        self,
        status: u16,
        header: &dyn Fn(&str) -> Option<String>,
        body: &[u8],
    ) -> Failure {
        match self {
            Self::OpenAi | Self::Azure => chat::read_failure(status, body),
            Self::Gemini => gemini::read_failure(status, header, body),
            Self::Bedrock => bedrock::read_failure(status, header, body),
            Self::Anthropic => Failure::unsaid(status),
        }
    }

    /// A reader of a stream.
    #[must_use]
    pub fn decoder(self, reading: Reading, _options: &Options) -> Decoder {
        Decoder::new(self, reading)
    }

    /// True for an error that another provider may not have. `name` is the name that AWS gives an error in a header, or empty.
    #[must_use]
    pub fn retries(self, status: u16, name: &str) -> bool {
        let header = |wanted: &str| (wanted == "x-amzn-errortype").then(|| name.to_owned());
        self.read_failure(status, &header, b"").retryable
    }
}

/// What a Responses answer repeats of its request: see [`Context::echo`].
#[must_use]
pub fn echo(body: &[u8]) -> String {
    responses::echo(body)
}

/// Reads an error that an AWS event stream tells in a message that is no event: `name` is its `:exception-type` or `:error-code`.
#[must_use]
pub fn read_exception(name: &str, payload: &str) -> Failure {
    bedrock::read_exception(name, payload)
}

/// The path and query at Azure: of a deployment, or of its `v1` interface, where the body names the model.
#[must_use]
pub fn azure_path(model: &str, api_version: &str, v1: bool) -> String {
    chat::azure_path(model, api_version, v1)
}

fn unsupported() -> Rejected {
    Rejected::new(
        "endpoint_not_supported",
        None,
        "this protocol cannot be translated",
    )
}

#[cfg(test)]
mod tests;
