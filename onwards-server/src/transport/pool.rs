//! Connections per provider address, and the rule for connections that were closed behind our back.
//!
//! Why a pool of our own: a provider may close an idle connection at the very moment a request is written to it.
//! Such a request was never answered, so it is safe to send again, once, and on a connection that is certainly
//! new: taking the pool's next old one could fail the same way, sixteen times in a row. That needs a pool that knows
//! whether a connection was used before and that can be told to dial. Worked case: 16 warm connections, all closed
//! by the provider at once, 8 requests in parallel: each finds a dead connection, dials, and succeeds.
//!
//! The rule, for HTTP/1.1 and HTTP/2 alike: what fails on a used connection before a byte of its answer has come is sent
//! again, once; what fails on a new one is not. A stream that the provider resets has been answered, unless it says that it
//! refused the stream (RFC 9113, 8.7).
//!
//! A connection is kept when its response body has been read to the end, at most `max_idle_per_host` of them and
//! none longer than `idle_timeout`; the most recently used one is taken first. A body dropped before its end
//! closes its connection, or resets its stream. The pool outlives reloads: addresses that stay keep their connections.
//!
//! Whether an `https` address speaks HTTP/2 is known after the first handshake. Until then, and for one that does, one call
//! dials and the others wait for it: if it can be shared, they need none of their own. If dialling fails, those who
//! waited dial for themselves, side by side.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Poll, ready};
use std::time::Duration;

use dashmap::DashMap;
use http::{HeaderValue, StatusCode, Version};
use hyper::ext::ReasonPhrase;
use parking_lot::Mutex;
use tokio::time::Instant;

use onwards_config::{HttpEndpoint, HttpPool, Scheme};
use onwards_http1::Recall;

use super::body::UpstreamBody;
use super::connection::Connection;
use super::dial::{self, Dialled};
use super::exchange::{Exchange, NoAnswer};
use super::kept::{Kept, Sender, Serial};
use super::proxy::{self, Hop};
use super::tls::Tls;
use super::{
    Answer, Call, Conditions, Destination, Sending, Switched, Transport, TransportError, task,
};

/// All addresses that requests go to.
#[derive(Debug)]
pub(crate) struct Pool {
    sites: DashMap<Identity, Weak<Site>>,
    tls: Arc<Tls>,
}

/// What connections have to have in common to be interchangeable.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Identity {
    scheme: Scheme,
    host: String,
    port: u16,
    hop: Option<Hop>,
    max_idle: usize,
    idle_timeout: Duration,
}

/// One address that requests go to: where, how to get there, and the connections that lead there now.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) endpoint: HttpEndpoint,
    pub(super) hop: Option<Hop>,
    pub(super) tls: Arc<Tls>,
    keeping: HttpPool,
    kept: Mutex<Kept>,
    /// What heads from here look like.
    pub(super) recall: Mutex<Recall>,
    /// The last connection made was not one that can be shared, so calls need not wait for each other's.
    unshared: AtomicBool,
    /// Held while a connection is made that may turn out to be one for all.
    dialling: tokio::sync::Mutex<()>,
    /// How often that failed.
    failures: AtomicUsize,
}

impl Pool {
    /// An empty pool.
    pub(crate) fn new() -> Self {
        Self::with_tls(Tls::default())
    }

    /// An empty pool with TLS settings of one's own.
    pub(super) fn with_tls(tls: Tls) -> Self {
        Self {
            sites: DashMap::new(),
            tls: Arc::new(tls),
        }
    }

    pub(super) fn site(&self, endpoint: &HttpEndpoint, conditions: Conditions<'_>) -> Arc<Site> {
        let keeping = conditions.keeping;
        let hop = conditions
            .proxy
            .and_then(|proxy| Hop::towards(endpoint, proxy));
        if endpoint.scheme == Scheme::Https || hop.as_ref().is_some_and(Hop::is_encrypted) {
            self.tls.prepare();
        }
        let identity = Identity {
            scheme: endpoint.scheme,
            host: endpoint.host.clone(),
            port: endpoint.port,
            hop: hop.clone(),
            max_idle: keeping.max_idle_per_host,
            idle_timeout: keeping.idle_timeout,
        };
        self.sites.retain(|_, site| site.strong_count() > 0);
        let mut entry = self.sites.entry(identity).or_default();
        if let Some(site) = entry.upgrade() {
            return site;
        }
        let site = Arc::new(Site {
            unshared: AtomicBool::new(endpoint.scheme != Scheme::Https),
            endpoint: endpoint.clone(),
            hop,
            tls: self.tls.clone(),
            keeping,
            kept: Mutex::new(Kept::new(keeping)),
            recall: Mutex::default(),
            dialling: tokio::sync::Mutex::new(()),
            failures: AtomicUsize::new(0),
        });
        *entry = Arc::downgrade(&site);
        site
    }
}

