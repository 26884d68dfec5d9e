//! Traces: a span for each request and one for each attempt, with the attributes of OpenTelemetry's conventions for HTTP and
//! for generative AI, exported over OTLP. No content, no key.
//!
//! Spans are made from what the request has noted anyway, when it is over; on its way it only holds two identities and their
//! start times. A thread of its own exports them in batches from a bounded queue; a collector that is away or hangs costs
//! spans, never requests.
//!
//! The crate feature `otlp` brings them, on by default. Without it no environment turns them on.

#[cfg(feature = "otlp")]
mod collector;
#[cfg(not(feature = "otlp"))]
mod none;
#[cfg(feature = "otlp")]
mod otlp;

use std::sync::Arc;

#[cfg(not(feature = "otlp"))]
use self::none as sink;
#[cfg(feature = "otlp")]
use self::otlp as sink;

pub(crate) use self::sink::Trace;
pub use self::sink::Traces;

/// Why traces cannot be exported as the environment asks.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TracesError {
    /// The protocol is not one of this program.
    #[error(
        "the OTLP protocol `{protocol}` is not supported: http/protobuf is, by default at port 4318"
    )]
    Protocol {
        /// As the environment names it.
        protocol: String,
    },
    /// The variables do not make an exporter; their values are not repeated.
    #[error("the OTEL variables do not name a usable exporter")]
    Unusable,
    /// There is no runtime to export from.
    #[error("no tokio runtime is running here")]
    NoRuntime,
}

/// Who an attempt is sent to, for its span.
#[derive(Debug)]
#[cfg_attr(
    not(feature = "otlp"),
    expect(dead_code, reason = "only traces say it")
)]
pub(crate) struct Peer {
    /// The provider's configured name, else its host.
    pub(crate) name: Arc<str>,
    pub(crate) host: Arc<str>,
    pub(crate) port: Option<u16>,
}
