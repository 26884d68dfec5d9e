//! What operators ask: `/metrics` for a collector, `/healthz` and `/readyz` for an orchestrator's probes.
//!
//! The routes need no key and tell nothing but the state of the process, so they belong on a port of their own that
//! clients do not reach. Readiness says whether to send new requests here; it does not test providers.

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::StatusCode;
use http::header::CONTENT_TYPE;
use prometheus::{Registry, TEXT_FORMAT, TextEncoder};

use crate::shutdown::Readiness;

/// The routes of the operators' port; without a registry `/metrics` is not there.
pub(crate) fn router(registry: Option<Registry>, readiness: Readiness) -> Router {
    let mut routes: Router<()> = Router::new()
        .route("/healthz", get(|| async { StatusCode::OK }))
        .route("/readyz", get(ready).with_state(readiness));
    if let Some(registry) = registry {
        routes = routes.route("/metrics", get(metrics).with_state(registry));
    }
    routes
}

async fn ready(State(readiness): State<Readiness>) -> (StatusCode, &'static str) {
    if readiness.is_ready() {
        (StatusCode::OK, "ready")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "draining")
    }
}

async fn metrics(State(registry): State<Registry>) -> Response {
    match TextEncoder::new().encode_to_string(&registry.gather()) {
        Ok(text) => ([(CONTENT_TYPE, TEXT_FORMAT)], text).into_response(),
        Err(error) => {
            tracing::error!(%error, "cannot write the metrics");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

#[cfg(test)]
mod tests;
