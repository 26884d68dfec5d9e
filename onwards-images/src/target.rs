//! An address that may be asked, as far as its text shows.

use std::net::IpAddr;

use url::{Host, Url};

use crate::{Reason, Settings};

/// Longest address that is read.
const LONGEST: usize = 8192;

/// One hop's address. What its name resolves to is checked later.
#[derive(Debug)]
pub(crate) struct Target {
    url: Url,
}

/// Who is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Party {
    Name(String),
    Address(IpAddr),
}

impl Target {
    pub(crate) fn parse(text: &str, settings: &Settings) -> Result<Self, Reason> {
        Self::new(text, None, settings)
    }

    /// Where a redirect from here leads; under the same rules.
    pub(crate) fn follow(&self, location: &str, settings: &Settings) -> Result<Self, Reason> {
        Self::new(location, Some(&self.url), settings)
    }

    fn new(text: &str, base: Option<&Url>, settings: &Settings) -> Result<Self, Reason> {
        if text.len() > LONGEST {
            return Err(Reason::BadUrl);
        }
        let url = Url::options()
            .base_url(base)
            .parse(text)
            .map_err(|_| Reason::BadUrl)?;
        let scheme = match url.scheme() {
            "https" => true,
            "http" => settings.allow_http,
            _ => false,
        };
        // A password would be sent to whoever the address names, or read by somebody as the host.
        let user = !url.username().is_empty() || url.password().is_some();
        if !scheme || user || url.port() == Some(0) {
            return Err(Reason::BadUrl);
        }
        let target = Self { url };
        target.party().ok_or(Reason::BadUrl)?;
        if !settings.allow_hosts.is_empty() && !target.is_listed(&settings.allow_hosts) {
            return Err(Reason::BlockedAddress);
        }
        Ok(target)
    }

    fn is_listed(&self, hosts: &[String]) -> bool {
        let plain = |host: &str| host.strip_suffix('.').unwrap_or(host).to_owned();
        let asked = self.url.host_str().map(plain);
        hosts.iter().any(|host| {
            if let Some(domain) = host.strip_prefix("*.") {
                let below = asked
                    .as_deref()
                    .and_then(|asked| asked.strip_suffix(domain));
                return below.is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'));
            }
            let parsed = Host::parse(host).or_else(|_| Host::parse(&format!("[{host}]")));
            parsed.is_ok_and(|host| Some(plain(&host.to_string())) == asked)
        })
    }

    /// The host, a name without the dot that may end it. Numbers in any spelling that browsers read are an address.
    pub(crate) fn party(&self) -> Option<Party> {
        match self.url.host()? {
            Host::Domain(name) => {
                let name = name.strip_suffix('.').unwrap_or(name);
                (!name.is_empty() && !name.ends_with('.')).then(|| Party::Name(name.to_owned()))
            }
            Host::Ipv4(address) => Some(Party::Address(address.into())),
            Host::Ipv6(address) => Some(Party::Address(address.into())),
        }
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        self.url.scheme() == "https"
    }

    pub(crate) fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or(443)
    }

    /// The value of the `host` header.
    pub(crate) fn authority(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        self.url
            .port()
            .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// Path and query.
    pub(crate) fn resource(&self) -> String {
        let path = self.url.path();
        self.url
            .query()
            .map_or_else(|| path.to_owned(), |query| format!("{path}?{query}"))
    }
}

#[cfg(test)]
mod tests;
