//! The fuzz targets without a fuzzer: their corpora, and mutations of them.
#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "tests")]

#[path = "../fuzz/bodies.rs"]
mod bodies;

use std::{fs, path::Path};

use proptest::prelude::*;

/// All texts that a target starts from.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/corpus")
        .join(target);
    let files = fs::read_dir(folder).expect("the folder");
    let mut texts: Vec<Vec<u8>> = files
        .map(|file| fs::read(file.expect("an entry").path()).expect("a file"))
        .collect();
    texts.sort();
    assert!(!texts.is_empty());
    texts
}

#[test]
fn the_corpora_pass() {
    for text in corpus("requests") {
        bodies::requests(&text);
    }
    for text in corpus("streams") {
        bodies::streams(&text);
    }
}

/// A text of the corpus that differs in a byte, and may end before.
fn mutated(target: &'static str) -> impl Strategy<Value = Vec<u8>> {
    let texts = prop::sample::select(corpus(target));
    let place = any::<prop::sample::Index>();
    (
        texts,
        place,
        any::<prop::sample::Index>(),
        "[\\[\\]{}\",:0-9tfnue\\\\ .\n\t-]",
    )
        .prop_map(|(mut text, at, cut, byte)| {
            text.push(b' ');
            let at = at.index(text.len());
            text[at] = byte.as_bytes()[0];
            if cut.index(4) == 0 {
                text.truncate(cut.index(text.len()));
            }
            text
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn requests_in_which_something_is_wrong(text in mutated("requests")) {
        bodies::requests(&text);
    }

    #[test]
    fn streams_in_which_something_is_wrong(text in mutated("streams")) {
        bodies::streams(&text);
    }

    #[test]
    fn random_bytes(data: Vec<u8>) {
        bodies::requests(&data);
        bodies::streams(&data);
    }
}
