//! How many tokens a prompt may have, where nobody counts (spec providers 6.2): a quarter of its bytes, and something for
//! what stands around them.

use crate::conversation::arguments;
use crate::request::{Part, PartKind, Request, Role, ToolResult};
use crate::text::{Str, compact};

/// Bytes that a message counts for beside what it says.
const MESSAGE: u64 = 16;

/// Bytes that a picture counts for.
const PICTURE: u64 = 340;

/// Bytes that tools count for beside what they say.
const TOOLS: u64 = 64;

/// Bytes for a token.
const TOKEN: u64 = 4;

/// The estimate, rounded up.
#[must_use]
pub fn prompt_tokens(request: &Request<'_>) -> u64 {
    let mut bytes = 0;
    for message in &request.messages {
        let role = match message.role {
            Role::System => "system",
            Role::Developer => "developer",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        };
        bytes += MESSAGE + count(role) + optional(message.name.as_ref());
        bytes += message.parts.iter().map(part).sum::<u64>();
    }
    if !request.tools.is_empty() {
        bytes += TOOLS;
    }
    for tool in &request.tools {
        let schema = tool
            .schema
            .as_ref()
            .map_or(0, |schema| count(&compact(schema)));
        bytes += text(&tool.name) + optional(tool.description.as_ref()) + schema;
    }
    bytes.div_ceil(TOKEN)
}

fn part(part: &Part<'_>) -> u64 {
    match &part.kind {
        PartKind::Text(said) | PartKind::Refusal(said) => text(said),
        PartKind::Image { .. } => PICTURE,
        PartKind::Thinking(thinking) => optional(thinking.text.as_ref()),
        PartKind::ToolCall(call) => {
            optional(call.id.as_ref()) + text(&call.name) + text(&arguments::text(&call.arguments))
        }
        PartKind::ToolResult(result) => self::result(result),
        PartKind::File { .. } | PartKind::Other { .. } => 0,
    }
}

/// The parts of a result are of kinds that hold no further ones, by what the readers make; others count for nothing.
fn result(result: &ToolResult<'_>) -> u64 {
    let shown = |shown: &Part<'_>| match &shown.kind {
        PartKind::ToolResult(_) => 0,
        _ => part(shown),
    };
    let json = result.json.as_ref().map_or(0, |json| count(&compact(json)));
    optional(result.id.as_ref()) + json + result.content.iter().map(shown).sum::<u64>()
}

fn optional(said: Option<&Str<'_>>) -> u64 {
    said.map_or(0, text)
}

fn text(text: &Str<'_>) -> u64 {
    count(&text.decoded())
}

fn count(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
