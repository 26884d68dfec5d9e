//! The fetcher against a scripted server, over a network that the test makes up.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod bounds;
mod encrypted;
mod guard;
mod pictures;
mod redirects;
mod support;
