//! Events of a stream (component `ResponseStreamEvent`). Of unknown kinds only the response inside is cleaned.

use super::{Fill, Member, Node, Note, Shape, TYPE, Tagged, fill, items, lax, may, need, snapshot};

/// Members of all events and some of its own.
macro_rules! event {
    ($($row:expr),* $(,)?) => {
        &Shape::closed(&[TYPE, SEQUENCE, ERROR, $($row),*])
    };
}

/// An event.
pub(crate) static EVENT: Node = Node::Tagged(&Tagged {
    tag: "type",
    variants: &[
        ("error", &FAILURE),
        ("response.audio.delta", event!(DELTA, OBFUSCATION)),
        ("response.audio.done", event!()),
        (
            "response.audio.transcript.delta",
            event!(DELTA, OBFUSCATION),
        ),
        ("response.audio.transcript.done", event!()),
        ("response.cancelled", &CANCELLED),
        ("response.code_interpreter_call.completed", &ITEM_STEP),
        ("response.code_interpreter_call.in_progress", &ITEM_STEP),
        ("response.code_interpreter_call.interpreting", &ITEM_STEP),
        (
            "response.code_interpreter_call_code.delta",
            event!(OUTPUT_INDEX, ITEM_ID, DELTA, OBFUSCATION),
        ),
        (
            "response.code_interpreter_call_code.done",
            event!(OUTPUT_INDEX, ITEM_ID, lax("code", &Node::Text)),
        ),
        ("response.completed", &COMPLETED),
        (
            "response.content_part.added",
            event!(
                ITEM_ID,
                OUTPUT_INDEX,
                CONTENT_INDEX,
                need("part", &items::PART)
            ),
        ),
        (
            "response.content_part.done",
            event!(
                ITEM_ID,
                OUTPUT_INDEX,
                CONTENT_INDEX,
                need("part", &items::PART)
            ),
        ),
        ("response.created", &CREATED),
        (
            "response.custom_tool_call_input.delta",
            event!(OUTPUT_INDEX, ITEM_ID, DELTA, OBFUSCATION),
        ),
        (
            "response.custom_tool_call_input.done",
            event!(OUTPUT_INDEX, ITEM_ID, lax("input", &Node::Text)),
        ),
        ("response.failed", &FAILED),
        ("response.file_search_call.completed", &ITEM_STEP),
        ("response.file_search_call.in_progress", &ITEM_STEP),
        ("response.file_search_call.searching", &ITEM_STEP),
        (
            "response.function_call_arguments.delta",
            event!(ITEM_ID, OUTPUT_INDEX, DELTA, OBFUSCATION),
        ),
        (
            "response.function_call_arguments.done",
            event!(
                ITEM_ID,
                lax("name", &Node::Text),
                OUTPUT_INDEX,
                lax("arguments", &Node::Text)
            ),
        ),
        ("response.image_generation_call.completed", &ITEM_STEP),
        ("response.image_generation_call.generating", &ITEM_STEP),
        ("response.image_generation_call.in_progress", &ITEM_STEP),
        (
            "response.image_generation_call.partial_image",
            event!(
                OUTPUT_INDEX,
                ITEM_ID,
                lax("partial_image_index", &Node::Integer),
                lax("partial_image_b64", &Node::Text),
                lax("size", &Node::Text),
                lax("quality", &Node::Text),
                lax("background", &Node::Text),
                lax("output_format", &Node::Text)
            ),
        ),
        ("response.in_progress", &CREATED),
        ("response.incomplete", &INCOMPLETE),
        ("response.mcp_call.completed", &ITEM_STEP),
        ("response.mcp_call.failed", &ITEM_STEP),
        ("response.mcp_call.in_progress", &ITEM_STEP),
        (
            "response.mcp_call_arguments.delta",
            event!(OUTPUT_INDEX, ITEM_ID, DELTA, OBFUSCATION),
        ),
        (
            "response.mcp_call_arguments.done",
            event!(OUTPUT_INDEX, ITEM_ID, lax("arguments", &Node::Text)),
        ),
        ("response.mcp_list_tools.completed", &ITEM_STEP),
        ("response.mcp_list_tools.failed", &ITEM_STEP),
        ("response.mcp_list_tools.in_progress", &ITEM_STEP),
        (
            "response.output_item.added",
            event!(OUTPUT_INDEX, need("item", &items::ITEM)),
        ),
        (
            "response.output_item.done",
            event!(OUTPUT_INDEX, need("item", &items::ITEM)),
        ),
        (
            "response.output_text.annotation.added",
            event!(
                ITEM_ID,
                OUTPUT_INDEX,
                CONTENT_INDEX,
                lax("annotation_index", &Node::Integer),
                lax("annotation", &items::ANNOTATION)
            ),
        ),
        (
            "response.output_text.delta",
            event!(
                ITEM_ID,
                OUTPUT_INDEX,
                CONTENT_INDEX,
                DELTA,
                lax("logprobs", &items::LOGPROBS),
                OBFUSCATION
            ),
        ),
        (
            "response.output_text.done",
            event!(
                ITEM_ID,
                OUTPUT_INDEX,
                CONTENT_INDEX,
                lax("text", &Node::Text),
                lax("logprobs", &items::LOGPROBS)
            ),
        ),
        ("response.queued", &QUEUED),
        (
            "response.reasoning_summary_part.added",
            event!(
                ITEM_ID,
                OUTPUT_INDEX,
                SUMMARY_INDEX,
                need("part", &items::PART)
            ),
        ),
        (
            "response.reasoning_summary_part.done",
            event!(
                ITEM_ID,
                OUTPUT_INDEX,
                SUMMARY_INDEX,
                lax("status", &Node::Text),
                need("part", &items::PART)
            ),
        ),
        (
            "response.reasoning_summary_text.delta",
            event!(ITEM_ID, OUTPUT_INDEX, SUMMARY_INDEX, DELTA, OBFUSCATION),
        ),
        (
            "response.reasoning_summary_text.done",
            event!(
                ITEM_ID,
                OUTPUT_INDEX,
                SUMMARY_INDEX,
                lax("text", &Node::Text)
            ),
        ),
        (
            "response.reasoning_text.delta",
            event!(ITEM_ID, OUTPUT_INDEX, CONTENT_INDEX, DELTA, OBFUSCATION),
        ),
        (
            "response.reasoning_text.done",
            event!(
                ITEM_ID,
                OUTPUT_INDEX,
                CONTENT_INDEX,
                lax("text", &Node::Text)
            ),
        ),
        (
            "response.refusal.delta",
            event!(ITEM_ID, OUTPUT_INDEX, CONTENT_INDEX, DELTA, OBFUSCATION),
        ),
        (
            "response.refusal.done",
            event!(
                ITEM_ID,
                OUTPUT_INDEX,
                CONTENT_INDEX,
                lax("refusal", &Node::Text)
            ),
        ),
        (
            "response.shell_call_command.added",
            event!(OUTPUT_INDEX, COMMAND_INDEX, lax("command", &Node::Text)),
        ),
        (
            "response.shell_call_command.delta",
            event!(OUTPUT_INDEX, COMMAND_INDEX, DELTA, OBFUSCATION),
        ),
        (
            "response.shell_call_command.done",
            event!(OUTPUT_INDEX, COMMAND_INDEX, lax("command", &Node::Text)),
        ),
        (
            "response.shell_call_output_content.delta",
            event!(
                ITEM_ID,
                OUTPUT_INDEX,
                COMMAND_INDEX,
                lax("delta", &SHELL_DELTA),
                OBFUSCATION
            ),
        ),
        (
            "response.shell_call_output_content.done",
            event!(
                ITEM_ID,
                OUTPUT_INDEX,
                COMMAND_INDEX,
                lax("output", &Node::List(&items::SHELL_OUTPUT))
            ),
        ),
        ("response.web_search_call.completed", &ITEM_STEP),
        ("response.web_search_call.in_progress", &ITEM_STEP),
        ("response.web_search_call.searching", &ITEM_STEP),
    ],
    untagged: &[],
    other: Some(&UNKNOWN),
});

