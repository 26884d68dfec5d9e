//! The doors for clients: TCP addresses, plain or with TLS, and sockets in the file system. Each accepts connections, serves
//! HTTP/1.1 and HTTP/2 on them, and closes in order.
//!
//! Every task started here has an owner. The [`Listener`] owns one task per door, that task owns its connections,
//! and a connection owns the streams multiplexed on it; dropping an owner ends what it owns. So nothing that was
//! accepted here can outlive the listener, whichever way it ends.
//!
//! # What a slow or silent client costs
//! A connection that has not delivered its first request within the header timeout is closed, whatever it has sent;
//! after that the same timeout bounds each further HTTP/1.1 request head, and with it how long an idle connection is
//! kept. A request head holds at most [`Settings::max_head_bytes`] and, in HTTP/1.1, a hundred fields: hyper's
//! own bound, up to which it parses without allocating. A door that has [`Settings::max_connections`] accepts the next client
//! when one has left; until then it waits in the kernel's queue. When the process is out of file descriptors,
//! accepting pauses for a moment instead of spinning. TLS is agreed on in the connection's own task and within the same
//! header timeout, so a client that dawdles over it delays nobody.
//!
//! # A client that leaves
//! The protocol notices as long as it reads. It does not while bytes of a next request wait, a pipelined one or a stray line end:
//! then the socket is looked at once a second, and a request whose client has closed it is given up within a few seconds.
//!
//! # Closing
//! [`Listener::drain`] stops accepting, takes over the connections the kernel had already accepted, lets every
//! connection finish what it is answering, and cuts off what is left at the deadline. Connections without a request are
//! asked to close, and dropped if they have not a moment later: neither a client that no longer answers nor half a request
//! head delays the end.

mod glance;
mod handshake;
mod socket;
mod stream;
mod traffic;

use std::convert::Infallible;
use std::error::Error as StdError;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use hyper::rt::Executor;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use parking_lot::Mutex;
use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use glance::Glance;
use socket::Knock;
pub(crate) use socket::{BindError, Socket, UnixSocket, bind};
use stream::Stream;
use traffic::{Answer, Noted, Traffic};

/// How long accepting rests after an error of the listening socket itself, such as no free file descriptors.
const ACCEPT_REST: Duration = Duration::from_millis(75);
/// At most so many connections waiting in the kernel's queue are still taken over when the door closes.
const QUEUE: usize = 1024;
/// Idle time after which the kernel probes whether a client is still there.
const PROBE_AFTER: Duration = Duration::from_secs(60);
/// How often, and for how long without an answer, an HTTP/2 connection is asked whether it is alive.
const PING_EVERY: Duration = Duration::from_secs(30);
const PING_PATIENCE: Duration = Duration::from_secs(20);
/// How long a connection without a request may take to close by itself when the door does.
const FAREWELL: Duration = Duration::from_secs(1);

/// What connections may cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    /// Longest wait for a complete request head; also the longest idle time of an HTTP/1.1 connection.
    pub(crate) header_timeout: Duration,
    /// Largest request head in bytes; at least 8 KiB.
    pub(crate) max_head_bytes: u32,
    /// Most connections that one door has at once; at least 1.
    pub(crate) max_connections: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            header_timeout: Duration::from_secs(75),
            max_head_bytes: 256 * 1024,
            max_connections: usize::MAX,
        }
    }
}

/// An open door. Dropping it cuts every connection off.
#[derive(Debug)]
pub(crate) struct Listener {
    doors: JoinSet<usize>,
    close: watch::Sender<Option<Instant>>,
    addresses: Vec<SocketAddr>,
}

/// How a [`Listener`] ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Drained {
    /// Connections still answering at the deadline, cut off by force.
    pub(crate) cut: usize,
}

impl Listener {
    /// Starts to accept on all `sockets`; each request goes to a clone of `service`.
    pub(crate) fn open<K, S, B>(sockets: Vec<K>, settings: Settings, service: S) -> Self
    where
        K: Into<Socket>,
        S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>
            + Clone
            + Send
            + 'static,
        S::Future: Send + 'static,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn StdError + Send + Sync>>,
    {
        let (close, closing) = watch::channel(None);
        let sockets: Vec<Socket> = sockets.into_iter().map(Into::into).collect();
        let addresses = sockets.iter().filter_map(Socket::address).collect();
        let mut doors = JoinSet::new();
        for socket in sockets {
            doors.spawn(door(socket, settings, service.clone(), closing.clone()));
        }
        Self {
            doors,
            close,
            addresses,
        }
    }

