//! The sockets that the flags ask for, and the certificate for them.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use tokio::net::TcpListener;

use super::args::Serve;
use crate::certificate::{Certificate, CertificateError, Pair};
use crate::files;
use crate::listen::{self, BindError, Socket, UnixSocket};
use crate::metrics::Metrics;
use crate::reload::{self, Reloader};

/// The largest file with a certificate or a key.
const LARGEST: u64 = 1024 * 1024;

/// Bound, and not yet open.
#[derive(Debug)]
pub(super) struct Doors {
    pub(super) clients: Vec<Socket>,
    pub(super) operators: Vec<TcpListener>,
}

/// Binds everything, or nothing.
pub(super) async fn bind(
    args: &Serve,
    certificate: Option<&Arc<Certificate>>,
) -> Result<Doors, BindError> {
    let at = |port| {
        args.host
            .iter()
            .map(|&host| SocketAddr::new(host, port))
            .collect::<Vec<_>>()
    };
    let operators = listen::bind(&at(args.metrics_port)).await?;
    let mut clients: Vec<Socket> = listen::bind(&at(args.port))
        .await?
        .into_iter()
        .map(|listener| match certificate {
            Some(certificate) => Socket::Tls(listener, Arc::clone(certificate)),
            None => Socket::Tcp(listener),
        })
        .collect();
    if let Some(path) = &args.unix_socket {
        clients.push(Socket::Unix(
            UnixSocket::bind(path, args.unix_socket_mode).await?,
        ));
    }
    Ok(Doors { clients, operators })
}

/// The certificate that the flags name, and the task that takes up changes of its files; `None` where they name none.
pub(super) fn certificate(
    args: &Serve,
    metrics: &Metrics,
) -> anyhow::Result<Option<(Arc<Certificate>, Reloader)>> {
    let (Some(chain), Some(key)) = (&args.tls_cert, &args.tls_key) else {
        return Ok(None);
    };
    // From here on SIGHUP asks for the files again.
    let hangup = reload::hangup().context("cannot handle SIGHUP")?;
    let read = |what, path: &Path| {
        files::read(path, LARGEST).with_context(|| {
            format!(
                "TLS cannot be served: cannot read the {what} {}",
                path.display()
            )
        })
    };
    let texts = vec![read("certificate", chain)?, read("key", key)?];
    let first = pair(&texts).with_context(|| {
        format!(
            "TLS cannot be served with {} and {}",
            chain.display(),
            key.display()
        )
    })?;
    let certificate = Arc::new(Certificate::new(first, metrics.tls()));
    let settings = reload::Settings {
        what: "certificate",
        paths: vec![chain.clone(), key.clone()],
        current: texts,
        watch: args.watch,
    };
    let shown = Arc::clone(&certificate);
    let renewing = Reloader::start(settings, hangup, move |texts: &[Vec<u8>]| {
        let pair = pair(texts).inspect_err(|_| shown.refused())?;
        tracing::info!(expires = pair.expiry(), "certificate reloaded");
        shown.replace(pair);
        Ok::<_, CertificateError>(())
    });
    Ok(Some((certificate, renewing)))
}

fn pair(texts: &[Vec<u8>]) -> Result<Pair, CertificateError> {
    match texts {
        [chain, key] => Pair::read(chain, key),
        _ => Err(CertificateError::NoKey),
    }
}
