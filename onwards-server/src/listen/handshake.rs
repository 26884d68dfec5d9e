//! TLS with a client, before its first request.

use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_rustls::TlsAcceptor;

use super::stream::Stream;
use super::{farewell_before, told_to_close};
use crate::certificate::Certificate;
use crate::metrics::HandshakeFailure;

/// Agrees on TLS until `deadline`, or for a moment after the door has closed. Plain HTTP is answered with an alert.
pub(super) async fn agree(
    stream: TcpStream,
    certificate: &Certificate,
    deadline: Instant,
    closing: &mut watch::Receiver<Option<Instant>>,
) -> Option<Stream> {
    let agreement = TlsAcceptor::from(certificate.in_force()).accept(stream);
    let closed = async {
        let deadline = told_to_close(closing).await;
        sleep(farewell_before(deadline)).await;
    };
    let failure = tokio::select! {
        biased;
        agreed = agreement => match agreed {
            Ok(stream) => return Some(Stream::Tls(Box::new(stream))),
            Err(error) => {
                tracing::debug!(%error, "no TLS with a client");
                if error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>()) {
                    HandshakeFailure::Protocol
                } else {
                    HandshakeFailure::Closed
                }
            }
        },
        () = sleep_until(deadline) => {
            tracing::debug!("no TLS with a client in time");
            HandshakeFailure::Timeout
        }
        () = closed => return None,
    };
    certificate.handshake_failed(failure);
    None
}
