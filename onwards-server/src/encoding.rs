//! Compressed bodies: undone where the gateway must read them, within a limit on what they unfold to.

use std::io::Read;

use bytes::Bytes;
use http::{HeaderMap, header};
use thiserror::Error;

/// Why a body cannot be decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum Undecodable {
    /// The coding is not known.
    #[error("unknown content-encoding")]
    Unknown,
    /// The data is not what the coding says, or ends early.
    #[error("broken content-encoding")]
    Broken,
    /// It unfolds to more than the limit.
    #[error("larger than the limit when decompressed")]
    TooLarge,
}

/// How a body is compressed, as `content-encoding` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Identity,
    Gzip,
    Brotli,
    Zstd,
    /// Several layers or a coding that is not known here.
    Unknown,
}

impl Encoding {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let mut values = headers.get_all(header::CONTENT_ENCODING).iter();
        let Some(value) = values.next() else {
            return Self::Identity;
        };
        if values.next().is_some() {
            return Self::Unknown;
        }
        let value = value.as_bytes().trim_ascii();
        let is = |name: &str| value.eq_ignore_ascii_case(name.as_bytes());
        match () {
            () if value.is_empty() || is("identity") => Self::Identity,
            () if is("gzip") || is("x-gzip") => Self::Gzip,
            () if is("br") => Self::Brotli,
            () if is("zstd") => Self::Zstd,
            () => Self::Unknown,
        }
    }

    /// The plain bytes, or `None` if they are plain already. Never yields more than `limit` bytes.
    ///
    /// # Errors
    /// When the coding is unknown, the data is broken or ends early, or it unfolds to more than `limit` bytes.
    pub(crate) fn decode(self, body: &[u8], limit: usize) -> Result<Option<Bytes>, Undecodable> {
        match self {
            Self::Identity => Ok(None),
            Self::Unknown => Err(Undecodable::Unknown),
            Self::Gzip => unfold(flate2::read::MultiGzDecoder::new(body), limit),
            Self::Brotli => unfold(brotli_decompressor::Decompressor::new(body, 4096), limit),
            Self::Zstd => {
                let decoder = ruzstd::decoding::StreamingDecoder::new(body)
                    .map_err(|_| Undecodable::Broken)?;
                unfold(decoder, limit)
            }
        }
    }
}

fn unfold(decoder: impl Read, limit: usize) -> Result<Option<Bytes>, Undecodable> {
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    let mut plain = Vec::new();
    decoder
        .take(most)
        .read_to_end(&mut plain)
        .map_err(|_| Undecodable::Broken)?;
    if plain.len() > limit {
        return Err(Undecodable::TooLarge);
    }
    Ok(Some(plain.into()))
}
