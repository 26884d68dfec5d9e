//! The tables against OpenAI's own description: texts made from its shapes pass and lose nothing.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

mod shapes;

use std::sync::LazyLock;

use onwards_json::{Kind, Scanner, Value};
use onwards_strict::{Cleaned, Cleaner, Context, Endpoint, check};
use proptest::prelude::*;
use shapes::Author;

static DESCRIPTION: LazyLock<serde_json::Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("data/openapi.json")).expect("the description is JSON")
});

/// Endpoint, component, whether it is a chunk.
const ANSWERS: [(Endpoint, &str, bool); 7] = [
    (Endpoint::Chat, "CreateChatCompletionResponse", false),
    (Endpoint::Chat, "CreateChatCompletionStreamResponse", true),
    (Endpoint::Completions, "CreateCompletionResponse", false),
    (Endpoint::Embeddings, "CreateEmbeddingResponse", false),
    (Endpoint::Responses, "Response", false),
    (Endpoint::Responses, "ResponseStreamEvent", true),
    (Endpoint::Models, "ListModelsResponse", false),
];

const REQUESTS: [(Endpoint, &str); 4] = [
    (Endpoint::Chat, "CreateChatCompletionRequest"),
    (Endpoint::Completions, "CreateCompletionRequest"),
    (Endpoint::Embeddings, "CreateEmbeddingRequest"),
    (Endpoint::Responses, "CreateResponse"),
];

fn clean(endpoint: Endpoint, chunk: bool, text: &str) -> String {
    let context = Context {
        model: "the caller's",
        unique: "u",
        created: 0,
        trusted: true,
    };
    let cleaner = Cleaner::new(endpoint, &context);
    let mut out = Vec::new();
    let cleaned = match chunk {
        true => cleaner.clean_chunk(text.as_bytes(), 0, &mut out),
        false => cleaner.clean(text.as_bytes(), &mut out),
    };
    match cleaned {
        Ok(Cleaned::Answer(_)) => String::from_utf8(out).expect("UTF-8"),
        other => panic!("{other:?} for {text}"),
    }
}

fn value(text: &str) -> Value<'_> {
    Scanner::of(text).skip().expect("JSON")
}

/// That all of `given` is in `kept`, to the letter. Nulls may go; the model name is another.
fn covered(given: Value<'_>, kept: Value<'_>, path: &str) {
    if matches!(path, ".model" | ".response.model") {
        return;
    }
    assert_eq!(given.kind(), kept.kind(), "{path} was {}", given.text());
    match given.kind() {
        Kind::Object => {
            for member in given.members() {
                let path = format!("{path}.{}", member.name());
                let kept = kept.members().find(|kept| kept.name() == member.name());
                match kept {
                    Some(kept) => covered(member.value(), kept.value(), &path),
                    None => assert!(member.value().is_null(), "{path} is lost"),
                }
            }
        }
        Kind::Array => {
            assert_eq!(given.elements().count(), kept.elements().count(), "{path}");
            for (given, kept) in given.elements().zip(kept.elements()) {
                covered(given, kept, &format!("{path}[]"));
            }
        }
        _ => assert_eq!(given.text(), kept.text(), "{path}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn valid_answers_lose_nothing(seed: u64) {
        for (endpoint, component, chunk) in ANSWERS {
            let text = Author::new(&DESCRIPTION, seed).write(component);
            let once = clean(endpoint, chunk, &text);
            covered(value(&text), value(&once), "");
            prop_assert_eq!(&clean(endpoint, chunk, &once), &once, "cleaning twice changes nothing");
        }
    }

    #[test]
    fn members_outside_the_contract_leave_no_trace(seed: u64) {
        for (endpoint, component, chunk) in ANSWERS {
            let text = Author::new(&DESCRIPTION, seed).write(component);
            let noisy = Author::noisy(&DESCRIPTION, seed).write(component);
            prop_assert_eq!(clean(endpoint, chunk, &noisy), clean(endpoint, chunk, &text), "{}", noisy);
        }
    }

    #[test]
    fn valid_requests_pass(seed: u64) {
        for (endpoint, component) in REQUESTS {
            let text = Author::new(&DESCRIPTION, seed).write(component);
            // The description leaves both out where a stored prompt or a header may bring them.
            let needs = |name: &str| value(&text).members().all(|member| member.name() != name);
            let model = if needs("model") { r#""model":"m","# } else { "" };
            let input = if endpoint == Endpoint::Responses && needs("input") { r#""input":"i","# } else { "" };
            let text = format!("{{{model}{input}{}", text.trim_start_matches('{'));
            let checked = check(endpoint, text.as_bytes());
            prop_assert!(checked.is_ok(), "{} for {}", checked.unwrap_err(), text);
        }
    }
}
