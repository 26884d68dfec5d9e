//! What is wrong with a file, in words its author can act on.

use std::fmt;

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The file cannot be used.
    Error,
    /// The file can be used, perhaps not as its author thinks.
    Warning,
}

/// One thing wrong with a file.
///
/// `Display` is one line: `targets.m.url (line 3, column 14): found "ftp://x"; expected an absolute
/// http:// or https:// URL`. No field ever holds the content of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Whether the file can be used nevertheless.
    pub severity: Severity,
    /// Where: `targets.gpt-4.providers[0].url`; empty for the document itself.
    pub path: String,
    /// What is there.
    pub found: String,
    /// What is allowed there.
    pub expected: String,
    /// What was probably meant.
    pub hint: Option<String>,
    /// Where in the text, if the problem came from a text.
    pub position: Option<Position>,
}

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
}

impl Problem {
    /// An error without position and hint, for checks made by the consumer of a configuration.
    #[must_use]
    pub fn new(
        path: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self {
            severity: Severity::Error,
            path: path.into(),
            found: found.into(),
            expected: expected.into(),
            hint: None,
            position: None,
        }
    }

    /// The same as a warning.
    #[must_use]
    pub fn warning(self) -> Self {
        Self {
            severity: Severity::Warning,
            ..self
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() {
            "configuration"
        } else {
            &self.path
        };
        f.write_str(path)?;
        if let Some(Position { line, column }) = self.position {
            write!(f, " (line {line}, column {column})")?;
        }
        write!(f, ": found {}; expected {}", self.found, self.expected)?;
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

/// Everything wrong with a file that cannot be used: at least one error, and the warnings, in the order
/// of the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Problems(pub Vec<Problem>);

/// One problem per line, warnings marked.
impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            if problem.severity == Severity::Warning {
                f.write_str("warning: ")?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

/// How many slips there may be in a name that is still meant: one per three letters.
pub(crate) fn slips(name: &str) -> usize {
    name.len() / 3
}

/// The known name a misspelt one was probably meant to be.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = plain(name);
    known
        .into_iter()
        .map(|candidate| (distance(&name, &plain(candidate)), candidate))
        .filter(|(distance, candidate)| *distance <= slips(candidate))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// A question that suggests a name.
pub(crate) fn did_you_mean(name: &str) -> String {
    format!("did you mean {}?", quote(name))
}

/// A name in running text.
pub(crate) fn quote(name: &str) -> String {
    format!("`{name}`")
}

/// Lower case, with one kind of separator.
pub(crate) fn plain(name: &str) -> Vec<char> {
    name.chars()
        .take(64)
        .map(|c| {
            if c == '-' {
                '_'
            } else {
                c.to_ascii_lowercase()
            }
        })
        .collect()
}

/// Insertions, deletions, replacements and swaps of neighbours that turn one name into the other (optimal
/// string alignment).
pub(crate) fn distance(a: &[char], b: &[char]) -> usize {
    let mut above: Vec<usize> = (0..=b.len()).collect();
    let mut twice_above: Vec<usize> = Vec::new();
    let mut last = None;
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        let mut left = i + 1;
        let mut before = None;
        for (j, (y, window)) in b.iter().zip(above.windows(2)).enumerate() {
            let [diagonal, over] = *window else { break };
            let mut cell = (diagonal + usize::from(x != y)).min(over + 1).min(left + 1);
            if before == Some(x) && last == Some(y) {
                let swapped = j.checked_sub(1).and_then(|at| twice_above.get(at));
                cell = swapped.map_or(cell, |swapped| cell.min(swapped + 1));
            }
            row.push(cell);
            (left, before) = (cell, Some(y));
        }
        twice_above = std::mem::replace(&mut above, row);
        last = Some(x);
    }
    above.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests;
