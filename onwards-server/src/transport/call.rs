//! A request as it leaves.

use std::fmt;

use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri, header};

use super::Outgoing;

/// A header field.
pub type Field<'a> = (&'a HeaderName, &'a HeaderValue);

/// A request as it leaves. What stays as the client sent it is borrowed, so that nothing is copied that is only written to a
/// socket.
#[derive(Clone)]
#[non_exhaustive]
pub struct Call<'a> {
    /// The method.
    pub method: &'a Method,
    /// The request target in origin form, byte for byte.
    pub target: PathAndQuery,
    /// The headers in the order they are sent, `host` among them. How the body is framed is not: its length is told from the body.
    pub headers: Vec<Field<'a>>,
    /// The body.
    pub body: Outgoing,
}

impl<'a> Call<'a> {
    /// A request with these parts.
    #[must_use]
    pub fn new(
        method: &'a Method,
        target: PathAndQuery,
        headers: Vec<Field<'a>>,
        body: Outgoing,
    ) -> Self {
        Self {
            method,
            target,
            headers,
            body,
        }
    }

    /// The request as the `http` crate writes it, with its `content-length`.
    #[must_use]
    pub fn into_request(self) -> Request<Outgoing> {
        let mut headers = HeaderMap::with_capacity(self.headers.len() + 1);
        for (name, value) in self.headers {
            headers.append(name.clone(), value.clone());
        }
        headers.insert(header::CONTENT_LENGTH, self.body.len().into());
        let mut request = Request::new(self.body);
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = Uri::from(self.target);
        *request.headers_mut() = headers;
        request
    }
}

/// Neither headers nor query: they can hold keys.
impl fmt::Debug for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("method", &self.method)
            .field("path", &self.target.path())
            .field("body_bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}
