//! How fast texts are cleaned and checked: `cargo bench -p onwards-strict`.

use divan::{Bencher, black_box, counter::BytesCount};
use onwards_strict::{Cleaner, Context, Endpoint, check};

fn main() {
    divan::main();
}

const CONTEXT: Context<'static> = Context {
    model: "fast",
    unique: "2f9c7a4e-6d1b-4c53-9c0e-8f5d2b7a1e44",
    created: 0,
    trusted: false,
};

/// A chat chunk of 423 bytes with vendor members at every level.
const CHUNK: &str = r#"{"id":"gen-1731420000-AbCdEfGhIjKlMnOpQrSt","provider":"AcmeCloud","model":"acme/large-instruct-2","object":"chat.completion.chunk","created":1731420000,"choices":[{"index":0,"delta":{"role":"assistant","content":" a word","reasoning":null,"internal_step":12},"finish_reason":null,"native_finish_reason":null,"logprobs":null}],"usage":null,"system_fingerprint":"fp_0123456789","x_trace":{"node":"gpu-7","cost":0.000123}}"#;

/// A chat chunk a provider sends without members of its own, but for the model name.
const PLAIN: &str = r#"{"id":"chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz012","object":"chat.completion.chunk","created":1731420000,"model":"large-instruct-2","system_fingerprint":"fp_0123456789","choices":[{"index":0,"delta":{"content":" a word"},"logprobs":null,"finish_reason":null}]}"#;

const EVENT: &str = r#"{"type":"response.output_text.delta","sequence_number":12,"item_id":"msg_0123456789abcdef0123456789abcdef","output_index":0,"content_index":0,"delta":" a word","logprobs":[],"obfuscation":"Qx8ZkPt1"}"#;

#[divan::bench(args = [("vendor", CHUNK), ("plain", PLAIN)])]
fn chat_chunk(bencher: Bencher, (_, chunk): (&str, &str)) {
    chunks(bencher, Endpoint::Chat, chunk);
}

#[divan::bench]
fn responses_event(bencher: Bencher) {
    chunks(bencher, Endpoint::Responses, EVENT);
}

fn chunks(bencher: Bencher, endpoint: Endpoint, chunk: &str) {
    let cleaner = Cleaner::new(endpoint, &CONTEXT);
    let mut out = Vec::with_capacity(1024);
    bencher.counter(BytesCount::of_str(chunk)).bench_local(|| {
        out.clear();
        cleaner
            .clean_chunk(black_box(chunk.as_bytes()), 12, &mut out)
            .is_ok()
    });
}

#[divan::bench]
fn chat_answer(bencher: Bencher) {
    let content = "A sentence of an answer, with a \\\"quote\\\" and a line break.\\n".repeat(10);
    let answer = format!(
        r#"{{"id":"gen-1","provider":"AcmeCloud","object":"chat.completion","created":1731420000,"model":"acme/large","choices":[{{"index":0,"message":{{"role":"assistant","content":"{content}","refusal":null,"reasoning":null}},"logprobs":null,"finish_reason":"stop","native_finish_reason":"stop"}}],"usage":{{"prompt_tokens":11,"completion_tokens":137,"total_tokens":148,"cost":0.01}},"system_fingerprint":null}}"#
    );
    answers(bencher, Endpoint::Chat, &answer);
}

#[divan::bench(args = [true, false], name = "embeddings_64x1536")]
fn embeddings(bencher: Bencher, compact: bool) {
    let space = if compact { "" } else { " " };
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
    let answer = format!(
        r#"{{"object":"list","data":[{}],"model":"acme/embed","usage":{{"prompt_tokens":64,"total_tokens":64}},"cost":1}}"#,
        data.join(",")
    );
    answers(bencher, Endpoint::Embeddings, &answer);
}

fn answers(bencher: Bencher, endpoint: Endpoint, answer: &str) {
    let cleaner = Cleaner::new(endpoint, &CONTEXT);
    let mut out = Vec::with_capacity(answer.len() + 1024);
    bencher.counter(BytesCount::of_str(answer)).bench_local(|| {
        out.clear();
        cleaner
            .clean(black_box(answer.as_bytes()), &mut out)
            .is_ok()
    });
}

#[divan::bench(args = [500, 8_000, 200_000])]
fn chat_request(bencher: Bencher, bytes: usize) {
    let content = "A sentence of a prompt that is plain text. ".repeat(bytes / 43);
    let request = format!(
        r#"{{"model":"fast","messages":[{{"role":"system","content":"Be brief."}},{{"role":"user","content":"{content}"}}],"temperature":0.7,"max_tokens":256,"stream":true,"stream_options":{{"include_usage":true}}}}"#
    );
    bencher
        .counter(BytesCount::of_str(&request))
        .bench_local(|| check(Endpoint::Chat, black_box(request.as_bytes())).is_ok());
}