impl Transport for Pool {
    fn tls(&self) -> Option<rustls::ClientConfig> {
        self.tls.trust()
    }

    fn destination(
        &self,
        endpoint: &HttpEndpoint,
        conditions: Conditions<'_>,
    ) -> Arc<dyn Destination> {
        self.site(endpoint, conditions)
    }
}

impl Destination for Site {
    fn send<'a>(self: Arc<Self>, call: Call<'a>, connect_timeout: Duration) -> Sending<'a> {
        Box::pin(async move { self.carry(call, connect_timeout).await })
    }
}

impl Site {
    /// Sends a call on a connection at hand, else on a new one.
    ///
    /// # Errors
    /// [`TransportError::Connect`] when no connection can be made within `connect_timeout`, [`TransportError::Broken`] when a
    /// connection breaks before a response head has arrived and the call may not, or not again, be replayed.
    async fn carry(
        self: &Arc<Self>,
        call: Call<'_>,
        connect_timeout: Duration,
    ) -> Result<Answer, TransportError> {
        let way = match self.at_hand() {
            Some(way) => way,
            None => Box::pin(self.new_way(connect_timeout, 0)).await?,
        };
        let (missed, spare) = match self.send_on(way, call).await {
            Ok(answer) => return Ok(answer),
            Err(missed) => missed,
        };
        let (Some(after), Some(call)) = (missed.after, spare) else {
            return Err(TransportError::Broken(missed.error));
        };
        tracing::debug!(error = %missed.error, "a used connection failed: the call is sent again on a new one");
        let again = async {
            let way = self.new_way(connect_timeout, after).await?;
            Ok::<_, TransportError>(self.send_on(way, call).await)
        };
        Box::pin(again)
            .await?
            .map_err(|(missed, _)| TransportError::Broken(missed.error))
    }

    fn at_hand(self: &Arc<Self>) -> Option<Way> {
        let mut kept = self.kept.lock();
        if let Some((sender, serial)) = kept.enter(0) {
            return Some(Way::Stream(self.stream(sender, serial), true));
        }
        let connection = kept.take(Instant::now())?;
        Some(Way::Connection(connection, true))
    }

    /// A way over a new connection: one of the call's own, or a shared one made after `after`.
    async fn new_way(
        self: &Arc<Self>,
        limit: Duration,
        after: Serial,
    ) -> Result<Way, TransportError> {
        let late = || std::io::Error::new(std::io::ErrorKind::TimedOut, "connect timeout");
        match tokio::time::timeout(limit, self.dial(after)).await {
            Ok(made) => made.map_err(TransportError::Connect),
            Err(_) => Err(TransportError::Connect(late())),
        }
    }

    async fn dial(self: &Arc<Self>, after: Serial) -> std::io::Result<Way> {
        let mut turn = None;
        if !self.unshared.load(Ordering::Relaxed) {
            let failures = self.failures.load(Ordering::Relaxed);
            turn = Some(self.dialling.lock().await);
            if let Some((sender, serial)) = self.kept.lock().enter(after) {
                return Ok(Way::Stream(self.stream(sender, serial), true));
            }
            if self.unshared.load(Ordering::Relaxed)
                || self.failures.load(Ordering::Relaxed) != failures
            {
                turn = None;
            }
        }
        let dialled = dial::open(self).await;
        let way = match dialled {
            Ok(Dialled::Http1(connection)) => {
                self.unshared.store(true, Ordering::Relaxed);
                Ok(Way::Connection(connection, false))
            }
            Ok(Dialled::Http2 { sender, room }) => {
                self.unshared.store(false, Ordering::Relaxed);
                let serial = self.kept.lock().share(sender.clone(), room, Instant::now());
                Ok(Way::Stream(self.stream(sender, serial), false))
            }
            Err(error) => {
                self.failures.fetch_add(1, Ordering::Relaxed);
                Err(error)
            }
        };
        drop(turn);
        way
    }

    fn stream(self: &Arc<Self>, sender: Sender, serial: Serial) -> Stream {
        Stream {
            site: self.clone(),
            sender,
            serial,
        }
    }

