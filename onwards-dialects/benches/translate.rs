//! Streams, answers and requests translated, by provider and client: `cargo bench -p onwards-dialects`.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench"
)]

#[path = "../../benches/shapes.rs"]
mod shapes;
#[path = "translate/texts.rs"]
mod texts;

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
    event("chat_to_chat", || {
        stream(Kind::OpenAi, CHAT, Protocol::Chat)
    }),
    event("chat_to_messages", || {
        stream(Kind::OpenAi, CHAT, Protocol::Messages)
    }),
    event("chat_to_responses", || {
        stream(Kind::OpenAi, CHAT, Protocol::Responses)
    }),
    event("chat_to_gemini", || {
        stream(Kind::OpenAi, CHAT, Protocol::GenerateContent)
    }),
    event("chat_padded_to_messages", || {
        stream(Kind::OpenAi, PADDED, Protocol::Messages)
    }),
    event("anthropic_to_chat", || {
        stream(Kind::Anthropic, ANTHROPIC, Protocol::Chat)
    }),
    event("gemini_to_chat", || {
        stream(Kind::Gemini, GEMINI, Protocol::Chat)
    }),
    event("bedrock_to_chat", || {
        stream(Kind::Bedrock, BEDROCK, Protocol::Chat)
    }),
    event("anthropic_to_responses", || {
        stream(Kind::Anthropic, ANTHROPIC, Protocol::Responses)
    }),
    event("bedrock_to_messages", || {
        stream(Kind::Bedrock, BEDROCK, Protocol::Messages)
    }),
    event("chat_arguments_to_messages", || {
        stream(Kind::OpenAi, CHAT_CALL, Protocol::Messages)
    }),
    event("chat_arguments_to_responses", || {
        stream(Kind::OpenAi, CHAT_CALL, Protocol::Responses)
    }),
    event("anthropic_arguments_to_chat", || {
        stream(Kind::Anthropic, ANTHROPIC_CALL, Protocol::Chat)
    }),
    event("bedrock_arguments_to_chat", || {
        stream(Kind::Bedrock, BEDROCK_CALL, Protocol::Chat)
    }),
    event("native_chat", || native(Protocol::Chat, CHAT)),
    event("native_messages", || native(Protocol::Messages, ANTHROPIC)),
    whole("answer_chat_to_messages", || {
        texts::answer(Kind::OpenAi, Protocol::Messages)
    }),
    whole("answer_anthropic_to_chat", || {
        texts::answer(Kind::Anthropic, Protocol::Chat)
    }),
    whole("answer_gemini_to_chat", || {
        texts::answer(Kind::Gemini, Protocol::Chat)
    }),
    whole("answer_bedrock_to_chat", || {
        texts::answer(Kind::Bedrock, Protocol::Chat)
    }),
    whole("request_chat_to_anthropic_500_bytes", || {
        texts::request(Protocol::Chat, Kind::Anthropic, 500)
    }),
    whole("request_chat_to_anthropic_8k", || {
        texts::request(Protocol::Chat, Kind::Anthropic, 8_000)
    }),
    whole("request_chat_to_anthropic_200k", || {
        texts::request(Protocol::Chat, Kind::Anthropic, 200_000)
    }),
    whole("request_messages_to_chat_500_bytes", || {
        texts::request(Protocol::Messages, Kind::OpenAi, 500)
    }),
    whole("request_messages_to_chat_8k", || {
        texts::request(Protocol::Messages, Kind::OpenAi, 8_000)
    }),
    whole("request_messages_to_chat_200k", || {
        texts::request(Protocol::Messages, Kind::OpenAi, 200_000)
    }),
    whole("request_chat_to_gemini_500_bytes", || {
        texts::request(Protocol::Chat, Kind::Gemini, 500)
    }),
    whole("request_chat_to_gemini_8k", || {
        texts::request(Protocol::Chat, Kind::Gemini, 8_000)
    }),
    whole("request_chat_to_gemini_200k", || {
        texts::request(Protocol::Chat, Kind::Gemini, 200_000)
    }),
];

const fn event(name: &'static str, prepare: fn() -> Work) -> Shape {
    Shape {
        name,
        unit: "event",
        prepare,
    }
}

