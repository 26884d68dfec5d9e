//! The first stage: a request is read, bounded in size and time, and understood as far as routing needs it.

mod model;
mod turn_away;

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Method, Uri, header, request::Parts};
use http_body::Body;
use onwards_json::Object;
use tokio::time::{Instant, sleep};

use crate::body::{SMALL_ROOM, make_room};
use crate::encoding::{Encoding, Undecodable};
use crate::endpoint::Endpoint;
use crate::headers::MODEL_OVERRIDE;
use crate::house::Settings;
use crate::policy::{Snapshot, has_dot_segment};
use crate::refusal::Refusal;

pub(crate) use self::model::model;
pub(crate) use self::turn_away::turn_away;

/// The usual methods except TRACE: a provider that honours it sends the request back, and with it the operator's key
/// (RFC 9110, 9.3.8).
const BUT_FOR_TRACE: &str = "GET,HEAD,POST,PUT,PATCH,DELETE,OPTIONS";

/// A request whose body has arrived whole.
#[derive(Debug)]
pub(crate) struct Arrival {
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) endpoint: Endpoint,
    /// The body as received, or decompressed if it had to be read.
    pub(crate) body: Bytes,
    /// Bytes of the body as received.
    pub(crate) received: u64,
    /// True when the body was decompressed here.
    pub(crate) decoded: bool,
}

/// What a request names in its head, of which its path names `endpoint`; known before its body is read.
///
/// # Errors
/// When the request target has dot segments or names nothing, or the head is not what HTTP/1.1 wants (RFC 9112, 3.2 and 6.1). In strict mode also when the
/// path is none of the contract's, or the method is not its own.
pub(crate) fn endpoint(
    snapshot: &Snapshot,
    head: &Parts,
    endpoint: Endpoint,
) -> Result<Endpoint, Refusal> {
    let path = head.uri.path();
    if matches!(path, "" | "/") {
        return Err(Refusal::NotFound);
    }
    if has_dot_segment(path) {
        return Err(Refusal::BadRequest(
            "The request path must not contain '.' or '..' segments.",
        ));
    }
    if head.headers.get_all(header::HOST).iter().count() > 1 {
        return Err(Refusal::BadRequest(
            "A request must not have more than one Host header.",
        ));
    }
    if head
        .headers
        .get_all(header::TRANSFER_ENCODING)
        .iter()
        .any(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"chunked"))
    {
        return Err(Refusal::BadRequest(
            "The only transfer coding of a request is chunked.",
        ));
    }
    if path == "/v1/dry-run" {
        match (&snapshot.dry_run, snapshot.translates) {
            (Some(_), _) => return posted(Endpoint::DryRun, &head.method),
            // Who asks what would be sent must not have it sent.
            (None, true) => return Err(Refusal::NotFound),
            (None, false) => {}
        }
    }
    if !snapshot.serves(endpoint) {
        return Err(Refusal::NotFound);
    }
    if snapshot.strict {
        return contracted(path, endpoint, &head.method, snapshot.translates);
    }
    if snapshot.translates
        && matches!(
            endpoint,
            Endpoint::CountTokens | Endpoint::GenerateContent(_)
        )
    {
        return posted(endpoint, &head.method);
    }
    if head.method == Method::TRACE && endpoint != Endpoint::Models {
        return Err(Refusal::MethodNotAllowed {
            allow: BUT_FOR_TRACE,
        });
    }
    Ok(endpoint)
}

/// The endpoints of strict mode (spec K.1), by their exact path. Where no provider's dialect is known, Messages requests have
/// been translated to chat by an edge before they come here; else they are what they say.
fn contracted(
    path: &str,
    named: Endpoint,
    method: &Method,
    translates: bool,
) -> Result<Endpoint, Refusal> {
    let endpoint = match path {
        "/v1/models" | "/models" => return Ok(Endpoint::Models),
        "/v1/chat/completions" => Endpoint::ChatCompletions,
        "/v1/messages" if !translates => Endpoint::ChatCompletions,
        "/v1/completions" => Endpoint::Completions,
        "/v1/embeddings" => Endpoint::Embeddings,
        "/v1/responses" => Endpoint::Responses,
        _ if translates => match named {
            Endpoint::Models => return Ok(Endpoint::Models),
            known @ (Endpoint::Messages | Endpoint::CountTokens | Endpoint::GenerateContent(_)) => {
                known
            }
            _ => return Err(Refusal::NotFound),
        },
        _ => return Err(Refusal::NotFound),
    };
    posted(endpoint, method)
}

fn posted(endpoint: Endpoint, method: &Method) -> Result<Endpoint, Refusal> {
    if method == Method::POST {
        Ok(endpoint)
    } else {
        Err(Refusal::MethodNotAllowed { allow: "POST" })
    }
}

