//! The Responses API: the answer and the events of its stream (components `Response`, `ResponseStreamEvent`).
//!
//! Real providers differ more here than elsewhere, so these tables are liberal: a member that does not fit
//! is dropped where an answer is of use without it, and `null` is kept where it stands.

use super::{
    Fill, Member, Node, Note, Shape, Tagged, always, chat::MODERATION_RESULT, fill, may, need,
};

mod events;
mod items;
mod tools;

pub(crate) use events::EVENT;

/// An answer.
pub(crate) static ANSWER: Node = Node::Object(&Shape::closed(&ANSWER_MEMBERS));
static ANSWER_MEMBERS: [Member; 38] = members("\"completed\"", need("output", &OUTPUT));

/// The state of an answer inside an event.
const fn snapshot(status: &'static str) -> [Member; 38] {
    members(status, fill("output", &OUTPUT, Fill::Json("[]")))
}

static OUTPUT: Node = Node::List(&items::ITEM);

static TOOLS: Node = Node::List(&tools::TOOL);

static CONVERSATION: Node = Node::Object(&Shape::closed(&[need("id", &Node::Text)]));

/// A member that is dropped if it does not fit.
const fn lax(name: &'static str, node: &'static Node) -> Member {
    may(name, node).soft()
}

/// The contract lists most members as required, so all of them are sent, `null` included.
const fn members(status: &'static str, output: Member) -> [Member; 38] {
    [
        fill("id", &Node::Text, Fill::Id),
        fill(
            "object",
            &Node::Fixed("\"response\""),
            Fill::Json("\"response\""),
        ),
        fill("created_at", &Node::Number, Fill::Created),
        fill("status", &Node::Text, Fill::Json(status)),
        always("background", &Node::Bool, "false").soft(),
        always("completed_at", &Node::Number, "null").soft(),
        always("error", &FAILURE, "null").note(Note::Error),
        always("incomplete_details", &INCOMPLETE, "null").soft(),
        always("instructions", &INSTRUCTIONS, "null").soft(),
        always("max_output_tokens", &Node::Integer, "null").soft(),
        always("max_tool_calls", &Node::Integer, "null").soft(),
        fill("model", &Node::Model, Fill::Model),
        output,
        fill("parallel_tool_calls", &Node::Bool, Fill::Json("true")).soft(),
        always("previous_response_id", &Node::Text, "null").soft(),
        always("prompt_cache_key", &Node::Text, "null").soft(),
        always("reasoning", &REASONING, "null").soft(),
        always("safety_identifier", &Node::Text, "null").soft(),
        always("service_tier", &Node::Text, "\"default\"").soft(),
        fill("store", &Node::Bool, Fill::Json("false")).soft(),
        always("temperature", &Node::Number, "1.0").soft(),
        fill("text", &TEXT, Fill::Json(r#"{"format":{"type":"text"}}"#)).soft(),
        fill("tool_choice", &tools::CHOICE, Fill::Json("\"auto\"")).soft(),
        fill("tools", &TOOLS, Fill::Json("[]")).soft(),
        always("top_logprobs", &Node::Integer, "0").soft(),
        always("top_p", &Node::Number, "1.0").soft(),
        always("presence_penalty", &Node::Number, "0.0").soft(),
        always("frequency_penalty", &Node::Number, "0.0").soft(),
        always("truncation", &Node::Text, "\"disabled\"").soft(),
        always("usage", &USAGE, "null").note(Note::Usage),
        always("metadata", &Node::Map(&Node::Text), "null").soft(),
        lax("user", &Node::Text),
        lax("prompt_cache_retention", &Node::Text),
        lax("prompt_cache_options", &CACHE_OPTIONS),
        lax("prompt", &PROMPT),
        lax("conversation", &CONVERSATION),
        lax("output_text", &Node::Text),
        lax("moderation", &MODERATION),
    ]
}

/// Why a response failed. Whoever made the text is not to speak to callers unless trusted.
static FAILURE: Node = Node::Object(&Shape::closed(&[
    may("code", &Node::FailureCode),
    may("message", &Node::Private(FAILED)),
]));

/// What callers of untrusted providers read instead of a failure's text.
const FAILED: &str = "\"An error occurred\"";

static INCOMPLETE: Node = Node::Object(&Shape::closed(&[may("reason", &Node::Text)]));

static INSTRUCTIONS: Node = Node::Choice(&[Node::Text, Node::List(&items::ITEM)]);

static REASONING: Node = Node::Object(&Shape::closed(&[
    lax("mode", &Node::Text),
    lax("effort", &Node::Text),
    lax("summary", &Node::Text),
    lax("context", &Node::Text),
    lax("generate_summary", &Node::Text),
]));

static TEXT: Node = Node::Object(&Shape::closed(&[
    lax("format", &TEXT_FORMAT),
    lax("verbosity", &Node::Text),
]));

static TEXT_FORMAT: Node = Node::Tagged(&Tagged {
    tag: "type",
    variants: &[
        ("json_object", &Shape::closed(&[TYPE])),
        (
            "json_schema",
            &Shape::closed(&[
                TYPE,
                may("description", &Node::Text),
                may("name", &Node::Text),
                may("schema", &Node::Any),
                may("strict", &Node::Bool),
            ]),
        ),
        ("text", &Shape::closed(&[TYPE])),
    ],
    untagged: &[],
    other: None,
});

const TYPE: Member = need("type", &Node::Text);

/// The details are required by the contract, but not every engine counts them.
static USAGE: Node = Node::Object(&Shape::closed(&[
    need("input_tokens", &Node::Integer),
    may(
        "input_tokens_details",
        &Node::Object(&Shape::closed(&[
            may("cached_tokens", &Node::Integer),
            may("cache_write_tokens", &Node::Integer),
        ])),
    ),
    need("output_tokens", &Node::Integer),
    may(
        "output_tokens_details",
        &Node::Object(&Shape::closed(&[may("reasoning_tokens", &Node::Integer)])),
    ),
    need("total_tokens", &Node::Integer),
]));

static CACHE_OPTIONS: Node = Node::Object(&Shape::closed(&[
    lax("ttl", &Node::Text),
    lax("mode", &Node::Text),
]));

static PROMPT: Node = Node::Object(&Shape::closed(&[
    need("id", &Node::Text),
    may("version", &Node::Text),
    may("variables", &Node::Map(&Node::Choice(&VARIABLE))),
]));

static VARIABLE: [Node; 2] = [Node::Text, Node::Tagged(&items::PARTS)];

static MODERATION: Node = Node::Object(&Shape::closed(&[
    need("input", &MODERATED),
    need("output", &MODERATED),
]));

static MODERATED: Node = Node::Tagged(&Tagged {
    tag: "type",
    variants: &[(
        "error",
        &Shape::closed(&[TYPE, may("code", &Node::Text), may("message", &Node::Text)]),
    )],
    untagged: &[],
    other: Some(&MODERATION_RESULT),
});
