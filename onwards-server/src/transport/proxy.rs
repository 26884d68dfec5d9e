//! Forward proxies between the gateway and its providers: used only when the configuration says so.
//!
//! A proxy that was configured but cannot be used is never gone around: whoever asks for a proxy may have no other way out
//! that is allowed.

use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderValue, Request, Uri, header};
use hyper_util::client::proxy::matcher::Matcher;

use onwards_config::{HttpEndpoint, Proxy, Scheme as UrlScheme};

use super::{Call, Outgoing};

/// The proxy in front of one destination.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Hop {
    pub(super) via: Via,
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) credentials: Option<HeaderValue>,
}

/// How a proxy is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Via {
    Plain,
    Tls,
    /// Not at all: its URL or its protocol is none that is known here.
    Unusable,
}

impl std::fmt::Debug for Hop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let credentials = match self.credentials {
            Some(_) => "with credentials",
            None => "open",
        };
        write!(
            f,
            "{:?} {}:{} {credentials}",
            self.via, self.host, self.port
        )
    }
}

impl Hop {
    /// The proxy that the configuration puts in front of an address: none, the environment's, or a fixed one.
    pub(super) fn towards(endpoint: &HttpEndpoint, proxy: &Proxy) -> Option<Self> {
        let destination: Uri = format!("{}://{}/", endpoint.scheme.as_str(), endpoint.authority)
            .parse()
            .ok()?;
        match proxy {
            Proxy::FromEnvironment => Self::by(&Matcher::from_env(), &destination),
            Proxy::Fixed {
                http,
                https,
                no_proxy,
            } => {
                let url = match endpoint.scheme {
                    UrlScheme::Http => http.as_ref()?,
                    UrlScheme::Https => https.as_ref()?,
                };
                let direct = no_proxy.join(",");
                let only = |url: &str| Matcher::builder().all(url).no(direct.as_str()).build();
                // What is left when the URL says nothing to the matcher is told from an exception by a URL that does.
                Self::by(&only(url.expose()), &destination).or_else(|| {
                    only("http://proxy")
                        .intercept(&destination)
                        .map(|_| Self::unusable())
                })
            }
        }
    }

    /// What a matcher puts in front of an address.
    fn by(matcher: &Matcher, destination: &Uri) -> Option<Self> {
        let intercept = matcher.intercept(destination)?;
        let uri = intercept.uri();
        let (via, port) = match uri.scheme_str() {
            Some("http") => (Via::Plain, 80),
            Some("https") => (Via::Tls, 443),
            _ => return Some(Self::unusable()),
        };
        Some(Self {
            via,
            host: uri.host()?.trim_matches(['[', ']']).to_owned(),
            port: uri.port_u16().unwrap_or(port),
            credentials: intercept.basic_auth().cloned(),
        })
    }

    fn unusable() -> Self {
        tracing::error!("the configured proxy cannot be used: neither http nor https");
        Self {
            via: Via::Unusable,
            host: String::new(),
            port: 0,
            credentials: None,
        }
    }

    /// Whether the proxy itself is spoken to over TLS.
    pub(super) fn is_encrypted(&self) -> bool {
        self.via == Via::Tls
    }
}

/// Gives an HTTP/2 request its `:scheme` and `:authority`; `host` would say the same twice.
pub(super) fn make_http2(call: Call<'_>, endpoint: &HttpEndpoint) -> Request<Outgoing> {
    let scheme = if endpoint.scheme == UrlScheme::Https {
        Scheme::HTTPS
    } else {
        Scheme::HTTP
    };
    let mut request = call.into_request();
    set_origin(&mut request, scheme, &endpoint.authority);
    request.headers_mut().remove(header::HOST);
    *request.version_mut() = http::Version::HTTP_2;
    request
}

fn set_origin(request: &mut Request<Outgoing>, scheme: Scheme, authority: &str) {
    let Ok(authority) = authority.parse::<Authority>() else {
        return;
    };
    let mut parts = std::mem::take(request.uri_mut()).into_parts();
    parts.scheme = Some(scheme);
    parts.authority = Some(authority);
    if parts.path_and_query.is_none() {
        parts.path_and_query = Some(PathAndQuery::from_static("/"));
    }
    if let Ok(uri) = Uri::from_parts(parts) {
        *request.uri_mut() = uri;
    }
}

#[cfg(test)]
mod tests;
