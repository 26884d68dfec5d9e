//! A server that answers by its script, and a network in which every address leads to it.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use onwards_images::{Failed, Fetcher, Network, Pending, Picture, Reason, Settings};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

pub(crate) const GIF: &[u8] = b"GIF89a pixels";
pub(crate) const PUBLIC: &str = "93.184.216.34";

/// What a server does when it was asked.
#[derive(Clone)]
pub(crate) enum Act {
    /// Writes these bytes.
    Say(Vec<u8>),
    /// Writes these bytes until the client leaves.
    Forever(Vec<u8>),
    /// Waits that long.
    Wait(Duration),
    /// Reads until the client leaves.
    Hang,
}

pub(crate) fn answer(status: &str, headers: &str, body: &[u8]) -> Vec<Act> {
    let length = body.len();
    let mut bytes =
        format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n{headers}\r\n").into_bytes();
    bytes.extend(body);
    vec![Act::Say(bytes)]
}

pub(crate) fn picture(body: &[u8]) -> Vec<Act> {
    answer("200 OK", "content-type: text/plain\r\n", body)
}

pub(crate) fn moved(location: &str) -> Vec<Act> {
    answer("302 Found", &format!("location: {location}\r\n"), b"")
}

/// Answers each path by its script, and notes what it was asked.
#[derive(Default)]
pub(crate) struct Script {
    acts: HashMap<String, Vec<Act>>,
    heads: Mutex<Vec<String>>,
    /// Connections now, the most at once, and all.
    pub(crate) counts: Mutex<[usize; 3]>,
}

impl Script {
    pub(crate) fn new<'a>(acts: impl IntoIterator<Item = (&'a str, Vec<Act>)>) -> Self {
        let acts = acts.into_iter().map(|(path, acts)| (path.to_owned(), acts));
        Self {
            acts: acts.collect(),
            ..Self::default()
        }
    }

    /// Starts to serve, behind TLS if there is an acceptor.
    pub(crate) async fn serve(self, tls: Option<TlsAcceptor>) -> (Arc<Self>, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let script = Arc::new(self);
        let own = script.clone();
        tokio::spawn(async move {
            loop {
                let (tcp, _) = listener.accept().await.unwrap();
                let (script, tls) = (own.clone(), tls.clone());
                tokio::spawn(async move {
                    script.count(true);
                    // Clients that leave are no concern of the server's.
                    let _left = match tls {
                        Some(tls) => match tls.accept(tcp).await {
                            Ok(tcp) => script.act(tcp).await,
                            Err(error) => Err(error),
                        },
                        None => script.act(tcp).await,
                    };
                    script.count(false);
                });
            }
        });
        (script, at)
    }

    fn count(&self, came: bool) {
        let mut counts = self.counts.lock().unwrap();
        if came {
            counts[0] += 1;
            counts[1] = counts[1].max(counts[0]);
            counts[2] += 1;
        } else {
            counts[0] -= 1;
        }
    }

    async fn act(&self, mut stream: impl AsyncRead + AsyncWrite + Unpin) -> io::Result<()> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await?);
        }
        let head = String::from_utf8(head).unwrap();
        let path = head.split(' ').nth(1).unwrap().to_owned();
        self.heads.lock().unwrap().push(head);
        for act in self
            .acts
            .get(&path)
            .unwrap_or(&answer("404 Not Found", "", b""))
        {
            match act {
                Act::Say(bytes) => stream.write_all(bytes).await?,
                Act::Forever(bytes) => loop {
                    stream.write_all(bytes).await?;
                },
                Act::Wait(time) => tokio::time::sleep(*time).await,
                Act::Hang => while stream.read(&mut [0; 64]).await? > 0 {},
            }
        }
        stream.shutdown().await
    }

    /// The heads of all requests so far.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }

    /// Returns when nobody is connected.
    pub(crate) async fn empty(&self) {
        while self.counts.lock().unwrap()[0] > 0 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

/// Names with the answers that they resolve to, one after the other, the last for good. All addresses lead to one server but
/// those that are dead.
#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) names: Mutex<HashMap<String, VecDeque<Vec<IpAddr>>>>,
    pub(crate) server: Option<SocketAddr>,
    /// Nobody answers there.
    pub(crate) dead: Vec<IpAddr>,
    /// Lookups that never end.
    pub(crate) mute: bool,
    pub(crate) log: Mutex<Vec<String>>,
}

impl World {
    pub(crate) fn new(server: SocketAddr) -> Self {
        Self {
            server: Some(server),
            ..Self::default()
        }
    }

    pub(crate) fn name(self, name: &str, answers: &[&[&str]]) -> Self {
        let parse =
            |addresses: &&[&str]| addresses.iter().map(|text| text.parse().unwrap()).collect();
        self.names
            .lock()
            .unwrap()
            .insert(name.to_owned(), answers.iter().map(parse).collect());
        self
    }

    /// What was looked up and connected to, in order.
    pub(crate) fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }
}

impl Network for World {
    fn resolve<'a>(&'a self, name: &'a str) -> Pending<'a, Vec<IpAddr>> {
        self.log.lock().unwrap().push(format!("? {name}"));
        Box::pin(async move {
            if self.mute {
                std::future::pending::<()>().await;
            }
            let mut names = self.names.lock().unwrap();
            let answers = names.get_mut(name).ok_or(io::ErrorKind::NotFound)?;
            let next = answers.pop_front().unwrap();
            if answers.is_empty() {
                answers.push_back(next.clone());
            }
            Ok(next)
        })
    }

    fn connect(&self, address: SocketAddr) -> Pending<'_, TcpStream> {
        self.log.lock().unwrap().push(format!("> {address}"));
        Box::pin(async move {
            if self.dead.contains(&address.ip()) {
                std::future::pending::<()>().await;
            }
            TcpStream::connect(self.server.ok_or(io::ErrorKind::ConnectionRefused)?).await
        })
    }
}

/// The defaults, but without TLS and in less time.
pub(crate) fn plain() -> Settings {
    Settings {
        allow_http: true,
        timeout: Duration::from_secs(5),
        ..Settings::default()
    }
}

pub(crate) fn no_trust() -> ClientConfig {
    trusting(RootCertStore::empty())
}

pub(crate) fn trusting(roots: RootCertStore) -> ClientConfig {
    ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth()
}

pub(crate) fn fetcher(settings: Settings, world: &Arc<World>) -> Fetcher {
    Fetcher::over(settings, no_trust(), world.clone())
}

/// A fetcher in a world in which `pics.example` is a public host with that script.
pub(crate) async fn scripted<'a>(
    settings: Settings,
    acts: impl IntoIterator<Item = (&'a str, Vec<Act>)>,
) -> (Fetcher, Arc<Script>, Arc<World>) {
    let (script, at) = Script::new(acts).serve(None).await;
    let world = Arc::new(World::new(at).name("pics.example", &[&[PUBLIC]]));
    (fetcher(settings, &world), script, world)
}

pub(crate) type Fetched = Result<Vec<(String, Picture)>, Failed>;

pub(crate) fn failed(reason: Reason) -> Fetched {
    Err(Failed { index: 0, reason })
}

/// The types of what was fetched.
pub(crate) fn types(fetched: Fetched) -> Result<Vec<&'static str>, Reason> {
    let pictures = fetched.map_err(|failed| failed.reason)?;
    Ok(pictures
        .into_iter()
        .map(|(_, picture)| picture.mime)
        .collect())
}
