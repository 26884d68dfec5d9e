//! Chat completions: the answer and its chunks
//! (components `CreateChatCompletionResponse`, `CreateChatCompletionStreamResponse`).

use super::{Absent, Fill, Member, Node, Note, Null, Shape, Tagged, fill, may, need, tidy};

/// An answer.
pub(crate) static ANSWER: Node = Node::Object(&Shape::closed(&[
    fill("id", &Node::Text, Fill::Id).null(Null::Value),
    fill(
        "object",
        &Node::Fixed("\"chat.completion\""),
        Fill::Json("\"chat.completion\""),
    ),
    fill("created", &Node::Integer, Fill::Created),
    fill("model", &Node::Model, Fill::Model),
    need("choices", &Node::List(&CHOICE)).note(Note::Choices),
    tidy("usage", &USAGE).note(Note::Usage),
    tidy("system_fingerprint", &Node::Text),
    tidy("service_tier", &Node::Text),
    tidy("metadata", &Node::Map(&Node::Text)).soft(),
    tidy("moderation", &MODERATION).soft(),
    tidy("error", &Node::Dropped).note(Note::Error),
]));

/// A chunk of a stream.
pub(crate) static CHUNK: Node = Node::Object(&Shape::closed(&[
    fill("id", &Node::Text, Fill::Id).null(Null::Value),
    fill(
        "object",
        &Node::Fixed("\"chat.completion.chunk\""),
        Fill::Json("\"chat.completion.chunk\""),
    ),
    fill("created", &Node::Integer, Fill::Created),
    fill("model", &Node::Model, Fill::Model),
    tidy("system_fingerprint", &Node::Text),
    need("choices", &Node::List(&CHUNK_CHOICE)).note(Note::Choices),
    tidy("usage", &USAGE).note(Note::Usage),
    tidy("service_tier", &Node::Text),
    tidy("obfuscation", &Node::Text).soft(),
    tidy("moderation", &MODERATION).soft(),
    tidy("error", &Node::Dropped).note(Note::Error),
]));

/// Token counts of chat and legacy completions (component `CompletionUsage`).
pub(super) static USAGE: Node = Node::Object(&Shape::closed(&[
    need("prompt_tokens", &Node::Integer),
    need("completion_tokens", &Node::Integer),
    need("total_tokens", &Node::Integer),
    tidy("prompt_tokens_details", &PROMPT_DETAILS),
    tidy("completion_tokens_details", &COMPLETION_DETAILS),
]));

pub(super) static PROMPT_DETAILS: Node = Node::Object(&Shape::closed(&[
    tidy("cached_tokens", &Node::Integer),
    tidy("audio_tokens", &Node::Integer),
    tidy("text_tokens", &Node::Integer),
    tidy("image_tokens", &Node::Integer),
    tidy("cache_write_tokens", &Node::Integer),
]));

pub(super) static COMPLETION_DETAILS: Node = Node::Object(&Shape::closed(&[
    tidy("reasoning_tokens", &Node::Integer),
    tidy("audio_tokens", &Node::Integer),
    tidy("text_tokens", &Node::Integer),
    tidy("accepted_prediction_tokens", &Node::Integer),
    tidy("rejected_prediction_tokens", &Node::Integer),
]));

static CHOICE: Node = Node::Object(&Shape::closed(&[
    fill("index", &Node::Integer, Fill::Position),
    need("message", &MESSAGE),
    tidy("logprobs", &LOGPROBS),
    FINISH_REASON,
]));

static CHUNK_CHOICE: Node = Node::Object(&Shape::closed(&[
    fill("index", &Node::Integer, Fill::Position),
    fill("delta", &DELTA, Fill::Json("{}")),
    tidy("logprobs", &LOGPROBS),
    FINISH_REASON,
]));

/// Clients expect it at every choice, `null` until the last chunk.
pub(super) const FINISH_REASON: Member = may("finish_reason", &Node::Text)
    .absent(Absent::Write(Fill::Json("null")))
    .note(Note::Finished);

static MESSAGE: Node = Node::Object(&Shape::closed(&[
    fill("role", &Node::Text, Fill::Json("\"assistant\"")),
    may("content", &Node::Text).absent(Absent::Write(Fill::Json("null"))),
    tidy("refusal", &Node::Text),
    tidy("annotations", &Node::List(&ANNOTATION)).soft(),
    tidy("audio", &AUDIO).soft(),
    tidy("tool_calls", &Node::List(&TOOL_CALL)),
    tidy("function_call", &Node::Object(&FUNCTION)),
    tidy("reasoning_content", &Node::Text),
    tidy("reasoning_details", &Node::List(&Node::Any)).soft(),
    REASONING,
]));

