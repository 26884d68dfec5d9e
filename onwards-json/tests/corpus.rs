//! The fuzz corpora, replayed: texts as gateways see them, and inputs once found by fuzzing.
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

#[path = "support/edits.rs"]
mod edits;
#[path = "support/scan.rs"]
mod scan;

use std::path::Path;

fn replay(target: &str, body: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/corpus")
        .join(target);
    let files = std::fs::read_dir(folder).expect("the corpus is in the tree");
    let replayed = files
        .map(|file| body(&std::fs::read(file.expect("an entry").path()).expect("a file")))
        .count();
    assert!(replayed >= 5);
}

#[test]
fn scan() {
    replay("scan", scan::check);
}

#[test]
fn edits() {
    replay("edits", edits::fuzz);
}
