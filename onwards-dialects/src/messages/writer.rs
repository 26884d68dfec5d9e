//! Requests to Anthropic (spec providers 3.3).

use onwards_json::Kind;

use super::content::{Content, Hints};
use super::structured::Structured;
use super::tools::Tools;
use crate::conversation::names::{IdRule, Names};
use crate::conversation::thoughts::{self, Thinking};
use crate::conversation::{Rules, System, drop_params, refuse_shapes, turns};
use crate::failure::Rejected;
use crate::fidelity::{Change, Report};
use crate::options::{Memory, Settings, Written};
use crate::request::Request;
use crate::text::{Str, value};
use crate::write::{Obj, object};
use crate::{Family, Protocol};

/// Who serves the model, and what of the dialect it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    /// Anthropic.
    Anthropic,
    /// Anthropic, asked only to count.
    Counter,
    /// Bedrock's InvokeModel: model and streaming are told by the address, version and betas in the body.
    Bedrock,
}

/// Parameters that this writer takes or looks at itself.
const TAKEN: [&str; 7] = [
    "n",
    "temperature",
    "top_p",
    "top_k",
    "user",
    "safety_identifier",
    "service_tier",
];

/// Where requests go at Anthropic.
pub(crate) fn path(_settings: &Settings<'_>, _stream: bool) -> String {
    "/v1/messages".to_owned()
}

/// A request in Anthropic's dialect.
///
/// # Errors
/// What cannot be said in it and must not be left out.
pub(crate) fn write_request(
    request: &Request<'_>,
    settings: &Settings<'_>,
) -> Result<Written, Rejected> {
    write_for(Host::Anthropic, request, settings)
}

/// The same, for another host of the dialect.
///
/// # Errors
/// As [`write_request`].
pub(crate) fn write_for(
    host: Host,
    request: &Request<'_>,
    settings: &Settings<'_>,
) -> Result<Written, Rejected> {
    let options = settings.options;
    let mut report = request.report.clone();
    refuse_shapes(request, false)?;
    let rules = Rules {
        mid_system: options.mid_system,
        trim: true,
        ids: true,
    };
    let mut conversation = turns(request, rules, &mut report)?;
    thoughts::keep(&mut conversation, Family::Anthropic, &mut report);
    let mut thinking = thoughts::claude(request, options, &mut report);
    if thinking.is_on() && !thoughts::restore(&mut conversation, Family::Anthropic, settings) {
        report.because("reasoning", Change::Changed, "signature_missing");
        thinking = Thinking::Off;
    }
    let limit = match host {
        Host::Counter => None,
        _ => thoughts::limit(request, thinking, options, &mut report)?,
    };
    let mut names = Names::of(request, false);
    let structured = Structured::of(request, settings, thinking, &mut names, &mut report);
    let mut hints = Hints::default();

    let mut body = String::new();
    object(&mut body, |o| {
        write_head(host, settings, o);
        if let Some(limit) = limit {
            o.u64("max_tokens", limit);
        }
        let mut tools = Tools {
            request,
            settings,
            names: &names,
            hints: &mut hints,
            report: &mut report,
        };
        tools.write(&structured, thinking, o);
        write_system(&conversation.system, &mut hints, &mut report, o);
        let mut content = Content {
            settings,
            names: &names,
            ids: IdRule::Anthropic,
            hints: &mut hints,
            report: &mut report,
        };
        content.write(&conversation.turns, o)?;
        write_thinking(thinking, &structured, o);
        if host != Host::Counter {
            write_sampling(request, thinking, &mut report, o);
        }
        if host == Host::Anthropic && request.stream {
            o.bool("stream", true);
        }
        write_unknown(host, request, &mut report, o);
        Ok(())
    })?;

    drop_params(request, &TAKEN, &mut report);
    let mut memory = Memory {
        structured: structured.tool_name(),
        ..Memory::default()
    };
    names.remember(&mut memory);
    Ok(Written {
        body,
        memory,
        report,
    })
}

fn write_head(host: Host, settings: &Settings<'_>, o: &mut Obj<'_>) {
    if host != Host::Bedrock {
        o.text("model", settings.model);
        return;
    }
    o.text("anthropic_version", "bedrock-2023-05-31");
    let betas = &settings.options.betas;
    if !betas.is_empty() {
        o.array("anthropic_beta", |a| {
            for beta in betas {
                a.str(&Str::plain(beta));
            }
        });
    }
}

