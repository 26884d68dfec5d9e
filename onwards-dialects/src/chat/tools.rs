//! Tools of requests, and which of them to call.

use onwards_json::{Kind, Value};

use crate::failure::Rejected;
use crate::fidelity::Report;
use crate::read::{At, Fields};
use crate::request::{Request, Tool, ToolChoice};
use crate::text::Str;

/// Reads `tools`, `tool_choice`, `parallel_tool_calls`, and what stood for them before: `functions` and `function_call`.
pub(super) fn read<'a>(
    fields: &mut Fields<'a, '_>,
    request: &mut Request<'a>,
) -> Result<(), Rejected> {
    let root = At::Root;
    if let Some(tools) = fields.array("tools")? {
        let at = At::Member(&root, "tools");
        for (index, tool) in tools.elements().enumerate() {
            let at = At::Element(&at, index);
            read_tool(&tool, at, request)?;
        }
    }
    if let Some(functions) = fields.array("functions")? {
        let at = At::Member(&root, "functions");
        for (index, function) in functions.elements().enumerate() {
            let function = Fields::of(&function, At::Element(&at, index))?;
            request
                .tools
                .push(read_function(function, &mut request.report)?);
        }
    }
    let choice = fields.take("tool_choice");
    let legacy = fields.take("function_call");
    request.tool_choice = match (choice, legacy) {
        (Some(choice), _) => read_choice(&choice, At::Member(&root, "tool_choice"), request)?,
        (None, Some(legacy)) => read_legacy(&legacy, At::Member(&root, "function_call"), request)?,
        (None, None) => None,
    };
    request.parallel_tool_calls = fields.bool("parallel_tool_calls")?;
    Ok(())
}

fn read_tool<'a>(value: &Value<'a>, at: At<'_>, request: &mut Request<'a>) -> Result<(), Rejected> {
    let mut fields = Fields::of(value, at)?;
    if fields.str("type")?.is_some_and(|kind| !kind.is("function")) {
        request.native_only.get_or_insert(only_functions(&at));
        return Ok(());
    }
    let function = fields
        .object("function")?
        .ok_or_else(|| at.missing("function", "an object"))?;
    let function = Fields::of(&function, At::Member(&at, "function"))?;
    let mut tool = read_function(function, &mut request.report)?;
    tool.cache = fields.json("cache_control").or(tool.cache);
    for (name, _) in fields.rest() {
        request.report.dropped(&name.decoded());
    }
    request.tools.push(tool);
    Ok(())
}

/// What to answer where a tool that is no function is to be translated.
pub(super) fn only_functions(at: &At<'_>) -> Rejected {
    Rejected::new(
        "unsupported_parameter",
        Some(At::Member(at, "type").pointer()),
        "only tools of type `function` can be translated",
    )
}

fn read_function<'a>(
    mut fields: Fields<'a, '_>,
    report: &mut Report,
) -> Result<Tool<'a>, Rejected> {
    let tool = Tool {
        name: fields.need_str("name")?,
        description: fields.str("description")?,
        schema: fields
            .object("parameters")?
            .map(|schema| crate::text::json(&schema)),
        strict: fields.bool("strict")?,
        cache: fields.json("cache_control"),
    };
    for (name, _) in fields.rest() {
        report.dropped(&name.decoded());
    }
    Ok(tool)
}

fn read_choice<'a>(
    value: &Value<'a>,
    at: At<'_>,
    request: &mut Request<'a>,
) -> Result<Option<ToolChoice<'a>>, Rejected> {
    if let Some(word) = Str::of(value) {
        return Ok(Some(match &*word.decoded() {
            "auto" => ToolChoice::Auto,
            "none" => ToolChoice::None,
            "required" => ToolChoice::Required,
            _ => return Err(at.invalid("expected `auto`, `none`, `required` or an object")),
        }));
    }
    let mut fields = Fields::of(value, at)?;
    let kind = fields.need_str("type")?;
    match &*kind.decoded() {
        "function" => {
            let name = named(&mut fields, &mut request.report)?;
            fields.drop_rest(&[], &mut request.report);
            Ok(Some(ToolChoice::Named(name)))
        }
        "allowed_tools" => {
            let allowed = fields
                .object("allowed_tools")?
                .ok_or_else(|| at.missing("allowed_tools", "an object"))?;
            let place = At::Member(&at, "allowed_tools");
            let allowed = read_allowed(&allowed, place, &mut request.report)?;
            fields.drop_rest(&[], &mut request.report);
            Ok(Some(allowed))
        }
        _ => {
            request.native_only.get_or_insert(only_functions(&at));
            Ok(None)
        }
    }
}

fn named<'a>(fields: &mut Fields<'a, '_>, report: &mut Report) -> Result<Str<'a>, Rejected> {
    let function = fields
        .object("function")?
        .ok_or_else(|| fields.at.missing("function", "an object"))?;
    let mut function = Fields::of(&function, At::Member(&fields.at, "function"))?;
    let name = function.need_str("name")?;
    function.drop_rest(&[], report);
    Ok(name)
}

fn read_allowed<'a>(
    value: &Value<'a>,
    at: At<'_>,
    report: &mut Report,
) -> Result<ToolChoice<'a>, Rejected> {
    let mut fields = Fields::of(value, at)?;
    let mode = fields.need_str("mode")?;
    let tools = fields
        .array("tools")?
        .ok_or_else(|| at.missing("tools", "an array"))?;
    let place = At::Member(&at, "tools");
    let mut names = Vec::new();
    for (index, tool) in tools.elements().enumerate() {
        let mut tool = Fields::of(&tool, At::Element(&place, index))?;
        names.push(named(&mut tool, report)?);
        tool.drop_rest(&["type"], report);
    }
    fields.drop_rest(&[], report);
    Ok(ToolChoice::Allowed {
        names,
        required: match &*mode.decoded() {
            "auto" => false,
            "required" => true,
            _ => return Err(At::Member(&at, "mode").invalid("expected `auto` or `required`")),
        },
    })
}

fn read_legacy<'a>(
    value: &Value<'a>,
    at: At<'_>,
    request: &mut Request<'a>,
) -> Result<Option<ToolChoice<'a>>, Rejected> {
    match value.kind() {
        Kind::Object => {
            let mut fields = Fields::of(value, at)?;
            let name = fields.need_str("name")?;
            fields.drop_rest(&[], &mut request.report);
            Ok(Some(ToolChoice::Named(name)))
        }
        _ => read_choice(value, at, request),
    }
}
