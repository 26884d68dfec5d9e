//! One HTTP/1.1 connection to a provider: what the pool keeps and a response body holds on to.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use hyper::client::conn::http1::SendRequest;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::body::Outgoing;
use super::pool::Site;

/// A connection that can carry one request at a time.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) sender: SendRequest<Outgoing>,
    /// Set by every read that brought bytes; cleared before a request is sent.
    pub(super) heard: Arc<AtomicBool>,
}

impl Connection {
    /// Forgets what was read so far, so that [`heard`](Self::has_heard) speaks of the next response.
    pub(super) fn begin(&self) {
        self.heard.store(false, Ordering::Relaxed);
    }

    /// True when at least one byte of a response has arrived since [`begin`](Self::begin).
    pub(super) fn has_heard(&self) -> bool {
        self.heard.load(Ordering::Relaxed)
    }
}

/// A connection lent to a response body. Given back at the body's end; closed when dropped before.
#[derive(Debug)]
pub(crate) struct Lease {
    pub(super) connection: Connection,
    pub(super) site: Arc<Site>,
}

impl Lease {
    pub(super) fn give_back(self) {
        self.site.keep(self.connection);
    }
}

/// Bytes to and from a provider, plain or encrypted, that note when the provider was first heard.
pub(super) struct Wire<T> {
    inner: T,
    heard: Arc<AtomicBool>,
}

impl<T> Wire<T> {
    pub(super) fn new(inner: T) -> (Self, Arc<AtomicBool>) {
        let heard = Arc::new(AtomicBool::new(false));
        (
            Self {
                inner,
                heard: heard.clone(),
            },
            heard,
        )
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Wire<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(cx, into);
        if into.filled().len() > before {
            self.heard.store(true, Ordering::Relaxed);
        }
        polled
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Wire<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(cx, slices)
    }
}