fn write_system(system: &[System<'_>], hints: &mut Hints, report: &mut Report, o: &mut Obj<'_>) {
    match system {
        [] => {}
        [only] if only.cache.is_none() => o.str("system", &only.text),
        blocks => o.array("system", |a| {
            for block in blocks {
                a.object(|o| {
                    o.raw("type", "\"text\"");
                    o.str("text", &block.text);
                    hints.write(block.cache, report, o);
                });
            }
        }),
    }
}

fn write_thinking(thinking: Thinking, structured: &Structured<'_>, o: &mut Obj<'_>) {
    let mut effort = None;
    match thinking {
        Thinking::Unsaid => {}
        Thinking::Off => o.raw("thinking", r#"{"type":"disabled"}"#),
        Thinking::Budget(tokens) => o.object("thinking", |o| {
            o.raw("type", "\"enabled\"");
            o.u64("budget_tokens", tokens);
        }),
        Thinking::Adaptive(word) => {
            o.raw("thinking", r#"{"type":"adaptive"}"#);
            effort = word;
        }
    }
    let schema = structured.native();
    if effort.is_none() && schema.is_none() {
        return;
    }
    o.object("output_config", |o| {
        if let Some(effort) = effort {
            o.text("effort", effort);
        }
        if let Some(schema) = schema {
            o.object("format", |o| {
                o.raw("type", "\"json_schema\"");
                o.raw("schema", schema);
            });
        }
    });
}

/// What is said of the answer and of the client.
fn write_sampling(request: &Request<'_>, thinking: Thinking, report: &mut Report, o: &mut Obj<'_>) {
    let stops: Vec<_> = request
        .stop
        .iter()
        .filter(|stop| !stop.is_blank())
        .collect();
    if stops.len() < request.stop.len() {
        report.dropped("stop");
    }
    if !stops.is_empty() {
        o.array("stop_sequences", |a| {
            for stop in stops {
                a.str(stop);
            }
        });
    }
    write_numbers(request, thinking, report, o);
    let user = text_param(request, "user", report);
    let safety = text_param(request, "safety_identifier", report);
    if user.is_some() && safety.is_some() {
        report.dropped("user");
    }
    if let Some(id) = safety.or(user) {
        o.object("metadata", |o| o.raw("user_id", id));
    }
    match request.param("service_tier").map(|tier| &**tier) {
        Some(r#""auto""#) => o.text("service_tier", "auto"),
        Some(r#""default""#) => o.text("service_tier", "standard_only"),
        Some(_) => report.dropped("service_tier"),
        None => {}
    }
}

fn write_numbers(request: &Request<'_>, thinking: Thinking, report: &mut Report, o: &mut Obj<'_>) {
    let mut temperature = request.param("temperature");
    if let Some(given) = temperature.filter(|_| thinking.is_on()) {
        // One is what a thinking model runs at anyway.
        if number(given) != Some(1.0) {
            report.dropped("temperature");
        }
        temperature = None;
    }
    match temperature {
        Some(given) if number(given).is_some_and(|given| given > 1.0) => {
            report.note("temperature", Change::Clamped);
            o.u64("temperature", 1);
        }
        Some(given) => o.raw("temperature", given),
        None => {}
    }
    match request.param("top_p") {
        Some(_) if temperature.is_some() => report.dropped("top_p"),
        Some(given) => o.raw("top_p", given),
        None => {}
    }
    match request.param("top_k") {
        Some(_) if thinking.is_on() => report.dropped("top_k"),
        Some(given) => o.raw("top_k", given),
        None => {}
    }
}

/// Members that nobody here knows, if they came in this dialect.
fn write_unknown(host: Host, request: &Request<'_>, report: &mut Report, o: &mut Obj<'_>) {
    let own = request.protocol == Some(Protocol::Messages) && host == Host::Anthropic;
    for (name, value) in &request.unknown {
        if own {
            o.name(name).push_str(value);
        } else {
            report.dropped(&name.decoded());
        }
    }
}

fn number(json: &str) -> Option<f64> {
    value(json)?.as_f64()
}

/// The JSON text of a parameter that should be a string.
fn text_param<'r>(request: &'r Request<'_>, name: &str, report: &mut Report) -> Option<&'r str> {
    let given: &str = request.param(name)?;
    if value(given).is_some_and(|value| value.kind() == Kind::String) {
        return Some(given);
    }
    report.dropped(name);
    None
}
