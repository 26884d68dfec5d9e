//! The gateway itself: one path from a client's request to a provider's answer and back.
//!
//! # What it owns
//! The listener, the request pipeline ([`House`] walks each request along one path: ingress, identify,
//! vet, admit, plan, attempt, egress), the upstream client, configuration reload, metrics, and the command
//! line of the binary `onwards-server`. Rules live in the crates below: JSON spans in `onwards-json`, framing in
//! `onwards-sse`, the contract in `onwards-strict`, limits in `onwards-limits`, order of candidates in
//! `onwards-balance`, reasoning controls in `onwards-reasoning`, the file format in `onwards-config`.
//!
//! # What it does not do
//! It keeps no request or response content, follows no redirects, and takes the upstream's scheme, host, port and
//! base path from the configuration alone.
//!
//! # Reading order
//! `path.rs` is the table of contents of a request.

// periphery
mod certificate;
pub mod cli;
mod listen;
mod logs;
mod ops;
mod reload;
mod shutdown;

mod echo;
pub mod metrics;

mod path;

mod admit;
mod answer;
mod attempt;
mod egress;
mod identify;
mod ingress;
mod plan;
mod vet;

mod body;
mod contain;
mod dry_run;
mod embed;
mod encoding;
mod endpoint;
mod facts;
mod fault;
mod files;
mod headers;
mod house;
mod percent;
mod policy;
mod quota;
mod random;
mod record;
mod refusal;
mod secrets;
mod shared;
mod traces;
mod transform;
mod translate;
pub mod transport;

pub use attempt::ServedBy;
pub use body::{Body, BodyError};
pub use embed::{AppState, BuildError, follow, metrics_router, router};
pub use house::{House, Loaded, Settings};
pub use metrics::FIRST_TOKEN_SECONDS_BUCKETS;
pub use path::serve;
pub use policy::Kept;
pub use traces::{Traces, TracesError};
pub use transform::{ResponseTransform, WholeAnswer, response_sanitizer};