    /// The TCP addresses in use; a configured port 0 shows as the port the system chose.
    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Pending for as long as the door is open; completes if an accepting task ended by itself, which is a defect.
    pub(crate) async fn broken(&mut self) {
        match self.doors.join_next().await {
            Some(ended) => report(ended.map(drop)),
            None => std::future::pending().await,
        }
    }

    /// Stops accepting, waits until every connection has finished its answers, and cuts off the rest after `limit`.
    pub(crate) async fn drain(mut self, limit: Duration) -> Drained {
        let now = Instant::now();
        let deadline = now
            .checked_add(limit)
            .unwrap_or_else(|| now + Duration::from_secs(u32::MAX.into()));
        self.close.send_replace(Some(deadline));
        let mut cut = 0;
        while let Some(ended) = self.doors.join_next().await {
            match ended {
                Ok(count) => cut += count,
                Err(error) => report(Err(error)),
            }
        }
        Drained { cut }
    }
}

/// Serves one socket until told to close; gives the number of connections cut off.
async fn door<S, B>(
    mut socket: Socket,
    settings: Settings,
    service: S,
    closing: watch::Receiver<Option<Instant>>,
) -> usize
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    let mut connections = JoinSet::new();
    let mut close = closing.clone();
    let welcome = move |connections: &mut JoinSet<()>, knock| {
        connections.spawn(connection(
            knock,
            settings,
            service.clone(),
            closing.clone(),
        ));
    };
    let mut troubled = false; // so that a long trouble is told once
    let mut crowded = false; // likewise
    let most = settings.max_connections.max(1);
    let deadline = loop {
        tokio::select! {
            deadline = told_to_close(&mut close) => break deadline,
            Some(ended) = connections.join_next(), if !connections.is_empty() => report(ended),
            accepted = poll_fn(|cx| socket.poll_accept(cx)), if connections.len() < most => match accepted {
                Ok(knock) => {
                    troubled = false;
                    welcome(&mut connections, knock);
                    crowded = told_of_crowd(connections.len(), most, crowded);
                }
                Err(error) if is_about_the_client(&error) => {}
                Err(error) => {
                    if !troubled {
                        tracing::warn!(%error, "cannot accept connections");
                    }
                    troubled = true;
                    sleep(ACCEPT_REST).await;
                }
            },
        }
    };
    socket.hide();
    for _ in 0..QUEUE.min(most.saturating_sub(connections.len())) {
        match accepted_already(&socket).await {
            Some(Ok(knock)) => welcome(&mut connections, knock),
            Some(Err(_)) => {}
            None => break,
        }
    }
    drop(socket);
    if let Some(deadline) = deadline {
        while let Ok(Some(ended)) = timeout_at(deadline, connections.join_next()).await {
            report(ended);
        }
    }
    let cut = connections.len();
    connections.shutdown().await;
    cut
}

/// Says that a door has as many connections as it may, and not again before it was half as full.
fn told_of_crowd(connections: usize, most: usize, told: bool) -> bool {
    if connections >= most && !told {
        tracing::warn!(
            max_connections = most,
            "as many client connections as allowed: further ones wait to be accepted"
        );
    }
    connections >= most || (told && connections > most / 2)
}

