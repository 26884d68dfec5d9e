//! A client's request, read.

use onwards_json::{Kind, Scanner, Value};

use super::items;
use crate::failure::Rejected;
use crate::fidelity::Report;
use crate::read::{At, Fields};
use crate::request::{
    Format, JsonSchema, MaxTokens, Message, Param, Reasoning, Request, Role, Tool, ToolChoice,
};
use crate::text::{Str, json};

/// Members that Chat Completions has under the same name.
const SAME: [(&str, Kind); 7] = [
    ("temperature", Kind::Number),
    ("top_p", Kind::Number),
    ("user", Kind::String),
    ("safety_identifier", Kind::String),
    ("metadata", Kind::Object),
    ("service_tier", Kind::String),
    ("prompt_cache_key", Kind::String),
];

/// Members that only OpenAI's own Responses endpoint understands and that an answer can do without.
const OURS_ALONE: [&str; 6] = [
    "max_tool_calls",
    "context_management",
    "moderation",
    "prompt_cache_options",
    "access_programs",
    "prompt_cache_diagnostics",
];

/// Reads a request.
pub(crate) fn read_request(body: &[u8]) -> Result<Request<'_>, Rejected> {
    let invalid = |why: &dyn std::fmt::Display| {
        Rejected::new("invalid_json", None, format!("the body is not JSON: {why}"))
    };
    let mut scanner = Scanner::new(body).map_err(|why| invalid(&why))?;
    let value = scanner.skip().map_err(|why| invalid(&why))?;
    scanner.finish().map_err(|why| invalid(&why))?;
    let mut fields = Fields::of(&value, At::Root)?;
    let mut request = Request::default();
    stateless(&mut fields, &mut request)?;
    fields.take("model");
    if let Some(instructions) = fields.str("instructions")? {
        request
            .messages
            .push(Message::text(Role::System, instructions));
    }
    input(&mut fields, &mut request)?;
    request.tools = tools(&mut fields, &mut request)?;
    request.tool_choice = tool_choice(&mut fields, &mut request)?;
    request.parallel_tool_calls = fields.bool("parallel_tool_calls")?;
    request.max_tokens = fields.u64("max_output_tokens")?.map(|tokens| MaxTokens {
        tokens,
        spelling: None,
    });
    text(&mut fields, &mut request)?;
    reasoning(&mut fields, &mut request)?;
    request.stream = fields.bool("stream")?.unwrap_or_default();
    stream_options(&mut fields, &mut request)?;
    logprobs(&mut fields, &mut request)?;
    for (name, kind) in SAME {
        if let Some(value) = fields.json_of(name, kind)? {
            request.params.push(Param { name, value });
        }
    }
    left_out(&mut fields, &mut request)?;
    request.unknown = fields.rest();
    Ok(request)
}

/// Finds what needs an earlier answer or something else that OpenAI keeps: only its own endpoint can serve that.
fn stateless<'a>(fields: &mut Fields<'a, '_>, request: &mut Request<'a>) -> Result<(), Rejected> {
    const RESEND: &str = "answers are not stored, send the earlier items again in `input`";
    let kept = [
        ("previous_response_id", RESEND),
        ("conversation", RESEND),
        ("prompt", "no prompts are stored, send the text itself"),
    ];
    for (name, why) in kept {
        if fields.take(name).is_some() {
            refuse(request, name, &format!("`{name}`"), why);
        }
    }
    if fields.bool("background")? == Some(true) {
        let why = "answers are not stored, so none can be fetched later";
        refuse(request, "background", "`background`", why);
    }
    // Nothing is kept here; that a provider keeps nothing either cannot be promised (spec providers 4.4).
    if fields.bool("store")? == Some(false) {
        request.report.dropped("store");
    }
    Ok(())
}

fn stream_options(fields: &mut Fields<'_, '_>, request: &mut Request<'_>) -> Result<(), Rejected> {
    if let Some(options) = fields.object("stream_options")? {
        let mut options = Fields::of(&options, At::Member(&fields.at, "stream_options"))?;
        // No frame of ours is padded, so asking for none is granted.
        if options.bool("include_obfuscation")? == Some(true) {
            request.report.dropped("include_obfuscation");
        }
        for (name, _) in options.rest() {
            request
                .report
                .dropped(&format!("stream_options.{}", name.decoded()));
        }
    }
    Ok(())
}

