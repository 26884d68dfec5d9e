//! The fuzz corpora, replayed: streams recorded from model servers, and inputs once found by fuzzing.
#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "tests")]

mod support;

use std::path::Path;

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/corpus")
        .join(target);
    let files = std::fs::read_dir(folder).expect("the corpus is in the tree");
    files
        .map(|file| std::fs::read(file.expect("an entry").path()).expect("a file"))
        .collect()
}

#[test]
fn framer() {
    let corpus = corpus("framer");
    assert!(corpus.len() >= 12);
    for stream in corpus {
        support::fuzz_framer(&stream);
        support::check(&[&stream], 0, false);
        for width in [1, 2, 3, 7, 64, 1000] {
            let widths = vec![width; (stream.len() / width).min(400)];
            support::check(&support::cut(&stream, &widths), 1 << 20, false);
        }
    }
}

#[test]
fn frame() {
    for input in corpus("frame") {
        support::fuzz_frame(&input);
    }
}
