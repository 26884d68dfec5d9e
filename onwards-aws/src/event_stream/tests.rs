use super::*;

const LIMIT: usize = 1024;

fn delta() -> Vec<u8> {
    Message::event("contentBlockDelta", r#"{"delta":{"text":"Hi"}}"#)
        .encode()
        .unwrap()
}

/// The bytes of a message with any prelude and body, its checksums in order.
fn forged(length: u32, headers: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut bytes = length.to_be_bytes().to_vec();
    bytes.extend((headers.len() as u32).to_be_bytes());
    bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
    bytes.extend(headers);
    bytes.extend(payload);
    bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
    bytes
}

fn whole(headers: &[u8], payload: &[u8]) -> Vec<u8> {
    forged(
        (16 + headers.len() + payload.len()) as u32,
        headers,
        payload,
    )
}

/// What comes of bytes pushed at once and ended: a line each.
fn read(bytes: &[u8]) -> Vec<String> {
    let mut stream = EventStream::new(LIMIT);
    stream.push(bytes);
    stream.finish();
    let lines = stream.by_ref().map(|next| match next {
        Ok(message) => format!("{:?} {}", message.kind(), message.payload().len()),
        Err(error) => match std::error::Error::source(&error) {
            Some(cause) => format!("{error}: {cause}"),
            None => error.to_string(),
        },
    });
    let lines = lines.collect();
    assert_eq!(stream.held(), 0);
    lines
}

#[track_caller]
fn check(bytes: &[u8], expect: &[&str]) {
    assert_eq!(read(bytes), expect);
}

#[test]
fn each_kind_is_told_by_its_headers() {
    let messages = [
        Message::event("messageStart", "{}"),
        Message::exception("throttlingException", r#"{"message":"slow down"}"#),
        Message::error("500", "out of order"),
    ];
    let mut bytes = Vec::new();
    for message in &messages {
        bytes.extend(message.encode().unwrap());
    }
    // No headers at all, then headers of other types than text.
    bytes.extend(whole(b"", b"x"));
    bytes.extend(whole(b"\x0d:message-type\x00\x01a\x09\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f", b""));
    bytes.extend(whole(b"\x0d:message-type\x07\x00\x05event", b""));
    check(
        &bytes,
        &[
            r#"Event("messageStart") 2"#,
            r#"Exception("throttlingException") 23"#,
            r#"Error { code: "500", message: "out of order" } 0"#,
            "Other 1",
            "Other 0",
            r#"Event("") 0"#,
        ],
    );
}

#[test]
fn what_was_written_is_read() {
    for message in [
        Message::event("", ""),
        Message::event("a", vec![0_u8; 700]),
        Message::exception("x", "\u{2028}"),
        Message::error("", ""),
    ] {
        let mut stream = EventStream::new(LIMIT);
        stream.push(&message.encode().unwrap());
        assert_eq!(stream.next().unwrap().unwrap(), message);
        assert_eq!(stream.held(), 0);
    }
    let long = "x".repeat(65_536);
    assert_eq!(
        Message::event(&long, "").encode().unwrap_err().to_string(),
        "the message cannot be framed"
    );
}

#[test]
fn a_changed_byte_is_noticed_wherever_it_is() {
    let good = delta();
    for at in 0..good.len() {
        for bit in 0..8 {
            let mut bad = good.clone();
            bad[at] ^= 1 << bit;
            let said = read(&bad);
            let expect = if at < 12 {
                "the prelude of a message has another checksum"
            } else {
                "a message cannot be read: "
            };
            assert!(
                said.len() == 1 && said[0].starts_with(expect),
                "{at} {said:?}"
            );
        }
    }
}

#[test]
fn what_came_before_a_broken_message_is_given_and_nothing_after_it() {
    let mut bytes = delta();
    bytes.extend([0; 16]);
    bytes.extend(delta());
    check(
        &bytes,
        &[
            r#"Event("contentBlockDelta") 23"#,
            "the prelude of a message has another checksum",
        ],
    );
}

#[test]
fn nothing_goes_on_after_an_error() {
    let mut stream = EventStream::new(LIMIT);
    stream.push(&[0; 12]);
    assert!(matches!(stream.next(), Some(Err(Broken::Prelude))));
    stream.push(&delta());
    assert!(stream.next().is_none());
    stream.finish();
    assert!(stream.next().is_none());
    assert_eq!(stream.held(), 0);
}

#[test]
fn a_length_beyond_the_limits_is_not_waited_for() {
    for length in [0, 15, LIMIT as u32 + 1, u32::MAX] {
        let said = format!("a message of {length} bytes, limits 16 and 1024");
        let mut bytes = forged(length, b"", b"");
        bytes.truncate(12);
        check(&bytes, &[&said]);
    }
    let most = vec![0; LIMIT - 16];
    check(&whole(b"", &most), &["Other 1008"]);
    check(&whole(b"", b""), &["Other 0"]);
}

#[test]
fn an_end_within_a_message_is_said() {
    check(b"", &[]);
    let good = delta();
    for held in 1..good.len() {
        let said = format!("the stream has ended after {held} bytes of a message");
        check(&good[..held], &[&said]);
    }
    let mut stream = EventStream::new(LIMIT);
    stream.push(&good[..12]);
    assert!(stream.next().is_none());
    assert_eq!(stream.held(), 12);
    stream.finish();
    stream.push(&good[12..]);
    assert!(matches!(
        stream.next(),
        Some(Err(Broken::Unfinished { held: 12 }))
    ));
}

#[test]
fn headers_that_lie_are_an_error() {
    let cases: [(&[u8], &str); 6] = [
        (b"\x01", "invalid headers length"),
        (b"\x05a", "invalid header name length"),
        (b"\x01a\x60", "invalid header value type: 96"),
        (b"\x01a\x07\x00\x09b", "invalid header value"),
        (b"\x01a\x05\x00", "invalid header value"),
        (b"\x01\xff\x00", "encountered invalid UTF-8 string"),
    ];
    for (headers, said) in cases {
        check(
            &whole(headers, b""),
            &[&format!("a message cannot be read: {said}")],
        );
    }
    // A value that goes on in the payload.
    check(
        &whole(b"\x01a\x07\x00\x02b", b"cd"),
        &["a message cannot be read: invalid header value"],
    );
    // More headers than the message is long.
    let mut bytes = 20_u32.to_be_bytes().to_vec();
    bytes.extend(5_u32.to_be_bytes());
    bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
    bytes.extend([0; 8]);
    check(
        &bytes,
        &["a message cannot be read: invalid headers length"],
    );
}

#[test]
fn printing_shows_no_content() {
    let mut stream = EventStream::new(LIMIT);
    stream.push(&delta());
    assert_eq!(
        format!("{stream:?}"),
        "EventStream { limit: 1024, held: 126, state: Open }"
    );
    assert_eq!(
        format!("{:?}", stream.next().unwrap().unwrap()),
        r#"Message { kind: Event("contentBlockDelta"), payload: 23 }"#
    );
}
