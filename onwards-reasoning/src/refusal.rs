//! Every way a request can be refused for its reasoning controls; the only place with sentences for clients.
//!
//! Texts, codes and statuses are those of the documented gateway, since clients match on them.

use crate::{Effort, Surface};

/// The longest part of a client's value that a message repeats, in characters; the rest becomes `…`.
pub const ECHO_CHARS: usize = 64;

/// The error type all refusals of this crate are reported with.
pub const KIND: &str = "invalid_request_error";

/// A client error about reasoning, ready for the error envelope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// HTTP status: 400 or 422.
    pub status: u16,
    /// Machine-readable code.
    pub code: &'static str,
    /// The request member to blame.
    pub param: &'static str,
    /// The sentence for the client, full stop included.
    pub message: String,
}

impl Refusal {
    fn bad_request(code: &'static str, param: &'static str, message: String) -> Self {
        Self {
            status: 400,
            code,
            param,
            message,
        }
    }
}

/// A write whose path crosses a member of the body that is not an object: found by whoever applies an
/// [`crate::Edit::Set`], with its [`crate::Edit::pointer`].
#[must_use]
pub fn crossing(pointer: &str) -> Refusal {
    Refusal::bad_request(
        "invalid_translation_config",
        "reasoning_translation",
        format!(
            "Invalid reasoning translation config: the path '{pointer}' crosses a value that is not an object."
        ),
    )
}

pub(crate) fn effort_not_a_string(surface: Surface) -> Refusal {
    let param = surface.effort_param();
    Refusal::bad_request(
        "invalid_type",
        param,
        format!("Invalid type for '{param}'. Expected a string."),
    )
}

pub(crate) fn reasoning_not_an_object() -> Refusal {
    let message = "Invalid type for 'reasoning'. Expected an object.".to_owned();
    Refusal::bad_request("invalid_type", "reasoning", message)
}

pub(crate) fn unknown_effort(surface: Surface, value: &str) -> Refusal {
    let param = surface.effort_param();
    let (value, all) = (echo(value), Effort::list(Effort::ALL));
    let message = format!("Invalid value '{value}' for '{param}'. Expected one of: {all}.");
    Refusal::bad_request("invalid_value", param, message)
}

pub(crate) fn unsupported_effort(surface: Surface, effort: Effort, supported: &str) -> Refusal {
    let message = format!(
        "Reasoning effort '{effort}' is not supported by this provider. Supported values: {supported}."
    );
    Refusal::bad_request("unsupported_value", surface.effort_param(), message)
}

/// A budget asks for a limit, and the request has none; the member named is the preferred one.
pub(crate) fn limit_missing(surface: Surface, effort: Effort, budget: u64) -> Refusal {
    let param = surface.effort_param();
    let limit = surface
        .limit_params()
        .first()
        .copied()
        .unwrap_or("max_tokens");
    Refusal {
        status: 422,
        code: "reasoning_budget_requires_max_tokens",
        param: limit,
        message: format!(
            "{param} '{effort}' maps to an {budget}-token reasoning budget for this model, but {limit} is not set. \
             Set {limit} above {budget} or select a lower {param}."
        ),
    }
}

pub(crate) fn limit_not_a_count(limit: &'static str) -> Refusal {
    let message = format!("Invalid type for '{limit}'. Expected a non-negative integer.");
    Refusal::bad_request("invalid_type", limit, message)
}

pub(crate) fn limit_too_low(
    surface: Surface,
    effort: Effort,
    budget: u64,
    limit: (&'static str, u64),
) -> Refusal {
    let param = surface.effort_param();
    let (name, tokens) = limit;
    let message = format!(
        "{param} '{effort}' maps to an {budget}-token reasoning budget for this model, but {name} is {tokens}. \
         Increase {name} above {budget} or select a lower {param}."
    );
    Refusal::bad_request("reasoning_budget_exceeds_max_tokens", name, message)
}

pub(crate) fn native_control(surface: Surface, field: &'static str) -> Refusal {
    let message = match surface {
        Surface::ChatCompletions | Surface::Responses => {
            format!(
                "Unsupported parameter '{field}'; use '{}'.",
                surface.effort_param()
            )
        }
        Surface::Completions => format!(
            "Parameter '{field}' is not supported by /v1/completions. Use /v1/chat/completions or /v1/responses."
        ),
    };
    Refusal::bad_request("unsupported_parameter", field, message)
}

/// A client's text, cut after [`ECHO_CHARS`] characters.
fn echo(value: &str) -> String {
    let mut rest = value.chars();
    let mut shown: String = rest.by_ref().take(ECHO_CHARS).collect();
    if rest.next().is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests;
