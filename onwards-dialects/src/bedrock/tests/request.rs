use std::collections::BTreeMap;

use expect_test::{Expect, expect, expect_file};

use crate::Family;
use crate::bedrock::{count_path, read_count, write_count, write_request};
use crate::chat;
use crate::failure::Rejected;
use crate::options::{
    Kept, MidSystem, Options, Picture, ReasoningStyle, Settings, StructuredOutput, Written,
};
use crate::request::{Message, Part, PartKind, Request, Role, Source, State, Thinking, ToolResult};
use crate::testing::{NO_PICTURES, nothing};
use crate::text::Str;

const CLAUDE: &str = "eu.anthropic.claude-x-v1:0";
const OTHER: &str = "vendor.model-v1:0";

fn options() -> Options {
    Options {
        structured_output: StructuredOutput::Tool,
        ..crate::testing::options()
    }
}

fn settings<'s>(model: &'s str, options: &'s Options) -> Settings<'s> {
    Settings {
        model,
        options,
        pictures: &NO_PICTURES,
        recall: &nothing,
    }
}

/// What a client of Chat Completions asks for, less what has a place of its own in each test.
fn written(model: &str, options: &Options, members: &str) -> Result<Written, Rejected> {
    let body = if members.contains(r#""messages""#) {
        format!(r#"{{"model":"m",{members}}}"#)
    } else {
        format!(r#"{{"model":"m","messages":[{{"role":"user","content":"Hi"}}],{members}}}"#)
    };
    let request = chat::read_request(body.as_bytes()).unwrap();
    write_request(&request, &settings(model, options))
}

fn line(written: &Result<Written, Rejected>) -> String {
    match written {
        Ok(written) => {
            serde_json::from_str::<serde_json::Value>(&written.body).unwrap();
            let report = written.report.whole(1024);
            let mut out = written.body.replace(
                r#""messages":[{"role":"user","content":[{"text":"Hi"}]}]"#,
                "…",
            );
            for said in [report, memory(written)] {
                if !said.is_empty() {
                    out += "\n";
                    out += &said;
                }
            }
            out
        }
        Err(rejected) => format!(
            "{} {:?} {}",
            rejected.code, rejected.param, rejected.message
        ),
    }
}

fn memory(written: &Written) -> String {
    let names = written.memory.tool_names.iter();
    let names = names.map(|(sent, client)| format!("{sent} is {client}"));
    let shape = written.memory.structured.iter();
    let shape = shape.map(|tool| format!("structured: {tool}"));
    names.chain(shape).collect::<Vec<_>>().join(", ")
}

fn check(model: &str, members: &str, expected: &Expect) {
    expected.assert_eq(&line(&written(model, &options(), members)));
}

#[test]
fn the_spec_s_smallest_request() {
    let written = written(CLAUDE, &options(), r#""stream":true"#).unwrap();
    assert_eq!(
        written.body,
        r#"{"messages":[{"role":"user","content":[{"text":"Hi"}]}]}"#
    );
    assert!(written.report.is_empty());
}

#[test]
fn limits_and_sampling() {
    check(
        OTHER,
        r#""max_completion_tokens":64,"temperature":0.10,"top_p":0.9,"stop":["a"," ","b\n"],"top_k":5"#,
        &expect![[r#"
            {…,"inferenceConfig":{"maxTokens":64,"temperature":0.10,"topP":0.9,"stopSequences":["a","b\n"]}}
            dropped=stop,dropped=top_k"#]],
    );
    check(
        CLAUDE,
        r#""temperature":1.7,"top_k":5"#,
        &expect![[r#"
            {…,"additionalModelRequestFields":{"top_k":5},"inferenceConfig":{"temperature":1}}
            clamped=temperature"#]],
    );
    check(
        OTHER,
        r#""seed":1,"logit_bias":{},"user":"u","presence_penalty":1,"store":true,"new_one":1,"verbosity":"low""#,
        &expect![[r#"
            {…}
            dropped=logit_bias,dropped=new_one,dropped=presence_penalty,dropped=seed,dropped=store,dropped=user,dropped=verbosity"#]],
    );
    check(
        OTHER,
        r#""n":2"#,
        &expect![[
            r#"unsupported_parameter Some("n") `n` is not supported by the provider of this model"#
        ]],
    );
    check(OTHER, r#""n":1"#, &expect!["{…}"]);
}

#[test]
fn metadata_and_tiers() {
    check(
        OTHER,
        r#""metadata":{"a":"b","c":"é"},"service_tier":"flex""#,
        &expect![[r#"{…,"requestMetadata":{"a":"b","c":"é"},"serviceTier":{"type":"flex"}}"#]],
    );
    check(
        OTHER,
        r#""metadata":{"a":1},"service_tier":"scale""#,
        &expect![[r#"
            {…}
            dropped=metadata,dropped=service_tier"#]],
    );
    check(
        OTHER,
        r#""metadata":{},"service_tier":"auto""#,
        &expect!["{…}"],
    );
    let many: Vec<String> = (0..17).map(|n| format!(r#""k{n}":"v""#)).collect();
    let many = format!(r#""metadata":{{{}}}"#, many.join(","));
    check(
        OTHER,
        &many,
        &expect![[r#"
        {…}
        dropped=metadata"#]],
    );
}

const TOOLS: &str = r#""tools":[
    {"type":"function","function":{"name":"get.weather","description":"d","parameters":{"type":"object","properties":{"n":{"maximum":1.10}}},"strict":true}},
    {"type":"function","function":{"name":"b","description":""}}]"#;

#[test]
fn tools() {
    check(
        CLAUDE,
        TOOLS,
        &expect![[r#"
            {"toolConfig":{"tools":[{"toolSpec":{"name":"get_weather","description":"d","inputSchema":{"json":{"type":"object","properties":{"n":{"maximum":1.10}}}}}},{"toolSpec":{"name":"b","inputSchema":{"json":{"type":"object","properties":{}}}}}]},…}
            dropped=strict
            get_weather is get.weather"#]],
    );
    let mut strict = options();
    strict.strict_tools = true;
    let found = line(&written(CLAUDE, &strict, TOOLS));
    assert!(found.contains(r#","strict":true}}"#), "{found}");
}

#[test]
fn choices_of_tools() {
    let tools = r#""tools":[{"type":"function","function":{"name":"a.b"}},{"type":"function","function":{"name":"c"}}]"#;
    let mut out = String::new();
    for (model, more) in [
        (OTHER, r#""tool_choice":"auto""#),
        (OTHER, r#""tool_choice":"required""#),
        (OTHER, r#""tool_choice":"none""#),
        (
            OTHER,
            r#""tool_choice":{"type":"function","function":{"name":"a.b"}}"#,
        ),
        (
            OTHER,
            r#""tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"c"}}]}}"#,
        ),
        (OTHER, r#""parallel_tool_calls":false"#),
        (OTHER, r#""parallel_tool_calls":true"#),
        (CLAUDE, r#""parallel_tool_calls":false"#),
        (
            CLAUDE,
            r#""parallel_tool_calls":false,"tool_choice":{"type":"function","function":{"name":"a.b"}}"#,
        ),
    ] {
        let written = line(&written(model, &options(), &format!("{tools},{more}")));
        out += &format!("{more}\n  {}\n", written.replace('\n', "\n  "));
    }
    expect![[r#"
        "tool_choice":"auto"
          {"toolConfig":{"tools":[{"toolSpec":{"name":"a_b","inputSchema":{"json":{"type":"object","properties":{}}}}},{"toolSpec":{"name":"c","inputSchema":{"json":{"type":"object","properties":{}}}}}],"toolChoice":{"auto":{}}},…}
          a_b is a.b
        "tool_choice":"required"
          {"toolConfig":{"tools":[{"toolSpec":{"name":"a_b","inputSchema":{"json":{"type":"object","properties":{}}}}},{"toolSpec":{"name":"c","inputSchema":{"json":{"type":"object","properties":{}}}}}],"toolChoice":{"any":{}}},…}
          a_b is a.b
        "tool_choice":"none"
          {…}
          a_b is a.b
        "tool_choice":{"type":"function","function":{"name":"a.b"}}
          {"toolConfig":{"tools":[{"toolSpec":{"name":"a_b","inputSchema":{"json":{"type":"object","properties":{}}}}},{"toolSpec":{"name":"c","inputSchema":{"json":{"type":"object","properties":{}}}}}],"toolChoice":{"tool":{"name":"a_b"}}},…}
          a_b is a.b
        "tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"c"}}]}}
          {"toolConfig":{"tools":[{"toolSpec":{"name":"c","inputSchema":{"json":{"type":"object","properties":{}}}}}],"toolChoice":{"any":{}}},…}
          a_b is a.b
        "parallel_tool_calls":false
          {"toolConfig":{"tools":[{"toolSpec":{"name":"a_b","inputSchema":{"json":{"type":"object","properties":{}}}}},{"toolSpec":{"name":"c","inputSchema":{"json":{"type":"object","properties":{}}}}}]},…}
          dropped=parallel_tool_calls
          a_b is a.b
        "parallel_tool_calls":true
          {"toolConfig":{"tools":[{"toolSpec":{"name":"a_b","inputSchema":{"json":{"type":"object","properties":{}}}}},{"toolSpec":{"name":"c","inputSchema":{"json":{"type":"object","properties":{}}}}}]},…}
          a_b is a.b
        "parallel_tool_calls":false
          {"toolConfig":{"tools":[{"toolSpec":{"name":"a_b","inputSchema":{"json":{"type":"object","properties":{}}}}},{"toolSpec":{"name":"c","inputSchema":{"json":{"type":"object","properties":{}}}}}]},…,"additionalModelRequestFields":{"tool_choice":{"type":"auto","disable_parallel_tool_use":true}}}
          a_b is a.b
        "parallel_tool_calls":false,"tool_choice":{"type":"function","function":{"name":"a.b"}}
          {"toolConfig":{"tools":[{"toolSpec":{"name":"a_b","inputSchema":{"json":{"type":"object","properties":{}}}}},{"toolSpec":{"name":"c","inputSchema":{"json":{"type":"object","properties":{}}}}}],"toolChoice":{"tool":{"name":"a_b"}}},…,"additionalModelRequestFields":{"tool_choice":{"type":"tool","name":"a_b","disable_parallel_tool_use":true}}}
          a_b is a.b
    "#]].assert_eq(&out);
    check(
        OTHER,
        r#""tool_choice":"required""#,
        &expect![[r#"
        {…}
        dropped=tool_choice"#]],
    );
}

/// Two calls with results out of order, one of them a picture, and another call.
const HISTORY: &str = r#""messages":[
    {"role":"system","content":"Be brief."},
    {"role":"developer","content":[{"type":"text","text":"And kind.","cache_control":{"type":"ephemeral"}}]},
    {"role":"user","content":"weather?"},
    {"role":"user","content":[{"type":"text","text":"  "},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]},
    {"role":"assistant","content":"Let me see.","tool_calls":[
        {"id":"call/1","type":"function","function":{"name":"a.b","arguments":"{\"n\": 1.10}"}},
        {"id":"call_2","type":"function","function":{"name":"c","arguments":"null"}},
        {"id":"call_3","type":"function","function":{"name":"c","arguments":""}}]},
    {"role":"tool","tool_call_id":"call_2","content":[{"type":"text","text":"two"},{"type":"text","text":""}]},
    {"role":"user","content":"go on"},
    {"role":"tool","tool_call_id":"call/1","content":"{\"t\": 21}"},
    {"role":"tool","tool_call_id":"call_3","content":""},
    {"role":"assistant","content":"Done. \n"}]"#;

#[test]
fn a_conversation() {
    let written = written(OTHER, &options(), HISTORY).unwrap();
    let golden = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/data/bedrock/conversation.golden"
    );
    expect_file![golden].assert_eq(&format!(
        "{}\n{}\n{}\n",
        crate::testing::pretty(&written.body),
        written.report.whole(1024),
        memory(&written)
    ));
}

#[test]
fn tools_of_the_history_are_told_again() {
    let config = |members: &str| {
        let written = line(&written(OTHER, &options(), &format!("{HISTORY},{members}")));
        let (config, rest) = written.split_once(r#","system""#).unwrap();
        let (_, report) = rest.split_once('\n').unwrap();
        format!("{config}\n{report}")
    };
    let tools = r#""tools":[{"type":"function","function":{"name":"c"}}]"#;
    expect![[r#"
        {"toolConfig":{"tools":[{"toolSpec":{"name":"c","inputSchema":{"json":{"type":"object","properties":{}}}}}]}
        changed=tool_arguments,dropped=tool_choice
        a_b is a.b"#]].assert_eq(&config(&format!(r#"{tools},"tool_choice":"none""#)));
    expect![[r#"
        {"toolConfig":{"tools":[{"toolSpec":{"name":"a_b","inputSchema":{"json":{"type":"object"}}}},{"toolSpec":{"name":"c","inputSchema":{"json":{"type":"object"}}}}]}
        changed=tool_arguments,added=tools
        a_b is a.b"#]].assert_eq(&config(r#""tool_choice":"none""#));
}

#[test]
fn a_system_message_in_the_middle() {
    let messages = r#""messages":[{"role":"assistant","content":"Hello"},{"role":"system","content":"Be brief."},
        {"role":"user","content":"Hi"}]"#;
    check(
        OTHER,
        messages,
        &expect![[r#"
            {"system":[{"text":"Be brief."}],"messages":[{"role":"user","content":[{"text":"."}]},{"role":"assistant","content":[{"text":"Hello"}]},{"role":"user","content":[{"text":"Hi"}]}]}
            changed=synthetic_user_turn,changed=system_position"#]],
    );
    let mut note = options();
    note.mid_system = MidSystem::UserNote;
    expect![[r#"
        {"messages":[{"role":"user","content":[{"text":"."}]},{"role":"assistant","content":[{"text":"Hello"}]},{"role":"user","content":[{"text":"System: Be brief."},{"text":"Hi"}]}]}
        changed=synthetic_user_turn,changed=system_position"#]].assert_eq(&line(&written(OTHER, &note, messages)));
    check(
        OTHER,
        r#""messages":[]"#,
        &expect![[
            r#"conversation_empty Some("messages") no message is left to be answered: expected one that is not a system message and not empty"#
        ]],
    );
}

#[test]
fn the_shape_of_an_answer() {
    let schema = r#""response_format":{"type":"json_schema","json_schema":{"name":"my shape","description":"d","schema":{"type":"object", "x":1.10},"strict":true}}"#;
    check(
        CLAUDE,
        schema,
        &expect![[r#"
            {"toolConfig":{"tools":[{"toolSpec":{"name":"my_shape","description":"d","inputSchema":{"json":{"type":"object", "x":1.10}}}}],"toolChoice":{"tool":{"name":"my_shape"}}},…}
            structured: my_shape"#]],
    );
    check(
        CLAUDE,
        r#""response_format":{"type":"json_object"}"#,
        &expect![[r#"
            {"toolConfig":{"tools":[{"toolSpec":{"name":"json_response","inputSchema":{"json":{"type":"object"}}}}],"toolChoice":{"tool":{"name":"json_response"}}},…}
            structured: json_response"#]],
    );
    check(
        CLAUDE,
        r#""response_format":{"type":"text"}"#,
        &expect!["{…}"],
    );
    let tools = r#""tools":[{"type":"function","function":{"name":"c"}}]"#;
    check(
        CLAUDE,
        &format!("{schema},{tools}"),
        &expect![[
            r#"{"toolConfig":{"tools":[{"toolSpec":{"name":"c","inputSchema":{"json":{"type":"object","properties":{}}}}}]},…,"outputConfig":{"textFormat":{"type":"json_schema","structure":{"jsonSchema":{"schema":"{\"type\":\"object\", \"x\":1.10}","name":"my_shape","description":"d"}}}}}"#
        ]],
    );
    check(
        CLAUDE,
        &format!(r#""response_format":{{"type":"json_object"}},{tools}"#),
        &expect![[r#"
            {"toolConfig":{"tools":[{"toolSpec":{"name":"c","inputSchema":{"json":{"type":"object","properties":{}}}}}]},…}
            dropped=response_format"#]],
    );
    let mut native = options();
    native.structured_output = StructuredOutput::Native;
    expect![[r#"{…,"outputConfig":{"textFormat":{"type":"json_schema","structure":{"jsonSchema":{"schema":"{\"type\":\"object\", \"x\":1.10}","name":"my_shape","description":"d"}}}}}"#]].assert_eq(&line(&written(CLAUDE, &native, schema)));
}

#[test]
fn how_much_a_model_may_think() {
    let tools = r#""tools":[{"type":"function","function":{"name":"c"}}],"tool_choice":"required""#;
    check(
        CLAUDE,
        &format!(r#""reasoning_effort":"low","temperature":0.5,"top_k":3,{tools}"#),
        &expect![[r#"
            {"toolConfig":{"tools":[{"toolSpec":{"name":"c","inputSchema":{"json":{"type":"object","properties":{}}}}}],"toolChoice":{"auto":{}}},…,"additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":2048}},"inferenceConfig":{"maxTokens":6144}}
            added=max_tokens,dropped=temperature,changed=tool_choice,dropped=top_k"#]],
    );
    check(
        CLAUDE,
        r#""reasoning_effort":"none","max_tokens":100"#,
        &expect![[
            r#"{…,"additionalModelRequestFields":{"thinking":{"type":"disabled"}},"inferenceConfig":{"maxTokens":100}}"#
        ]],
    );
    check(
        CLAUDE,
        r#""reasoning_effort":"low","max_tokens":100"#,
        &expect![[
            r#"reasoning_budget_exceeds_limit Some("max_tokens") the answer may have 100 tokens, but 2048 are for reasoning alone: expected a higher limit or less effort"#
        ]],
    );
    check(
        OTHER,
        r#""reasoning_effort":"low""#,
        &expect![[r#"
        {…}
        dropped=reasoning_effort"#]],
    );
    check(OTHER, r#""reasoning_effort":"none""#, &expect!["{…}"]);
    let mut adaptive = options();
    adaptive.reasoning_style = ReasoningStyle::Adaptive;
    expect![[r#"{…,"additionalModelRequestFields":{"thinking":{"type":"adaptive"},"output_config":{"effort":"high"}}}"#]].assert_eq(&line(&written(
        CLAUDE,
        &adaptive,
        r#""reasoning_effort":"high""#,
    )));
}

fn thought(text: Option<&'static str>, family: Family) -> Thinking<'static> {
    Thinking {
        text: text.map(Str::plain),
        state: Some(State {
            family,
            data: Str::plain("s"),
        }),
    }
}

/// A chain of calls, with what its model thought or without.
fn chain(thoughts: Vec<Thinking<'static>>) -> Request<'static> {
    let body = br#"{"model":"m","messages":[{"role":"user","content":"Hi"},
        {"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"c1","content":"r"}],"reasoning_effort":"low",
        "tools":[{"type":"function","function":{"name":"f"}}]}"#;
    let mut request = chat::read_request(body).unwrap();
    let thoughts = thoughts
        .into_iter()
        .map(|it| Part::new(PartKind::Thinking(it)));
    request.messages[1].parts.splice(0..0, thoughts);
    request
}

#[test]
fn thoughts_go_back_to_the_family_they_came_from() {
    let request = chain(vec![
        thought(Some("hm"), Family::Anthropic),
        thought(None, Family::Anthropic),
        thought(Some("gem"), Family::Google),
    ]);
    let options = options();
    let claude = line(&write_request(&request, &settings(CLAUDE, &options)));
    expect![[r#"
        {"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object","properties":{}}}}}]},"messages":[{"role":"user","content":[{"text":"Hi"}]},{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"hm","signature":"s"}}},{"reasoningContent":{"redactedContent":"s"}},{"toolUse":{"toolUseId":"c1","name":"f","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"c1","content":[{"text":"r"}]}}]}],"additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":2048}},"inferenceConfig":{"maxTokens":6144}}
        added=max_tokens,dropped=thinking_blocks"#]].assert_eq(&claude);
    let other = line(&write_request(&request, &settings(OTHER, &options)));
    expect![[r#"
        {"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object","properties":{}}}}}]},"messages":[{"role":"user","content":[{"text":"Hi"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"c1","name":"f","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"c1","content":[{"text":"r"}]}}]}]}
        dropped=reasoning_effort,dropped=thinking_blocks"#]].assert_eq(&other);
}

#[test]
fn thoughts_that_the_client_lost_are_remembered_or_thinking_is_off() {
    let request = chain(Vec::new());
    let options = options();
    let lost = line(&write_request(&request, &settings(CLAUDE, &options)));
    expect![[r#"
        {"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object","properties":{}}}}}]},"messages":[{"role":"user","content":[{"text":"Hi"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"c1","name":"f","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"c1","content":[{"text":"r"}]}}]}],"additionalModelRequestFields":{"thinking":{"type":"disabled"}}}
        changed=reasoning(signature_missing)"#]].assert_eq(&lost);
    let recall = |id: &str| {
        (id == "c1").then(|| Kept {
            thoughts: vec![thought(Some("hm"), Family::Anthropic)],
            state: None,
        })
    };
    let remembering = Settings {
        recall: &recall,
        ..settings(CLAUDE, &options)
    };
    expect![[r#"
        {"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object","properties":{}}}}}]},"messages":[{"role":"user","content":[{"text":"Hi"}]},{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"hm","signature":"s"}}},{"toolUse":{"toolUseId":"c1","name":"f","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"c1","content":[{"text":"r"}]}}]}],"additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":2048}},"inferenceConfig":{"maxTokens":6144}}
        added=max_tokens"#]].assert_eq(&line(&write_request(&request, &remembering)));
}

/// A person's message of one part.
fn part(kind: PartKind<'static>) -> Request<'static> {
    Request {
        messages: vec![Message::new(Role::User, vec![Part::new(kind)])],
        ..Request::default()
    }
}

fn file(source: Source<'static>, name: Option<&'static str>) -> PartKind<'static> {
    PartKind::File {
        source,
        name: name.map(Str::plain),
    }
}

fn data(mime: &'static str, base64: &'static str) -> Source<'static> {
    Source::Data {
        mime: Str::plain(mime),
        base64: Str::plain(base64),
    }
}

fn picture(source: Source<'static>) -> PartKind<'static> {
    PartKind::Image {
        source,
        detail: None,
    }
}

#[test]
fn pictures_and_documents() {
    let pictures = BTreeMap::from([(
        "https://a.test/x".to_owned(),
        Picture {
            mime: "image/webp".into(),
            base64: "UklGRg==".to_owned(),
        },
    )]);
    let options = options();
    let settings = Settings {
        pictures: &pictures,
        ..settings(OTHER, &options)
    };
    let url = |url: &'static str| Source::Url(Str::plain(url));
    let mut out = String::new();
    for kind in [
        picture(data("image/jpeg", "AAAA")),
        picture(data("image/tiff", "AAAA")),
        picture(url("https://a.test/x")),
        picture(url("https://a.test/y")),
        picture(url("s3://bucket/a.b/c.JPG")),
        picture(url("s3://bucket/c.tiff")),
        picture(Source::Id(Str::plain("file-1"))),
        file(data("application/pdf", "AAAA"), Some("My  report_v1.pdf")),
        file(data("text/plain;charset=utf-8", "AAAA"), None),
        file(data("application/zip", "AAAA"), None),
        file(url("s3://bucket/c.docx"), Some("é (1) [x]")),
        file(url("s3://bucket/c"), None),
        PartKind::Other {
            kind: Str::plain("input_audio"),
            json: "{}".into(),
        },
    ] {
        let written = line(&write_request(&part(kind), &settings));
        out += &written.replace(r#"{"messages":[{"role":"user","content":["#, "");
        out.push('\n');
    }
    expect![[r#"
        {"image":{"format":"jpeg","source":{"bytes":"AAAA"}}}]}]}
        unsupported_content Some("/messages/0/content/0") /messages/0/content/0: this media type cannot be sent to the provider of this model
        {"image":{"format":"webp","source":{"bytes":"UklGRg=="}}}]}]}
        image_fetch_failed Some("/messages/0/content/0") /messages/0/content/0: the picture was not fetched
        {"image":{"format":"jpeg","source":{"s3Location":{"uri":"s3://bucket/a.b/c.JPG"}}}}]}]}
        unsupported_content Some("/messages/0/content/0") /messages/0/content/0: a picture of unknown type cannot be sent to the provider of this model
        unsupported_content Some("/messages/0/content/0") /messages/0/content/0: a file by its id cannot be sent to the provider of this model
        {"document":{"format":"pdf","name":"My report-v1-pdf","source":{"bytes":"AAAA"}}}]}]}
        {"document":{"format":"txt","name":"document","source":{"bytes":"AAAA"}}}]}]}
        unsupported_content Some("/messages/0/content/0") /messages/0/content/0: a document of unknown type cannot be sent to the provider of this model
        {"document":{"format":"docx","name":"- (1) [x]","source":{"s3Location":{"uri":"s3://bucket/c.docx"}}}}]}]}
        unsupported_content Some("/messages/0/content/0") /messages/0/content/0: a document of unknown type cannot be sent to the provider of this model
        unsupported_content Some("/messages/0/content/0") /messages/0/content/0: a part of this type cannot be sent to the provider of this model
    "#]].assert_eq(&out);
}

#[test]
fn names_of_documents_differ() {
    let mut request = part(file(data("application/pdf", "AAAA"), Some("a.pdf")));
    let more = ["a.pdf", "a.pdf", " "].map(|name| file(data("text/csv", "AAAA"), Some(name)));
    request.messages[0].parts.extend(more.map(Part::new));
    let options = options();
    let written = write_request(&request, &settings(OTHER, &options)).unwrap();
    let names: Vec<&str> = written
        .body
        .split(r#""name":""#)
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    assert_eq!(names, ["a-pdf", "a-pdf (2)", "a-pdf (3)", "document"]);
}

#[test]
fn failed_results_json_results_and_cache_points() {
    let mut request = chain(Vec::new());
    request.reasoning = None;
    let cache = Some(r#"{"type":"ephemeral"}"#.into());
    let mut result = Part::new(PartKind::ToolResult(ToolResult {
        id: Some(Str::plain("c1")),
        name: None,
        content: Vec::new(),
        bare: false,
        json: Some(r#"{ "a": 1.10 }"#.into()),
        is_error: true,
    }));
    result.cache.clone_from(&cache);
    request.messages[2].parts = vec![result];
    request.tools[0].cache.clone_from(&cache);
    for _ in 0..4 {
        let mut text = Part::new(PartKind::Text(Str::plain("x")));
        text.cache.clone_from(&cache);
        request.messages[0].parts.push(text);
    }
    let options = options();
    let written = line(&write_request(&request, &settings(OTHER, &options)));
    expect![[r#"
        {"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object","properties":{}}}}},{"cachePoint":{"type":"default"}}]},"messages":[{"role":"user","content":[{"text":"Hi"},{"text":"x"},{"cachePoint":{"type":"default"}},{"text":"x"},{"cachePoint":{"type":"default"}},{"text":"x"},{"cachePoint":{"type":"default"}},{"text":"x"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"c1","name":"f","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"c1","content":[{"text":"{\"a\":1.10}"}],"status":"error"}}]}]}
        dropped=cache_control"#]].assert_eq(&written);
}

#[test]
fn tokens_are_counted_of_the_prompt_alone() {
    let body = format!(
        r#"{{"model":"m",{HISTORY},{TOOLS},"max_tokens":5,"temperature":0.5,"metadata":{{"a":"b"}}}}"#
    );
    let request = chat::read_request(body.as_bytes()).unwrap();
    let options = options();
    let settings = settings(CLAUDE, &options);
    let written = write_count(&request, &settings).unwrap();
    let value: serde_json::Value = serde_json::from_str(&written.body).unwrap();
    let members: Vec<&String> = value["input"]["converse"]
        .as_object()
        .unwrap()
        .keys()
        .collect();
    assert_eq!(members, ["messages", "system", "toolConfig"]);
    assert_eq!(
        count_path(&settings),
        "/model/eu.anthropic.claude-x-v1%3A0/count-tokens"
    );
    assert_eq!(read_count(r#"{"inputTokens":15}"#), Some(15));
    assert_eq!(read_count(r#"{"message":"no"}"#), None);
}

/// Looking through all that came before for each would take minutes here.
#[test]
fn thousands_of_documents_and_tools_are_told_apart() {
    let common = "a".repeat(250);
    for (title, part) in [("same", ""), (common.as_str(), "x")] {
        let block = |number: usize| {
            let title = if part.is_empty() {
                title.to_owned()
            } else {
                format!("{}{}", title.get(..195).unwrap_or_default(), number % 5000)
            };
            format!(
                r#"{{"type":"file","file":{{"filename":"{title}","file_data":"data:application/pdf;base64,JVBERi0="}}}}"#
            )
        };
        let blocks: Vec<_> = (0..20_000).map(block).collect();
        let messages = format!(
            r#""messages":[{{"role":"user","content":[{}]}}]"#,
            blocks.join(",")
        );
        let body = written(CLAUDE, &options(), &messages).unwrap().body;
        let body: serde_json::Value = serde_json::from_str(&body).unwrap();
        let content = body["messages"][0]["content"].as_array().unwrap();
        let names = content
            .iter()
            .filter_map(|block| block["document"]["name"].as_str());
        let names: std::collections::BTreeSet<_> = names.collect();
        assert_eq!(names.len(), 20_000);
        assert!(names.iter().all(|name| name.len() <= 200));
    }
    let calls = (0..20_000).map(|number| {
        format!(r#"{{"id":"c{number}","type":"function","function":{{"name":"f{number}","arguments":"{{}}"}}}}"#)
    });
    let calls = calls.collect::<Vec<_>>().join(",");
    let messages = format!(
        r#""messages":[{{"role":"user","content":"Hi"}},{{"role":"assistant","tool_calls":[{calls}]}}]"#
    );
    let body = written(CLAUDE, &options(), &messages).unwrap().body;
    let body: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!(
        body["toolConfig"]["tools"].as_array().unwrap().len(),
        20_000
    );
}
