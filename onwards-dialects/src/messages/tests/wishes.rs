//! What requests ask for beside the conversation, said to Anthropic.

use expect_test::expect;

use super::requests::{check, check_all, hi, options, shown, weather};
use crate::Family;
use crate::messages::write_request;
use crate::options::{Kept, Options, ReasoningStyle, StructuredOutput};
use crate::request::{
    Arguments, Format, JsonSchema, Message, Param, Part, PartKind, Reasoning, Request, Role, State,
    Thinking, ToolCall, ToolResult,
};
use crate::testing::settings;
use crate::text::Str;

fn params(params: &[(&'static str, &'static str)]) -> Vec<Param<'static>> {
    let param = |(name, value): &(&'static str, &'static str)| Param {
        name,
        value: (*value).into(),
    };
    params.iter().map(param).collect()
}

#[test]
fn parameters_are_taken_clamped_or_dropped() {
    check_all(
        &options(),
        [
            &[("temperature", "1.50"), ("n", "1"), ("top_k", "4")][..],
            &[("temperature", "0.70"), ("top_p", "0.9")],
            &[
                ("top_p", "0.9"),
                ("user", r#""u\u0031""#),
                ("service_tier", r#""default""#),
            ],
            &[
                ("user", r#""u""#),
                ("safety_identifier", r#""s""#),
                ("service_tier", r#""auto""#),
            ],
            &[
                ("service_tier", r#""flex""#),
                ("seed", "1"),
                ("logprobs", "true"),
                ("metadata", "{}"),
            ],
            &[("user", "7"), ("modalities", r#"["text"]"#)],
            &[("n", "2")],
        ]
        .map(|given| Request {
            params: params(given),
            ..hi()
        }),
        &expect![[r#"
            {HI,"temperature":1,"top_k":4}
            clamped=temperature
            {HI,"temperature":0.70}
            dropped=top_p
            {HI,"top_p":0.9,"metadata":{"user_id":"u\u0031"},"service_tier":"standard_only"}

            {HI,"metadata":{"user_id":"s"},"service_tier":"auto"}
            dropped=user
            {HI}
            dropped=logprobs,dropped=metadata,dropped=seed,dropped=service_tier
            {HI}
            dropped=modalities,dropped=user
            unsupported_parameter [n] `n` is not supported by the provider of this model
        "#]],
    );
    let mut stops = hi();
    stops.stop = vec![Str::plain("a\n"), Str::plain(" \n")];
    stops.unknown = vec![(Str::plain("x"), "1".into())];
    check(
        &stops,
        &options(),
        &expect![[r#"
        {HI,"stop_sequences":["a\n"]}
        dropped=stop,dropped=x
    "#]],
    );
}

#[test]
fn reasoning_by_budget_or_adaptive() {
    let with = |effort, limit| Request {
        reasoning: Some(Reasoning::Effort(Str::plain(effort))),
        params: params(&[("temperature", "0.5"), ("top_p", "0.99"), ("top_k", "1")]),
        max_tokens: limit,
        ..hi()
    };
    let hundred = hi().max_tokens;
    let requests = || {
        [
            with("low", None),
            with("none", hundred),
            with("high", hundred),
        ]
    };
    check_all(
        &options(),
        requests(),
        &expect![[r#"
        {"max_tokens":6144,HI,"thinking":{"type":"enabled","budget_tokens":2048},"top_p":0.99}
        added=max_tokens,dropped=temperature,dropped=top_k
        {HI,"thinking":{"type":"disabled"},"temperature":0.5,"top_k":1}
        dropped=top_p
        reasoning_budget_exceeds_limit [max_tokens] the answer may have 100 tokens, but 16384 are for reasoning alone: expected a higher limit or less effort
    "#]],
    );
    let adaptive = Options {
        reasoning_style: ReasoningStyle::Adaptive,
        ..options()
    };
    check_all(
        &adaptive,
        requests(),
        &expect![[r#"
        {"max_tokens":4096,HI,"thinking":{"type":"adaptive"},"output_config":{"effort":"low"},"top_p":0.99}
        added=max_tokens,dropped=temperature,dropped=top_k
        {HI,"thinking":{"type":"disabled"},"temperature":0.5,"top_k":1}
        dropped=top_p
        {HI,"thinking":{"type":"adaptive"},"output_config":{"effort":"high"},"top_p":0.99}
        dropped=temperature,dropped=top_k
    "#]],
    );
}

fn chain(thought: Option<Thinking<'static>>) -> Request<'static> {
    let call = PartKind::ToolCall(ToolCall {
        id: Some(Str::plain("c1")),
        name: Str::plain("weather"),
        arguments: Arguments::default(),
        state: None,
    });
    let thought = thought.map(|thought| Part::new(PartKind::Thinking(thought)));
    let said = thought.into_iter().chain([Part::new(call)]).collect();
    let result = PartKind::ToolResult(ToolResult {
        id: Some(Str::plain("c1")),
        name: None,
        content: vec![Part::new(PartKind::Text(Str::plain("21")))],
        bare: true,
        json: None,
        is_error: false,
    });
    let mut request = hi();
    request.max_tokens = None;
    request.reasoning = Some(Reasoning::Budget(2000));
    request.messages.extend([
        Message::new(Role::Assistant, said),
        Message::new(Role::Tool, vec![Part::new(result)]),
    ]);
    request
}

fn thought(family: Family) -> Thinking<'static> {
    Thinking {
        text: Some(Str::plain("hm")),
        state: Some(State {
            family,
            data: Str::plain("sig=="),
        }),
    }
}

#[test]
fn thoughts_go_back_unmodified_or_thinking_is_switched_off() {
    check_all(
        &options(),
        [
            chain(Some(thought(Family::Anthropic))),
            chain(Some(Thinking {
                text: None,
                ..thought(Family::Anthropic)
            })),
            chain(Some(thought(Family::Google))),
            chain(None),
        ],
        &expect![[r#"
            {"max_tokens":6096,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"sig=="},{"type":"tool_use","id":"c1","name":"weather","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"21"}]}],"thinking":{"type":"enabled","budget_tokens":2000}}
            added=max_tokens
            {"max_tokens":6096,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"redacted_thinking","data":"sig=="},{"type":"tool_use","id":"c1","name":"weather","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"21"}]}],"thinking":{"type":"enabled","budget_tokens":2000}}
            added=max_tokens
            {"max_tokens":4096,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"weather","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"21"}]}],"thinking":{"type":"disabled"}}
            added=max_tokens,changed=reasoning(signature_missing),dropped=thinking_blocks
            {"max_tokens":4096,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"weather","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"21"}]}],"thinking":{"type":"disabled"}}
            added=max_tokens,changed=reasoning(signature_missing)
        "#]],
    );
    let remembered = |id: &str| {
        (id == "c1").then(|| Kept {
            thoughts: vec![thought(Family::Anthropic)],
            state: None,
        })
    };
    let options = options();
    let mut settings = settings(&options);
    settings.recall = &remembered;
    expect![[r#"
        {"max_tokens":6096,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"sig=="},{"type":"tool_use","id":"c1","name":"weather","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"21"}]}],"thinking":{"type":"enabled","budget_tokens":2000}}
        added=max_tokens
    "#]].assert_eq(&shown(write_request(&chain(None), &settings)));
}

#[test]
fn structured_output_through_a_tool_or_natively() {
    let schema = || {
        Some(Format::JsonSchema(JsonSchema {
            name: Some(Str::plain("the answer")),
            description: Some(Str::plain("d")),
            schema: Some(r#"{"type": "object"}"#.into()),
            strict: Some(true),
        }))
    };
    let with = |format| Request { format, ..hi() };
    let thinking = |format| Request {
        reasoning: Some(Reasoning::Budget(10)),
        ..with(format)
    };
    let tools = |format| Request {
        tools: vec![weather()],
        ..with(format)
    };
    check_all(
        &options(),
        [
            with(Some(Format::Text)),
            with(Some(Format::JsonObject)),
            with(schema()),
            thinking(schema()),
            tools(schema()),
            tools(Some(Format::JsonObject)),
        ],
        &expect![[r#"
            {HI}

            {"tools":[{"name":"json_response","input_schema":{"type":"object"}}],"tool_choice":{"type":"tool","name":"json_response"},HI}

            [] Some("json_response")
            {"tools":[{"name":"the_answer","description":"d","input_schema":{"type": "object"}}],"tool_choice":{"type":"tool","name":"the_answer"},HI}

            [] Some("the_answer")
            {HI,"thinking":{"type":"enabled","budget_tokens":10},"output_config":{"format":{"type":"json_schema","schema":{"type": "object"}}}}
            changed=response_format(description)
            {"tools":[{"name":"weather","description":"says \"it\"","input_schema":{"type": "object", "properties": {"n": {"maximum": 1.10}}}}],HI,"output_config":{"format":{"type":"json_schema","schema":{"type": "object"}}}}
            changed=response_format(description)
            {"tools":[{"name":"weather","description":"says \"it\"","input_schema":{"type": "object", "properties": {"n": {"maximum": 1.10}}}}],HI}
            dropped=response_format
        "#]],
    );
    let native = Options {
        structured_output: StructuredOutput::Native,
        ..options()
    };
    check_all(
        &native,
        [with(schema()), with(Some(Format::JsonObject))],
        &expect![[r#"
            {HI,"output_config":{"format":{"type":"json_schema","schema":{"type": "object"}}}}
            changed=response_format(description)
            {"tools":[{"name":"json_response","input_schema":{"type":"object"}}],"tool_choice":{"type":"tool","name":"json_response"},HI}

            [] Some("json_response")
        "#]],
    );
}
