//! How requests are written, and heads of answers read. How bodies are read is tested over sockets, in `transport/tests`.

use http::uri::PathAndQuery;
use http::{HeaderName, HeaderValue};

use super::*;

#[test]
fn heads_are_written_as_they_are_and_tell_the_length_of_the_body() {
    let fields: Vec<(HeaderName, HeaderValue)> = [("host", "a"), ("b", "\u{e9}"), ("host", "c")]
        .into_iter()
        .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
        .collect();
    let fields: Vec<_> = fields.iter().map(|(name, value)| (name, value)).collect();
    let credentials = HeaderValue::from_static("Basic x");
    let target = PathAndQuery::from_static("/v1?x=%20y");
    for (method, body, forward, expected) in [
        (
            "POST",
            "xyz",
            None,
            "POST /v1?x=%20y HTTP/1.1\r\nhost: a\r\nb: \u{e9}\r\nhost: c\r\ncontent-length: 3\r\n\r\n",
        ),
        (
            "GET",
            "",
            None,
            "GET /v1?x=%20y HTTP/1.1\r\nhost: a\r\nb: \u{e9}\r\nhost: c\r\ncontent-length: 0\r\n\r\n",
        ),
        (
            "GET",
            "",
            Some(Forward {
                authority: "up.example:8080",
                credentials: Some(&credentials),
            }),
            "GET http://up.example:8080/v1?x=%20y HTTP/1.1\r\nhost: a\r\nb: \u{e9}\r\nhost: c\r\ncontent-length: 0\r\n\
             proxy-authorization: Basic x\r\n\r\n",
        ),
    ] {
        let method: Method = method.parse().unwrap();
        let body = Outgoing::whole(Bytes::from(body));
        let call = Call::new(&method, target.clone(), fields.clone(), body);
        assert_eq!(String::from_utf8_lossy(&head(&call, forward)), expected);
    }
}

#[test]
fn numbers_are_written_whole() {
    for number in [0, 7, 10, 600, u64::MAX] {
        let mut text = b"x".to_vec();
        write_number(number, &mut text);
        assert_eq!(String::from_utf8_lossy(&text), format!("x{number}"));
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

#[test]
fn heads_are_recalled_unless_somebody_else_is_at_it() {
    let recall = Mutex::new(Recall::default());
    for (id, body) in [("a", "one"), ("b", "fourteen bytes"), ("c", "")] {
        for busy in [false, true] {
            let guard = busy.then(|| recall.lock());
            let length = body.len();
            let answer =
                format!("HTTP/1.1 200 OK\r\nx-id: {id}\r\ncontent-length: {length}\r\n\r\n{body}");
            let mut arrival = Arrival::new(&Method::POST);
            let head = arrival.take(answer.as_bytes(), &recall).unwrap().unwrap();
            assert_eq!(head.headers["x-id"], id);
            assert_eq!(head.framing, onwards_http1::Framing::Length(length as u64));
            assert_eq!(arrival.behind, body);
            drop(guard);
        }
        assert_eq!(format!("{:?}", recall.lock()), "Recall { heads: 1, .. }");
    }
}
