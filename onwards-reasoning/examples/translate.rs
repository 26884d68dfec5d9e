//! Says a request's reasoning effort in a provider's words.
//!
//! `cargo run -p onwards-reasoning --example translate -- high '{"max_tokens": 9000}'` prints the edits that a
//! budget provider gets for the effort, or why the request is refused.
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::collections::BTreeMap;

use onwards_reasoning::{
    Controls, Effort, Refusal, Spec, Surface, SurfaceSpec, Translation, WriteSpec,
};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let effort = args.next().unwrap_or_else(|| "high".to_owned());
    let rest = args.next().unwrap_or_else(|| "{}".to_owned());
    let mut body: BTreeMap<String, Value> = serde_json::from_str(&rest)?;
    body.insert("reasoning_effort".to_owned(), json!(effort));
    let translation = Translation::new(&spec()).map_err(|broken| format!("{broken:?}"))?;
    match translate(&translation, &body) {
        Ok(edits) => edits.iter().for_each(|edit| println!("{edit}")),
        Err(refusal) => println!("{} {}: {refusal}", refusal.status, refusal.code),
    }
    Ok(())
}

fn translate(t: &Translation, body: &BTreeMap<String, Value>) -> Result<Vec<String>, Refusal> {
    let raw: BTreeMap<&str, String> = body
        .iter()
        .map(|(name, value)| (name.as_str(), value.to_string()))
        .collect();
    let member = |name: &str| raw.get(name).map(String::as_str);
    let Some(ask) = Controls::read(Surface::ChatCompletions, member)? else {
        return Ok(vec![]);
    };
    t.check(&ask)?;
    Ok(t.edits(&ask).iter().map(ToString::to_string).collect())
}

/// The effort switches reasoning on, and doubles the budget from step to step.
fn spec() -> Spec {
    let write = |path: &str, value: fn(u32, Effort) -> Value| WriteSpec {
        target_path: path.to_owned(),
        values: (0..)
            .zip(Effort::ALL)
            .map(|(i, effort)| (effort.name().to_owned(), value(i, effort)))
            .collect(),
    };
    let effort = write("/reasoning_effort", |_, effort| json!(effort.name()));
    let budget = write("/thinking_token_budget", |step, _| json!(128 << step));
    Spec {
        chat_completions: Some(SurfaceSpec {
            unsupported_efforts: vec![],
            writes: vec![effort, budget],
        }),
        responses: None,
    }
}
