//! Links in the papers lead somewhere. A link to a Rust file whose text is a name in backticks promises that the file
//! holds a function of that name: so a guarantee that names its test cannot outlive it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Follows every relative link of every Markdown file; one line per broken promise.
pub(crate) fn check(root: &Path, files: &[PathBuf]) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for path in files
        .iter()
        .filter(|path| path.extension().is_some_and(|ext| ext == "md"))
    {
        let text = std::fs::read_to_string(root.join(path))
            .with_context(|| format!("reading {}", path.display()))?;
        let folder = root.join(path.parent().unwrap_or(Path::new("")));
        for (label, target) in links(&text) {
            if let Err(why) = follow(&folder, label, target) {
                problems.push(format!("{}: the link to {target} {why}", path.display()));
            }
        }
    }
    Ok(problems)
}

fn follow(folder: &Path, label: &str, target: &str) -> Result<(), String> {
    let target = target.split('#').next().unwrap_or_default();
    if target.is_empty() || target.contains("://") {
        return Ok(());
    }
    let path = folder.join(target);
    if !path.exists() {
        return Err("leads nowhere".to_owned());
    }
    let name = label
        .strip_prefix('`')
        .and_then(|rest| rest.strip_suffix('`'));
    let is_name = |name: &&str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let Some(name) = name.filter(is_name).filter(|_| target.ends_with(".rs")) else {
        return Ok(());
    };
    let source =
        std::fs::read_to_string(&path).map_err(|error| format!("cannot be read: {error}"))?;
    let found = ["(", "<"]
        .iter()
        .any(|after| source.contains(&format!("fn {name}{after}")));
    if found {
        Ok(())
    } else {
        Err(format!("promises a function {name} that is not there"))
    }
}

/// The inline links of a Markdown text as (label, target), those in code left out.
fn links(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        let mut rest = if fenced { "" } else { line };
        let mut ticks = 0;
        while let Some((before, after)) = rest.split_once("](") {
            ticks += before.matches('`').count();
            let in_code = ticks % 2 == 1;
            let label = before
                .rsplit_once('[')
                .map(|(_, label)| label)
                .filter(|_| !in_code);
            let Some((target, tail)) = after.split_once(')').filter(|_| label.is_some()) else {
                rest = after;
                continue;
            };
            found.extend(label.map(|label| (label, target)));
            rest = tail;
        }
    }
    found
}

#[cfg(test)]
mod tests;
