//! TLS towards providers: rustls with the platform's roots, or the bundled ones where the platform has none.

use std::io;
use std::sync::{Arc, OnceLock};

use rustls::{ClientConfig, RootCertStore};
use tokio_rustls::TlsConnector;

/// The TLS settings of all connections. The trust store is read when a configuration has its first `https` address:
/// a gateway in front of plain-text providers starts without it.
#[derive(Debug, Default)]
pub(super) struct Tls(OnceLock<Result<Settings, String>>);

#[derive(Clone, Debug)]
struct Settings {
    to_providers: Arc<ClientConfig>,
    to_proxies: Arc<ClientConfig>,
}

impl Tls {
    /// Settings that trust these roots only.
    #[cfg(test)]
    pub(super) fn trusting(roots: RootCertStore) -> Self {
        Self(OnceLock::from(make(roots)))
    }

    /// Reads the trust store, so that no call has to.
    pub(super) fn prepare(&self) {
        if let Err(error) = self.settings() {
            tracing::error!(error, "TLS cannot be used");
        }
    }

    /// For providers: offers HTTP/2 and HTTP/1.1.
    ///
    /// # Errors
    /// When the cryptography provider refuses the protocol versions; this cannot be mended at run time.
    pub(super) fn to_providers(&self) -> io::Result<TlsConnector> {
        let settings = self.settings().map_err(io::Error::other)?;
        Ok(settings.to_providers.clone().into())
    }

    /// For forward proxies, which are spoken to in HTTP/1.1.
    ///
    /// # Errors
    /// As for providers.
    pub(super) fn to_proxies(&self) -> io::Result<TlsConnector> {
        let settings = self.settings().map_err(io::Error::other)?;
        Ok(settings.to_proxies.clone().into())
    }

    /// The trust that all have.
    pub(super) fn trust(&self) -> Option<ClientConfig> {
        let settings = self.settings().ok()?;
        Some((*settings.to_providers).clone())
    }

    fn settings(&self) -> Result<&Settings, &str> {
        self.0
            .get_or_init(|| make(roots()))
            .as_ref()
            .map_err(String::as_str)
    }
}

fn roots() -> RootCertStore {
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
    roots
}

fn make(roots: RootCertStore) -> Result<Settings, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let to_proxies = Arc::new(config.clone());
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Settings {
        to_providers: Arc::new(config),
        to_proxies,
    })
}
