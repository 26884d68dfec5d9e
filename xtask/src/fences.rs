//! Examples of configurations in the papers are files that load, without a problem and without a warning.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use onwards_config::Surroundings;

/// Answers every reference to a secret, so that examples need not be configured.
struct Anything;

impl Surroundings for Anything {
    fn env(&self, name: &str) -> Option<String> {
        // The one address among them that has to look like one.
        let address = if name == "REDIS_URL" { "redis://" } else { "" };
        Some(format!("{address}value-of-{name}"))
    }

    fn file(&self, path: &str) -> std::io::Result<String> {
        Ok(format!("content-of-{path}\n"))
    }
}

/// Loads every example of every Markdown file; one line per problem or warning.
pub(crate) fn check(root: &Path, files: &[PathBuf]) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for path in files
        .iter()
        .filter(|path| path.extension().is_some_and(|ext| ext == "md"))
    {
        let text = std::fs::read_to_string(root.join(path))
            .with_context(|| format!("reading {}", path.display()))?;
        for (line, example) in configurations(&text) {
            let found = match onwards_config::read(example.as_bytes(), &Anything) {
                Ok(loaded) => loaded.warnings,
                Err(found) => found.0,
            };
            problems.extend(
                found
                    .iter()
                    .map(|problem| format!("{}:{line}: {problem}", path.display())),
            );
        }
    }
    Ok(problems)
}

/// Fenced JSON that has `targets`, with the line of its fence.
fn configurations(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (at, line) in text.lines().enumerate() {
        match (line.trim(), &mut open) {
            ("```json", None) => open = Some((at + 1, String::new())),
            ("```", Some(_)) => found.extend(
                open.take()
                    .filter(|(_, example)| example.contains("\"targets\"")),
            ),
            (_, Some((_, example))) => {
                example.push_str(line);
                example.push('\n');
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests;
