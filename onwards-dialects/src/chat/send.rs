//! Requests to providers (spec providers 3.1, 3.2).

use super::send_message;
use crate::conversation::names::Names;
use crate::conversation::thoughts;
use crate::failure::Rejected;
use crate::fidelity::{Change, Report};
use crate::options::{MaxTokensField, Memory, ReasoningStyle, Settings, Written};
use crate::request::{Format, JsonSchema, Reasoning, Request, Tool, ToolChoice};
use crate::text::Str;
use crate::write::{Obj, object};
use crate::{Family, Protocol};

/// Writes a request.
///
/// # Errors
/// `unsupported_content` for parts that Chat Completions has no word for.
pub(crate) fn write_request(
    request: &Request<'_>,
    settings: &Settings<'_>,
) -> Result<Written, Rejected> {
    let mut sender = Sender {
        request,
        settings,
        vendor: request.protocol == Some(Protocol::Chat),
        names: Names::default(),
        report: request.report.clone(),
    };
    if !sender.vendor {
        sender.names = Names::of(request, false);
    }
    let mut body = String::with_capacity(1024);
    object(&mut body, |o| sender.write(o))?;
    let mut memory = Memory::default();
    sender.names.remember(&mut memory);
    Ok(Written {
        body,
        memory,
        report: sender.report,
    })
}

/// A request on its way out.
pub(super) struct Sender<'s> {
    pub(super) request: &'s Request<'s>,
    pub(super) settings: &'s Settings<'s>,
    /// The client speaks Chat Completions: what it says beyond that is passed on.
    pub(super) vendor: bool,
    pub(super) names: Names,
    pub(super) report: Report,
}

