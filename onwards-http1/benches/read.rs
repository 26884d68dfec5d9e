//! Answers by shape: `cargo bench -p onwards-http1`.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench"
)]

#[path = "../../benches/shapes.rs"]
mod shapes;

use divan::black_box;
use http::Method;
use onwards_http1::{Body, Framing, Recall, head};
use shapes::{Shape, Work};

fn main() {
    shapes::main();
}

const SHAPES: &[Shape] = &[
    shape("head_2_fields", "head", || heads(2)),
    shape("head_14_fields", "head", || heads(14)),
    shape("head_14_fields_recalled", "head", recalled),
    shape("chunks_300_bytes", "chunk", || chunks(300, 200, usize::MAX)),
    shape("chunks_one_a_read", "chunk", || chunks(300, 200, 307)),
    shape("chunks_cut", "chunk", || chunks(300, 200, 100)),
    shape("chunks_16k", "chunk", || chunks(16_384, 64, 65_536)),
    shape("length_1_mb", "body", length),
];

const fn shape(name: &'static str, unit: &'static str, prepare: fn() -> Work) -> Shape {
    Shape {
        name,
        unit,
        prepare,
    }
}

/// The head of a stream with so many fields.
fn head_of(fields: usize, id: &str) -> Vec<u8> {
    let id = format!("x-request-id: req_{id}");
    let all = [
        "content-type: text/event-stream; charset=utf-8",
        "transfer-encoding: chunked",
        "cache-control: no-cache",
        "date: Thu, 01 Jan 2026 00:00:00 GMT",
        "server: mock",
        &id,
        "x-processing-ms: 12",
        "x-ratelimit-limit-requests: 10000",
        "x-ratelimit-remaining-requests: 9999",
        "x-ratelimit-limit-tokens: 2000000",
        "x-ratelimit-remaining-tokens: 1999975",
        "x-ratelimit-reset-requests: 6ms",
        "strict-transport-security: max-age=31536000",
        "vary: accept-encoding",
    ];
    let lines: Vec<&str> = all.into_iter().take(fields).collect();
    format!("HTTP/1.1 200 OK\r\n{}\r\n\r\n", lines.join("\r\n")).into_bytes()
}

fn heads(fields: usize) -> Work {
    let bytes = head_of(fields, "7c2d9a41e6b54f0f8d31");
    Work {
        units: 1,
        bytes: bytes.len(),
        run: Box::new(move || {
            let (head, length) = head(black_box(&bytes), &Method::POST).unwrap().unwrap();
            length + head.headers.len()
        }),
    }
}

/// Two heads that differ in a value, in turns.
fn recalled() -> Work {
    let both = ["7c2d9a41e6b54f0f8d31", "19ab0c3385d24e7e9f60"].map(|id| head_of(14, id));
    let mut recall = Recall::default();
    Work {
        units: 2,
        bytes: both.concat().len(),
        run: Box::new(move || {
            let mut seen = 0;
            for bytes in black_box(&both) {
                let (head, length) = recall.head(bytes, &Method::POST).unwrap().unwrap();
                seen += length + head.headers.len();
            }
            seen
        }),
    }
}

/// A body in chunks of that size, read so many bytes at a time.
fn chunks(size: usize, count: usize, width: usize) -> Work {
    let chunk = format!("{size:x}\r\n{}\r\n", "x".repeat(size));
    let stream = (chunk.repeat(count) + "0\r\n\r\n").into_bytes();
    body(Framing::Chunked, stream, count, width)
}

/// A body of known length.
fn length() -> Work {
    let bytes = vec![b'x'; 1 << 20];
    body(Framing::Length(1 << 20), bytes, 1, 65_536)
}

/// Reads a body so many bytes at a time.
fn body(framing: Framing, bytes: Vec<u8>, units: usize, width: usize) -> Work {
    Work {
        units,
        bytes: bytes.len(),
        run: Box::new(move || {
            let mut body = Body::new(framing);
            let mut seen = 0;
            for mut read in black_box(&bytes).chunks(width) {
                while let Some(run) = body.next(&mut read).unwrap() {
                    seen += run.len();
                }
            }
            assert!(body.is_end());
            seen
        }),
    }
}
