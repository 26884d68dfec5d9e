//! Aliases with several providers: whoever fails, the alias answers while one of them can, nothing is repeated or
//! lost, and afterwards nothing is left taken.
#![expect(
    clippy::indexing_slicing,
    reason = "a member that is not there fails the test"
)]

mod affinity;
mod crowds;
mod exhausted;
mod faults;
mod kept;
mod leaving;
mod pauses;
mod reloads;
mod rig;
mod routes;
mod share;
mod statuses;