/// Reads the body and, where routing or the endpoint needs to look into it, undoes its compression.
///
/// # Errors
/// When the body is too large, too slow, broken off, or compressed in a way that cannot be undone.
pub(crate) async fn read<B>(
    settings: &Settings,
    snapshot: &Snapshot,
    head: Parts,
    endpoint: Endpoint,
    body: B,
) -> Result<Arrival, Refusal>
where
    B: Body<Data = Bytes>,
{
    let body = collect(
        body,
        settings.body_limit,
        settings.body_timeout,
        &head.headers,
    )
    .await?;
    let mut arrival = Arrival {
        method: head.method,
        uri: head.uri,
        headers: head.headers,
        endpoint,
        received: body.len() as u64,
        body,
        decoded: false,
    };
    let named = arrival
        .headers
        .get(MODEL_OVERRIDE)
        .map(|named| String::from_utf8_lossy(named.as_bytes()));
    let reads = |named: &str| {
        snapshot
            .alias(named)
            .is_some_and(|(alias, bare)| bare || alias.reads_bodies)
    };
    if snapshot.strict || endpoint.requires_json() || named.is_none_or(|named| reads(&named)) {
        arrival.decode(settings.body_limit)?;
    }
    Ok(arrival)
}

impl Arrival {
    /// Undoes the compression of the body, so that it can be read. Does nothing to a plain or an empty body.
    fn decode(&mut self, limit: usize) -> Result<(), Refusal> {
        if self.body.is_empty() {
            return Ok(());
        }
        let plain = Encoding::of(&self.headers).decode(&self.body, limit);
        if let Some(plain) = plain.map_err(refusal(limit))? {
            self.body = plain;
            self.decoded = true;
        }
        Ok(())
    }

    /// The body as a JSON object, if it is one.
    pub(crate) fn document(&self) -> Option<Object<'_>> {
        if self.body.is_empty() {
            return None;
        }
        onwards_json::object(&self.body).ok()
    }
}

fn refusal(limit: usize) -> impl Fn(Undecodable) -> Refusal {
    move |undecodable| match undecodable {
        Undecodable::Unknown => Refusal::UnknownEncoding,
        Undecodable::Broken => Refusal::BrokenEncoding,
        Undecodable::TooLarge => Refusal::BodyTooLarge { limit },
    }
}

/// Reads a body to its end, keeping it in one piece.
async fn collect<B>(
    body: B,
    limit: usize,
    patience: Duration,
    headers: &HeaderMap,
) -> Result<Bytes, Refusal>
where
    B: Body<Data = Bytes>,
{
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    let announced = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|announced| announced > limit) {
        return Err(Refusal::BodyTooLarge { limit });
    }
    let mut body = pin!(body);
    let mut pace = Pace {
        patience,
        begun: Instant::now(),
        received: 0,
    };
    let Some(first) = next(body.as_mut(), &mut pace).await? else {
        return Ok(Bytes::new());
    };
    if first.len() > limit {
        return Err(Refusal::BodyTooLarge { limit });
    }
    if announced == Some(first.len()) || body.is_end_stream() {
        return Ok(first);
    }
    // A client is trusted with room for what it announces only as far as a small body goes.
    let room = announced
        .unwrap_or(0)
        .max(first.len())
        .min(limit)
        .min(SMALL_ROOM.max(first.len()));
    let mut whole = BytesMut::with_capacity(room);
    whole.extend_from_slice(&first);
    while let Some(more) = next(body.as_mut(), &mut pace).await? {
        if whole.len() + more.len() > limit {
            return Err(Refusal::BodyTooLarge { limit });
        }
        make_room(&mut whole, more.len(), announced.unwrap_or(limit));
        whole.extend_from_slice(&more);
    }
    Ok(whole.freeze())
}

/// How fast a body has to come: no gap longer than `patience`, and after the first `patience` a kibibyte a second on
/// average. A body that drips byte by byte ends as surely as one that stops.
struct Pace {
    patience: Duration,
    begun: Instant,
    received: usize,
}

impl Pace {
    /// How long the next bytes may take.
    fn allowance(&self) -> Duration {
        let earned = Duration::from_secs(u64::try_from(self.received / 1024).unwrap_or(u64::MAX));
        let total = self.patience.saturating_add(earned);
        total
            .saturating_sub(self.begun.elapsed())
            .min(self.patience)
    }
}

/// The next bytes of a body; `None` at its end. The clock runs only while nothing is there.
async fn next<B>(mut body: Pin<&mut B>, pace: &mut Pace) -> Result<Option<Bytes>, Refusal>
where
    B: Body<Data = Bytes>,
{
    let mut clock = None;
    poll_fn(|cx: &mut Context<'_>| {
        loop {
            match body.as_mut().poll_frame(cx) {
                Poll::Ready(None) => return Poll::Ready(Ok(None)),
                Poll::Ready(Some(Err(_))) => {
                    return Poll::Ready(Err(Refusal::BodyBroken));
                }
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) if data.is_empty() => {}
                    Ok(data) => {
                        pace.received += data.len();
                        return Poll::Ready(Ok(Some(data)));
                    }
                    Err(_trailers) => {}
                },
                Poll::Pending => {
                    let clock = clock.get_or_insert_with(|| Box::pin(sleep(pace.allowance())));
                    return clock.as_mut().poll(cx).map(|()| Err(Refusal::BodyTimeout));
                }
            }
        }
    })
    .await
}
