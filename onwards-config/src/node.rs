//! A value with its place, and the questions a reader asks it. Every wrong answer becomes a problem and
//! `None`; the reader goes on with a placeholder, so that one pass finds everything.

use std::cell::RefCell;
use std::ops::RangeInclusive;

use crate::json::Json;
use crate::path::Path;
use crate::problem::{Severity, nearest};
use crate::secret::{Secret, Secrets, Written, without_line_end, written};
use crate::unbuilt;

/// What all parts of one reading share.
pub(crate) struct Reading<'s> {
    pub(crate) secrets: &'s dyn Secrets,
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
    pub(crate) fn new(secrets: &'s dyn Secrets) -> Self {
        Self {
            secrets,
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
            Written::Env(name) => match self.reading.secrets.env(name) {
                Some(value) => (value, false),
                None => {
                    return self.wrong_unseen(
                        format!("${{{name}}}"),
                        format!("the variable {name} to be set"),
                    );
                }
            },
            Written::File(path) => match self.reading.secrets.file(path) {
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

    pub(crate) fn elements(&self, expected: &str) -> Option<Vec<Node<'a>>> {
        let Json::Array(elements) = self.json else {
            return self.wrong(expected);
        };
        let child = |(index, json)| Node {
            json,
            path: self.path.element(index),
            reading: self.reading,
        };
        Some(elements.iter().enumerate().map(child).collect())
    }

    /// The members of an object with free names; of duplicates the last.
    pub(crate) fn entries(&self, expected: &str) -> Option<Vec<(&'a str, Node<'a>)>> {
        let Json::Object(members) = self.json else {
            return self.wrong(expected);
        };
        let mut entries: Vec<(&'a str, Node<'a>)> = Vec::with_capacity(members.len());
        for (name, json) in members {
            let node = Node {
                json,
                path: self.path.member(name),
                reading: self.reading,
            };
            match entries.iter_mut().find(|(known, _)| known == name) {
                Some(entry) => {
                    self.reading.warn(
                        &node.path,
                        "the member more than once",
                        "it once; the last one counts",
                    );
                    *entry = (name, node);
                }
                None => entries.push((name, node)),
            }
        }
        Some(entries)
    }

    /// The members of an object with known names. `kind` is its name in the schema.
    pub(crate) fn object(&self, kind: &'static str) -> Option<Members<'a>> {
        let entries = self.entries(&format!("an object: {}", readable(kind)))?;
        let members = Members {
            kind,
            path: self.path.clone(),
            reading: self.reading,
            entries,
            known: Vec::new(),
            missing: Vec::new(),
        };
        Some(members)
    }
}

/// The members of an object with known names. Whoever asks for a member makes its name known.
pub(crate) struct Members<'a> {
    kind: &'static str,
    pub(crate) path: Path,
    pub(crate) reading: &'a Reading<'a>,
    entries: Vec<(&'a str, Node<'a>)>,
    known: Vec<&'static str>,
    missing: Vec<(&'static str, &'static str)>,
}

impl<'a> Members<'a> {
    /// A member that may be absent; `null` counts as absent.
    pub(crate) fn get(&mut self, name: &'static str) -> Option<Node<'a>> {
        self.known.push(name);
        #[cfg(test)]
        self.reading
            .asked
            .borrow_mut()
            .entry(self.kind)
            .or_default()
            .insert(name);
        let node = self
            .entries
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, node)| node.clone())?;
        if *node.json == Json::Null {
            return None;
        }
        unbuilt::warn(name, &node);
        Some(node)
    }

    /// A member that must be there.
    pub(crate) fn need(&mut self, name: &'static str, expected: &'static str) -> Option<Node<'a>> {
        let node = self.get(name);
        if node.is_none() {
            self.missing.push((name, expected));
        }
        node
    }

    /// Reports members that are missing, and warns about unknown ones.
    pub(crate) fn done(self) {
        let expected = format!("a member of {}; it is ignored", readable(self.kind));
        self.finish(Severity::Warning, &expected);
    }

    /// Reports members that are missing or unknown.
    pub(crate) fn done_closed(self) {
        let known: Vec<_> = self.known.iter().map(|name| quote(name)).collect();
        self.finish(Severity::Error, &format!("one of {}", known.join(", ")));
    }

    fn finish(self, severity: Severity, expected: &str) {
        let unknown: Vec<_> = self
            .entries
            .iter()
            .filter(|(name, _)| !self.known.contains(name))
            .collect();
        for (name, expected) in &self.missing {
            let meant = nearest(name, unknown.iter().map(|(name, _)| *name));
            let hint = meant.map(|meant| format!("is {} misspelt?", quote(meant)));
            self.reading.push(
                Severity::Error,
                &self.path.member(name),
                "nothing".into(),
                (*expected).into(),
                hint,
            );
        }
        for (name, node) in unknown {
            let hint = nearest(name, self.known.iter().copied())
                .map(did_you_mean)
                .or_else(|| misplaced(self.kind, name).map(str::to_owned));
            self.reading.push(
                severity,
                &node.path,
                "an unknown member".into(),
                expected.into(),
                hint,
            );
        }
    }
}

/// Where a member belongs that stands in the wrong object.
fn misplaced(kind: &str, name: &str) -> Option<&'static str> {
    const PROVIDER: &[&str] = &[
        "url",
        "onwards_key",
        "onwards_model",
        "upstream_auth_header_name",
        "upstream_auth_header_prefix",
        "propagate_trace_context",
        "reasoning_translation",
        "request_timeout_secs",
        "connect_timeout_ms",
        "idle_timeout_ms",
        "accepts_scheduling_priority",
        "weight",
        "name",
    ];
    const POOL: &[&str] = &[
        "keys",
        "strategy",
        "fallback",
        "providers",
        "routing_rules",
        "inflight_limit",
        "account_inflight_limits",
        "batch_inflight_limit",
        "rate_limit",
        "concurrency_limit",
        "response_headers",
        "sanitize_response",
        "trusted",
    ];
    match kind {
        "pool" if PROVIDER.contains(&name) => Some("it belongs in the entries of `providers`"),
        "provider" if POOL.contains(&name) => Some("it belongs beside `providers`"),
        "named_pools" if POOL.contains(&name) => {
            Some("it belongs in the pools, beside `providers`")
        }
        "target" | "single_target" if name == "strict_mode" => {
            Some("it belongs at the top of the file")
        }
        _ => None,
    }
}

fn did_you_mean(name: &str) -> String {
    format!("did you mean {}?", quote(name))
}

fn quote(name: &str) -> String {
    format!("`{name}`")
}

/// An object of a kind, as words.
fn readable(kind: &str) -> String {
    match kind {
        "config" => "the configuration".to_owned(),
        "single_target" => "a target with `url`".to_owned(),
        "named_pools" => "a target with `pools`".to_owned(),
        "provider" | "pool" | "key_definition" | "routing_rule" => {
            format!("a {}", kind.replace('_', " "))
        }
        member => quote(member),
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
