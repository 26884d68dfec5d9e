//! Answers that are read whole before anything of them is sent: only so can they fail closed.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::response::Parts;
use http::{HeaderMap, Response, StatusCode, header};
use http_body_util::BodyExt;
use onwards_strict::{Cleaned, Cleaner, errors};

use super::id::AnswerId;
use super::{Look, Opened, json};
use crate::body::{Body, BodyError, make_room};
use crate::encoding::Encoding;
use crate::house::Settings;
use crate::transport::TransportError;

/// The text of an answer, decompressed if the provider compressed it unasked.
pub(super) async fn plain(
    body: Body,
    encoding: Encoding,
    settings: &Settings,
) -> Result<Bytes, TransportError> {
    let limit = settings.response_limit;
    let text = read(body, limit, None).await?;
    match encoding.decode(&text, limit) {
        Ok(plain) => Ok(plain.unwrap_or(text)),
        Err(undecodable) => Err(TransportError::Broken(undecodable.into())),
    }
}

/// A strict client's answer: cleaned, an embedded error, or nothing.
pub(super) fn strict(
    cleaner: &Cleaner,
    head: Parts,
    text: &[u8],
    trusted: bool,
    id: Option<&AnswerId>,
    look: &mut Look,
) -> Opened {
    if text.is_empty() {
        return Opened::Empty;
    }
    let mut out = Vec::with_capacity(text.len() + 64);
    match cleaner.clean(text, &mut out) {
        Ok(Cleaned::Answer(_)) => {
            let identified = id.and_then(|id| id.put(&out));
            let mut response = json(head.status, head.headers, identified.unwrap_or(out));
            response.body_mut().count(text);
            Opened::Ready(response)
        }
        Ok(Cleaned::Error(error)) => {
            if let Some(observation) = &mut look.observation {
                observation.status(error.status());
            }
            let status = if trusted {
                error.status()
            } else {
                error.masked()
            };
            if trusted {
                error.write_verbatim(&mut out);
            } else {
                out.extend_from_slice(errors::body(error.status()).as_bytes());
            }
            tracing::warn!(status = error.status(), "a provider's 2xx carries an error");
            let shown = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
            let response = json(shown, HeaderMap::new(), out);
            Opened::Embedded {
                status: error.status(),
                response,
            }
        }
        Err(malformed) => {
            tracing::error!(%malformed, bytes = text.len(), "a provider's answer does not fit the contract");
            Opened::Malformed
        }
    }
}

/// A sanitised answer: cleaned, or the error in its place as the provider wrote it.
pub(super) fn sanitized(cleaner: &Cleaner, mut head: Parts, text: &[u8]) -> Opened {
    let mut out = Vec::with_capacity(text.len() + 64);
    match cleaner.clean(text, &mut out) {
        Ok(Cleaned::Answer(_)) => {}
        Ok(Cleaned::Error(error)) => error.write_verbatim(&mut out),
        Err(malformed) => {
            tracing::error!(%malformed, bytes = text.len(), "a provider's answer cannot be sanitised");
            return Opened::Malformed;
        }
    }
    head.headers
        .insert(header::CONTENT_LENGTH, out.len().into());
    let mut body = Body::full(out);
    body.count(text);
    Opened::Ready(Response::from_parts(head, body))
}

/// Reads a body to its end, at most `limit` bytes and at most `patience` long.
pub(crate) async fn read(
    body: impl http_body::Body<Data = Bytes, Error = BodyError>,
    limit: usize,
    patience: Option<Duration>,
) -> Result<Bytes, TransportError> {
    let mut reading = std::pin::pin!(collect(body, limit));
    match patience {
        None => reading.await,
        Some(patience) => tokio::time::timeout(patience, reading.as_mut())
            .await
            .unwrap_or_else(|_| {
                Err(TransportError::Broken(
                    "the body did not end in time".into(),
                ))
            }),
    }
}

async fn collect(
    body: impl http_body::Body<Data = Bytes, Error = BodyError>,
    limit: usize,
) -> Result<Bytes, TransportError> {
    let mut body = std::pin::pin!(body);
    let too_large = || TransportError::Broken("the body is larger than an answer may be".into());
    let expected = body
        .size_hint()
        .exact()
        .and_then(|size| usize::try_from(size).ok());
    if expected.is_some_and(|expected| expected > limit) {
        return Err(too_large());
    }
    let mut first = Bytes::new();
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(TransportError::Broken)?.into_data() else {
            continue;
        };
        if first.len() + whole.len() + data.len() > limit {
            return Err(too_large());
        }
        if first.is_empty() && whole.is_empty() {
            first = data;
            continue;
        }
        if whole.is_empty() {
            whole.reserve(expected.unwrap_or(0).max(first.len() + data.len()));
            whole.extend_from_slice(&first);
            first = Bytes::new();
        }
        make_room(&mut whole, data.len(), expected.unwrap_or(limit));
        whole.extend_from_slice(&data);
    }
    Ok(if whole.is_empty() {
        first
    } else {
        whole.freeze()
    })
}