/// Some providers do not count their events.
const SEQUENCE: Member = fill("sequence_number", &Node::Integer, Fill::Sequence);
const ERROR: Member = may("error", &Node::Dropped).note(Note::Error);

const ITEM_ID: Member = lax("item_id", &Node::Text);
const OUTPUT_INDEX: Member = lax("output_index", &Node::Integer);
const CONTENT_INDEX: Member = lax("content_index", &Node::Integer);
const SUMMARY_INDEX: Member = lax("summary_index", &Node::Integer);
const COMMAND_INDEX: Member = lax("command_index", &Node::Integer);
const DELTA: Member = may("delta", &Node::Text);
/// Padding against guesses from lengths; sent with every kind of delta.
const OBFUSCATION: Member = lax("obfuscation", &Node::Text);

/// A step in the making of an item.
static ITEM_STEP: Shape = Shape::closed(&[TYPE, SEQUENCE, ERROR, OUTPUT_INDEX, ITEM_ID]);

static SHELL_DELTA: Node = Node::Object(&Shape::closed(&[
    lax("stdout", &Node::Text),
    lax("stderr", &Node::Text),
]));

/// A failure of the stream itself.
static FAILURE: Shape = Shape::closed(&[
    TYPE,
    SEQUENCE,
    ERROR,
    may("code", &Node::FailureCode),
    may("message", &Node::Private(super::FAILED)),
    may("param", &Node::Private("null")),
]);