static DELTA: Node = Node::Object(&Shape::closed(&[
    tidy("role", &Node::Text),
    may("content", &Node::Text),
    tidy("reasoning_content", &Node::Text),
    tidy("tool_calls", &Node::List(&TOOL_CALL_DELTA)),
    tidy("refusal", &Node::Text),
    tidy("function_call", &Node::Object(&FUNCTION_DELTA)),
    tidy("annotations", &Node::List(&ANNOTATION)).soft(),
    tidy("audio", &AUDIO).soft(),
    tidy("reasoning_details", &Node::List(&Node::Any)).soft(),
    REASONING,
]));

/// The older spelling some engines use.
const REASONING: Member = tidy("reasoning", &Node::Alias("reasoning_content")).soft();

static ANNOTATION: Node = Node::Object(&Shape::closed(&[
    need("type", &Node::Text),
    tidy(
        "url_citation",
        &Node::Object(&Shape::closed(&[
            may("end_index", &Node::Integer),
            may("start_index", &Node::Integer),
            may("url", &Node::Text),
            may("title", &Node::Text),
        ])),
    ),
]));

/// Whole in an answer; a chunk carries some of it.
static AUDIO: Node = Node::Object(&Shape::closed(&[
    may("id", &Node::Text),
    may("expires_at", &Node::Integer),
    may("data", &Node::Text),
    may("transcript", &Node::Text),
]));

static TOOL_CALL: Node = Node::Tagged(&Tagged {
    tag: "type",
    variants: &[("custom", &CUSTOM_CALL)],
    untagged: &[("", &FUNCTION_CALL)],
    other: Some(&FUNCTION_CALL),
});

static FUNCTION_CALL: Shape = Shape::closed(&[
    fill("id", &Node::Text, Fill::CallId),
    fill("type", &Node::Text, Fill::Json("\"function\"")),
    need("function", &Node::Object(&FUNCTION)),
]);

static CUSTOM_CALL: Shape = Shape::closed(&[
    fill("id", &Node::Text, Fill::CallId),
    need("type", &Node::Text),
    need("custom", &CUSTOM),
]);

static FUNCTION: Shape = Shape::closed(&[
    need("name", &Node::Text),
    fill("arguments", &Node::Arguments, Fill::Json("\"{}\"")).null(Null::Value),
]);

static CUSTOM: Node = Node::Object(&Shape::closed(&[
    need("name", &Node::Text),
    need("input", &Node::Text),
]));

static TOOL_CALL_DELTA: Node = Node::Object(&Shape::closed(&[
    fill("index", &Node::Integer, Fill::Position),
    tidy("id", &Node::Text),
    tidy("type", &Node::Text),
    tidy("function", &Node::Object(&FUNCTION_DELTA)),
    tidy(
        "custom",
        &Node::Object(&Shape::closed(&[
            tidy("name", &Node::Text),
            tidy("input", &Node::Text),
        ])),
    ),
]));

static FUNCTION_DELTA: Shape =
    Shape::closed(&[tidy("name", &Node::Text), tidy("arguments", &Node::Text)]);

/// Token probabilities (component `ChatCompletionTokenLogprob`).
static LOGPROBS: Node = Node::Object(&Shape::closed(&[
    may("content", &Node::List(&TOKEN)),
    may("refusal", &Node::List(&TOKEN)),
]));

static TOKEN: Node = Node::Object(&Shape::closed(&[
    need("token", &Node::Text),
    need("logprob", &Node::Number),
    may("bytes", &Node::List(&Node::Integer)),
    may("top_logprobs", &Node::List(&TOP_TOKEN)),
]));

static TOP_TOKEN: Node = Node::Object(&Shape::closed(&[
    need("token", &Node::Text),
    need("logprob", &Node::Number),
    may("bytes", &Node::List(&Node::Integer)),
]));

static MODERATION: Node = Node::Object(&Shape::closed(&[
    need("input", &MODERATED),
    need("output", &MODERATED),
]));

static MODERATED: Node = Node::Object(&Shape::closed(&[
    need("type", &Node::Text),
    may("model", &Node::Text),
    may("results", &MODERATION_RESULTS),
    may("code", &Node::Text),
    may("message", &Node::Text),
]));

static MODERATION_RESULTS: Node = Node::List(&Node::Object(&MODERATION_RESULT));

/// One verdict (component `ModerationResultBody`).
pub(super) static MODERATION_RESULT: Shape = Shape::closed(&[
    need("type", &Node::Text),
    need("model", &Node::Text),
    need("flagged", &Node::Bool),
    need("categories", &Node::Map(&Node::Bool)),
    need("category_scores", &Node::Map(&Node::Number)),
    need(
        "category_applied_input_types",
        &Node::Map(&Node::List(&Node::Text)),
    ),
]);