impl Sender<'_> {
    fn write(&mut self, o: &mut Obj<'_>) -> Result<(), Rejected> {
        let request = self.request;
        o.text("model", self.settings.model);
        send_message::write(self, o)?;
        self.write_tools(o);
        self.write_limits(o);
        self.write_format(o);
        self.write_reasoning(o);
        if request.stream {
            o.bool("stream", true);
            if self.settings.options.stream_options {
                o.raw("stream_options", r#"{"include_usage":true}"#);
            }
        }
        for param in &request.params {
            // OpenAI refuses it; other servers are asked for it by clients that know them.
            if param.name == "top_k" && !self.vendor {
                self.report.dropped(param.name);
            } else {
                o.raw(param.name, &param.value);
            }
        }
        self.write_unknown(&request.unknown, o);
        Ok(())
    }

    /// Members that no dialect knows, for providers of the client's own.
    pub(super) fn write_unknown(
        &mut self,
        unknown: &[(Str<'_>, crate::text::Json<'_>)],
        o: &mut Obj<'_>,
    ) {
        for (name, value) in unknown {
            if self.vendor {
                o.name(name).push_str(value);
            } else {
                self.report.dropped(&name.decoded());
            }
        }
    }

    /// True for a client whose ids of files this provider may know.
    pub(super) fn same_files(&self) -> bool {
        matches!(
            self.request.protocol,
            None | Some(Protocol::Chat | Protocol::Responses)
        )
    }

    fn write_tools(&mut self, o: &mut Obj<'_>) {
        let request = self.request;
        if !request.tools.is_empty() {
            o.array("tools", |list| {
                for tool in &request.tools {
                    list.object(|o| self.write_tool(tool, o));
                }
            });
        }
        match &request.tool_choice {
            None => {}
            Some(ToolChoice::Auto) => o.text("tool_choice", "auto"),
            Some(ToolChoice::None) => o.text("tool_choice", "none"),
            Some(ToolChoice::Required) => o.text("tool_choice", "required"),
            Some(ToolChoice::Named(name)) => {
                let name = self.names.sent(name);
                o.object("tool_choice", |o| write_named(&name, o));
            }
            Some(ToolChoice::Allowed { names, required }) => {
                o.object("tool_choice", |o| {
                    o.text("type", "allowed_tools");
                    o.object("allowed_tools", |o| {
                        o.text("mode", if *required { "required" } else { "auto" });
                        o.array("tools", |list| {
                            for name in names {
                                let name = self.names.sent(name);
                                list.object(|o| write_named(&name, o));
                            }
                        });
                    });
                });
            }
        }
        if let Some(parallel) = request.parallel_tool_calls {
            // Without tools OpenAI does not take it, and it says nothing.
            if self.vendor || !request.tools.is_empty() {
                o.bool("parallel_tool_calls", parallel);
            }
        }
    }

    fn write_tool(&mut self, tool: &Tool<'_>, o: &mut Obj<'_>) {
        o.text("type", "function");
        o.object("function", |o| {
            o.str("name", &self.names.sent(&tool.name));
            if let Some(description) = &tool.description {
                o.str("description", description);
            }
            if let Some(schema) = &tool.schema {
                o.raw("parameters", schema);
            }
            match tool.strict {
                Some(strict) if self.settings.options.strict_tools => o.bool("strict", strict),
                Some(true) => self.report.dropped("strict"),
                _ => {}
            }
        });
        self.write_cache(tool.cache.as_deref(), o);
    }

    /// Anthropic's cache hint, which some servers of this dialect take.
    pub(super) fn write_cache(&mut self, cache: Option<&str>, o: &mut Obj<'_>) {
        match cache {
            Some(cache) if self.vendor => o.raw("cache_control", cache),
            Some(_) => self.report.dropped("cache_control"),
            None => {}
        }
    }

    fn write_limits(&mut self, o: &mut Obj<'_>) {
        if let Some(limit) = self.request.max_tokens {
            let name = match self.settings.options.max_tokens_field {
                MaxTokensField::Old => "max_tokens",
                MaxTokensField::New => "max_completion_tokens",
                MaxTokensField::Auto { new } => limit.spelling.unwrap_or(if new {
                    "max_completion_tokens"
                } else {
                    "max_tokens"
                }),
            };
            if limit.spelling.is_some_and(|spelling| spelling != name) {
                self.report
                    .note(limit.spelling.unwrap_or_default(), Change::Renamed);
            }
            o.u64(name, limit.tokens);
        }
        if !self.request.stop.is_empty() {
            o.array("stop", |list| {
                for stop in &self.request.stop {
                    list.str(stop);
                }
            });
        }
    }

    fn write_format(&mut self, o: &mut Obj<'_>) {
        match &self.request.format {
            None => {}
            Some(Format::Text) => o.raw("response_format", r#"{"type":"text"}"#),
            Some(Format::JsonObject) => o.raw("response_format", r#"{"type":"json_object"}"#),
            Some(Format::JsonSchema(schema)) => o.object("response_format", |o| {
                o.text("type", "json_schema");
                o.object("json_schema", |o| write_schema(schema, o));
            }),
        }
    }

    fn write_reasoning(&mut self, o: &mut Obj<'_>) {
        let Some(reasoning) = &self.request.reasoning else {
            return;
        };
        let off = self.settings.options.reasoning_style == ReasoningStyle::Off;
        match reasoning {
            _ if off => self.report.dropped("reasoning_effort"),
            Reasoning::Effort(word) => o.str("reasoning_effort", word),
            Reasoning::Budget(tokens) => {
                let family = match self.request.protocol {
                    Some(Protocol::GenerateContent) => Family::Google,
                    _ => Family::Anthropic,
                };
                let word = thoughts::effort(*tokens, family);
                if *tokens > 0 {
                    self.report.note("reasoning_effort", Change::Changed);
                }
                o.text("reasoning_effort", word);
            }
            // How much the model likes is what it thinks when nobody says.
            Reasoning::Dynamic => {}
        }
    }
}

fn write_named(name: &Str<'_>, o: &mut Obj<'_>) {
    o.text("type", "function");
    o.object("function", |o| o.str("name", name));
}

fn write_schema(schema: &JsonSchema<'_>, o: &mut Obj<'_>) {
    match &schema.name {
        Some(name) => o.str("name", name),
        None => o.text("name", "response"),
    }
    if let Some(description) = &schema.description {
        o.str("description", description);
    }
    if let Some(text) = &schema.schema {
        o.raw("schema", text);
    }
    if let Some(strict) = schema.strict {
        o.bool("strict", strict);
    }
}
