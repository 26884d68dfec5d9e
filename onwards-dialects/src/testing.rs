//! What tests of several dialects share: captures of servers, taken apart, events, written down, and settings.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::options::{
    BedrockApi, Expose, ImageUrls, Kept, MaxTokensField, MidSystem, Options, Picture,
    ReasoningStyle, SchemaMode, Settings, StructuredOutput,
};

/// The events of a server-sent stream: (`event`, `data`).
pub(crate) fn events(stream: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let (mut event, mut data) = (String::new(), Vec::new());
    for line in stream.lines().chain([""]) {
        if let Some(name) = line.strip_prefix("event: ") {
            event = name.to_owned();
        } else if let Some(text) = line.strip_prefix("data: ") {
            data.push(text);
        } else if line.is_empty() && !data.is_empty() {
            all.push((std::mem::take(&mut event), data.join("\n")));
            data.clear();
        }
    }
    all
}

/// JSON in lines, for the eye.
pub(crate) fn pretty(json: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(json).unwrap();
    serde_json::to_string_pretty(&value).unwrap()
}

/// A value of each line, as `Debug` says it.
pub(crate) fn lines<T: std::fmt::Debug>(values: &[T]) -> String {
    values.iter().fold(String::new(), |mut out, value| {
        writeln!(out, "{value:?}").unwrap();
        out
    })
}

/// The settings of a provider that has none of its own.
pub(crate) fn options() -> Options {
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

/// Pictures that were not fetched.
pub(crate) static NO_PICTURES: BTreeMap<String, Picture> = BTreeMap::new();

/// A memory of nothing.
pub(crate) fn nothing(_: &str) -> Option<Kept> {
    None
}

/// What a writer is told of a provider with these options.
pub(crate) fn settings(options: &Options) -> Settings<'_> {
    Settings {
        model: "the-model",
        options,
        pictures: &NO_PICTURES,
        recall: &nothing,
    }
}
