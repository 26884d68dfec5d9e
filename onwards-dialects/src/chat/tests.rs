mod answer;
mod decoder;
mod encoder;
mod failure;
mod properties;
mod receive;
mod request;
mod send;

use std::collections::BTreeMap;

use crate::options::{
    BedrockApi, Context, Expose, ImageUrls, MaxTokensField, MidSystem, Options, ReasoningStyle,
    SchemaMode, StructuredOutput,
};

fn context() -> Context {
    Context {
        model: "fast".to_owned(),
        unique: "u1".to_owned(),
        request_id: "r-1".to_owned(),
        created: 1_700_000_000,
        strict: false,
        expose: Expose::Full,
        echo: String::new(),
        array: false,
        sequential: false,
        signed: false,
    }
}

fn options() -> Options {
    Options {
        default_max_tokens: None,
        max_tokens_field: MaxTokensField::Auto { new: true },
        structured_output: StructuredOutput::Native,
        schema_mode: SchemaMode::OpenApi,
        strict_tools: true,
        reasoning_style: ReasoningStyle::Effort,
        reasoning_budgets: BTreeMap::new(),
        expose_reasoning: Expose::Full,
        mid_system: MidSystem::Hoist,
        image_urls: ImageUrls::Forward,
        stream_options: true,
        reject_losses: false,
        bedrock_api: BedrockApi::Converse,
        betas: Vec::new(),
        api_version: String::new(),
        api_v1: true,
    }
}
