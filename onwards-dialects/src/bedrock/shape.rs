//! Answers of a given shape: through a tool that must be called, or through the service's own member.

use crate::conversation::names::Names;
use crate::conversation::thoughts::Thinking;
use crate::fidelity::Report;
use crate::options::{Settings, StructuredOutput};
use crate::request::{Format, JsonSchema, Request};
use crate::text::Str;
use crate::write::Obj;

/// A schema that says nothing but that there is an object.
pub(super) const ANY_OBJECT: &str = r#"{"type":"object"}"#;

/// What the shape is called where the client does not say.
const NAME: &str = "json_response";

/// How the shape of the answer is asked for.
#[derive(Debug)]
pub(super) enum Shape<'r> {
    /// It is not.
    Free,
    /// With `outputConfig`.
    Native(Schema<'r>),
    /// With a tool that must be called.
    Tool(Schema<'r>),
}

/// A shape.
#[derive(Debug)]
pub(super) struct Schema<'r> {
    pub(super) name: String,
    pub(super) description: Option<&'r Str<'r>>,
    pub(super) schema: &'r str,
}

impl<'r> Shape<'r> {
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
            None | Some(Format::Text) => Self::Free,
            Some(Format::JsonSchema(JsonSchema {
                schema: Some(schema),
                name,
                description,
                ..
            })) => {
                let wished = name.as_ref().map(Str::decoded);
                let schema = Schema {
                    name: names.free(wished.as_deref().unwrap_or(NAME)),
                    description: description.as_ref().filter(|text| !text.is_empty()),
                    schema,
                };
                if free && settings.options.structured_output == StructuredOutput::Tool {
                    Self::Tool(schema)
                } else {
                    Self::Native(schema)
                }
            }
            Some(Format::JsonObject | Format::JsonSchema(_)) if free => Self::Tool(Schema {
                name: names.free(NAME),
                description: None,
                schema: ANY_OBJECT,
            }),
            Some(Format::JsonObject | Format::JsonSchema(_)) => {
                report.dropped("response_format");
                Self::Free
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

    /// `outputConfig`, where the shape is asked for with it. The schema goes as a string.
    pub(super) fn write_native(&self, o: &mut Obj<'_>) {
        let Self::Native(schema) = self else { return };
        o.object("outputConfig", |o| {
            o.object("textFormat", |o| {
                o.raw("type", r#""json_schema""#);
                o.object("structure", |o| {
                    o.object("jsonSchema", |o| {
                        o.text("schema", schema.schema);
                        o.text("name", &schema.name);
                        if let Some(description) = schema.description {
                            o.str("description", description);
                        }
                    });
                });
            });
        });
    }
}
