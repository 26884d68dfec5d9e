//! Bodies in both directions: pieces of bytes out, a stream of frames in.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use super::exchange::Exchange;
use super::pool::Stream;

/// What went wrong while a body was read.
pub(super) type BodyError = Box<dyn std::error::Error + Send + Sync>;

/// A request body that leaves as it is: the client's bytes, with replaced spans as pieces of their own.
#[derive(Clone, Debug, Default)]
pub struct Outgoing {
    pieces: VecDeque<Bytes>,
    left: u64,
}

impl Outgoing {
    /// A body of one piece; empty bytes make an empty body.
    pub fn whole(bytes: Bytes) -> Self {
        Self::pieces([bytes])
    }

    /// A body of several pieces, sent one after the other without joining them.
    pub fn pieces(pieces: impl IntoIterator<Item = Bytes>) -> Self {
        let pieces: VecDeque<Bytes> = pieces
            .into_iter()
            .filter(|piece| !piece.is_empty())
            .collect();
        let left = pieces.iter().map(|piece| piece.len() as u64).sum();
        Self { pieces, left }
    }

    /// Bytes not yet sent.
    pub fn len(&self) -> u64 {
        self.left
    }

    /// True when nothing is left to send.
    pub fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// What is left to send.
    pub(crate) fn pieces_left(&self) -> &VecDeque<Bytes> {
        &self.pieces
    }

    /// The whole body as one run of bytes.
    pub fn joined(mut self) -> Bytes {
        if self.pieces.len() <= 1 {
            return self.pieces.pop_front().unwrap_or_default();
        }
        let mut all =
            bytes::BytesMut::with_capacity(usize::try_from(self.left).unwrap_or_default());
        for piece in self.pieces {
            all.extend_from_slice(&piece);
        }
        all.freeze()
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = self.pieces.pop_front();
        if let Some(piece) = &piece {
            self.left = self.left.saturating_sub(piece.len() as u64);
        }
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

/// A response body as it comes from a provider. Dropping it before its end gives the call up.
pub struct UpstreamBody(Kind);

enum Kind {
    /// Read from an HTTP/1.1 connection, which goes back to its pool at the end of the body.
    Http1(Box<Exchange>),
    /// Read from a shared HTTP/2 connection, on which it holds a place while it lasts.
    Http2 {
        /// The body that hyper reads.
        incoming: Incoming,
        place: Option<Stream>,
    },
    /// Made inside the process, one frame each.
    Ready(VecDeque<Bytes>),
    /// Supplied by an embedder's own transport.
    Foreign(Pin<Box<dyn Body<Data = Bytes, Error = BodyError> + Send>>),
}

impl UpstreamBody {
    /// A body of a transport of one's own.
    pub fn new<B>(body: B) -> Self
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BodyError>,
    {
        Self(Kind::Foreign(Box::pin(http_body_util::BodyExt::map_err(
            body,
            Into::into,
        ))))
    }

    pub(super) fn http1(exchange: Box<Exchange>) -> Self {
        Self(Kind::Http1(exchange))
    }

    pub(super) fn http2(incoming: Incoming, place: Stream) -> Self {
        let place = (!incoming.is_end_stream()).then_some(place);
        Self(Kind::Http2 { incoming, place })
    }

    pub(crate) fn ready(frames: VecDeque<Bytes>) -> Self {
        Self(Kind::Ready(frames))
    }
}

impl fmt::Debug for UpstreamBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UpstreamBody")
            .field("end", &self.is_end_stream())
            .finish_non_exhaustive()
    }
}

impl Body for UpstreamBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match &mut self.get_mut().0 {
            Kind::Http1(exchange) => exchange.poll_frame(cx),
            Kind::Http2 { incoming, place } => {
                let polled = Pin::new(&mut *incoming).poll_frame(cx);
                if matches!(polled, Poll::Ready(None)) || incoming.is_end_stream() {
                    *place = None;
                }
                polled.map_err(Into::into)
            }
            Kind::Ready(frames) => {
                Poll::Ready(frames.pop_front().map(|bytes| Ok(Frame::data(bytes))))
            }
            Kind::Foreign(body) => body.as_mut().poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Http1(exchange) => exchange.is_end(),
            Kind::Http2 { incoming, .. } => incoming.is_end_stream(),
            Kind::Ready(frames) => frames.is_empty(),
            Kind::Foreign(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Http1(exchange) => exchange.size_hint(),
            Kind::Http2 { incoming, .. } => incoming.size_hint(),
            Kind::Ready(frames) => {
                SizeHint::with_exact(frames.iter().map(|frame| frame.len() as u64).sum())
            }
            Kind::Foreign(body) => body.size_hint(),
        }
    }
}
