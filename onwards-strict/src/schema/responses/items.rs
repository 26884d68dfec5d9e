//! Items of an output (component `OutputItem`) and the parts inside. Unknown kinds are kept whole.

use super::{Fill, Member, Node, Shape, TYPE, Tagged, fill, lax, may, need};

/// An item. Without a type it is a message, or a reference if it only has an id; instructions hold such.
pub(super) static ITEM: Node = Node::Tagged(&Tagged {
    tag: "type",
    variants: &[
        (
            "additional_tools",
            &Shape::closed(&[TYPE, ID, lax("role", &Node::Text), TOOLS]),
        ),
        (
            "apply_patch_call",
            &Shape::closed(&[
                TYPE,
                ID,
                CALL_ID,
                CALLER,
                STATUS,
                lax("operation", &PATCH),
                CREATED_BY,
            ]),
        ),
        (
            "apply_patch_call_output",
            &Shape::closed(&[
                TYPE,
                ID,
                CALL_ID,
                CALLER,
                STATUS,
                lax("output", &Node::Text),
                CREATED_BY,
            ]),
        ),
        (
            "code_interpreter_call",
            &Shape::closed(&[
                TYPE,
                ID,
                STATUS,
                lax("container_id", &Node::Text),
                lax("code", &Node::Text),
                lax("outputs", &Node::List(&CODE_OUTPUT)),
            ]),
        ),
        (
            "compaction",
            &Shape::closed(&[TYPE, ID, lax("encrypted_content", &Node::Text), CREATED_BY]),
        ),
        ("compaction_trigger", &Shape::closed(&[TYPE])),
        (
            "computer_call",
            &Shape::closed(&[
                TYPE,
                ID,
                CALL_ID,
                lax("action", &ACTION),
                lax("actions", &Node::List(&ACTION)),
                lax("pending_safety_checks", &SAFETY_CHECKS),
                STATUS,
            ]),
        ),
        (
            "computer_call_output",
            &Shape::closed(&[
                TYPE,
                ID,
                CALL_ID,
                lax("acknowledged_safety_checks", &SAFETY_CHECKS),
                lax("output", &SCREENSHOT),
                STATUS,
                CREATED_BY,
            ]),
        ),
        (
            "custom_tool_call",
            &Shape::closed(&[
                TYPE,
                ID,
                need("call_id", &Node::Text),
                CALLER,
                lax("namespace", &Node::Text),
                need("name", &Node::Text),
                need("input", &Node::Text),
                STATUS,
            ]),
        ),
        (
            "custom_tool_call_output",
            &Shape::closed(&[TYPE, ID, CALL_ID, CALLER, TOOL_OUTPUT, STATUS, CREATED_BY]),
        ),
        (
            "file_search_call",
            &Shape::closed(&[
                TYPE,
                ID,
                STATUS,
                lax("queries", &Node::List(&Node::Text)),
                lax("results", &Node::List(&Node::Object(&FILE_RESULT))),
            ]),
        ),
        (
            "function_call",
            &Shape::closed(&[
                TYPE,
                ID,
                need("call_id", &Node::Text),
                CALLER,
                lax("namespace", &Node::Text),
                need("name", &Node::Text),
                need("arguments", &Node::Text),
                STATUS,
            ]),
        ),
        (
            "function_call_output",
            &Shape::closed(&[
                TYPE,
                ID,
                CALL_ID,
                lax("name", &Node::Text),
                lax("namespace", &Node::Text),
                CALLER,
                TOOL_OUTPUT,
                STATUS,
                CREATED_BY,
            ]),
        ),
        (
            "image_generation_call",
            &Shape::closed(&[TYPE, ID, STATUS, lax("result", &Node::Text)]),
        ),
        ("item_reference", &REFERENCE),
        (
            "local_shell_call",
            &Shape::closed(&[TYPE, ID, CALL_ID, lax("action", &LOCAL_SHELL), STATUS]),
        ),
        (
            "local_shell_call_output",
            &Shape::closed(&[TYPE, ID, lax("output", &Node::Text), STATUS]),
        ),
        (
            "mcp_approval_request",
            &Shape::closed(&[TYPE, ID, LABEL, NAME, lax("arguments", &Node::Text)]),
        ),
        (
            "mcp_approval_response",
            &Shape::closed(&[
                TYPE,
                ID,
                lax("approval_request_id", &Node::Text),
                lax("approve", &Node::Bool),
                lax("reason", &Node::Text),
            ]),
        ),
        (
            "mcp_call",
            &Shape::closed(&[
                TYPE,
                ID,
                LABEL,
                NAME,
                lax("arguments", &Node::Text),
                lax("output", &Node::Text),
                lax("error", &MCP_ERROR),
                STATUS,
                lax("approval_request_id", &Node::Text),
            ]),
        ),
        (
            "mcp_list_tools",
            &Shape::closed(&[
                TYPE,
                ID,
                LABEL,
                lax("tools", &Node::List(&Node::Object(&MCP_TOOL))),
                lax("error", &Node::Text),
            ]),
        ),
        ("message", &MESSAGE),
        (
            "program",
            &Shape::closed(&[
                TYPE,
                ID,
                CALL_ID,
                lax("code", &Node::Text),
                lax("fingerprint", &Node::Text),
            ]),
        ),
        (
            "program_output",
            &Shape::closed(&[TYPE, ID, CALL_ID, lax("result", &Node::Text), STATUS]),
        ),
        (
            "reasoning",
            &Shape::closed(&[
                TYPE,
                ID,
                lax("encrypted_content", &Node::Text),
                fill("summary", &Node::List(&PART), Fill::Json("[]")),
                lax("content", &Node::List(&PART)),
                STATUS,
            ]),
        ),
        (
            "shell_call",
            &Shape::closed(&[
                TYPE,
                ID,
                CALL_ID,
                CALLER,
                lax("action", &SHELL_ACTION),
                STATUS,
                lax("environment", &super::tools::ENVIRONMENT),
                CREATED_BY,
            ]),
        ),
        (
            "shell_call_output",
            &Shape::closed(&[
                TYPE,
                ID,
                CALL_ID,
                CALLER,
                STATUS,
                lax("output", &Node::List(&SHELL_OUTPUT)),
                lax("max_output_length", &Node::Integer),
                CREATED_BY,
            ]),
        ),
        (
            "tool_search_call",
            &Shape::closed(&[
                TYPE,
                ID,
                CALL_ID,
                lax("execution", &Node::Text),
                may("arguments", &Node::Any),
                STATUS,
                CREATED_BY,
            ]),
        ),
        (
            "tool_search_output",
            &Shape::closed(&[
                TYPE,
                ID,
                CALL_ID,
                lax("execution", &Node::Text),
                TOOLS,
                STATUS,
                CREATED_BY,
            ]),
        ),
        (
            "web_search_call",
            &Shape::closed(&[TYPE, ID, STATUS, lax("action", &SEARCH_ACTION)]),
        ),
    ],
    untagged: &[
        ("role", &MESSAGE),
        ("content", &MESSAGE),
        ("id", &REFERENCE),
        ("type", &MESSAGE),
    ],
    other: None,
});

