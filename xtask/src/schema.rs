//! `cargo xtask schema`: documents generated from the code, written or compared.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::{layers, metrics, papers};

/// Writes every generated document, or with `check` fails where one differs from what would be written.
pub(crate) fn run(root: &Path, check: bool) -> Result<()> {
    let mut stale = Vec::new();
    for (name, wanted) in documents(root)? {
        let path = root.join(name);
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        if found == wanted {
            continue;
        }
        stale.push(name);
        if !check {
            std::fs::write(&path, wanted).with_context(|| format!("writing {name}"))?;
            println!("wrote {name}");
        }
    }
    if check && !stale.is_empty() {
        bail!(
            "not what the code says: {}; run cargo xtask schema and commit the result",
            stale.join(", ")
        );
    }
    println!("schema: the generated documents match the code");
    Ok(())
}

fn documents(root: &Path) -> Result<Vec<(&'static str, String)>> {
    let block = |name: &'static str, block: &str, body: String| -> Result<(&'static str, String)> {
        let text =
            std::fs::read_to_string(root.join(name)).with_context(|| format!("reading {name}"))?;
        Ok((
            name,
            papers::with_block(&text, block, &body).with_context(|| format!("in {name}"))?,
        ))
    };
    let mut schema =
        serde_json::to_string_pretty(&onwards_config::schema()).context("writing the schema")?;
    schema.push('\n');
    Ok(vec![
        ("docs/config.schema.json", schema),
        ("docs/config.md", onwards_config::reference()),
        block("ARCHITECTURE.md", "layers", layers::markdown())?,
        ("docs/strict.md", strict(root)?),
        block("docs/operations.md", "metrics", metrics::markdown(root)?)?,
    ])
}

/// What is generated into the guide to strict mode.
fn strict(root: &Path) -> Result<String> {
    let text =
        std::fs::read_to_string(root.join("docs/strict.md")).context("reading docs/strict.md")?;
    let text = papers::with_block(&text, "catalog", &catalog())?;
    papers::with_block(&text, "contract", &contract())
}

/// The parameters that `rejected_params` may name.
fn catalog() -> String {
    onwards_strict::catalog::PARAMETERS
        .iter()
        .map(|parameter| format!("- `{}`\n", parameter.name))
        .collect()
}

/// What is kept of answers.
fn contract() -> String {
    let table = onwards_strict::contract_table();
    let sections = table.split("## ").filter(|section| !section.is_empty());
    sections.map(|section| format!("### {section}")).collect()
}
