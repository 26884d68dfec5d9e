//! One HTTP/1.1 connection to a provider: what the pool keeps and an exchange holds on to.
//!
//! It is read in the task of the request that uses it: no task of its own stands between the socket and the client, and what one
//! read brings leaves as one piece. While it is idle the pool listens for its end.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};

use super::task;

/// What an encrypted connection that nobody needs any more may take to say goodbye.
const PARTING: Duration = Duration::from_secs(1);
/// Bytes that are taken from a socket at once.
pub(super) const READ: usize = 64 * 1024;

/// Whatever carries bytes: a socket, TLS over it, TLS over a tunnel through TLS.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A connection that can carry one request at a time. Dropping it closes it.
pub(super) struct Connection {
    /// `None` once it is closing.
    stream: Option<Box<dyn Stream>>,
    encrypted: bool,
    /// A byte of an answer has come since the call began.
    heard: bool,
    /// Inside a call: what is queued for the provider is not worth sending any more when this is dropped.
    busy: bool,
}

impl Connection {
    /// A connection that has not been used.
    pub(super) fn new(stream: Box<dyn Stream>, encrypted: bool) -> Self {
        Self {
            stream: Some(stream),
            encrypted,
            heard: false,
            busy: false,
        }
    }

    /// Begins a call: forgets what was read so far, so that [`has_heard`](Self::has_heard) speaks of the next answer.
    pub(super) fn begin(&mut self) {
        self.heard = false;
        self.busy = true;
    }

    /// Ends a call whose request and answer have passed whole.
    pub(super) fn end(&mut self) {
        self.busy = false;
    }

    /// True when at least one byte of an answer has arrived since [`begin`](Self::begin).
    pub(super) fn has_heard(&self) -> bool {
        self.heard
    }

    /// True when an idle connection can carry the next request. Its end, and words out of turn, make it useless; the waker hears
    /// of either.
    pub(super) fn is_quiet(&mut self, cx: &mut Context<'_>) -> bool {
        let mut byte = [0];
        let mut room = ReadBuf::new(&mut byte);
        self.stream
            .as_mut()
            .is_some_and(|stream| Pin::new(stream).poll_read(cx, &mut room).is_pending())
    }

    /// Reads once into a buffer that all connections of the thread share, and gives `take` what came; nothing is the end.
    pub(super) fn poll_read<R>(
        &mut self,
        cx: &mut Context<'_>,
        take: impl FnOnce(&[u8]) -> R,
    ) -> Poll<io::Result<R>> {
        thread_local!(static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) });
        let stream = self.stream.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        BUFFER.with_borrow_mut(|buffer| {
            buffer.resize(READ, 0); // once
            let mut room = ReadBuf::new(buffer);
            ready!(Pin::new(stream).poll_read(cx, &mut room))?;
            self.heard |= !room.filled().is_empty();
            Poll::Ready(Ok(take(room.filled())))
        })
    }

    /// Reads once, at the end of `into`. The number of bytes; none is the end.
    pub(super) fn poll_read_into(
        &mut self,
        cx: &mut Context<'_>,
        into: &mut impl bytes::BufMut,
    ) -> Poll<io::Result<usize>> {
        let stream = self.stream.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        let reading = std::pin::pin!(tokio::io::AsyncReadExt::read_buf(stream, into));
        reading.poll(cx)
    }

    /// Writes some of `slices`.
    pub(super) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let stream = self.stream.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        let written = ready!(Pin::new(stream).poll_write_vectored(cx, slices))?;
        if written == 0 {
            return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
        }
        Poll::Ready(Ok(written))
    }

    /// Sees to it that what was written leaves.
    pub(super) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let stream = self.stream.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        Pin::new(stream).poll_flush(cx)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let farewell = self.encrypted && !self.busy;
        if let Some(mut stream) = self.stream.take().filter(|_| farewell)
            && tokio::runtime::Handle::try_current().is_ok()
        {
            task::spawn(async move {
                if let Ok(Err(error)) = tokio::time::timeout(PARTING, stream.shutdown()).await {
                    tracing::debug!(%error, "an idle upstream connection could not be closed in order");
                }
            });
        }
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection")
            .field("encrypted", &self.encrypted)
            .field("busy", &self.busy)
            .finish_non_exhaustive()
    }
}
