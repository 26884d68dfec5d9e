//! Requests to Anthropic, from requests as Chat Completions and Messages clients make them.

use expect_test::{Expect, expect};

use crate::failure::Rejected;
use crate::messages::{Host, read_count, read_request, write_count, write_for, write_request};
use crate::options::{ImageUrls, MidSystem, Options, ReasoningStyle, StructuredOutput, Written};
use crate::request::{
    Arguments, MaxTokens, Message, Part, PartKind, Reasoning, Request, Role, Source, Tool,
    ToolCall, ToolChoice, ToolResult,
};
use crate::testing::settings;
use crate::text::Str;

pub(super) fn options() -> Options {
    Options {
        default_max_tokens: Some(4096),
        structured_output: StructuredOutput::Tool,
        ..crate::testing::options()
    }
}

pub(super) fn hi<'a>() -> Request<'a> {
    Request {
        messages: vec![Message::text(Role::User, Str::plain("hi"))],
        max_tokens: Some(MaxTokens {
            tokens: 100,
            spelling: None,
        }),
        ..Request::default()
    }
}

pub(super) fn weather<'a>() -> Tool<'a> {
    Tool {
        name: Str::plain("weather"),
        description: Some(Str::plain("says \"it\"")),
        schema: Some(r#"{"type": "object", "properties": {"n": {"maximum": 1.10}}}"#.into()),
        strict: None,
        cache: None,
    }
}

/// The body without the members that all have, then what was changed.
pub(super) fn shown(written: Result<Written, Rejected>) -> String {
    match written {
        Ok(Written {
            body,
            memory,
            report,
        }) => {
            let body = body
                .replacen(r#"{"model":"the-model","#, "{", 1)
                .replacen(r#""max_tokens":100,"#, "", 1)
                .replacen(
                    r#""messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]"#,
                    "HI",
                    1,
                );
            let mut out = format!("{body}\n{}\n", report.whole(1000));
            if !memory.tool_names.is_empty() || memory.structured.is_some() {
                out += &format!("{:?} {:?}\n", memory.tool_names, memory.structured);
            }
            out
        }
        Err(rejected) => format!(
            "{} [{}] {}\n",
            rejected.code,
            rejected.param.as_deref().unwrap_or_default(),
            rejected.message
        ),
    }
}

pub(super) fn check(request: &Request<'_>, options: &Options, expected: &Expect) {
    expected.assert_eq(&shown(write_request(request, &settings(options))));
}

/// Several requests that differ in one thing.
pub(super) fn check_all<'a>(
    options: &Options,
    requests: impl IntoIterator<Item = Request<'a>>,
    expected: &Expect,
) {
    let all: String = requests
        .into_iter()
        .map(|request| shown(write_request(&request, &settings(options))))
        .collect();
    expected.assert_eq(&all);
}

#[test]
fn the_least_request() {
    let mut request = hi();
    check(
        &request,
        &options(),
        &expect![[r#"
        {HI}

    "#]],
    );
    request.max_tokens = None;
    request.stream = true;
    check(
        &request,
        &options(),
        &expect![[r#"
        {"max_tokens":4096,HI,"stream":true}
        added=max_tokens
    "#]],
    );
}

#[test]
fn system_messages_are_a_string_or_blocks() {
    let hint = Part {
        kind: PartKind::Text(Str::plain("b")),
        cache: Some(r#"{"type":"ephemeral"}"#.into()),
        at: None,
    };
    let system = |parts| Message::new(Role::System, parts);
    let mut one = hi();
    one.messages
        .insert(0, Message::text(Role::Developer, Str::plain("a")));
    let mut two = one.clone();
    two.messages.insert(1, system(vec![hint.clone()]));
    let mut hinted = hi();
    hinted.messages.insert(0, system(vec![hint]));
    let mut late = hi();
    late.messages
        .push(Message::text(Role::System, Str::plain("c")));
    check_all(
        &options(),
        [one, two, hinted, late.clone()],
        &expect![[r#"
        {"system":"a",HI}

        {"system":[{"type":"text","text":"a"},{"type":"text","text":"b","cache_control":{"type":"ephemeral"}}],HI}

        {"system":[{"type":"text","text":"b","cache_control":{"type":"ephemeral"}}],HI}

        {"system":"c",HI}
        changed=system_position
    "#]],
    );
    let note = Options {
        mid_system: MidSystem::UserNote,
        ..options()
    };
    check(
        &late,
        &note,
        &expect![[r#"
        {"messages":[{"role":"user","content":[{"type":"text","text":"hi"},{"type":"text","text":"System: c"}]}]}
        changed=system_position
    "#]],
    );
}

#[test]
fn tools() {
    let with = |choice, parallel| Request {
        tools: vec![
            weather(),
            Tool {
                name: Str::plain("get.time"),
                description: None,
                schema: None,
                strict: Some(true),
                cache: Some(r#"{"type":"ephemeral","ttl":"1h"}"#.into()),
            },
        ],
        tool_choice: choice,
        parallel_tool_calls: parallel,
        ..hi()
    };
    check(
        &with(None, None),
        &options(),
        &expect![[r#"
        {"tools":[{"name":"weather","description":"says \"it\"","input_schema":{"type": "object", "properties": {"n": {"maximum": 1.10}}}},{"name":"get_time","input_schema":{"type":"object","properties":{}},"cache_control":{"type":"ephemeral","ttl":"1h"}}],HI}
        dropped=strict
        [("get_time", "get.time")] None
    "#]],
    );
    let strict = Options {
        strict_tools: true,
        ..options()
    };
    check(
        &with(None, Some(true)),
        &strict,
        &expect![[r#"
        {"tools":[{"name":"weather","description":"says \"it\"","input_schema":{"type": "object", "properties": {"n": {"maximum": 1.10}}}},{"name":"get_time","input_schema":{"type":"object","properties":{}},"strict":true,"cache_control":{"type":"ephemeral","ttl":"1h"}}],HI}

        [("get_time", "get.time")] None
    "#]],
    );
}

#[test]
fn the_choice_of_tools() {
    let with = |choice, parallel| Request {
        tools: vec![
            weather(),
            Tool {
                name: Str::plain("get.time"),
                description: None,
                ..weather()
            },
        ],
        tool_choice: choice,
        parallel_tool_calls: parallel,
        ..hi()
    };
    let named = |name| Some(ToolChoice::Named(Str::plain(name)));
    let allowed = |required| {
        Some(ToolChoice::Allowed {
            names: vec![Str::plain("weather")],
            required,
        })
    };
    let options = options();
    let choices: String = [
        with(None, Some(false)),
        with(Some(ToolChoice::Auto), None),
        with(Some(ToolChoice::Required), Some(false)),
        with(Some(ToolChoice::None), Some(false)),
        with(named("get.time"), None),
        with(allowed(true), None),
        with(allowed(false), Some(false)),
        Request {
            reasoning: Some(Reasoning::Effort(Str::plain("minimal"))),
            max_tokens: None,
            ..with(named("weather"), None)
        },
        Request {
            tool_choice: Some(ToolChoice::Required),
            ..hi()
        },
    ]
    .into_iter()
    .map(|request| {
        let written = write_request(&request, &settings(&options)).unwrap();
        let body: serde_json::Value = serde_json::from_str(&written.body).unwrap();
        let names = body["tools"].as_array().map(Vec::len);
        format!(
            "{names:?} {} {}\n",
            body["tool_choice"],
            written.report.losses(100)
        )
    })
    .collect();
    expect![[r#"
        Some(2) {"disable_parallel_tool_use":true,"type":"auto"} 
        Some(2) {"type":"auto"} 
        Some(2) {"disable_parallel_tool_use":true,"type":"any"} 
        Some(2) {"type":"none"} 
        Some(2) {"name":"get_time","type":"tool"} 
        Some(1) {"type":"any"} 
        Some(1) {"disable_parallel_tool_use":true,"type":"auto"} 
        Some(2) {"type":"auto"} tool_choice
        None null tool_choice
    "#]]
    .assert_eq(&choices);
}

#[test]
fn a_tool_conversation() {
    let call = |id, arguments| {
        Part::new(PartKind::ToolCall(ToolCall {
            id: Some(Str::plain(id)),
            name: Str::plain("get.time"),
            arguments: Arguments::Text(Str::plain(arguments)),
            state: None,
        }))
    };
    let result = |id, content: Vec<Part<'static>>, bare, is_error| {
        let result = PartKind::ToolResult(ToolResult {
            id: Some(Str::plain(id)),
            name: None,
            content,
            bare,
            json: None,
            is_error,
        });
        Message::new(Role::Tool, vec![Part::new(result)])
    };
    let text = |text| Part::new(PartKind::Text(Str::plain(text)));
    let mut request = hi();
    request.messages.extend([
        Message::new(
            Role::Assistant,
            vec![
                text("so"),
                call("a.1", r#"{"b": 1.10, "a": 18446744073709551616}"#),
                call("b", ""),
                call("c", "null"),
                call("d", "[1"),
            ],
        ),
        result("b", vec![text("2")], true, false),
        result("a.1", vec![text("")], true, true),
        result("c", vec![text("1"), text(" ")], false, false),
        result("d", vec![text("")], false, false),
        Message::text(Role::User, Str::plain("and?")),
    ]);
    check(
        &request,
        &options(),
        &expect![[r#"
        {"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"text","text":"so"},{"type":"tool_use","id":"t_4a5f06ec672e3c2321239ec81dd50a","name":"get_time","input":{"b": 1.10, "a": 18446744073709551616}},{"type":"tool_use","id":"b","name":"get_time","input":{}},{"type":"tool_use","id":"c","name":"get_time","input":{"input":null}},{"type":"tool_use","id":"d","name":"get_time","input":{"input":"[1"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"2"},{"type":"tool_result","tool_use_id":"t_4a5f06ec672e3c2321239ec81dd50a","is_error":true},{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"1"}]},{"type":"tool_result","tool_use_id":"d"},{"type":"text","text":"and?"}]}]}
        changed=tool_arguments
        [("get_time", "get.time")] None
    "#]],
    );
}

#[test]
fn a_result_that_is_json_is_text() {
    let mut request = hi();
    let result = PartKind::ToolResult(ToolResult {
        id: None,
        name: Some(Str::plain("f")),
        content: Vec::new(),
        bare: false,
        json: Some(r#"{ "a": "b" }"#.into()),
        is_error: false,
    });
    let call = PartKind::ToolCall(ToolCall {
        id: None,
        name: Str::plain("f"),
        arguments: Arguments::default(),
        state: None,
    });
    request
        .messages
        .push(Message::new(Role::Assistant, vec![Part::new(call)]));
    request
        .messages
        .push(Message::new(Role::Tool, vec![Part::new(result)]));
    check(
        &request,
        &options(),
        &expect![[r#"
        {"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"tool_use","id":"call_0","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_0","content":"{\"a\":\"b\"}"}]}]}

    "#]],
    );
}

#[test]
fn pictures_and_documents() {
    let data = |mime, base64| Source::Data {
        mime: Str::plain(mime),
        base64: Str::plain(base64),
    };
    let image = |source| PartKind::Image {
        source,
        detail: None,
    };
    let file = |source| PartKind::File {
        source,
        name: Some(Str::plain("a.pdf")),
    };
    let url = |url| Source::Url(Str::plain(url));
    let with = |kind| Request {
        messages: vec![Message::new(Role::User, vec![Part::new(kind)])],
        ..hi()
    };
    let requests = || {
        [
            with(image(data("image/jpeg", "iVBORw0KGgoAAAAN"))),
            with(file(data("application/pdf", "JVBERi0x"))),
            with(file(data("text/plain", "aGk="))),
            with(image(data("image/tiff", "AAAA"))),
            with(image(url("https://a.example/b"))),
            with(image(Source::Id(Str::plain("file-1")))),
            with(PartKind::Other {
                kind: Str::plain("input_audio"),
                json: "{}".into(),
            }),
        ]
    };
    check_all(
        &options(),
        requests(),
        &expect![[r#"
        {"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAAN"}}]}]}

        {"messages":[{"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0x"},"title":"a.pdf"}]}]}

        unsupported_content [/messages/0/content/0] /messages/0/content/0: this media type cannot be sent to the provider of this model
        unsupported_content [/messages/0/content/0] /messages/0/content/0: this media type cannot be sent to the provider of this model
        image_fetch_failed [/messages/0/content/0] /messages/0/content/0: the picture was not fetched
        unsupported_content [/messages/0/content/0] /messages/0/content/0: a file by its id cannot be sent to the provider of this model
        unsupported_content [/messages/0/content/0] /messages/0/content/0: a part of type `input_audio` cannot be sent to the provider of this model
    "#]],
    );
    let forward = Options {
        image_urls: ImageUrls::Forward,
        ..options()
    };
    check(
        &with(image(url("https://a.example/b"))),
        &forward,
        &expect![[r#"
            {"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://a.example/b"}}]}]}

        "#]],
    );
}

#[test]
fn four_cache_hints_and_no_more() {
    let part = |text| Part {
        kind: PartKind::Text(Str::plain(text)),
        cache: Some("{}".into()),
        at: None,
    };
    let mut request = hi();
    request.messages = vec![
        Message::new(Role::System, vec![part("s")]),
        Message::new(Role::User, ["a", "b", "c"].map(part).into()),
    ];
    request.tools = vec![Tool {
        cache: Some("{}".into()),
        ..weather()
    }];
    check(
        &request,
        &options(),
        &expect![[r#"
        {"tools":[{"name":"weather","description":"says \"it\"","input_schema":{"type": "object", "properties": {"n": {"maximum": 1.10}}},"cache_control":{}}],"system":[{"type":"text","text":"s","cache_control":{}}],"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{}},{"type":"text","text":"b","cache_control":{}},{"type":"text","text":"c"}]}]}
        dropped=cache_control
    "#]],
    );
}

#[test]
fn messages_without_anything_to_say() {
    let empty = |messages| Request { messages, ..hi() };
    let text = |role, text| Message::text(role, Str::plain(text));
    check_all(
        &options(),
        [
            empty(vec![text(Role::System, "s")]),
            empty(vec![text(Role::User, " ")]),
            empty(vec![text(Role::Assistant, "a \n")]),
            empty(vec![Message::new(
                Role::Tool,
                vec![Part::new(PartKind::ToolResult(ToolResult {
                    id: None,
                    name: None,
                    content: Vec::new(),
                    bare: true,
                    json: None,
                    is_error: false,
                }))],
            )]),
        ],
        &expect![[r#"
            conversation_empty [messages] no message is left to be answered: expected one that is not a system message and not empty
            conversation_empty [messages] no message is left to be answered: expected one that is not a system message and not empty
            {"messages":[{"role":"user","content":[{"type":"text","text":"."}]},{"role":"assistant","content":[{"type":"text","text":"a"}]}]}
            changed=synthetic_user_turn
            tool_call_id_missing [/messages/0/tool_call_id] /messages/0/tool_call_id: missing, expected the id of the call it answers
        "#]],
    );
}

#[test]
fn counting_and_bedrock_leave_out_what_they_do_not_take() {
    let body = br#"{"model":"fast","max_tokens":9,"stream":true,"temperature":0.5,"stop_sequences":["x"],
        "thinking":{"type":"adaptive"},"output_config":{"effort":"low"},"messages":[{"role":"user","content":"hi"}]}"#;
    let request = read_request(body).unwrap();
    let options = Options {
        reasoning_style: ReasoningStyle::Adaptive,
        betas: vec!["b-1".to_owned()],
        ..options()
    };
    let settings = settings(&options);
    let both = shown(write_count(&request, &settings))
        + &shown(write_for(Host::Bedrock, &request, &settings));
    expect![[r#"
        {HI,"thinking":{"type":"adaptive"},"output_config":{"effort":"low"}}

        {"anthropic_version":"bedrock-2023-05-31","anthropic_beta":["b-1"],"max_tokens":9,HI,"thinking":{"type":"adaptive"},"output_config":{"effort":"low"},"stop_sequences":["x"]}
        dropped=temperature
    "#]].assert_eq(&both);
    let answer = include_str!("../../../tests/data/anthropic/llama-count.json");
    assert_eq!(read_count(answer), Some(24));
    assert_eq!(read_count("{}"), None);
}

#[test]
fn members_of_its_own_dialect_go_along() {
    let body =
        br#"{"max_tokens":9,"inference_geo":"eu","messages":[{"role":"user","content":"hi"}]}"#;
    let request = read_request(body).unwrap();
    let options = options();
    let settings = settings(&options);
    let both = shown(write_request(&request, &settings)) + &shown(write_count(&request, &settings));
    expect![[r#"
        {"max_tokens":9,HI,"inference_geo":"eu"}

        {HI}
        dropped=inference_geo
    "#]]
    .assert_eq(&both);
}

#[test]
fn what_only_anthropic_can_serve_is_not_translated() {
    let body = br#"{"max_tokens":9,"tools":[{"type":"web_search_20250305","name":"web_search"}],
        "messages":[{"role":"user","content":"hi"}]}"#;
    let request = read_request(body).unwrap();
    check(
        &request,
        &options(),
        &expect![[r#"
        unsupported_parameter [tools] /tools/0: a tool of type `web_search_20250305` runs at Anthropic only
    "#]],
    );
}
