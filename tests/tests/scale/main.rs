//! How the gateway grows: with the size of a body, of an event, of a configuration, and with streams held open.
//!
//! Nothing here depends on how fast a machine is. Memory is the peak of the process as the kernel counts it, against a stated
//! bound; time is the processor time of the process, and only the ratio between a large and a small input counts.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests fail the test, at once and loudly"
)]

mod answers;
mod bodies;
mod events;
mod many;
mod rig;
mod steps;
mod streams;
