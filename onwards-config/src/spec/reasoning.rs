//! `reasoning_translation`, described only: its reader builds the plain data of the gateway directly.

use std::collections::BTreeMap;

use schemars::JsonSchema;

/// How reasoning efforts are written for a provider. At least one surface.
#[derive(JsonSchema)]
#[schemars(rename = "reasoning_translation", extend("minProperties" = 1))]
#[expect(dead_code, reason = "describes the file")]
pub(crate) struct Translation {
    /// For Chat Completions (`reasoning_effort`).
    pub(crate) chat_completions: Option<Surface>,
    /// For Responses (`reasoning.effort`).
    pub(crate) responses: Option<Surface>,
}

/// The translation for one surface. Every effort is either mapped by all writes or unsupported.
#[derive(JsonSchema)]
#[schemars(rename = "reasoning_surface")]
#[expect(dead_code, reason = "describes the file")]
pub(crate) struct Surface {
    /// Efforts that are refused.
    pub(crate) unsupported_efforts: Vec<Effort>,
    /// What is written into the body.
    #[schemars(length(min = 1))]
    pub(crate) writes: Vec<Write>,
}

/// One value written into the body.
#[derive(JsonSchema)]
#[schemars(rename = "reasoning_write")]
#[expect(dead_code, reason = "describes the file")]
pub(crate) struct Write {
    /// JSON pointer of one to eight segments: `/reasoning_effort`, `/thinking_token_budget`, `/reasoning` or
    /// `/thinking` and below, `/chat_template_kwargs/thinking`, `/chat_template_kwargs/enable_thinking`.
    #[schemars(regex(pattern = "^(/[A-Za-z0-9_-]+){1,8}$"))]
    pub(crate) target_path: String,
    /// Effort to the value written for it: at most 8192 bytes of JSON, 8 levels deep.
    #[schemars(with = "BTreeMap<Effort, serde_json::Value>", extend("minProperties" = 1))]
    pub(crate) values: BTreeMap<String, serde_json::Value>,
}

/// A reasoning effort.
#[derive(JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
#[schemars(rename = "effort", rename_all = "lowercase")]
#[expect(dead_code, reason = "describes the file")]
pub(crate) enum Effort {
    None,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}
