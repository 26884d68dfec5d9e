//! File sizes: over 400 non-test lines a file is reported, over 600 it fails, unless its first line says why it is long.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::source;

/// Reported from here on.
const LOOK: usize = 400;
/// Fails from here on.
const SPLIT: usize = 600;
/// A first line that holds this and a reason excuses the file.
const EXCUSE: &str = "(long:";

/// What the check found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// Files that deserve a look.
    pub(crate) notes: Vec<String>,
    /// Files that fail.
    pub(crate) problems: Vec<String>,
}

/// Measures every Rust file that is not a test.
pub(crate) fn check(root: &Path, files: &[PathBuf]) -> Result<Sizes> {
    let mut sizes = Sizes::default();
    for path in files
        .iter()
        .filter(|path| path.extension().is_some_and(|ext| ext == "rs"))
    {
        if !source::is_test_file(path) {
            let text = std::fs::read_to_string(root.join(path))
                .with_context(|| format!("reading {}", path.display()))?;
            weigh(path, &text, &mut sizes);
        }
    }
    Ok(sizes)
}

fn weigh(path: &Path, text: &str, sizes: &mut Sizes) {
    let length = source::lines(text).iter().filter(|line| !line.test).count();
    let excused = text
        .lines()
        .next()
        .is_some_and(|first| first.contains(EXCUSE));
    let line = format!("{}: {length} non-test lines", path.display());
    if length > SPLIT && !excused {
        sizes.problems.push(format!(
            "{line}, over {SPLIT}: split it, or say why in its first line as `{EXCUSE} …)`"
        ));
    } else if length > LOOK {
        sizes
            .notes
            .push(format!("{line}, over {LOOK}: is it still one subject?"));
    }
}

#[cfg(test)]
mod tests;
