//! A client's connection of whichever kind, as bytes in and out.

use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf, Ready};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::server::TlsStream;

/// One type for all kinds, so that the protocols above are compiled once; the kind costs a branch per call.
#[derive(Debug)]
pub(super) enum Stream {
    Tcp(TcpStream),
    /// Boxed: the state of TLS is large, and the other kinds shall not carry it.
    Tls(Box<TlsStream<TcpStream>>),
    Unix(UnixStream),
}

impl Stream {
    /// True when the client has closed its side or the connection is broken, whatever is still to be read. Asks nobody: the
    /// answer is what the system has told so far.
    pub(super) fn is_closed(&self) -> bool {
        match self {
            Self::Tcp(stream) => closed(stream.ready(Interest::READABLE)),
            Self::Tls(stream) => closed(stream.get_ref().0.ready(Interest::READABLE)),
            Self::Unix(stream) => closed(stream.ready(Interest::READABLE)),
        }
    }
}

fn closed(ready: impl Future<Output = io::Result<Ready>>) -> bool {
    let mut now = Context::from_waker(Waker::noop());
    match pin!(ready).poll(&mut now) {
        Poll::Ready(Ok(ready)) => ready.is_read_closed(),
        Poll::Ready(Err(_)) => true,
        Poll::Pending => false,
    }
}

/// Passes a call on to the stream of this kind.
macro_rules! each {
    ($stream:expr, $call:ident($($argument:expr),*)) => {
        match $stream.get_mut() {
            Stream::Tcp(stream) => Pin::new(stream).$call($($argument),*),
            Stream::Tls(stream) => Pin::new(&mut **stream).$call($($argument),*),
            Stream::Unix(stream) => Pin::new(stream).$call($($argument),*),
        }
    };
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        each!(self, poll_read(cx, buffer))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        each!(self, poll_write(cx, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self, poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self, poll_shutdown(cx))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        each!(self, poll_write_vectored(cx, slices))
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Tcp(stream) => stream.is_write_vectored(),
            Self::Tls(stream) => stream.is_write_vectored(),
            Self::Unix(stream) => stream.is_write_vectored(),
        }
    }
}
