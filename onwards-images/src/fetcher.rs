//! All pictures of a request, each over as many hops as it takes.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt as _, TryStreamExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

use crate::exchange::{Answer, Room, exchange};
use crate::network::{Network, System};
use crate::target::{Party, Target};
use crate::{Picture, Settings, is_public};

/// Pictures of one request that are fetched at once.
const AT_ONCE: usize = 4;
/// Addresses of a name that are tried.
const TRIED: usize = 8;
/// What an address has before the next one is tried beside it (RFC 8305, 8).
const HEAD_START: Duration = Duration::from_millis(250);

/// Fetches pictures. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Fetcher {
    settings: Arc<Settings>,
    tls: Arc<ClientConfig>,
    network: Arc<dyn Network>,
    accept: Arc<str>,
}

/// Which picture could not be had, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("picture {index}: {reason}")]
pub struct Failed {
    /// Its place among the addresses asked for.
    pub index: usize,
    /// Why, as far as a caller may know.
    pub reason: Reason,
}

/// Why a picture could not be had. That is all a caller is told: what else a server answered, or which addresses a name has, is
/// none of its business.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Reason {
    /// The host is not on the list, has no address, or has one that is not public.
    #[error("blocked_address")]
    BlockedAddress,
    /// The picture, or all together, or their number.
    #[error("too_large")]
    TooLarge,
    /// The deadline of all pictures has passed.
    #[error("timeout")]
    Timeout,
    /// No whole answer of status 200: another status, no connection, an answer that breaks off, a redirect too many.
    #[error("bad_status")]
    BadStatus,
    /// The bytes are none of the types asked for.
    #[error("not_an_image")]
    NotAnImage,
    /// No address of a scheme that is allowed, or one with a user or password.
    #[error("bad_url")]
    BadUrl,
}

impl Reason {
    /// The word for it, of a closed set.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::BlockedAddress => "blocked_address",
            Self::TooLarge => "too_large",
            Self::Timeout => "timeout",
            Self::BadStatus => "bad_status",
            Self::NotAnImage => "not_an_image",
            Self::BadUrl => "bad_url",
        }
    }
}

impl Fetcher {
    /// A fetcher over the system's resolver. `tls` says which certificates are trusted; its protocols (ALPN) are replaced.
    #[must_use]
    pub fn new(settings: Settings, tls: ClientConfig) -> Self {
        Self::over(settings, tls, Arc::new(System::new()))
    }

    /// A fetcher over another network.
    #[must_use]
    pub fn over(settings: Settings, mut tls: ClientConfig, network: Arc<dyn Network>) -> Self {
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        Self {
            accept: settings.mime_types.join(", ").into(),
            settings: Arc::new(settings),
            tls: Arc::new(tls),
            network,
        }
    }

    /// Fetches the pictures at these addresses: each address once, in the order of its first place, with its picture.
    ///
    /// At most four are fetched at once. Dropping the future closes their connections.
    ///
    /// # Errors
    /// The first failure to happen ends all others.
    pub async fn fetch(&self, urls: &[impl AsRef<str>]) -> Result<Vec<(String, Picture)>, Failed> {
        let deadline = Instant::now() + self.settings.timeout;
        if urls.len() > self.settings.max_images {
            return Err(Failed {
                index: self.settings.max_images,
                reason: Reason::TooLarge,
            });
        }
        let mut places = BTreeMap::new();
        for (index, url) in urls.iter().enumerate() {
            places.entry(url.as_ref()).or_insert(index);
        }
        let mut order: Vec<(usize, String)> = places
            .into_iter()
            .map(|(url, index)| (index, url.to_owned()))
            .collect();
        order.sort_unstable();
        let together = AtomicUsize::new(self.settings.max_total_bytes);
        let room = Room {
            each: self.settings.max_bytes,
            together: &together,
        };
        let all = order.into_iter().map(|(index, url)| async move {
            let picture = timeout_at(deadline, self.picture(&url, room)).await;
            match picture.unwrap_or(Err(Reason::Timeout)) {
                Ok(picture) => Ok((index, url, picture)),
                Err(reason) => Err(Failed { index, reason }),
            }
        });
        let mut pictures: Vec<(usize, String, Picture)> = futures_util::stream::iter(all)
            .buffer_unordered(AT_ONCE)
            .try_collect()
            .await?;
        pictures.sort_unstable_by_key(|(index, ..)| *index);
        let pictures = pictures.into_iter();
        Ok(pictures.map(|(_, url, picture)| (url, picture)).collect())
    }

    async fn picture(&self, url: &str, room: Room<'_>) -> Result<Picture, Reason> {
        let mut target = Target::parse(url, &self.settings)?;
        for _ in 0..=self.settings.max_redirects {
            match self.hop(&target, room).await? {
                Answer::Body(bytes) => {
                    return Picture::new(&bytes, &self.settings.mime_types)
                        .ok_or(Reason::NotAnImage);
                }
                Answer::Moved(location) => target = target.follow(&location, &self.settings)?,
            }
        }
        Err(Reason::BadStatus)
    }

    async fn hop(&self, target: &Target, room: Room<'_>) -> Result<Answer, Reason> {
        let party = target.party().ok_or(Reason::BadUrl)?;
        let addresses = self.addresses(&party).await?;
        let tcp = self.connect(addresses, target.port()).await?;
        if !target.is_encrypted() {
            return exchange(tcp, target, &self.accept, room).await;
        }
        let name = match party {
            Party::Name(name) => ServerName::try_from(name).map_err(|_| Reason::BadUrl)?,
            Party::Address(address) => ServerName::from(address),
        };
        let tls = TlsConnector::from(Arc::clone(&self.tls))
            .connect(name, tcp)
            .await
            .map_err(|_| Reason::BadStatus)?;
        exchange(tls, target, &self.accept, room).await
    }

    /// The addresses of a host, all of which may be asked. A name that has none is refused like one with a private address, so
    /// that a caller does not learn which names a private network knows.
    async fn addresses(&self, party: &Party) -> Result<Vec<IpAddr>, Reason> {
        let addresses = match party {
            Party::Name(name) => self.network.resolve(name).await.unwrap_or_default(),
            Party::Address(address) => vec![*address],
        };
        let allowed = |address: &IpAddr| self.settings.allow_private || is_public(*address);
        if addresses.is_empty() || !addresses.iter().all(allowed) {
            return Err(Reason::BlockedAddress);
        }
        Ok(addresses)
    }

    /// The first connection to any of the addresses: the next one gets its chance before the first has failed.
    async fn connect(&self, addresses: Vec<IpAddr>, port: u16) -> Result<TcpStream, Reason> {
        let mut waiting = addresses.into_iter().take(TRIED);
        let mut running = FuturesUnordered::new();
        loop {
            if let Some(address) = waiting.next() {
                running.push(self.network.connect(SocketAddr::new(address, port)));
            }
            tokio::select! {
                ended = running.next() => match ended {
                    Some(Ok(tcp)) => return Ok(tcp),
                    Some(Err(_)) => {}
                    None => return Err(Reason::BadStatus),
                },
                () = sleep(HEAD_START), if waiting.len() > 0 => {}
            }
        }
    }
}
