//! What a connection is doing: whether it may be closed without taking an answer from a client.
//!
//! A request counts from its head to the end of its answer's body, and the end of a body counts when it has left the queues
//! above the socket, not when it was read from its source: a client that reads slowly gets all of it. Where the count says
//! nothing is running, bytes that the socket does not take still do.
//!
//! A request costs one shared pointer and two additions; a chunk costs nothing but its way through.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use http_body::{Body, Frame, SizeHint};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use pin_project_lite::pin_project;

use super::stream::Stream;

/// The requests of one connection, counted.
#[derive(Debug, Default)]
pub(super) struct Traffic {
    begun: AtomicUsize,
    ended: AtomicUsize,
    /// The socket did not take the last bytes offered.
    blocked: AtomicBool,
    /// The last read brought something. While the protocol does not read on, it cannot notice that the client leaves.
    read: AtomicBool,
    /// What is known of the client's side of the socket: [`OPEN`], [`ASKED`] or [`CLOSED`].
    end: AtomicU8,
}

/// Nothing is known of an end.
const OPEN: u8 = 0;
/// The socket is to be looked at when it is next touched.
const ASKED: u8 = 1;
/// The client has closed it.
const CLOSED: u8 = 2;

impl Traffic {
    /// A request has come; it runs until the value is dropped.
    pub(super) fn begin(self: &Arc<Self>) -> Running {
        self.begun.fetch_add(1, Ordering::Relaxed);
        Running(Arc::clone(self))
    }

    /// Whether there has been a request.
    pub(super) fn heard(&self) -> bool {
        self.begun.load(Ordering::Relaxed) > 0
    }

    /// Whether a request is being answered.
    pub(super) fn is_running(&self) -> bool {
        self.ended.load(Ordering::Relaxed) != self.begun.load(Ordering::Relaxed)
    }

    /// Whether a request is being answered while nothing waits for what the client sends, its leaving included.
    pub(super) fn is_unheard(&self) -> bool {
        self.read.load(Ordering::Relaxed) && self.is_running()
    }

    /// Has the socket looked at when the connection is polled next.
    pub(super) fn ask(&self) {
        self.end.store(ASKED, Ordering::Relaxed);
    }

    /// Whether the client had closed its side when the socket was last looked at.
    pub(super) fn is_closed(&self) -> bool {
        self.end.load(Ordering::Relaxed) == CLOSED
    }

    /// How many requests there have been, if all of them are answered and the socket has taken the answers.
    pub(super) fn settled(&self) -> Option<usize> {
        let begun = self.begun.load(Ordering::Relaxed);
        let settled =
            self.ended.load(Ordering::Relaxed) == begun && !self.blocked.load(Ordering::Relaxed);
        settled.then_some(begun)
    }
}

/// A request whose answer has not ended.
#[derive(Debug)]
pub(super) struct Running(Arc<Traffic>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::Relaxed);
    }
}

pin_project! {
    /// The body of an answer. What ends the request goes with its last bytes through the queues of the protocol.
    pub(super) struct Answer<B> {
        #[pin]
        body: B,
        running: Option<Running>,
    }
}

impl<B> Answer<B> {
    pub(super) fn new(body: B, running: Running) -> Self {
        Self {
            body,
            running: Some(running),
        }
    }
}

impl<B: Body<Data = Bytes>> Body for Answer<B> {
    type Data = Chunk;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Chunk>, B::Error>>> {
        let mut this = self.project();
        if this.running.is_none() {
            return Poll::Ready(None);
        }
        let next = ready!(this.body.as_mut().poll_frame(cx));
        let over = !matches!(next, Some(Ok(_))) || this.body.is_end_stream();
        let running = if over { this.running.take() } else { None };
        Poll::Ready(match next {
            Some(frame) => {
                Some(frame.map(|frame| frame.map_data(|bytes| Chunk { bytes, running })))
            }
            // An end without bytes of its own queues behind those before it; the same is sent as for `None`.
            None => Some(Ok(Frame::data(Chunk {
                bytes: Bytes::new(),
                running,
            }))),
        })
    }

    fn is_end_stream(&self) -> bool {
        self.running.is_none() || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Bytes of an answer; the last ones end its request when they are gone.
#[derive(Debug)]
pub(super) struct Chunk {
    bytes: Bytes,
    #[expect(dead_code, reason = "counts by being dropped")]
    running: Option<Running>,
}

impl Buf for Chunk {
    fn remaining(&self) -> usize {
        self.bytes.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.bytes.chunk()
    }

    fn advance(&mut self, count: usize) {
        self.bytes.advance(count);
    }

    fn copy_to_bytes(&mut self, count: usize) -> Bytes {
        self.bytes.copy_to_bytes(count)
    }
}

pin_project! {
    /// A socket that notes whether it takes what is written, and when asked whether its client is still there.
    pub(super) struct Noted<I> {
        #[pin]
        io: I,
        traffic: Arc<Traffic>,
    }
}

/// What knows whether its other side has closed, without reading.
pub(super) trait Watched {
    /// True when the client has closed its side or the connection is broken.
    fn is_closed(&self) -> bool;
}

impl Watched for TokioIo<Stream> {
    fn is_closed(&self) -> bool {
        self.inner().is_closed()
    }
}

impl<I> Noted<I> {
    pub(super) fn new(io: I, traffic: Arc<Traffic>) -> Self {
        Self { io, traffic }
    }
}

impl<I: Read> Read for Noted<I> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.project();
        let read = this.io.poll_read(cx, buffer);
        this.traffic.read.store(read.is_ready(), Ordering::Relaxed);
        read
    }
}

impl<I: Write + Watched> Write for Noted<I> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.project();
        let written = this.io.poll_write(cx, bytes);
        this.traffic
            .blocked
            .store(written.is_pending(), Ordering::Relaxed);
        written
    }

    /// TLS takes bytes that its socket does not; it is flushed when everything is written. The protocol flushes whenever it is
    /// polled, also while it reads nothing, so this is where the client's end is looked for.
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.project();
        let end = &this.traffic.end;
        if end.load(Ordering::Relaxed) == ASKED {
            let closed = this.io.is_closed();
            end.store(if closed { CLOSED } else { OPEN }, Ordering::Relaxed);
        }
        let flushed = this.io.poll_flush(cx);
        this.traffic
            .blocked
            .store(flushed.is_pending(), Ordering::Relaxed);
        flushed
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().io.poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.project();
        let written = this.io.poll_write_vectored(cx, slices);
        this.traffic
            .blocked
            .store(written.is_pending(), Ordering::Relaxed);
        written
    }
}
