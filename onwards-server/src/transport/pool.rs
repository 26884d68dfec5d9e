//! Idle connections per provider address, and the rule for connections that were closed behind our back.
//!
//! Why a pool of our own: a provider may close an idle connection at the very moment a request is written to it.
//! Such a request was never answered, so it is safe to send again, once, and on a connection that is certainly
//! new: taking the pool's next old one could fail the same way, sixteen times in a row. That needs a pool that knows
//! whether a connection was used before and that can be told to dial. Worked case: 16 warm connections, all closed
//! by the provider at once, 8 requests in parallel: each finds a dead connection, dials, and succeeds.
//!
//! A connection is kept when its response body has been read to the end, at most `max_idle_per_host` of them and
//! none longer than `idle_timeout`; the most recently used one is taken first. A body dropped before its end
//! closes its connection. The pool outlives reloads: addresses that stay keep their connections.

use std::sync::{Arc, Weak};
use std::time::Duration;

use dashmap::DashMap;
use hyper::client::conn::http2;
use parking_lot::Mutex;
use tokio::time::Instant;

use onwards_config::{HttpEndpoint, HttpPool, Scheme};

use super::body::{Outgoing, UpstreamBody};
use super::connection::{Connection, Lease};
use super::dial::{self, Dialled};
use super::proxy::{self, Hop};
use super::tls::Tls;
use super::{Answer, Call, Conditions, Destination, Sending, Transport, TransportError};

/// All addresses that requests go to.
#[derive(Debug)]
pub(crate) struct Pool {
    sites: DashMap<String, Weak<Site>>,
    tls: Arc<Tls>,
}

/// One address that requests go to: where, how to get there, and the connections that lead there now.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) endpoint: HttpEndpoint,
    pub(super) hop: Option<Hop>,
    pub(super) tls: Arc<Tls>,
    keeping: HttpPool,
    idle: Mutex<Vec<Idle>>,
    shared: Mutex<Option<http2::SendRequest<Outgoing>>>,
}

#[derive(Debug)]
struct Idle {
    connection: Connection,
    since: Instant,
}

impl Pool {
    /// An empty pool.
    pub(crate) fn new() -> Self {
        Self {
            sites: DashMap::new(),
            tls: Arc::new(Tls::new()),
        }
    }
}

impl Transport for Pool {
    fn destination(
        &self,
        endpoint: &HttpEndpoint,
        conditions: Conditions<'_>,
    ) -> Arc<dyn Destination> {
        let keeping = conditions.keeping;
        let hop = conditions
            .proxy
            .and_then(|proxy| Hop::towards(endpoint, proxy));
        let HttpEndpoint {
            scheme, host, port, ..
        } = endpoint;
        let identity = format!("{scheme:?} {host} {port} {hop:?} {keeping:?}");
        self.sites.retain(|_, site| site.strong_count() > 0);
        let mut entry = self.sites.entry(identity).or_default();
        if let Some(site) = entry.upgrade() {
            return site;
        }
        let site = Arc::new(Site {
            endpoint: endpoint.clone(),
            hop,
            tls: self.tls.clone(),
            keeping,
            idle: Mutex::new(Vec::new()),
            shared: Mutex::new(None),
        });
        *entry = Arc::downgrade(&site);
        site
    }
}

impl Destination for Site {
    fn send(self: Arc<Self>, call: Call, connect_timeout: Duration) -> Sending {
        Box::pin(async move { self.carry(call, connect_timeout).await })
    }
}

impl Site {
    /// Sends a call on a kept connection if there is a live one, else on a new one.
    ///
    /// # Errors
    /// [`TransportError::Connect`] when no connection can be made within `connect_timeout`, [`TransportError::Broken`] when a connection
    /// breaks before a response head has arrived and the call may not, or not again, be replayed.
    async fn carry(
        self: &Arc<Self>,
        call: Call,
        connect_timeout: Duration,
    ) -> Result<Answer, TransportError> {
        let shared = self
            .shared
            .lock()
            .as_ref()
            .filter(|sender| !sender.is_closed())
            .cloned();
        if let Some(sender) = shared {
            return self.send_shared(sender, call, connect_timeout, true).await;
        }
        let Some(connection) = self.take().await else {
            return self.send_fresh(call, connect_timeout).await;
        };
        match self.send_on(connection, call.clone()).await {
            Err(Missed { heard: false, .. }) => self.send_fresh(call, connect_timeout).await,
            Err(Missed { error, .. }) => Err(TransportError::Broken(error.into())),
            Ok(answer) => Ok(answer),
        }
    }

