//! How requests are written. How answers are read is tested over sockets, in `transport/tests`.

use http::Request;

use super::*;
use crate::transport::Outgoing;

#[test]
fn heads_tell_the_length_of_the_body_once() {
    let long: &[(&str, &str)] = &[("a", "b"), ("content-length", "7"), ("c", "d")];
    let coded: &[(&str, &str)] = &[
        ("transfer-encoding", "chunked"),
        ("content-length", "1"),
        ("content-length", "2"),
    ];
    for (method, fields, body, expected) in [
        ("POST", long, "xyz", "a: b\r\ncontent-length: 3\r\nc: d\r\n"),
        ("POST", coded, "xyz", "content-length: 3\r\n"),
        (
            "POST",
            &[("a", "b")],
            "xyz",
            "a: b\r\ncontent-length: 3\r\n",
        ),
        ("GET", &[], "xyz", "content-length: 3\r\n"),
        ("POST", &[], "", "content-length: 0\r\n"),
        ("DELETE", &[], "", "content-length: 0\r\n"),
        ("GET", &[], "", ""),
        ("HEAD", &[], "", ""),
        ("OPTIONS", &[], "", ""),
        (
            "GET",
            &[("content-length", "0")],
            "",
            "content-length: 0\r\n",
        ),
    ] {
        let mut call = Request::builder().method(method).uri("/v1?x=%20y");
        for (name, value) in fields {
            call = call.header(*name, *value);
        }
        let call = call.body(Outgoing::whole(Bytes::from(body))).unwrap();
        let expected = format!("{method} /v1?x=%20y HTTP/1.1\r\n{expected}\r\n");
        assert_eq!(String::from_utf8_lossy(&head(&call)), expected);
    }
}

#[test]
fn what_was_written_is_taken_off_the_front() {
    let pieces = ["ab", "c", "def"].map(Bytes::from);
    for written in 0..=6 {
        let mut unsent = Unsent {
            pieces: pieces.clone().into(),
            flushed: false,
            severed: false,
        };
        unsent.advance(written);
        let left: Vec<u8> = unsent.pieces.iter().flatten().copied().collect();
        assert_eq!(left, &b"abcdef"[written..]);
        assert!(unsent.pieces.iter().all(|piece| !piece.is_empty()));
    }
}
