//! Which API a request path names: the bounded vocabulary for labels and per-endpoint rules.

use std::borrow::Cow;

use onwards_dialects::Protocol;

use crate::percent;

/// An endpoint of the API family, recognised by the end of its path (spec C.11, I.1, M.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Endpoint {
    ChatCompletions,
    Completions,
    Embeddings,
    Responses,
    Messages,
    /// How many tokens a Messages request has.
    CountTokens,
    GenerateContent(Generation),
    Models,
    /// What a provider would be sent, for operators.
    DryRun,
    Other,
}

/// What is asked of a model of Gemini's API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Generation {
    /// The answer as a whole.
    Whole,
    /// The answer as it is made.
    Stream,
    /// How many tokens the request has.
    Count,
}

impl Endpoint {
    /// Reads the endpoint off a request path without its query. A trailing slash is ignored.
    pub(crate) fn of(path: &str) -> Self {
        let path = path.strip_suffix('/').unwrap_or(path);
        match path {
            "/v1/models" | "/models" | "/v1beta/models" => return Self::Models,
            "/v1/messages" => return Self::Messages,
            "/v1/messages/count_tokens" => return Self::CountTokens,
            _ => {}
        }
        if let Some((_, generation)) = generation(path) {
            return Self::GenerateContent(generation);
        }
        if path.ends_with("/chat/completions") {
            Self::ChatCompletions
        } else if path.ends_with("/completions") {
            Self::Completions
        } else if path.ends_with("/responses") {
            Self::Responses
        } else if path.ends_with("/embeddings") {
            Self::Embeddings
        } else {
            Self::Other
        }
    }

    /// True where a body that is not a JSON object is refused even when the alias came from a header (spec C.4).
    pub(crate) fn requires_json(self) -> bool {
        matches!(
            self,
            Self::ChatCompletions | Self::Completions | Self::Responses
        )
    }
}

/// The model and the method of a path of Gemini's API: `/v1beta/models/{model}:generateContent` and its like.
fn generation(path: &str) -> Option<(&str, Generation)> {
    let rest = path
        .strip_prefix("/v1beta/models/")
        .or_else(|| path.strip_prefix("/v1/models/"))?;
    let (model, method) = rest.rsplit_once(':')?;
    let generation = match method {
        "generateContent" => Generation::Whole,
        "streamGenerateContent" => Generation::Stream,
        "countTokens" => Generation::Count,
        _ => return None,
    };
    (!model.is_empty()).then_some((model, generation))
}

/// The model that a path of Gemini's API names, percent-decoded.
pub(crate) fn model_in(path: &str) -> Option<Cow<'_, str>> {
    let (model, _) = generation(path.strip_suffix('/').unwrap_or(path))?;
    Some(match percent::decode(model) {
        Cow::Borrowed(_) => Cow::Borrowed(model),
        Cow::Owned(bytes) => String::from_utf8_lossy(&bytes).into_owned().into(),
    })
}

impl Endpoint {
    /// What a client of the endpoint speaks, where requests can be translated.
    pub(crate) fn protocol(self) -> Option<Protocol> {
        match self {
            Self::ChatCompletions => Some(Protocol::Chat),
            Self::Responses => Some(Protocol::Responses),
            Self::Messages | Self::CountTokens => Some(Protocol::Messages),
            Self::GenerateContent(_) => Some(Protocol::GenerateContent),
            _ => None,
        }
    }

    /// True where the answer is a number of tokens.
    pub(crate) fn counts(self) -> bool {
        matches!(
            self,
            Self::CountTokens | Self::GenerateContent(Generation::Count)
        )
    }

    /// The contract of the endpoint, where it has one.
    pub(crate) fn contract(self) -> Option<onwards_strict::Endpoint> {
        match self {
            Self::ChatCompletions => Some(onwards_strict::Endpoint::Chat),
            Self::Completions => Some(onwards_strict::Endpoint::Completions),
            Self::Embeddings => Some(onwards_strict::Endpoint::Embeddings),
            Self::Responses => Some(onwards_strict::Endpoint::Responses),
            Self::Models => Some(onwards_strict::Endpoint::Models),
            Self::Messages
            | Self::CountTokens
            | Self::GenerateContent(_)
            | Self::DryRun
            | Self::Other => None,
        }
    }

    /// The reasoning controls that requests of the endpoint may have.
    pub(crate) fn surface(self) -> Option<onwards_reasoning::Surface> {
        match self {
            Self::ChatCompletions => Some(onwards_reasoning::Surface::ChatCompletions),
            Self::Completions => Some(onwards_reasoning::Surface::Completions),
            Self::Responses => Some(onwards_reasoning::Surface::Responses),
            _ => None,
        }
    }

    /// What strict mode appends to a provider's base path.
    pub(crate) fn below_base(self) -> &'static str {
        match self {
            Self::ChatCompletions => "/chat/completions",
            Self::Completions => "/completions",
            Self::Embeddings => "/embeddings",
            Self::Responses => "/responses",
            _ => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Endpoint, Generation, model_in};

    #[test]
    fn a_model_in_a_path_is_decoded() {
        for (path, model) in [
            ("/v1beta/models/fast:generateContent", Some("fast")),
            ("/v1beta/models/a%2Fb%3ac%zz:countTokens", Some("a/b:c%zz")),
            ("/v1beta/models/a/b:1:generateContent", Some("a/b:1")),
            ("/v1beta/models/%c3%a4:generateContent", Some("ä")),
            ("/v1beta/models/fast:generateContent/", Some("fast")),
            ("/v1beta/models/fast", None),
        ] {
            assert_eq!(model_in(path).as_deref(), model, "{path}");
        }
    }

    #[test]
    fn the_end_of_the_path_decides() {
        for (path, endpoint) in [
            ("/v1/chat/completions", Endpoint::ChatCompletions),
            ("/v1/chat/completions/", Endpoint::ChatCompletions),
            ("/api/v1/chat/completions", Endpoint::ChatCompletions),
            ("/v1/completions", Endpoint::Completions),
            ("/foo/completions", Endpoint::Completions),
            ("/v1/responses", Endpoint::Responses),
            ("/v1/embeddings", Endpoint::Embeddings),
            ("/v1/messages", Endpoint::Messages),
            ("/v1/models", Endpoint::Models),
            ("/models", Endpoint::Models),
            ("/v1beta/models", Endpoint::Models),
            ("/v1/messages/count_tokens", Endpoint::CountTokens),
            ("/v1/messages/batches", Endpoint::Other),
            (
                "/v1beta/models/a:generateContent",
                Endpoint::GenerateContent(Generation::Whole),
            ),
            (
                "/v1/models/a/b:c:streamGenerateContent",
                Endpoint::GenerateContent(Generation::Stream),
            ),
            (
                "/v1beta/models/a:countTokens",
                Endpoint::GenerateContent(Generation::Count),
            ),
            ("/v1beta/models/:generateContent", Endpoint::Other),
            ("/v1beta/models/a:embedContent", Endpoint::Other),
            ("/v1/models/gpt-4", Endpoint::Other),
            ("/v1/chat/completionsx", Endpoint::Other),
            ("/", Endpoint::Other),
            ("", Endpoint::Other),
        ] {
            assert_eq!(Endpoint::of(path), endpoint, "{path}");
        }
    }
}
