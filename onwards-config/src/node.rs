//! A value with its place, and the questions a reader asks it. Every wrong answer becomes a problem and
//! `None`; the reader goes on with a placeholder, so that one pass finds everything.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::RangeInclusive;

use crate::json::Json;
use crate::members::{Members, object_of};
use crate::path::Path;
use crate::problem::{Severity, did_you_mean, nearest, quote};
use crate::secret::{Secret, Written, without_line_end, written};
use crate::surroundings::Surroundings;

/// What all parts of one reading share.
pub(crate) struct Reading<'s> {
    pub(crate) surroundings: &'s dyn Surroundings,
    issues: RefCell<Vec<Issue>>,
    #[cfg(test)]
    pub(crate) asked:
        RefCell<std::collections::BTreeMap<&'static str, std::collections::BTreeSet<&'static str>>>,
}

/// A problem before its place in the text is known.
pub(crate) struct Issue {
    pub(crate) severity: Severity,
    pub(crate) at: Path,
    pub(crate) found: String,
    pub(crate) expected: String,
    pub(crate) hint: Option<String>,
}

impl<'s> Reading<'s> {
    pub(crate) fn new(surroundings: &'s dyn Surroundings) -> Self {
        Self {
            surroundings,
            issues: RefCell::default(),
            #[cfg(test)]
            asked: RefCell::default(),
        }
    }

    pub(crate) fn error(&self, at: &Path, found: impl Into<String>, expected: impl Into<String>) {
        self.push(Severity::Error, at, found.into(), expected.into(), None);
    }

    pub(crate) fn warn(&self, at: &Path, found: impl Into<String>, expected: impl Into<String>) {
        self.push(Severity::Warning, at, found.into(), expected.into(), None);
    }

    pub(crate) fn push(
        &self,
        severity: Severity,
        at: &Path,
        found: String,
        expected: String,
        hint: Option<String>,
    ) {
        self.issues.borrow_mut().push(Issue {
            severity,
            at: at.clone(),
            found,
            expected,
            hint,
        });
    }

    /// How many errors were reported so far.
    pub(crate) fn errors(&self) -> usize {
        let issues = self.issues.borrow();
        issues
            .iter()
            .filter(|issue| issue.severity == Severity::Error)
            .count()
    }

    pub(crate) fn into_issues(self) -> Vec<Issue> {
        self.issues.into_inner()
    }
}

/// A value with its place.
#[derive(Clone)]
pub(crate) struct Node<'a> {
    pub(crate) json: &'a Json,
    pub(crate) path: Path,
    pub(crate) reading: &'a Reading<'a>,
}

/// A secret as the file gives it.
#[derive(Debug, Clone)]
pub(crate) struct Given {
    pub(crate) secret: Secret,
    /// The text stands in the file, so it may also be the name of a definition.
    pub(crate) literal: bool,
}

impl<'a> Node<'a> {
    /// Reports what is here as wrong.
    pub(crate) fn wrong<T>(&self, expected: impl Into<String>) -> Option<T> {
        self.reading.error(&self.path, self.json.shown(), expected);
        None
    }

    /// Reports what is here as wrong without showing it.
    pub(crate) fn wrong_unseen<T>(
        &self,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Option<T> {
        self.reading.error(&self.path, found, expected);
        None
    }

    pub(crate) fn bool(&self) -> Option<bool> {
        match self.json {
            Json::Bool(value) => Some(*value),
            _ => self.wrong("true or false"),
        }
    }

    /// An integer in a range; `10.0` counts as 10.
    pub(crate) fn integer(&self, range: RangeInclusive<u64>) -> Option<u64> {
        let value = match self.json {
            Json::Number(number) => number.as_u64().or_else(|| number.as_f64().and_then(whole)),
            _ => None,
        };
        match value {
            Some(value) if range.contains(&value) => Some(value),
            _ if *range.end() == u64::MAX => {
                self.wrong(format!("an integer of at least {}", range.start()))
            }
            _ => self.wrong(format!(
                "an integer from {} to {}",
                range.start(),
                range.end()
            )),
        }
    }

    pub(crate) fn u32(&self, range: RangeInclusive<u32>) -> Option<u32> {
        let range = u64::from(*range.start())..=u64::from(*range.end());
        self.integer(range)
            .and_then(|value| u32::try_from(value).ok())
    }

    /// A number for which the test holds.
    pub(crate) fn number(&self, holds: impl Fn(f64) -> bool, expected: &str) -> Option<f64> {
        match self.json {
            Json::Number(number) => match number.as_f64() {
                Some(value) if value.is_finite() && holds(value) => Some(value),
                _ => self.wrong(expected),
            },
            _ => self.wrong(expected),
        }
    }

    pub(crate) fn str(&self, expected: &str) -> Option<&'a str> {
        match self.json {
            Json::String(text) => Some(text),
            _ => self.wrong(expected),
        }
    }

    pub(crate) fn string(&self) -> Option<String> {
        self.str("a string").map(str::to_owned)
    }

