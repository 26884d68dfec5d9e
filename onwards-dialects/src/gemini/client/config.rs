//! `generationConfig`.

use onwards_json::{Kind, Value};

use super::{CONFIG, both};
use crate::failure::Rejected;
use crate::fidelity::Change;
use crate::gemini::schema::json_schema;
use crate::read::{At, Fields};
use crate::request::{Format, JsonSchema, MaxTokens, Param, Reasoning, Request};
use crate::text::{Str, json};
use crate::write::array;

/// Members that are passed on as they are: their names, the word of Chat Completions, and what they have to be.
const PARAMS: &[([&str; 2], &str, Kind)] = &[
    (["temperature", "temperature"], "temperature", Kind::Number),
    (["topP", "top_p"], "top_p", Kind::Number),
    (["topK", "top_k"], "top_k", Kind::Number),
    (["seed", "seed"], "seed", Kind::Number),
    (
        ["presencePenalty", "presence_penalty"],
        "presence_penalty",
        Kind::Number,
    ),
    (
        ["frequencyPenalty", "frequency_penalty"],
        "frequency_penalty",
        Kind::Number,
    ),
    (
        ["responseLogprobs", "response_logprobs"],
        "logprobs",
        Kind::Bool,
    ),
    (["logprobs", "logprobs"], "top_logprobs", Kind::Number),
];

/// Reads `generationConfig`.
pub(super) fn read<'a>(
    config: &Value<'a>,
    at: At<'_>,
    request: &mut Request<'a>,
) -> Result<(), Rejected> {
    let mut fields = Fields::of(config, at)?;
    for (names, name, kind) in PARAMS {
        if let Some(value) = fields.either(names) {
            if value.kind() != *kind {
                let [camel, _] = names;
                return Err(At::Member(&at, camel).wrong(&value, &kind.to_string()));
            }
            let value = json(&value);
            request.params.push(Param { name, value });
        }
    }
    let limit = both(
        &mut fields,
        ["maxOutputTokens", "max_output_tokens"],
        Fields::u64,
    )?;
    request.max_tokens = limit.map(|tokens| MaxTokens {
        tokens,
        spelling: None,
    });
    let count = both(
        &mut fields,
        ["candidateCount", "candidate_count"],
        Fields::u64,
    )?;
    if let Some(count) = count.filter(|count| *count != 1) {
        let value = count.to_string().into();
        request.params.push(Param { name: "n", value });
    }
    stop(&mut fields, request)?;
    format(&mut fields, request)?;
    modalities(&mut fields, request)?;
    let thinking = both(
        &mut fields,
        ["thinkingConfig", "thinking_config"],
        Fields::object,
    )?;
    if let Some(thinking) = thinking {
        self::thinking(&thinking, At::Member(&at, "thinkingConfig"), request)?;
    }
    for (name, value) in fields.rest() {
        let name = Str::owned(format!("{CONFIG}{}", name.decoded()));
        request.unknown.push((name, value));
    }
    Ok(())
}

fn stop<'a>(fields: &mut Fields<'a, '_>, request: &mut Request<'a>) -> Result<(), Rejected> {
    let list = both(fields, ["stopSequences", "stop_sequences"], Fields::array)?;
    let at = At::Member(&fields.at, "stopSequences");
    for (index, one) in list.iter().flat_map(Value::elements).enumerate() {
        let text = Str::of(&one).ok_or_else(|| At::Element(&at, index).wrong(&one, "a string"))?;
        request.stop.push(text);
    }
    Ok(())
}

/// The shape of the text: a schema in either language, or just a type.
fn format<'a>(fields: &mut Fields<'a, '_>, request: &mut Request<'a>) -> Result<(), Rejected> {
    let mime = both(
        fields,
        ["responseMimeType", "response_mime_type"],
        Fields::str,
    )?;
    let subset = both(
        fields,
        ["responseSchema", "response_schema"],
        Fields::object,
    )?;
    let whole = both(
        fields,
        ["responseJsonSchema", "response_json_schema"],
        Fields::object,
    )?;
    let whole = whole.or(fields.object("_responseJsonSchema")?);
    let mime = mime.map(|mime| mime.decoded().into_owned());
    match mime.as_deref().unwrap_or("application/json") {
        "application/json" => {}
        "text/plain" | "" => return Ok(()),
        // One word out of several, not in quotes: no other protocol knows that.
        _ => {
            request.report.note("response_format", Change::Dropped);
            return Ok(());
        }
    }
    let schema = whole
        .as_ref()
        .map(json)
        .or_else(|| subset.as_ref().map(|schema| json_schema(schema).into()));
    request.format = match schema {
        Some(schema) => Some(Format::JsonSchema(JsonSchema {
            name: None,
            description: None,
            schema: Some(schema),
            strict: None,
        })),
        None if mime.is_some() => Some(Format::JsonObject),
        None => None,
    };
    Ok(())
}

/// What the answer may be made of; text is what it is made of anyway.
fn modalities<'a>(fields: &mut Fields<'a, '_>, request: &mut Request<'a>) -> Result<(), Rejected> {
    let list = both(
        fields,
        ["responseModalities", "response_modalities"],
        Fields::array,
    )?;
    let words: Vec<String> = list
        .iter()
        .flat_map(Value::elements)
        .filter_map(|word| word.as_str().map(|word| word.to_ascii_lowercase()))
        .collect();
    if words.iter().any(|word| word != "text") {
        let mut value = String::new();
        array(&mut value, |list| {
            words.iter().for_each(|word| list.str(&Str::plain(word)));
        });
        request.params.push(Param {
            name: "modalities",
            value: value.into(),
        });
    }
    Ok(())
}

fn thinking<'a>(config: &Value<'a>, at: At<'_>, request: &mut Request<'a>) -> Result<(), Rejected> {
    let mut fields = Fields::of(config, at)?;
    let level = both(
        &mut fields,
        ["thinkingLevel", "thinking_level"],
        Fields::str,
    )?
    .map(|level| level.decoded().to_ascii_lowercase())
    .filter(|level| level != "thinking_level_unspecified");
    let budget = fields.either(&["thinkingBudget", "thinking_budget"]);
    let shown = both(
        &mut fields,
        ["includeThoughts", "include_thoughts"],
        Fields::bool,
    )?;
    request.reasoning = match (level, budget) {
        (Some(level), _) => Some(Reasoning::Effort(Str::owned(level))),
        (None, Some(budget)) => Some(match budget.as_i64() {
            Some(0) => Reasoning::Effort(Str::plain("none")),
            Some(-1) => Reasoning::Dynamic,
            Some(tokens) if tokens > 0 => Reasoning::Budget(tokens.unsigned_abs()),
            _ => {
                let at = At::Member(&at, "thinkingBudget");
                return Err(at.wrong(&budget, "a whole number from -1"));
            }
        }),
        // Who wants to see thoughts wants there to be some.
        (None, None) => shown.filter(|shown| *shown).map(|_| Reasoning::Dynamic),
    };
    for (name, _) in fields.rest() {
        request.report.dropped(&name.decoded());
    }
    Ok(())
}
