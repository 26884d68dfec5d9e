//! The members of an object: which are asked for, which are missing, which nobody knows.

use crate::json::Json;
use crate::node::{Node, Reading};
use crate::path::Path;
use crate::problem::{Severity, did_you_mean, nearest, quote};

/// The members of an object with known names. Whoever asks for a member makes its name known.
pub(crate) struct Members<'a> {
    kind: &'static str,
    path: Path,
    reading: &'a Reading<'a>,
    entries: Vec<(&'a str, Node<'a>)>,
    known: Vec<&'static str>,
    missing: Vec<(&'static str, &'static str)>,
}

impl<'a> Members<'a> {
    pub(crate) fn new(
        kind: &'static str,
        of: &Node<'a>,
        entries: Vec<(&'a str, Node<'a>)>,
    ) -> Self {
        Self {
            kind,
            path: of.path.clone(),
            reading: of.reading,
            entries,
            known: Vec::new(),
            missing: Vec::new(),
        }
    }

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

    /// Reports a member as missing that others make necessary.
    pub(crate) fn lack(&mut self, name: &'static str, expected: &'static str) {
        self.missing.push((name, expected));
    }

    /// How many members were asked for.
    pub(crate) fn asked(&self) -> usize {
        self.known.len()
    }

    /// The members that are there of those asked for since then.
    pub(crate) fn given_since(&self, asked: usize) -> Vec<(&'static str, Node<'a>)> {
        let names = self.known.iter().skip(asked);
        let given = names.filter_map(|name| {
            let (_, node) = self.entries.iter().find(|(known, _)| known == name)?;
            (*node.json != Json::Null).then(|| (*name, node.clone()))
        });
        given.collect()
    }

    /// Reports members that are missing, and warns about unknown ones.
    pub(crate) fn done(self) {
        let expected = format!("a member of {}; it is ignored", readable(self.kind));
        self.finish(Severity::Warning, &expected);
    }

    /// Reports members that are missing or unknown, without naming all that are known.
    pub(crate) fn done_strict(self) {
        let expected = format!("a member of {}", readable(self.kind));
        self.finish(Severity::Error, &expected);
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
        "provider",
        "kind",
        "path",
        "stream_path",
        "auth",
        "aws",
        "headers",
        "extra_body",
        "request_timeout_ms",
    ];
    const SHARED: &[&str] = &[
        "rate_limit",
        "concurrency_limit",
        "response_headers",
        "sanitize_response",
        "trusted",
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
    const TOP: &[&str] = &[
        "strict_mode",
        "exempt_header",
        "rejected_params",
        "rate_limit_headers",
        "shared_state",
        "ingress",
        "image_fetch",
        "reasoning_state",
        "dry_run_key",
    ];
    match kind {
        "connection" if PROVIDER.contains(&name) || SHARED.contains(&name) => {
            Some("it belongs in the entries of targets, beside `provider`")
        }
        "pool" if PROVIDER.contains(&name) => Some("it belongs in the entries of `providers`"),
        "provider" if POOL.contains(&name) => Some("it belongs beside `providers`"),
        "named_pools" if POOL.contains(&name) => {
            Some("it belongs in the pools, beside `providers`")
        }
        "single_target" | "pool" | "provider" if name == "first_token_timeout_ms" => {
            Some("it belongs in `fallback`, or at the top of the file")
        }
        "single_target" | "pool" | "provider" | "named_pools" | "fallback"
            if TOP.contains(&name) =>
        {
            Some("it belongs at the top of the file")
        }
        _ => None,
    }
}

/// What is expected where an object of a kind should be.
pub(crate) fn object_of(kind: &str) -> String {
    match readable(kind) {
        member if member.starts_with('`') => "an object".to_owned(),
        words => format!("an object ({words})"),
    }
}

/// An object of a kind, as words.
fn readable(kind: &str) -> String {
    match kind {
        "config" => "the configuration".to_owned(),
        "single_target" => "a target with `url`".to_owned(),
        "named_pools" => "a target with `pools`".to_owned(),
        "connection" => "a provider at the top of the file".to_owned(),
        "provider_auth" => quote("auth"),
        "provider" | "pool" | "key_definition" | "routing_rule" => {
            format!("a {}", kind.replace('_', " "))
        }
        member => quote(member),
    }
}
