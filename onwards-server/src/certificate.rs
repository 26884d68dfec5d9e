//! The certificate that clients are shown, and the key to it: read from PEM files, replaced as one while connections run.
//!
//! A pair is judged whole before it comes into force: the key has to belong to the first certificate of the chain. A new pair
//! brings settings of its own, so a session that was agreed on under the old certificate cannot be resumed under the new one.
//! Sessions are remembered by this process alone; there are no tickets, and so no ticket keys that could be shared or leak.

mod expiry;

use std::fmt;
use std::sync::Arc;

use arc_swap::ArcSwap;
use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{InconsistentKeys, ServerConfig};

use crate::house::unix_now;
use crate::metrics::{HandshakeFailure, TlsSeries};

/// Why a pair of files cannot be served.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CertificateError {
    /// No `CERTIFICATE` section.
    #[error("the certificate file holds no certificate in PEM (-----BEGIN CERTIFICATE-----)")]
    NoCertificate,
    /// No section with a private key.
    #[error("the key file holds no private key in PEM (PKCS#8, PKCS#1 or SEC1)")]
    NoKey,
    /// A private key under a passphrase.
    #[error("the key is encrypted: there is nobody to ask for its passphrase")]
    EncryptedKey,
    /// A section that does not end, or is not base64.
    #[error("the {0} file is damaged: not readable as PEM")]
    Damaged(&'static str),
    /// Both are there and belong to others.
    #[error("the key does not belong to the first certificate of the file")]
    Mismatch,
    /// A kind of key or certificate that cannot be used, or bytes that are none.
    #[error("the certificate or its key cannot be used: {0}")]
    Unusable(String),
}

/// A certificate chain and its key, fit to be served.
#[derive(Clone)]
pub(crate) struct Pair {
    settings: Arc<ServerConfig>,
    /// When the first certificate ends, in seconds since 1970.
    expiry: u64,
}

impl fmt::Debug for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pair")
            .field("expiry", &self.expiry)
            .finish_non_exhaustive()
    }
}

impl Pair {
    /// Reads the texts of the two files. Sections of other kinds are passed over, so one file may hold both.
    ///
    /// # Errors
    /// What is wrong with them; no text of the files is repeated.
    pub(crate) fn read(chain: &[u8], key: &[u8]) -> Result<Self, CertificateError> {
        let chain = CertificateDer::pem_slice_iter(chain)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|_| CertificateError::Damaged("certificate"))?;
        let first = chain.first().ok_or(CertificateError::NoCertificate)?;
        let expiry = expiry::not_after(first).ok_or_else(|| {
            CertificateError::Unusable("the first certificate has no date of its end".to_owned())
        })?;
        let key = private_key(key)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut settings = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(unusable)?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(unusable)?;
        settings.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self {
            settings: Arc::new(settings),
            expiry,
        })
    }

    /// When the first certificate of the chain ends, in seconds since 1970.
    pub(crate) fn expiry(&self) -> u64 {
        self.expiry
    }
}

fn private_key(text: &[u8]) -> Result<PrivateKeyDer<'static>, CertificateError> {
    let encrypted = [
        &b"BEGIN ENCRYPTED PRIVATE KEY"[..],
        b"Proc-Type: 4,ENCRYPTED",
    ];
    if encrypted
        .iter()
        .any(|mark| text.windows(mark.len()).any(|part| part == *mark))
    {
        return Err(CertificateError::EncryptedKey);
    }
    PrivateKeyDer::from_pem_slice(text).map_err(|error| match error {
        PemError::NoItemsFound => CertificateError::NoKey,
        _ => CertificateError::Damaged("key"),
    })
}

fn unusable(error: rustls::Error) -> CertificateError {
    match error {
        rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
            CertificateError::Mismatch
        }
        error => CertificateError::Unusable(error.to_string()),
    }
}

/// The pair in force.
pub(crate) struct Certificate {
    settings: ArcSwap<ServerConfig>,
    series: TlsSeries,
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Certificate")
    }
}

impl Certificate {
    /// Serves this pair.
    pub(crate) fn new(pair: Pair, series: TlsSeries) -> Self {
        told(&pair, &series);
        Self {
            settings: ArcSwap::new(pair.settings),
            series,
        }
    }

    /// Shows new connections another pair from here on; those that are open keep theirs.
    pub(crate) fn replace(&self, pair: Pair) {
        told(&pair, &self.series);
        self.settings.store(pair.settings);
        self.series.reloaded(true);
    }

    /// A pair was refused and the one before stays.
    pub(crate) fn refused(&self) {
        self.series.reloaded(false);
    }

    /// What the next connection is agreed on with.
    pub(crate) fn in_force(&self) -> Arc<ServerConfig> {
        self.settings.load_full()
    }

    /// A connection ended before TLS was agreed on.
    pub(crate) fn handshake_failed(&self, why: HandshakeFailure) {
        self.series.handshake_failed(why);
    }
}

fn told(pair: &Pair, series: &TlsSeries) {
    series.expires(pair.expiry);
    if pair.expiry <= unix_now() {
        tracing::warn!(
            expired = pair.expiry,
            "the certificate has expired: clients will refuse it"
        );
    }
}

#[cfg(test)]
mod tests;
