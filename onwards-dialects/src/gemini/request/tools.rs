//! `tools` and `toolConfig`.

use super::{Writer, allowed};
use crate::fidelity::Change;
use crate::gemini::schema::{open_api, says_nothing};
use crate::options::SchemaMode;
use crate::request::{Tool, ToolChoice};
use crate::text::Str;
use crate::write::{Obj, object};

impl Writer<'_, '_> {
    pub(super) fn tools(&mut self, o: &mut Obj<'_>) {
        let request = self.request;
        if request.tools.is_empty() {
            return;
        }
        let allowed = allowed(request);
        let tools = request
            .tools
            .iter()
            .filter(|tool| allowed.is_none_or(|names| names.contains(&tool.name)));
        o.array("tools", |list| {
            list.object(|o| {
                o.array("functionDeclarations", |list| {
                    tools.for_each(|tool| list.object(|o| self.declaration(tool, o)));
                });
            });
        });
        if let Some(choice) = &request.tool_choice {
            o.object("toolConfig", |o| {
                o.object("functionCallingConfig", |o| self.choice(choice, o));
            });
        }
    }

    fn declaration(&mut self, tool: &Tool<'_>, o: &mut Obj<'_>) {
        o.str("name", &self.names.sent(&tool.name));
        if let Some(description) = &tool.description {
            o.str("description", description);
        }
        if let Some(schema) = tool.schema.as_ref().filter(|schema| !says_nothing(schema)) {
            let converted = match self.settings.options.schema_mode {
                SchemaMode::OpenApi => open_api(schema, &mut self.room),
                SchemaMode::JsonSchema => None,
            };
            match converted {
                Some(converted) => {
                    if converted.lossy {
                        self.report.because("tools", Change::Changed, "enum");
                    }
                    o.raw("parameters", &converted.text);
                }
                None => o.raw("parametersJsonSchema", schema),
            }
        }
        if tool.strict == Some(true) {
            self.report.dropped("strict");
        }
        if tool.cache.is_some() {
            self.report.dropped("cache_control");
        }
    }

    fn choice(&self, choice: &ToolChoice<'_>, o: &mut Obj<'_>) {
        let (mode, names): (_, &[Str<'_>]) = match choice {
            ToolChoice::Auto
            | ToolChoice::Allowed {
                required: false, ..
            } => ("AUTO", &[]),
            ToolChoice::None => ("NONE", &[]),
            ToolChoice::Required => ("ANY", &[]),
            ToolChoice::Named(name) => ("ANY", std::slice::from_ref(name)),
            ToolChoice::Allowed {
                names,
                required: true,
            } => ("ANY", names),
        };
        o.text("mode", mode);
        if !names.is_empty() {
            o.array("allowedFunctionNames", |list| {
                for name in names {
                    list.str(&self.names.sent(name));
                }
            });
        }
    }
}

/// A schema with a description, where it has none of its own.
pub(super) fn described(schema: &str, description: Option<&Str<'_>>) -> String {
    let inside = schema.strip_prefix('{').map(str::trim_start);
    let (Some(description), Some(inside), Some(whole)) =
        (description, inside, crate::text::value(schema))
    else {
        return schema.to_owned();
    };
    if whole.members().any(|member| member.is("description")) {
        return schema.to_owned();
    }
    let mut out = String::new();
    object(&mut out, |o| o.str("description", description));
    if !inside.starts_with('}') {
        out.pop();
        out.push(',');
        out.push_str(inside);
    }
    out
}