    /// Sends a call on a connection that has never carried one. Nothing is replayed.
    async fn send_fresh(
        self: &Arc<Self>,
        call: Call,
        connect_timeout: Duration,
    ) -> Result<Answer, TransportError> {
        match dial::dial(self, connect_timeout).await? {
            Dialled::Http1(connection) => self
                .send_on(connection, call)
                .await
                .map_err(|missed| TransportError::Broken(missed.error.into())),
            Dialled::Http2(sender) => {
                *self.shared.lock() = Some(sender.clone());
                Box::pin(self.send_shared(sender, call, connect_timeout, false)).await
            }
        }
    }

    async fn send_on(
        self: &Arc<Self>,
        mut connection: Connection,
        mut call: Call,
    ) -> Result<Answer, Missed> {
        if self.hop.is_some() && self.endpoint.scheme != Scheme::Https {
            proxy::make_absolute(&mut call, &self.endpoint.authority);
        }
        connection.begin();
        match connection.sender.try_send_request(call).await {
            Ok(response) => {
                let lease = Lease {
                    connection,
                    site: self.clone(),
                };
                Ok(response.map(|incoming| UpstreamBody::http(incoming, Some(lease))))
            }
            Err(failed) => Err(Missed {
                error: failed.into_error(),
                heard: connection.has_heard(),
            }),
        }
    }

    /// Sends a call over an HTTP/2 connection. A connection that was going away is replaced once.
    async fn send_shared(
        self: &Arc<Self>,
        mut sender: http2::SendRequest<Outgoing>,
        mut call: Call,
        connect_timeout: Duration,
        reused: bool,
    ) -> Result<Answer, TransportError> {
        proxy::make_http2(&mut call, &self.endpoint);
        let spare = reused.then(|| call.clone());
        match sender.try_send_request(call).await {
            Ok(response) => Ok(response.map(|incoming| UpstreamBody::http(incoming, None))),
            Err(mut failed) => {
                // Handed back unsent, or refused by a peer that was going away: safe to send again.
                let unsent = failed.take_message();
                let again = if reused {
                    unsent.or(spare.filter(|_| refused_by_peer(failed.error())))
                } else {
                    None
                };
                match again {
                    Some(call) => {
                        *self.shared.lock() = None;
                        self.send_fresh(call, connect_timeout).await
                    }
                    None => Err(TransportError::Broken(failed.into_error().into())),
                }
            }
        }
    }

    /// The most recently used connection that is still alive, if one is kept.
    async fn take(&self) -> Option<Connection> {
        loop {
            let idle = self.idle.lock().pop()?;
            if idle.since.elapsed() > self.keeping.idle_timeout {
                // What lies below is older still.
                self.idle.lock().clear();
                return None;
            }
            // The connection's own task may still be noting the end of the last response.
            for _ in 0..3 {
                if idle.connection.sender.is_closed() || idle.connection.sender.is_ready() {
                    break;
                }
                tokio::task::yield_now().await;
            }
            if idle.connection.sender.is_ready() && !idle.connection.sender.is_closed() {
                return Some(idle.connection);
            }
        }
    }

    /// Keeps a connection whose response has been read to its end.
    pub(super) fn keep(&self, connection: Connection) {
        if connection.sender.is_closed() || self.keeping.max_idle_per_host == 0 {
            return;
        }
        let now = Instant::now();
        let mut idle = self.idle.lock();
        let oldest = idle.first().map(|first| now.duration_since(first.since));
        if oldest.is_some_and(|age| age > self.keeping.idle_timeout) {
            idle.retain(|kept| now.duration_since(kept.since) <= self.keeping.idle_timeout);
        }
        if idle.len() >= self.keeping.max_idle_per_host {
            idle.remove(0);
        }
        idle.push(Idle {
            connection,
            since: now,
        });
    }
}

/// A send on an HTTP/1.1 connection that brought no response head.
struct Missed {
    error: hyper::Error,
    /// Some byte of a response had arrived: the provider may have acted on the request.
    heard: bool,
}

/// True when the peer says that it did not process the request (RFC 9113, 8.7).
fn refused_by_peer(error: &hyper::Error) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(h2) = error.downcast_ref::<h2::Error>() {
            return h2.reason() == Some(h2::Reason::REFUSED_STREAM)
                || (h2.is_go_away()
                    && h2.is_remote()
                    && h2.reason() == Some(h2::Reason::NO_ERROR));
        }
        cause = error.source();
    }
    false
}
