//! Tools and the choice among them (components `Tool`, `ToolChoiceParam`). Unknown kinds are kept whole.

use super::{Node, Shape, TYPE, Tagged, lax, may, need};

/// A tool.
pub(super) static TOOL: Node = Node::Tagged(&Tagged {
    tag: "type",
    variants: &[
        ("apply_patch", &Shape::closed(&[TYPE, CALLERS])),
        ("code_interpreter", &CODE_INTERPRETER),
        ("computer", &Shape::closed(&[TYPE])),
        ("computer_use_preview", &COMPUTER),
        ("custom", &CUSTOM),
        ("file_search", &FILE_SEARCH),
        ("function", &FUNCTION),
        ("image_generation", &IMAGE_GENERATION),
        ("local_shell", &Shape::closed(&[TYPE])),
        ("mcp", &MCP),
        ("namespace", &NAMESPACE),
        ("programmatic_tool_calling", &Shape::closed(&[TYPE])),
        ("shell", &SHELL),
        ("tool_search", &TOOL_SEARCH),
        ("web_search", &WEB_SEARCH),
        ("web_search_2025_08_26", &WEB_SEARCH),
        ("web_search_preview", &WEB_SEARCH_PREVIEW),
        ("web_search_preview_2025_03_11", &WEB_SEARCH_PREVIEW),
    ],
    untagged: &[],
    other: None,
});

/// Which tools may be called.
pub(super) static CHOICE: Node = Node::Choice(&[
    Node::Text,
    Node::Tagged(&Tagged {
        tag: "type",
        variants: &[
            (
                "allowed_tools",
                &Shape::closed(&[
                    TYPE,
                    lax("mode", &Node::Text),
                    lax("tools", &Node::List(&Node::Any)),
                ]),
            ),
            ("apply_patch", &Shape::closed(&[TYPE])),
            ("code_interpreter", &Shape::closed(&[TYPE])),
            ("computer", &Shape::closed(&[TYPE])),
            ("computer_use", &Shape::closed(&[TYPE])),
            ("computer_use_preview", &Shape::closed(&[TYPE])),
            ("custom", &Shape::closed(&[TYPE, NAME])),
            ("file_search", &Shape::closed(&[TYPE])),
            ("function", &Shape::closed(&[TYPE, NAME])),
            ("image_generation", &Shape::closed(&[TYPE])),
            (
                "mcp",
                &Shape::closed(&[TYPE, lax("server_label", &Node::Text), NAME]),
            ),
            ("programmatic_tool_calling", &Shape::closed(&[TYPE])),
            ("shell", &Shape::closed(&[TYPE])),
            ("web_search_preview", &Shape::closed(&[TYPE])),
            ("web_search_preview_2025_03_11", &Shape::closed(&[TYPE])),
        ],
        untagged: &[],
        other: None,
    }),
]);

const NAME: super::Member = lax("name", &Node::Text);
const CALLERS: super::Member = lax("allowed_callers", &Node::List(&Node::Text));
const DEFER: super::Member = lax("defer_loading", &Node::Bool);
const DESCRIPTION: super::Member = lax("description", &Node::Text);

static FUNCTION: Shape = Shape::closed(&[
    TYPE,
    NAME,
    DESCRIPTION,
    may("parameters", &Node::Any),
    may("output_schema", &Node::Any),
    lax("strict", &Node::Bool),
    DEFER,
    CALLERS,
]);

static CUSTOM: Shape = Shape::closed(&[
    TYPE,
    NAME,
    DESCRIPTION,
    lax("format", &CUSTOM_FORMAT),
    DEFER,
    CALLERS,
]);

static CUSTOM_FORMAT: Node = Node::Tagged(&Tagged {
    tag: "type",
    variants: &[
        (
            "grammar",
            &Shape::closed(&[
                TYPE,
                lax("syntax", &Node::Text),
                lax("definition", &Node::Text),
            ]),
        ),
        ("text", &Shape::closed(&[TYPE])),
    ],
    untagged: &[],
    other: None,
});

static NAMESPACE: Shape = Shape::closed(&[
    TYPE,
    NAME,
    DESCRIPTION,
    lax("tools", &Node::List(&NAMESPACE_TOOL)),
]);

static NAMESPACE_TOOL: Node = Node::Tagged(&Tagged {
    tag: "type",
    variants: &[("custom", &CUSTOM), ("function", &FUNCTION)],
    untagged: &[],
    other: None,
});

static TOOL_SEARCH: Shape = Shape::closed(&[
    TYPE,
    lax("execution", &Node::Text),
    DESCRIPTION,
    may("parameters", &Node::Any),
]);

static FILE_SEARCH: Shape = Shape::closed(&[
    TYPE,
    lax("vector_store_ids", &Node::List(&Node::Text)),
    lax("max_num_results", &Node::Integer),
    lax(
        "ranking_options",
        &Node::Object(&Shape::closed(&[
            lax("ranker", &Node::Text),
            lax("score_threshold", &Node::Number),
            lax(
                "hybrid_search",
                &Node::Object(&Shape::closed(&[
                    lax("embedding_weight", &Node::Number),
                    lax("text_weight", &Node::Number),
                ])),
            ),
        ])),
    ),
    // Filters nest without end and are the caller's own.
    lax("filters", &Node::Map(&Node::Any)),
]);

