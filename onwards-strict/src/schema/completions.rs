//! Legacy completions (component `CreateCompletionResponse`); chunks have the same shape.

use super::{
    Fill, Member, Node, Note, Null, Shape,
    chat::{FINISH_REASON, USAGE},
    fill, may, need, tidy,
};

/// An answer.
pub(crate) static ANSWER: Node = Node::Object(&Shape::closed(&ANSWER_MEMBERS));
static ANSWER_MEMBERS: [Member; 8] = envelope(&Node::List(&CHOICE));

/// A chunk of a stream.
pub(crate) static CHUNK: Node = Node::Object(&Shape::closed(&CHUNK_MEMBERS));
static CHUNK_MEMBERS: [Member; 8] = envelope(&Node::List(&CHUNK_CHOICE));

const fn envelope(choices: &'static Node) -> [Member; 8] {
    [
        fill("id", &Node::Text, Fill::Id).null(Null::Value),
        fill(
            "object",
            &Node::Fixed("\"text_completion\""),
            Fill::Json("\"text_completion\""),
        ),
        fill("created", &Node::Integer, Fill::Created),
        fill("model", &Node::Model, Fill::Model),
        need("choices", choices).note(Note::Choices),
        tidy("usage", &USAGE).note(Note::Usage),
        tidy("system_fingerprint", &Node::Text),
        tidy("error", &Node::Dropped).note(Note::Error),
    ]
}

static CHOICE: Node = Node::Object(&Shape::closed(&CHOICE_MEMBERS));
static CHOICE_MEMBERS: [Member; 4] = choice(need("text", &Node::Text));

static CHUNK_CHOICE: Node = Node::Object(&Shape::closed(&CHUNK_CHOICE_MEMBERS));
static CHUNK_CHOICE_MEMBERS: [Member; 4] = choice(fill("text", &Node::Text, Fill::Json("\"\"")));

const fn choice(text: Member) -> [Member; 4] {
    [
        text,
        fill("index", &Node::Integer, Fill::Position),
        tidy("logprobs", &LOGPROBS),
        FINISH_REASON,
    ]
}

static LOGPROBS: Node = Node::Object(&Shape::closed(&[
    may("text_offset", &Node::List(&Node::Integer)),
    may(
        "token_logprobs",
        &Node::List(&Node::Nullable(&Node::Number)),
    ),
    may("tokens", &Node::List(&Node::Text)),
    may(
        "top_logprobs",
        &Node::List(&Node::Nullable(&Node::Map(&Node::Number))),
    ),
]));
