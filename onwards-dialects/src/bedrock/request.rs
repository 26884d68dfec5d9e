//! Requests of Converse.

use onwards_json::Kind;

use super::content::{Content, Hints};
use super::shape::Shape;
use super::tools::Tools;
use crate::Family;
use crate::conversation::names::Names;
use crate::conversation::thoughts::{self, Thinking};
use crate::conversation::{Conversation, Rules, drop_rest, refuse_shapes, turns};
use crate::failure::Rejected;
use crate::fidelity::{Change, Report};
use crate::options::{Memory, Settings, Written};
use crate::request::{Reasoning, Request, ToolChoice};
use crate::text::{Str, value};
use crate::write::{Obj, object};

/// Parameters that this writer takes or looks at itself.
const TAKEN: [&str; 6] = [
    "n",
    "temperature",
    "top_p",
    "top_k",
    "metadata",
    "service_tier",
];

/// How many members `requestMetadata` may have.
const MOST_METADATA: usize = 16;

/// A request of Converse, or of what counts the tokens of one.
///
/// # Errors
/// What cannot be said in it and must not be left out.
pub(super) fn write(
    request: &Request<'_>,
    settings: &Settings<'_>,
    counting: bool,
) -> Result<Written, Rejected> {
    refuse_shapes(request, false)?;
    let mut report = request.report.clone();
    let (conversation, thinking) = conversation(request, settings, &mut report)?;
    let claude = is_claude(settings.model);
    let limit = if counting {
        None
    } else {
        thoughts::limit(request, thinking, settings.options, &mut report)?
    };
    let mut names = Names::of(request, false);
    let shape = Shape::of(request, settings, thinking, &mut names, &mut report);

    let mut hints = Hints::default();
    let mut body = String::new();
    object(&mut body, |o| {
        // Cache points are given out in the order in which the model reads.
        let choice = Tools {
            request,
            settings,
            names: &names,
            hints: &mut hints,
            thinks: thinking.is_on(),
            report: &mut report,
        }
        .write(&shape, o);
        let mut content = Content::new(settings, &names, &mut hints, &mut report);
        content.system(&conversation.system, o);
        content.messages(&conversation.turns, o)?;
        if claude {
            write_additional(request, thinking, choice.as_deref(), &mut report, o);
        }
        if !counting {
            write_inference(request, limit, thinking, &mut report, o);
            write_rest(request, &shape, &mut report, o);
        }
        Ok::<(), Rejected>(())
    })?;

    if !claude {
        left_out(request, &mut report);
    }
    drop_rest(request, &TAKEN, &mut report);
    let mut memory = Memory {
        structured: shape.tool_name(),
        ..Memory::default()
    };
    names.remember(&mut memory);
    Ok(Written {
        body,
        memory,
        report,
    })
}

/// True for Anthropic's models: `anthropic.` is in their ids, in those of the service's own inference profiles and in ARNs of both (spec
/// providers 3.5). The ARN of an application's profile does not say whose model it stands for, so such a one is taken for another's.
pub(crate) fn is_claude(model: &str) -> bool {
    model.contains("anthropic.")
}

/// The turns, and whether the model is to think. Thoughts are sent only to Anthropic's models: no others are known to want theirs.
fn conversation<'r>(
    request: &'r Request<'r>,
    settings: &Settings<'_>,
    report: &mut Report,
) -> Result<(Conversation<'r>, Thinking), Rejected> {
    let rules = Rules {
        mid_system: settings.options.mid_system,
        trim: true,
        ids: true,
    };
    let mut conversation = turns(request, rules, report)?;
    if !is_claude(settings.model) {
        thoughts::forget(&mut conversation, report);
        match &request.reasoning {
            None | Some(Reasoning::Budget(0)) => {}
            Some(Reasoning::Effort(word)) if word.is("none") => {}
            Some(_) => report.dropped("reasoning_effort"),
        }
        return Ok((conversation, Thinking::Unsaid));
    }
    thoughts::keep(&mut conversation, Family::Anthropic, report);
    let mut thinking = thoughts::claude(request, settings.options, report);
    if thinking.is_on() && !thoughts::restore(&mut conversation, Family::Anthropic, settings) {
        report.because("reasoning", Change::Changed, "signature_missing");
        thinking = Thinking::Off;
    }
    Ok((conversation, thinking))
}

