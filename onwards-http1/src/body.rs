//! The body of an answer: its payload without what frames it.

mod chunked;

use chunked::Chunked;

/// How a body is framed (RFC 9112, 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// No body.
    Empty,
    /// So many bytes.
    Length(u64),
    /// Chunks, up to an empty one.
    Chunked,
    /// All that comes until the connection is closed.
    Close,
}

/// A body that is not framed as it says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// The connection ended first.
    #[error("the body was cut off")]
    CutOff,
    /// A chunk is not framed as RFC 9112, 7.1 wants it.
    #[error("a chunk is malformed: {0}")]
    Chunk(&'static str),
}

/// Takes a body's payload out of what a connection brings.
#[derive(Debug)]
pub struct Body(State);

#[derive(Debug)]
enum State {
    Length(u64),
    Chunked(Chunked),
    Close,
    Ended,
}

impl Body {
    /// A body framed like this.
    #[must_use]
    pub fn new(framing: Framing) -> Self {
        Self(match framing {
            Framing::Empty | Framing::Length(0) => State::Ended,
            Framing::Length(left) => State::Length(left),
            Framing::Chunked => State::Chunked(Chunked::default()),
            Framing::Close => State::Close,
        })
    }

    /// The next run of payload in `input`, which is moved past it. `None`: `input` holds no more payload; what is left of it then
    /// does not belong to this body.
    ///
    /// # Errors
    /// [`BodyError::Chunk`]; nothing of the body may be used after it.
    pub fn next<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<&'a [u8]>, BodyError> {
        if input.is_empty() {
            return Ok(None);
        }
        match &mut self.0 {
            State::Ended => Ok(None),
            State::Close => Ok(Some(std::mem::take(input))),
            State::Length(left) => {
                let run = take(left, input);
                if *left == 0 {
                    self.0 = State::Ended;
                }
                Ok(Some(run))
            }
            State::Chunked(chunked) => {
                let run = chunked.next(input)?;
                if chunked.is_end() {
                    self.0 = State::Ended;
                }
                Ok(run)
            }
        }
    }

    /// Whether the body has ended.
    #[must_use]
    pub fn is_end(&self) -> bool {
        matches!(self.0, State::Ended)
    }

    /// How many bytes of payload follow for certain before anything else: what may be read without looking at it.
    #[must_use]
    pub fn run(&self) -> u64 {
        match &self.0 {
            State::Length(left) => *left,
            State::Chunked(chunked) => chunked.run(),
            State::Close => u64::MAX,
            State::Ended => 0,
        }
    }

    /// How many bytes of payload are left, where that is known.
    #[must_use]
    pub fn left(&self) -> Option<u64> {
        match &self.0 {
            State::Length(left) => Some(*left),
            State::Ended => Some(0),
            State::Chunked(_) | State::Close => None,
        }
    }

    /// The connection has ended.
    ///
    /// # Errors
    /// [`BodyError::CutOff`] unless this is how the body ends.
    pub fn finish(&mut self) -> Result<(), BodyError> {
        match self.0 {
            State::Ended => Ok(()),
            State::Close => {
                self.0 = State::Ended;
                Ok(())
            }
            State::Length(_) | State::Chunked(_) => Err(BodyError::CutOff),
        }
    }
}

/// At most `left` bytes from the front of `input`.
fn take<'a>(left: &mut u64, input: &mut &'a [u8]) -> &'a [u8] {
    let most = usize::try_from(*left).unwrap_or(usize::MAX);
    let (run, rest) = input.split_at_checked(most).unwrap_or((*input, &[]));
    *input = rest;
    *left = left.saturating_sub(run.len() as u64);
    run
}

#[cfg(test)]
mod tests;
