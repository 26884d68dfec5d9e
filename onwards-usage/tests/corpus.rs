//! The fuzz corpus, replayed: answers and streams as model servers send them, and inputs once found by fuzzing.
#![expect(clippy::indexing_slicing, reason = "tests")]

mod support;

use onwards_usage::Usage;

#[test]
fn tap() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/tap");
    let mut files = 0;
    for file in std::fs::read_dir(folder).expect("the corpus is in the tree") {
        let answer = std::fs::read(file.expect("an entry").path()).expect("a file");
        support::fuzz_tap(&answer);
        let expected = support::oracle(&answer);
        for width in [1, 2, 3, 7, 64, 1000] {
            let widths = vec![width; answer.len() / width];
            assert_eq!(support::tapped(&support::cut(&answer, &widths)), expected);
        }
        files += 1;
    }
    assert!(files >= 5);
}

#[test]
fn what_servers_send() {
    for (answer, counts) in [
        (
            &include_bytes!("../fuzz/corpus/tap/chat.json")[..],
            [Some(19), Some(10), Some(8), Some(2)],
        ),
        (
            include_bytes!("../fuzz/corpus/tap/chat.sse"),
            [Some(12), Some(3), Some(0), None],
        ),
        (
            include_bytes!("../fuzz/corpus/tap/embeddings.json"),
            [Some(8), None, None, None],
        ),
        (
            include_bytes!("../fuzz/corpus/tap/responses.sse"),
            [Some(36), Some(87), Some(5), Some(64)],
        ),
        (
            include_bytes!("../fuzz/corpus/tap/messages.sse"),
            [Some(125), Some(15), Some(100), None],
        ),
    ] {
        let [prompt, completion, cached, reasoning] = counts;
        let expected = Usage {
            prompt,
            completion,
            cached,
            reasoning,
        };
        assert_eq!(support::tapped(&[answer]), Some(expected));
    }
}
