//! Which members of a connection mean something to which kind of provider.

use crate::gateway::ProviderKind::{self, Anthropic, AzureOpenAi, Bedrock, Gemini, OpenAi};
use crate::gateway::{ReasoningStyle, StructuredOutput};
use crate::problem::quote;

const ALL: &[ProviderKind] = &ProviderKind::ALL;
const CHAT: &[ProviderKind] = &[OpenAi, AzureOpenAi];
const OTHERS: &[ProviderKind] = &[Anthropic, Gemini, Bedrock];

/// Members that say something of a dialect, and the kinds that know them. What is not here says something of any provider.
const MEMBERS: &[(&str, &[ProviderKind])] = &[
    ("stream_path", &[Gemini, Bedrock]),
    ("aws", &[Bedrock]),
    ("extra_body", ALL),
    ("passthrough", ALL),
    ("on_unsupported", ALL),
    ("image_urls", ALL),
    ("default_max_tokens", ALL),
    ("max_tokens_field", CHAT),
    ("structured_output", ALL),
    ("schema_mode", &[Gemini]),
    ("strict_tools", ALL),
    ("reasoning_style", ALL),
    ("reasoning_budgets", OTHERS),
    ("expose_reasoning", ALL),
    ("betas", &[Anthropic, Bedrock]),
    ("api_version", &[AzureOpenAi]),
    ("api_style", &[AzureOpenAi]),
    ("api", &[Bedrock]),
    ("mid_system", OTHERS),
    ("stream_options", CHAT),
];

/// The kinds that know a member; `None` if it needs no kind.
pub(crate) fn knowing(member: &str) -> Option<&'static [ProviderKind]> {
    let row = MEMBERS.iter().find(|(name, _)| *name == member);
    row.map(|(_, kinds)| *kinds)
}

/// The ways of asking for reasoning that a kind knows.
pub(crate) fn styles(kind: ProviderKind) -> &'static [(&'static str, ReasoningStyle)] {
    use ReasoningStyle::{Adaptive, Budget, Effort, Level, Off};
    match kind {
        OpenAi | AzureOpenAi => &[("effort", Effort), ("off", Off)],
        Anthropic | Bedrock => &[("budget", Budget), ("adaptive", Adaptive), ("off", Off)],
        Gemini => &[("budget", Budget), ("level", Level), ("off", Off)],
    }
}

/// The ways of asking for structured output that a kind knows.
pub(crate) fn structures(kind: ProviderKind) -> &'static [(&'static str, StructuredOutput)] {
    use StructuredOutput::{Native, Tool};
    match kind {
        Anthropic | Bedrock => &[("tool", Tool), ("native", Native)],
        OpenAi | AzureOpenAi | Gemini => &[("native", Native)],
    }
}

/// Names as a choice: `a`, `b` or `c`.
pub(crate) fn either<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let mut names: Vec<String> = names.into_iter().map(quote).collect();
    let last = names.pop().unwrap_or_default();
    if names.is_empty() {
        last
    } else {
        format!("{} or {last}", names.join(", "))
    }
}
