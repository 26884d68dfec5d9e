//! New connections: TCP, an optional forward proxy, an optional TLS layer, the HTTP handshake.

use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use onwards_config::Scheme;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::connection::{Connection, Stream};
use super::kept::Sender;
use super::pool::Site;
use super::proxy::{Hop, Via};
use super::{task, tcp};

/// Bytes of a response head.
const MAX_HEAD_BYTES: u32 = 256 * 1024;
/// Bytes of a proxy's answer to CONNECT.
const MAX_CONNECT_ANSWER: usize = 8 * 1024;
/// Streams that a peer is assumed to allow until it says otherwise, as h2 does.
const INITIAL_ROOM: usize = 100;

pub(super) enum Dialled {
    Http1(Connection),
    Http2 {
        sender: Sender,
        /// How many streams the peer allows at once, as it changes.
        room: Arc<AtomicUsize>,
    },
}

/// Opens a connection to the site, ready to carry a request.
///
/// # Errors
/// When a name cannot be resolved, nobody listens, the proxy refuses, or the certificate is not trusted.
pub(super) async fn open(site: &Site) -> io::Result<Dialled> {
    let plain = reach(site).await?;
    if site.endpoint.scheme != Scheme::Https {
        let encrypted = site.hop.as_ref().is_some_and(Hop::is_encrypted);
        return Ok(Dialled::Http1(Connection::new(plain, encrypted)));
    }
    let secure = encrypt(plain, &site.endpoint.host, site.tls.to_providers()?).await?;
    if secure.get_ref().1.alpn_protocol() == Some(b"h2") {
        return http2(secure).await;
    }
    Ok(Dialled::Http1(Connection::new(Box::new(secure), true)))
}

/// A way to the site's address, directly or through the proxy.
async fn reach(site: &Site) -> io::Result<Box<dyn Stream>> {
    let endpoint = &site.endpoint;
    let Some(hop) = &site.hop else {
        return Ok(Box::new(tcp::connect(&endpoint.host, endpoint.port).await?));
    };
    let mut stream: Box<dyn Stream> = match hop.via {
        Via::Unusable => return Err(io::Error::other("the configured proxy cannot be used")),
        Via::Plain => Box::new(tcp::connect(&hop.host, hop.port).await?),
        Via::Tls => {
            let tcp = tcp::connect(&hop.host, hop.port).await?;
            Box::new(encrypt(tcp, &hop.host, site.tls.to_proxies()?).await?)
        }
    };
    if endpoint.scheme == Scheme::Https {
        tunnel(&mut stream, hop, &endpoint.host, endpoint.port).await?;
    }
    Ok(stream)
}

async fn encrypt<T: Stream>(stream: T, host: &str, tls: TlsConnector) -> io::Result<TlsStream<T>> {
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    tls.connect(name, stream).await
}

/// Asks a forward proxy for a tunnel (RFC 9110, 9.3.6).
async fn tunnel(stream: &mut dyn Stream, hop: &Hop, host: &str, port: u16) -> io::Result<()> {
    let host = if host.contains(':') {
        format!("[{host}]")
    } else {
        host.to_owned()
    };
    let mut ask = format!("CONNECT {host}:{port} HTTP/1.1\r\nhost: {host}:{port}\r\n").into_bytes();
    if let Some(credentials) = &hop.credentials {
        ask.extend_from_slice(b"proxy-authorization: ");
        ask.extend_from_slice(credentials.as_bytes());
        ask.extend_from_slice(b"\r\n");
    }
    ask.extend_from_slice(b"\r\n");
    stream.write_all(&ask).await?;
    stream.flush().await?;
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        if answer.len() >= MAX_CONNECT_ANSWER {
            return Err(io::Error::other("the proxy's answer is too long"));
        }
        // Byte by byte: what follows the head belongs to the tunnel.
        answer.push(stream.read_u8().await?);
    }
    let granted = answer
        .get(..12)
        .is_some_and(|line| line.starts_with(b"HTTP/1.") && line.get(8..10) == Some(b" 2"));
    if granted {
        return Ok(());
    }
    let status = answer.get(9..12).unwrap_or_default();
    let status = String::from_utf8_lossy(status);
    let refused = format!("the proxy refused the tunnel with status {status:?}");
    Err(io::Error::other(refused))
}

async fn http2<T: Stream + 'static>(stream: T) -> io::Result<Dialled> {
    let (sender, connection) = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .adaptive_window(true)
        .keep_alive_interval(Duration::from_secs(30))
        .keep_alive_timeout(Duration::from_secs(20))
        .max_header_list_size(MAX_HEAD_BYTES)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(io::Error::other)?;
    let room = Arc::new(AtomicUsize::new(INITIAL_ROOM));
    let allowed = room.clone();
    task::spawn(async move {
        let mut connection = pin!(connection);
        // Polled for every request, so what it knows of the peer's settings is as new as the last request.
        let ended = poll_fn(|cx| {
            let polled = connection.as_mut().poll(cx);
            if polled.is_pending() {
                allowed.store(connection.current_max_send_streams(), Ordering::Relaxed);
            }
            polled
        });
        if let Err(error) = ended.await {
            tracing::debug!(%error, "a shared upstream connection ended");
        }
    });
    Ok(Dialled::Http2 { sender, room })
}
