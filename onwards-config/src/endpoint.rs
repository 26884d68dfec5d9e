//! Provider URLs, taken apart once.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Where a provider listens.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Endpoint {
    /// Over HTTP.
    Http(HttpEndpoint),
    /// `builtin:echo`: inside the gateway.
    Echo,
}

/// An absolute `http` or `https` URL without user information, query or fragment.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HttpEndpoint {
    /// Plain or over TLS.
    pub scheme: Scheme,
    /// Lower-case name or address, IPv6 without brackets.
    pub host: String,
    /// Explicit or the scheme's.
    pub port: u16,
    /// Value of the `Host` header: host, IPv6 in brackets, and the port unless it is the scheme's.
    pub authority: String,
    /// `""` or `/a/b`; never a trailing slash, never a dot segment.
    pub base_path: String,
}

/// Scheme of a provider URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Cleartext, port 80.
    Http,
    /// TLS, port 443.
    Https,
}

impl Scheme {
    /// As written in a URL.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// The port of a URL without one.
    #[must_use]
    pub fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

impl Endpoint {
    /// The URL in its canonical spelling.
    #[must_use]
    pub fn url(&self) -> String {
        match self {
            Self::Http(http) => format!(
                "{}://{}{}",
                http.scheme.as_str(),
                http.authority,
                http.base_path
            ),
            Self::Echo => ECHO.to_owned(),
        }
    }
}

/// The URL of the embedded provider.
pub(crate) const ECHO: &str = "builtin:echo";

/// A parsed URL and what was dropped from it.
pub(crate) struct Parsed {
    pub(crate) endpoint: Endpoint,
    pub(crate) had_query: bool,
}

/// Takes a provider URL apart.
///
/// # Errors
/// What is allowed instead, to be read after "expected".
pub(crate) fn parse(url: &str) -> Result<Parsed, &'static str> {
    if url == ECHO {
        return Ok(Parsed {
            endpoint: Endpoint::Echo,
            had_query: false,
        });
    }
    let (scheme, rest) = scheme(url)?;
    if rest.contains('#') {
        return Err("a URL without a fragment (`#…`)");
    }
    let (rest, had_query) = match rest.split_once('?') {
        Some((rest, _)) => (rest, true),
        None => (rest, false),
    };
    let (authority, path) = match rest.find('/').and_then(|at| rest.split_at_checked(at)) {
        Some((authority, path)) => (authority, path),
        None => (rest, ""),
    };
    if authority.contains('@') {
        return Err("a URL without user information (`user@`); the key belongs in `onwards_key`");
    }
    let (host, port) = host_and_port(authority)?;
    let port = port.unwrap_or_else(|| scheme.default_port());
    let mut authority = if host.contains(':') {
        format!("[{host}]")
    } else {
        host.clone()
    };
    if port != scheme.default_port() {
        authority = format!("{authority}:{port}");
    }
    let base_path = base_path(path)?;
    Ok(Parsed {
        endpoint: Endpoint::Http(HttpEndpoint {
            scheme,
            host,
            port,
            authority,
            base_path,
        }),
        had_query,
    })
}

/// Checks a path that replaces that of requests: perhaps with `{model}` in it, and with a query.
///
/// # Errors
/// What is allowed instead.
pub(crate) fn check_path(text: &str) -> Result<(), &'static str> {
    if !text.starts_with('/') {
        return Err("a path that begins with `/`");
    }
    if text.contains('#') {
        return Err("a path without a fragment (`#…`)");
    }
    let text = text.replace("{model}", "m");
    let (path, query) = text.split_once('?').unwrap_or((text.as_str(), ""));
    base_path(path)?;
    // A query is held to the same characters; it has no segments.
    base_path(&format!("q{}", query.replace('/', "-"))).map(|_| ())
}

