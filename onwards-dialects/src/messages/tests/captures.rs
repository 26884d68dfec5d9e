//! Captured answers, read, and written for a client of the same protocol.

use std::fmt::Write as _;

use expect_test::expect_file;

use super::context;
use super::decoder::reading;
use crate::messages::{Decoder, Encoder, read_answer, write_answer};
use crate::testing::{events, lines};
use crate::{Answer, Step};

fn answer(name: &str, body: &str) {
    let answer = read_answer(body, &reading()).unwrap();
    let Answer {
        id, choices, usage, ..
    } = &answer;
    let mut shown = format!("{id:?} {usage:?}\n");
    for choice in choices {
        shown += &lines(&choice.parts);
        writeln!(shown, "{:?}\n", choice.finish).unwrap();
    }
    write_answer(&answer, &context(), &mut shown);
    shown.push('\n');
    let golden = format!("../../../tests/data/anthropic/{name}.json.golden");
    expect_file![golden].assert_eq(&shown);
}

fn stream(name: &str, stream: &str) {
    let mut decoder = Decoder::new(reading());
    let mut encoder = Encoder::new(context());
    let (mut shown, mut out) = (String::new(), String::new());
    let mut complete = false;
    for (event, data) in events(stream) {
        let step = decoder.payload(&event, &data, &mut |event| {
            writeln!(shown, "{event:?}").unwrap();
            encoder.event(&event, &mut out);
        });
        complete |= step == Ok(Step::Complete);
    }
    let whole = decoder.end(&mut |event| encoder.event(&event, &mut out));
    assert_eq!(whole, complete);
    if whole {
        encoder.end(&mut out);
    }
    writeln!(shown, "{whole}\n").unwrap();
    shown += &out;
    let golden = format!("../../../tests/data/anthropic/{name}.sse.golden");
    expect_file![golden].assert_eq(&shown);
}

macro_rules! captured {
    ($test:ident, $read:ident, $extension:literal, [$($name:literal),*]) => {
        #[test]
        fn $test() {
            $($read($name, include_str!(concat!("../../../tests/data/anthropic/", $name, $extension)));)*
        }
    };
}

captured!(
    whole_answers,
    answer,
    ".json",
    [
        "length",
        "llama",
        "parallel",
        "text-tool",
        "text",
        "thinking",
        "tool-first",
        "tool"
    ]
);
captured!(
    streams,
    stream,
    ".sse",
    [
        "empty",
        "length",
        "llama",
        "parallel",
        "plain",
        "text-tool",
        "text",
        "thinking",
        "tool-first",
        "tool-result",
        "tool",
        "trunc"
    ]
);
