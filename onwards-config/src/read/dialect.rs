//! Members that say how a provider of a known kind is spoken to.

use super::{list, read};
use crate::gateway::{
    ApiStyle, BedrockApi, ExposeReasoning, ImageUrls, MaxTokensField, MidSystem, OnUnsupported,
    ProviderKind, ReasoningStyle, SchemaMode, StructuredOutput,
};
use crate::kinds::{either, structures, styles};
use crate::members::Members;
use crate::node::Node;
use crate::problem::quote;
use crate::spec::connection::{Budgets, Dialect};

/// The most tokens that a member may say.
const MOST: u32 = 1_000_000;

pub(super) fn members(m: &mut Members<'_>, kind: Option<ProviderKind>) -> Dialect {
    Dialect {
        on_unsupported: read(m, "on_unsupported", |node| {
            node.choice(&[
                ("drop", OnUnsupported::Drop),
                ("reject", OnUnsupported::Reject),
            ])
        }),
        image_urls: read(m, "image_urls", |node| {
            node.choice(&[
                ("forward", ImageUrls::Forward),
                ("fetch", ImageUrls::Fetch),
                ("reject", ImageUrls::Reject),
            ])
        }),
        default_max_tokens: read(m, "default_max_tokens", |node| node.u32(1..=MOST)),
        max_tokens_field: read(m, "max_tokens_field", |node| {
            node.choice(&[
                ("auto", MaxTokensField::Auto),
                ("max_tokens", MaxTokensField::MaxTokens),
                ("max_completion_tokens", MaxTokensField::MaxCompletionTokens),
            ])
        }),
        structured_output: read(m, "structured_output", |node| structured(node, kind)),
        schema_mode: read(m, "schema_mode", |node| {
            node.choice(&[
                ("openapi", SchemaMode::OpenApi),
                ("json_schema", SchemaMode::JsonSchema),
            ])
        }),
        strict_tools: read(m, "strict_tools", Node::bool),
        reasoning_style: read(m, "reasoning_style", |node| style(node, kind)),
        reasoning_budgets: read(m, "reasoning_budgets", budgets),
        expose_reasoning: read(m, "expose_reasoning", |node| {
            node.choice(&[
                ("none", ExposeReasoning::None),
                ("text", ExposeReasoning::Text),
                ("full", ExposeReasoning::Full),
            ])
        }),
        betas: read(m, "betas", betas),
        api_version: read(m, "api_version", api_version),
        api_style: read(m, "api_style", |node| {
            node.choice(&[("deployments", ApiStyle::Deployments), ("v1", ApiStyle::V1)])
        }),
        api: read(m, "api", |node| {
            node.choice(&[
                ("converse", BedrockApi::Converse),
                ("invoke_anthropic", BedrockApi::InvokeAnthropic),
            ])
        }),
        mid_system: read(m, "mid_system", |node| {
            node.choice(&[
                ("hoist", MidSystem::Hoist),
                ("user_note", MidSystem::UserNote),
            ])
        }),
        stream_options: read(m, "stream_options", Node::bool),
    }
}

fn structured(node: &Node<'_>, kind: Option<ProviderKind>) -> Option<StructuredOutput> {
    let given = node.choice(&[
        ("tool", StructuredOutput::Tool),
        ("native", StructuredOutput::Native),
    ]);
    known(node, kind, given, structures)
}

fn style(node: &Node<'_>, kind: Option<ProviderKind>) -> Option<ReasoningStyle> {
    let given = node.choice(&[
        ("budget", ReasoningStyle::Budget),
        ("level", ReasoningStyle::Level),
        ("adaptive", ReasoningStyle::Adaptive),
        ("effort", ReasoningStyle::Effort),
        ("off", ReasoningStyle::Off),
    ]);
    known(node, kind, given, styles)
}

/// A choice that not every kind has.
fn known<T: Copy + PartialEq>(
    node: &Node<'_>,
    kind: Option<ProviderKind>,
    given: Option<T>,
    choices: fn(ProviderKind) -> &'static [(&'static str, T)],
) -> Option<T> {
    let given = given?;
    if let Some(kind) = kind {
        let choices = choices(kind);
        if choices.iter().all(|(_, choice)| *choice != given) {
            let choices = either(choices.iter().map(|(name, _)| *name));
            return node.wrong(format!(
                "one that the kind {} knows: {choices}",
                quote(kind.word())
            ));
        }
    }
    Some(given)
}

fn budgets(node: &Node<'_>) -> Option<Budgets> {
    let mut m = node.object("reasoning_budgets")?;
    let tokens = |node: &Node<'_>| node.u32(0..=MOST);
    let budgets = Budgets {
        none: read(&mut m, "none", tokens),
        minimal: read(&mut m, "minimal", tokens),
        low: read(&mut m, "low", tokens),
        medium: read(&mut m, "medium", tokens),
        high: read(&mut m, "high", tokens),
        xhigh: read(&mut m, "xhigh", tokens),
        max: read(&mut m, "max", tokens),
    };
    m.done_closed();
    Some(budgets)
}

/// Values of `anthropic-beta`, which are joined by commas in a header.
pub(super) fn betas(node: &Node<'_>) -> Option<Vec<String>> {
    const EXPECTED: &str = "1 to 64 letters, digits, `_`, `.` or `-`";
    list(node, "an array of strings", |node| {
        let text = node.str(EXPECTED)?;
        if super::connection::is_name(text) {
            Some(text.to_owned())
        } else {
            node.wrong(EXPECTED)
        }
    })
}

fn api_version(node: &Node<'_>) -> Option<String> {
    const EXPECTED: &str = "1 to 32 letters, digits, `.` or `-`";
    let text = node.str(EXPECTED)?;
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-');
    if (1..=32).contains(&text.len()) && text.bytes().all(plain) {
        Some(text.to_owned())
    } else {
        node.wrong(EXPECTED)
    }
}