/// Notes that only a provider of this dialect can serve the request, unless that is known already.
pub(super) fn refuse(request: &mut Request<'_>, param: &str, what: &str, why: &str) {
    request.native_only.get_or_insert_with(|| {
        Rejected::new(
            "unsupported_parameter",
            Some(param.to_owned()),
            format!("{what} is not supported by the provider of this model: {why}"),
        )
    });
}

fn input<'a>(fields: &mut Fields<'a, '_>, request: &mut Request<'a>) -> Result<(), Rejected> {
    let Some(input) = fields.take("input") else {
        return Err(fields.at.missing("input", "a string or an array of items"));
    };
    let at = At::Member(&fields.at, "input");
    if let Some(text) = Str::of(&input) {
        request.messages.push(Message::text(Role::User, text));
        return Ok(());
    }
    if input.kind() != Kind::Array {
        return Err(at.wrong(&input, "a string or an array of items"));
    }
    for (index, item) in input.elements().enumerate() {
        items::read(&item, At::Element(&at, index), index, request)?;
    }
    Ok(())
}

fn tools<'a>(
    fields: &mut Fields<'a, '_>,
    request: &mut Request<'a>,
) -> Result<Vec<Tool<'a>>, Rejected> {
    let Some(list) = fields.array("tools")? else {
        return Ok(Vec::new());
    };
    let at = At::Member(&fields.at, "tools");
    let mut tools = Vec::new();
    for (index, tool) in list.elements().enumerate() {
        let mut tool = Fields::of(&tool, At::Element(&at, index))?;
        if !tool.need_str("type")?.is("function") {
            builtin(request, "tools", &tool.at);
            continue;
        }
        tools.push(Tool {
            name: tool.need_str("name")?,
            description: tool.str("description")?,
            schema: tool.object("parameters")?.map(|schema| json(&schema)),
            strict: tool.bool("strict")?,
            cache: None,
        });
        for (name, _) in tool.rest() {
            request.report.dropped(&format!("tools.{}", name.decoded()));
        }
    }
    Ok(tools)
}

/// A tool that OpenAI runs itself.
fn builtin(request: &mut Request<'_>, param: &str, at: &At<'_>) {
    let why = "expected tools of type `function`";
    refuse(request, param, &at.pointer(), why);
}

fn tool_choice<'a>(
    fields: &mut Fields<'a, '_>,
    request: &mut Request<'a>,
) -> Result<Option<ToolChoice<'a>>, Rejected> {
    let Some(choice) = fields.take("tool_choice") else {
        return Ok(None);
    };
    let at = At::Member(&fields.at, "tool_choice");
    if let Some(word) = Str::of(&choice) {
        return match &*word.decoded() {
            "auto" => Ok(Some(ToolChoice::Auto)),
            "none" => Ok(Some(ToolChoice::None)),
            "required" => Ok(Some(ToolChoice::Required)),
            _ => Err(at.invalid("expected `auto`, `none`, `required` or an object")),
        };
    }
    let mut choice = Fields::of(&choice, at)?;
    let kind = choice.need_str("type")?;
    if kind.is("function") {
        let name = choice.need_str("name")?;
        choice.drop_rest(&[], &mut request.report);
        return Ok(Some(ToolChoice::Named(name)));
    }
    if kind.is("allowed_tools") {
        let allowed = allowed(&mut choice, request)?;
        choice.drop_rest(&[], &mut request.report);
        return Ok(Some(allowed));
    }
    builtin(request, "tool_choice", &at);
    Ok(None)
}

