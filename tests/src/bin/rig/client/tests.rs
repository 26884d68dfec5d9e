use super::*;

/// All payload of a body that comes in pieces of this width, and whether it has ended.
fn payload(framing: Framing, bytes: &[u8], width: usize) -> (Vec<u8>, bool, usize) {
    let mut reader = Reader::new(framing);
    let (mut buffer, mut at, mut payload) = (Vec::new(), 0, Vec::new());
    for piece in bytes.chunks(width) {
        buffer.extend_from_slice(piece);
        while let Some(run) = reader.next(&buffer, &mut at) {
            payload.extend_from_slice(run);
        }
    }
    (payload, reader.is_end(), at)
}

#[test]
fn a_body_is_read_in_any_pieces() {
    let chunked = b"5\r\nhello\r\nb\r\n world, all\r\n0\r\n\r\nmore";
    let whole = b"hello world, all".to_vec();
    for width in 1..=chunked.len() {
        let read = payload(Framing::Chunked, chunked, width);
        assert_eq!(read, (whole.clone(), true, chunked.len() - 4), "{width}");
        let read = payload(Framing::Length(3), b"abcd", width);
        assert_eq!(read, (b"abc".to_vec(), true, 3), "{width}");
    }
    assert_eq!(
        payload(Framing::Chunked, b"5\r\nhello\r\n0\r\n", 3),
        (b"hello".to_vec(), false, 8)
    );
    assert!(payload(Framing::Length(0), b"", 1).1);
}

#[test]
fn steps_end_where_their_last_event_does() {
    let stream = b"data: a\n\ndata: b\n\ndata: c\n\n".to_vec();
    assert_eq!(
        Expected::new(stream.clone(), &[2, 1], false).steps,
        [18, 27]
    );
    assert_eq!(Expected::new(stream, &[], false).steps, [27]);
}

#[test]
fn times_and_ids_may_differ() {
    let body = br#"{"id":"a-1","created":17,"x":1}"#;
    let expected = |varying| Expected::new(body.to_vec(), &[], varying);
    let other = br#"{"id":"b+2","created":39,"x":1}"#;
    for from in 0..body.len() {
        for to in from..=body.len() {
            assert!(expected(false).has(from, &body[from..to]));
            assert!(expected(true).has(from, &body[from..to]));
            assert!(expected(true).has(from, &other[from..to]), "{from} {to}");
        }
    }
    assert!(!expected(false).has(0, other));
    assert!(!expected(true).has(0, br#"{"id":"a-1","created":17,"x":2}"#));
    assert!(!expected(true).has(4, br#":"a-1";"#));
    assert!(!expected(true).has(30, b"}}"));
}
