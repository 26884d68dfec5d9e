//! What the tests of pairs have in common.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use onwards_dialects::options::{
    BedrockApi, Expose, ImageUrls, MaxTokensField, MidSystem, Picture, Reading, ReasoningStyle,
    SchemaMode, StructuredOutput,
};
use onwards_dialects::{
    Context, Ended, Failure, Kind, Memory, Options, Protocol, Rejected, Request, Settings, Step,
    Translator, text,
};

pub(crate) const KINDS: [(&str, Kind); 5] = [
    ("openai", Kind::OpenAi),
    ("azure", Kind::Azure),
    ("anthropic", Kind::Anthropic),
    ("gemini", Kind::Gemini),
    ("bedrock", Kind::Bedrock),
];

pub(crate) const PROTOCOLS: [(&str, Protocol); 4] = [
    ("chat", Protocol::Chat),
    ("responses", Protocol::Responses),
    ("messages", Protocol::Messages),
    ("gemini", Protocol::GenerateContent),
];

pub(crate) fn kind(name: &str) -> Kind {
    KINDS.iter().find(|(known, _)| *known == name).unwrap().1
}

pub(crate) fn protocol(name: &str) -> Protocol {
    PROTOCOLS
        .iter()
        .find(|(known, _)| *known == name)
        .unwrap()
        .1
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/pairs")
}

