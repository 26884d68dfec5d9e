//! Tools of requests to Anthropic, and which of them must be called.

use super::content::Hints;
use super::structured::Structured;
use crate::conversation::names::Names;
use crate::conversation::thoughts::Thinking;
use crate::fidelity::{Change, Report};
use crate::options::Settings;
use crate::request::{Request, Tool, ToolChoice};
use crate::write::Obj;

/// The schema of a tool that takes nothing.
const NO_ARGUMENTS: &str = r#"{"type":"object","properties":{}}"#;

/// What the tools of a request are written with.
pub(super) struct Tools<'w> {
    pub(super) request: &'w Request<'w>,
    pub(super) settings: &'w Settings<'w>,
    pub(super) names: &'w Names,
    pub(super) hints: &'w mut Hints,
    pub(super) report: &'w mut Report,
}

impl Tools<'_> {
    /// `tools` and `tool_choice`: the client's own, or the one that stands for the answer's shape.
    pub(super) fn write(
        &mut self,
        structured: &Structured<'_>,
        thinking: Thinking,
        o: &mut Obj<'_>,
    ) {
        if let Structured::Tool(tool) = structured {
            tool.write(o);
            return;
        }
        let choice = &self.request.tool_choice;
        let allowed = |tool: &&Tool<'_>| match choice {
            Some(ToolChoice::Allowed { names, .. }) => names.contains(&tool.name),
            _ => true,
        };
        let tools: Vec<&Tool<'_>> = self.request.tools.iter().filter(allowed).collect();
        if tools.is_empty() {
            let nothing = matches!(choice, None | Some(ToolChoice::None | ToolChoice::Auto));
            if !nothing {
                self.report.dropped("tool_choice");
            }
            return;
        }
        o.array("tools", |a| {
            for tool in tools {
                a.object(|o| self.tool(tool, o));
            }
        });
        self.choice(thinking, o);
    }

    fn tool(&mut self, tool: &Tool<'_>, o: &mut Obj<'_>) {
        o.str("name", &self.names.sent(&tool.name));
        if let Some(description) = &tool.description {
            o.str("description", description);
        }
        o.raw(
            "input_schema",
            tool.schema.as_deref().unwrap_or(NO_ARGUMENTS),
        );
        match tool.strict {
            Some(strict) if self.settings.options.strict_tools => o.bool("strict", strict),
            Some(true) => self.report.dropped("strict"),
            _ => {}
        }
        self.hints.write(tool.cache.as_ref(), self.report, o);
    }

    fn choice(&mut self, thinking: Thinking, o: &mut Obj<'_>) {
        let single = self.request.parallel_tool_calls == Some(false);
        let (mut word, mut name) = match &self.request.tool_choice {
            None if !single => return,
            None | Some(ToolChoice::Auto) => ("auto", None),
            Some(ToolChoice::None) => ("none", None),
            Some(ToolChoice::Required) => ("any", None),
            Some(ToolChoice::Named(name)) => ("tool", Some(self.names.sent(name))),
            Some(ToolChoice::Allowed { required: true, .. }) => ("any", None),
            Some(ToolChoice::Allowed { .. }) => ("auto", None),
        };
        if thinking.is_on() && matches!(word, "any" | "tool") {
            self.report.note("tool_choice", Change::Changed);
            (word, name) = ("auto", None);
        }
        o.object("tool_choice", |o| {
            o.text("type", word);
            if let Some(name) = &name {
                o.str("name", name);
            }
            if single && word != "none" {
                o.bool("disable_parallel_tool_use", true);
            }
        });
    }
}
