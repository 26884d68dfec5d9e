//! InvokeModel with Anthropic's bodies: the dialect of [`messages`] with another address and other frames.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::member;
use crate::Step;
use crate::answer::Event;
use crate::failure::{Rejected, Unreadable};
use crate::messages::{self, Host};
use crate::options::{Options, Reading, Settings, Written};
use crate::request::Request;
use crate::text::value;
use crate::write::object;

/// Tokens of an answer where nobody says: Anthropic's bodies must have a limit.
const DEFAULT_LIMIT: u64 = 4096;

/// A request.
///
/// # Errors
/// As Anthropic's.
pub(super) fn write_request(
    request: &Request<'_>,
    settings: &Settings<'_>,
) -> Result<Written, Rejected> {
    let limit = settings.options.default_max_tokens.unwrap_or(DEFAULT_LIMIT);
    let options = Options {
        default_max_tokens: Some(limit),
        ..settings.options.clone()
    };
    let settings = Settings {
        options: &options,
        ..*settings
    };
    messages::write_for(Host::Bedrock, request, &settings)
}

/// A request to count the tokens of one.
///
/// # Errors
/// As Anthropic's.
pub(super) fn write_count(
    request: &Request<'_>,
    settings: &Settings<'_>,
) -> Result<Written, Rejected> {
    let written = write_request(request, settings)?;
    let mut body = String::new();
    object(&mut body, |o| {
        o.object("input", |o| {
            o.object("invokeModel", |o| {
                o.text("body", &STANDARD.encode(&written.body));
            });
        });
    });
    Ok(Written { body, ..written })
}

/// Reads a stream whose events are wrapped in base64.
#[derive(Debug)]
pub(super) struct Chunks {
    decoder: messages::Decoder,
    /// The event that is being read.
    bytes: Vec<u8>,
}

impl Chunks {
    pub(super) fn new(reading: Reading) -> Self {
        Self {
            decoder: messages::Decoder::new(reading),
            bytes: Vec::new(),
        }
    }

    /// Reads the payload of one `chunk`. One that is not wrapped, as imitations of the service send, is read as it is.
    pub(super) fn payload(
        &mut self,
        payload: &str,
        sink: &mut dyn FnMut(Event<'_>),
    ) -> Result<Step, Unreadable> {
        let value = value(payload).ok_or(Unreadable::new("no JSON object"))?;
        let Some(wrapped) = member(&value, "bytes").and_then(|bytes| bytes.as_str()) else {
            return self.decoder.payload("", payload, sink);
        };
        self.bytes.clear();
        STANDARD
            .decode_vec(&*wrapped, &mut self.bytes)
            .map_err(|_| Unreadable::new("a chunk that is no base64"))?;
        let event = std::str::from_utf8(&self.bytes)
            .map_err(|_| Unreadable::new("a chunk that is no UTF-8"))?;
        self.decoder.payload("", event, sink)
    }

    pub(super) fn end(&mut self, sink: &mut dyn FnMut(Event<'_>)) -> bool {
        self.decoder.end(sink)
    }
}
