//! Keys of callers: definitions, and the names that stand for them.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};

use crate::node::{Given, Reading};
use crate::path::Path;
use crate::problem::{distance, plain, slips};
use crate::secret::Secret;
use crate::spec;

/// Keys by name and names by key.
#[derive(Default)]
pub(super) struct Definitions {
    keys: HashMap<String, Secret>,
    names: HashMap<String, String>,
    guesses: Guesses,
}

/// Names that a misspelt one may have been meant to be.
struct Guesses {
    /// The names as they are compared, by their length and the slips they may have: most are told apart by that alone.
    names: BTreeMap<(usize, usize), Vec<Guess>>,
    /// How many more are compared letter by letter.
    left: Cell<usize>,
}

/// A name, and as it is compared.
struct Guess {
    name: String,
    compared: Vec<char>,
}

/// How many names are compared letter by letter in one file. Each costs about a microsecond, and ten thousand keys could be
/// compared with ten thousand names.
const MOST_COMPARED: usize = 100_000;

impl Default for Guesses {
    fn default() -> Self {
        Self {
            names: BTreeMap::new(),
            left: Cell::new(MOST_COMPARED),
        }
    }
}

impl Guesses {
    fn learn(&mut self, name: &str) {
        let compared = plain(name);
        let group = (compared.len(), slips(name));
        let names = self.names.entry(group).or_default();
        names.push(Guess {
            name: name.to_owned(),
            compared,
        });
    }

    /// The nearest name within its slips; none any more when the file has had its share of comparisons.
    fn nearest(&self, text: &str) -> Option<&str> {
        let text = plain(text);
        let mut found: Option<(usize, &str)> = None;
        for (&(length, slips), names) in &self.names {
            if length.abs_diff(text.len()) > slips {
                continue;
            }
            for Guess { name, compared } in names {
                self.left.set(self.left.get().checked_sub(1)?);
                let distance = distance(&text, compared);
                if distance <= slips && found.is_none_or(|(least, _)| distance < least) {
                    found = Some((distance, name));
                }
            }
        }
        found.map(|(_, name)| name)
    }
}

pub(super) fn definitions(
    auth: Option<&spec::Auth>,
    path: &Path,
    reading: &Reading<'_>,
) -> Definitions {
    let mut known = Definitions::default();
    let given = auth.and_then(|auth| auth.key_definitions.as_ref());
    for (name, definition) in given.into_iter().flatten() {
        let key = definition.key.expose();
        known.keys.insert(name.clone(), definition.key.clone());
        known.guesses.learn(name);
        if key.is_empty() {
            continue;
        }
        match known.names.get(key) {
            Some(other) => reading.error(
                &path.member(name).member("key"),
                format!("the key of `{other}`"),
                "a key of its own",
            ),
            None => {
                known.names.insert(key.to_owned(), name.clone());
            }
        }
    }
    known
}

/// Replaces names of definitions by their keys and drops duplicates.
pub(super) fn resolved(
    keys: &[Given],
    definitions: &Definitions,
    path: &Path,
    reading: &Reading<'_>,
) -> Vec<Secret> {
    let mut all: Vec<&Secret> = Vec::with_capacity(keys.len());
    for (index, given) in keys.iter().enumerate() {
        let text = given.secret.expose();
        let named = definitions.keys.get(text).filter(|_| given.literal);
        if named.is_some()
            && definitions
                .names
                .get(text)
                .is_some_and(|owner| owner != text)
        {
            let found = "a text that is the name of one definition and the key of another";
            reading.error(&path.element(index), found, "a text with one meaning");
        }
        if named.is_none() && given.literal {
            warn_of_misspelt(text, definitions, &path.element(index), reading);
        }
        all.push(named.unwrap_or(&given.secret));
    }
    distinct(all)
}

/// A text that is nearly the name of a definition works as a key: hardly what was meant. The text is not repeated, since it
/// may be a secret after all.
fn warn_of_misspelt(text: &str, definitions: &Definitions, path: &Path, reading: &Reading<'_>) {
    if let Some(name) = definitions.guesses.nearest(text) {
        let expected = format!("a key, or the name `{name}`; as it stands its text is the key");
        reading.warn(path, "no name of a definition, but nearly one", expected);
    }
}

/// Each key once, in the order of its first appearance.
pub(super) fn distinct<'k>(keys: impl IntoIterator<Item = &'k Secret>) -> Vec<Secret> {
    let mut seen = HashSet::new();
    keys.into_iter()
        .filter(|key| seen.insert(key.expose()))
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests;
