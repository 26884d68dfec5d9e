//! Chat answers without strict mode: envelope, choices and token counts are cleaned, messages are not.

use super::{
    Fill, Member, Node, Note, Shape,
    chat::{COMPLETION_DETAILS, FINISH_REASON, PROMPT_DETAILS},
    fill, may, need,
};

/// An answer.
pub(crate) static ANSWER: Node = Node::Object(&Shape::closed(&ANSWER_MEMBERS));
static ANSWER_MEMBERS: [Member; 9] = envelope("\"chat.completion\"", &Node::List(&CHOICE));

/// A chunk of a stream.
pub(crate) static CHUNK: Node = Node::Object(&Shape::closed(&CHUNK_MEMBERS));
static CHUNK_MEMBERS: [Member; 9] =
    envelope("\"chat.completion.chunk\"", &Node::List(&CHUNK_CHOICE));

const fn envelope(object: &'static str, choices: &'static Node) -> [Member; 9] {
    [
        fill("id", &Node::Text, Fill::Json("\"chatcmpl-unknown\"")),
        fill("object", &Node::Text, Fill::Json(object)),
        fill("created", &Node::Number, Fill::Created),
        fill("model", &Node::Model, Fill::Model),
        need("choices", choices).note(Note::Choices),
        may("usage", &USAGE).note(Note::Usage),
        may("system_fingerprint", &Node::Text),
        may("service_tier", &Node::Text),
        may("error", &Node::Dropped).note(Note::Error),
    ]
}

static CHOICE: Node = Node::Object(&Shape::closed(&[
    fill("index", &Node::Integer, Fill::Position),
    need("message", &MESSAGE),
    may("logprobs", &Node::Any),
    FINISH_REASON,
    may("stop_reason", &Node::Any),
]));

static CHUNK_CHOICE: Node = Node::Object(&Shape::closed(&[
    fill("index", &Node::Integer, Fill::Position),
    fill("delta", &MESSAGE, Fill::Json("{}")),
    may("logprobs", &Node::Any),
    FINISH_REASON,
]));

/// A message or delta, left as it is.
static MESSAGE: Node = Node::Map(&Node::Any);

static USAGE: Node = Node::Object(&Shape::closed(&[
    fill("prompt_tokens", &Node::Integer, Fill::Json("0")),
    fill("completion_tokens", &Node::Integer, Fill::Json("0")),
    fill("total_tokens", &Node::Integer, Fill::Json("0")),
    may("prompt_tokens_details", &PROMPT_DETAILS),
    may("completion_tokens_details", &COMPLETION_DETAILS),
]));
