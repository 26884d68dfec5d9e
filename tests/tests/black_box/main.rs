//! The gateway from outside, one module per subject.
//!
//! Each test starts the binary for itself on free ports, plays the provider, and looks at what both sides see. The
//! subjects are those a reader of the documents would ask about; the module comments say which promise is held.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests fail the test, at once and loudly"
)]

mod auth;
mod bad_input;
mod body;
mod dialects;
mod doors;
mod exit;
mod order;
mod overload;
mod paths;
mod permits;
mod pools;
mod protocol;
mod proxy;
mod reasoning;
mod reload;
mod secrets;
mod shared;
mod shutdown;
mod slow;
mod telemetry;
mod timeouts;
mod tls;
mod transparent;
mod upstream_faults;
