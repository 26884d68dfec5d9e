//! The table of metrics in `docs/operations.md`, made from the table in the server's source.
//!
//! The source is read as text, so that no task has to wait for the server to compile. A row that this reader does not
//! understand is an error, never a missing line.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result, bail};

/// Where the table of metrics stands.
const SOURCE: &str = "onwards-server/src/metrics/names.rs";

/// The metrics as a table in Markdown.
pub(crate) fn markdown(root: &Path) -> Result<String> {
    let source =
        std::fs::read_to_string(root.join(SOURCE)).with_context(|| format!("reading {SOURCE}"))?;
    render(&source).with_context(|| format!("in {SOURCE}"))
}

fn render(source: &str) -> Result<String> {
    let (_, rest) = source
        .split_once("\ntable! {\n")
        .context("no `table! {` on a line of its own")?;
    let (rows, _) = rest.split_once("\n}\n").context("the table has no end")?;
    let mut text = String::from("| metric | type | labels | meaning |\n|---|---|---|---|\n");
    for row in rows
        .split(";\n")
        .map(str::trim)
        .filter(|row| !row.is_empty())
    {
        let row = row.trim_end_matches(';');
        let Row {
            name,
            kind,
            labels,
            help,
        } = read(row).with_context(|| format!("a row that cannot be read: {row}"))?;
        let labels = labels
            .iter()
            .map(|label| format!("`{label}`"))
            .collect::<Vec<_>>()
            .join(" ");
        // Writing to a String cannot fail.
        let _ok = writeln!(text, "| `{name}` | {kind} | {labels} | {help} |");
    }
    Ok(text)
}

#[derive(Debug, PartialEq, Eq)]
struct Row {
    name: String,
    kind: String,
    labels: Vec<String>,
    help: String,
}

/// Reads `Variant = Kind(bounds), prefixed, "name", ["label", ...], "help"`.
fn read(row: &str) -> Result<Row> {
    let (_, row) = row.split_once(" = ").context("no ` = `")?;
    let (head, _) = row.split_once('"').context("no name")?;
    let kind = head
        .split(['(', ','])
        .next()
        .unwrap_or_default()
        .trim()
        .to_lowercase();
    let prefix = match head.trim_end().trim_end_matches(',').rsplit(", ").next() {
        Some("true") => "PREFIX_",
        Some("false") => "",
        _ => bail!("neither true nor false before the name"),
    };
    let mut texts = row.split('"').skip(1).step_by(2).map(str::to_owned);
    let name = texts.next().context("no name")?;
    let mut labels: Vec<String> = texts.collect();
    let help = labels.pop().context("no help text")?;
    Ok(Row {
        name: format!("{prefix}{name}"),
        kind,
        labels,
        help,
    })
}

#[cfg(test)]
mod tests;
