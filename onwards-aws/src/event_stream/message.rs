//! One message: what it is, and its payload.

use std::fmt;

use bytes::Bytes;

use super::{LEAST, headers};

const MESSAGE_TYPE: &str = ":message-type";
const EVENT_TYPE: &str = ":event-type";
const EXCEPTION_TYPE: &str = ":exception-type";
const ERROR_CODE: &str = ":error-code";
const ERROR_MESSAGE: &str = ":error-message";

/// A message of an event stream: what its headers say that it is, and what it carries; other headers are not kept. Printing it
/// does not show its payload.
#[derive(Clone, PartialEq, Eq)]
pub struct Message {
    sort: Sort,
    payload: Bytes,
}

/// [`Kind`], in texts of its own.
#[derive(Clone, PartialEq, Eq)]
enum Sort {
    Event(Box<str>),
    Exception(Box<str>),
    Error(Box<str>, Box<str>),
    Other,
}

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
pub struct Unwritable;

impl Message {
    /// An event with a payload of JSON.
    pub fn event(event_type: &str, payload: impl Into<Bytes>) -> Self {
        let (sort, payload) = (Sort::Event(event_type.into()), payload.into());
        Self { sort, payload }
    }

    /// An exception with a payload of JSON.
    pub fn exception(exception_type: &str, payload: impl Into<Bytes>) -> Self {
        let (sort, payload) = (Sort::Exception(exception_type.into()), payload.into());
        Self { sort, payload }
    }

    /// A failure outside the service's model.
    #[must_use]
    pub fn error(code: &str, message: &str) -> Self {
        let (sort, payload) = (Sort::Error(code.into(), message.into()), Bytes::new());
        Self { sort, payload }
    }

    /// Of the bytes between prelude and checksum.
    pub(super) fn read(head: &[u8], payload: &[u8]) -> Result<Self, headers::Defect> {
        let mut found = Found::default();
        for header in headers::Headers::of(head) {
            let (name, value) = header?;
            found.header(name, value);
        }
        let [message_type, event, exception, code, message] =
            found.0.map(Option::unwrap_or_default);
        Ok(Self {
            sort: match message_type {
                "event" => Sort::Event(event.into()),
                "exception" => Sort::Exception(exception.into()),
                "error" => Sort::Error(code.into(), message.into()),
                _ => Sort::Other,
            },
            payload: Bytes::copy_from_slice(payload),
        })
    }

    /// What it is.
    #[must_use]
    pub fn kind(&self) -> Kind<'_> {
        match &self.sort {
            Sort::Event(event_type) => Kind::Event(event_type),
            Sort::Exception(exception_type) => Kind::Exception(exception_type),
            Sort::Error(code, message) => Kind::Error { code, message },
            Sort::Other => Kind::Other,
        }
    }

    /// What it carries.
    #[must_use]
    pub fn payload(&self) -> &Bytes {
        &self.payload
    }

    /// Its bytes on the wire, with the headers that say what it is.
    ///
    /// # Errors
    /// When a length does not fit its field.
    pub fn encode(&self) -> Result<Vec<u8>, Unwritable> {
        let mut head = Vec::new();
        let mut header = |name: &str, value: &str| headers::write(name, value, &mut head);
        let message_type = match &self.sort {
            Sort::Event(event_type) => {
                header(EVENT_TYPE, event_type)?;
                "event"
            }
            Sort::Exception(exception_type) => {
                header(EXCEPTION_TYPE, exception_type)?;
                "exception"
            }
            Sort::Error(code, message) => {
                header(ERROR_CODE, code)?;
                header(ERROR_MESSAGE, message)?;
                "error"
            }
            Sort::Other => "",
        };
        if !self.payload.is_empty() {
            header(":content-type", "application/json")?;
        }
        if !message_type.is_empty() {
            header(MESSAGE_TYPE, message_type)?;
        }
        let length = LEAST
            .saturating_add(head.len())
            .saturating_add(self.payload.len());
        let size = |size: usize| u32::try_from(size).map_err(|_| Unwritable);
        let mut bytes = Vec::with_capacity(length);
        bytes.extend(size(length)?.to_be_bytes());
        bytes.extend(size(head.len())?.to_be_bytes());
        bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
        bytes.extend_from_slice(&head);
        bytes.extend_from_slice(&self.payload);
        bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
        Ok(bytes)
    }
}

/// The headers that say what a message is: its type, and those of an event, an exception and an error. The first of a name counts.
#[derive(Default)]
struct Found<'a>([Option<&'a str>; 5]);

impl<'a> Found<'a> {
    fn header(&mut self, name: &str, value: Option<&'a str>) {
        let Self([message_type, event, exception, code, message]) = self;
        let place = match name {
            MESSAGE_TYPE => message_type,
            EVENT_TYPE => event,
            EXCEPTION_TYPE => exception,
            ERROR_CODE => code,
            ERROR_MESSAGE => message,
            _ => return,
        };
        place.get_or_insert(value.unwrap_or_default());
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
