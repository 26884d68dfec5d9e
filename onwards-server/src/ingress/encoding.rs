//! Compressed request bodies: undone where the gateway must read them, within the body limit.

use std::io::Read;

use bytes::Bytes;
use http::{HeaderMap, header};

use crate::refusal::Refusal;

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
    pub(super) fn decode(self, body: &[u8], limit: usize) -> Result<Option<Bytes>, Refusal> {
        match self {
            Self::Identity => Ok(None),
            Self::Unknown => Err(Refusal::UnknownEncoding),
            Self::Gzip => unfold(flate2::read::MultiGzDecoder::new(body), limit),
            Self::Brotli => unfold(brotli_decompressor::Decompressor::new(body, 4096), limit),
            Self::Zstd => {
                let decoder = ruzstd::decoding::StreamingDecoder::new(body)
                    .map_err(|_| Refusal::BrokenEncoding)?;
                unfold(decoder, limit)
            }
        }
    }
}

fn unfold(decoder: impl Read, limit: usize) -> Result<Option<Bytes>, Refusal> {
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    let mut plain = Vec::new();
    decoder
        .take(most)
        .read_to_end(&mut plain)
        .map_err(|_| Refusal::BrokenEncoding)?;
    if plain.len() > limit {
        return Err(Refusal::BodyTooLarge { limit });
    }
    Ok(Some(plain.into()))
}