const fn whole(name: &'static str, prepare: fn() -> Work) -> Shape {
    Shape {
        name,
        unit: "text",
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

/// With what hides the length of the text.
const PADDED: Stream = (
    &[],
    (
        "",
        r#"{"id":"chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz012","object":"chat.completion.chunk","created":1731420000,"model":"large-instruct-2","service_tier":"default","system_fingerprint":"fp_0123456789","choices":[{"index":0,"delta":{"content":" a word"},"logprobs":null,"finish_reason":null}],"obfuscation":"PAD"}"#,
    ),
);

const CHAT_CALL: Stream = (
    &[(
        "",
        r#"{"id":"chatcmpl-A","object":"chat.completion.chunk","created":1731420000,"model":"large-instruct-2","choices":[{"index":0,"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_AbCdEfGh","type":"function","function":{"name":"look_up","arguments":""}}]},"logprobs":null,"finish_reason":null}]}"#,
    )],
    (
        "",
        r#"{"id":"chatcmpl-A","object":"chat.completion.chunk","created":1731420000,"model":"large-instruct-2","system_fingerprint":"fp_0123456789","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":" a word"}}]},"logprobs":null,"finish_reason":null}]}"#,
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

const ANTHROPIC_CALL: Stream = (
    &[
        (
            "message_start",
            r#"{"type":"message_start","message":{"id":"msg_01","type":"message","role":"assistant","model":"claude","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":1}}}"#,
        ),
        (
            "content_block_start",
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_01","name":"look_up","input":{}}}"#,
        ),
    ],
    (
        "content_block_delta",
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":" a word"}}"#,
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
        r#"{"contentBlockIndex":0,"delta":{"text":" a word"},"p":"PAD"}"#,
    ),
);

const BEDROCK_CALL: Stream = (
    &[
        ("messageStart", r#"{"p":"abcdefgh","role":"assistant"}"#),
        (
            "contentBlockStart",
            r#"{"contentBlockIndex":0,"p":"abc","start":{"toolUse":{"name":"look_up","toolUseId":"tooluse_01"}}}"#,
        ),
    ],
    (
        "contentBlockDelta",
        r#"{"contentBlockIndex":0,"delta":{"toolUse":{"input":" a word"}},"p":"PAD"}"#,
    ),
);

const WORDS: [&str; 7] = [
    " a word", " or", " two,", " and", " a\\n", " longer", " one",
];

/// The event with each word; where it counts tokens, with more of them each time, and where it is padded, differently.
fn payloads(event: &str) -> Vec<String> {
    let words = (7..).zip(WORDS);
    words
        .map(|(count, word)| {
            let padding = "abcdefghijklmnopqrstuvwxyzABC".get(..count * 5 % 29);
            event
                .replace(" a word", word)
                .replace("Count\":7", &format!("Count\":{count}"))
                .replace("PAD", padding.unwrap())
        })
        .collect()
}

/// Translates events that differ in a word. After so many runs another stream begins: some clients are told all of it again at
/// its end.
fn stream(kind: Kind, (opening, (event, payload)): Stream, protocol: Protocol) -> Work {
    const LENGTH: usize = 2_000;
    let begin = move |out: &mut String| {
        let decoder = kind.decoder(Reading::default(), &options());
        let mut translator = Translator::new(decoder, protocol.encoder(context()));
        for (event, payload) in opening {
            translator.payload(event, payload, out).unwrap();
        }
        translator
    };
    let mut out = String::with_capacity(4096);
    let (mut translator, mut runs) = (begin(&mut out), 0);
    let payloads = payloads(payload);
    let bytes = payloads.iter().map(String::len).sum();
    let run = move || {
        runs += 1;
        if runs % LENGTH == 0 {
            translator = begin(&mut out);
        }
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
    let kind = match protocol {
        Protocol::Messages => Kind::Anthropic,
        Protocol::GenerateContent => Kind::Gemini,
        Protocol::Chat | Protocol::Responses => Kind::OpenAi,
    };
    let mut native = NativeEvents::new(kind, protocol, "fast");
    let mut out = Vec::with_capacity(4096);
    let payloads = payloads(payload);
    let bytes = payloads.iter().map(String::len).sum();
    let run = move || {
        for payload in &payloads {
            out.clear();
            native
                .payload(black_box(payload.as_bytes()), &mut out)
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
