//! Events of streams translated, by provider and client: `cargo bench -p onwards-dialects`.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench"
)]

#[path = "../../benches/shapes.rs"]
mod shapes;

use std::collections::BTreeMap;

use divan::black_box;
use onwards_dialects::options::{
    BedrockApi, Expose, ImageUrls, MaxTokensField, MidSystem, Reading, ReasoningStyle, SchemaMode,
    StructuredOutput,
};
use onwards_dialects::{Context, Kind, NativeEvents, Options, Protocol, Translator};
use shapes::{Shape, Work};

fn main() {
    shapes::main();
}

const SHAPES: &[Shape] = &[
    shape("chat_to_chat", || {
        stream(Kind::OpenAi, CHAT, Protocol::Chat)
    }),
    shape("chat_to_messages", || {
        stream(Kind::OpenAi, CHAT, Protocol::Messages)
    }),
    shape("chat_to_responses", || {
        stream(Kind::OpenAi, CHAT, Protocol::Responses)
    }),
    shape("chat_to_gemini", || {
        stream(Kind::OpenAi, CHAT, Protocol::GenerateContent)
    }),
    shape("anthropic_to_chat", || {
        stream(Kind::Anthropic, ANTHROPIC, Protocol::Chat)
    }),
    shape("gemini_to_chat", || {
        stream(Kind::Gemini, GEMINI, Protocol::Chat)
    }),
    shape("bedrock_to_chat", || {
        stream(Kind::Bedrock, BEDROCK, Protocol::Chat)
    }),
    shape("anthropic_to_responses", || {
        stream(Kind::Anthropic, ANTHROPIC, Protocol::Responses)
    }),
    shape("bedrock_to_messages", || {
        stream(Kind::Bedrock, BEDROCK, Protocol::Messages)
    }),
    shape("native_chat", || native(Protocol::Chat, CHAT)),
    shape("native_messages", || native(Protocol::Messages, ANTHROPIC)),
];

const fn shape(name: &'static str, prepare: fn() -> Work) -> Shape {
    Shape {
        name,
        unit: "event",
        prepare,
    }
}

/// What opens a stream, and an event of it with a word of text.
type Stream = (
    &'static [(&'static str, &'static str)],
    (&'static str, &'static str),
);

const CHAT: Stream = (
    &[],
    (
        "",
        r#"{"id":"chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz012","object":"chat.completion.chunk","created":1731420000,"model":"large-instruct-2","system_fingerprint":"fp_0123456789","choices":[{"index":0,"delta":{"content":" a word"},"logprobs":null,"finish_reason":null}]}"#,
    ),
);

const ANTHROPIC: Stream = (
    &[
        (
            "message_start",
            r#"{"type":"message_start","message":{"id":"msg_01","type":"message","role":"assistant","model":"claude","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":1}}}"#,
        ),
        (
            "content_block_start",
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        ),
    ],
    (
        "content_block_delta",
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" a word"}}"#,
    ),
);

const GEMINI: Stream = (
    &[],
    (
        "",
        r#"{"candidates":[{"content":{"parts":[{"text":" a word"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":12,"candidatesTokenCount":7,"totalTokenCount":19},"modelVersion":"gemini-2.5-flash","responseId":"AbCdEfGhIjKl"}"#,
    ),
);

const BEDROCK: Stream = (
    &[("messageStart", r#"{"p":"abcdefgh","role":"assistant"}"#)],
    (
        "contentBlockDelta",
        r#"{"contentBlockIndex":0,"delta":{"text":" a word"},"p":"abcdefghijklmnopqrstuv"}"#,
    ),
);

const WORDS: [&str; 7] = [
    " a word", " or", " two,", " and", " a\\n", " longer", " one",
];

/// The event with each word, and where it counts tokens, with more of them each time.
fn payloads(event: &str) -> Vec<String> {
    let words = (7..).zip(WORDS);
    words
        .map(|(count, word)| {
            event
                .replace(" a word", word)
                .replace("Count\":7", &format!("Count\":{count}"))
        })
        .collect()
}

/// Translates events that differ in a word.
fn stream(kind: Kind, (opening, (event, payload)): Stream, protocol: Protocol) -> Work {
    let decoder = kind.decoder(Reading::default(), &options());
    let mut translator = Translator::new(decoder, protocol.encoder(context()));
    let mut out = String::with_capacity(4096);
    for (event, payload) in opening {
        translator.payload(event, payload, &mut out).unwrap();
    }
    let payloads = payloads(payload);
    let bytes = payloads.iter().map(String::len).sum();
    let run = move || {
        for payload in &payloads {
            out.clear();
            translator
                .payload(event, black_box(payload), &mut out)
                .unwrap();
        }
        out.len()
    };
    Work {
        units: WORDS.len(),
        bytes,
        run: Box::new(run),
    }
}

/// Renames the model in events that differ in a word.
fn native(protocol: Protocol, (_, (_, payload)): Stream) -> Work {
    let mut native = NativeEvents::new(protocol, "fast");
    let mut out = String::with_capacity(4096);
    let payloads = payloads(payload);
    let bytes = payloads.iter().map(String::len).sum();
    let run = move || {
        for payload in &payloads {
            out.clear();
            native.payload(black_box(payload), &mut out).unwrap();
        }
        out.len()
    };
    Work {
        units: WORDS.len(),
        bytes,
        run: Box::new(run),
    }
}

fn context() -> Context {
    Context {
        model: "fast".to_owned(),
        unique: "2f9c7a4e-6d1b-4c53-9c0e-8f5d2b7a1e44".to_owned(),
        request_id: "r-1".to_owned(),
        created: 0,
        strict: false,
        expose: Expose::Full,
        echo: String::new(),
        array: false,
        sequential: false,
        signed: false,
    }
}

fn options() -> Options {
    Options {
        default_max_tokens: None,
        max_tokens_field: MaxTokensField::Auto { new: true },
        structured_output: StructuredOutput::Native,
        schema_mode: SchemaMode::OpenApi,
        strict_tools: false,
        reasoning_style: ReasoningStyle::Budget,
        reasoning_budgets: BTreeMap::new(),
        expose_reasoning: Expose::Full,
        mid_system: MidSystem::Hoist,
        image_urls: ImageUrls::Fetch,
        stream_options: true,
        reject_losses: false,
        bedrock_api: BedrockApi::Converse,
        betas: Vec::new(),
        api_version: String::new(),
        api_v1: true,
    }
}
