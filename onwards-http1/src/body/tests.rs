//! Payload of each framing, whole and cut, and what is refused.

use super::*;

/// Payload, the bytes behind the body, and the state in the end.
fn read(framing: Framing, pieces: &[&[u8]]) -> Result<(Vec<u8>, Vec<u8>, bool), BodyError> {
    let mut body = Body::new(framing);
    let (mut payload, mut behind) = (Vec::new(), Vec::new());
    for &piece in pieces {
        let mut rest = piece;
        while let Some(run) = body.next(&mut rest)? {
            assert!(!run.is_empty());
            payload.extend_from_slice(run);
        }
        assert!(rest.is_empty() || body.is_end());
        behind.extend_from_slice(rest);
    }
    Ok((payload, behind, body.is_end()))
}

fn check(framing: Framing, text: &str, expected: Result<(&str, &str, bool), BodyError>) {
    let expected = expected.map(|(payload, behind, end)| (payload.into(), behind.into(), end));
    let bytes = text.as_bytes();
    assert_eq!(read(framing, &[bytes]), expected, "{text:?}");
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(read(framing, &single), expected, "{text:?} byte by byte");
    for cut in 0..bytes.len() {
        let (left, right) = bytes.split_at(cut);
        assert_eq!(read(framing, &[left, right]), expected, "{text:?} at {cut}");
    }
}

#[test]
fn lengths_and_closes() {
    check(Framing::Length(2), "ok", Ok(("ok", "", true)));
    check(Framing::Length(2), "o", Ok(("o", "", false)));
    check(Framing::Length(2), "okHTTP", Ok(("ok", "HTTP", true)));
    check(Framing::Length(0), "x", Ok(("", "x", true)));
    check(Framing::Empty, "x", Ok(("", "x", true)));
    check(Framing::Close, "all of it", Ok(("all of it", "", false)));
}

#[test]
fn chunks() {
    for (text, expected) in [
        ("0\r\n\r\n", ("", "", true)),
        ("2\r\nok\r\n0\r\n\r\n", ("ok", "", true)),
        ("2\r\nok\r\n1\r\n!\r\n0\r\n\r\nHTTP", ("ok!", "HTTP", true)),
        (
            "A\r\n0123456789\r\n00a\r\n0123456789\r\n0\r\n\r\n",
            ("01234567890123456789", "", true),
        ),
        ("2;a=b;c=\"d\"\r\nok\r\n0;x\r\n\r\n", ("ok", "", true)),
        ("2 \t\r\nok\r\n0\r\n\r\n", ("ok", "", true)),
        ("2\r\nok\r\n0\r\nx: y\r\nz: \r\n\r\n", ("ok", "", true)),
        ("2\r\n\r\n\r\n0\r\n\r\n", ("\r\n", "", true)),
        ("2\r\no", ("o", "", false)),
        ("2\r\nok\r\n0\r\n\r", ("ok", "", false)),
    ] {
        check(Framing::Chunked, text, Ok(expected));
    }
}

#[test]
fn chunks_that_two_readers_could_understand_differently() {
    for (text, why) in [
        ("\r\n", "no size"),
        (";\r\n", "no size"),
        (" 2\r\nok", "no size"),
        ("x\r\n", "no size"),
        ("+2\r\nok", "no size"),
        ("-2\r\nok", "no size"),
        ("0x2\r\nok", "its size is no hexadecimal number"),
        ("2 2\r\nok", "its size is no hexadecimal number"),
        ("2\nok\r\n", "its size is no hexadecimal number"),
        ("2;a\nok\r\n", "a bare line feed"),
        ("2\rok\r\n", "a carriage return without a line feed"),
        ("2\r\noks\r\n", "its payload is longer than its size"),
        ("2\r\nok\n", "its payload is longer than its size"),
        ("2\r\nok\rx", "a carriage return without a line feed"),
        ("0\r\n\n", "a bare line feed"),
        ("0\r\n\rx", "a carriage return without a line feed"),
        ("0\r\na: b\n\r\n", "a bare line feed"),
        ("0\r\na: b\rx", "a carriage return without a line feed"),
        ("10000000000000000\r\n", "its size is too large"),
    ] {
        check(Framing::Chunked, text, Err(BodyError::Chunk(why)));
    }
}

#[test]
fn what_means_nothing_is_bounded() {
    let most = 16 * 1024;
    let extension = |length| format!("1;{}\r\nx\r\n0\r\n\r\n", "e".repeat(length));
    let trailer = |length| format!("1\r\nx\r\n0\r\n{}\r\n\r\n", "t".repeat(length));
    let too_much = Err(BodyError::Chunk("too many extensions or trailers"));
    for text in [extension(most), trailer(most)] {
        let read = read(Framing::Chunked, &[text.as_bytes()]);
        assert_eq!(read, Ok((b"x".to_vec(), Vec::new(), true)));
    }
    for text in [extension(most + 1), trailer(most + 1)] {
        assert_eq!(read(Framing::Chunked, &[text.as_bytes()]), too_much);
    }
    // In sum, over all chunks.
    let many = format!("{}0\r\n\r\n", "1;ee\r\nx\r\n".repeat(most / 2));
    assert!(read(Framing::Chunked, &[many.as_bytes()]).is_ok());
    let more = format!("{}0\r\n\r\n", "1;ee\r\nx\r\n".repeat(most / 2 + 1));
    assert_eq!(read(Framing::Chunked, &[more.as_bytes()]), too_much);
    // Each size for itself.
    let sizes = |zeros| format!("{0}1\r\nx\r\n{0}1\r\nx\r\n0\r\n\r\n", "0".repeat(zeros));
    let padded = read(Framing::Chunked, &[sizes(63).as_bytes()]);
    assert_eq!(padded, Ok((b"xx".to_vec(), Vec::new(), true)));
    let too_large = Err(BodyError::Chunk("its size is too large"));
    for zeros in [64, 300] {
        assert_eq!(
            read(Framing::Chunked, &[sizes(zeros).as_bytes()]),
            too_large
        );
    }
}

#[test]
fn the_end_of_a_connection_ends_some_bodies_only() {
    let cut_off = Err(BodyError::CutOff);
    for (framing, expected) in [
        (Framing::Empty, Ok(())),
        (Framing::Length(0), Ok(())),
        (Framing::Close, Ok(())),
        (Framing::Length(1), cut_off.clone()),
        (Framing::Chunked, cut_off),
    ] {
        let mut body = Body::new(framing);
        assert_eq!(body.finish(), expected, "{framing:?}");
        assert_eq!(body.is_end(), expected.is_ok(), "{framing:?}");
    }
}

#[test]
fn runs_say_what_can_be_read_blindly() {
    let mut body = Body::new(Framing::Chunked);
    assert_eq!((body.run(), body.left()), (0, None));
    let mut rest: &[u8] = b"10\r\nabc";
    assert_eq!(body.next(&mut rest), Ok(Some(b"abc".as_slice())));
    assert_eq!((body.run(), body.left()), (13, None));
    let mut body = Body::new(Framing::Length(9));
    assert_eq!((body.run(), body.left()), (9, Some(9)));
    assert_eq!(
        body.next(&mut b"abc".as_slice()),
        Ok(Some(b"abc".as_slice()))
    );
    assert_eq!((body.run(), body.left()), (6, Some(6)));
    let body = Body::new(Framing::Close);
    assert_eq!((body.run(), body.left()), (u64::MAX, None));
    let body = Body::new(Framing::Empty);
    assert_eq!((body.run(), body.left()), (0, Some(0)));
}
