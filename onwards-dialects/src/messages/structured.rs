//! Answers of a given shape: through a tool that must be called, or through the provider's own member (spec providers 3.3).

use crate::conversation::names::Names;
use crate::conversation::thoughts::Thinking;
use crate::fidelity::{Change, Report};
use crate::options::{Settings, StructuredOutput};
use crate::request::{Format, JsonSchema, Request};
use crate::text::Str;
use crate::write::Obj;

/// A schema that says nothing but that there is an object.
const ANY_OBJECT: &str = r#"{"type":"object"}"#;

/// How the shape of the answer is asked for.
#[derive(Debug)]
pub(super) enum Structured<'r> {
    /// It is not.
    No,
    /// With `output_config.format`.
    Native(&'r str),
    /// With a tool that must be called.
    Tool(Forced<'r>),
}

/// The tool whose arguments are the answer.
#[derive(Debug)]
pub(super) struct Forced<'r> {
    name: String,
    description: Option<&'r Str<'r>>,
    schema: &'r str,
    strict: bool,
}

impl<'r> Structured<'r> {
    /// By the request and the operator's settings. A shape that cannot be asked for is noted as `response_format`.
    pub(super) fn of(
        request: &'r Request<'r>,
        settings: &Settings<'_>,
        thinking: Thinking,
        names: &mut Names,
        report: &mut Report,
    ) -> Self {
        // A tool cannot be forced beside others, nor on a model that thinks.
        let free = request.tools.is_empty() && !thinking.is_on();
        match &request.format {
            None | Some(Format::Text) => Self::No,
            Some(Format::JsonSchema(JsonSchema {
                schema: Some(schema),
                name,
                description,
                strict,
            })) => {
                if free && settings.options.structured_output == StructuredOutput::Tool {
                    let wished = name.as_ref().map(Str::decoded);
                    return Self::Tool(Forced {
                        name: names.free(wished.as_deref().unwrap_or("json_response")),
                        description: description.as_ref(),
                        schema,
                        strict: *strict == Some(true) && settings.options.strict_tools,
                    });
                }
                if description.is_some() {
                    report.because("response_format", Change::Changed, "description");
                }
                Self::Native(schema)
            }
            Some(Format::JsonObject | Format::JsonSchema(_)) if free => Self::Tool(Forced {
                name: names.free("json_response"),
                description: None,
                schema: ANY_OBJECT,
                strict: false,
            }),
            Some(Format::JsonObject | Format::JsonSchema(_)) => {
                report.dropped("response_format");
                Self::No
            }
        }
    }

    /// The tool, as the provider is told it.
    pub(super) fn tool_name(&self) -> Option<String> {
        match self {
            Self::Tool(tool) => Some(tool.name.clone()),
            _ => None,
        }
    }

    /// The schema for the provider's own member.
    pub(super) fn native(&self) -> Option<&'r str> {
        match self {
            Self::Native(schema) => Some(schema),
            _ => None,
        }
    }
}

impl Forced<'_> {
    /// `tools` and `tool_choice`.
    pub(super) fn write(&self, o: &mut Obj<'_>) {
        o.array("tools", |a| {
            a.object(|o| {
                o.text("name", &self.name);
                if let Some(description) = self.description {
                    o.str("description", description);
                }
                o.raw("input_schema", self.schema);
                if self.strict {
                    o.bool("strict", true);
                }
            });
        });
        o.object("tool_choice", |o| {
            o.raw("type", "\"tool\"");
            o.text("name", &self.name);
        });
    }
}
