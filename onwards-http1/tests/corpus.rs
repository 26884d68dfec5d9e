//! The fuzz corpus, replayed.

mod support;

#[test]
fn answer() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/answer");
    let mut seen = 0;
    for file in std::fs::read_dir(folder).expect("the corpus is in the tree") {
        let input = std::fs::read(file.expect("an entry").path()).expect("a file");
        support::fuzz_answer(&input);
        seen += 1;
    }
    assert!(seen >= 12, "{seen}");
}
