//! The gateway inside another application: state with options, and routers to mount (spec P).

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use bytes::Bytes;
use futures_core::Stream;
use http::HeaderName;
use onwards_config::{Gateway, Problems};
use onwards_limits::Counter;

use crate::admit::Counters;
use crate::body::BodyError;
use crate::house::{House, Settings};
use crate::metrics::BadPrefix;
use crate::shared::Links;
use crate::shutdown::Readiness;
use crate::traces::Traces;
use crate::transform::{ResponseTransform, WholeAnswer};
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
    counters: Counters,
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
    /// A parameter to be refused is not in the catalog of parameters that not every provider can honour.
    #[error("unknown parameter in the reject list: {name}")]
    UnknownParam {
        /// Its name as given.
        name: String,
    },
}

impl AppState {
    /// A gateway for this configuration, with default settings and the gateway's own connections.
    #[must_use]
    pub fn new(gateway: Gateway) -> Self {
        Self {
            gateway,
            settings: Settings::default(),
            transport: Box::new(Pool::new()),
            counters: Counters::default(),
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

    /// The largest answer in bytes that is read whole before it is passed on, as sent and after decompression: unary answers in
    /// strict mode, of sanitised providers, and where a transform or an id is put in. A larger one counts as a broken
    /// connection: another provider, or 502.
    #[must_use]
    pub fn with_response_limit(mut self, bytes: usize) -> Self {
        self.settings.response_limit = bytes;
        self
    }

    /// Whether the text of a provider's error that is replaced is logged, up to 64 KiB. It can repeat a prompt.
    #[must_use]
    pub fn with_log_error_bodies(mut self, log: bool) -> Self {
        self.settings.log_error_bodies = log;
        self
    }

    /// Whether one line per request is logged when it is over, at info with the target `onwards::access`: ids, alias, provider,
    /// attempts, status, outcome, times, bytes and tokens. No content, no key.
    #[must_use]
    pub fn with_access_log(mut self, log: bool) -> Self {
        self.settings.access_log = log;
        self
    }

    /// Where spans of requests and attempts go: [`Traces::from_environment`] reads the `OTEL_*` variables. The embedder ends
    /// them with [`Traces::finish`] when the last request is over. A span around the router is continued where a layer sets the
    /// `traceparent` header.
    #[must_use]
    pub fn with_traces(mut self, traces: Option<Traces>) -> Self {
        self.settings.traces = traces;
        self
    }

    /// Parameters that strict mode refuses in chat requests with 400, besides the configuration's `rejected_params`. The names
    /// are those of the catalog in `onwards_strict::catalog`; [`build`](Self::build) fails for another one. They stay over
    /// later configurations.
    #[must_use]
    pub fn with_rejected_params(
        mut self,
        names: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        self.settings
            .rejected_params
            .extend(names.into_iter().map(Into::into));
        self
    }

    /// A request header that names the id of the answer: its value, with `resp_` before it unless it begins so, is put in the
    /// place of the `id` of successful JSON answers on `…/chat/completions` and `…/responses`. A compressed answer is sent
    /// plain then. In strict mode every event of a stream carries the id too; elsewhere streams stay as they come. The header
    /// goes on to the provider like any other, and is the client's to set unless a layer before the gateway removes it.
    #[must_use]
    pub fn with_response_id_header(mut self, name: HeaderName) -> Self {
        self.settings.response_id_header = Some(name);
        self
    }

    /// A change to whole answers: successes on any path that are no event stream and have a body. It is given them
    /// decompressed, after sanitising, and gives the bytes to send instead, or `None` to send the provider's own as they came.
    /// An answer for which it gives an error, and one that cannot be decompressed for it, is not shown: another provider is asked
    /// where the pool fails over, else the client gets 500 `internal_error`.
    ///
    /// Such answers are read whole, within the response limit, before the client gets anything. Strict mode skips the transform,
    /// since it rebuilds answers itself. It runs on the thread that serves the request, so it must not wait for anything.
    /// [`response_sanitizer`](crate::response_sanitizer) makes one.
    #[must_use]
    pub fn with_response_transform<F>(mut self, transform: F) -> Self
    where
        F: Fn(&WholeAnswer<'_>) -> Result<Option<Bytes>, BodyError> + Send + Sync + 'static,
    {
        self.settings.response_transform = Some(ResponseTransform::new(transform));
        self
    }

    /// The most bytes kept of an event that has not ended, wherever streams are read event by event.
    #[must_use]
    pub fn with_sse_buffer_limit(mut self, bytes: usize) -> Self {
        self.settings.sse_buffer_limit = bytes;
        self
    }

    /// The request header that marks dispatched traffic (batch and async work), unless the configuration names one.
    #[must_use]
    pub fn with_first_token_timeout_exempt_header(mut self, name: HeaderName) -> Self {
        self.settings.exempt_header = Some(name);
        self
    }

    /// How long a stream may take to its first token while another provider can be asked, for pools that do not say.
    #[must_use]
    pub fn with_first_token_timeout(mut self, timeout: Duration) -> Self {
        self.settings.first_token_timeout = Some(timeout);
        self
    }

    /// Who counts realtime requests in flight, by account and alias. By default the configuration's `shared_state` does, and
    /// without one this process, for itself.
    #[must_use]
    pub fn with_inflight_limiter(mut self, counter: Arc<dyn Counter>) -> Self {
        self.counters.accounts = Some(counter);
        self
    }

    /// Who counts dispatched requests in flight, in the scope [`BATCH_SCOPE`](onwards_limits::BATCH_SCOPE). By default this
    /// likewise.
    #[must_use]
    pub fn with_batch_inflight_limiter(mut self, counter: Arc<dyn Counter>) -> Self {
        self.counters.batch = Some(counter);
        self
    }

    /// Whether the batch in-flight limits of aliases hold. While they do not, dispatched requests are never refused for them
    /// and their counter is not asked.
    #[must_use]
    pub fn with_batch_inflight_enforce(mut self, enforce: bool) -> Self {
        self.settings.batch_inflight_enforce = enforce;
        self
    }

    /// Whether every answer tells the number of the configuration that served it, in the header `x-onwards-generation`.
    #[must_use]
    pub fn with_generation_header(mut self, tell: bool) -> Self {
        self.settings.generation_header = tell;
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
    /// [`BuildError`] for a configuration that does not compile, a prefix that no metric can have, or a parameter that is
    /// not in the catalog.
    pub fn build(self) -> Result<Arc<House>, BuildError> {
        let unknown = |name: &&String| onwards_strict::catalog::find(name).is_none();
        if let Some(name) = self.settings.rejected_params.iter().find(unknown) {
            return Err(BuildError::UnknownParam { name: name.clone() });
        }
        let house = House::assemble(self.settings, self.transport, self.counters, Links::new())?;
        house.apply(self.gateway, Vec::new())?;
        Ok(house)
    }
}

/// The gateway's routes, to be served or nested. Every method and path below is the gateway's.
///
/// The paths are read after what they are nested under has been cut off. Responses that come from a provider have a
/// [`ServedBy`](crate::ServedBy) among their extensions, for layers around the router.
pub fn router(house: Arc<House>) -> Router {
    Router::new().fallback(move |request: Request| {
        let house = house.clone();
        async move {
            path::serve(&house, request)
                .await
                .map(axum::body::Body::new)
        }
    })
}

/// `/metrics`, `/healthz` and `/readyz`, for a port that clients do not reach. An embedder's readiness is always good.
pub fn metrics_router(house: &House) -> Router {
    ops::router(
        Some(house.metrics().registry().clone()),
        Readiness::default(),
    )
}

/// Follows a source of configurations, for example a control plane, until it ends. A configuration that does not
/// compile is logged and the one before stays.
pub async fn follow(house: &House, source: impl Stream<Item = Gateway>) {
    let mut source = std::pin::pin!(source);
    while let Some(gateway) = std::future::poll_fn(|cx| source.as_mut().poll_next(cx)).await {
        match house.apply(gateway, Vec::new()) {
            Ok(loaded) => tracing::info!(
                generation = loaded.generation,
                targets = loaded.targets,
                "configuration in force"
            ),
            Err(problems) => {
                tracing::error!(%problems, "configuration refused: the one before stays")
            }
        }
    }
}
