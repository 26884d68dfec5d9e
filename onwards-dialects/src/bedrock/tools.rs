//! `toolConfig`: the tools of a request, and which of them must be called.

use std::collections::BTreeSet;

use super::content::Hints;
use super::shape::{ANY_OBJECT, Schema, Shape};
use crate::conversation::names::Names;
use crate::fidelity::{Change, Report};
use crate::options::Settings;
use crate::request::{PartKind, Request, Tool, ToolChoice};
use crate::text::Str;
use crate::write::{Arr, Obj, object};

/// The schema of a tool that takes nothing.
const NO_ARGUMENTS: &str = r#"{"type":"object","properties":{}}"#;

/// What the tools of a request are written with.
pub(super) struct Tools<'w> {
    pub(super) request: &'w Request<'w>,
    pub(super) settings: &'w Settings<'w>,
    pub(super) names: &'w Names,
    pub(super) hints: &'w mut Hints,
    /// The model thinks: no tool can be forced.
    pub(super) thinks: bool,
    pub(super) report: &'w mut Report,
}

/// Which tools must be called.
enum Choice<'w> {
    Unsaid,
    Auto,
    Any,
    Tool(Str<'w>),
}

impl Tools<'_> {
    /// `toolConfig`. Gives back what Anthropic's models are to be told beside it, if only one call at a time is allowed.
    pub(super) fn write(&mut self, shape: &Shape<'_>, o: &mut Obj<'_>) -> Option<String> {
        if let Shape::Tool(schema) = shape {
            write_forced(schema, o);
            return None;
        }
        let choice = &self.request.tool_choice;
        let history = self.request.has_tool_history();
        if *choice == Some(ToolChoice::None) {
            if history && !self.request.tools.is_empty() {
                self.report.dropped("tool_choice");
            } else {
                self.history(history, o);
                return None;
            }
        }
        let allowed = |tool: &&Tool<'_>| match choice {
            Some(ToolChoice::Allowed { names, .. }) => names.contains(&tool.name),
            _ => true,
        };
        let tools: Vec<&Tool<'_>> = self.request.tools.iter().filter(allowed).collect();
        if tools.is_empty() {
            if !matches!(choice, None | Some(ToolChoice::Auto)) {
                self.report.dropped("tool_choice");
            }
            self.history(history, o);
            return None;
        }
        let choice = self.choice();
        o.object("toolConfig", |o| {
            o.array("tools", |a| {
                for tool in tools {
                    self.tool(tool, a);
                }
            });
            write_choice(&choice, o);
        });
        self.single(&choice)
    }

    fn tool(&mut self, tool: &Tool<'_>, a: &mut Arr<'_>) {
        a.object(|o| {
            o.object("toolSpec", |o| {
                o.str("name", &self.names.sent(&tool.name));
                if let Some(description) = tool.description.as_ref().filter(|it| !it.is_empty()) {
                    o.str("description", description);
                }
                o.object("inputSchema", |o| {
                    o.raw("json", tool.schema.as_deref().unwrap_or(NO_ARGUMENTS));
                });
                match tool.strict {
                    Some(strict) if self.settings.options.strict_tools => o.bool("strict", strict),
                    Some(true) => self.report.dropped("strict"),
                    _ => {}
                }
            });
        });
        self.hints.write(tool.cache.is_some(), self.report, a);
    }

    fn choice(&mut self) -> Choice<'static> {
        let choice = match &self.request.tool_choice {
            // That none is to be called cannot be said; it is noted above.
            None | Some(ToolChoice::None) => Choice::Unsaid,
            Some(ToolChoice::Auto) => Choice::Auto,
            Some(ToolChoice::Allowed { required, .. }) if !required => Choice::Auto,
            Some(ToolChoice::Required | ToolChoice::Allowed { .. }) => Choice::Any,
            Some(ToolChoice::Named(name)) => Choice::Tool(self.names.sent(name).into_owned()),
        };
        if self.thinks && matches!(choice, Choice::Any | Choice::Tool(_)) {
            self.report.note("tool_choice", Change::Changed);
            return Choice::Auto;
        }
        choice
    }

    /// The choice in Anthropic's words, if only one call at a time is allowed.
    fn single(&self, choice: &Choice<'_>) -> Option<String> {
        if self.request.parallel_tool_calls != Some(false) {
            return None;
        }
        let mut out = String::new();
        object(&mut out, |o| {
            match choice {
                Choice::Unsaid | Choice::Auto => o.text("type", "auto"),
                Choice::Any => o.text("type", "any"),
                Choice::Tool(name) => {
                    o.text("type", "tool");
                    o.str("name", name);
                }
            }
            o.bool("disable_parallel_tool_use", true);
        });
        Some(out)
    }

    /// The service wants to be told tools where the conversation has calls: those that were called, if the client names none now.
    fn history(&mut self, history: bool, o: &mut Obj<'_>) {
        if !history {
            return;
        }
        let mut names: Vec<&Str<'_>> = Vec::new();
        let mut known = BTreeSet::new();
        for part in self.request.messages.iter().flat_map(|it| &it.parts) {
            let name = match &part.kind {
                PartKind::ToolCall(call) => Some(&call.name),
                PartKind::ToolResult(result) => result.name.as_ref(),
                _ => None,
            };
            names.extend(name.filter(|name| known.insert(name.decoded())));
        }
        if names.is_empty() {
            return;
        }
        self.report.note("tools", Change::Added);
        o.object("toolConfig", |o| {
            o.array("tools", |a| {
                for name in names {
                    a.object(|o| {
                        o.object("toolSpec", |o| {
                            o.str("name", &self.names.sent(name));
                            o.object("inputSchema", |o| o.raw("json", ANY_OBJECT));
                        });
                    });
                }
            });
        });
    }
}

fn write_choice(choice: &Choice<'_>, o: &mut Obj<'_>) {
    match choice {
        Choice::Unsaid => {}
        Choice::Auto => o.raw("toolChoice", r#"{"auto":{}}"#),
        Choice::Any => o.raw("toolChoice", r#"{"any":{}}"#),
        Choice::Tool(name) => o.object("toolChoice", |o| {
            o.object("tool", |o| o.str("name", name));
        }),
    }
}

/// The tool that stands for the shape of the answer.
fn write_forced(schema: &Schema<'_>, o: &mut Obj<'_>) {
    o.object("toolConfig", |o| {
        o.array("tools", |a| {
            a.object(|o| {
                o.object("toolSpec", |o| {
                    o.text("name", &schema.name);
                    if let Some(description) = schema.description {
                        o.str("description", description);
                    }
                    o.object("inputSchema", |o| o.raw("json", schema.schema));
                });
            });
        });
        write_choice(&Choice::Tool(Str::plain(&schema.name)), o);
    });
}
