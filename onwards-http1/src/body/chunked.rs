//! The chunked transfer coding (RFC 9112, 7.1). Extensions and trailers are read and left out.

use super::{BodyError, take};

/// The most bytes of all chunk extensions, and of the trailer section.
const MOST_ASIDE: usize = 16 * 1024;
/// The most digits of a size; a `u64` needs 16, and some pad theirs with zeros.
const MOST_DIGITS: u8 = 64;

/// Where in the coding the next byte stands.
#[derive(Debug, Default)]
pub(super) struct Chunked {
    at: At,
    /// Payload left in this chunk; while its size is read, what has been read of it.
    left: u64,
    /// Digits of this size so far.
    digits: u8,
    /// Bytes of extensions and trailers so far.
    aside: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum At {
    /// The first digit of a size.
    #[default]
    Start,
    /// More digits of a size.
    Size,
    /// White space after a size.
    Blank,
    Extension,
    /// The line feed after a size.
    SizeEnd,
    Payload,
    /// The line end after a payload.
    PayloadCr,
    PayloadLf,
    /// The start of a line after the last chunk.
    Trailer,
    /// Inside such a line.
    TrailerLine,
    TrailerLf,
    /// The line feed of the empty line.
    LastLf,
    End,
}

impl Chunked {
    /// The next run of payload; `None` when `input` is used up or the coding has ended.
    pub(super) fn next<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<&'a [u8]>, BodyError> {
        while self.at != At::End {
            if self.at == At::Payload {
                if input.is_empty() {
                    return Ok(None);
                }
                let run = take(&mut self.left, input);
                if self.left == 0 {
                    self.at = At::PayloadCr;
                }
                return Ok(Some(run));
            }
            let Some((&byte, rest)) = input.split_first() else {
                return Ok(None);
            };
            *input = rest;
            self.at = self.step(byte)?;
        }
        Ok(None)
    }

    pub(super) fn is_end(&self) -> bool {
        self.at == At::End
    }

    /// Payload that is left in this chunk.
    pub(super) fn run(&self) -> u64 {
        if self.at == At::Payload { self.left } else { 0 }
    }

    /// Where one byte of framing leads.
    fn step(&mut self, byte: u8) -> Result<At, BodyError> {
        match self.at {
            At::Start => self.digit(byte)?.ok_or(BodyError::Chunk("no size")),
            At::Size => match self.digit(byte)? {
                Some(at) => Ok(at),
                None => after_size(byte),
            },
            At::Blank => match byte {
                b' ' | b'\t' => self.aside(At::Blank),
                _ => after_size(byte),
            },
            At::Extension => match byte {
                b'\r' => Ok(At::SizeEnd),
                b'\n' => Err(BodyError::Chunk("a bare line feed")),
                _ => self.aside(At::Extension),
            },
            At::SizeEnd => feed(
                byte,
                if self.left == 0 {
                    At::Trailer
                } else {
                    At::Payload
                },
            ),
            At::PayloadCr => match byte {
                b'\r' => Ok(At::PayloadLf),
                _ => Err(BodyError::Chunk("its payload is longer than its size")),
            },
            At::PayloadLf => {
                self.digits = 0;
                feed(byte, At::Start)
            }
            At::Trailer => match byte {
                b'\r' => Ok(At::LastLf),
                b'\n' => Err(BodyError::Chunk("a bare line feed")),
                _ => self.aside(At::TrailerLine),
            },
            At::TrailerLine => match byte {
                b'\r' => Ok(At::TrailerLf),
                b'\n' => Err(BodyError::Chunk("a bare line feed")),
                _ => self.aside(At::TrailerLine),
            },
            At::TrailerLf => feed(byte, At::Trailer),
            At::LastLf => feed(byte, At::End),
            At::Payload | At::End => Ok(self.at), // never a byte of framing
        }
    }

    /// One hexadecimal digit of a size.
    fn digit(&mut self, byte: u8) -> Result<Option<At>, BodyError> {
        let Some(digit) = char::from(byte).to_digit(16) else {
            return Ok(None);
        };
        self.digits += 1;
        self.left = self
            .left
            .checked_mul(16)
            .and_then(|size| size.checked_add(digit.into()))
            .filter(|_| self.digits <= MOST_DIGITS)
            .ok_or(BodyError::Chunk("its size is too large"))?;
        Ok(Some(At::Size))
    }

    /// One byte that means nothing here.
    fn aside(&mut self, at: At) -> Result<At, BodyError> {
        self.aside += 1;
        if self.aside > MOST_ASIDE {
            return Err(BodyError::Chunk("too many extensions or trailers"));
        }
        Ok(at)
    }
}

fn after_size(byte: u8) -> Result<At, BodyError> {
    match byte {
        b'\r' => Ok(At::SizeEnd),
        b';' => Ok(At::Extension),
        b' ' | b'\t' => Ok(At::Blank),
        _ => Err(BodyError::Chunk("its size is no hexadecimal number")),
    }
}

fn feed(byte: u8, next: At) -> Result<At, BodyError> {
    match byte {
        b'\n' => Ok(next),
        _ => Err(BodyError::Chunk("a carriage return without a line feed")),
    }
}