/// All files of this ending below a folder: (folder and feature, name, text).
pub(crate) fn fixtures(what: &str, ending: &str) -> Vec<(String, String, String)> {
    let mut all = Vec::new();
    for feature in fs::read_dir(data().join(what)).unwrap() {
        let feature = feature.unwrap();
        for file in fs::read_dir(feature.path()).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|found| found == ending) {
                let folder = format!("{what}/{}", feature.file_name().to_str().unwrap());
                let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
                all.push((folder, name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    all.sort();
    assert!(!all.is_empty());
    all
}

pub(crate) fn golden(folder: &str, name: &str, text: &str) {
    let path = data().join(folder).join(format!("{name}.golden"));
    expect_file![path].assert_eq(text);
}

/// What an operator gets who says nothing.
pub(crate) fn options(kind: Kind) -> Options {
    let chat = matches!(kind, Kind::OpenAi | Kind::Azure);
    let claude = matches!(kind, Kind::Anthropic | Kind::Bedrock);
    Options {
        default_max_tokens: (kind == Kind::Anthropic).then_some(4096),
        max_tokens_field: MaxTokensField::Auto { new: true },
        structured_output: if claude {
            StructuredOutput::Tool
        } else {
            StructuredOutput::Native
        },
        schema_mode: SchemaMode::OpenApi,
        strict_tools: chat,
        reasoning_style: if chat {
            ReasoningStyle::Effort
        } else {
            ReasoningStyle::Budget
        },
        reasoning_budgets: BTreeMap::new(),
        expose_reasoning: Expose::Full,
        mid_system: MidSystem::Hoist,
        image_urls: if chat {
            ImageUrls::Forward
        } else {
            ImageUrls::Fetch
        },
        stream_options: true,
        reject_losses: false,
        bedrock_api: BedrockApi::Converse,
        betas: Vec::new(),
        api_version: String::new(),
        api_v1: true,
    }
}

/// What a request became.
pub(crate) enum Written {
    /// The body, and lines of what was not kept and of what the reader of the answer has to know.
    Sent(String, String, String),
    Refused(Rejected),
}

pub(crate) fn write(kind: Kind, request: &Request<'_>) -> Written {
    let picture = Picture {
        mime: "image/png".into(),
        base64: "ZmV0Y2hlZA==".to_owned(),
    };
    let pictures = BTreeMap::from([("https://example.org/cat.png".to_owned(), picture)]);
    let options = options(kind);
    let settings = Settings {
        model: if kind == Kind::Bedrock {
            "anthropic.claude-x-v1:0"
        } else {
            "vendor-model"
        },
        options: &options,
        pictures: &pictures,
        recall: &|_| None,
    };
    let written = match kind.write_request(request, &settings) {
        Ok(written) => written,
        Err(rejected) => return Written::Refused(rejected),
    };
    assert!(text::value(&written.body).is_some(), "{}", written.body);
    let report = written.report.whole(2000);
    let report = match report.as_str() {
        "" => "all is kept\n".to_owned(),
        report => format!("{}\n", report.replace(',', "\n")),
    };
    let memory = match written.memory == Memory::default() {
        true => String::new(),
        false => format!("{:?}\n", written.memory),
    };
    Written::Sent(written.body, report, memory)
}

pub(crate) fn context(expose: Expose) -> Context {
    Context {
        model: "fast".to_owned(),
        unique: "u1".to_owned(),
        request_id: "r-1".to_owned(),
        created: 1_700_000_000,
        strict: false,
        expose,
        echo: String::new(),
        array: false,
        sequential: false,
        signed: false,
    }
}

/// Structured output was asked for by the tool `verdict`.
pub(crate) fn reading(folder: &str) -> Reading {
    Reading {
        memory: Memory {
            tool_names: Vec::new(),
            structured: folder
                .ends_with("/structured")
                .then(|| "verdict".to_owned()),
        },
        unique: "u1".to_owned(),
    }
}

/// The events of a stream: (`event`, `data`).
pub(crate) fn events(stream: &str) -> Vec<(String, String)> {
    let frames = stream.split("\n\n").map(|frame| {
        let mut event = String::new();
        let mut data = String::new();
        for line in frame.lines() {
            if let Some(name) = line.strip_prefix("event: ") {
                event = name.to_owned();
            } else if let Some(text) = line.strip_prefix("data: ") {
                data = text.to_owned();
            }
        }
        (event, data)
    });
    frames.filter(|(_, data)| !data.is_empty()).collect()
}

/// What the client gets of a stream.
pub(crate) fn translated(
    kind: Kind,
    protocol: Protocol,
    folder: &str,
    events: &[(String, String)],
) -> String {
    let mut context = context(Expose::Full);
    context.sequential = !matches!(kind, Kind::OpenAi | Kind::Azure);
    context.signed = matches!(kind, Kind::Anthropic | Kind::Bedrock);
    let decoder = kind.decoder(reading(folder), &options(kind));
    let mut translator = Translator::new(decoder, protocol.encoder(context));
    let mut out = String::new();
    for (event, payload) in events {
        match translator.payload(event, payload, &mut out).unwrap() {
            Step::Open | Step::Complete => {}
            Step::Failed(failure) => {
                translator.fail(&failure, &mut out);
                return out;
            }
        }
    }
    if translator.end(&mut out) == Ended::Aborted {
        let message = "the provider's stream ended unexpectedly";
        let failure = Failure::of(502, Some("provider_stream_aborted"), message);
        translator.fail(&failure, &mut out);
    }
    out
}

/// JSON for the eye: short values in one line, numbers, strings and the order of members as they are.
pub(crate) fn pretty(json: &str) -> String {
    let mut out = String::new();
    lay(text::value(json).unwrap(), 0, &mut out);
    out.push('\n');
    out
}

fn lay(value: onwards_json::Value<'_>, indent: usize, out: &mut String) {
    use onwards_json::Kind;
    let flat = text::compact(value.text());
    let nested = matches!(value.kind(), Kind::Object | Kind::Array);
    if !nested || flat.len() + indent <= 110 {
        out.push_str(&flat);
        return;
    }
    let inner = " ".repeat(indent + 2);
    let (open, close) = if value.kind() == Kind::Object {
        ('{', '}')
    } else {
        ('[', ']')
    };
    out.push(open);
    let mut first = true;
    let mut item = |out: &mut String| {
        out.push_str(if std::mem::take(&mut first) {
            "\n"
        } else {
            ",\n"
        });
        out.push_str(&inner);
    };
    for member in value.members() {
        item(out);
        out.push_str(&onwards_json::quote(&member.name()));
        out.push_str(": ");
        lay(member.value(), indent + 2, out);
    }
    for element in value.elements() {
        item(out);
        lay(element, indent + 2, out);
    }
    out.push('\n');
    out.push_str(&" ".repeat(indent));
    out.push(close);
}
