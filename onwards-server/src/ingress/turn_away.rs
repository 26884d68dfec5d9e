//! What becomes of a request that is not let in because the gateway is full.

use std::future::poll_fn;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use http::{Version, header};
use http_body::Body;
use tokio::time::timeout;

use crate::refusal::Refusal;

/// The largest body that is read and thrown away, so that its connection can serve the next request. A new connection costs
/// more than that, and a client that is still sending may take a closed one for a failure and not read why.
const DISCARDED: usize = 256 * 1024;
/// How long that may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// Turns a request away: a small body is read and thrown away, a large or slow one ends its connection (in HTTP/2 its stream).
///
/// Nothing is kept of the body, and nothing is counted: however many are turned away, none holds a place.
pub(crate) async fn turn_away<B>(head: &Parts, body: B) -> Refusal
where
    B: Body<Data = Bytes>,
{
    let finished = body.is_end_stream() || (is_sent(head) && discard(body).await);
    Refusal::Overloaded {
        closes: !finished && head.version < Version::HTTP_2,
    }
}

/// Whether the body is on its way already and not announced to be large.
fn is_sent(head: &Parts) -> bool {
    let announced = head
        .headers
        .get(header::CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    announced.is_none_or(|announced| announced <= DISCARDED)
        && !head.headers.contains_key(header::EXPECT)
}

/// Reads a body and forgets it; true if that was its end.
async fn discard<B>(body: B) -> bool
where
    B: Body<Data = Bytes>,
{
    let mut body = pin!(body);
    let mut left = DISCARDED;
    let reading = async {
        loop {
            match poll_fn(|cx| body.as_mut().poll_frame(cx)).await {
                None => return true,
                Some(Err(_)) => return false,
                Some(Ok(frame)) => {
                    let length = frame.data_ref().map_or(0, Bytes::len);
                    match left.checked_sub(length) {
                        Some(rest) => left = rest,
                        None => return false,
                    }
                }
            }
        }
    };
    timeout(PATIENCE, reading).await.unwrap_or(false)
}

#[cfg(test)]
mod tests;
