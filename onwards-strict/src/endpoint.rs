//! The registry: one row per endpoint.

use crate::schema::{self, Node};

/// An endpoint whose requests and answers have a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Endpoint {
    /// Chat completions. Messages requests an edge has translated are chat requests too.
    Chat,
    /// Legacy completions.
    Completions,
    /// Embeddings.
    Embeddings,
    /// The Responses API.
    Responses,
    /// The listing of models. It has no request body.
    Models,
}

struct Row {
    name: &'static str,
    id_prefix: &'static str,
    request: Option<&'static Node>,
    answer: &'static Node,
    chunk: &'static Node,
}

static CHAT: Row = Row {
    name: "chat",
    id_prefix: "chatcmpl-",
    request: Some(&schema::requests::CHAT),
    answer: &schema::chat::ANSWER,
    chunk: &schema::chat::CHUNK,
};

static COMPLETIONS: Row = Row {
    name: "completions",
    id_prefix: "cmpl-",
    request: Some(&schema::requests::COMPLETIONS),
    answer: &schema::completions::ANSWER,
    chunk: &schema::completions::CHUNK,
};

static EMBEDDINGS: Row = Row {
    name: "embeddings",
    id_prefix: "",
    request: Some(&schema::requests::EMBEDDINGS),
    answer: &schema::embeddings::ANSWER,
    chunk: &schema::embeddings::ANSWER,
};

static RESPONSES: Row = Row {
    name: "responses",
    id_prefix: "resp_",
    request: Some(&schema::requests::RESPONSES),
    answer: &schema::responses::ANSWER,
    chunk: &schema::responses::EVENT,
};

static MODELS: Row = Row {
    name: "models",
    id_prefix: "",
    request: None,
    answer: &schema::models::ANSWER,
    chunk: &schema::models::ANSWER,
};

impl Endpoint {
    /// All endpoints.
    pub const ALL: [Self; 5] = [
        Self::Chat,
        Self::Completions,
        Self::Embeddings,
        Self::Responses,
        Self::Models,
    ];

    fn row(self) -> &'static Row {
        match self {
            Self::Chat => &CHAT,
            Self::Completions => &COMPLETIONS,
            Self::Embeddings => &EMBEDDINGS,
            Self::Responses => &RESPONSES,
            Self::Models => &MODELS,
        }
    }

    /// Its name for people and labels: `chat`, `completions`, `embeddings`, `responses` or `models`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    pub(crate) fn id_prefix(self) -> &'static str {
        self.row().id_prefix
    }

    pub(crate) fn request(self) -> Option<&'static Node> {
        self.row().request
    }

    /// The tables of an answer and of a chunk.
    pub(crate) fn answers(self) -> (&'static Node, &'static Node) {
        (self.row().answer, self.row().chunk)
    }
}
