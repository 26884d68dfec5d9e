//! Every client protocol against every kind of provider, spoken by SDKs that this project did not write on one side, and
//! played by aimock, which it did not write either, on the other.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::{Count, Node, Python, Stage, free_ports, ready, scripted, serve};
use crate::process::{Owned, command, variable};

/// The kinds of providers, and the model that each is asked for.
const KINDS: [(&str, &str); 5] = [
    ("openai", "gpt-5-mini"),
    ("azure_openai", "gpt-5-mini"),
    ("anthropic", "claude-sonnet-4-5"),
    ("gemini", "gemini-2.5-flash"),
    ("bedrock", "anthropic.claude-sonnet-4-5-20250929-v1:0"),
];
/// Where tests add what they found.
const MATRIX: &str = "ONWARDS_MATRIX";

/// Runs the checks of all clients.
pub(super) fn run(
    root: &Path,
    work: &Path,
    server: &Path,
    python: &Python,
    node: &Node,
) -> Result<Count> {
    let stage = set(root, work, server, node)?;
    println!("clients: every kind of provider, {}", stage.gateway_url);
    let found = variable(MATRIX).map(|name| root.join(name));
    if let Some(found) = &found {
        std::fs::write(found, "").with_context(|| format!("emptying {}", found.display()))?;
    }
    let tests = [
        python.test("openai_chat.py"),
        python.test("openai_responses.py"),
        python.test("anthropic_messages.py"),
        python.test("gemini.py"),
        node.test("ai-openai.mjs"),
        node.test("ai-anthropic.mjs"),
    ];
    let mut total = Count::default();
    for mut test in tests {
        if let Some(found) = &found {
            test.env(MATRIX, found);
        }
        total.add(stage.play(&mut test)?);
    }
    Ok(total)
}

/// aimock, the tap before it, and the gateway.
fn set(root: &Path, work: &Path, server: &Path, node: &Node) -> Result<Stage> {
    let (port, _) = free_ports()?;
    let program = node
        .folder
        .join("node_modules/@copilotkit/aimock/dist/cli.js");
    let fixtures = root.join("clients/fixtures.json");
    let mut start = command(&node.folder, "node");
    start.arg(program).arg("--fixtures").arg(fixtures);
    // Small pieces, and no thoughts of models that have none.
    start.args(["--chunk-size", "9", "--strict", "--validate-on-load"]);
    start.args(["--log-level", "warn", "--port", &port.to_string()]);
    let mut aimock = Owned::start(&mut start)?;
    ready(&mut aimock, port, "/__aimock/health")?;

    let script = root.join("clients/tap.py");
    let mut tap = command(root, "python3");
    let (tap, url) = scripted(tap.arg("-B").arg(script).arg(port.to_string()))?;
    let (gateway, gateway_url) = serve(root, server, &work.join("matrix.json"), &config(&url))?;
    Ok(Stage {
        gateway_url,
        provider: ("TAP_URL", url),
        _processes: vec![gateway, tap, aimock],
    })
}

/// One alias for each kind.
fn config(tap: &str) -> Value {
    let mut providers = serde_json::Map::new();
    let mut targets = serde_json::Map::new();
    for (kind, model) in KINDS {
        providers.insert(kind.to_owned(), provider(kind, tap));
        let served = json!({"provider": kind, "onwards_model": model});
        targets.insert(format!("m-{kind}"), json!({"providers": [served]}));
    }
    json!({
        "image_fetch": {"allow_http": true, "allow_private": true},
        "providers": providers,
        "targets": targets,
    })
}

fn provider(kind: &str, url: &str) -> Value {
    let key = "sk-provider";
    match kind {
        "bedrock" => json!({
            "kind": kind,
            "url": url,
            "aws": {
                "region": "us-east-1",
                "access_key_id": "AKIDEXAMPLE",
                "secret_access_key": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
            },
        }),
        "azure_openai" => {
            json!({"kind": kind, "url": url, "onwards_key": key, "api_version": "2024-10-21"})
        }
        _ => json!({"kind": kind, "url": url, "onwards_key": key}),
    }
}
