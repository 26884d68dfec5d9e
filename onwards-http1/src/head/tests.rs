//! One row per rule of RFC 9112.

use super::*;
use crate::Framing::{Chunked, Close, Empty, Length};

fn read(text: &str) -> Result<Option<(Head, usize)>, HeadError> {
    head(text.as_bytes(), &Method::POST)
}

fn fields(lines: &str) -> Result<Head, HeadError> {
    let text = format!("HTTP/1.1 200 OK\r\n{lines}\r\n");
    read(&text).map(|head| {
        let (head, length) = head.unwrap();
        assert_eq!(length, text.len());
        head
    })
}

#[test]
fn a_head_is_read_as_it_is() {
    let text =
        "HTTP/1.1 200 Fine\r\nX-One: a\r\nx-one:b \r\nContent-Length: 2\r\nEmpty:\r\n\r\nokmore";
    let (head, length) = read(text).unwrap().unwrap();
    assert_eq!(&text[length..], "okmore");
    assert_eq!(
        (head.status, head.version),
        (StatusCode::OK, Version::HTTP_11)
    );
    assert_eq!(head.reason.as_deref(), Some(b"Fine".as_slice()));
    let all: Vec<_> = head
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.to_str().unwrap()))
        .collect();
    assert_eq!(
        all,
        [
            ("x-one", "a"),
            ("x-one", "b"),
            ("content-length", "2"),
            ("empty", "")
        ]
    );
    assert_eq!((head.framing, head.persistent), (Length(2), true));
}

#[test]
fn the_usual_reason_is_not_told() {
    for (line, reason) in [
        ("HTTP/1.1 200 OK", None),
        ("HTTP/1.1 200 ", None),
        ("HTTP/1.1 200", None),
        ("HTTP/1.1 200 ok", Some("ok")),
        ("HTTP/1.1 799 Odd", Some("Odd")),
    ] {
        let (head, _) = read(&format!("{line}\r\n\r\n")).unwrap().unwrap();
        assert_eq!(head.reason.as_deref(), reason.map(str::as_bytes), "{line}");
    }
}

#[test]
fn a_length_that_is_passed_on_is_one_plain_number() {
    for (lines, passed) in [
        ("content-length: 7\r\n", "7"),
        ("content-length: 0\r\n", "0"),
        ("content-length: 7\r\ncontent-length: 7\r\n", "7"),
        ("content-length: 7 , 7\r\n", "7"),
        ("content-length: 007\r\n", "7"),
        ("content-length: 00\r\n", "0"),
    ] {
        let head = fields(lines).unwrap();
        let lengths: Vec<_> = head.headers.get_all("content-length").iter().collect();
        assert_eq!(lengths, [passed], "{lines}");
    }
}

#[test]
fn framing_and_persistence() {
    for (lines, framing, persistent) in [
        ("content-length: 0\r\n", Length(0), true),
        (
            "content-length: 7\r\ncontent-length: 7\r\n",
            Length(7),
            true,
        ),
        ("content-length: 7 , 7\r\n", Length(7), true),
        ("content-length: 007\r\n", Length(7), true),
        ("transfer-encoding: Chunked\r\n", Chunked, true),
        (
            "transfer-encoding: chunked\r\nconnection: x, CLOSE\r\n",
            Chunked,
            false,
        ),
        (
            "transfer-encoding: chunked\r\ncontent-length: 7\r\n",
            Chunked,
            false,
        ),
        (
            "content-length: 7\r\nconnection: close\r\n",
            Length(7),
            false,
        ),
        (
            "content-length: 7\r\nconnection: keep-alive\r\n",
            Length(7),
            true,
        ),
        ("connection: keep-alive\r\n", Close, false),
        ("", Close, false),
    ] {
        let head = fields(lines).unwrap();
        assert_eq!(
            (head.framing, head.persistent),
            (framing, persistent),
            "{lines}"
        );
        assert!(
            framing != Chunked || !head.headers.contains_key(header::CONTENT_LENGTH),
            "{lines}"
        );
    }
}

#[test]
fn version_1_0_closes_unless_asked() {
    for (lines, framing, persistent) in [
        ("content-length: 1\r\n", Length(1), false),
        (
            "content-length: 1\r\nconnection: Keep-Alive\r\n",
            Length(1),
            true,
        ),
        (
            "content-length: 1\r\nconnection: keep-alive, close\r\n",
            Length(1),
            false,
        ),
        ("connection: keep-alive\r\n", Close, false),
    ] {
        let (head, _) = read(&format!("HTTP/1.0 200 OK\r\n{lines}\r\n"))
            .unwrap()
            .unwrap();
        assert_eq!(
            (head.framing, head.persistent),
            (framing, persistent),
            "{lines}"
        );
    }
}

