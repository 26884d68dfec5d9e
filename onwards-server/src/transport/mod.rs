//! The narrow seam between the attempt loop and whatever carries bytes to a provider.
//!
//! A [`Transport`] gives a [`Destination`] for every provider address when a configuration is loaded; a destination takes
//! a request as it should leave (request target byte for byte, headers complete, body in pieces) and gives the response
//! head with a body that can be read, or dropped to give the call up. It decides nothing: which provider, how long to
//! wait and what a status means is the attempt loop's.

mod body;
mod call;
mod connection;
mod dial;
mod echo;
mod exchange;
mod kept;
mod pool;
mod proxy;
mod task;
mod tcp;
#[cfg(test)]
mod tests;
mod tls;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http::Response;
use onwards_config::{HttpEndpoint, HttpPool, Proxy};

pub use self::body::{Outgoing, UpstreamBody};
pub use self::call::{Call, Field};
pub(crate) use self::echo::Echo;
pub(crate) use self::pool::Pool;

/// The answer to a call, once its head has arrived.
pub type Answer = Response<UpstreamBody>;

/// A call on its way. Dropping it gives the call up at once.
pub type Sending<'a> = Pin<Box<dyn Future<Output = Result<Answer, TransportError>> + Send + 'a>>;

/// Why a call brought no response head.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// No connection could be made, or not within the connect timeout. The provider has seen nothing of the call.
    #[error("cannot connect to the provider")]
    Connect(#[source] std::io::Error),
    /// The connection broke before a response head had arrived. The provider may have seen the call.
    #[error("the connection broke before the response head")]
    Broken(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// The provider has gone over to another protocol, though nobody asked it to.
#[derive(Debug, thiserror::Error)]
#[error("switched protocols unasked")]
pub(crate) struct Switched;

/// How connections are kept and made; the same for all destinations of one configuration.
#[derive(Clone, Copy, Debug)]
pub struct Conditions<'a> {
    /// Idle connections.
    pub keeping: HttpPool,
    /// The forward proxy to use, if any.
    pub proxy: Option<&'a Proxy>,
}

/// Something that can reach providers.
pub trait Transport: Send + Sync + fmt::Debug {
    /// Whom connections with TLS trust that the gateway makes beside those to providers, to fetch pictures; `None`: none are made.
    fn tls(&self) -> Option<rustls::ClientConfig> {
        None
    }

    /// The way to an address. Called at load for every provider; equal arguments should share connections, also over
    /// reloads.
    fn destination(
        &self,
        endpoint: &HttpEndpoint,
        conditions: Conditions<'_>,
    ) -> Arc<dyn Destination>;
}

/// One address that calls go to.
pub trait Destination: Send + Sync + fmt::Debug {
    /// Sends a call and waits for the head of its answer. Connecting may take `connect_timeout`; nothing else is bounded.
    fn send<'a>(self: Arc<Self>, call: Call<'a>, connect_timeout: Duration) -> Sending<'a>;
}
