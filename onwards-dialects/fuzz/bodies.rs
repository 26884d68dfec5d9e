// The bodies of the fuzz targets, as plain functions: `tests/fuzz.rs` replays the corpus through them.

use std::collections::BTreeMap;

use onwards_dialects::options::{
    BedrockApi, Expose, ImageUrls, MaxTokensField, MidSystem, Reading, ReasoningStyle, SchemaMode,
    StructuredOutput,
};
use onwards_dialects::{
    ArraySplitter, Context, Ended, Failure, Kind, Memory, NativeEvents, Options, Protocol, Request,
    Settings, Shown, Step, Translator, echo, named, prompt_tokens, read_exception, to_fetch,
};

const KINDS: [Kind; 5] = [
    Kind::OpenAi,
    Kind::Azure,
    Kind::Anthropic,
    Kind::Gemini,
    Kind::Bedrock,
];

const PROTOCOLS: [Protocol; 4] = [
    Protocol::Chat,
    Protocol::Responses,
    Protocol::Messages,
    Protocol::GenerateContent,
];

/// Reading any bytes as a request of every protocol and writing it for every kind: no panic, what is written is JSON, and a
/// client's reader of the same dialect takes it.
pub(crate) fn requests(data: &[u8]) {
    let _echo = echo(data);
    for protocol in PROTOCOLS {
        if let Some(renamed) = named(Kind::Azure, protocol, data, "fast \"one\"") {
            object(str::from_utf8(&renamed).expect("UTF-8"));
        }
        for native in [true, false] {
            match protocol.read_request(data) {
                Ok(request) => {
                    for kind in KINDS {
                        written(&request, kind, native);
                    }
                }
                Err(rejected) => assert!(!rejected.message.is_empty()),
            }
        }
        if let Ok(request) = protocol.read_count(data) {
            for kind in KINDS.into_iter().filter(|kind| kind.counts()) {
                let (options, pictures) = (options(true), BTreeMap::new());
                if let Ok(written) = kind.write_count(&request, &settings(&options, &pictures)) {
                    object(&written.body);
                }
            }
        }
    }
}

fn written(request: &Request<'_>, kind: Kind, native: bool) {
    let (options, pictures) = (options(native), BTreeMap::new());
    let _tokens = prompt_tokens(request);
    let _pictures = to_fetch(request, kind, &options);
    let settings = settings(&options, &pictures);
    let Ok(written) = kind.write_request(request, &settings) else {
        return;
    };
    object(&written.body);
    let same = match kind {
        Kind::OpenAi | Kind::Azure => Protocol::Chat,
        Kind::Anthropic => Protocol::Messages,
        Kind::Gemini => Protocol::GenerateContent,
        Kind::Bedrock => return,
    };
    let read = same.read_request(written.body.as_bytes());
    assert!(read.is_ok(), "{same:?}: {read:?} of {}", written.body);
}

/// Each line is a payload of a stream, behind a tab its event's name before it: no panic in any pair, and what the client gets are
/// whole frames; the first is a whole answer and an error, too.
pub(crate) fn streams(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let events = || {
        text.lines()
            .map(|line| line.split_once('\t').unwrap_or(("", line)))
    };
    // Azure's are those of OpenAI.
    for kind in KINDS.into_iter().filter(|kind| *kind != Kind::Azure) {
        for protocol in PROTOCOLS {
            let expose = [Expose::Full, Expose::None][data.len() % 2];
            frames(&translated(kind, protocol, expose, events()));
        }
        for (_, payload) in events().take(1) {
            answer(kind, payload);
        }
    }
    for protocol in PROTOCOLS {
        for kind in [Kind::OpenAi, Kind::Azure] {
            let mut native = NativeEvents::new(kind, protocol, "fast \"one\"");
            for (_, payload) in events() {
                let mut out = Vec::new();
                let passed = native.payload(payload.as_bytes(), &mut out);
                if matches!(passed, Ok((_, Shown::Changed))) {
                    object(&String::from_utf8_lossy(&out));
                }
            }
            let mut out = Vec::new();
            if native.counts(&mut out) {
                object(&String::from_utf8_lossy(&out));
            }
        }
    }
    elements(data);
}

/// An array is taken apart into its elements; what only looks like one is for their reader.
fn elements(data: &[u8]) {
    let mut splitter = ArraySplitter::new(1 << 20);
    let mut given = Vec::new();
    let split = splitter.push(data, &mut |element| given.push(element.to_owned()));
    let array = str::from_utf8(data)
        .ok()
        .and_then(onwards_dialects::text::value);
    if let Some(array) = array.filter(|array| array.kind() == onwards_json::Kind::Array) {
        let expected: Vec<_> = array.elements().map(|element| element.text()).collect();
        assert_eq!(split, Ok(()));
        assert_eq!(given, expected);
        assert!(splitter.is_complete());
    }
}