/// A connection the kernel holds ready, without waiting for one.
async fn accepted_already(socket: &Socket) -> Option<io::Result<Knock>> {
    poll_fn(|cx| match socket.poll_accept(cx) {
        Poll::Ready(accepted) => Poll::Ready(Some(accepted)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

/// Completes when the door is to close, with the deadline; without one if the listener was dropped.
async fn told_to_close(closing: &mut watch::Receiver<Option<Instant>>) -> Option<Instant> {
    closing
        .wait_for(Option::is_some)
        .await
        .ok()
        .and_then(|deadline| *deadline)
}

/// Whether an accept error concerns one client that went away, not the listening socket.
fn is_about_the_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted
    )
}

fn report(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        // The error quotes the panic's text.
        tracing::error!("a connection ended by a defect of the gateway");
    }
}

/// Serves one connection to its end.
async fn connection<S, B>(
    knock: Knock,
    settings: Settings,
    service: S,
    mut closing: watch::Receiver<Option<Instant>>,
) where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    let patience = Instant::now() + settings.header_timeout;
    let stream = match knock {
        Knock::Open(stream) => {
            if let Stream::Tcp(stream) = &stream {
                tune(stream);
            }
            stream
        }
        Knock::Sealed(stream, certificate) => {
            tune(&stream);
            // Boxed, so that connections without TLS carry nothing of it.
            let agreement = Box::pin(handshake::agree(
                stream,
                &certificate,
                patience,
                &mut closing,
            ));
            let Some(stream) = agreement.await else {
                return;
            };
            stream
        }
    };
    let traffic = Arc::new(Traffic::default());
    let builder = protocols(settings);
    let counted = Arc::clone(&traffic);
    let service = service_fn(move |request| {
        let running = counted.begin();
        let answer = service.call(request);
        // Boxed: hyper keeps room for it as long as the connection lasts, and it is gone when the answer begins.
        Box::pin(async move {
            let answer = answer.await?;
            Ok::<_, Infallible>(answer.map(|body| Answer::new(body, running)))
        })
    });
    let stream = Noted::new(TokioIo::new(stream), Arc::clone(&traffic));
    let mut serving = pin!(builder.serve_connection(stream, service));
    // Rings for the first request, and after the door has closed for the last one.
    let mut alarm = pin!(sleep_until(patience));
    let mut armed = true;
    let mut farewell = None;
    let mut settled = None;
    let mut left = pin!(Glance::at(&traffic));
    loop {
        // The connection comes first, so that a request already delivered is read before the door closes on it.
        tokio::select! {
            biased;
            ended = &mut serving => {
                if let Err(error) = ended {
                    tracing::debug!(error = &*error, "client connection ended early");
                }
                return;
            }
            () = &mut left => {
                tracing::debug!("the client has left in the middle of a request");
                return;
            }
            deadline = told_to_close(&mut closing), if farewell.is_none() => {
                serving.as_mut().graceful_shutdown();
                let patience = farewell_before(deadline);
                farewell = Some(patience);
                settled = traffic.settled();
                alarm.as_mut().reset(Instant::now() + patience);
                armed = true;
            }
            () = &mut alarm, if armed => match farewell {
                None if traffic.heard() => armed = false,
                None => return,
                Some(patience) => {
                    let before = std::mem::replace(&mut settled, traffic.settled());
                    if settled.is_some() && settled == before {
                        return;
                    }
                    alarm.as_mut().reset(Instant::now() + patience);
                }
            }
        }
    }
}

/// How long an idle connection may take to close, so that it is gone before the deadline.
fn farewell_before(deadline: Option<Instant>) -> Duration {
    let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()) / 4);
    left.unwrap_or_default()
        .clamp(Duration::from_millis(1), FAREWELL)
}

/// Small writes leave at once, and dead peers are noticed; a socket that refuses either still works.
fn tune(stream: &TcpStream) {
    let keepalive = TcpKeepalive::new().with_time(PROBE_AFTER);
    if let Err(error) = stream
        .set_nodelay(true)
        .and_then(|()| SockRef::from(stream).set_tcp_keepalive(&keepalive))
    {
        tracing::debug!(%error, "cannot set socket options");
    }
}

fn protocols(settings: Settings) -> auto::Builder<Streams> {
    let mut builder = auto::Builder::new(Streams::default());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(settings.header_timeout)
        .max_buf_size(
            usize::try_from(settings.max_head_bytes)
                .unwrap_or(usize::MAX)
                .max(8 * 1024),
        )
        .half_close(false)
        .keep_alive(true);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(settings.max_head_bytes)
        .keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PING_PATIENCE);
    builder
}

/// The streams of one HTTP/2 connection: they end with it.
#[derive(Clone, Default)]
struct Streams(Arc<Mutex<JoinSet<()>>>);

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Streams {
    fn execute(&self, stream: F) {
        let mut streams = self.0.lock();
        while let Some(ended) = streams.try_join_next() {
            report(ended);
        }
        streams.spawn(stream);
    }
}

#[cfg(test)]
mod tests;
