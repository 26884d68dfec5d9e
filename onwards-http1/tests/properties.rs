//! Answers written and read back, cut anywhere; and whatever bytes there are.
#![expect(clippy::indexing_slicing, reason = "tests")]

mod support;

use proptest::prelude::*;
use support::{Read, read};

/// An answer, how it is written, and what is to be read.
fn answer() -> impl Strategy<Value = (Vec<u8>, Read)> {
    let payload = prop::collection::vec(any::<u8>(), 0..200);
    let behind = prop::collection::vec(any::<u8>(), 0..20);
    let interim = 0..3_usize;
    (
        interim,
        0..3_u8,
        payload,
        prop::collection::vec(1..40_usize, 0..10),
        behind,
    )
        .prop_map(|(interim, framing, payload, widths, behind)| {
            let mut text = b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n".repeat(interim);
            text.extend_from_slice(b"HTTP/1.1 201 Created\r\nx-a: 1\r\n");
            let mut fields = vec![("x-a".to_owned(), b"1".to_vec())];
            let mut behind = behind;
            match framing {
                0 => {
                    let length = payload.len().to_string();
                    text.extend_from_slice(format!("content-length: {length}\r\n\r\n").as_bytes());
                    text.extend_from_slice(&payload);
                    fields.push(("content-length".to_owned(), length.into_bytes()));
                }
                1 => {
                    text.extend_from_slice(b"transfer-encoding: chunked\r\n\r\n");
                    fields.push(("transfer-encoding".to_owned(), b"chunked".to_vec()));
                    write_chunks(&payload, &widths, &mut text);
                }
                _ => {
                    text.extend_from_slice(b"\r\n");
                    text.extend_from_slice(&payload);
                    behind.clear();
                }
            }
            text.extend_from_slice(&behind);
            let read = Read {
                status: 201,
                fields,
                payload,
                ended: true,
                behind: behind.len(),
            };
            (text, read)
        })
}

fn write_chunks(payload: &[u8], widths: &[usize], text: &mut Vec<u8>) {
    let mut rest = payload;
    let mut widths = widths.iter().cycle();
    while !rest.is_empty() {
        let width = widths.next().copied().unwrap_or(rest.len()).min(rest.len());
        text.extend_from_slice(format!("{width:x}\r\n").as_bytes());
        text.extend_from_slice(&rest[..width]);
        text.extend_from_slice(b"\r\n");
        rest = &rest[width..];
    }
    text.extend_from_slice(b"0\r\n\r\n");
}

fn cut<'a>(text: &'a [u8], widths: &[usize]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    let mut rest = text;
    for &width in widths {
        let (piece, behind) = rest.split_at(width.min(rest.len()));
        pieces.push(piece);
        rest = behind;
    }
    pieces.push(rest);
    pieces
}

proptest! {
    #[test]
    fn what_was_written_is_read((text, expected) in answer(), widths in prop::collection::vec(1..30_usize, 0..20)) {
        prop_assert_eq!(read(&cut(&text, &widths)).expect("an answer"), expected);
    }

    #[test]
    fn whatever_comes_any_cut_reads_the_same(mut text in answer().prop_map(|(text, _)| text), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let at = at.index(text.len());
        text[at] = byte;
        support::fuzz_answer(&text);
    }
}
