use super::*;

const ENOUGH: usize = 1 << 20;

/// Pushes the chunks one after the other and shows what each push gives, then what the end gives: an
/// event as its raw bytes, with `+` if it is not terminated.
fn run(limit: usize, chunks: &[&str]) -> Vec<Vec<String>> {
    let mut framer = Framer::new(limit);
    let show = |framer: &mut Framer| {
        framer
            .map(|event| match event {
                Ok(event) => {
                    let mut shown = String::from_utf8_lossy(event.raw()).into_owned();
                    if !event.is_terminated() {
                        shown.push('+');
                    }
                    shown
                }
                Err(error) => error.to_string(),
            })
            .collect::<Vec<_>>()
    };
    let mut given = Vec::new();
    for chunk in chunks {
        framer.push(Bytes::copy_from_slice(chunk.as_bytes()));
        given.push(show(&mut framer));
    }
    framer.finish();
    given.push(show(&mut framer));
    given
}

#[track_caller]
fn check(chunks: &[&str], given: &[&[&str]]) {
    assert_eq!(run(ENOUGH, chunks), given, "{chunks:?}");
}

#[test]
fn line_ends() {
    check(
        &["data: a\n\ndata: b\n\n"],
        &[&["data: a\n\n", "data: b\n\n"], &[]],
    );
    check(
        &["data: a\r\n\r\ndata: b\r\n\r\n"],
        &[&["data: a\r\n\r\n", "data: b\r\n\r\n"], &[]],
    );
    check(
        &["data: a\r\rdata: b\r\r"],
        &[&["data: a\r\r", "data: b\r\r"], &[]],
    );
    check(
        &["a\n\r\nb\r\n\nc\r\n\rd\n\re\r\n"],
        &[&["a\n\r\n", "b\r\n\n", "c\r\n\r", "d\n\r"], &["e\r\n+"]],
    );
    check(&["a\nb\rc\r\nd\n\n"], &[&["a\nb\rc\r\nd\n\n"], &[]]);
}

#[test]
fn a_pair_cut_in_two() {
    check(
        &["a\r", "\n\r", "\nb\r", "\n", "\r\n"],
        &[&[], &["a\r\n\r"], &[], &[], &["b\r\n\r\n"], &[]],
    );
    check(&["a\r", "\r", "\nb"], &[&[], &["a\r\r"], &[], &["b+"]]);
    check(&["a\r", "b\r\r"], &[&[], &["a\rb\r\r"], &[]]);
}

#[test]
fn empty_lines_between_events_are_dropped() {
    check(&["\n\r\n\r\ra\n\n\n\n\nb\n\n"], &[&["a\n\n", "b\n\n"], &[]]);
    check(&["\n", "", "\r", "\n"], &[&[], &[], &[], &[], &[]]);
}

#[test]
fn byte_order_mark() {
    check(
        &["\u{feff}a\n\n\u{feff}b\n\n"],
        &[&["a\n\n", "\u{feff}b\n\n"], &[]],
    );
    check(&["\u{feff}"], &[&[], &[]]);
    check(&["\u{feff}\n\u{feff}a\n\n"], &[&["\u{feff}a\n\n"], &[]]);
    let feed = |chunks: &[&'static [u8]]| {
        let mut framer = Framer::new(0);
        chunks
            .iter()
            .for_each(|chunk| framer.push(Bytes::from_static(chunk)));
        framer.finish();
        framer
            .map(|event| event.map(|event| event.raw().clone()))
            .collect::<Result<Vec<_>, _>>()
    };
    assert_eq!(
        feed(&[b"\xef", b"\xbb", b"\xbfa\n\n"]),
        Ok(vec![Bytes::from("a\n\n")])
    );
    assert_eq!(
        feed(&[b"\xef", b"\xbb", b"a\n\n"]),
        Ok(vec![Bytes::from_static(b"\xef\xbba\n\n")])
    );
    assert_eq!(
        feed(&[b"\xef", b"\n\n"]),
        Ok(vec![Bytes::from_static(b"\xef\n\n")])
    );
    assert_eq!(
        feed(&[b"\xef", b"\xbb"]),
        Ok(vec![Bytes::from_static(b"\xef\xbb")])
    );
}

#[test]
fn the_limit_bounds_the_unfinished_event_only() {
    let long = "data: 0123456789\n\n";
    let events = long.repeat(50);
    assert_eq!(run(0, &[&events]).concat().len(), 50);
    assert_eq!(
        run(5, &["12345", "6789\n\n"]),
        [vec![], vec!["123456789\n\n".to_owned()], vec![]]
    );
    assert_eq!(
        run(5, &["a\n\n\n\n12345"]),
        [vec!["a\n\n".to_owned()], vec!["12345+".to_owned()]]
    );
    let overlong = |len, limit| format!("{len} bytes of an unfinished event, limit {limit}");
    assert_eq!(
        run(5, &["a\n\n123456", "\n\n"]),
        [vec!["a\n\n".to_owned(), overlong(6, 5)], vec![], vec![]]
    );
    assert_eq!(
        run(5, &["123", "456", "\n\nb\n\n"]),
        [vec![], vec![overlong(6, 5)], vec![], vec![]]
    );
    assert_eq!(
        run(0, &["a\n\n\n", "b"]),
        [vec!["a\n\n".to_owned()], vec![overlong(1, 0)], vec![]]
    );
    assert_eq!(
        run(2, &["a\r", "\n"]),
        [vec![], vec![overlong(3, 2)], vec![]]
    );
}

#[test]
fn chunks_may_wait() {
    let mut framer = Framer::new(2);
    for chunk in ["a\n", "\nb", "\n\nccc", "\n\n"] {
        framer.push(Bytes::from_static(chunk.as_bytes()));
    }
    assert_eq!(framer.next().unwrap().unwrap().raw(), "a\n\n");
    assert_eq!(framer.held(), 0);
    assert_eq!(framer.next().unwrap().unwrap().raw(), "b\n\n");
    assert_eq!(
        framer.next(),
        Some(Err(FramingError::Overlong { len: 3, limit: 2 }))
    );
    assert_eq!(framer.next(), None);
}

#[test]
fn nothing_is_taken_after_the_end() {
    let mut framer = Framer::new(9);
    framer.push(Bytes::from_static(b"a"));
    framer.finish();
    framer.push(Bytes::from_static(b"b\n\n"));
    assert!(framer.is_finished());
    assert_eq!(framer.next().unwrap().unwrap().raw(), "a");
    assert_eq!(framer.next(), None);
}

#[test]
fn an_event_within_a_chunk_is_a_slice_of_it() {
    let chunk = Bytes::from(b"data: a\n\ndata: b\n\n".to_vec());
    let start = chunk.as_ptr();
    let mut framer = Framer::new(0);
    framer.push(chunk);
    assert_eq!(framer.next().unwrap().unwrap().raw().as_ptr(), start);
    assert_eq!(
        framer.next().unwrap().unwrap().raw().as_ptr(),
        start.wrapping_add(9)
    );
}
