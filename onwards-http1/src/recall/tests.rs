//! What is recalled and what is not. That it is recalled rightly is a property: `tests/properties.rs`.

use super::*;
use crate::head;

const FIRST: &str = "HTTP/1.1 200 OK\r\nDate: Mon, 30 Nov 2026 12:00:00 GMT\r\nContent-Length: 612\r\n\
    set-cookie: a=1\r\nX-Request-Id: \treq_1 \r\nSet-Cookie: b=1\r\nconnection: keep-alive\r\nempty:\r\n\r\n";

fn remembered(text: &str) -> Option<Remembered> {
    let (parsed, length) = read(text.as_bytes(), &Method::POST).unwrap().unwrap();
    assert_eq!(length, text.len());
    Remembered::new(&parsed, false)
}

/// Whether the second is recalled from the first.
fn recalled(first: &str, second: &[u8]) -> bool {
    let recalled = remembered(first).unwrap().recall(second);
    if let Some((recalled, length)) = &recalled {
        let (parsed, parsed_length) = head(second, &Method::POST).unwrap().unwrap();
        assert_eq!(*length, parsed_length);
        assert_eq!(format!("{recalled:?}"), format!("{parsed:?}"));
    }
    recalled.is_some()
}

#[test]
fn other_values_of_the_same_names_are_recalled() {
    for (from, to) in [
        ("", ""),
        ("req_1", "req_22"),
        ("req_1", ""),
        ("\treq_1 ", "req\t2"),
        ("\treq_1 ", " \t \t"),
        (" \treq_1 ", "req"),
        ("req_1", "r\u{e9}q"),
        ("empty:", "empty: no more"),
        ("12:00:00", "12:00:01"),
        ("612", "0"),
        ("612", "18446744073709551615"),
        ("a=1", "a=2"),
        ("b=1", "b=2"),
        ("=1", "=3"),
    ] {
        assert!(
            recalled(FIRST, FIRST.replace(from, to).as_bytes()),
            "{from:?} {to:?}"
        );
    }
    let both = FIRST.replace("612", "7").replace("b=1", "c") + "behind";
    assert!(recalled(FIRST, both.as_bytes()));
}

#[test]
fn all_else_is_parsed() {
    for (from, to) in [
        ("200 OK", "200 Ok"),
        ("200", "500"),
        ("1.1", "1.0"),
        ("keep-alive", "close"),
        ("612", "0612"),
        ("612", "+612"),
        ("612", "612, 612"),
        ("612", "612 612"),
        ("612", ""),
        ("612", "18446744073709551616"),
        ("612\r", "613"),
        ("req_1 \r", "req_2"),
        ("req_1 ", "req\r2"),
        ("req_1 ", "req\0"),
        ("req_1 ", "req\u{7f}"),
        ("req_1 ", "req_2\r\n fold"),
        ("req_1 ", "req_2\r\n\tfold"),
        ("req_1 ", "req_2\r\n"),
        ("X-Request-Id:", "X-Request-Id :"),
        ("X-Request-Id:", "x-request-id:"),
        ("X-Request-Id:", "X-Request-Ie:"),
        ("X-Request-Id: \treq_1 \r\n", ""),
        ("empty:\r\n", "empty:\r\nmore:\r\n"),
        ("empty:\r\n", "empty:\r\ncontent-length: 612\r\n"),
        ("empty:\r\n", "empty:\r\ntransfer-encoding: chunked\r\n"),
        ("\r\n\r\n", "\r\n\n"),
        ("\r\n\r\n", "\r\n"),
        ("\r\n\r\n", ""),
    ] {
        let other = FIRST.replace(from, to);
        assert_ne!(other, FIRST);
        assert!(!recalled(FIRST, other.as_bytes()), "{from:?} {to:?}");
    }
    for end in 0..FIRST.len() {
        assert!(!recalled(FIRST, &FIRST.as_bytes()[..end]), "{end}");
    }
    let coded = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    assert!(recalled(coded, coded.as_bytes()));
    for coding in ["Chunked", "chunked, chunked", "gzip"] {
        assert!(!recalled(
            coded,
            coded.replace("chunked", coding).as_bytes()
        ));
    }
    let many = |value: &str| {
        let lines: Vec<_> = (0..=MOST_CHANGES)
            .map(|i| format!("x{i}: {value}\r\n"))
            .collect();
        format!("HTTP/1.1 200 OK\r\n{}\r\n", lines.concat())
    };
    assert!(!recalled(&many("a"), many("b").as_bytes()));
}

#[test]
fn heads_that_do_not_come_as_they_are_passed_on_are_not_remembered() {
    let of = |lines: &str| format!("HTTP/1.1 200 OK\r\n{lines}\r\n");
    for (lines, is) in [
        ("", true),
        ("content-length: 7\r\n", true),
        ("content-length: 007\r\n", false),
        ("content-length: 7\r\ncontent-length: 7\r\n", false),
        ("content-length: 7, 7\r\n", false),
        ("transfer-encoding: chunked\r\n", true),
        ("transfer-encoding: chunked\r\ncontent-length: 7\r\n", false),
        (&"a: b\r\n".repeat(MOST_RECALLED_FIELDS), true),
        (&"a: b\r\n".repeat(MOST_RECALLED_FIELDS + 1), false),
        (
            &format!("a: {}\r\n", "b".repeat(MOST_RECALLED_BYTES - 24)),
            true,
        ),
        (
            &format!("a: {}\r\n", "b".repeat(MOST_RECALLED_BYTES - 23)),
            false,
        ),
    ] {
        assert_eq!(remembered(&of(lines)).is_some(), is, "{lines}");
    }
}

fn reads(recall: &mut Recall, text: &str) -> u32 {
    recall
        .head(text.as_bytes(), &Method::POST)
        .unwrap()
        .unwrap();
    recall.misses
}

#[test]
fn a_few_shapes_take_turns() {
    let shapes: Vec<_> = (0..=MOST_HEADS)
        .map(|i| FIRST.replace("empty", &format!("x{i}")))
        .collect();
    let mut recall = Recall::default();
    let (last, few) = shapes.split_last().unwrap();
    for round in 0..3 {
        for (shape, misses) in few.iter().zip(1..) {
            assert_eq!(
                reads(&mut recall, shape),
                if round == 0 { misses } else { 0 }
            );
        }
    }
    assert_eq!(reads(&mut recall, last), 1);
    assert_eq!(reads(&mut recall, last), 0);
    assert_eq!(recall.heads.len(), MOST_HEADS);
    let asked = recall
        .head(FIRST.as_bytes(), &Method::HEAD)
        .unwrap()
        .unwrap();
    assert_eq!(asked.0.framing, Framing::Empty);
    assert_eq!(reads(&mut recall, FIRST), 2, "a body follows this one");
}

#[test]
fn heads_that_are_never_alike_are_seldom_remembered() {
    let mut recall = Recall::default();
    let mut kept = 0;
    for i in 1..=256 {
        let name = format!("x{i}");
        assert_eq!(reads(&mut recall, &FIRST.replace("empty", &name)), i);
        let newest = recall.heads.first().unwrap();
        kept += u32::from(newest.headers.contains_key(&name));
    }
    assert_eq!(kept, MOST_MISSES + 4); // 32, 64, 128, 256
    assert_eq!(reads(&mut recall, &FIRST.replace("empty", "x256")), 0);
}

#[test]
fn no_value_is_shown() {
    let mut recall = Recall::default();
    reads(&mut recall, FIRST);
    assert_eq!(format!("{recall:?}"), "Recall { heads: 1, .. }");
}