const ID: Member = lax("id", &Node::Text);
const CALL_ID: Member = lax("call_id", &Node::Text);
const STATUS: Member = lax("status", &Node::Text);
const NAME: Member = lax("name", &Node::Text);
const LABEL: Member = lax("server_label", &Node::Text);
const CREATED_BY: Member = lax("created_by", &Node::Text);
const TOOLS: Member = lax("tools", &super::TOOLS);
const TOOL_OUTPUT: Member = lax("output", &TEXT_OR_PARTS);
const CALLER: Member = lax(
    "caller",
    &Node::Object(&Shape::closed(&[TYPE, lax("caller_id", &Node::Text)])),
);

static TEXT_OR_PARTS: Node = Node::Choice(&[Node::Text, Node::List(&PART)]);

static MESSAGE: Shape = Shape::closed(&[
    fill("type", &Node::Text, Fill::Json("\"message\"")),
    ID,
    STATUS,
    fill("role", &Node::Text, Fill::Json("\"assistant\"")),
    need("content", &TEXT_OR_PARTS),
    lax("phase", &Node::Text),
]);

static REFERENCE: Shape = Shape::closed(&[lax("type", &Node::Text), need("id", &Node::Text)]);

/// A part of a message, a reasoning or a tool's output.
pub(super) static PART: Node = Node::Tagged(&PARTS);

