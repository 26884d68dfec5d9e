//! One HTTP/1.1 connection to a provider: what the pool keeps and a response body holds on to.

use std::convert::Infallible;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::client::conn::http1::SendRequest;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use super::body::Outgoing;
use super::pool::Site;
use super::task;

/// What a connection that nobody holds any more may take to say goodbye.
const PARTING: Duration = Duration::from_secs(1);
/// How long a connection may still be busy with a request whose answer is complete.
const SETTLING: Duration = Duration::from_secs(1);

/// A connection that can carry one request at a time. Dropping it closes it.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) sender: SendRequest<Outgoing>,
    pub(super) trace: Arc<Trace>,
    pub(super) driven: Driven,
}

/// What passed over a connection, as far as the pool wants to know.
#[derive(Debug, Default)]
pub(super) struct Trace {
    /// Set by every read that brought bytes; cleared before a request is sent.
    heard: AtomicBool,
    /// Set when bytes could not be written.
    severed: AtomicBool,
}

impl Connection {
    /// Begins a call: forgets what was read so far, so that [`has_heard`](Self::has_heard) speaks of the next response.
    pub(super) fn begin(&mut self) {
        self.trace.heard.store(false, Ordering::Relaxed);
        self.driven.busy = true;
    }

    /// Ends a call whose request and response have passed whole.
    fn end(&mut self) {
        self.driven.busy = false;
    }

    /// True when at least one byte of a response has arrived since [`begin`](Self::begin).
    pub(super) fn has_heard(&self) -> bool {
        self.trace.heard.load(Ordering::Relaxed)
    }

    /// True when the connection can carry the next request.
    pub(super) fn is_ready(&self) -> bool {
        self.sender.is_ready() && !self.is_lost()
    }

    /// True when the connection will never carry another request.
    pub(super) fn is_lost(&self) -> bool {
        self.sender.is_closed() || self.trace.severed.load(Ordering::Relaxed)
    }
}

/// A connection lent to a response body. Given back at the body's end; closed when dropped before.
#[derive(Debug)]
pub(super) struct Lease {
    pub(super) connection: Connection,
    pub(super) site: Arc<Site>,
}

impl Lease {
    /// Keeps the connection for other requests as soon as this one has been sent to its end: an answer may be complete earlier.
    pub(super) fn give_back(self) {
        let Self {
            mut connection,
            site,
        } = self;
        if connection.is_ready() {
            connection.end();
            if site.keeps() {
                site.keep(connection);
            }
            return;
        }
        if connection.is_lost() || !site.keeps() {
            return;
        }
        // The connection's own task is still noting the end of the answer, or sending what the provider did not wait for.
        task::spawn(async move {
            if let Ok(Ok(())) = tokio::time::timeout(SETTLING, connection.sender.ready()).await
                && !connection.is_lost()
            {
                connection.end();
                site.keep(connection);
            }
        });
    }
}

/// Keeps a connection's task running. When this is dropped inside a call, the task ends at once: what is queued for the provider
/// is not worth sending any more. Else it has a second to say goodbye.
#[derive(Debug)]
pub(super) struct Driven {
    task: AbortHandle,
    _dropped: oneshot::Sender<Infallible>,
    busy: bool,
}

impl Drop for Driven {
    fn drop(&mut self) {
        if self.busy {
            self.task.abort();
        }
    }
}

/// Runs a connection until its peer closes it or nobody holds it any more.
pub(super) fn drive<F>(connection: F) -> Driven
where
    F: Future<Output = hyper::Result<()>> + Send + 'static,
{
    let (held, dropped) = oneshot::channel();
    let task = task::spawn(async move {
        let mut connection = pin!(connection);
        let ended = tokio::select! {
            ended = &mut connection => ended,
            _ = dropped => tokio::time::timeout(PARTING, connection).await.unwrap_or(Ok(())),
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "an upstream connection ended");
        }
    });
    Driven {
        task,
        _dropped: held,
        busy: false,
    }
}

/// Bytes to and from a provider, plain or encrypted, that note when the provider was first heard, and let it finish
/// speaking: a provider may answer without reading all of the request and close the connection. Its answer lies in our socket
/// then, but every write fails. Such writes are accepted and dropped, so that what follows is settled by reading.
pub(super) struct Wire<T> {
    inner: T,
    trace: Arc<Trace>,
}

impl<T> Wire<T> {
    pub(super) fn new(inner: T) -> (Self, Arc<Trace>) {
        let trace = Arc::new(Trace::default());
        let wire = Self {
            inner,
            trace: trace.clone(),
        };
        (wire, trace)
    }

    fn is_severed(&self) -> bool {
        self.trace.severed.load(Ordering::Relaxed)
    }

    /// `done` in place of an error.
    fn or_drop<R>(&self, polled: Poll<io::Result<R>>, done: R) -> Poll<io::Result<R>> {
        if let Poll::Ready(Err(error)) = &polled {
            tracing::debug!(%error, "a provider stopped reading");
            self.trace.severed.store(true, Ordering::Relaxed);
            return Poll::Ready(Ok(done));
        }
        polled
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
            self.trace.heard.store(true, Ordering::Relaxed);
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
        if self.is_severed() {
            return Poll::Ready(Ok(bytes.len()));
        }
        let polled = Pin::new(&mut self.inner).poll_write(cx, bytes);
        self.or_drop(polled, bytes.len())
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.is_severed() {
            return Poll::Ready(Ok(()));
        }
        let polled = Pin::new(&mut self.inner).poll_flush(cx);
        self.or_drop(polled, ())
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
        let all = slices.iter().map(|slice| slice.len()).sum();
        if self.is_severed() {
            return Poll::Ready(Ok(all));
        }
        let polled = Pin::new(&mut self.inner).poll_write_vectored(cx, slices);
        self.or_drop(polled, all)
    }
}
