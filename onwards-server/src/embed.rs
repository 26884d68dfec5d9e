//! The gateway inside another application: state with options, and routers to mount (spec P).

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use futures_core::Stream;
use onwards_config::{Gateway, Problems};

use crate::house::{House, Settings};
use crate::metrics::BadPrefix;
use crate::shutdown::Readiness;
use crate::transport::{Pool, Transport};
use crate::{ops, path};

/// Everything a gateway is made of, before it is made.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let text = br#"{"targets": {"demo": {"url": "builtin:echo"}}}"#;
/// let read = onwards_config::read(text, &())?;
/// let house = onwards_server::AppState::new(read.gateway).with_body_limit(1024 * 1024).build()?;
/// let app: axum::Router = axum::Router::new().nest("/ai", onwards_server::router(house));
/// # drop(app);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct AppState {
    gateway: Gateway,
    settings: Settings,
    transport: Box<dyn Transport>,
}

/// Why a gateway cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The configuration has problems that reading it could not find.
    #[error("the targets cannot be built")]
    Targets(#[from] Problems),
    /// The metrics cannot be named.
    #[error("the metrics cannot be named")]
    Metrics(#[from] BadPrefix),
}

impl AppState {
    /// A gateway for this configuration, with default settings and the gateway's own connections.
    #[must_use]
    pub fn new(gateway: Gateway) -> Self {
        Self {
            gateway,
            settings: Settings::default(),
            transport: Box::new(Pool::new()),
        }
    }

    /// Reaches providers in a way of the embedder's own.
    #[must_use]
    pub fn with_transport(mut self, transport: Box<dyn Transport>) -> Self {
        self.transport = transport;
        self
    }

    /// The largest request body in bytes, as sent and after decompression.
    #[must_use]
    pub fn with_body_limit(mut self, bytes: usize) -> Self {
        self.settings.body_limit = bytes;
        self
    }

    /// The longest wait for the next bytes of a request body.
    #[must_use]
    pub fn with_body_timeout(mut self, timeout: Duration) -> Self {
        self.settings.body_timeout = timeout;
        self
    }

    /// The most bytes kept of an event that has not ended, wherever streams are read event by event.
    #[must_use]
    pub fn with_sse_buffer_limit(mut self, bytes: usize) -> Self {
        self.settings.sse_buffer_limit = bytes;
        self
    }

    /// The prefix of the HTTP layer's metrics.
    #[must_use]
    pub fn with_metrics_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.settings.metrics_prefix = prefix.into();
        self
    }

    /// Makes the gateway. Its metrics are in [`House::metrics`]; a later configuration goes to [`House::apply`].
    ///
    /// # Errors
    /// [`BuildError`] for a configuration that does not compile or a prefix that no metric can have.
    pub fn build(self) -> Result<Arc<House>, BuildError> {
        let house = House::with_transport(self.settings, self.transport)?;
        house.apply(self.gateway, Vec::new())?;
        Ok(house)
    }
}

/// The gateway's routes, to be served or nested. Every method and path below is the gateway's.
///
/// The paths are read after what they are nested under has been cut off.
pub fn router(house: Arc<House>) -> Router {
    Router::new().fallback(move |request: Request| {
        let house = house.clone();
        async move { path::serve(&house, request).await.map(axum::body::Body::new) }
    })
}

/// `/metrics`, `/healthz` and `/readyz`, for a port that clients do not reach. An embedder's readiness is always good.
pub fn metrics_router(house: &House) -> Router {
    ops::router(Some(house.metrics().registry().clone()), Readiness::default())
}

/// Follows a source of configurations, for example a control plane, until it ends. A configuration that does not
/// compile is logged and the one before stays.
pub async fn follow(house: &House, source: impl Stream<Item = Gateway>) {
    let mut source = std::pin::pin!(source);
    while let Some(gateway) = std::future::poll_fn(|cx| source.as_mut().poll_next(cx)).await {
        match house.apply(gateway, Vec::new()) {
            Ok(loaded) => tracing::info!(generation = loaded.generation, targets = loaded.targets, "configuration in force"),
            Err(problems) => tracing::error!(%problems, "configuration refused: the one before stays"),
        }
    }
}
