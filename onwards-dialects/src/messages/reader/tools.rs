//! Tools of requests of Anthropic's clients.

use onwards_json::Value;

use super::drop_rest;
use crate::failure::Rejected;
use crate::read::{At, Fields};
use crate::request::{Request, Tool, ToolChoice};

/// Reads `tools` and `tool_choice`.
pub(super) fn read<'a>(
    fields: &mut Fields<'a, '_>,
    request: &mut Request<'a>,
) -> Result<(), Rejected> {
    let root = At::Root;
    if let Some(tools) = fields.array("tools")? {
        let at = At::Member(&root, "tools");
        for (index, tool) in tools.elements().enumerate() {
            read_tool(&tool, At::Element(&at, index), request)?;
        }
    }
    if let Some(choice) = fields.object("tool_choice")? {
        read_choice(&choice, At::Member(&root, "tool_choice"), request)?;
    }
    Ok(())
}

fn read_tool<'a>(tool: &Value<'a>, at: At<'_>, request: &mut Request<'a>) -> Result<(), Rejected> {
    let mut fields = Fields::of(tool, at)?;
    if let Some(kind) = fields.str("type")?.filter(|kind| !kind.is("custom")) {
        let rejected = || {
            let pointer = at.pointer();
            let message = format!(
                "{pointer}: a tool of type `{}` runs at Anthropic only",
                kind.decoded()
            );
            Rejected::new("unsupported_parameter", Some("tools".to_owned()), message)
        };
        request.native_only.get_or_insert_with(rejected);
        return Ok(());
    }
    let tool = Tool {
        name: fields.need_str("name")?,
        description: fields.str("description")?,
        schema: fields
            .object("input_schema")?
            .as_ref()
            .map(crate::text::json),
        strict: fields.bool("strict")?,
        cache: fields.json("cache_control"),
    };
    drop_rest(fields, request);
    request.tools.push(tool);
    Ok(())
}

fn read_choice<'a>(
    choice: &Value<'a>,
    at: At<'_>,
    request: &mut Request<'a>,
) -> Result<(), Rejected> {
    let mut fields = Fields::of(choice, at)?;
    let kind = fields.need_str("type")?;
    request.tool_choice = Some(match &*kind.decoded() {
        "auto" => ToolChoice::Auto,
        "any" => ToolChoice::Required,
        "none" => ToolChoice::None,
        "tool" => ToolChoice::Named(fields.need_str("name")?),
        _ => {
            let at = At::Member(&at, "type");
            return Err(at.invalid("expected \"auto\", \"any\", \"tool\" or \"none\""));
        }
    });
    if fields.bool("disable_parallel_tool_use")? == Some(true) {
        request.parallel_tool_calls = Some(false);
    }
    drop_rest(fields, request);
    Ok(())
}
