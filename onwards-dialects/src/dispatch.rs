//! From a protocol or a kind to the module that speaks it.

use crate::answer::Answer;
use crate::codec::{Decoder, Encoder};
use crate::failure::{Failure, Rejected, Unreadable};
use crate::options::{Context, Options, Reading, Settings, Written};
use crate::request::Request;
use crate::write::object;
use crate::{Kind, Protocol, bedrock, chat, gemini, messages, responses};

impl Protocol {
    /// Reads a client's request.
    ///
    /// # Errors
    /// For a body that is not JSON (`invalid_json`) or not a request of this protocol (`invalid_request`).
    pub fn read_request(self, body: &[u8]) -> Result<Request<'_>, Rejected> {
        match self {
            Self::Chat => chat::read_request(body),
            Self::Responses => responses::read_request(body),
            Self::GenerateContent => gemini::read_request(body),
            Self::Messages => messages::read_request(body),
        }
    }

    /// Appends a whole answer.
    pub fn write_answer(self, answer: &Answer<'_>, context: &Context, out: &mut String) {
        match self {
            Self::Chat => chat::write_answer(answer, context, out),
            Self::Messages => messages::write_answer(answer, context, out),
            Self::Responses => responses::write_answer(answer, context, out),
            Self::GenerateContent => gemini::write_answer(answer, context, out),
        }
    }

    /// Appends an error: the whole body of an answer.
    pub fn write_failure(self, failure: &Failure, request_id: &str, out: &mut String) {
        match self {
            // The two of OpenAI have one envelope.
            Self::Chat => chat::write_failure(failure, request_id, out),
            Self::Responses => responses::write_failure(failure, request_id, out),
            Self::Messages => messages::write_failure(failure, request_id, out),
            Self::GenerateContent => gemini::write_failure(failure, request_id, out),
        }
    }

    /// Appends an error to a stream that was passed on as it came: the frames that tell it, and are the end.
    pub fn write_stream_failure(self, failure: &Failure, request_id: &str, out: &mut String) {
        out.push_str(match self {
            Self::Chat | Self::GenerateContent => "data: ",
            Self::Responses | Self::Messages => "event: error\ndata: ",
        });
        if self == Self::Responses {
            object(out, |o| {
                o.text("type", "error");
                for (name, value) in [("code", &failure.code), ("param", &failure.param)] {
                    match value {
                        Some(value) => o.text(name, value),
                        None => o.null(name),
                    }
                }
                o.text("message", &failure.message);
                o.u64("sequence_number", 0);
            });
        } else {
            self.write_failure(failure, request_id, out);
        }
        out.push_str(match self {
            Self::Chat => "\n\ndata: [DONE]\n\n",
            Self::GenerateContent | Self::Responses | Self::Messages => "\n\n",
        });
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
            Protocol::GenerateContent => self == Self::Gemini,
        }
    }

    /// The path and query that an answer is asked for at.
    #[must_use]
    pub fn path(self, settings: &Settings<'_>, stream: bool) -> String {
        match self {
            Self::OpenAi => chat::PATH.to_owned(),
            Self::Azure => {
                let options = settings.options;
                chat::azure_path(settings.model, &options.api_version, options.api_v1)
            }
            Self::Anthropic => messages::path(settings, stream),
            Self::Gemini => gemini::path(settings, stream),
            Self::Bedrock => bedrock::path(settings, stream),
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
            Self::Anthropic => messages::write_request(request, settings),
            Self::Gemini => gemini::write_request(request, settings),
            Self::Bedrock => bedrock::write_request(request, settings),
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
            Self::Anthropic => messages::read_answer(body, reading),
        }
    }

    /// The error that the body of a successful answer holds instead of one.
    #[must_use]
    pub fn embedded_error(self, body: &str) -> Option<Failure> {
        match self {
            Self::OpenAi | Self::Azure => chat::embedded_error(body),
            Self::Gemini => gemini::embedded_error(body),
            Self::Bedrock => bedrock::embedded_error(body),
            Self::Anthropic => messages::embedded_error(body),
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
            Self::Anthropic => messages::read_failure(status, header, body),
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

#[cfg(test)]
mod tests;