static UNKNOWN: Shape = Shape::open(&[
    TYPE,
    SEQUENCE,
    ERROR,
    may("response", &Node::Object(&COMPLETED_STATE)),
]);

static CREATED: Shape = Shape::closed(&[
    TYPE,
    SEQUENCE,
    ERROR,
    need("response", &Node::Object(&CREATED_STATE)),
]);
static CREATED_STATE: Shape = Shape::closed(&CREATED_MEMBERS);
static CREATED_MEMBERS: [Member; 38] = snapshot("\"in_progress\"");

static QUEUED: Shape = Shape::closed(&[
    TYPE,
    SEQUENCE,
    ERROR,
    need("response", &Node::Object(&QUEUED_STATE)),
]);
static QUEUED_STATE: Shape = Shape::closed(&QUEUED_MEMBERS);
static QUEUED_MEMBERS: [Member; 38] = snapshot("\"queued\"");

static COMPLETED: Shape = Shape::closed(&[
    TYPE,
    SEQUENCE,
    ERROR,
    need("response", &Node::Object(&COMPLETED_STATE)),
]);
static COMPLETED_STATE: Shape = Shape::closed(&COMPLETED_MEMBERS);
static COMPLETED_MEMBERS: [Member; 38] = snapshot("\"completed\"");

static INCOMPLETE: Shape = Shape::closed(&[
    TYPE,
    SEQUENCE,
    ERROR,
    need("response", &Node::Object(&INCOMPLETE_STATE)),
]);
static INCOMPLETE_STATE: Shape = Shape::closed(&INCOMPLETE_MEMBERS);
static INCOMPLETE_MEMBERS: [Member; 38] = snapshot("\"incomplete\"");

static FAILED: Shape = Shape::closed(&[
    TYPE,
    SEQUENCE,
    ERROR,
    need("response", &Node::Object(&FAILED_STATE)),
]);
static FAILED_STATE: Shape = Shape::closed(&FAILED_MEMBERS);
static FAILED_MEMBERS: [Member; 38] = snapshot("\"failed\"");

static CANCELLED: Shape = Shape::closed(&[
    TYPE,
    SEQUENCE,
    ERROR,
    need("response", &Node::Object(&CANCELLED_STATE)),
]);
static CANCELLED_STATE: Shape = Shape::closed(&CANCELLED_MEMBERS);
static CANCELLED_MEMBERS: [Member; 38] = snapshot("\"cancelled\"");
