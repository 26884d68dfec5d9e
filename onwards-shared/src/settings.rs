//! Where the store is, how long anything may take, and what happens without it.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use redis::io::tcp::TcpSettings;
use redis::{Client, ConnectionInfo, IntoConnectionInfo, RedisResult};
use thiserror::Error;

/// Settings of a [`SharedState`](crate::SharedState). [`Settings::new`] gives the defaults named at each member.
#[derive(Clone)]
#[non_exhaustive]
pub struct Settings {
    /// `redis://[user][:password@]host[:port][/database]`, `rediss://…` (feature `tls`) or `unix://path`. Secret: not
    /// shown by `Debug` nor by any error.
    pub url: String,
    /// The certificate, in PEM, that a store with `rediss://` is trusted by instead of those of the system.
    pub certificate: Option<Vec<u8>>,
    /// Starts every key, 1 to 64 bytes without braces. Gateways with the same prefix share; default `onwards`.
    pub prefix: String,
    /// Longest wait of one call, 1 ms to 1 s; default 5 ms. The timer adds up to a millisecond.
    pub bound: Duration,
    /// Life of a running request's slot without a renewal, 100 ms to 1 hour; default 15 s. Renewed every third of it.
    pub lease: Duration,
    /// What a call does without an answer; default [`WhenAway::Admit`].
    pub when_away: WhenAway,
    /// Time-outs or errors in a row after which the store counts as away, at least 1; default 3. Calls that were under
    /// way together count once.
    pub strikes: u32,
    /// Releases and refunds that may wait to be sent, at least 1; default 4,096. One more is left to its lease.
    pub queue: usize,
}

/// What a call does when the store does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WhenAway {
    /// Decide alone: the limit holds for this process, counted together with what it already runs.
    #[default]
    Admit,
    /// Refuse everybody.
    Refuse,
}

/// Why settings cannot be used. None names the address, which may hold a password.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The address is none.
    #[error("the address must be redis://, rediss:// or unix://: {problem}")]
    Url {
        /// What the parser missed.
        problem: String,
    },
    /// The address or a certificate asks for TLS and this build has none.
    #[error("TLS is asked for and not compiled in")]
    Tls,
    /// The prefix is empty, longer than 64 bytes or has braces.
    #[error("the prefix must have 1 to 64 bytes and no braces, found {found:?}")]
    Prefix {
        /// The prefix given.
        found: String,
    },
    /// A time is out of its range.
    #[error("{what} must lie between {least:?} and {most:?}, found {found:?}")]
    Time {
        /// Which one: `bound` or `lease`.
        what: &'static str,
        /// The time given.
        found: Duration,
        /// The shortest allowed.
        least: Duration,
        /// The longest allowed.
        most: Duration,
    },
    /// A number that must not be zero is.
    #[error("{what} must be at least 1, found 0")]
    Zero {
        /// Which one: `strikes` or `queue`.
        what: &'static str,
    },
    /// There is no tokio runtime to run the background task on.
    #[error("must be called on a tokio runtime")]
    NoRuntime,
}

impl Settings {
    /// The defaults, for the store at `url`.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            certificate: None,
            prefix: "onwards".to_owned(),
            bound: Duration::from_millis(5),
            lease: Duration::from_secs(15),
            when_away: WhenAway::Admit,
            strikes: 3,
            queue: 4096,
        }
    }

    /// Whether these can be used; connects to nothing and needs no runtime.
    ///
    /// # Errors
    ///
    /// The same as [`SharedState::connect`](crate::SharedState::connect).
    pub fn check(&self) -> Result<(), SettingsError> {
        self.client().map(drop)
    }

    /// Checks everything and prepares the client; connects to nothing.
    pub(crate) fn client(&self) -> Result<Client, SettingsError> {
        if self.prefix.is_empty() || self.prefix.len() > 64 || self.prefix.contains(['{', '}']) {
            return Err(SettingsError::Prefix {
                found: self.prefix.clone(),
            });
        }
        within("bound", self.bound, BOUND)?;
        within("lease", self.lease, LEASE)?;
        for (what, number) in [
            ("strikes", self.strikes as usize),
            ("queue", self.queue.min(MOST_QUEUED)),
        ] {
            if number == 0 {
                return Err(SettingsError::Zero { what });
            }
        }
        let tls = ["rediss:", "valkeys:"]
            .iter()
            .any(|scheme| self.url.starts_with(scheme));
        let tls = tls || self.certificate.is_some();
        if tls && !cfg!(feature = "tls") {
            return Err(SettingsError::Tls);
        }
        let info = self.url.as_str().into_connection_info().map_err(problem)?;
        let tcp = TcpSettings::default().set_nodelay(true);
        self.open(info.set_tcp_settings(tcp)).map_err(problem)
    }

    #[cfg(feature = "tls")]
    fn open(&self, info: ConnectionInfo) -> RedisResult<Client> {
        if self.certificate.is_none() {
            return Client::open(info);
        }
        let certificates = redis::TlsCertificates {
            client_tls: None,
            root_cert: self.certificate.clone(),
        };
        Client::build_with_tls(info, certificates)
    }

    #[cfg(not(feature = "tls"))]
    #[expect(clippy::unused_self, reason = "the certificate of the other build")]
    fn open(&self, info: ConnectionInfo) -> RedisResult<Client> {
        Client::open(info)
    }

    /// Room of the queue of releases.
    pub(crate) fn room(&self) -> usize {
        self.queue.min(MOST_QUEUED)
    }

    /// The lease as the scripts take it.
    pub(crate) fn lease_millis(&self) -> u64 {
        u64::try_from(self.lease.as_millis()).unwrap_or(u64::MAX)
    }
}

const BOUND: RangeInclusive<Duration> = Duration::from_millis(1)..=Duration::from_secs(1);
const LEASE: RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(3600);
/// A queue longer than this would outlive any lease.
const MOST_QUEUED: usize = 1 << 20;

fn within(
    what: &'static str,
    found: Duration,
    range: RangeInclusive<Duration>,
) -> Result<(), SettingsError> {
    if range.contains(&found) {
        return Ok(());
    }
    let (least, most) = range.into_inner();
    Err(SettingsError::Time {
        what,
        found,
        least,
        most,
    })
}

fn problem(error: redis::RedisError) -> SettingsError {
    // Up to the dash it is a fixed text; what follows could repeat the address.
    let text = error.to_string();
    SettingsError::Url {
        problem: text.split(" - ").next().unwrap_or_default().to_owned(),
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("prefix", &self.prefix)
            .field("bound", &self.bound)
            .field("lease", &self.lease)
            .field("when_away", &self.when_away)
            .field("strikes", &self.strikes)
            .field("queue", &self.queue)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
