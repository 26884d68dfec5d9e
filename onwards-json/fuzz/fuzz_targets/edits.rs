//! `cargo xtask fuzz edits`; the body is shared with the crate's tests.
#![no_main]

#[path = "../../tests/support/edits.rs"]
mod support;

libfuzzer_sys::fuzz_target!(|input: &[u8]| support::fuzz(input));
