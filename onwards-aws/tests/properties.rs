//! Recorded streams, and any bytes at all: what is read does not depend on the cuts, and nothing panics.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::fmt::Write as _;

use expect_test::expect_file;
use onwards_aws::{EventStream, Kind, Message};
use proptest::prelude::*;

macro_rules! recorded {
    ($name:literal) => {
        ($name, include_bytes!(concat!("data/", $name, ".bin")))
    };
}

const RECORDED: &[(&str, &[u8])] = &[
    recorded!("invoke-stream"),
    recorded!("invoke-tool-stream"),
    recorded!("length-converse-stream"),
    recorded!("parallel-converse-stream"),
    recorded!("reasoning-converse-stream"),
    recorded!("text-converse-stream"),
    recorded!("text-tool-converse-stream"),
    recorded!("tool-converse-stream"),
    recorded!("tool-first-converse-stream"),
    recorded!("trunc-converse-stream"),
];

/// Reads pieces and ends; a line for each message, and for the error if there is one.
fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, limit: usize) -> String {
    let mut text = String::new();
    let mut stream = EventStream::new(limit);
    let drain = |stream: &mut EventStream, text: &mut String| {
        for next in stream {
            match next {
                Ok(message) => {
                    let payload = String::from_utf8_lossy(message.payload());
                    writeln!(text, "{:?} {payload}", message.kind()).unwrap();
                }
                Err(error) => writeln!(text, "{error}").unwrap(),
            }
        }
    };
    for piece in pieces {
        stream.push(piece);
        drain(&mut stream, &mut text);
    }
    stream.finish();
    drain(&mut stream, &mut text);
    text
}

/// The same, from the whole input, by the letter of the grammar: only for streams in which every header is text.
fn oracle(mut bytes: &[u8]) -> String {
    let mut text = String::new();
    let number = |bytes: &[u8]| u32::from_be_bytes(bytes[..4].try_into().unwrap()) as usize;
    while bytes.len() >= 16 {
        let (message, rest) = bytes.split_at(number(bytes));
        let (headers, payload) = message[12..message.len() - 4].split_at(number(&message[4..]));
        let mut found = std::collections::HashMap::new();
        let mut at = headers;
        while let [length, rest @ ..] = at {
            let (name, rest) = rest.split_at(usize::from(*length));
            let (size, rest) = rest[1..].split_at(2);
            let (value, rest) = rest.split_at(usize::from(u16::from_be_bytes([size[0], size[1]])));
            found.insert(
                str::from_utf8(name).unwrap(),
                str::from_utf8(value).unwrap(),
            );
            at = rest;
        }
        assert_eq!(found[":message-type"], "event");
        let payload = String::from_utf8_lossy(payload);
        writeln!(text, "{:?} {payload}", Kind::Event(found[":event-type"])).unwrap();
        bytes = rest;
    }
    assert!(bytes.is_empty());
    text
}

#[test]
fn recorded_streams_are_read() {
    for (name, bytes) in RECORDED {
        let text = read([*bytes], EventStream::MOST);
        assert_eq!(text, oracle(bytes), "{name}");
        expect_file![format!("data/{name}.golden")].assert_eq(&text);
    }
}

#[test]
fn every_cut_in_two_gives_the_same() {
    for (name, bytes) in RECORDED {
        let expect = oracle(bytes);
        for at in 0..=bytes.len() {
            let (front, rear) = bytes.split_at(at);
            assert_eq!(
                read([front, rear], EventStream::MOST),
                expect,
                "{name} cut at {at}"
            );
        }
    }
}

#[test]
fn any_size_of_pieces_gives_the_same() {
    for (name, bytes) in RECORDED {
        for size in 1..40 {
            let text = read(bytes.chunks(size), EventStream::MOST);
            assert_eq!(text, oracle(bytes), "{name} in pieces of {size}");
        }
    }
}

/// Cuts bytes at these places, in any order.
fn cut(bytes: &[u8], places: &[prop::sample::Index]) -> Vec<Vec<u8>> {
    let mut places: Vec<usize> = places
        .iter()
        .map(|place| place.index(bytes.len() + 1))
        .collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    let pairs = places.windows(2);
    pairs.map(|pair| bytes[pair[0]..pair[1]].to_vec()).collect()
}

fn pieces(cuts: &[Vec<u8>]) -> impl Iterator<Item = &[u8]> {
    cuts.iter().map(Vec::as_slice)
}

/// A message whose checksums hold.
fn framed(headers: &[u8], said: u32, payload: &[u8]) -> Vec<u8> {
    let length = 16 + headers.len() + payload.len();
    let mut bytes = (length as u32).to_be_bytes().to_vec();
    bytes.extend(said.to_be_bytes());
    bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
    bytes.extend(headers);
    bytes.extend(payload);
    bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
    bytes
}

