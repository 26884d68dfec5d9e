//! Where clients knock: TCP addresses, plain or with TLS, and sockets in the file system.

use std::fs;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

use super::stream::Stream;
use crate::certificate::Certificate;

/// An address could not be listened on.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}")]
pub(crate) struct BindError {
    /// The address as configured.
    pub(crate) address: String,
    /// What the system said.
    #[source]
    pub(crate) source: io::Error,
}

/// Binds all addresses, or none.
///
/// # Errors
/// The first address that cannot be bound.
pub(crate) async fn bind(addresses: &[SocketAddr]) -> Result<Vec<TcpListener>, BindError> {
    let mut sockets = Vec::with_capacity(addresses.len());
    for &address in addresses {
        let bound = TcpListener::bind(address).await;
        sockets.push(bound.map_err(|source| BindError {
            address: address.to_string(),
            source,
        })?);
    }
    Ok(sockets)
}

/// A bound socket.
#[derive(Debug)]
pub(crate) enum Socket {
    Tcp(TcpListener),
    /// TCP, and TLS before anything else.
    Tls(TcpListener, Arc<Certificate>),
    Unix(UnixSocket),
}

impl From<TcpListener> for Socket {
    fn from(listener: TcpListener) -> Self {
        Self::Tcp(listener)
    }
}

/// A connection as it was accepted.
#[derive(Debug)]
pub(super) enum Knock {
    Open(Stream),
    /// TLS is to be agreed on first.
    Sealed(TcpStream, Arc<Certificate>),
}

impl Socket {
    /// The address, if it is one of TCP.
    pub(super) fn address(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(listener) | Self::Tls(listener, _) => listener.local_addr().ok(),
            Self::Unix(_) => None,
        }
    }

    pub(super) fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<Knock>> {
        match self {
            Self::Tcp(listener) => listener
                .poll_accept(cx)
                .map_ok(|(stream, _)| Knock::Open(Stream::Tcp(stream))),
            Self::Tls(listener, certificate) => listener
                .poll_accept(cx)
                .map_ok(|(stream, _)| Knock::Sealed(stream, Arc::clone(certificate))),
            Self::Unix(socket) => socket
                .listener
                .poll_accept(cx)
                .map_ok(|(stream, _)| Knock::Open(Stream::Unix(stream))),
        }
    }

    /// Makes sure that no further client finds it; those that wait can still be accepted.
    pub(super) fn hide(&mut self) {
        if let Self::Unix(socket) = self {
            socket.remove();
        }
    }
}

/// A socket in the file system. Its file goes with it.
#[derive(Debug)]
pub(crate) struct UnixSocket {
    listener: UnixListener,
    path: PathBuf,
    /// Device and inode of the file, as long as it is ours to remove.
    file: Option<(u64, u64)>,
}

impl UnixSocket {
    /// Binds `path` and gives the file these permissions. A socket that nobody listens on any more is replaced; one that a
    /// process listens on, and anything that is no socket, is left alone.
    ///
    /// # Errors
    /// The path is taken, cannot be bound, or its permissions cannot be set.
    pub(crate) async fn bind(path: &Path, mode: u32) -> Result<Self, BindError> {
        Self::try_bind(path, mode)
            .await
            .map_err(|source| BindError {
                address: path.display().to_string(),
                source,
            })
    }

    async fn try_bind(path: &Path, mode: u32) -> io::Result<Self> {
        make_room(path).await?;
        let mut socket = Self {
            listener: UnixListener::bind(path)?,
            path: path.to_owned(),
            file: None,
        };
        socket.file = identity(path);
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
        Ok(socket)
    }

    /// Removes the file, unless another one has taken its place. The listener is still open then, so the number of its inode
    /// cannot have been given to a successor's file.
    fn remove(&mut self) {
        let Some(ours) = self.file.take() else { return };
        if identity(&self.path) != Some(ours) {
            return;
        }
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!(path = %self.path.display(), %error, "the socket's file stays behind");
        }
    }
}

impl Drop for UnixSocket {
    fn drop(&mut self) {
        self.remove();
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    let file = fs::symlink_metadata(path).ok()?;
    Some((file.dev(), file.ino()))
}

/// Removes the socket of a process that has ended.
async fn make_room(path: &Path) -> io::Result<()> {
    let file = match fs::symlink_metadata(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if !file.file_type().is_socket() {
        let error = "a file that is no socket is there";
        return Err(io::Error::new(ErrorKind::AlreadyExists, error));
    }
    match UnixStream::connect(path).await {
        // Nobody listens: what is left of a process that could not tidy up.
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => fs::remove_file(path),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        _ => {
            let error = "a running process listens there";
            Err(io::Error::new(ErrorKind::AddrInUse, error))
        }
    }
}
