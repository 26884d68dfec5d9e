//! Bytes to messages of `application/vnd.amazon.eventstream`.
//!
//! A message is a prelude (total length, length of the headers, CRC-32 of both), headers, payload, and the CRC-32 of all before
//! it; numbers are big-endian.

use std::fmt;

use bytes::{Buf, BytesMut};

mod headers;
mod message;

pub use headers::Defect;
pub use message::{Kind, Message, Unwritable};

const PRELUDE: usize = 12;
/// A message without headers and payload.
const LEAST: usize = 16;

/// Splits a stream into messages. Push what arrives, then iterate until there is nothing more to give; the iterator goes on
/// after the next push. After an error it gives nothing more.
pub struct EventStream {
    limit: usize,
    held: BytesMut,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// All bytes were pushed.
    Finished,
    /// Nothing more is given.
    Over,
}

/// Why a stream cannot be read on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Broken {
    /// The first bytes of a message are none, or were changed on their way.
    #[error("the prelude of a message has another checksum")]
    Prelude,
    /// No message is as short as this one says it is, or as long as the limit lets it be.
    #[error("a message of {length} bytes, limits {LEAST} and {limit}")]
    Length {
        /// Bytes of the whole message, by its own word.
        length: usize,
        /// The stream's limit.
        limit: usize,
    },
    /// Headers that cannot be read, or the message's checksum is another.
    #[error("a message cannot be read")]
    Message(#[source] Defect),
    /// The stream has ended within a message.
    #[error("the stream has ended after {held} bytes of a message")]
    Unfinished {
        /// Bytes of the unfinished message.
        held: usize,
    },
}

impl EventStream {
    /// The longest message that the services send.
    pub const MOST: usize = 16 * 1024 * 1024;

    /// A stream at its start. A message of more than `limit` bytes, framing included, is an error as soon as its first twelve
    /// bytes are there.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            held: BytesMut::new(),
            state: State::Open,
        }
    }

    /// Takes the next bytes. Ignored after [`finish`](Self::finish) or an error. What is not iterated over is kept.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.state == State::Open {
            self.held.extend_from_slice(bytes);
        }
    }

    /// Says that the stream has ended: what is then left of a message is [`Broken::Unfinished`].
    pub fn finish(&mut self) {
        if self.state == State::Open {
            self.state = State::Finished;
        }
    }

    /// Whether nothing can come any more: it was ended, or is broken.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.state != State::Open
    }

    /// How many bytes are kept of messages that were not given.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.len()
    }

    fn message(&mut self) -> Result<Option<Message>, Broken> {
        let Some((prelude, rest)) = self.held.split_first_chunk::<PRELUDE>() else {
            return Ok(None);
        };
        let [a, b, c, d, e, f, g, h, checksum @ ..] = *prelude;
        if u32::from_be_bytes(checksum) != crc32fast::hash(&[a, b, c, d, e, f, g, h]) {
            return Err(Broken::Prelude);
        }
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        if length < LEAST || length > self.limit {
            let limit = self.limit;
            return Err(Broken::Length { length, limit });
        }
        let Some(body) = rest.get(..length - PRELUDE) else {
            return Ok(None);
        };
        let head = u32::from_be_bytes([e, f, g, h]) as usize;
        let message = message_of(prelude, head, body).map_err(Broken::Message)?;
        self.held.advance(length);
        Ok(Some(message))
    }
}

/// The message that follows a prelude, with so many bytes of headers.
fn message_of(prelude: &[u8], head: usize, body: &[u8]) -> Result<Message, Defect> {
    let (content, checksum) = body.split_last_chunk().ok_or(Defect::Length)?;
    let (headers, payload) = content.split_at_checked(head).ok_or(Defect::Length)?;
    let mut counted = crc32fast::Hasher::new();
    counted.update(prelude);
    counted.update(content);
    if counted.finalize() != u32::from_be_bytes(*checksum) {
        return Err(Defect::Checksum);
    }
    Message::read(headers, payload)
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream")
            .field("limit", &self.limit)
            .field("held", &self.held.len())
            .field("state", &self.state)
            .finish()
    }
}

impl Iterator for EventStream {
    type Item = Result<Message, Broken>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.state == State::Over {
            return None;
        }
        let mut next = self.message().transpose();
        if next.is_none() && self.state == State::Finished && !self.held.is_empty() {
            let held = self.held.len();
            next = Some(Err(Broken::Unfinished { held }));
        }
        if matches!(next, Some(Err(_))) {
            self.state = State::Over;
            self.held = BytesMut::new();
        }
        next
    }
}

#[cfg(test)]
mod tests;
