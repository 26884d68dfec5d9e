//! Chat parameters that not every engine behind a model can honour.
//!
//! Strict mode checks chat requests against this list: a flagged name is counted, and refused if the
//! operator says so. Each row names the value that counts as absent; `null` always does, and a value of
//! another type never does. `chat_template_kwargs` is not here: it is refused outright elsewhere.

use onwards_json::{Scanner, Text};

/// A row of the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// The member's name in the request.
    pub name: &'static str,
    neutral: Neutral,
}

/// The value that asks for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Neutral {
    /// None but `null`.
    Null,
    /// This JSON text.
    Json(&'static str),
    /// An object without other members than these.
    Members(&'static [&'static str]),
}

const fn row(name: &'static str, neutral: Neutral) -> Parameter {
    Parameter { name, neutral }
}

/// All parameters, in the order in which they are counted and named.
pub static PARAMETERS: [Parameter; 25] = [
    row("n", Neutral::Json("1")),
    row("logprobs", Neutral::Json("false")),
    row("top_logprobs", Neutral::Json("0")),
    row("prompt_logprobs", Neutral::Null),
    row("min_tokens", Neutral::Json("0")),
    row("ignore_eos", Neutral::Json("false")),
    row("include_stop_str_in_output", Neutral::Json("false")),
    row("skip_special_tokens", Neutral::Json("true")),
    row("add_generation_prompt", Neutral::Json("true")),
    row("continue_final_message", Neutral::Json("false")),
    row("chat_template_args", Neutral::Members(&TEMPLATE_ARGS)),
    row("web_search_options", Neutral::Null),
    row("media_io_kwargs", Neutral::Null),
    row("guided_json", Neutral::Null),
    row("guided_regex", Neutral::Null),
    row("guided_grammar", Neutral::Null),
    row("guided_choice", Neutral::Null),
    row("guided_decoding_backend", Neutral::Null),
    row("guided_whitespace_pattern", Neutral::Null),
    row("functions", Neutral::Null),
    row("function_call", Neutral::Null),
    row("modalities", Neutral::Null),
    row("audio", Neutral::Null),
    row("prediction", Neutral::Null),
    row("mm_processor_kwargs", Neutral::Null),
];

/// Reasoning controls, which are judged elsewhere.
const TEMPLATE_ARGS: [&str; 4] = [
    "thinking",
    "enable_thinking",
    "thinking_mode",
    "reasoning_effort",
];

/// The parameters a request uses, a set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flags(u32);

impl Flags {
    /// Whether no parameter is flagged.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The flagged parameters, in catalog order.
    pub fn iter(self) -> impl Iterator<Item = &'static Parameter> {
        PARAMETERS
            .iter()
            .enumerate()
            .filter(move |(index, _)| self.0 & (1 << index) != 0)
            .map(|(_, parameter)| parameter)
    }

    /// Looks one member of a request up; `value` is its JSON text.
    pub(crate) fn observe(&mut self, name: Text<'_>, value: &[u8]) {
        let name = name.decoded();
        let found = PARAMETERS
            .iter()
            .position(|parameter| parameter.name == name);
        let Some(index) = found else { return };
        if PARAMETERS
            .get(index)
            .is_some_and(|parameter| !parameter.neutral.is(value))
        {
            self.0 |= 1 << index;
        }
    }
}

impl Neutral {
    fn is(self, value: &[u8]) -> bool {
        if value == b"null" {
            return true;
        }
        match self {
            Self::Null => false,
            Self::Json(json) => value == json.as_bytes(),
            Self::Members(names) => only(value, names).unwrap_or(false),
        }
    }
}

/// Whether a value is an object with no other members than these.
fn only(value: &[u8], names: &[&str]) -> Option<bool> {
    let mut scanner = Scanner::new(value).ok()?;
    scanner.enter_object().ok()?;
    while let Some(name) = scanner.next_key().ok()? {
        if !names.iter().any(|known| name.is(known)) {
            return Some(false);
        }
    }
    Some(true)
}

/// The parameters a request body flags. [`check`](crate::check()) finds the same on its way.
///
/// A body that is no JSON object flags what stands before the fault.
#[must_use]
pub fn flagged(body: &[u8]) -> Flags {
    let mut flags = Flags::default();
    if let Ok(mut scanner) = Scanner::new(body)
        && scanner.enter_object().is_ok()
    {
        while let Ok(Some(member)) = scanner.next_member() {
            let text = member.value().text().as_bytes();
            flags.observe(member.name_text(), text);
        }
    }
    flags
}

/// The row with that name; a reject list may only hold such names.
#[must_use]
pub fn find(name: &str) -> Option<&'static Parameter> {
    PARAMETERS.iter().find(|parameter| parameter.name == name)
}

/// The message of a refusal that names these parameters.
#[must_use]
pub fn refusal(names: &[&str]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("Unsupported parameter(s): {}", names.join(", "))
}

#[cfg(test)]
mod tests;
