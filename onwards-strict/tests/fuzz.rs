//! The fuzz targets without a fuzzer: their corpora, the captures, and random bytes and mutations.
#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "tests")]

#[path = "../fuzz/bodies.rs"]
mod bodies;

use std::{fs, path::Path};

use proptest::prelude::*;

/// All texts the targets start from.
fn corpus() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [
        "tests/data/captures",
        "fuzz/corpus/answers",
        "fuzz/corpus/requests",
    ];
    let mut texts = Vec::new();
    for folder in folders {
        for entry in fs::read_dir(root.join(folder)).expect("the folder") {
            let text = fs::read(entry.expect("an entry").path()).expect("a file");
            texts.extend(text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec));
        }
    }
    texts
}

#[test]
fn the_corpus_passes() {
    for text in corpus() {
        bodies::answers(&text);
        bodies::requests(&text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes(data: Vec<u8>) {
        bodies::answers(&data);
        bodies::requests(&data);
    }

    #[test]
    fn mutated_texts(pick: prop::sample::Index, cut: prop::sample::Index, at: prop::sample::Index, byte in "[\\[\\]{}\",:0-9tfnue\\\\ .-]") {
        thread_local!(static CORPUS: Vec<Vec<u8>> = corpus());
        CORPUS.with(|corpus| {
            let mut text = pick.get(corpus).clone();
            text.push(b' ');
            let at = at.index(text.len());
            text[at] = byte.as_bytes()[0];
            bodies::answers(&text);
            text.truncate(cut.index(text.len()));
            bodies::answers(&text);
            bodies::requests(&text);
        });
    }
}
