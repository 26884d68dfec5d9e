//! Headers that prove who sends a request: AWS Signature Version 4.

use std::fmt;
use std::time::{Duration, UNIX_EPOCH};

use aws_credential_types::Credentials as Keys;
use aws_sigv4::http_request::{
    SignableBody, SignableRequest, SigningParams, SigningSettings, sign,
};
use aws_sigv4::sign::v4;
use sha2::{Digest, Sha256};
use tracing::Dispatch;

/// The last second that the format of the date can write: 9999-12-31T23:59:59Z.
const LAST_SECOND: u64 = 253_402_300_799;

const DATE: &str = "x-amz-date";

/// Who signs. Printing it shows nothing.
#[derive(Clone)]
pub struct Credentials(Keys);

/// Signs requests to one service in one region.
#[derive(Debug, Clone)]
pub struct Signer {
    region: String,
    service: String,
    credentials: Credentials,
}

/// What is signed of a request. It must go out exactly so.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// In upper case.
    pub method: &'a str,
    /// The value of the `host` header: with its port where that is not the scheme's own.
    pub host: &'a str,
    /// The path as it is sent, percent-encoded once and beginning with a slash. For the signature it is encoded again, as
    /// every service but the object store wants it.
    pub path: &'a str,
    /// The query as it is sent, without the question mark; empty if there is none.
    pub query: &'a str,
    /// Further headers to sign, `content-type` above all. Not `host` and not what [`Signed`] gives.
    pub headers: &'a [(&'a str, &'a str)],
    /// The hash of the body's bytes.
    pub body: BodyHash,
}

/// SHA-256 of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BodyHash([u8; 32]);

/// The headers that a signed request takes with it. Printing it shows their names.
#[derive(Clone)]
pub struct Signed(Vec<(&'static str, String)>);

/// A part of the signer's settings with which no request could be signed. The part is named, its value never told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the {part} is empty or holds a character that cannot stand in a signature")]
pub struct Unusable {
    part: &'static str,
}

/// Why a request cannot be signed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignError {
    /// The time lies after the year 9999.
    #[error("the time cannot be written as a date")]
    Time,
    /// The path does not begin with a slash, or one part of the address would end another.
    #[error("host, path and query make no address")]
    Address,
    /// The address or a header holds what cannot stand there.
    #[error("the request cannot be signed")]
    Request(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Credentials {
    /// Takes the two parts of an access key, and the token that temporary ones come with.
    ///
    /// # Errors
    /// When a part is empty or could not stand in a header.
    pub fn new(
        access_key_id: &str,
        secret_access_key: &str,
        session_token: Option<&str>,
    ) -> Result<Self, Unusable> {
        let plain = |byte: u8| byte.is_ascii_graphic();
        let id = |byte: u8| plain(byte) && !matches!(byte, b'/' | b',' | b'=');
        held("access key id", access_key_id, id)?;
        held("secret access key", secret_access_key, |_| true)?;
        if let Some(token) = session_token {
            held("session token", token, plain)?;
        }
        let token = session_token.map(str::to_owned);
        Ok(Self(Keys::new(
            access_key_id,
            secret_access_key,
            token,
            None,
            "configuration",
        )))
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(..)")
    }
}

impl Signer {
    /// A signer for a service in a region, by the names that its scope uses (`us-east-1`).
    ///
    /// # Errors
    /// When a name is empty or holds anything but letters, digits, `-`, `_` and `.`.
    pub fn new(region: &str, service: &str, credentials: Credentials) -> Result<Self, Unusable> {
        let name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        held("region", region, name)?;
        held("service", service, name)?;
        Ok(Self {
            region: region.to_owned(),
            service: service.to_owned(),
            credentials,
        })
    }

    /// The headers that make the service accept the request at `now`, the time since the Unix epoch. Services bear with
    /// about five minutes of difference; see [`Skew`](crate::Skew).
    ///
    /// Costs the hashing of a few hundred bytes; the body was hashed before.
    ///
    /// # Errors
    /// [`Time`](SignError::Time) after the year 9999, [`Address`](SignError::Address) and [`Request`](SignError::Request) for
    /// requests that could not be sent either.
    pub fn sign(&self, request: &Request<'_>, now: Duration) -> Result<Signed, SignError> {
        if now.as_secs() > LAST_SECOND {
            return Err(SignError::Time);
        }
        // The crate that signs logs what it signs, the session token included. A secret belongs in no log, whatever its filter.
        tracing::dispatcher::with_default(&Dispatch::none(), || self.signed(request, now))
    }

    fn signed(&self, request: &Request<'_>, now: Duration) -> Result<Signed, SignError> {
        let identity = self.credentials.0.clone().into();
        let params: SigningParams<'_> = v4::SigningParams::builder()
            .identity(&identity)
            .region(&self.region)
            .name(&self.service)
            .time(UNIX_EPOCH.checked_add(now).ok_or(SignError::Time)?)
            .settings(SigningSettings::default())
            .build()
            .map_err(|error| SignError::Request(error.into()))?
            .into();
        let Request {
            host, path, query, ..
        } = request;
        if host.contains(['/', '?', '#', '@'])
            || !path.starts_with('/')
            || path.contains(['?', '#'])
        {
            return Err(SignError::Address);
        }
        let mark = if query.is_empty() { "" } else { "?" };
        let signable = SignableRequest::new(
            request.method,
            format!("https://{host}{path}{mark}{query}"),
            std::iter::once(("host", *host)).chain(request.headers.iter().copied()),
            SignableBody::Precomputed(request.body.hex()),
        )
        .map_err(|error| SignError::Request(error.into()))?;
        let output = sign(signable, &params).map_err(|error| SignError::Request(error.into()))?;
        let (headers, _) = output.into_parts().0.into_parts();
        Ok(Signed(
            headers
                .into_iter()
                .map(|header| (header.name(), header.value().to_owned()))
                .collect(),
        ))
    }
}

impl BodyHash {
    /// Of a body that is sent as these pieces.
    pub fn of<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hash = Sha256::new();
        for piece in pieces {
            hash.update(piece);
        }
        Self(hash.finalize().into())
    }

    /// A hash that was computed elsewhere.
    #[must_use]
    pub const fn known(sha256: [u8; 32]) -> Self {
        Self(sha256)
    }

    fn hex(self) -> String {
        self.0
            .iter()
            .fold(String::with_capacity(64), |mut text, byte| {
                for half in [byte >> 4, byte & 15] {
                    text.extend(char::from_digit(u32::from(half), 16));
                }
                text
            })
    }
}

impl Signed {
    /// Name, in lower case, and value of each header: `x-amz-date`, `authorization`, and `x-amz-security-token` if the
    /// credentials have a token. All but the date are secrets.
    pub fn headers(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(name, value)| (*name, value.as_str()))
    }

    /// The time as it was signed, `20260115T120000Z`.
    #[must_use]
    pub fn date(&self) -> &str {
        self.headers()
            .find_map(|(name, value)| (name == DATE).then_some(value))
            .unwrap_or_default()
    }
}

impl fmt::Debug for Signed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.headers().map(|(name, _)| name))
            .finish()
    }
}

fn held(part: &'static str, value: &str, allowed: impl Fn(u8) -> bool) -> Result<(), Unusable> {
    if value.is_empty() || !value.bytes().all(allowed) {
        return Err(Unusable { part });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
