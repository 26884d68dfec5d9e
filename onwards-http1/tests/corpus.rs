//! The fuzz corpus, replayed.
#![expect(clippy::expect_used, reason = "tests")]

mod support;

fn replay(target: &str, body: fn(&[u8])) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/");
    let mut seen = 0;
    for file in std::fs::read_dir(format!("{folder}{target}")).expect("the corpus is in the tree") {
        body(&std::fs::read(file.expect("an entry").path()).expect("a file"));
        seen += 1;
    }
    assert!(seen >= 5, "{seen}");
}

#[test]
fn answer() {
    replay("answer", support::fuzz_answer);
}

#[test]
fn recall() {
    replay("recall", support::fuzz_recall);
}