/// A header with a value of any type, often one that says what a message is.
fn header() -> impl Strategy<Value = Vec<u8>> {
    let name = prop_oneof![
        3 => Just(":message-type"), 2 => Just(":event-type"), 1 => Just(":exception-type"), 1 => Just(":error-code"),
        1 => Just(":error-message"), 1 => Just("x"), 1 => Just(""),
    ];
    let text = prop_oneof![
        2 => Just("event"), 1 => Just("exception"), 1 => Just("error"), 1 => Just(""), 1 => Just("\u{e9}"),
    ];
    let value = prop_oneof![
        4 => text.prop_map(|text| [&[7, 0, text.len() as u8], text.as_bytes()].concat()),
        1 => prop_oneof![Just((0_u8, 0)), Just((1, 0)), Just((2, 1)), Just((3, 2)), Just((4, 4)), Just((5, 8)), Just((8, 8)), Just((9, 16))]
            .prop_map(|(value_type, size)| [vec![value_type], vec![7; size]].concat()),
        1 => Just(vec![6, 0, 3, 0xff, 0xfe, 0xfd]),
        1 => Just(vec![7, 0, 1, 0xff]),
    ];
    (name, value).prop_map(|(name, value)| [&[name.len() as u8], name.as_bytes(), &value].concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn the_cuts_do_not_matter(
        stream in 0..RECORDED.len(),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..30),
    ) {
        let (_, bytes) = RECORDED[stream];
        prop_assert_eq!(read(pieces(&cut(bytes, &places)), EventStream::MOST), oracle(bytes));
    }

    /// Also not for streams that are broken somewhere; the error and what came before it are the same.
    #[test]
    fn nor_do_they_when_bytes_are_wrong(
        stream in 0..RECORDED.len(),
        wrong in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        length in any::<prop::sample::Index>(),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..30),
        limit in 0_usize..700,
    ) {
        let (_, bytes) = RECORDED[stream];
        let mut bytes = bytes.to_vec();
        for (place, value) in &wrong {
            let place = place.index(bytes.len());
            bytes[place] = *value;
        }
        bytes.truncate(length.index(bytes.len() + 1));
        let at_once = read([bytes.as_slice()], limit);
        prop_assert_eq!(read(pieces(&cut(&bytes, &places)), limit), at_once);
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read([bytes.as_slice()], 100);
    }

    /// Bytes whose checksums hold, so that the headers are reached.
    #[test]
    fn no_headers_panic(
        headers in prop::collection::vec(prop_oneof![0_u8..12, any::<u8>()], 0..60),
        said in prop_oneof![Just(None), (0_u32..90).prop_map(Some)],
        payload in prop::collection::vec(any::<u8>(), 0..20),
    ) {
        let bytes = framed(&headers, said.unwrap_or(headers.len() as u32), &payload);
        let text = read([bytes.as_slice()], 1000);
        prop_assert_eq!(text.is_empty(), false);
    }

    /// Amazon's own reader takes the same messages for whole, and finds the same in them.
    #[test]
    fn amazons_reader_agrees(
        headers in prop::collection::vec(header(), 0..4),
        wrong in prop::option::of((any::<prop::sample::Index>(), 0_u8..12)),
        said in prop_oneof![9 => Just(None), 1 => (0_u32..90).prop_map(Some)],
        payload in prop::collection::vec(any::<u8>(), 0..20),
    ) {
        let mut headers = headers.concat();
        if let Some((place, value)) = wrong && !headers.is_empty() {
            let place = place.index(headers.len());
            headers[place] = value;
        }
        let bytes = framed(&headers, said.unwrap_or(headers.len() as u32), &payload);
        let theirs = aws_smithy_eventstream::frame::read_message_from(&bytes[..]);
        let mut stream = EventStream::new(1000);
        stream.push(&bytes);
        let ours = stream.next().unwrap();
        prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{:?} {:?}", ours, theirs);
        if let (Ok(ours), Ok(theirs)) = (ours, theirs) {
            prop_assert_eq!(ours.payload(), theirs.payload());
            let text = |name: &str| {
                let mut headers = theirs.headers().iter();
                let header = headers.find(|header| header.name().as_str() == name);
                let value = header.and_then(|header| header.value().as_string().ok());
                value.map_or("", |text| text.as_str()).to_owned()
            };
            let told = match text(":message-type").as_str() {
                "event" => format!("{:?}", Kind::Event(&text(":event-type"))),
                "exception" => format!("{:?}", Kind::Exception(&text(":exception-type"))),
                "error" => {
                    let (code, message) = (&text(":error-code"), &text(":error-message"));
                    format!("{:?}", Kind::Error { code, message })
                }
                _ => "Other".to_owned(),
            };
            prop_assert_eq!(format!("{:?}", ours.kind()), told);
        }
    }

    #[test]
    fn what_is_written_is_read(
        name in ".{0,40}",
        payload in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        for message in [
            Message::event(&name, payload.clone()),
            Message::exception(&name, payload.clone()),
            Message::error(&name, &name),
        ] {
            let mut stream = EventStream::new(EventStream::MOST);
            stream.push(&message.encode().unwrap());
            prop_assert_eq!(stream.next().unwrap().unwrap(), message);
            prop_assert_eq!(stream.held(), 0);
        }
    }
}