static IMAGE_GENERATION: Shape = Shape::closed(&[
    TYPE,
    lax("model", &Node::Text),
    lax("quality", &Node::Text),
    lax("size", &Node::Text),
    lax("output_format", &Node::Text),
    lax("output_compression", &Node::Integer),
    lax("moderation", &Node::Text),
    lax("background", &Node::Text),
    lax("input_fidelity", &Node::Text),
    lax(
        "input_image_mask",
        &Node::Object(&Shape::closed(&[
            lax("image_url", &Node::Text),
            lax("file_id", &Node::Text),
        ])),
    ),
    lax("partial_images", &Node::Integer),
    lax("action", &Node::Text),
]);

static COMPUTER: Shape = Shape::closed(&[
    TYPE,
    lax("environment", &Node::Text),
    lax("display_width", &Node::Integer),
    lax("display_height", &Node::Integer),
]);

const LOCATION: super::Member = lax(
    "user_location",
    &Node::Object(&Shape::closed(&[
        lax("type", &Node::Text),
        lax("country", &Node::Text),
        lax("region", &Node::Text),
        lax("city", &Node::Text),
        lax("timezone", &Node::Text),
    ])),
);

static WEB_SEARCH: Shape = Shape::closed(&[
    TYPE,
    lax("external_web_access", &Node::Bool),
    lax(
        "filters",
        &Node::Object(&Shape::closed(&[lax(
            "allowed_domains",
            &Node::List(&Node::Text),
        )])),
    ),
    LOCATION,
    lax("search_context_size", &Node::Text),
]);

static WEB_SEARCH_PREVIEW: Shape = Shape::closed(&[
    TYPE,
    LOCATION,
    lax("search_context_size", &Node::Text),
    lax("search_content_types", &Node::List(&Node::Text)),
]);

static MCP: Shape = Shape::closed(&[
    TYPE,
    lax("server_label", &Node::Text),
    lax("server_url", &Node::Text),
    lax("connector_id", &Node::Text),
    lax("tunnel_id", &Node::Text),
    lax("authorization", &Node::Text),
    lax("server_description", &Node::Text),
    lax("headers", &Node::Map(&Node::Text)),
    lax(
        "allowed_tools",
        &Node::Choice(&[Node::List(&Node::Text), Node::Object(&MCP_FILTER)]),
    ),
    CALLERS,
    lax(
        "require_approval",
        &Node::Choice(&[
            Node::Text,
            Node::Object(&Shape::closed(&[
                lax("always", &Node::Object(&MCP_FILTER)),
                lax("never", &Node::Object(&MCP_FILTER)),
            ])),
        ]),
    ),
    DEFER,
]);

static MCP_FILTER: Shape = Shape::closed(&[
    lax("tool_names", &Node::List(&Node::Text)),
    lax("read_only", &Node::Bool),
]);

static CODE_INTERPRETER: Shape = Shape::closed(&[
    TYPE,
    lax(
        "container",
        &Node::Choice(&[Node::Text, Node::Object(&CONTAINER)]),
    ),
    CALLERS,
]);

static SHELL: Shape = Shape::closed(&[TYPE, lax("environment", &ENVIRONMENT), CALLERS]);

static CONTAINER: Shape = Shape::closed(&[TYPE, FILE_IDS, MEMORY, NETWORK]);

const FILE_IDS: super::Member = lax("file_ids", &Node::List(&Node::Text));
const MEMORY: super::Member = lax("memory_limit", &Node::Text);
const NETWORK: super::Member = lax(
    "network_policy",
    &Node::Object(&Shape::closed(&[
        TYPE,
        lax("allowed_domains", &Node::List(&Node::Text)),
        lax(
            "domain_secrets",
            &Node::List(&Node::Object(&Shape::closed(&[
                lax("domain", &Node::Text),
                lax("name", &Node::Text),
                lax("value", &Node::Text),
            ]))),
        ),
    ])),
);

/// Where a shell runs.
pub(super) static ENVIRONMENT: Node = Node::Tagged(&Tagged {
    tag: "type",
    variants: &[
        (
            "container_auto",
            &Shape::closed(&[
                TYPE,
                FILE_IDS,
                MEMORY,
                NETWORK,
                lax("skills", &Node::List(&Node::Object(&SKILL))),
            ]),
        ),
        (
            "container_reference",
            &Shape::closed(&[TYPE, lax("container_id", &Node::Text)]),
        ),
        (
            "local",
            &Shape::closed(&[
                TYPE,
                lax(
                    "skills",
                    &Node::List(&Node::Object(&Shape::closed(&[
                        need("name", &Node::Text),
                        lax("description", &Node::Text),
                        lax("path", &Node::Text),
                    ]))),
                ),
            ]),
        ),
    ],
    untagged: &[],
    other: None,
});

static SKILL: Shape = Shape::closed(&[
    TYPE,
    lax("skill_id", &Node::Text),
    lax("version", &Node::Text),
    NAME,
    DESCRIPTION,
    lax(
        "source",
        &Node::Object(&Shape::closed(&[
            TYPE,
            lax("media_type", &Node::Text),
            lax("data", &Node::Text),
        ])),
    ),
]);
