//! Requests. Members no row names are allowed, and nothing is edited: the bytes are forwarded.
//!
//! Shapes follow `CreateChatCompletionRequest`, `CreateCompletionRequest`, `CreateEmbeddingRequest` and
//! `CreateResponse`, but check only what a wrong type would make senseless; numbers have no range.

use super::{Absent, Node, Note, Shape, Tagged, may, need};

/// A chat request.
pub(crate) static CHAT: Node = Node::Object(
    &Shape::open(&[
        need("model", &Node::Text),
        need("messages", &Node::List(&MESSAGE)),
        may("stream", &Node::Bool).note(Note::Stream),
        may("stream_options", &STREAM_OPTIONS),
        may("temperature", &Node::Number),
        may("top_p", &Node::Number),
        may("presence_penalty", &Node::Number),
        may("frequency_penalty", &Node::Number),
        may("n", &Node::Unsigned),
        may("max_tokens", &Node::Unsigned),
        may("max_completion_tokens", &Node::Unsigned),
        may("seed", &Node::Integer),
        may("stop", &STOP),
        may("logprobs", &Node::Bool),
        may("top_logprobs", &Node::Unsigned),
        may("parallel_tool_calls", &Node::Bool),
        may("tools", &Node::List(&TOOL)),
        may("tool_choice", &TOOL_CHOICE),
        may("response_format", &RESPONSE_FORMAT),
        may("user", &Node::Text),
        may("service_tier", &Node::Text),
    ])
    .catalogued(),
);

/// A legacy completion request.
pub(crate) static COMPLETIONS: Node = Node::Object(&Shape::open(&[
    need("model", &Node::Text),
    may("prompt", &TEXTS_OR_TOKENS),
    may("stream", &Node::Bool).note(Note::Stream),
    may("stream_options", &STREAM_OPTIONS),
    may("temperature", &Node::Number),
    may("top_p", &Node::Number),
    may("presence_penalty", &Node::Number),
    may("frequency_penalty", &Node::Number),
    may("max_tokens", &Node::Unsigned),
    may("n", &Node::Unsigned),
    may("logprobs", &Node::Unsigned),
    may("best_of", &Node::Unsigned),
    may("min_tokens", &Node::Unsigned),
    may("seed", &Node::Integer),
    may("priority", &Node::Integer),
    may("echo", &Node::Bool),
    may("ignore_eos", &Node::Bool),
    may("skip_special_tokens", &Node::Bool),
    may("include_stop_str_in_output", &Node::Bool),
    may("suffix", &Node::Text),
    may("user", &Node::Text),
    may("stop", &STOP),
    may("stop_token_ids", &Node::List(&Node::Unsigned)),
]));

/// An embeddings request.
pub(crate) static EMBEDDINGS: Node = Node::Object(&Shape::open(&[
    need("model", &Node::Text),
    need("input", &TEXTS_OR_TOKENS),
    may("encoding_format", &Node::Text),
    may("dimensions", &Node::Unsigned),
    may("user", &Node::Text),
]));

/// A Responses request.
pub(crate) static RESPONSES: Node = Node::Object(&Shape::open(&[
    need("model", &Node::Text),
    // A stored prompt may bring its own input.
    need("input", &Node::Choice(&[Node::Text, Node::List(&ITEM)]))
        .absent(Absent::RefuseUnless("prompt")),
    may("stream", &Node::Bool).note(Note::Stream),
    may("instructions", &Node::Text),
    may("previous_response_id", &Node::Text),
    may("user", &Node::Text),
    may("service_tier", &Node::Text),
    may("store", &Node::Bool),
    may("parallel_tool_calls", &Node::Bool),
    may("background", &Node::Bool),
    may("temperature", &Node::Number),
    may("top_p", &Node::Number),
    may("max_output_tokens", &Node::Unsigned),
    may("stop", &STOP),
    may("truncation", &Node::Word(&["auto", "disabled"])),
    may("reasoning", &Node::Map(&Node::Any)),
    may("text", &TEXT),
    may("tools", &Node::List(&RESPONSES_TOOL)),
    may("tool_choice", &RESPONSES_TOOL_CHOICE),
    may("prompt", &Node::Any),
]));

static STREAM_OPTIONS: Node = Node::Object(&Shape::open(&[
    may("include_usage", &Node::Bool).note(Note::IncludeUsage)
]));

static STOP: Node = Node::Choice(&[Node::Text, Node::List(&Node::Text)]);

static TEXTS_OR_TOKENS: Node = Node::Choice(&[
    Node::Text,
    Node::List(&Node::Text),
    Node::List(&Node::Unsigned),
    Node::List(&Node::List(&Node::Unsigned)),
]);

static MESSAGE: Node = Node::Object(&Shape::open(&[
    need("role", &Node::Text),
    may("content", &Node::Choice(&[Node::Text, Node::List(&PART)])),
    may("name", &Node::Text),
    may("tool_calls", &Node::List(&TOOL_CALL)),
    may("tool_call_id", &Node::Text),
    may("reasoning", &Node::Text),
    may("reasoning_content", &Node::Text),
    may("reasoning_details", &Node::List(&Node::Any)),
]));

