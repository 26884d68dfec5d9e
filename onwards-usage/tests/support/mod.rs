//! The obvious way to find counts in a whole answer, and the comparison with it that tests and the fuzz target share.
//!
//! Everything here looks at whole inputs, one byte after the other, and reads objects with another parser.

use onwards_usage::{MOST, Tap, Usage};
use serde_json::Value;

const NAME: &[u8] = b"\"usage\"";

/// What a whole input counts.
pub(crate) fn oracle(input: &[u8]) -> Option<Usage> {
    let mut seen: Option<Usage> = None;
    let mut at = 0;
    while at < input.len() {
        let escaped = at > 0 && input[at - 1] == b'\\';
        if escaped || !input[at..].starts_with(NAME) {
            at += 1;
            continue;
        }
        at = skip_space(input, at + NAME.len());
        if input.get(at) != Some(&b':') {
            continue;
        }
        at = skip_space(input, at + 1);
        if input.get(at) != Some(&b'{') {
            continue;
        }
        let whole = &input[at..input.len().min(at + MOST)];
        let Some(len) = balanced(whole) else {
            at += whole.len();
            continue;
        };
        if let Some(counted) = counts(&whole[..len]) {
            seen = Some(match seen {
                None => counted,
                Some(earlier) => counted.after(earlier),
            });
        }
        at += len;
    }
    seen
}

fn skip_space(input: &[u8], mut at: usize) -> usize {
    while matches!(input.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// The length of the bracketed text that begins here.
fn balanced(text: &[u8]) -> Option<usize> {
    let (mut depth, mut string, mut escape) = (0_i64, false, false);
    for (at, &byte) in text.iter().enumerate() {
        if string {
            string = escape || byte != b'"';
            escape = !escape && byte == b'\\';
            continue;
        }
        match byte {
            b'"' => string = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

fn counts(object: &[u8]) -> Option<Usage> {
    let value: Value = serde_json::from_slice(object).ok()?;
    let one = |path: &str| value.pointer(path).and_then(Value::as_u64);
    let first = |paths: [&str; 2]| paths.into_iter().find_map(one);
    let cache = one("/cache_read_input_tokens");
    let beside = [cache, one("/cache_creation_input_tokens")]
        .into_iter()
        .flatten()
        .fold(0, u64::saturating_add);
    let usage = Usage {
        prompt: first(["/prompt_tokens", "/input_tokens"]).map(|n| n.saturating_add(beside)),
        completion: first(["/completion_tokens", "/output_tokens"]),
        cached: cache.or(first([
            "/prompt_tokens_details/cached_tokens",
            "/input_tokens_details/cached_tokens",
        ])),
        reasoning: first([
            "/completion_tokens_details/reasoning_tokens",
            "/output_tokens_details/reasoning_tokens",
        ]),
    };
    (usage != Usage::default()).then_some(usage)
}

/// Reads the pieces and gives what they counted.
pub(crate) fn tapped(pieces: &[&[u8]]) -> Option<Usage> {
    let mut tap = Tap::default();
    for piece in pieces {
        tap.read(piece);
    }
    tap.usage()
}

/// Splits `input` into pieces of these widths, as far as it goes, and what is left.
pub(crate) fn cut<'a>(mut input: &'a [u8], widths: &[usize]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    for width in widths {
        let (piece, rest) = input.split_at((*width).min(input.len()));
        pieces.push(piece);
        input = rest;
    }
    pieces.push(input);
    pieces
}

/// The body of the fuzz target: the first bytes say how to cut the rest. Any bytes count the same however they are cut; texts
/// whose objects name nothing twice count what the oracle says.
pub(crate) fn fuzz_tap(input: &[u8]) {
    let [count, rest @ ..] = input else { return };
    let (widths, answer) = rest.split_at(usize::from(*count).min(rest.len()));
    let widths: Vec<_> = widths.iter().map(|&width| usize::from(width)).collect();
    let whole = tapped(&[answer]);
    assert_eq!(tapped(&cut(answer, &widths)), whole);
    assert_eq!(tapped(&answer.chunks(1).collect::<Vec<_>>()), whole);
}
