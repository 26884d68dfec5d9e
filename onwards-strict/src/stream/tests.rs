use proptest::{collection::vec, prelude::*, sample::select};

use super::*;
use crate::{Context, Endpoint};

fn cleaner(endpoint: Option<Endpoint>) -> Cleaner {
    let context = Context {
        model: "fast",
        unique: "u-1",
        created: 7,
        trusted: false,
    };
    match endpoint {
        Some(endpoint) => Cleaner::new(endpoint, &context),
        None => Cleaner::sanitizer(&context),
    }
}

/// Every chunk becomes what it becomes alone, behind what is in the buffer already.
fn check(endpoint: Option<Endpoint>, chunks: &[Vec<u8>]) {
    let (alone, mut stream) = (cleaner(endpoint), Stream::new(cleaner(endpoint)));
    for (sequence, chunk) in (0..).zip(chunks) {
        let (mut expect, mut out) = (b"data: ".to_vec(), b"data: ".to_vec());
        let expected = alone.clean_chunk(chunk, sequence, &mut expect);
        let cleaned = stream.clean(chunk, sequence, &mut out);
        let chunk = String::from_utf8_lossy(chunk);
        assert_eq!(format!("{cleaned:?}"), format!("{expected:?}"), "{chunk}");
        assert_eq!(
            String::from_utf8_lossy(&out),
            String::from_utf8_lossy(&expect),
            "{chunk}"
        );
    }
}

/// Chunks with a `%` where a string's inside goes.
const CHUNKS: &[&str] = &[
    r#"{"id":"%","object":"chat.completion.chunk","created":1,"model":"%","choices":[{"index":0,"delta":{"content":"%"},"finish_reason":null}]}"#,
    r#"{"provider":"%","id":"%","model":"%","choices":[{"index":0,"delta":{"role":"assistant","content":"%","reasoning":"%","x":"%"},"finish_reason":null,"native":"%","logprobs":null}],"usage":null,"system_fingerprint":"%","x_trace":{"n":"%"}}"#,
    r#"{"id":"a","choices":[{"delta":{"content":"%"},"finish_reason":"%"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3,"cost":"%"},"obfuscation":"%"}"#,
    r#"{"id":"a","choices":[{"delta":{"tool_calls":[{"index":0,"id":"%","type":"%","function":{"name":"%","arguments":"%"}}]},"logprobs":{"content":[{"token":"%","logprob":-0.5,"bytes":[1],"top_logprobs":[]}]}}]}"#,
    r#"{"id":"a","choices":[{"delta":{"content":"%","annotations":[{"type":"%","url_citation":{"url":"%","title":5}}],"audio":{"id":"%","data":"%","transcript":0}}}]}"#,
    r#"{"id":"a","choices":[{"text":"%","index":0,"finish_reason":"%"}],"moderation":{"input":{"type":"%","model":"%"},"output":{"type":"%"}}}"#,
    r#"{"id": "%",
        "choices": [{"delta": {"content": "%"}}], "system_fingerprint": "%"}"#,
    r#"{"id":"%","choices":[{"delta":{"content":"%"}}],"error":{"message":"%","code":"%"}}"#,
    r#"{"id":"%","choices":[],"error":"%"}"#,
    r#"{"id":"%","choices":[{"delta":{"content":"%"}},{"delta":{"content":"%","content":"%"}}]}"#,
    r#"{"type":"response.output_text.delta","item_id":"%","output_index":0,"content_index":0,"delta":"%","logprobs":[]}"#,
    r#"{"type":"%","response":{"id":"%","status":"%"}}"#,
    r#"{"%":"%"}"#,
    "[\"%\"]",
];

const STRINGS: &[&[u8]] = &[
    b"",
    b"a",
    b" a word",
    b"a longer piece of text that takes more than a block",
    b"\\n\\\"\\u00e9\\ud83d\\ude00",
    "é東京😀".as_bytes(),
    b"content",
    b"error",
    b"function",
    b"custom",
    b"response.completed",
    b"429",
    // No string ends here, or another begins.
    b"\",\"content\":\"",
    b"\",\"x\":\"",
    b"\"",
    b"\\",
    b"\\x",
    b"\\ud800",
    b"\n",
    b"\0",
    b"\xff",
    b"\xc3",
];