fn translated<'a>(
    kind: Kind,
    protocol: Protocol,
    expose: Expose,
    events: impl Iterator<Item = (&'a str, &'a str)>,
) -> String {
    let decoder = kind.decoder(reading(), &options(true));
    let mut translator = Translator::new(decoder, protocol.encoder(context(expose)));
    let mut out = String::new();
    let mut failure = Failure::of(502, None, "the stream \"broke\"\noff");
    for (event, payload) in events {
        let step = translator.payload(event, payload, &mut out);
        translator.take_kept();
        match step {
            Ok(Step::Open) => {}
            Ok(Step::Complete) => break,
            Ok(Step::Failed(told)) => {
                failure = told;
                translator.fail(&failure, &mut out);
                return out;
            }
            Err(_) => {
                translator.fail(&failure, &mut out);
                return out;
            }
        }
    }
    translator.keep_alive(&mut out);
    if translator.end(&mut out) == Ended::Aborted {
        translator.fail(&failure, &mut out);
    }
    let whole = out.len();
    translator.fail(&failure, &mut out);
    assert_eq!(out.len(), whole, "nothing comes behind the end");
    out
}

fn answer(kind: Kind, payload: &str) {
    let mut out = String::new();
    if let Ok(answer) = kind.read_answer(payload, &reading()) {
        let _kept = answer.kept();
        answer.replay(&mut |_| {});
        for protocol in PROTOCOLS {
            out.clear();
            protocol.write_answer(&answer, &context(Expose::Full), &mut out);
            object(&out);
        }
    }
    let failures = [
        Some(kind.read_failure(400, &|_| None, payload.as_bytes())),
        kind.embedded_error(payload),
        Some(read_exception("throttlingException", payload)),
    ];
    for failure in failures.into_iter().flatten() {
        for protocol in PROTOCOLS {
            out.clear();
            protocol.write_failure(&failure, "r-1", &mut out);
            object(&out);
            out.clear();
            protocol.write_stream_failure(&failure, "r-1", &mut out);
            frames(&out);
        }
    }
}

#[track_caller]
fn object(text: &str) {
    assert!(onwards_json::object(text.as_bytes()).is_ok(), "{text}");
}

/// Comments, or a name at most and one line of data.
#[track_caller]
fn frames(text: &str) {
    assert!(text.is_empty() || text.ends_with("\n\n"), "{text}");
    for frame in text.split_terminator("\n\n") {
        let mut lines = frame.split('\n');
        let mut line = lines.next().unwrap_or_default();
        if line.starts_with(':') {
            assert_eq!(lines.next(), None, "{frame}");
            continue;
        }
        if line.starts_with("event: ") {
            line = lines.next().unwrap_or_default();
        }
        let data = line.strip_prefix("data: ").expect("data in a frame");
        if data != "[DONE]" {
            object(data);
        }
        assert_eq!(lines.next(), None, "{frame}");
    }
}

fn settings<'a>(
    options: &'a Options,
    pictures: &'a BTreeMap<String, onwards_dialects::options::Picture>,
) -> Settings<'a> {
    Settings {
        model: "vendor \"one\"",
        options,
        pictures,
        recall: &|_| None,
    }
}

fn reading() -> Reading {
    Reading {
        memory: Memory {
            tool_names: Vec::new(),
            structured: Some("verdict".to_owned()),
        },
        unique: "u1".to_owned(),
    }
}

fn context(expose: Expose) -> Context {
    let bare = expose == Expose::None;
    Context {
        model: "fast \"one\"".to_owned(),
        unique: "u1".to_owned(),
        request_id: "r-1".to_owned(),
        created: 7,
        strict: bare,
        expose,
        echo: String::new(),
        array: false,
        sequential: bare,
        signed: bare,
    }
}

/// What an operator may say: all that is native, or all that is not.
fn options(native: bool) -> Options {
    Options {
        default_max_tokens: Some(4096),
        max_tokens_field: MaxTokensField::Auto { new: native },
        structured_output: if native {
            StructuredOutput::Native
        } else {
            StructuredOutput::Tool
        },
        schema_mode: if native {
            SchemaMode::JsonSchema
        } else {
            SchemaMode::OpenApi
        },
        strict_tools: native,
        reasoning_style: if native {
            ReasoningStyle::Level
        } else {
            ReasoningStyle::Budget
        },
        reasoning_budgets: BTreeMap::new(),
        expose_reasoning: Expose::Full,
        mid_system: if native {
            MidSystem::UserNote
        } else {
            MidSystem::Hoist
        },
        image_urls: if native {
            ImageUrls::Forward
        } else {
            ImageUrls::Fetch
        },
        stream_options: native,
        reject_losses: false,
        bedrock_api: if native {
            BedrockApi::InvokeAnthropic
        } else {
            BedrockApi::Converse
        },
        betas: Vec::new(),
        api_version: String::new(),
        api_v1: native,
    }
}
