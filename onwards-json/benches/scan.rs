//! The texts a gateway sees, by shape: `cargo bench -p onwards-json`.
#![allow(missing_docs, clippy::unwrap_used, reason = "a bench")]

use divan::{Bencher, black_box, counter::BytesCount};
use onwards_json::{Edit, Scanner, apply, object, splices};

fn main() {
    divan::main();
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

fn request() -> String {
    let mut text = prompt("Say hello in three languages. ", 150);
    text.truncate(text.len() - 1);
    text + r#","max_tokens":256,"top_p":0.95,"n":1,"user":"u-1234","metadata":{"team":"search","trace":"0af7651916cd43dd8448eb211c80319c"},"tools":[{"type":"function","function":{"name":"lookup","parameters":{"type":"object","properties":{"q":{"type":"string"}}}}}],"seed":42}"#
}

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

fn bench_object(bencher: Bencher<'_, '_>, text: &str) {
    bencher
        .counter(BytesCount::of_str(text))
        .bench(|| object(black_box(text.as_bytes())).unwrap().members().len());
}

mod objects {
    use super::*;

    #[divan::bench(sample_size = 1000)]
    fn request_500_bytes(bencher: Bencher<'_, '_>) {
        bench_object(bencher, &request());
    }

    #[divan::bench]
    fn prompt_200k_lines(bencher: Bencher<'_, '_>) {
        bench_object(bencher, &english());
    }

    #[divan::bench]
    fn prompt_200k_unbroken(bencher: Bencher<'_, '_>) {
        bench_object(bencher, &unbroken());
    }

    #[divan::bench]
    fn prompt_200k_mixed_scripts(bencher: Bencher<'_, '_>) {
        bench_object(bencher, &mixed());
    }

    #[divan::bench]
    fn embeddings_64_by_1536(bencher: Bencher<'_, '_>) {
        bench_object(bencher, &embeddings());
    }
}

mod parts {
    use super::*;

    #[divan::bench]
    fn utf8_check_200k(bencher: Bencher<'_, '_>) {
        let text = english();
        bencher
            .counter(BytesCount::of_str(&text))
            .bench(|| std::str::from_utf8(black_box(text.as_bytes())).is_ok());
    }

    #[divan::bench]
    fn serde_json_ignored_200k(bencher: Bencher<'_, '_>) {
        let text = english();
        bencher.counter(BytesCount::of_str(&text)).bench(|| {
            serde_json::from_slice::<&serde_json::value::RawValue>(black_box(text.as_bytes()))
                .is_ok()
        });
    }

    #[divan::bench]
    fn serde_json_ignored_embeddings(bencher: Bencher<'_, '_>) {
        let text = embeddings();
        bencher.counter(BytesCount::of_str(&text)).bench(|| {
            serde_json::from_slice::<&serde_json::value::RawValue>(black_box(text.as_bytes()))
                .is_ok()
        });
    }

    /// A cleaner's way through a stream event: enter what it knows, skip the rest.
    #[divan::bench(sample_size = 1000)]
    fn walk_chunk(bencher: Bencher<'_, '_>) {
        let text = r#"{"id":"chatcmpl-9f3","object":"chat.completion.chunk","created":1718345013,"model":"vendor/fast-1","provider":"acme","system_fingerprint":"fp_44709d6fcb","choices":[{"index":0,"delta":{"role":"assistant","content":" hello there","reasoning":null},"logprobs":null,"finish_reason":null,"native_finish_reason":null}],"usage":{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15,"cost":0.00012},"x_vendor":{"a":[1,2,3]}}"#;
        bencher.counter(BytesCount::of_str(text)).bench(|| {
            let mut scanner = Scanner::new(black_box(text.as_bytes())).unwrap();
            let mut seen = 0usize;
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
        });
    }
}

mod edits {
    use super::*;

    #[divan::bench(sample_size = 1000)]
    fn set_model_in_request(bencher: Bencher<'_, '_>) {
        let text = request();
        let body = object(text.as_bytes()).unwrap();
        bencher.bench(|| {
            let edit = Edit::Set {
                path: &["model"],
                value: r#""vendor/fast-1""#,
            };
            splices(black_box(&body), &[edit]).unwrap()
        });
    }

    #[divan::bench]
    fn apply_to_200k(bencher: Bencher<'_, '_>) {
        let text = english();
        let body = object(text.as_bytes()).unwrap();
        let edit = Edit::Set {
            path: &["model"],
            value: r#""vendor/fast-1""#,
        };
        let splices = splices(&body, &[edit]).unwrap();
        bencher
            .counter(BytesCount::of_str(&text))
            .bench(|| apply(black_box(text.as_bytes()), &splices));
    }
}
