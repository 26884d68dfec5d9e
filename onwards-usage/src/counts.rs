//! What a `usage` object says, in either vocabulary.

use onwards_json::{Kind, Value, object};

/// Tokens of one request as its provider counted them. What the provider did not say is `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the prompt, those read from a cache or written to one included.
    pub prompt: Option<u64>,
    /// Tokens of the answer, reasoning included.
    pub completion: Option<u64>,
    /// Tokens of the prompt that were read from the provider's cache.
    pub cached: Option<u64>,
    /// Tokens of the answer that were spent on reasoning.
    pub reasoning: Option<u64>,
}

impl Usage {
    /// Reads the text of an object. `None` when it is no JSON object or has no count.
    ///
    /// Of chat, completions and embeddings: `prompt_tokens`, `completion_tokens`, `prompt_tokens_details.cached_tokens`,
    /// `completion_tokens_details.reasoning_tokens`. Of Responses: `input_tokens`, `output_tokens` and the details of the same
    /// names. Of messages: `cache_read_input_tokens` and `cache_creation_input_tokens`, which `input_tokens` leaves out there
    /// and which are added to the prompt here.
    #[must_use]
    pub fn of(text: &[u8]) -> Option<Self> {
        let mut usage = Self::default();
        let mut beside = 0_u64;
        for member in object(text).ok()?.members() {
            let value = member.value();
            match &*member.name() {
                "prompt_tokens" | "input_tokens" => put(&mut usage.prompt, value.as_u64()),
                "completion_tokens" | "output_tokens" => put(&mut usage.completion, value.as_u64()),
                "prompt_tokens_details" | "input_tokens_details" => {
                    put(&mut usage.cached, detail(&value, "cached_tokens"));
                }
                "completion_tokens_details" | "output_tokens_details" => {
                    put(&mut usage.reasoning, detail(&value, "reasoning_tokens"));
                }
                "cache_read_input_tokens" => {
                    put(&mut usage.cached, value.as_u64());
                    beside = beside.saturating_add(value.as_u64().unwrap_or(0));
                }
                "cache_creation_input_tokens" => {
                    beside = beside.saturating_add(value.as_u64().unwrap_or(0));
                }
                _ => {}
            }
        }
        usage.prompt = usage.prompt.map(|prompt| prompt.saturating_add(beside));
        (usage != Self::default()).then_some(usage)
    }

    /// These counts, and the earlier ones where these say nothing: a stream may tell of its prompt first and of its answer last.
    #[must_use]
    pub fn after(self, earlier: Self) -> Self {
        Self {
            prompt: self.prompt.or(earlier.prompt),
            completion: self.completion.or(earlier.completion),
            cached: self.cached.or(earlier.cached),
            reasoning: self.reasoning.or(earlier.reasoning),
        }
    }
}

fn put(place: &mut Option<u64>, count: Option<u64>) {
    *place = count.or(*place);
}

fn detail(value: &Value<'_>, name: &str) -> Option<u64> {
    if value.kind() != Kind::Object {
        return None;
    }
    value
        .members()
        .filter(|member| member.is(name))
        .find_map(|member| member.value().as_u64())
}

#[cfg(test)]
mod tests;
