//! Functions, and which of them must be called.

use onwards_json::Value;

use super::{both, listed};
use crate::failure::Rejected;
use crate::gemini::schema::json_schema;
use crate::read::{At, Fields};
use crate::request::{Request, Tool, ToolChoice};
use crate::text::{Str, json};

/// Reads `tools`: the functions of all its entries. Tools that the provider runs can only be served by one.
pub(super) fn read<'a>(
    tools: &Value<'a>,
    at: At<'_>,
    request: &mut Request<'a>,
) -> Result<(), Rejected> {
    for (index, tool) in listed(Some(*tools), at)?.iter().enumerate() {
        let at = At::Element(&at, index);
        let mut fields = Fields::of(tool, at)?;
        let functions = fields.either(&["functionDeclarations", "function_declarations"]);
        let above = At::Member(&at, "functionDeclarations");
        for (index, function) in listed(functions, above)?.iter().enumerate() {
            let tool = declaration(function, At::Element(&above, index), request)?;
            request.tools.push(tool);
        }
        if let Some((name, _)) = fields.rest().into_iter().next() {
            let name = name.decoded();
            let pointer = At::Member(&at, &name).pointer();
            request.native_only.get_or_insert(Rejected::new(
                "unsupported_parameter",
                Some(pointer.clone()),
                format!("{pointer}: only a provider of this protocol has tools of its own"),
            ));
        }
    }
    Ok(())
}

fn declaration<'a>(
    function: &Value<'a>,
    at: At<'_>,
    request: &mut Request<'a>,
) -> Result<Tool<'a>, Rejected> {
    let mut fields = Fields::of(function, at)?;
    let name = fields.need_str("name")?;
    let description = fields.str("description")?;
    let subset = fields.object("parameters")?;
    let whole = both(
        &mut fields,
        ["parametersJsonSchema", "parameters_json_schema"],
        Fields::object,
    )?;
    for (name, _) in fields.rest() {
        request.report.dropped(&name.decoded());
    }
    Ok(Tool {
        name,
        description,
        schema: whole
            .as_ref()
            .map(json)
            .or_else(|| subset.as_ref().map(|schema| json_schema(schema).into())),
        strict: None,
        cache: None,
    })
}

/// Reads `toolConfig`.
pub(super) fn choice<'a>(
    config: &Value<'a>,
    at: At<'_>,
    request: &mut Request<'a>,
) -> Result<(), Rejected> {
    let mut fields = Fields::of(config, at)?;
    let calling = both(
        &mut fields,
        ["functionCallingConfig", "function_calling_config"],
        Fields::object,
    )?;
    if let Some(calling) = calling {
        let at = At::Member(&at, "functionCallingConfig");
        let mut fields = Fields::of(&calling, at)?;
        let mode = fields.str("mode")?;
        let names = both(
            &mut fields,
            ["allowedFunctionNames", "allowed_function_names"],
            Fields::array,
        )?;
        let above = At::Member(&at, "allowedFunctionNames");
        let names = names
            .iter()
            .flat_map(Value::elements)
            .enumerate()
            .map(|(index, name)| {
                Str::of(&name).ok_or_else(|| At::Element(&above, index).wrong(&name, "a string"))
            })
            .collect::<Result<Vec<_>, _>>()?;
        let mode = mode.map(|mode| mode.decoded().to_ascii_uppercase());
        request.tool_choice = match mode.as_deref().unwrap_or("AUTO") {
            "MODE_UNSPECIFIED" => None,
            "AUTO" => Some(ToolChoice::Auto),
            "NONE" => Some(ToolChoice::None),
            "ANY" => Some(forced(names)),
            "VALIDATED" if names.is_empty() => Some(ToolChoice::Auto),
            "VALIDATED" => Some(ToolChoice::Allowed {
                names,
                required: false,
            }),
            _ => {
                let at = At::Member(&at, "mode");
                return Err(at.invalid("expected `AUTO`, `ANY`, `NONE` or `VALIDATED`"));
            }
        };
        for (name, _) in fields.rest() {
            request.report.dropped(&name.decoded());
        }
    }
    for (name, _) in fields.rest() {
        request.report.dropped(&name.decoded());
    }
    Ok(())
}

fn forced(mut names: Vec<Str<'_>>) -> ToolChoice<'_> {
    match (names.pop(), names.is_empty()) {
        (None, _) => ToolChoice::Required,
        (Some(name), true) => ToolChoice::Named(name),
        (Some(name), false) => {
            names.push(name);
            ToolChoice::Allowed {
                names,
                required: true,
            }
        }
    }
}
