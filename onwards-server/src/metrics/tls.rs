//! What the clients' door counts where it speaks TLS. Without TLS there are no such series.

use prometheus::{IntCounter, IntCounterVec, IntGauge, IntGaugeVec};

use super::{Maker, Name};

/// Why a connection ended before TLS was agreed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandshakeFailure {
    /// What came is no TLS, or both sides have nothing in common, or the client refused the certificate.
    Protocol,
    /// The client left.
    Closed,
    /// It took longer than a request's head may.
    Timeout,
}

#[derive(Debug)]
pub(super) struct Families {
    failures: IntCounterVec,
    expiry: IntGaugeVec,
    reloads: IntCounterVec,
}

impl Families {
    pub(super) fn new(make: &Maker<'_>) -> Result<Self, prometheus::Error> {
        Ok(Self {
            failures: make.counters(Name::TlsHandshakeFailures)?,
            expiry: make.gauges(Name::TlsCertificateExpiry)?,
            reloads: make.counters(Name::TlsCertificateReloads)?,
        })
    }

    pub(super) fn series(&self) -> TlsSeries {
        TlsSeries {
            protocol: self.failures.with_label_values(&["protocol"]),
            closed: self.failures.with_label_values(&["closed"]),
            timeout: self.failures.with_label_values(&["timeout"]),
            expiry: self.expiry.with_label_values::<&str>(&[]),
            reloaded: self.reloads.with_label_values(&["ok"]),
            refused: self.reloads.with_label_values(&["error"]),
        }
    }
}

/// The series of TLS towards clients.
#[derive(Debug, Clone)]
pub struct TlsSeries {
    protocol: IntCounter,
    closed: IntCounter,
    timeout: IntCounter,
    expiry: IntGauge,
    reloaded: IntCounter,
    refused: IntCounter,
}

impl TlsSeries {
    /// A connection ended before TLS was agreed on.
    pub fn handshake_failed(&self, why: HandshakeFailure) {
        match why {
            HandshakeFailure::Protocol => &self.protocol,
            HandshakeFailure::Closed => &self.closed,
            HandshakeFailure::Timeout => &self.timeout,
        }
        .inc();
    }

    /// A certificate is in force that ends so many seconds after 1970.
    pub fn expires(&self, unix: u64) {
        self.expiry.set(i64::try_from(unix).unwrap_or(i64::MAX));
    }

    /// Changed files were read: taken up, or refused.
    pub fn reloaded(&self, good: bool) {
        if good {
            self.reloaded.inc();
        } else {
            self.refused.inc();
        }
    }
}
