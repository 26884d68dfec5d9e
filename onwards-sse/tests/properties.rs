//! Framing does not depend on the cuts, and agrees with the obvious reading of the whole input.
#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "tests")]

mod support;

use proptest::prelude::*;
use support::{check, cut, fuzz_frame, fuzz_framer};

/// Streams of the pieces that matter, dense in line ends.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        &b"\n"[..],
        b"\r",
        b"\r\n",
        b"\n\n",
        b"\r\r",
        b"\r\n\r\n",
        b"data",
        b"data:",
        b"data: ",
        b"event:",
        b"id:",
        b"id: \0",
        b"retry: 1",
        b"retry:x",
        b":",
        b" ",
        b"x",
        b"\xEF",
        b"\xBB",
        b"\xBF",
        b"\xEF\xBB\xBF",
        b"\0",
        b"\xFF",
        b"data: {\"a\": [1, 2]}",
    ]);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn any_cuts_any_limit(
        stream in stream(),
        widths in prop::collection::vec(0..9usize, 0..20),
        limit in 0..40usize,
        lazy: bool,
    ) {
        check(&cut(&stream, &widths), limit, lazy);
        check(&cut(&stream, &widths), usize::MAX, lazy);
    }

    #[test]
    fn any_bytes(input in prop::collection::vec(any::<u8>(), 0..60)) {
        fuzz_framer(&input);
        fuzz_frame(&input);
    }

    #[test]
    fn what_is_written_is_read_back(name in "[a-z\r\n\0é]{0,6}", payload in "[a-c: \r\n]{0,20}") {
        fuzz_frame((name + &payload).as_bytes());
    }
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn every_single_cut_and_every_byte_alone(stream in stream()) {
        for at in 0..=stream.len() {
            let (head, tail) = stream.split_at(at);
            check(&[head, tail], usize::MAX, false);
            check(&[head, tail], 12, true);
        }
        check(&stream.chunks(1).collect::<Vec<_>>(), usize::MAX, false);
    }
}