/// Its kinds.
pub(super) static PARTS: Tagged = Tagged {
    tag: "type",
    variants: &[
        (
            "input_file",
            &Shape::closed(&[
                TYPE,
                lax("file_id", &Node::Text),
                lax("filename", &Node::Text),
                lax("file_data", &Node::Text),
                BREAKPOINT,
                lax("file_url", &Node::Text),
                DETAIL,
            ]),
        ),
        (
            "input_image",
            &Shape::closed(&[
                TYPE,
                lax("image_url", &Node::Text),
                lax("file_id", &Node::Text),
                DETAIL,
                BREAKPOINT,
            ]),
        ),
        (
            "input_text",
            &Shape::closed(&[TYPE, need("text", &Node::Text), BREAKPOINT]),
        ),
        (
            "output_text",
            &Shape::closed(&[
                TYPE,
                need("text", &Node::Text),
                fill("annotations", &Node::List(&ANNOTATION), Fill::Json("[]")).soft(),
                lax("logprobs", &LOGPROBS),
            ]),
        ),
        (
            "reasoning_text",
            &Shape::closed(&[TYPE, need("text", &Node::Text)]),
        ),
        (
            "refusal",
            &Shape::closed(&[TYPE, need("refusal", &Node::Text)]),
        ),
        (
            "summary_text",
            &Shape::closed(&[TYPE, need("text", &Node::Text)]),
        ),
    ],
    untagged: &[],
    other: None,
};

const DETAIL: Member = lax("detail", &Node::Text);
const BREAKPOINT: Member = lax(
    "prompt_cache_breakpoint",
    &Node::Object(&Shape::closed(&[lax("mode", &Node::Text)])),
);

/// What a stretch of text refers to.
pub(super) static ANNOTATION: Node = Node::Tagged(&Tagged {
    tag: "type",
    variants: &[
        (
            "container_file_citation",
            &Shape::closed(&[
                TYPE,
                lax("container_id", &Node::Text),
                FILE_ID,
                START,
                END,
                FILENAME,
            ]),
        ),
        (
            "file_citation",
            &Shape::closed(&[TYPE, FILE_ID, INDEX, FILENAME]),
        ),
        ("file_path", &Shape::closed(&[TYPE, FILE_ID, INDEX])),
        (
            "url_citation",
            &Shape::closed(&[TYPE, URL, START, END, lax("title", &Node::Text)]),
        ),
    ],
    untagged: &[],
    other: None,
});

const FILE_ID: Member = lax("file_id", &Node::Text);
const FILENAME: Member = lax("filename", &Node::Text);
const INDEX: Member = lax("index", &Node::Integer);
const START: Member = lax("start_index", &Node::Integer);
const END: Member = lax("end_index", &Node::Integer);
const URL: Member = lax("url", &Node::Text);

/// Token probabilities (components `LogProb`, `ResponseLogProb`).
pub(super) static LOGPROBS: Node = Node::List(&Node::Object(&Shape::closed(&[
    TOKEN,
    LOGPROB,
    BYTES,
    lax(
        "top_logprobs",
        &Node::List(&Node::Object(&Shape::closed(&[TOKEN, LOGPROB, BYTES]))),
    ),
])));

const TOKEN: Member = lax("token", &Node::Text);
const LOGPROB: Member = lax("logprob", &Node::Number);
const BYTES: Member = lax("bytes", &Node::List(&Node::Integer));

static FILE_RESULT: Shape = Shape::closed(&[
    FILE_ID,
    lax("text", &Node::Text),
    FILENAME,
    // The caller's own.
    lax("attributes", &Node::Map(&Node::Any)),
    lax("score", &Node::Number),
]);