fn allowed<'a>(
    choice: &mut Fields<'a, '_>,
    request: &mut Request<'a>,
) -> Result<ToolChoice<'a>, Rejected> {
    let mode = choice.str("mode")?;
    let required = match mode.as_ref().map(Str::decoded).as_deref() {
        None | Some("auto") => false,
        Some("required") => true,
        Some(_) => {
            let mode = At::Member(&choice.at, "mode");
            return Err(mode.invalid("expected `auto` or `required`"));
        }
    };
    let Some(list) = choice.array("tools")? else {
        return Err(choice.at.missing("tools", "an array"));
    };
    let at = At::Member(&choice.at, "tools");
    let mut names = Vec::new();
    for (index, tool) in list.elements().enumerate() {
        let mut tool = Fields::of(&tool, At::Element(&at, index))?;
        if tool.need_str("type")?.is("function") {
            names.push(tool.need_str("name")?);
            tool.drop_rest(&[], &mut request.report);
        } else {
            builtin(request, "tool_choice", &tool.at);
        }
    }
    Ok(ToolChoice::Allowed { names, required })
}

fn text<'a>(fields: &mut Fields<'a, '_>, request: &mut Request<'a>) -> Result<(), Rejected> {
    let Some(text) = fields.object("text")? else {
        return Ok(());
    };
    let mut text = Fields::of(&text, At::Member(&fields.at, "text"))?;
    if let Some(value) = text.json_of("verbosity", Kind::String)? {
        request.params.push(Param {
            name: "verbosity",
            value,
        });
    }
    if let Some(value) = text.object("format")? {
        let at = At::Member(&text.at, "format");
        request.format = Some(format(&value, at, &mut request.report)?);
    }
    for (name, _) in text.rest() {
        request.report.dropped(&format!("text.{}", name.decoded()));
    }
    Ok(())
}

fn format<'a>(value: &Value<'a>, at: At<'_>, report: &mut Report) -> Result<Format<'a>, Rejected> {
    let mut format = Fields::of(value, at)?;
    let kind = format.need_str("type")?;
    let read = match &*kind.decoded() {
        "text" => Format::Text,
        "json_object" => Format::JsonObject,
        "json_schema" => Format::JsonSchema(JsonSchema {
            name: format.str("name")?,
            description: format.str("description")?,
            schema: format.object("schema")?.map(|schema| json(&schema)),
            strict: format.bool("strict")?,
        }),
        _ => {
            let at = At::Member(&at, "type");
            return Err(at.invalid("expected `text`, `json_object` or `json_schema`"));
        }
    };
    format.drop_rest(&[], report);
    Ok(read)
}

fn reasoning<'a>(fields: &mut Fields<'a, '_>, request: &mut Request<'a>) -> Result<(), Rejected> {
    let Some(reasoning) = fields.object("reasoning")? else {
        return Ok(());
    };
    let mut reasoning = Fields::of(&reasoning, At::Member(&fields.at, "reasoning"))?;
    request.reasoning = reasoning.str("effort")?.map(Reasoning::Effort);
    // Whether thoughts are shown is the operator's to say: asking for a summary changes nothing, so nothing is lost.
    reasoning.either(&["summary", "generate_summary"]);
    for (name, _) in reasoning.rest() {
        request
            .report
            .dropped(&format!("reasoning.{}", name.decoded()));
    }
    Ok(())
}

/// Log probabilities are asked for with `include`, or by saying how many.
fn logprobs<'a>(fields: &mut Fields<'a, '_>, request: &mut Request<'a>) -> Result<(), Rejected> {
    let top = fields.u64("top_logprobs")?.filter(|top| *top > 0);
    let mut wanted = top.is_some();
    if let Some(include) = fields.array("include")? {
        for what in include.elements() {
            if what
                .as_text()
                .is_some_and(|what| what.is("message.output_text.logprobs"))
            {
                wanted = true;
            } else {
                request.report.dropped("include");
            }
        }
    }
    if wanted {
        request.params.push(Param {
            name: "logprobs",
            value: "true".into(),
        });
    }
    if let Some(top) = top {
        request.params.push(Param {
            name: "top_logprobs",
            value: top.to_string().into(),
        });
    }
    Ok(())
}

fn left_out(fields: &mut Fields<'_, '_>, request: &mut Request<'_>) -> Result<(), Rejected> {
    if let Some(truncation) = fields.str("truncation")?
        && !truncation.is("disabled")
    {
        request.report.dropped("truncation");
    }
    for name in OURS_ALONE {
        if fields.take(name).is_some() {
            request.report.dropped(name);
        }
    }
    Ok(())
}
