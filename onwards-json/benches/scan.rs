//! The texts a gateway sees, by shape: `cargo bench -p onwards-json`.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench"
)]

#[path = "../../benches/shapes.rs"]
mod shapes;

use divan::black_box;
use onwards_json::{Edit, Scanner, apply, object, splices};
use serde_json::value::RawValue;
use shapes::{Shape, Work};

fn main() {
    shapes::main();
}

const SHAPES: &[Shape] = &[
    text("request_500_bytes", || work(request(), members)),
    text("prompt_200k_lines", || work(english(), members)),
    text("prompt_200k_code", || work(code(), members)),
    text("prompt_200k_unbroken", || work(unbroken(), members)),
    text("prompt_200k_mixed_scripts", || work(mixed(), members)),
    text("embeddings_64_by_1536", || work(embeddings(), members)),
    Shape {
        name: "walk_chunk",
        unit: "event",
        prepare: || work(CHUNK.to_owned(), walk),
    },
    text("set_model_in_request", || work(request(), set_model)),
    text("set_model_in_200k", || work(english(), set_model)),
    // For comparison: the cost of the UTF-8 check in all of these, and another validator.
    text("std_utf8_200k", || work(english(), utf8)),
    text("serde_json_200k", || work(english(), ignored)),
    text("serde_json_embeddings", || work(embeddings(), ignored)),
];

const fn text(name: &'static str, prepare: fn() -> Work) -> Shape {
    let unit = "text";
    Shape {
        name,
        unit,
        prepare,
    }
}

fn work(text: String, pass: fn(&str) -> usize) -> Work {
    let bytes = text.len();
    let run = move || pass(black_box(&text));
    Work {
        units: 1,
        bytes,
        run: Box::new(run),
    }
}

/// A chat request whose one message is prose with a line break every 80 characters.
fn prompt(prose: &str, len: usize) -> String {
    let lines = prose.chars().cycle().take(len).collect::<Vec<_>>();
    let lines: Vec<String> = lines.chunks(80).map(|line| line.iter().collect()).collect();
    let content = lines.join(r"\n");
    format!(
        r#"{{"model":"fast","temperature":0.7,"messages":[{{"role":"user","content":"{content}"}}],"stream":true}}"#
    )
}

/// Source text in a prompt: an escape every few bytes.
fn code() -> String {
    let part = r#"fn f(x: \u0026str) -> u32 {\n\tlet y = x.parse::<u32>().expect(\"no number\");\n\tif y > 1 { return y; }\n}\n\nC:\\temp\\a "#;
    let content = part.repeat(200_000 / part.len());
    format!(r#"{{"model":"fast","messages":[{{"role":"user","content":"{content}"}}]}}"#)
}

fn english() -> String {
    prompt(
        "The quick brown fox jumps over the lazy dog, and then it rests a while. ",
        200_000,
    )
}

fn mixed() -> String {
    prompt(
        "Straßenbahn über die Brücke nach Köln – schön; 東京の朝は早い。",
        150_000,
    )
}

fn unbroken() -> String {
    english().replace(r"\n", " ")
}

/// A chat request of some 500 bytes.
fn request() -> String {
    let mut text = prompt("Say hello in three languages. ", 150);
    text.truncate(text.len() - 1);
    text + r#","max_tokens":256,"top_p":0.95,"n":1,"user":"u-1234","metadata":{"team":"search","trace":"0af7651916cd43dd8448eb211c80319c"},"tools":[{"type":"function","function":{"name":"lookup","parameters":{"type":"object","properties":{"q":{"type":"string"}}}}}],"seed":42}"#
}

/// An answer of 64 vectors of 1536 numbers.
fn embeddings() -> String {
    let mut seed = 7u64;
    let mut float = || {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        format!(
            "{:.9}",
            (seed >> 11) as f64 / (1u64 << 53) as f64 * 0.2 - 0.1
        )
    };
    let item = |index: usize, float: &mut dyn FnMut() -> String| {
        let floats: Vec<_> = (0..1536).map(|_| float()).collect();
        format!(
            r#"{{"object":"embedding","index":{index},"embedding":[{}]}}"#,
            floats.join(",")
        )
    };
    let data: Vec<_> = (0..64).map(|index| item(index, &mut float)).collect();
    format!(
        r#"{{"object":"list","data":[{}],"model":"e","usage":{{"prompt_tokens":8}}}}"#,
        data.join(",")
    )
}

/// A chat chunk with a vendor's members.
const CHUNK: &str = r#"{"id":"chatcmpl-9f3","object":"chat.completion.chunk","created":1718345013,"model":"vendor/fast-1","provider":"acme","system_fingerprint":"fp_44709d6fcb","choices":[{"index":0,"delta":{"role":"assistant","content":" hello there","reasoning":null},"logprobs":null,"finish_reason":null,"native_finish_reason":null}],"usage":{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15,"cost":0.00012},"x_vendor":{"a":[1,2,3]}}"#;

fn members(text: &str) -> usize {
    object(text.as_bytes()).unwrap().members().len()
}

/// A cleaner's way through a stream event: enter what it knows, skip the rest.
fn walk(text: &str) -> usize {
    let mut scanner = Scanner::new(text.as_bytes()).unwrap();
    let mut seen = 0;
    scanner.enter_object().unwrap();
    while let Some(key) = scanner.next_key().unwrap() {
        if key.is("choices") {
            scanner.enter_array().unwrap();
            while scanner.next_element().unwrap() {
                scanner.enter_object().unwrap();
                while let Some(member) = scanner.next_member().unwrap() {
                    seen += member.value_span().len();
                }
            }
        } else {
            seen += scanner.skip().unwrap().text().len();
        }
    }
    scanner.finish().unwrap();
    seen
}

/// What a request's body goes through: scanned, one member set, written anew.
fn set_model(text: &str) -> usize {
    let edit = Edit::Set {
        path: &["model"],
        value: r#""vendor/fast-1""#,
    };
    let splices = splices(&object(text.as_bytes()).unwrap(), &[edit]).unwrap();
    apply(text.as_bytes(), &splices).len()
}

fn utf8(text: &str) -> usize {
    std::str::from_utf8(text.as_bytes()).unwrap().len()
}

fn ignored(text: &str) -> usize {
    let raw: &RawValue = serde_json::from_slice(text.as_bytes()).unwrap();
    raw.get().len()
}
