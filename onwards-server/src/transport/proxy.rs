//! Forward proxies between the gateway and its providers: used only when the configuration says so.

use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderValue, Uri, header};
use hyper_util::client::proxy::matcher::Matcher;

use onwards_config::{HttpEndpoint, Proxy, Scheme as UrlScheme};

use super::Call;

/// The proxy in front of one destination.
pub(crate) struct Hop {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) credentials: Option<HeaderValue>,
}

impl std::fmt::Debug for Hop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}:{} ({})",
            self.host,
            self.port,
            if self.credentials.is_some() {
                "with credentials"
            } else {
                "open"
            }
        )
    }
}

impl Hop {
    /// The proxy that the configuration puts in front of an address: none, the environment's, or a fixed one.
    pub(super) fn towards(endpoint: &HttpEndpoint, proxy: &Proxy) -> Option<Self> {
        let matcher = match proxy {
            Proxy::FromEnvironment => Matcher::from_env(),
            Proxy::Fixed {
                http,
                https,
                no_proxy,
            } => {
                let mut rule = Matcher::builder();
                if let Some(http) = http {
                    rule = rule.http(http.expose().to_owned());
                }
                if let Some(https) = https {
                    rule = rule.https(https.expose().to_owned());
                }
                rule.no(no_proxy.join(",")).build()
            }
        };
        let destination: Uri = format!("{}://{}/", endpoint.scheme.as_str(), endpoint.authority)
            .parse()
            .ok()?;
        let intercept = matcher.intercept(&destination)?;
        let uri = intercept.uri();
        let host = uri.host()?.trim_matches(['[', ']']).to_owned();
        let port = uri
            .port_u16()
            .unwrap_or(if uri.scheme_str() == Some("https") {
                443
            } else {
                80
            });
        Some(Self {
            host,
            port,
            credentials: intercept.basic_auth().cloned(),
        })
    }
}

/// Turns the request target into the absolute form that a forward proxy expects (RFC 9112, 3.2.2).
pub(super) fn make_absolute(call: &mut Call, authority: &str) {
    set_origin(call, Scheme::HTTP, authority);
}

/// Gives an HTTP/2 request its `:scheme` and `:authority`; `host` would say the same twice.
pub(super) fn make_http2(call: &mut Call, endpoint: &HttpEndpoint) {
    let scheme = if endpoint.scheme == UrlScheme::Https {
        Scheme::HTTPS
    } else {
        Scheme::HTTP
    };
    set_origin(call, scheme, &endpoint.authority);
    call.headers_mut().remove(header::HOST);
    *call.version_mut() = http::Version::HTTP_2;
}

fn set_origin(call: &mut Call, scheme: Scheme, authority: &str) {
    let Ok(authority) = authority.parse::<Authority>() else {
        return;
    };
    let mut parts = std::mem::take(call.uri_mut()).into_parts();
    parts.scheme = Some(scheme);
    parts.authority = Some(authority);
    if parts.path_and_query.is_none() {
        parts.path_and_query = Some(PathAndQuery::from_static("/"));
    }
    if let Ok(uri) = Uri::from_parts(parts) {
        *call.uri_mut() = uri;
    }
}
