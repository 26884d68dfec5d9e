//! Names of tools and ids of calls in forms that a provider takes (spec providers 3.0.3).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::options::Memory;
use crate::request::{PartKind, Request, ToolChoice};
use crate::text::Str;

/// The longest name of a tool that any provider takes.
const LONGEST: usize = 64;

/// Which ids of calls a provider takes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum IdRule {
    /// Letters, digits, `_` and `-`.
    Anthropic,
    /// 1 to 64 of the same, `.` and `:`.
    Bedrock,
}

/// An id as the provider takes it: itself, or a digest of it.
pub(crate) fn call_id<'s>(id: &Str<'s>, rule: IdRule) -> Str<'s> {
    let meant = id.decoded();
    let fits = match rule {
        IdRule::Anthropic => !meant.is_empty() && meant.bytes().all(plain),
        IdRule::Bedrock => {
            (1..=64).contains(&meant.len())
                && meant
                    .bytes()
                    .all(|byte| plain(byte) || matches!(byte, b'.' | b':'))
        }
    };
    if fits {
        return id.clone();
    }
    let mut mapped = String::from("t_");
    for byte in Sha256::digest(meant.as_bytes()).iter().take(15) {
        // Writing to a string does not fail.
        write!(mapped, "{byte:02x}").unwrap_or_default();
    }
    Str::owned(mapped)
}

/// The names of a request's tools, as the provider is told them.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Client's name to provider's, where they differ.
    mapped: BTreeMap<String, String>,
    used: BTreeSet<String>,
    /// The next number for names that are alike, by what they have in common.
    numbers: BTreeMap<String, usize>,
    /// A name must begin with a letter or an underscore (gemini).
    lettered: bool,
}

impl Names {
    /// The names of all tools that a request mentions.
    pub(crate) fn of(request: &Request<'_>, lettered: bool) -> Self {
        let mut names = Self {
            lettered,
            ..Self::default()
        };
        let mut unfit = Vec::new();
        mentioned(request, &mut |name| {
            let name = name.decoded();
            if names.fits(&name) {
                if !names.used.contains(&*name) {
                    names.used.insert(name.into_owned());
                }
            } else {
                unfit.push(name.into_owned());
            }
        });
        for name in unfit {
            if !names.mapped.contains_key(&name) {
                let sent = names.free(&name);
                names.mapped.insert(name, sent);
            }
        }
        names
    }

    /// A tool as the provider is told it.
    pub(crate) fn sent<'s>(&self, name: &Str<'s>) -> Str<'s> {
        if self.mapped.is_empty() {
            return name.clone();
        }
        match self.mapped.get(&*name.decoded()) {
            Some(sent) => Str::owned(sent.as_str()),
            None => name.clone(),
        }
    }

    /// Gives a tool that is the gateway's own a name that no other has.
    pub(crate) fn free(&mut self, name: &str) -> String {
        let mut fit: String = name
            .chars()
            .map(|c| {
                if c.is_ascii() && plain(c as u8) {
                    c
                } else {
                    '_'
                }
            })
            .take(LONGEST)
            .collect();
        if fit.is_empty() {
            fit.push_str("tool");
        }
        if self.lettered && !fit.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            fit.insert(0, '_');
            fit.truncate(LONGEST);
        }
        let mut sent = fit.clone();
        let number = self.numbers.entry(fit.clone()).or_insert(2);
        while self.used.contains(&sent) {
            let suffix = format!("_{number}");
            sent.clone_from(&fit);
            sent.truncate(LONGEST - suffix.len());
            sent.push_str(&suffix);
            *number += 1;
        }
        self.used.insert(sent.clone());
        sent
    }

    /// Lets the reader of the answer know.
    pub(crate) fn remember(self, memory: &mut Memory) {
        let pairs = self.mapped.into_iter().map(|(client, sent)| (sent, client));
        memory.tool_names.extend(pairs);
    }

    fn fits(&self, name: &str) -> bool {
        let first = name.bytes().next();
        (1..=LONGEST).contains(&name.len())
            && name.bytes().all(plain)
            && (!self.lettered
                || first.is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_'))
    }
}

fn plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn mentioned(request: &Request<'_>, tell: &mut impl FnMut(&Str<'_>)) {
    for tool in &request.tools {
        tell(&tool.name);
    }
    match &request.tool_choice {
        Some(ToolChoice::Named(name)) => tell(name),
        Some(ToolChoice::Allowed { names, .. }) => names.iter().for_each(&mut *tell),
        _ => {}
    }
    for part in request.messages.iter().flat_map(|message| &message.parts) {
        match &part.kind {
            PartKind::ToolCall(call) => tell(&call.name),
            PartKind::ToolResult(result) => {
                if let Some(name) = &result.name {
                    tell(name);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{IdRule, Names, call_id};
    use crate::options::Memory;
    use crate::request::{Request, Tool};
    use crate::text::Str;

    #[test]
    fn ids_that_do_not_fit_are_digests() {
        for (id, anthropic, bedrock) in [
            ("call_1-a", "call_1-a", "call_1-a"),
            ("a.b:c", "t_b2a25f70f5cf2429a9473fdc41f092", "a.b:c"),
        ] {
            let id = Str::plain(id);
            let of = |rule| call_id(&id, rule).decoded().into_owned();
            assert_eq!(of(IdRule::Bedrock), bedrock);
            assert_eq!(of(IdRule::Anthropic), anthropic);
        }
        let long = "x".repeat(65);
        let mapped = call_id(&Str::plain(&long), IdRule::Bedrock);
        assert_eq!(mapped.decoded().len(), 32);
        assert_eq!(
            call_id(&Str::plain(&long), IdRule::Anthropic),
            Str::plain(&long)
        );
    }

    #[test]
    fn names_that_do_not_fit_stay_apart() {
        let tools = ["a.b", "a_b", "a/b", "1st", "", "é"].map(|name| Tool {
            name: Str::plain(name),
            description: None,
            schema: None,
            strict: None,
            cache: None,
        });
        let request = Request {
            tools: tools.into(),
            ..Request::default()
        };
        let sent = |names: &Names| -> Vec<String> {
            let sent = request.tools.iter().map(|tool| names.sent(&tool.name));
            sent.map(|name| name.decoded().into_owned()).collect()
        };
        let names = Names::of(&request, false);
        assert_eq!(sent(&names), ["a_b_2", "a_b", "a_b_3", "1st", "tool", "_"]);
        let names = Names::of(&request, true);
        assert_eq!(sent(&names), ["a_b_2", "a_b", "a_b_3", "_1st", "tool", "_"]);
        let mut memory = Memory::default();
        names.remember(&mut memory);
        assert_eq!(memory.client_name("a_b_3"), "a/b");
        assert_eq!(memory.client_name("a_b"), "a_b");
    }
}
