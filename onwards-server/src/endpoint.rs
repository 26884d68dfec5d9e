//! Which API a request path names: the bounded vocabulary for labels and per-endpoint rules.

/// An endpoint of the API family, recognised by the end of its path (spec C.11, I.1, M.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Endpoint {
    ChatCompletions,
    Completions,
    Embeddings,
    Responses,
    Messages,
    Models,
    Other,
}

impl Endpoint {
    /// Reads the endpoint off a request path without its query. A trailing slash is ignored.
    pub(crate) fn of(path: &str) -> Self {
        let path = path.strip_suffix('/').unwrap_or(path);
        match path {
            "/v1/models" | "/models" => return Self::Models,
            "/v1/messages" => return Self::Messages,
            _ => {}
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

impl Endpoint {
    /// The contract of the endpoint, where it has one.
    pub(crate) fn contract(self) -> Option<onwards_strict::Endpoint> {
        match self {
            Self::ChatCompletions | Self::Messages => Some(onwards_strict::Endpoint::Chat),
            Self::Completions => Some(onwards_strict::Endpoint::Completions),
            Self::Embeddings => Some(onwards_strict::Endpoint::Embeddings),
            Self::Responses => Some(onwards_strict::Endpoint::Responses),
            Self::Models => Some(onwards_strict::Endpoint::Models),
            Self::Other => None,
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
            Self::ChatCompletions | Self::Messages => "/chat/completions",
            Self::Completions => "/completions",
            Self::Embeddings => "/embeddings",
            Self::Responses => "/responses",
            Self::Models | Self::Other => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Endpoint;

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
            ("/v1/models/gpt-4", Endpoint::Other),
            ("/v1/chat/completionsx", Endpoint::Other),
            ("/", Endpoint::Other),
            ("", Endpoint::Other),
        ] {
            assert_eq!(Endpoint::of(path), endpoint, "{path}");
        }
    }
}