/// A chunk with strings put in.
fn filled(chunk: &str, strings: &[&[u8]]) -> Vec<u8> {
    let mut strings = strings.iter().cycle();
    let mut filled = Vec::new();
    for (place, piece) in chunk.split('%').enumerate() {
        if place > 0 {
            filled.extend_from_slice(strings.next().unwrap());
        }
        filled.extend_from_slice(piece.as_bytes());
    }
    filled
}

const ENDPOINTS: [Option<Endpoint>; 4] = [
    Some(Endpoint::Chat),
    Some(Endpoint::Completions),
    Some(Endpoint::Responses),
    None,
];

/// After a harmless chunk of each kind, the same with each other string in each place.
#[test]
fn a_chunk_becomes_what_it_becomes_alone() {
    for endpoint in ENDPOINTS {
        for chunk in CHUNKS {
            for place in 0..chunk.matches('%').count() {
                let mut stream = Vec::new();
                for other in STRINGS {
                    let mut strings: Vec<&[u8]> = vec![b"x"; chunk.matches('%').count()];
                    stream.push(filled(chunk, &strings));
                    strings[place] = other;
                    stream.push(filled(chunk, &strings));
                }
                check(endpoint, &stream);
            }
        }
    }
}

#[test]
fn chunks_that_are_alike_are_recalled_and_others_are_not() {
    let recalled = |first: &str, second: &str| {
        let mut stream = Stream::new(cleaner(Some(Endpoint::Chat)));
        let mut out = Vec::new();
        stream.clean(first.as_bytes(), 0, &mut out).unwrap();
        stream.last.recall(second.as_bytes(), &mut out).is_some()
    };
    let chunk = r#"{"id":"%","model":"m","x":"y","choices":[{"index":0,"delta":{"content":"%"}}]}"#;
    let with = |id: &str, content: &str| chunk.replacen('%', id, 1).replacen('%', content, 1);
    let first = with("i", " a");
    assert!(recalled(&first, &first));
    assert!(recalled(&first, &with("i", "\\n, and more of it: \u{e9}")));
    assert!(recalled(&first, &with("another", "")));
    assert!(!recalled(&first, &with("i", "\\z")));
    assert!(!recalled(&first, &first.replace(":0", ":1")));
    assert!(!recalled(&first, &first.replace("\"y\"", "\"z\"")));
    assert!(!recalled(&first, &format!("{first} ")));
    assert!(!recalled(&first, first.trim_end_matches('}')));
    // Strings in a member that was dropped after a look into it are no blanks.
    let (delta, soft) = (
        r#"{"content""#,
        r#"{"annotations":[{"type":"t","x":1,"url_citation":1}],"content""#,
    );
    let soft = |content| with("i", content).replace(delta, soft);
    assert!(recalled(&soft("a"), &soft("b")));
    assert!(!recalled(&soft("a"), &soft("a").replace("\"t\"", "\"u\"")));
    // Too long to be remembered.
    let long = with("i", &"a".repeat(MEMORY));
    assert!(!recalled(&long, &long));
    assert!(recalled(&first, &long));
}

proptest! {
    #[test]
    fn streams_become_what_their_chunks_become_alone(
        endpoint in select(&ENDPOINTS[..]),
        chunks in vec((select(&CHUNKS[..4]), vec(select(STRINGS), 1..8)), 1..12),
    ) {
        let chunks: Vec<_> = chunks.iter().map(|(chunk, strings)| filled(chunk, strings)).collect();
        check(endpoint, &chunks);
    }

    #[test]
    fn a_stream_of_one_kind_with_any_strings(
        endpoint in select(&ENDPOINTS[..]),
        chunk in select(CHUNKS),
        strings in vec(vec(select(STRINGS), 1..8), 1..12),
    ) {
        let chunks: Vec<_> = strings.iter().map(|strings| filled(chunk, strings)).collect();
        check(endpoint, &chunks);
    }
}