/// Kinds the list does not know are forwarded.
static PART: Node = Node::Tagged(&Tagged {
    tag: "type",
    variants: &[
        (
            "file",
            &Shape::open(&[need("file", &Node::Map(&Node::Any))]),
        ),
        ("image_url", &Shape::open(&[need("image_url", &IMAGE_URL)])),
        (
            "input_audio",
            &Shape::open(&[need("input_audio", &INPUT_AUDIO)]),
        ),
        ("refusal", &Shape::open(&[need("refusal", &Node::Text)])),
        ("text", &Shape::open(&[need("text", &Node::Text)])),
    ],
    untagged: &[],
    other: None,
});

static IMAGE_URL: Node = Node::Object(&Shape::open(&[
    need("url", &Node::Text),
    may("detail", &Node::Text),
]));

static INPUT_AUDIO: Node = Node::Object(&Shape::open(&[
    need("data", &Node::Text),
    need("format", &Node::Text),
]));

static TOOL_CALL: Node = Node::Tagged(&Tagged {
    tag: "type",
    variants: &[
        (
            "custom",
            &Shape::open(&[
                need("id", &Node::Text),
                need(
                    "custom",
                    &Node::Object(&Shape::open(&[
                        need("name", &Node::Text),
                        need("input", &Node::Text),
                    ])),
                ),
            ]),
        ),
        (
            "function",
            &Shape::open(&[
                need("id", &Node::Text),
                need(
                    "function",
                    &Node::Object(&Shape::open(&[
                        need("name", &Node::Text),
                        need("arguments", &Node::Text),
                    ])),
                ),
            ]),
        ),
    ],
    untagged: &[],
    other: None,
});

static TOOL: Node = Node::Tagged(&Tagged {
    tag: "type",
    variants: &[
        (
            "custom",
            &Shape::open(&[need("custom", &Node::Object(&Shape::open(&[NAME])))]),
        ),
        (
            "function",
            &Shape::open(&[need(
                "function",
                &Node::Object(&Shape::open(&[
                    NAME,
                    may("description", &Node::Text),
                    may("strict", &Node::Bool),
                ])),
            )]),
        ),
    ],
    untagged: &[],
    other: None,
});

const NAME: super::Member = need("name", &Node::Text);

static TOOL_CHOICE: Node = Node::Choice(&[
    Node::Text,
    Node::Tagged(&Tagged {
        tag: "type",
        variants: &[(
            "function",
            &Shape::open(&[need("function", &Node::Object(&Shape::open(&[NAME])))]),
        )],
        untagged: &[],
        other: None,
    }),
]);

static RESPONSE_FORMAT: Node = Node::Object(&Shape::open(&[need("type", &Node::Text)]));

/// An item of a Responses input. Without a type it is a message, or a reference if it only has an id.
static ITEM: Node = Node::Tagged(&Tagged {
    tag: "type",
    variants: &[
        (
            "function_call",
            &Shape::open(&[
                may("id", &Node::Text),
                need("call_id", &Node::Text),
                NAME,
                need("arguments", &Node::Text),
                may("status", &Node::Text),
            ]),
        ),
        (
            "function_call_output",
            &Shape::open(&[
                may("id", &Node::Text),
                may("call_id", &Node::Text),
                need(
                    "output",
                    &Node::Choice(&[Node::Text, Node::List(&ITEM_PART)]),
                ),
            ]),
        ),
        ("item_reference", &REFERENCE),
        ("message", &ITEM_MESSAGE),
        (
            "reasoning",
            &Shape::open(&[
                may("id", &Node::Text),
                may("content", &Node::List(&Node::Any)),
                may("encrypted_content", &Node::Text),
                may("summary", &Node::List(&Node::Any)),
                may("status", &Node::Text),
            ]),
        ),
    ],
    untagged: &[
        ("role", &ITEM_MESSAGE),
        ("content", &ITEM_MESSAGE),
        ("id", &REFERENCE),
        ("type", &ITEM_MESSAGE),
    ],
    other: None,
});

static REFERENCE: Shape = Shape::open(&[need("id", &Node::Text)]);

static ITEM_MESSAGE: Shape = Shape::open(&[
    may("id", &Node::Text),
    need("role", &Node::Text),
    need(
        "content",
        &Node::Choice(&[Node::Text, Node::List(&ITEM_PART)]),
    ),
    may("status", &Node::Text),
]);

static ITEM_PART: Node = Node::Tagged(&Tagged {
    tag: "type",
    variants: &[
        (
            "input_file",
            &Shape::open(&[may("file_id", &Node::Text), may("filename", &Node::Text)]),
        ),
        (
            "input_image",
            &Shape::open(&[may("image_url", &Node::Text), may("detail", &Node::Text)]),
        ),
        ("input_text", &Shape::open(&[need("text", &Node::Text)])),
        ("output_text", &Shape::open(&[need("text", &Node::Text)])),
        ("refusal", &Shape::open(&[need("refusal", &Node::Text)])),
    ],
    untagged: &[],
    other: None,
});

static TEXT: Node = Node::Object(&Shape::open(&[may("format", &RESPONSE_FORMAT)]));

/// Any kind of tool; a function needs its name.
static RESPONSES_TOOL: Node = Node::Tagged(&Tagged {
    tag: "type",
    variants: &[("function", &Shape::open(&[NAME]))],
    untagged: &[],
    other: None,
});

static RESPONSES_TOOL_CHOICE: Node = Node::Choice(&[
    Node::Text,
    Node::Object(&Shape::open(&[
        need("type", &Node::Text),
        may("name", &Node::Text),
    ])),
]);
