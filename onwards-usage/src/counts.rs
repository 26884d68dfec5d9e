//! What a `usage` object says, in either vocabulary.

use onwards_json::{Kind, Value, object};

/// More tokens than any request can have. A larger number is no count: it would only spoil the sums it goes into.
const MOST_TOKENS: u64 = u32::MAX as u64;

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
    /// Reads the text of an object. `None` when it is no JSON object or has no count; a number above 4 294 967 295 is none.
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
                "prompt_tokens" | "input_tokens" => put(&mut usage.prompt, count(&value)),
                "completion_tokens" | "output_tokens" => put(&mut usage.completion, count(&value)),
                "prompt_tokens_details" | "input_tokens_details" => {
                    put(&mut usage.cached, detail(&value, "cached_tokens"));
                }
                "completion_tokens_details" | "output_tokens_details" => {
                    put(&mut usage.reasoning, detail(&value, "reasoning_tokens"));
                }
                "cache_read_input_tokens" => {
                    put(&mut usage.cached, count(&value));
                    beside = beside.saturating_add(count(&value).unwrap_or(0));
                }
                "cache_creation_input_tokens" => {
                    beside = beside.saturating_add(count(&value).unwrap_or(0));
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

fn count(value: &Value<'_>) -> Option<u64> {
    value.as_u64().filter(|&count| count <= MOST_TOKENS)
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
        .find_map(|member| count(&member.value()))
}

#[cfg(test)]
mod tests;