    /// Sends a call; with the error comes the call again, if it went over a used connection.
    async fn send_on<'a>(
        self: &Arc<Self>,
        way: Way,
        call: Call<'a>,
    ) -> Result<Answer, (Missed, Option<Call<'a>>)> {
        let (answer, spare) = match way {
            Way::Connection(connection, used) => {
                let answer = self.send_alone(connection, &call).await;
                (answer, used.then_some(call))
            }
            Way::Stream(stream, used) => {
                let spare = used.then(|| call.clone());
                (self.send_shared(stream, call).await, spare)
            }
        };
        match answer {
            Ok(answer) if answer.status() == StatusCode::SWITCHING_PROTOCOLS => {
                Err((Missed::for_good(Switched), None))
            }
            // How the client is answered does not depend on how the provider was asked.
            Ok(mut answer) => {
                *answer.version_mut() = Version::HTTP_11;
                Ok(answer)
            }
            Err(missed) => Err((missed, spare)),
        }
    }

    async fn send_alone(
        self: &Arc<Self>,
        connection: Connection,
        call: &Call<'_>,
    ) -> Result<Answer, Missed> {
        let sent = Exchange::begin(self.clone(), connection, call).await;
        let (head, exchange) = sent.map_err(|NoAnswer { error, unheard }| Missed {
            error,
            after: unheard.then(|| self.kept.lock().newest()),
        })?;
        let mut answer = Answer::new(UpstreamBody::http1(exchange));
        *answer.status_mut() = head.status;
        *answer.headers_mut() = head.headers;
        if let Some(reason) = head
            .reason
            .and_then(|reason| ReasonPhrase::try_from(reason).ok())
        {
            answer.extensions_mut().insert(reason);
        }
        Ok(answer)
    }

    async fn send_shared(
        self: &Arc<Self>,
        mut stream: Stream,
        call: Call<'_>,
    ) -> Result<Answer, Missed> {
        let request = proxy::make_http2(call, &self.endpoint);
        match stream.sender.try_send_request(request).await {
            Ok(response) => Ok(response.map(|incoming| UpstreamBody::http2(incoming, stream))),
            Err(failed) => {
                let error = failed.into_error();
                let retire = || self.kept.lock().retire(stream.serial, Instant::now());
                Err(Missed {
                    after: (!is_answer(&error)).then(retire),
                    error: error.into(),
                })
            }
        }
    }

    /// What calls tell a forward proxy that passes them on; none where there is none, or a tunnel through one.
    pub(super) fn forward(&self) -> Option<Forward<'_>> {
        let hop = self.hop.as_ref()?;
        (self.endpoint.scheme != Scheme::Https).then(|| Forward {
            authority: &self.endpoint.authority,
            credentials: hop.credentials.as_ref(),
        })
    }

    /// Whether connections are kept at all.
    pub(super) fn keeps(&self) -> bool {
        self.keeping.max_idle_per_host > 0
    }

    /// Keeps a connection whose response has been read to its end.
    pub(super) fn keep(self: &Arc<Self>, connection: Connection) {
        let unattended = self.kept.lock().keep(connection, Instant::now());
        if unattended {
            self.attend();
        }
    }

    /// How many connections are idle.
    #[cfg(test)]
    pub(super) fn idle(&self) -> usize {
        self.kept.lock().idle()
    }

    /// Closes connections when they have been idle for too long, or as soon as their peers have closed them, as long as
    /// there are any.
    fn attend(self: &Arc<Self>) {
        let site = Arc::downgrade(self);
        task::spawn(async move {
            let mut alarm = pin!(tokio::time::sleep(Duration::ZERO));
            poll_fn(|cx| {
                loop {
                    let Some(site) = site.upgrade() else {
                        return Poll::Ready(());
                    };
                    let next = site.kept.lock().expire(Instant::now(), cx.waker());
                    let Some(next) = next else {
                        return Poll::Ready(());
                    };
                    alarm.as_mut().reset(next);
                    ready!(alarm.as_mut().poll(cx));
                }
            })
            .await;
        });
    }
}

/// What a forward proxy has to know to pass a call on.
pub(super) struct Forward<'a> {
    /// Whom the call is for.
    pub(super) authority: &'a str,
    /// What lets us use the proxy.
    pub(super) credentials: Option<&'a HeaderValue>,
}

/// What a call is sent over, and whether other calls were before.
enum Way {
    Connection(Connection, bool),
    Stream(Stream, bool),
}

/// A place on a shared connection, held until the response body has ended or is dropped.
#[derive(Debug)]
pub(super) struct Stream {
    site: Arc<Site>,
    sender: Sender,
    serial: Serial,
}

impl Drop for Stream {
    fn drop(&mut self) {
        let unattended = self.site.kept.lock().leave(self.serial, Instant::now());
        // Without a runtime there are no connections left to close either.
        if unattended && tokio::runtime::Handle::try_current().is_ok() {
            self.site.attend();
        }
    }
}

/// A call that brought no response head.
struct Missed {
    error: Box<dyn std::error::Error + Send + Sync>,
    /// Nothing of an answer had arrived: on a used connection the provider may have closed it before it saw the call, which can be
    /// sent again over a connection made after this one.
    after: Option<Serial>,
}

impl Missed {
    fn for_good(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self {
            error: error.into(),
            after: None,
        }
    }
}

/// True when an HTTP/2 stream was ended by itself, its connection living on: the peer's answer, or what came of it. A refused
/// stream is none (RFC 9113, 8.7).
fn is_answer(error: &hyper::Error) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(h2) = error.downcast_ref::<h2::Error>() {
            return h2.is_reset() && h2.reason() != Some(h2::Reason::REFUSED_STREAM);
        }
        cause = error.source();
    }
    false
}
