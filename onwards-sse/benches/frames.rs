//! Streams by shape: `cargo bench -p onwards-sse`.
#![allow(missing_docs, clippy::unwrap_used, reason = "a bench")]

use bytes::Bytes;
use divan::{Bencher, black_box, counter::BytesCount};
use onwards_sse::{Frame, Framer};

fn main() {
    divan::main();
}

const CHUNK: &[u8] = br#"{"id":"chatcmpl-9f3","object":"chat.completion.chunk","created":1718345013,"model":"vendor/fast-1","provider":"acme","system_fingerprint":"fp_44709d6fcb","choices":[{"index":0,"delta":{"role":"assistant","content":" hello there","reasoning":null},"logprobs":null,"finish_reason":null,"native_finish_reason":null}],"usage":null}"#;

/// A stream of 200 events of some 330 bytes, as chat completions are.
fn many() -> Bytes {
    let mut out = Vec::new();
    for _ in 0..200 {
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

/// Frames the stream cut into chunks of that width and reads each payload.
fn frame(stream: &Bytes, width: usize) -> usize {
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
}

fn bench(bencher: Bencher<'_, '_>, stream: &Bytes, width: usize) {
    bencher
        .counter(BytesCount::of_slice(stream))
        .bench(|| frame(stream, width));
}

mod frames {
    use super::*;

    #[divan::bench]
    fn small_many(bencher: Bencher<'_, '_>) {
        bench(bencher, &many(), usize::MAX);
    }

    #[divan::bench]
    fn one_each(bencher: Bencher<'_, '_>) {
        let stream = many();
        bench(bencher, &stream, stream.len() / 200);
    }

    #[divan::bench]
    fn one_large(bencher: Bencher<'_, '_>) {
        bench(bencher, &large(), usize::MAX);
    }

    #[divan::bench]
    fn one_large_in_segments(bencher: Bencher<'_, '_>) {
        bench(bencher, &large(), 1_448);
    }

    #[divan::bench]
    fn split_everywhere(bencher: Bencher<'_, '_>) {
        bench(bencher, &many(), 1);
    }

    #[divan::bench]
    fn many_lines(bencher: Bencher<'_, '_>) {
        bench(
            bencher,
            &Bytes::from("event: a\r\nid: 1\r\ndata: x\r\n\r\n".repeat(2_000)),
            usize::MAX,
        );
    }
}

#[divan::bench]
fn write(bencher: Bencher<'_, '_>) {
    let mut out = Vec::with_capacity(1 << 12);
    bencher
        .counter(BytesCount::of_slice(CHUNK))
        .bench_local(move || {
            out.clear();
            Frame::data(black_box(CHUNK)).write(&mut out)
        });
}
