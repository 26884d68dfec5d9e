//! Embeddings (component `CreateEmbeddingResponse`). Numbers keep the text they came with.

use super::{Fill, Node, Note, Shape, fill, need, tidy};

/// An answer.
pub(crate) static ANSWER: Node = Node::Object(&Shape::closed(&[
    fill("object", &Node::Fixed("\"list\""), Fill::Json("\"list\"")),
    need("data", &Node::List(&EMBEDDING)),
    fill("model", &Node::Model, Fill::Model),
    need("usage", &USAGE).note(Note::Usage),
    tidy("error", &Node::Dropped).note(Note::Error),
]));

static EMBEDDING: Node = Node::Object(&Shape::closed(&[
    fill(
        "object",
        &Node::Fixed("\"embedding\""),
        Fill::Json("\"embedding\""),
    ),
    fill("index", &Node::Integer, Fill::Position),
    // Text is the base64 form.
    need(
        "embedding",
        &Node::Choice(&[Node::List(&Node::Number), Node::Text]),
    ),
]));

static USAGE: Node = Node::Object(&Shape::closed(&[
    need("prompt_tokens", &Node::Integer),
    need("total_tokens", &Node::Integer),
]));
