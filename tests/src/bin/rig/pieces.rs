//! Long texts in pieces that the gateway reads one by one, whatever else the machine does: how often it reads is a part of
//! what it does, and would else be another number each time.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::sleep;

/// What fits into a socket's buffer for certain.
const PIECE: usize = 16 * 1024;

/// Writes `bytes`; with `counted` each piece only when the one before has been read at the other end.
pub(crate) async fn write(stream: &mut TcpStream, bytes: &[u8], counted: bool) -> io::Result<()> {
    if !counted {
        return stream.write_all(bytes).await;
    }
    for (at, piece) in bytes.chunks(PIECE).enumerate() {
        if at > 0 {
            read_at_other_end(stream).await?;
        }
        stream.write_all(piece).await?;
    }
    Ok(())
}

async fn read_at_other_end(stream: &TcpStream) -> io::Result<()> {
    let [there, here] = [stream.peer_addr()?, stream.local_addr()?].map(in_table);
    let ends = format!(" {there} {here} ");
    while unread(&fs::read_to_string("/proc/net/tcp")?, &ends) {
        sleep(Duration::from_millis(1)).await;
    }
    Ok(())
}

/// Whether the table of sockets has bytes that wait at the first of these ends.
fn unread(table: &str, ends: &str) -> bool {
    let row = table.split_once(ends).map(|(_, rest)| rest);
    let queues = row.and_then(|row| row.split_whitespace().nth(1));
    queues.is_some_and(|queues| !queues.ends_with(":00000000"))
}

/// An end as the table writes it: the address in the machine's order of bytes.
fn in_table(end: SocketAddr) -> String {
    let address = match end {
        SocketAddr::V4(end) => *end.ip(),
        SocketAddr::V6(_) => Ipv4Addr::LOCALHOST,
    };
    let address = u32::from_ne_bytes(address.octets());
    format!("{address:08X}:{:04X}", end.port())
}

#[cfg(test)]
mod tests;
