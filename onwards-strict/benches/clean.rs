//! Texts cleaned and checked, by shape: `cargo bench -p onwards-strict`.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench"
)]

#[path = "../../benches/shapes.rs"]
mod shapes;

use divan::black_box;
use onwards_strict::{Cleaner, Context, Endpoint, Stream, check};
use shapes::{Shape, Work};

fn main() {
    shapes::main();
}

const SHAPES: &[Shape] = &[
    shape("chat_chunk_vendor", "event", || {
        chunk(Endpoint::Chat, VENDOR)
    }),
    shape("chat_chunk_plain", "event", || chunk(Endpoint::Chat, PLAIN)),
    shape("chat_stream_vendor", "event", || stream(VENDOR)),
    shape("chat_stream_plain", "event", || stream(PLAIN)),
    shape("responses_event", "event", || {
        chunk(Endpoint::Responses, EVENT)
    }),
    shape("chat_answer", "text", || {
        answer(Endpoint::Chat, chat_answer())
    }),
    shape("embeddings_64_by_1536", "text", || {
        answer(Endpoint::Embeddings, embeddings(""))
    }),
    shape("embeddings_64_by_1536_spaced", "text", || {
        answer(Endpoint::Embeddings, embeddings(" "))
    }),
    shape("chat_request_500_bytes", "text", || request(500)),
    shape("chat_request_8k", "text", || request(8_000)),
    shape("chat_request_200k", "text", || request(200_000)),
];

const fn shape(name: &'static str, unit: &'static str, prepare: fn() -> Work) -> Shape {
    Shape {
        name,
        unit,
        prepare,
    }
}

const CONTEXT: Context<'static> = Context {
    model: "fast",
    unique: "2f9c7a4e-6d1b-4c53-9c0e-8f5d2b7a1e44",
    created: 0,
    trusted: false,
};

/// A chat chunk of 423 bytes with vendor members at every level.
const VENDOR: &str = r#"{"id":"gen-1731420000-AbCdEfGhIjKlMnOpQrSt","provider":"AcmeCloud","model":"acme/large-instruct-2","object":"chat.completion.chunk","created":1731420000,"choices":[{"index":0,"delta":{"role":"assistant","content":" a word","reasoning":null,"internal_step":12},"finish_reason":null,"native_finish_reason":null,"logprobs":null}],"usage":null,"system_fingerprint":"fp_0123456789","x_trace":{"node":"gpu-7","cost":0.000123}}"#;

/// A chat chunk a provider sends without members of its own, but for the model name.
const PLAIN: &str = r#"{"id":"chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz012","object":"chat.completion.chunk","created":1731420000,"model":"large-instruct-2","system_fingerprint":"fp_0123456789","choices":[{"index":0,"delta":{"content":" a word"},"logprobs":null,"finish_reason":null}]}"#;

const EVENT: &str = r#"{"type":"response.output_text.delta","sequence_number":12,"item_id":"msg_0123456789abcdef0123456789abcdef","output_index":0,"content_index":0,"delta":" a word","logprobs":[],"obfuscation":"Qx8ZkPt1"}"#;

/// Cleans an event's payload into a buffer that is large enough.
fn chunk(endpoint: Endpoint, payload: &'static str) -> Work {
    let cleaner = Cleaner::new(endpoint, &CONTEXT);
    let mut out = Vec::with_capacity(1024);
    let run = move || {
        out.clear();
        cleaner
            .clean_chunk(black_box(payload.as_bytes()), 12, &mut out)
            .unwrap();
        out.len()
    };
    Work {
        units: 1,
        bytes: payload.len(),
        run: Box::new(run),
    }
}

/// Cleans the chunks of a stream, which differ in a word.
fn stream(chunk: &str) -> Work {
    let mut stream = Stream::new(Cleaner::new(Endpoint::Chat, &CONTEXT));
    let words = [
        " a word", " or", " two,", " and", " a\\n", " longer", " one",
    ];
    let chunks: Vec<_> = words.map(|word| chunk.replace(" a word", word)).into();
    let bytes = chunks.iter().map(String::len).sum();
    let mut out = Vec::with_capacity(1024);
    let run = move || {
        for chunk in &chunks {
            out.clear();
            let payload = black_box(chunk.as_bytes());
            stream.clean(payload, 12, &mut out).unwrap();
        }
        out.len()
    };
    Work {
        units: words.len(),
        bytes,
        run: Box::new(run),
    }
}

/// Cleans a whole answer into a buffer that is large enough.
fn answer(endpoint: Endpoint, answer: String) -> Work {
    let cleaner = Cleaner::new(endpoint, &CONTEXT);
    let bytes = answer.len();
    let mut out = Vec::with_capacity(bytes + 1024);
    let run = move || {
        out.clear();
        cleaner
            .clean(black_box(answer.as_bytes()), &mut out)
            .unwrap();
        out.len()
    };
    Work {
        units: 1,
        bytes,
        run: Box::new(run),
    }
}

/// Checks a request whose prompt has that many bytes.
fn request(prompt: usize) -> Work {
    let request = chat_request(prompt);
    let bytes = request.len();
    let run = move || usize::from(check(Endpoint::Chat, black_box(request.as_bytes())).is_ok());
    Work {
        units: 1,
        bytes,
        run: Box::new(run),
    }
}

fn chat_request(bytes: usize) -> String {
    let content = "A sentence of a prompt that is plain text. ".repeat(bytes / 43);
    format!(
        r#"{{"model":"fast","messages":[{{"role":"system","content":"Be brief."}},{{"role":"user","content":"{content}"}}],"temperature":0.7,"max_tokens":256,"stream":true,"stream_options":{{"include_usage":true}}}}"#
    )
}

fn chat_answer() -> String {
    let content = "A sentence of an answer, with a \\\"quote\\\" and a line break.\\n".repeat(10);
    format!(
        r#"{{"id":"gen-1","provider":"AcmeCloud","object":"chat.completion","created":1731420000,"model":"acme/large","choices":[{{"index":0,"message":{{"role":"assistant","content":"{content}","refusal":null,"reasoning":null}},"logprobs":null,"finish_reason":"stop","native_finish_reason":"stop"}}],"usage":{{"prompt_tokens":11,"completion_tokens":137,"total_tokens":148,"cost":0.01}},"system_fingerprint":null}}"#
    )
}

/// An answer of 64 vectors of 1536 numbers, with this after each comma.
fn embeddings(space: &str) -> String {
    let mut seed = 7_u32;
    let mut vector = || {
        let numbers: Vec<_> = (0..1536)
            .map(|_| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                format!("{:.9}", f64::from(seed) / f64::from(u32::MAX) - 0.5)
            })
            .collect();
        numbers.join(&format!(",{space}"))
    };
    let data: Vec<_> = (0..64)
        .map(|index| {
            format!(
                r#"{{"object":"embedding","index":{index},"embedding":[{}]}}"#,
                vector()
            )
        })
        .collect();
    format!(
        r#"{{"object":"list","data":[{}],"model":"acme/embed","usage":{{"prompt_tokens":64,"total_tokens":64}},"cost":1}}"#,
        data.join(",")
    )
}