    /// One of a few names.
    pub(crate) fn choice<T: Copy>(&self, choices: &[(&str, T)]) -> Option<T> {
        let text = match self.json {
            Json::String(text) => text.as_str(),
            _ => "",
        };
        if let Some((_, value)) = choices.iter().find(|(name, _)| *name == text) {
            return Some(*value);
        }
        let names: Vec<_> = choices.iter().map(|(name, _)| quote(name)).collect();
        let hint = nearest(text, choices.iter().map(|(name, _)| *name)).map(did_you_mean);
        self.reading.push(
            Severity::Error,
            &self.path,
            self.json.shown(),
            names.join(" or "),
            hint,
        );
        None
    }

    /// A secret: text, `${NAME}` or `${file:PATH}`; never empty.
    pub(crate) fn secret(&self, what: &str) -> Option<Given> {
        let Json::String(text) = self.json else {
            return self.wrong_unseen(self.json.kind(), format!("{what}: a string"));
        };
        let (text, literal) = match written(text) {
            Written::Literal(text) => (text.to_owned(), true),
            Written::Env(name) => match self.reading.surroundings.env(name) {
                Some(value) => (value, false),
                None => {
                    return self.wrong_unseen(
                        format!("${{{name}}}"),
                        format!("the variable {name} to be set"),
                    );
                }
            },
            Written::File(path) => match self.reading.surroundings.file(path) {
                Ok(content) => (without_line_end(content), false),
                Err(error) => {
                    let expected = format!("a file that can be read ({})", error.kind());
                    return self.wrong_unseen(format!("${{file:{path}}}"), expected);
                }
            },
            Written::Broken(found) => {
                return self.wrong_unseen(found, "${NAME} or ${file:PATH} as the whole value");
            }
        };
        if text.is_empty() {
            return self.wrong_unseen(
                "an empty text",
                format!("{what}: a string that is not empty"),
            );
        }
        Some(Given {
            secret: Secret::new(text),
            literal,
        })
    }

    /// The elements of an array. What is there instead is not shown: it may be a secret without its brackets.
    pub(crate) fn elements(&self, expected: &str) -> Option<Vec<Node<'a>>> {
        let Json::Array(elements) = self.json else {
            return self.wrong_unseen(self.json.kind(), expected);
        };
        Some(
            elements
                .iter()
                .enumerate()
                .map(|(index, json)| self.child(self.path.element(index), json))
                .collect(),
        )
    }

    /// The members of an object with free names; of duplicates the last. What is there instead is not shown
    /// either.
    pub(crate) fn entries(&self, expected: &str) -> Option<Vec<(&'a str, Node<'a>)>> {
        let Json::Object(members) = self.json else {
            return self.wrong_unseen(self.json.kind(), expected);
        };
        let mut entries: Vec<(&'a str, Node<'a>)> = Vec::with_capacity(members.len());
        let mut places: HashMap<&str, usize> = HashMap::with_capacity(members.len());
        for (name, json) in members {
            let node = self.child(self.path.member(name), json);
            let known = places
                .get(name.as_str())
                .and_then(|place| entries.get_mut(*place));
            if let Some(entry) = known {
                self.reading.warn(
                    &node.path,
                    "the member more than once",
                    "it once; the last one counts",
                );
                *entry = (name, node);
            } else {
                places.insert(name, entries.len());
                entries.push((name, node));
            }
        }
        Some(entries)
    }

    /// The place that a path names from here on; where it leads nowhere, the last place on the way. A name in it may hold
    /// any character, so it is matched with what is there.
    pub(crate) fn place(&self, relative: &str) -> Path {
        let inside = match self.json {
            Json::Array(elements) => relative
                .strip_prefix('[')
                .and_then(|rest| rest.split_once(']'))
                .and_then(|(index, rest)| {
                    let index = index.parse().ok()?;
                    Some((self.path.element(index), elements.get(index)?, rest))
                }),
            Json::Object(members) => {
                let name = relative.strip_prefix('.').unwrap_or(relative);
                let named = members.iter().rev().filter_map(|(member, json)| {
                    let rest = name.strip_prefix(member.as_str())?;
                    let ends = rest.is_empty() || rest.starts_with(['.', '[']);
                    ends.then(|| (self.path.member(member), json, rest))
                });
                if name.is_empty() {
                    None
                } else {
                    named.min_by_key(|(_, _, rest)| rest.len())
                }
            }
            _ => None,
        };
        match inside {
            Some((path, json, rest)) => self.child(path, json).place(rest),
            None => self.path.clone(),
        }
    }

    fn child(&self, path: Path, json: &'a Json) -> Self {
        Self {
            json,
            path,
            reading: self.reading,
        }
    }

    /// The members of an object with known names. `kind` is its name in the schema.
    pub(crate) fn object(&self, kind: &'static str) -> Option<Members<'a>> {
        let entries = self.entries(&object_of(kind))?;
        Some(Members::new(kind, self, entries))
    }
}

/// The integer a float is, if it is one exactly.
fn whole(value: f64) -> Option<u64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked: whole and within 0..=2^53"
    )]
    ((0.0..=EXACT).contains(&value) && value.fract() == 0.0).then_some(value as u64)
}