/// Checks a proxy URL: `http` or `https`, perhaps with user information, no path.
///
/// # Errors
/// What is allowed instead.
pub(crate) fn check_proxy(url: &str) -> Result<(), &'static str> {
    let (_, rest) = scheme(url)?;
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    if rest.contains(['/', '?', '#']) {
        return Err("a proxy URL without path, query and fragment");
    }
    let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    if !rest.bytes().all(|b| b.is_ascii_graphic()) {
        return Err("a proxy URL in ASCII, user information percent-encoded");
    }
    host_and_port(host).map(|_| ())
}

/// The URL without what may be secret in it: user information and query.
pub(crate) fn masked(url: &str) -> String {
    let (start, query) = match url.split_once('?') {
        Some((start, _)) => (start, "?***"),
        None => (url, ""),
    };
    match (start.split_once("://"), start.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://***@{rest}{query}"),
        (None, Some((_, rest))) => format!("***@{rest}{query}"),
        (_, None) => format!("{start}{query}"),
    }
}

fn scheme(url: &str) -> Result<(Scheme, &str), &'static str> {
    const EXPECTED: &str = "an absolute http:// or https:// URL";
    let (scheme, rest) = url.split_once("://").ok_or(EXPECTED)?;
    if scheme.eq_ignore_ascii_case("http") {
        Ok((Scheme::Http, rest))
    } else if scheme.eq_ignore_ascii_case("https") {
        Ok((Scheme::Https, rest))
    } else {
        Err(EXPECTED)
    }
}

fn host_and_port(authority: &str) -> Result<(String, Option<u16>), &'static str> {
    let (host, port) = if let Some(rest) = authority.strip_prefix('[') {
        let (inside, after) = rest
            .split_once(']')
            .ok_or("a closing bracket behind the IPv6 address")?;
        let address: Ipv6Addr = inside
            .parse()
            .map_err(|_| "an IPv6 address inside the brackets")?;
        (address.to_string(), after)
    } else {
        let (host, port) = match authority
            .find(':')
            .and_then(|at| authority.split_at_checked(at))
        {
            Some(parts) => parts,
            None => (authority, ""),
        };
        (name(host)?, port)
    };
    if port.is_empty() || port == ":" {
        return Ok((host, None));
    }
    let digits = port
        .strip_prefix(':')
        .filter(|p| p.bytes().all(|b| b.is_ascii_digit()));
    match digits.and_then(|p| p.parse::<u16>().ok()) {
        Some(port) if port != 0 => Ok((host, Some(port))),
        _ => Err("a port from 1 to 65535 behind the host"),
    }
}

fn name(host: &str) -> Result<String, &'static str> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_');
    if host.is_empty() {
        return Err("a host behind the scheme");
    }
    if host.len() > 253 || !host.bytes().all(plain) || host.starts_with('.') || host.contains("..")
    {
        return Err(
            "a host of letters, digits, `-`, `_` and dots (international names in their xn-- form)",
        );
    }
    let last = host
        .trim_end_matches('.')
        .rsplit('.')
        .next()
        .unwrap_or_default();
    if last.bytes().all(|b| b.is_ascii_digit()) && host.parse::<Ipv4Addr>().is_err() {
        return Err("a complete IPv4 address (four numbers from 0 to 255) or a host name");
    }
    Ok(host.to_ascii_lowercase())
}

fn base_path(path: &str) -> Result<String, &'static str> {
    let path = path.trim_end_matches('/');
    if !path.bytes().all(|b| {
        b.is_ascii_graphic()
            && !matches!(
                b,
                b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}'
            )
    }) {
        return Err("a path of URL characters, others percent-encoded");
    }
    for piece in path.split('%').skip(1) {
        let mut digits = piece.bytes().take(2);
        if !(digits.next().is_some_and(|b| b.is_ascii_hexdigit())
            && digits.next().is_some_and(|b| b.is_ascii_hexdigit()))
        {
            return Err("two hexadecimal digits behind each `%` of the path");
        }
    }
    let dots = |segment: &str| {
        matches!(
            segment.to_ascii_lowercase().replace("%2e", ".").as_str(),
            "." | ".."
        )
    };
    if path.split('/').any(dots) {
        return Err("a path without `.` and `..` segments");
    }
    Ok(path.to_owned())
}

#[cfg(test)]
mod tests;
