//! Bytes to events.

use std::collections::VecDeque;

use bytes::{Buf, Bytes, BytesMut};
use memchr::memchr2;

use crate::Event;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// From here on an event is long.
const LONG: usize = 1024 * 1024;
/// For a long event room is made for so many times what has come of it.
const ROOM_AHEAD: usize = 32;

/// Splits a stream into events. Push chunks, then iterate until there is nothing more to give; the
/// iterator goes on after the next push. Empty lines before an event are dropped.
///
/// # The limit
///
/// It bounds what is kept of an event that has begun and not ended when a chunk is used up: its bytes so
/// far, line ends included. Exactly the limit is fine; 0 means that every chunk must end where an event
/// ends. Complete events are not limited, however long they are and however many one chunk holds.
///
/// # Carriage returns
///
/// An empty line that ends in CR ends its event at once. If a LF follows it is dropped, in whichever chunk
/// it comes, so such an event's raw bytes may lack it.
#[derive(Debug)]
pub struct Framer {
    limit: usize,
    /// What is left of the chunk being read; later ones wait.
    chunk: Bytes,
    waiting: VecDeque<Bytes>,
    /// What earlier chunks hold of the event being read.
    held: BytesMut,
    place: Place,
    finished: bool,
}

/// Where the next byte stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// At the start of the stream, after that many bytes of a byte order mark.
    Start(usize),
    /// Before an event.
    Between,
    /// Inside a line of an event.
    Line,
    /// At the start of a further line of an event.
    NextLine {
        /// The line before ended in CR, so a LF still belongs to it.
        after_cr: bool,
    },
    /// Nothing more is given.
    Over,
}

/// Why a stream cannot be framed. Reading on is of no use: nothing more is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FramingError {
    /// A chunk ended within an event of which there is more than the limit.
    #[error("{len} bytes of an unfinished event, limit {limit}")]
    Overlong {
        /// Bytes of the unfinished event.
        len: usize,
        /// The framer's limit.
        limit: usize,
    },
}

impl Framer {
    /// A framer at the start of a stream that keeps at most `limit` bytes of an unfinished event.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            chunk: Bytes::new(),
            waiting: VecDeque::new(),
            held: BytesMut::new(),
            place: Place::Start(0),
            finished: false,
        }
    }

    /// Takes the next bytes of the stream. Ignored after [`finish`](Self::finish) or an error.
    pub fn push(&mut self, chunk: Bytes) {
        if self.finished || self.place == Place::Over {
            return;
        }
        if self.chunk.is_empty() && self.waiting.is_empty() {
            self.chunk = chunk;
        } else {
            self.waiting.push_back(chunk);
        }
    }

    /// Says that the stream has ended. The iterator gives what is still complete, then an event that has
    /// begun and not ended, if there is one, with [`is_terminated`](Event::is_terminated) false: whether
    /// it counts is the caller's to decide (a browser would drop it).
    pub fn finish(&mut self) {
        self.finished = true;
    }

    /// Whether [`finish`](Self::finish) was called.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// How many bytes are kept of an event that earlier chunks began.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// The next event that ends in the current chunk. `None` uses the chunk up.
    fn complete(&mut self) -> Option<Event> {
        if let Place::Start(matched) = self.place {
            self.skip_byte_order_mark(matched);
        }
        if self.place == Place::Between {
            let begin = self
                .chunk
                .iter()
                .position(|byte| !matches!(byte, b'\r' | b'\n'));
            self.chunk.advance(begin.unwrap_or(self.chunk.len()));
            begin?;
            self.place = Place::Line;
        }
        let end = self.find_end()?;
        self.place = Place::Between;
        let tail = self.chunk.split_to(end);
        Some(Event::new(self.join(tail), true))
    }

    fn skip_byte_order_mark(&mut self, matched: usize) {
        let missing = BYTE_ORDER_MARK.iter().skip(matched);
        let count = missing
            .zip(&self.chunk)
            .take_while(|(want, byte)| want == byte)
            .count();
        if matched + count == BYTE_ORDER_MARK.len() {
            self.chunk.advance(count);
            self.place = Place::Between;
        } else if count == self.chunk.len() {
            self.chunk.clear();
            self.place = Place::Start(matched + count);
        } else if matched == 0 {
            self.place = Place::Between;
        } else {
            // No mark after all: what earlier chunks had of it begins the first line.
            self.held.extend(BYTE_ORDER_MARK.iter().take(matched));
            self.place = Place::Line;
        }
    }

    /// The index after the event being read, looking at each byte of the chunk once.
    fn find_end(&mut self) -> Option<usize> {
        let bytes: &[u8] = &self.chunk;
        let mut at = 0;
        loop {
            match self.place {
                Place::Line => {
                    let rest = bytes.get(at..)?;
                    let end = memchr2(b'\n', b'\r', rest)?;
                    let after_cr = rest.get(end) == Some(&b'\r');
                    self.place = Place::NextLine { after_cr };
                    at += end + 1;
                }
                Place::NextLine { after_cr } => match bytes.get(at)? {
                    b'\n' if after_cr => {
                        self.place = Place::NextLine { after_cr: false };
                        at += 1;
                    }
                    b'\n' => return Some(at + 1),
                    b'\r' => {
                        let pair = bytes.get(at + 1) == Some(&b'\n');
                        return Some(at + 1 + usize::from(pair));
                    }
                    _ => self.place = Place::Line,
                },
                Place::Start(_) | Place::Between | Place::Over => return None,
            }
        }
    }

    /// What is held and `tail` as one piece. Copies only if something is held.
    fn join(&mut self, tail: Bytes) -> Bytes {
        if self.held.is_empty() {
            return tail;
        }
        self.held.extend_from_slice(&tail);
        self.held.split().freeze()
    }

    /// Keeps the rest of a used-up chunk, up to the limit.
    fn hold(&mut self) -> Result<(), FramingError> {
        let len = self.held.len() + self.chunk.len();
        if len > self.limit {
            self.close();
            return Err(FramingError::Overlong {
                len,
                limit: self.limit,
            });
        }
        self.make_room();
        self.held.extend_from_slice(&self.chunk);
        self.chunk.clear();
        Ok(())
    }

    /// Makes room for what is to be held. A long event that grew by doubling would be held up to three times while it moves
    /// from one place to the next; room that is not written to costs nothing.
    fn make_room(&mut self) {
        let (held, free) = (self.held.len(), self.held.capacity() - self.held.len());
        if free < self.chunk.len() && held >= LONG {
            let room = self.limit.min(held.saturating_mul(ROOM_AHEAD)) - held;
            self.held.reserve(room.max(self.chunk.len()));
        }
    }

    fn close(&mut self) {
        self.place = Place::Over;
        self.chunk = Bytes::new();
        self.waiting = VecDeque::new();
        self.held = BytesMut::new();
    }

    /// What has begun and will not end.
    fn unterminated(&mut self) -> Option<Event> {
        let rest = match self.place {
            Place::Start(matched) => Bytes::from_static(BYTE_ORDER_MARK).slice(..matched.min(3)),
            _ => self.held.split().freeze(),
        };
        self.close();
        (!rest.is_empty()).then(|| Event::new(rest, false))
    }
}

impl Iterator for Framer {
    type Item = Result<Event, FramingError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if !self.chunk.is_empty() {
                if let Some(event) = self.complete() {
                    return Some(Ok(event));
                }
                if let Err(error) = self.hold() {
                    return Some(Err(error));
                }
            }
            match self.waiting.pop_front() {
                Some(chunk) => self.chunk = chunk,
                None if self.finished => return self.unterminated().map(Ok),
                None => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests;
