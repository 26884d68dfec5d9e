//! The papers say what the code has: blocks generated into them, and the files each crate owes its reader.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::layers::{self, LAYERS};
use crate::workspace::Metadata;

/// Where the flags of the command line stand.
const FLAGS: &str = "onwards-server/src/cli/args.rs";
/// Longest allowed ARCHITECTURE.md, in lines.
const ARCHITECTURE_LINES: usize = 250;

/// Checks the layer table, the length of ARCHITECTURE.md, and each library's README, example and lint setting.
pub(crate) fn check(root: &Path, metadata: &Metadata) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let path = root.join("ARCHITECTURE.md");
    let text = std::fs::read_to_string(&path).context("reading ARCHITECTURE.md")?;
    if with_block(&text, "layers", &layers::markdown())? != text {
        problems.push("ARCHITECTURE.md: its layer table differs from xtask/src/layers.rs; run cargo xtask schema".into());
    }
    let length = text.lines().count();
    if length >= ARCHITECTURE_LINES {
        problems.push(format!(
            "ARCHITECTURE.md: {length} lines, the limit is {ARCHITECTURE_LINES}"
        ));
    }
    problems.extend(flag_problems(root)?);
    for package in &metadata.packages {
        let folder = package
            .manifest_path
            .parent()
            .context("a manifest lies in a folder")?;
        let manifest = std::fs::read_to_string(&package.manifest_path)
            .with_context(|| format!("reading {}", package.manifest_path.display()))?;
        problems.extend(manifest_problems(&package.name, &manifest));
        if LAYERS
            .iter()
            .any(|layer| layer.name == package.name && layer.floor != "beside")
        {
            if !folder.join("README.md").is_file() {
                problems.push(format!("{}: has no README.md", package.name));
            }
            if !package
                .targets
                .iter()
                .any(|target| target.kind.iter().any(|kind| kind == "example"))
            {
                problems.push(format!("{}: has no example", package.name));
            }
        }
    }
    Ok(problems)
}

/// Every flag of the command line stands in the operating guide.
fn flag_problems(root: &Path) -> Result<Vec<String>> {
    let read = |name: &str| {
        std::fs::read_to_string(root.join(name)).with_context(|| format!("reading {name}"))
    };
    let guide = read("docs/operations.md")?;
    let missing = flags(&read(FLAGS)?)
        .into_iter()
        .filter(|flag| !guide.contains(&format!("`{flag} ")));
    Ok(missing
        .map(|flag| format!("docs/operations.md: says nothing of {flag}"))
        .collect())
}

/// The flags of serving, from the fields of their struct.
fn flags(source: &str) -> Vec<String> {
    let (_, rest) = source.split_once("struct Serve {").unwrap_or_default();
    let (fields, _) = rest.split_once("\n}").unwrap_or_default();
    let names = fields
        .lines()
        .filter_map(|line| line.trim().strip_prefix("pub(super) ")?.split_once(':'));
    names
        .map(|(name, _)| format!("--{}", name.replace('_', "-")))
        .collect()
}

/// Each dependency takes its version from the workspace, and the workspace's lints apply.
fn manifest_problems(name: &str, manifest: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let mut section = "";
    let mut lints = false;
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        } else if section == "[lints]" {
            lints |= line == "workspace = true";
        } else if section.ends_with("dependencies]")
            && line.contains('=')
            && !line.starts_with('#')
            && !(line.contains(".workspace = true") || line.contains("workspace = true"))
        {
            problems.push(format!(
                "{name}: `{line}` does not come from [workspace.dependencies]"
            ));
        }
    }
    if !lints {
        problems.push(format!("{name}: [lints] workspace = true is missing"));
    }
    problems
}

/// The text with the block of that name replaced. A block stands between `<!-- NAME:begin -->` and `<!-- NAME:end -->`,
/// each alone on its line.
pub(crate) fn with_block(text: &str, name: &str, body: &str) -> Result<String> {
    let (begin, end) = (
        format!("<!-- {name}:begin -->\n"),
        format!("<!-- {name}:end -->"),
    );
    let Some((before, rest)) = text.split_once(&begin) else {
        bail!("no line `{}`", begin.trim_end())
    };
    let Some((_, after)) = rest.split_once(&end) else {
        bail!("no line `{end}`")
    };
    Ok(format!("{before}{begin}{body}{end}{after}"))
}

#[cfg(test)]
mod tests;
