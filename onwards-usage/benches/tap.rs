//! Answers by shape: `cargo bench -p onwards-usage`.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench"
)]

#[path = "../../benches/shapes.rs"]
mod shapes;

use divan::black_box;
use onwards_usage::Tap;
use shapes::{Shape, Work};

fn main() {
    shapes::main();
}

const SHAPES: &[Shape] = &[
    read("unary", || taps(UNARY.to_vec(), UNARY.len())),
    read("one_event_each", || taps(CHUNK.repeat(200), CHUNK.len())),
    read("large_reads", || taps(CHUNK.repeat(200), 16_384)),
    read("counts_in_each", || {
        taps(COUNTED.repeat(200), COUNTED.len())
    }),
    read("counts_cut", || taps(COUNTED.repeat(200), 100)),
    read("embedding", || {
        taps(b"-0.009327292,".repeat(10_000), 16_384)
    }),
];

const fn read(name: &'static str, prepare: fn() -> Work) -> Shape {
    let unit = "read";
    Shape {
        name,
        unit,
        prepare,
    }
}

/// A short answer, as providers write it.
const UNARY: &[u8] = br#"{"id":"chatcmpl-9f3","object":"chat.completion","created":1718345013,"model":"vendor/fast-1","choices":[{"index":0,"message":{"role":"assistant","content":"Hello! How can I help you today?","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":19,"completion_tokens":10,"total_tokens":29,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}},"service_tier":"default","system_fingerprint":"fp_44709d6fcb"}"#;

const CHUNK: &[u8] = br#"data: {"id":"chatcmpl-9f3","object":"chat.completion.chunk","created":1718345013,"model":"vendor/fast-1","system_fingerprint":"fp_44709d6fcb","choices":[{"index":0,"delta":{"role":"assistant","content":" hello there"},"logprobs":null,"finish_reason":null}],"usage":null}

"#;

const COUNTED: &[u8] = br#"data: {"id":"chatcmpl-9f3","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":1200,"completion_tokens":345,"total_tokens":1545,"prompt_tokens_details":{"cached_tokens":1024},"completion_tokens_details":{"reasoning_tokens":128}}}

"#;

/// Shows the bytes to a tap in reads of that width.
fn taps(answer: Vec<u8>, width: usize) -> Work {
    let units = answer.chunks(width).count();
    let bytes = answer.len();
    let run = move || {
        let mut tap = Tap::default();
        for piece in black_box(&answer).chunks(width) {
            tap.read(piece);
        }
        usize::from(tap.usage().is_some())
    };
    Work {
        units,
        bytes,
        run: Box::new(run),
    }
}