/// `inferenceConfig`.
fn write_inference(
    request: &Request<'_>,
    limit: Option<u64>,
    thinking: Thinking,
    report: &mut Report,
    o: &mut Obj<'_>,
) {
    let mut config = String::new();
    object(&mut config, |o| {
        if let Some(limit) = limit {
            o.u64("maxTokens", limit);
        }
        write_temperature(request, thinking, report, o);
        if let Some(top_p) = request.param("top_p") {
            o.raw("topP", top_p);
        }
        let stops: Vec<&Str<'_>> = request
            .stop
            .iter()
            .filter(|stop| !stop.is_blank())
            .collect();
        if stops.len() < request.stop.len() {
            report.dropped("stop");
        }
        if !stops.is_empty() {
            o.array("stopSequences", |a| {
                for stop in stops {
                    a.str(stop);
                }
            });
        }
    });
    filled(o, "inferenceConfig", &config);
}

/// The service takes 0 to 1; a model that thinks takes nothing but 1, which it has anyway.
fn write_temperature(
    request: &Request<'_>,
    thinking: Thinking,
    report: &mut Report,
    o: &mut Obj<'_>,
) {
    let Some(given) = request.param("temperature") else {
        return;
    };
    let number = value(given).and_then(|value| value.as_f64());
    if thinking.is_on() {
        if number != Some(1.0) {
            report.dropped("temperature");
        }
    } else if number.is_some_and(|number| number > 1.0) {
        report.note("temperature", Change::Clamped);
        o.u64("temperature", 1);
    } else {
        o.raw("temperature", given);
    }
}

/// `additionalModelRequestFields`, in the words of Anthropic.
fn write_additional(
    request: &Request<'_>,
    thinking: Thinking,
    choice: Option<&str>,
    report: &mut Report,
    o: &mut Obj<'_>,
) {
    let mut fields = String::new();
    object(&mut fields, |o| {
        match thinking {
            Thinking::Unsaid => {}
            Thinking::Off => o.raw("thinking", r#"{"type":"disabled"}"#),
            Thinking::Budget(tokens) => o.object("thinking", |o| {
                o.raw("type", r#""enabled""#);
                o.u64("budget_tokens", tokens);
            }),
            Thinking::Adaptive(effort) => {
                o.raw("thinking", r#"{"type":"adaptive"}"#);
                if let Some(effort) = effort {
                    o.object("output_config", |o| o.text("effort", effort));
                }
            }
        }
        match request.param("top_k") {
            Some(_) if thinking.is_on() => report.dropped("top_k"),
            Some(top_k) => o.raw("top_k", top_k),
            None => {}
        }
        if let Some(choice) = choice {
            o.raw("tool_choice", choice);
        }
    });
    filled(o, "additionalModelRequestFields", &fields);
}

/// What only Anthropic's models are told.
fn left_out(request: &Request<'_>, report: &mut Report) {
    if request.param("top_k").is_some() {
        report.dropped("top_k");
    }
    let used = !request.tools.is_empty() && request.tool_choice != Some(ToolChoice::None);
    if used && request.parallel_tool_calls == Some(false) {
        report.dropped("parallel_tool_calls");
    }
}

fn write_rest(request: &Request<'_>, shape: &Shape<'_>, report: &mut Report, o: &mut Obj<'_>) {
    if let Some(metadata) = request.param("metadata") {
        match value(metadata).map(|value| (value.kind(), value.members().collect::<Vec<_>>())) {
            Some((Kind::Object, members)) if members.is_empty() => {}
            Some((Kind::Object, members))
                if members.len() <= MOST_METADATA
                    && members
                        .iter()
                        .all(|member| member.value().kind() == Kind::String) =>
            {
                o.raw("requestMetadata", metadata);
            }
            _ => report.dropped("metadata"),
        }
    }
    match request.param("service_tier").map(|tier| &**tier) {
        None | Some(r#""auto""#) => {}
        Some(tier @ (r#""default""# | r#""flex""# | r#""priority""#)) => {
            o.object("serviceTier", |o| o.raw("type", tier));
        }
        Some(_) => report.dropped("service_tier"),
    }
    shape.write_native(o);
}

/// A member, unless it is an object of nothing.
fn filled(o: &mut Obj<'_>, name: &str, object: &str) {
    if object != "{}" {
        o.raw(name, object);
    }
}
