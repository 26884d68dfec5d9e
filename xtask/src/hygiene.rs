//! What may not stand in the repository: unfinished work, ignored tests, paths of one machine, provider names in code,
//! I/O and clocks in a stone.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::layers::LAYERS;
use crate::source;

/// Marks of unfinished work and of tests that do not run; split so that this file does not find itself.
const UNFINISHED: &[&str] = &[
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("unimplemented", "!("),
    concat!("to", "do!("),
];
const IGNORED: &[&str] = &[concat!("#[ig", "nore"), concat!("#[should", "_panic")];

/// Starts of absolute paths that only exist on somebody's machine.
const MACHINE: &[&str] = &[
    concat!("/ro", "ot/"),
    concat!("/wo", "rk/"),
    concat!("/ho", "me/"),
    concat!("/Us", "ers/"),
];

/// Names of providers and of their engines, in lower case. They may stand in configuration, dialects, documents and
/// test data; anywhere else a difference between providers would be decided by name.
const PROVIDERS: &[&str] = &[
    "anthropic",
    "azure",
    "bedrock",
    "cohere",
    "deepseek",
    "fireworks",
    "gemini",
    "groq",
    "mistral",
    "ollama",
    "openai",
    "openrouter",
    "perplexity",
    "sglang",
    "togetherai",
    "vertexai",
    "vllm",
];

/// Crates whose code may name a provider.
const MAY_NAME: &[&str] = &[
    "onwards-config",
    "onwards-dialects",
    "xtask",
    "clients",
    "docs",
];

/// What a crate below the door may not touch.
const OUTSIDE_WORLD: &[&str] = &[
    "std::env",
    "std::fs",
    "std::io::std",
    "TcpListener",
    "TcpStream",
    "UdpSocket",
    "ToSocketAddrs",
    "std::process",
    "std::thread",
    "std::time::Instant",
    "SystemTime",
    "Instant::now",
];

/// Exemptions from a lint; `expect` fails once nothing is left to exempt.
const EXEMPTIONS: &[&str] = &["#[allow(", "#![allow("];

/// What the server may use in a few places only, each for a reason; the places are the audit list.
const AUDITED: &[(&str, &[&str])] = &[
    // A task without an owner. Those of this file end with the connections they serve.
    ("tokio::spawn", &["onwards-server/src/transport/task.rs"]),
    // The wall clock, for `created` and for a `Retry-After` that is a date. Everything else uses tokio's clock, which tests can
    // pause.
    (
        "SystemTime::now",
        &[
            "onwards-server/src/house.rs",
            "onwards-server/src/attempt.rs",
        ],
    ),
    ("std::time::Instant", &[]),
    // The environment: references to secrets, the filter of the logs, where traces go. Flags read theirs through clap.
    (
        "env::var",
        &[
            "onwards-server/src/secrets.rs",
            "onwards-server/src/logs.rs",
            "onwards-server/src/traces/otlp.rs",
        ],
    ),
    // Queues without an end.
    ("unbounded_channel", &[]),
    // Reading a body to its end without a cap: the demo, of its own answers.
    (".collect().await", &["onwards-server/src/cli/demo.rs"]),
    // Conversion through a tree.
    ("serde_json::to_value", &[]),
    ("serde_json::from_value", &[]),
];

/// Reads every text file and returns one line per finding.
pub(crate) fn check(root: &Path, files: &[PathBuf]) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for path in files {
        let bytes = std::fs::read(root.join(path))
            .with_context(|| format!("reading {}", path.display()))?;
        // Binary fixtures are not text; nothing in them is meant for a reader.
        if let Ok(text) = String::from_utf8(bytes) {
            check_file(path, &text, &mut problems);
        }
    }
    Ok(problems)
}

fn check_file(path: &Path, text: &str, problems: &mut Vec<String>) {
    let mut report = |at: usize, what: &str, found: &str| {
        problems.push(format!("{}:{}: {what}: {found}", path.display(), at + 1));
    };
    let rust = path.extension().is_some_and(|ext| ext == "rs");
    for (at, line) in text.lines().enumerate() {
        find(line, UNFINISHED, |found| {
            report(at, "unfinished work", found)
        });
        find(line, MACHINE, |found| {
            report(at, "path of one machine", found)
        });
        if rust {
            find(line, IGNORED, |found| {
                report(
                    at,
                    "a test that does not run or does not say what it expects",
                    found,
                )
            });
        }
    }
    if !rust || source::is_test_file(path) {
        return;
    }
    let crate_name = path
        .components()
        .next()
        .map(|part| part.as_os_str().to_string_lossy())
        .unwrap_or_default();
    // Beside the crates that may, one module turns what the configuration says of a provider into what the dialects know.
    let names_allowed = MAY_NAME.contains(&crate_name.as_ref())
        || path == Path::new("onwards-server/src/policy/dialect.rs");
    let pure = LAYERS.iter().any(|layer| {
        layer.name == crate_name && matches!(layer.floor, "ground" | "stone" | "plan")
    });
    for (at, line) in source::lines(text)
        .iter()
        .enumerate()
        .filter(|(_, line)| !line.test)
    {
        if !names_allowed {
            find(&line.code.to_lowercase(), PROVIDERS, |found| {
                report(at, "provider name in code", found)
            });
        }
        find(&line.bare, EXEMPTIONS, |found| {
            report(
                at,
                "an exemption that outlives its cause; write expect",
                found,
            )
        });
        if crate_name == "onwards-server" {
            let strays = AUDITED
                .iter()
                .filter(|(_, places)| !places.iter().any(|place| Path::new(place) == path));
            let strays: Vec<&str> = strays.map(|(word, _)| *word).collect();
            find(&line.bare, &strays, |found| {
                report(at, "not on the audit list of xtask/src/hygiene.rs", found)
            });
        }
        if pure {
            find(&line.bare, OUTSIDE_WORLD, |found| {
                report(at, "a crate below the door reaches outside", found)
            });
        }
    }
}

/// Calls `report` for each of the words that stands in the line.
fn find(line: &str, words: &[&str], mut report: impl FnMut(&str)) {
    for word in words.iter().filter(|word| line.contains(**word)) {
        report(word);
    }
}

#[cfg(test)]
mod tests;
