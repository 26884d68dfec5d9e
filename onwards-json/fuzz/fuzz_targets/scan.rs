//! `cargo xtask fuzz scan`; the body is shared with the crate's tests.
#![no_main]

#[path = "../../tests/support/scan.rs"]
mod support;

libfuzzer_sys::fuzz_target!(|input: &[u8]| support::check(input));
