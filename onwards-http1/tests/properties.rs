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

/// Lines of heads: names that repeat, in other spellings and with other ends, values of every kind.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let name = prop::sample::select(vec![
        "date",
        "Date",
        "x-request-id",
        "set-cookie",
        "Set-Cookie",
        "content-length",
        "content-length",
        "transfer-encoding",
        "connection",
        "x ",
        "",
    ]);
    let value = prop::sample::select(vec![
        b"a=1".as_slice(),
        b"a=2",
        b"7",
        b"7",
        b"12",
        b"007",
        b"7, 7",
        b"",
        b"chunked",
        b"close",
        b"keep-alive",
        b"a\tb",
        b"a\rb",
        b"a\0",
        b"\x7f",
        b"\xe9\x80",
        b"a\r\n b",
        b"a:b",
    ]);
    let colon = prop::sample::select(vec![": ", ": ", ": ", ":", ":\t ", " : "]);
    let end = prop::sample::select(vec!["\r\n", "\r\n", "\r\n", " \t\r\n", "\n", "\r"]);
    (name, colon, value, end).prop_map(|(name, colon, value, end)| {
        [name.as_bytes(), colon.as_bytes(), value, end.as_bytes()].concat()
    })
}

fn status_line() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200 a:b\n",
        "HTTP/1.0 200 OK\r\n",
        "HTTP/1.1 204 No Content\r\n",
        "HTTP/1.1 103 x\r\n",
        "HTTP/1.1 101\r\n",
    ])
}

/// Plain lines that differ in their values at most: heads that are alike.
fn plain() -> impl Strategy<Value = [Vec<Vec<u8>>; 2]> {
    let names = prop_oneof![
        4 => prop::sample::select(vec!["date", "a", "Set-Cookie", "set-cookie"]),
        1 => prop::sample::select(vec!["content-length", "connection", "transfer-encoding"]),
    ];
    let pair = (names, 0..3_u8, 0..3_u8).prop_map(|(name, one, two)| {
        [one, two].map(|value| {
            let value = match (name, value) {
                ("connection", 0) => "close",
                ("transfer-encoding", 0 | 1) => "chunked",
                (_, 0) => "0",
                (_, 1) => "12",
                _ => "345",
            };
            format!("{name}: {value}\r\n").into_bytes()
        })
    });
    prop::collection::vec(pair, 0..9).prop_map(|pairs| {
        [0, 1].map(|which| pairs.iter().map(|pair| pair[which].clone()).collect())
    })
}

/// Two heads of which the second is the first with a few lines changed, left out, repeated or put in.
fn heads() -> impl Strategy<Value = [Vec<u8>; 2]> {
    let edit = (any::<prop::sample::Index>(), 0..4_u8, line());
    let edited = (
        status_line(),
        prop::collection::vec(line(), 0..8),
        prop::collection::vec(edit, 0..3),
    )
        .prop_map(|(status, lines, edits)| {
            let mut other = lines.clone();
            for (at, edit, line) in edits {
                let at = at.index(other.len() + 1);
                match edit {
                    0 => other.insert(at, line),
                    _ if at == other.len() => {}
                    1 => drop(other.remove(at)),
                    2 => other.insert(at, other[at].clone()),
                    _ => other[at] = line,
                }
            }
            (status, [lines, other])
        });
    prop_oneof![edited, (status_line(), plain())].prop_map(|(status, heads)| {
        heads.map(|lines| [status.as_bytes(), &lines.concat(), b"\r\nbody"].concat())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn recalled_heads_are_as_parsed_anew(
        [one, mut other] in heads(), [third, _] in heads(),
        change in prop::option::weighted(0.3, (any::<prop::sample::Index>(), any::<u8>())),
    ) {
        if let Some((at, byte)) = change {
            let at = at.index(other.len());
            other[at] = byte;
        }
        support::check_recall(&[&one, &other, &third]);
    }

    #[test]
    fn a_head_that_is_recalled_may_be_cut(lines in plain(), at in any::<prop::sample::Index>()) {
        let [one, other] = lines.map(|lines| [b"HTTP/1.1 200 OK\r\n", &*lines.concat(), b"\r\n"].concat());
        let cut = &other[..at.index(other.len())];
        support::check_recall(&[&one, cut, &other, cut]);
    }
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
