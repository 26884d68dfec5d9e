//! New connections: name lookup, TCP, an optional forward proxy, an optional TLS layer, the HTTP handshake.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use onwards_config::Scheme;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

use super::TransportError;
use super::body::Outgoing;
use super::connection::{Connection, Wire};
use super::pool::Site;
use super::proxy::Hop;

/// Response head fields that a provider may send; more is an error of the provider.
const MAX_HEADERS: usize = 256;
/// Bytes of a response head, and the read buffer's bound.
const MAX_HEAD_BYTES: usize = 256 * 1024;
/// Bytes of a proxy's answer to CONNECT.
const MAX_CONNECT_ANSWER: usize = 8 * 1024;

pub(super) enum Dialled {
    Http1(Connection),
    Http2(http2::SendRequest<Outgoing>),
}

/// Opens a connection to the site, ready to carry a request.
///
/// # Errors
/// [`TransportError::Connect`] when that fails or takes longer than `limit`.
pub(super) async fn dial(site: &Arc<Site>, limit: Duration) -> Result<Dialled, TransportError> {
    match tokio::time::timeout(limit, open(site)).await {
        Ok(opened) => opened.map_err(TransportError::Connect),
        Err(_) => Err(TransportError::Connect(io::Error::new(
            io::ErrorKind::TimedOut,
            "connect timeout",
        ))),
    }
}

async fn open(site: &Arc<Site>) -> io::Result<Dialled> {
    let endpoint = &site.endpoint;
    let tcp = match &site.hop {
        None => connect(&endpoint.host, endpoint.port).await?,
        Some(hop) => {
            let tcp = connect(&hop.host, hop.port).await?;
            if endpoint.scheme == Scheme::Https {
                tunnel(tcp, hop, &endpoint.host, endpoint.port).await?
            } else {
                tcp
            }
        }
    };
    if endpoint.scheme != Scheme::Https {
        return http1(tcp).await;
    }
    let name = ServerName::try_from(endpoint.host.clone()).map_err(io::Error::other)?;
    let stream = tokio_rustls::TlsConnector::from(site.tls.config()?)
        .connect(name, tcp)
        .await?;
    if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
        return http2(stream).await;
    }
    http1(stream).await
}

async fn connect(host: &str, port: u16) -> io::Result<TcpStream> {
    let tcp = TcpStream::connect((host, port)).await?;
    tcp.set_nodelay(true)?;
    let keepalive = socket2::TcpKeepalive::new().with_time(Duration::from_secs(60));
    socket2::SockRef::from(&tcp).set_tcp_keepalive(&keepalive)?;
    Ok(tcp)
}

/// Asks a forward proxy for a tunnel (RFC 9110, 9.3.6).
async fn tunnel(mut tcp: TcpStream, hop: &Hop, host: &str, port: u16) -> io::Result<TcpStream> {
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
    tcp.write_all(&ask).await?;
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        if answer.len() >= MAX_CONNECT_ANSWER {
            return Err(io::Error::other("the proxy's answer is too long"));
        }
        // Byte by byte: what follows the head belongs to the tunnel.
        answer.push(tcp.read_u8().await?);
    }
    let granted = answer
        .get(..12)
        .is_some_and(|line| line.starts_with(b"HTTP/1.") && line.get(8..10) == Some(b" 2"));
    if granted {
        Ok(tcp)
    } else {
        Err(io::Error::other("the proxy refused the tunnel"))
    }
}

async fn http1<T: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: T,
) -> io::Result<Dialled> {
    let (wire, heard) = Wire::new(stream);
    let (sender, connection) = http1::Builder::new()
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEAD_BYTES)
        .handshake(TokioIo::new(wire))
        .await
        .map_err(io::Error::other)?;
    drive(connection);
    Ok(Dialled::Http1(Connection { sender, heard }))
}

async fn http2<T: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: T,
) -> io::Result<Dialled> {
    let (sender, connection) = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .adaptive_window(true)
        .keep_alive_interval(Duration::from_secs(30))
        .keep_alive_timeout(Duration::from_secs(20))
        .max_header_list_size(256 * 1024)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(io::Error::other)?;
    drive(connection);
    Ok(Dialled::Http2(sender))
}

/// Runs a connection until its sender is dropped or the peer closes it.
fn drive<F>(connection: F)
where
    F: Future<Output = hyper::Result<()>> + Send + 'static,
{
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "an upstream connection ended");
        }
    });
}
