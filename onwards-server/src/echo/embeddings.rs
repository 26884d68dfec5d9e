//! Embeddings, after the schema `CreateEmbeddingResponse`.

use http::StatusCode;
use serde_json::{Value, json};

use super::{Ask, Echo, tokens};

/// Dimensions where none are asked for, few enough to read; and the most that are given.
const DIMENSIONS: u64 = 8;
const MOST_DIMENSIONS: u64 = 4096;

pub(super) fn answer(ask: &Ask<'_>) -> Echo {
    let dimensions = match ask.get("dimensions") {
        Value::Null => DIMENSIONS,
        asked => match asked.as_u64() {
            Some(count @ 1..=MOST_DIMENSIONS) => count,
            _ => {
                return Echo::error(
                    StatusCode::BAD_REQUEST,
                    "dimensions must be an integer from 1 to 4096",
                    "invalid_value",
                );
            }
        },
    };
    let base64 = ask.get("encoding_format").as_str() == Some("base64");
    let inputs = texts(ask.get("input"));
    let used: usize = inputs.iter().map(|text| tokens(text)).sum();
    let data: Vec<Value> = inputs
        .iter()
        .enumerate()
        .map(|(index, text)| {
            let vector = vector(text, dimensions);
            let embedding = if base64 {
                json!(encode(
                    &vector
                        .iter()
                        .flat_map(|x| x.to_le_bytes())
                        .collect::<Vec<_>>()
                ))
            } else {
                json!(vector)
            };
            json!({"object": "embedding", "index": index, "embedding": embedding})
        })
        .collect();
    Echo::json(json!({
        "object": "list",
        "data": data,
        "model": ask.model(),
        "usage": {"prompt_tokens": used, "total_tokens": used},
    }))
}

/// One text per input; a list of token numbers is one input.
fn texts(input: &Value) -> Vec<String> {
    match input {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) if !items.is_empty() && !items.iter().all(Value::is_number) => items
            .iter()
            .map(|item| {
                item.as_str()
                    .map_or_else(|| item.to_string(), str::to_owned)
            })
            .collect(),
        other => vec![other.to_string()],
    }
}

/// A unit vector that depends on every byte of the text.
fn vector(text: &str, dimensions: u64) -> Vec<f32> {
    // FNV-1a, then an xorshift sequence from there; any spread of values will do.
    let mut state = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    }) | 1;
    let raw: Vec<f32> = (0..dimensions)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let [high, low, ..] = state.to_be_bytes();
            f32::from(u16::from_be_bytes([high, low])) / 32_767.5 - 1.0
        })
        .collect();
    let length = raw
        .iter()
        .map(|x| x * x)
        .sum::<f32>()
        .sqrt()
        .max(f32::MIN_POSITIVE);
    raw.iter().map(|x| x / length).collect()
}

/// Base64 with padding (RFC 4648, section 4).
pub(super) fn encode(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let at = |index: usize| group.get(index).copied().map_or(0, u32::from);
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for digit in 0..4_usize {
            let six = bits >> (18 - 6 * digit) & 63;
            let symbol = usize::try_from(six)
                .ok()
                .and_then(|six| ALPHABET.get(six))
                .copied()
                .unwrap_or(b'=');
            text.push(if digit <= group.len() {
                char::from(symbol)
            } else {
                '='
            });
        }
    }
    text
}
