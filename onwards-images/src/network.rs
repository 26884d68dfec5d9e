//! The two things that are asked of a network.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::pin::Pin;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio::sync::Semaphore;

/// Names that are looked up at once. The system's resolver takes a thread for each and cannot be interrupted.
const LOOKUPS: usize = 16;

/// What a [`Network`] does some time.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = io::Result<T>> + Send + 'a>>;

/// Where names and connections come from. A [`Fetcher`](crate::Fetcher) asks for the addresses of a name once for each hop,
/// checks them, and connects to none but those.
pub trait Network: fmt::Debug + Send + Sync {
    /// The addresses of a name, in the order in which they are to be tried.
    fn resolve<'a>(&'a self, name: &'a str) -> Pending<'a, Vec<IpAddr>>;

    /// A connection to exactly this address.
    fn connect(&self, address: SocketAddr) -> Pending<'_, TcpStream>;
}

/// The system's resolver and its sockets.
#[derive(Debug)]
pub struct System {
    lookups: Arc<Semaphore>,
}

impl System {
    /// One for all fetchers of a process: it looks up a bounded number of names at once.
    #[must_use]
    pub fn new() -> Self {
        Self {
            lookups: Arc::new(Semaphore::new(LOOKUPS)),
        }
    }
}

impl Default for System {
    fn default() -> Self {
        Self::new()
    }
}

impl Network for System {
    fn resolve<'a>(&'a self, name: &'a str) -> Pending<'a, Vec<IpAddr>> {
        Box::pin(async move {
            let lookups = self.lookups.clone();
            let permit = lookups.acquire_owned().await.map_err(io::Error::other)?;
            let name = name.to_owned();
            // The permit goes with the thread: a lookup that nobody waits for any more still counts.
            let lookup = tokio::task::spawn_blocking(move || {
                let found = (name.as_str(), 0).to_socket_addrs();
                drop(permit);
                found.map(|found| found.map(|address| address.ip()).collect())
            });
            lookup.await.map_err(io::Error::other)?
        })
    }

    fn connect(&self, address: SocketAddr) -> Pending<'_, TcpStream> {
        Box::pin(TcpStream::connect(address))
    }
}

#[cfg(test)]
mod tests;
