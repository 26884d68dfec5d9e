//! TCP connections to names with several addresses: the next address gets its chance before the first has failed
//! (RFC 8305), so that a dead address family or a dead host costs a quarter of a second and not the connect timeout.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpStream, lookup_host};
use tokio::task::JoinSet;

/// What an address has before the next one is tried beside it (RFC 8305, 8).
const HEAD_START: Duration = Duration::from_millis(250);
/// Silence after which the system asks whether the peer is still there.
const KEEPALIVE: Duration = Duration::from_secs(60);

/// Connects to a name or address, IPv6 without brackets.
///
/// # Errors
/// That of the last address.
pub(super) async fn connect(host: &str, port: u16) -> io::Result<TcpStream> {
    let tcp = race(alternating(lookup_host((host, port)).await?)).await?;
    tcp.set_nodelay(true)?;
    let keepalive = socket2::TcpKeepalive::new().with_time(KEEPALIVE);
    socket2::SockRef::from(&tcp).set_tcp_keepalive(&keepalive)?;
    Ok(tcp)
}

/// The resolver's order, but the families take turns.
fn alternating(found: impl Iterator<Item = SocketAddr>) -> Vec<SocketAddr> {
    let mut found = found.peekable();
    let first = found.peek().map(SocketAddr::is_ipv6);
    let (these, those): (Vec<_>, Vec<_>) =
        found.partition(|address| Some(address.is_ipv6()) == first);
    let mut those = those.into_iter();
    let mut order = Vec::with_capacity(these.len() + those.len());
    for address in these {
        order.push(address);
        order.extend(those.next());
    }
    order.extend(those);
    order
}

/// The first connection to any of the addresses.
async fn race(addresses: Vec<SocketAddr>) -> io::Result<TcpStream> {
    if let [only] = *addresses {
        return TcpStream::connect(only).await;
    }
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    let mut waiting = addresses.into_iter();
    let mut running = JoinSet::new();
    loop {
        if let Some(next) = waiting.next() {
            running.spawn(TcpStream::connect(next));
        }
        tokio::select! {
            ended = running.join_next() => match ended {
                Some(Ok(Ok(tcp))) => return Ok(tcp),
                Some(Ok(Err(error))) => failure = error,
                Some(Err(error)) => failure = io::Error::other(error),
                None => return Err(failure),
            },
            () = tokio::time::sleep(HEAD_START), if waiting.len() > 0 => {}
        }
    }
}

#[cfg(test)]
mod tests;