static SEARCH_ACTION: Node = Node::Tagged(&Tagged {
    tag: "type",
    variants: &[
        (
            "find_in_page",
            &Shape::closed(&[TYPE, URL, lax("pattern", &Node::Text)]),
        ),
        ("open_page", &Shape::closed(&[TYPE, URL])),
        (
            "search",
            &Shape::closed(&[
                TYPE,
                lax("query", &Node::Text),
                lax("queries", &Node::List(&Node::Text)),
                lax(
                    "sources",
                    &Node::List(&Node::Object(&Shape::closed(&[TYPE, URL]))),
                ),
            ]),
        ),
    ],
    untagged: &[],
    other: None,
});

static ACTION: Node = Node::Tagged(&Tagged {
    tag: "type",
    variants: &[
        (
            "click",
            &Shape::closed(&[TYPE, lax("button", &Node::Text), X, Y, KEYS]),
        ),
        ("double_click", &Shape::closed(&[TYPE, X, Y, KEYS])),
        (
            "drag",
            &Shape::closed(&[
                TYPE,
                lax("path", &Node::List(&Node::Object(&Shape::closed(&[X, Y])))),
                KEYS,
            ]),
        ),
        ("keypress", &Shape::closed(&[TYPE, KEYS])),
        ("move", &Shape::closed(&[TYPE, X, Y, KEYS])),
        ("screenshot", &Shape::closed(&[TYPE])),
        (
            "scroll",
            &Shape::closed(&[
                TYPE,
                X,
                Y,
                lax("scroll_x", &Node::Integer),
                lax("scroll_y", &Node::Integer),
                KEYS,
            ]),
        ),
        ("type", &Shape::closed(&[TYPE, lax("text", &Node::Text)])),
        ("wait", &Shape::closed(&[TYPE])),
    ],
    untagged: &[],
    other: None,
});

const X: Member = lax("x", &Node::Integer);
const Y: Member = lax("y", &Node::Integer);
const KEYS: Member = lax("keys", &Node::List(&Node::Text));

static SAFETY_CHECKS: Node = Node::List(&Node::Object(&Shape::closed(&[
    ID,
    lax("code", &Node::Text),
    lax("message", &Node::Text),
])));

static SCREENSHOT: Node = Node::Object(&Shape::closed(&[
    TYPE,
    lax("image_url", &Node::Text),
    FILE_ID,
]));

static CODE_OUTPUT: Node = Node::Tagged(&Tagged {
    tag: "type",
    variants: &[
        ("image", &Shape::closed(&[TYPE, URL])),
        ("logs", &Shape::closed(&[TYPE, lax("logs", &Node::Text)])),
    ],
    untagged: &[],
    other: None,
});

static PATCH: Node = Node::Object(&Shape::closed(&[
    TYPE,
    lax("path", &Node::Text),
    lax("diff", &Node::Text),
]));

static LOCAL_SHELL: Node = Node::Object(&Shape::closed(&[
    TYPE,
    lax("command", &Node::List(&Node::Text)),
    lax("timeout_ms", &Node::Integer),
    lax("working_directory", &Node::Text),
    lax("env", &Node::Map(&Node::Text)),
    lax("user", &Node::Text),
]));

static SHELL_ACTION: Node = Node::Object(&Shape::closed(&[
    lax("commands", &Node::List(&Node::Text)),
    lax("timeout_ms", &Node::Integer),
    lax("max_output_length", &Node::Integer),
]));

/// What a shell printed (component `FunctionShellCallOutputContent`).
pub(super) static SHELL_OUTPUT: Node = Node::Object(&Shape::closed(&[
    lax("stdout", &Node::Text),
    lax("stderr", &Node::Text),
    lax(
        "outcome",
        &Node::Object(&Shape::closed(&[TYPE, lax("exit_code", &Node::Integer)])),
    ),
    CREATED_BY,
]));

static MCP_ERROR: Node = Node::Choice(&[
    Node::Text,
    Node::Object(&Shape::closed(&[
        TYPE,
        lax("code", &Node::Integer),
        lax("message", &Node::Text),
        may("content", &Node::Any),
    ])),
]);

static MCP_TOOL: Shape = Shape::closed(&[
    NAME,
    lax("description", &Node::Text),
    may("input_schema", &Node::Any),
    may("annotations", &Node::Any),
]);
