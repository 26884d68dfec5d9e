//! The way to a collector: the gateway's own HTTP client, on the gateway's own runtime. Each try has an end, and what the collector
//! says is read within a bound.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{HeaderValue, Request, Response, Uri, header};
use onwards_config::{HttpEndpoint, HttpPool, Scheme};
use opentelemetry_http::{HttpClient, HttpError};
use parking_lot::Mutex;
use tokio::runtime::Handle;

use super::TracesError;
use crate::answer::read;
use crate::transport::{Call, Conditions, Destination, Outgoing, Pool, Transport};

/// The most of a collector's answer that is read.
const MOST: usize = 64 * 1024;

/// A collector. The exporter's thread waits for what the runtime does.
#[derive(Clone, Debug)]
pub(super) struct Collector(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    runtime: Handle,
    pool: Pool,
    /// The way to the address that was asked for last; there is only one.
    way: Mutex<Option<(HttpEndpoint, Arc<dyn Destination>)>>,
    patience: Duration,
    /// The last try failed, and the log says so.
    failing: AtomicBool,
}

impl Collector {
    /// One that gets so long for each try.
    pub(super) fn new(patience: Duration) -> Result<Self, TracesError> {
        let runtime = Handle::try_current().map_err(|_| TracesError::NoRuntime)?;
        Ok(Self(Arc::new(Inner {
            runtime,
            pool: Pool::new(),
            way: Mutex::default(),
            patience,
            failing: AtomicBool::new(false),
        })))
    }
}

impl Inner {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let tried = tokio::time::timeout(self.patience, self.carry(request)).await;
        let tried = tried.unwrap_or_else(|_| Err("no answer in time".into()));
        let failure = match &tried {
            Ok(response) if response.status().is_success() => None,
            Ok(response) => Some(format!("status {}", response.status().as_u16())),
            Err(error) => Some(error.to_string()),
        };
        let failed = self.failing.swap(failure.is_some(), Ordering::Relaxed);
        match failure {
            Some(error) if !failed => {
                tracing::warn!(error, "spans cannot be exported and are lost");
            }
            None if failed => tracing::info!("spans are exported again"),
            _ => {}
        }
        tried
    }

    async fn carry(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (head, body) = request.into_parts();
        let (authority, way) = self.way(&head.uri)?;
        let root = || PathAndQuery::from_static("/");
        let target = head.uri.path_and_query().cloned().unwrap_or_else(root);
        let mut headers = head.headers;
        headers.remove(header::CONTENT_LENGTH);
        headers.insert(header::HOST, HeaderValue::try_from(authority)?);
        let headers = headers.iter().collect();
        let call = Call::new(&head.method, target, headers, Outgoing::whole(body));
        let answer = way.send(call, self.patience).await?;
        let (head, body) = answer.into_parts();
        let said = read(body, MOST, None).await?;
        Ok(Response::from_parts(head, said))
    }

    fn way(&self, uri: &Uri) -> Result<(String, Arc<dyn Destination>), HttpError> {
        let endpoint = endpoint(uri).ok_or("the endpoint is no http or https URL")?;
        let mut way = self.way.lock();
        if let Some((known, way)) = way.as_ref().filter(|(known, _)| *known == endpoint) {
            return Ok((known.authority.clone(), way.clone()));
        }
        let conditions = Conditions {
            keeping: HttpPool {
                max_idle_per_host: 1,
                idle_timeout: Duration::from_secs(60),
            },
            proxy: None,
        };
        let destination = self.pool.destination(&endpoint, conditions);
        let authority = endpoint.authority.clone();
        *way = Some((endpoint, destination.clone()));
        Ok((authority, destination))
    }
}

fn endpoint(uri: &Uri) -> Option<HttpEndpoint> {
    let scheme = match uri.scheme_str()? {
        "http" => Scheme::Http,
        "https" => Scheme::Https,
        _ => return None,
    };
    let named = uri.host()?;
    let port = uri.port_u16();
    let authority = match port.filter(|port| *port != scheme.default_port()) {
        Some(port) => format!("{named}:{port}"),
        None => named.to_owned(),
    };
    Some(HttpEndpoint {
        scheme,
        host: named.trim_matches(['[', ']']).to_ascii_lowercase(),
        port: port.unwrap_or_else(|| scheme.default_port()),
        authority,
        base_path: String::new(),
    })
}

impl HttpClient for Collector {
    // Written out, because the trait is made by a macro that this crate does not need otherwise.
    fn send_bytes<'life0, 'async_trait>(
        &'life0 self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'async_trait>>
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        let inner = self.0.clone();
        // The exporter's thread has no runtime: the work is done where there is one, and ends there within its time.
        let sent = self
            .0
            .runtime
            .spawn(async move { inner.send(request).await });
        Box::pin(async move { sent.await? })
    }
}
