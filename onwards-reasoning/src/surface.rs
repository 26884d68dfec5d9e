//! Where reasoning can be asked for, and under which names.

/// A request shape with reasoning rules of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Surface {
    /// Chat Completions: `reasoning_effort`, limited by `max_completion_tokens`, else `max_tokens`.
    ChatCompletions,
    /// Responses: `reasoning.effort`, limited by `max_output_tokens`.
    Responses,
    /// Legacy Completions, which has no reasoning controls: nothing is read or translated, and strict mode
    /// refuses every control.
    Completions,
}

impl Surface {
    /// The surface a request path belongs to, without its query and whatever comes before; trailing slashes
    /// do not count. `None` for every other path.
    #[must_use]
    pub fn of_path(path: &str) -> Option<Self> {
        let path = path.trim_end_matches('/');
        if path.ends_with("/chat/completions") {
            Some(Self::ChatCompletions)
        } else if path.ends_with("/responses") {
            Some(Self::Responses)
        } else if path.ends_with("/completions") {
            Some(Self::Completions)
        } else {
            None
        }
    }

    /// The top-level members of a request body whose raw text [`crate::Controls::of`] asks for.
    #[must_use]
    pub fn members(self) -> &'static [&'static str] {
        match self {
            Self::ChatCompletions => &[
                "reasoning_effort",
                "max_completion_tokens",
                "max_tokens",
                "chat_template_kwargs",
                "thinking",
                "thinking_token_budget",
                "reasoning",
            ],
            Self::Responses => &[
                "reasoning",
                "max_output_tokens",
                "chat_template_kwargs",
                "thinking",
                "thinking_token_budget",
                "reasoning_effort",
            ],
            Self::Completions => &[
                "reasoning_effort",
                "reasoning",
                "thinking",
                "thinking_token_budget",
                "chat_template_kwargs",
            ],
        }
    }

    /// How error messages name the effort. Legacy Completions has none; there the name is never used.
    #[must_use]
    pub fn effort_param(self) -> &'static str {
        match self {
            Self::ChatCompletions | Self::Completions => "reasoning_effort",
            Self::Responses => "reasoning.effort",
        }
    }

    /// Where the canonical effort stands in the body, as path segments.
    pub(crate) fn canonical_path(self) -> &'static [&'static str] {
        match self {
            Self::ChatCompletions | Self::Completions => &["reasoning_effort"],
            Self::Responses => &["reasoning", "effort"],
        }
    }

    /// The members that may hold the output limit, the one that counts first.
    pub(crate) fn limit_params(self) -> &'static [&'static str] {
        match self {
            Self::ChatCompletions => &["max_completion_tokens", "max_tokens"],
            Self::Responses => &["max_output_tokens"],
            Self::Completions => &[],
        }
    }

    /// Provider-native controls that strict mode refuses, in the order they are looked for. A name with a dot
    /// is a member of the object named before the dot.
    pub(crate) fn native_controls(self) -> &'static [&'static str] {
        match self {
            Self::ChatCompletions => &[
                "chat_template_kwargs.thinking",
                "chat_template_kwargs.enable_thinking",
                "chat_template_kwargs",
                "thinking",
                "thinking_token_budget",
                "reasoning",
            ],
            Self::Responses => &[
                "chat_template_kwargs.thinking",
                "chat_template_kwargs.enable_thinking",
                "chat_template_kwargs",
                "thinking",
                "thinking_token_budget",
                "reasoning_effort",
            ],
            Self::Completions => &[
                "reasoning_effort",
                "reasoning",
                "thinking",
                "thinking_token_budget",
                "chat_template_kwargs",
            ],
        }
    }
}

#[cfg(test)]
mod tests;
