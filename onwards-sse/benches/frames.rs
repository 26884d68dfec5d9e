//! Streams by shape: `cargo bench -p onwards-sse`.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench"
)]

#[path = "../../benches/shapes.rs"]
mod shapes;

use bytes::Bytes;
use divan::black_box;
use onwards_sse::{Frame, Framer};
use shapes::{Shape, Work};

fn main() {
    shapes::main();
}

const SHAPES: &[Shape] = &[
    event("small_many", || frames(many(), EVENTS, usize::MAX)),
    event("one_each", || frames(many(), EVENTS, many().len() / EVENTS)),
    event("split_everywhere", || frames(many(), EVENTS, 1)),
    event("many_lines", || frames(lines(), 2_000, usize::MAX)),
    event("one_large", || frames(large(), 1, usize::MAX)),
    event("one_large_in_segments", || frames(large(), 1, 1_448)),
    event("write", write),
];

const fn event(name: &'static str, prepare: fn() -> Work) -> Shape {
    let unit = "event";
    Shape {
        name,
        unit,
        prepare,
    }
}

const EVENTS: usize = 200;

const CHUNK: &[u8] = br#"{"id":"chatcmpl-9f3","object":"chat.completion.chunk","created":1718345013,"model":"vendor/fast-1","provider":"acme","system_fingerprint":"fp_44709d6fcb","choices":[{"index":0,"delta":{"role":"assistant","content":" hello there","reasoning":null},"logprobs":null,"finish_reason":null,"native_finish_reason":null}],"usage":null}"#;

/// A stream of events of some 330 bytes, as chat completions are.
fn many() -> Bytes {
    let mut out = Vec::new();
    for _ in 0..EVENTS {
        Frame::data(CHUNK).write(&mut out).unwrap();
    }
    out.into()
}

/// One event of 1 MB.
fn large() -> Bytes {
    let mut out = Vec::new();
    Frame::data(&CHUNK.repeat(3_000)).write(&mut out).unwrap();
    out.into()
}

/// Events of three short lines with both characters at their ends.
fn lines() -> Bytes {
    "event: a\r\nid: 1\r\ndata: x\r\n\r\n".repeat(2_000).into()
}

/// Frames the stream cut into chunks of that width and reads each payload.
fn frames(stream: Bytes, units: usize, width: usize) -> Work {
    let bytes = stream.len();
    let run = move || {
        let mut framer = Framer::new(1 << 21);
        let mut rest = black_box(stream.clone());
        let mut seen = 0;
        while !rest.is_empty() {
            framer.push(rest.split_to(width.min(rest.len())));
            for event in &mut framer {
                seen += event.unwrap().data().map_or(0, |data| data.len());
            }
        }
        seen
    };
    Work {
        units,
        bytes,
        run: Box::new(run),
    }
}

/// Writes a frame of one line into a buffer that is large enough.
fn write() -> Work {
    let mut out = Vec::with_capacity(1 << 12);
    let run = move || {
        out.clear();
        Frame::data(black_box(CHUNK)).write(&mut out).unwrap();
        out.len()
    };
    Work {
        units: 1,
        bytes: CHUNK.len(),
        run: Box::new(run),
    }
}
