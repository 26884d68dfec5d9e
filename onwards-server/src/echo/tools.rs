//! Which tool the echo calls, and with what.

use serde_json::{Map, Value, json};

/// A call to make.
pub(super) struct Call {
    pub(super) name: String,
    /// JSON text, as the API wants it.
    pub(super) arguments: String,
}

/// The tool to call, if any. Tools are given as `{name, parameters}` objects; `choice` is the request's `tool_choice`.
/// A tool is called when the choice demands one, or when the user's last message says `call <name>`.
pub(super) fn chosen<'a>(
    tools: impl Iterator<Item = &'a Value> + Clone,
    choice: &Value,
    user_said: Option<&str>,
) -> Option<Call> {
    let name_of = |tool: &'a Value| tool.get("name").and_then(Value::as_str);
    let demanded = choice
        .get("name")
        .or_else(|| choice.get("function")?.get("name"))
        .and_then(Value::as_str);
    let asked_for = |tool: &&'a Value| {
        let called = user_said
            .unwrap_or_default()
            .split_once("call ")
            .map(|(_, rest)| rest);
        name_of(tool).is_some_and(|name| {
            called.and_then(|rest| rest.split_whitespace().next()) == Some(name)
        })
    };
    let tool = match (choice.as_str(), demanded) {
        (Some("none"), _) => None,
        (Some("required"), _) => tools
            .clone()
            .find(asked_for)
            .or_else(|| tools.clone().next()),
        (_, Some(name)) => tools.clone().find(|tool| name_of(tool) == Some(name)),
        _ => tools.clone().find(asked_for),
    }?;
    let arguments = arguments(
        tool.get("parameters").unwrap_or(&Value::Null),
        user_said.unwrap_or_default(),
    );
    Some(Call {
        name: name_of(tool)?.to_owned(),
        arguments: arguments.to_string(),
    })
}

/// A value for each required parameter, plausible for its type.
fn arguments(parameters: &Value, user_said: &str) -> Value {
    let required = parameters
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    let value = |name: &str| {
        let schema = parameters.get("properties")?.get(name)?;
        if let Some(first) = schema.get("enum").and_then(|values| values.get(0)) {
            return Some(first.clone());
        }
        Some(match schema.get("type").and_then(Value::as_str) {
            Some("integer" | "number") => json!(1),
            Some("boolean") => json!(true),
            Some("array") => json!([]),
            Some("object") => arguments(schema, user_said),
            _ => json!(user_said),
        })
    };
    Value::Object(
        required
            .map(|name| (name.to_owned(), value(name).unwrap_or(Value::Null)))
            .collect::<Map<_, _>>(),
    )
}
