//! One message: what it is, and its payload.

use std::fmt;

use aws_smithy_eventstream::frame::write_message_to;
use aws_smithy_types::event_stream::{Header, HeaderValue, Message as Raw};
use bytes::Bytes;

const MESSAGE_TYPE: &str = ":message-type";
const EVENT_TYPE: &str = ":event-type";
const EXCEPTION_TYPE: &str = ":exception-type";
const ERROR_CODE: &str = ":error-code";
const ERROR_MESSAGE: &str = ":error-message";

/// A message of an event stream. Printing it does not show its payload.
#[derive(Clone, PartialEq)]
pub struct Message(Raw);

/// What a message is, by its headers. A header that is missing, or not text, reads as empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind<'a> {
    /// An event of this type.
    Event(&'a str),
    /// An exception that the service's model knows, of this type. The payload says more.
    Exception(&'a str),
    /// A failure that no model describes.
    Error {
        /// `:error-code`.
        code: &'a str,
        /// `:error-message`.
        message: &'a str,
    },
    /// None of those.
    Other,
}

/// A message that its framing has no room for: a name or text over 64 KiB, or a payload over 4 GiB.
#[derive(Debug, thiserror::Error)]
#[error("the message cannot be framed")]
pub struct Unwritable(#[source] aws_smithy_eventstream::error::Error);

impl Message {
    /// An event with a payload of JSON.
    pub fn event(event_type: &str, payload: impl Into<Bytes>) -> Self {
        Self::with(payload, "event", &[(EVENT_TYPE, event_type)])
    }

    /// An exception with a payload of JSON.
    pub fn exception(exception_type: &str, payload: impl Into<Bytes>) -> Self {
        Self::with(payload, "exception", &[(EXCEPTION_TYPE, exception_type)])
    }

    /// A failure outside the service's model.
    #[must_use]
    pub fn error(code: &str, message: &str) -> Self {
        let headers = [(ERROR_CODE, code), (ERROR_MESSAGE, message)];
        Self::with(Bytes::new(), "error", &headers)
    }

    fn with(payload: impl Into<Bytes>, kind: &str, headers: &[(&'static str, &str)]) -> Self {
        let payload = payload.into();
        let content = (":content-type", "application/json");
        let headers = headers
            .iter()
            .copied()
            .chain((!payload.is_empty()).then_some(content))
            .chain([(MESSAGE_TYPE, kind)]);
        let headers = headers
            .map(|(name, value)| Header::new(name, HeaderValue::String(value.to_owned().into())));
        Self(Raw::new_from_parts(headers.collect(), payload))
    }

    /// What it is.
    #[must_use]
    pub fn kind(&self) -> Kind<'_> {
        match self.header(MESSAGE_TYPE) {
            "event" => Kind::Event(self.header(EVENT_TYPE)),
            "exception" => Kind::Exception(self.header(EXCEPTION_TYPE)),
            "error" => Kind::Error {
                code: self.header(ERROR_CODE),
                message: self.header(ERROR_MESSAGE),
            },
            _ => Kind::Other,
        }
    }

    /// What it carries.
    #[must_use]
    pub fn payload(&self) -> &Bytes {
        self.0.payload()
    }

    /// Its bytes on the wire.
    ///
    /// # Errors
    /// When a length does not fit its field.
    pub fn encode(&self) -> Result<Vec<u8>, Unwritable> {
        let mut bytes = Vec::with_capacity(self.payload().len().saturating_add(128));
        write_message_to(&self.0, &mut bytes).map_err(Unwritable)?;
        Ok(bytes)
    }

    fn header(&self, name: &str) -> &str {
        let header = self
            .0
            .headers()
            .iter()
            .find(|header| header.name().as_str() == name);
        header
            .and_then(|header| header.value().as_string().ok())
            .map_or("", |text| text.as_str())
    }
}

impl From<Raw> for Message {
    fn from(raw: Raw) -> Self {
        Self(raw)
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message")
            .field("kind", &self.kind())
            .field("payload", &self.payload().len())
            .finish()
    }
}
