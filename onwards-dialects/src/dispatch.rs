//! From a protocol or a kind to the module that speaks it.

use crate::answer::Answer;
use crate::failure::{Failure, Rejected};
use crate::options::Context;
use crate::request::Request;
use crate::{Protocol, chat, responses};

impl Protocol {
    /// Reads a client's request.
    ///
    /// # Errors
    /// For a body that is not JSON (`invalid_json`) or not a request of this protocol (`invalid_request`).
    pub fn read_request(self, body: &[u8]) -> Result<Request<'_>, Rejected> {
        match self {
            Self::Chat => chat::read_request(body),
            Self::Responses => responses::read_request(body),
            Self::Messages | Self::Gemini => Err(Rejected::new(
                "endpoint_not_supported",
                None,
                "this protocol cannot be translated",
            )),
        }
    }

    /// Appends a whole answer.
    pub fn write_answer(self, answer: &Answer<'_>, context: &Context, out: &mut String) {
        match self {
            Self::Responses => responses::write_answer(answer, context, out),
            Self::Chat | Self::Messages | Self::Gemini => {
                chat::write_answer(answer, context, out);
            }
        }
    }

    /// Appends an error.
    pub fn write_failure(self, failure: &Failure, request_id: &str, out: &mut String) {
        match self {
            Self::Chat | Self::Responses | Self::Messages | Self::Gemini => {
                chat::write_failure(failure, request_id, out);
            }
        }
    }
}
