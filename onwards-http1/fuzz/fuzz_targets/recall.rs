//! `cargo xtask fuzz recall`; the body is shared with the crate's tests.
#![no_main]

#[path = "../../tests/support/mod.rs"]
#[allow(dead_code)]
mod support;

libfuzzer_sys::fuzz_target!(|input: &[u8]| support::fuzz_recall(input));