#[test]
fn some_answers_have_no_body_whatever_they_say() {
    for line in [
        "204 No Content",
        "304 Not Modified",
        "100 Continue",
        "103 Early Hints",
        "101 Switching Protocols",
    ] {
        let text = format!("HTTP/1.1 {line}\r\ncontent-length: 5\r\n\r\n");
        let (head, _) = read(&text).unwrap().unwrap();
        assert_eq!(head.framing, Empty, "{line}");
        assert_eq!(head.persistent, !line.starts_with("101"), "{line}");
    }
    let text = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n";
    let (head, _) = head(text, &Method::HEAD).unwrap().unwrap();
    assert_eq!((head.framing, head.persistent), (Empty, true));
    assert_eq!(head.headers["content-length"], "5");
}

#[test]
fn what_can_be_read_in_two_ways_is_refused() {
    for (lines, error) in [
        (
            "content-length: 7\r\ncontent-length: 8\r\n",
            HeadError::Length,
        ),
        ("content-length: 7, 8\r\n", HeadError::Length),
        ("content-length: 7,\r\n", HeadError::Length),
        ("content-length: \r\n", HeadError::Length),
        ("content-length: +7\r\n", HeadError::Length),
        ("content-length: -7\r\n", HeadError::Length),
        ("content-length: 0x7\r\n", HeadError::Length),
        ("content-length: 7 7\r\n", HeadError::Length),
        (
            "content-length: 18446744073709551616\r\n",
            HeadError::Length,
        ),
        (
            "transfer-encoding: chunked\r\ncontent-length: x\r\n",
            HeadError::Length,
        ),
        ("transfer-encoding: identity\r\n", HeadError::Coding),
        ("transfer-encoding: gzip, chunked\r\n", HeadError::Coding),
        (
            "transfer-encoding: chunked, identity\r\n",
            HeadError::Coding,
        ),
        ("transfer-encoding: chunked, chunked\r\n", HeadError::Coding),
        (
            "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n",
            HeadError::Coding,
        ),
        ("transfer-encoding: xchunked\r\n", HeadError::Coding),
        ("transfer-encoding: \r\n", HeadError::Coding),
        ("x: a\r\n b\r\n", HeadError::Malformed("a field name")),
        ("x : a\r\n", HeadError::Malformed("a field name")),
        (": a\r\n", HeadError::Malformed("a field name")),
        ("x: a\0b\r\n", HeadError::Malformed("a field value")),
        ("x: a\rb: c\r\n", HeadError::Malformed("a field value")),
        ("x\r\n", HeadError::Malformed("a field name")),
    ] {
        assert_eq!(fields(lines).unwrap_err(), error, "{lines:?}");
    }
    let coded = "HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    assert_eq!(read(coded).unwrap_err(), HeadError::Coding);
}

#[test]
fn what_is_no_answer_is_said_so_at_once() {
    for text in [
        "x",
        "GET / HTTP/1.1\r\n",
        "HTTP/2",
        "HTTP/1.1.",
        "\r\nHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 20\r\n\r\n",
        "HTTP/1.1 2x0 OK\r\n\r\n",
        "HTTP/1.1 099 Low\r\n\r\n",
        "HTTP/1.2 200 OK\r\n\r\n",
    ] {
        // "HTTP/1.1." cannot be told from a head yet.
        if text == "HTTP/1.1." {
            assert!(read(text).unwrap().is_none());
        } else {
            assert!(
                matches!(read(text), Err(HeadError::Malformed(_))),
                "{text:?}"
            );
        }
    }
}

#[test]
fn every_cut_waits_for_the_rest() {
    let text = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n";
    for end in 0..text.len() {
        assert!(read(&text[..end]).unwrap().is_none(), "{end}");
    }
    assert!(read(text).unwrap().is_some());
    let bare = "HTTP/1.1 200 OK\ncontent-length: 2\n\nok";
    let (head, length) = read(bare).unwrap().unwrap();
    assert_eq!((head.framing, &bare[length..]), (Length(2), "ok"));
}

#[test]
fn heads_are_bounded() {
    let many = "a: b\r\n".repeat(MAX_FIELDS);
    assert_eq!(fields(&many).unwrap().headers.len(), MAX_FIELDS);
    let more = "a: b\r\n".repeat(MAX_FIELDS + 1);
    assert_eq!(fields(&more).unwrap_err(), HeadError::TooManyFields);
    let start = "HTTP/1.1 200 OK\r\na: ";
    let long = |length: usize| format!("{start}{}\r\n\r\n", "b".repeat(length - start.len() - 4));
    assert!(read(&long(MAX_HEAD_BYTES)).unwrap().is_some());
    assert_eq!(
        read(&long(MAX_HEAD_BYTES + 1)).unwrap_err(),
        HeadError::TooLong
    );
    let endless = format!("{start}{}", "b".repeat(MAX_HEAD_BYTES));
    assert_eq!(read(&endless).unwrap_err(), HeadError::TooLong);
}

#[test]
fn interim_answers_are_known() {
    for (status, interim) in [
        (100, true),
        (102, true),
        (103, true),
        (199, true),
        (101, false),
        (200, false),
    ] {
        assert_eq!(
            is_interim(StatusCode::from_u16(status).unwrap()),
            interim,
            "{status}"
        );
    }
}
