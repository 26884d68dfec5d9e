//! TLS towards providers: rustls with the platform's roots, or the bundled ones where the platform has none.

use std::sync::{Arc, OnceLock};

use rustls::{ClientConfig, RootCertStore};

/// The TLS settings of all connections. The trust store is read when the first `https` provider is dialled:
/// a gateway in front of plain-text providers starts without it.
#[derive(Debug, Default)]
pub(super) struct Tls(OnceLock<Result<Arc<ClientConfig>, String>>);

impl Tls {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// The settings, made on first use. Offers HTTP/2 and HTTP/1.1.
    ///
    /// # Errors
    /// When the cryptography provider refuses the protocol versions; this cannot be mended at run time.
    pub(super) fn config(&self) -> std::io::Result<Arc<ClientConfig>> {
        self.0
            .get_or_init(make)
            .clone()
            .map_err(std::io::Error::other)
    }
}

fn make() -> Result<Arc<ClientConfig>, String> {
    let mut roots = RootCertStore::empty();
    let native = rustls_native_certs::load_native_certs();
    for error in &native.errors {
        tracing::warn!(%error, "a trust store of the platform cannot be read");
    }
    let (added, _) = roots.add_parsable_certificates(native.certs);
    if added == 0 {
        tracing::warn!("the platform has no root certificates: the bundled ones are used");
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
