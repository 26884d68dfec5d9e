//! What a `usage` object says, in either vocabulary.

use onwards_json::{Kind, ScanError, Scanner};

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
        let mut scanner = Scanner::new(text).ok()?;
        let usage = Self::next_in(&mut scanner).ok()?;
        scanner.finish().ok()?;
        usage
    }

    /// Reads the object that `text` begins with: its counts, and its length. `None` when there is none that is whole and valid;
    /// what follows it is not looked at.
    pub(crate) fn at_start(text: &str) -> Option<(Option<Self>, usize)> {
        let mut scanner = Scanner::of(text);
        let usage = Self::next_in(&mut scanner).ok()?;
        Some((usage, scanner.position()))
    }

    /// Passes the object that is next, in one walk and without a list of what is in it.
    fn next_in(scanner: &mut Scanner<'_>) -> Result<Option<Self>, ScanError> {
        let mut usage = Self::default();
        let mut beside = 0_u64;
        scanner.enter_object()?;
        while let Some(name) = scanner.next_key()? {
            match &*name.decoded() {
                "prompt_tokens" | "input_tokens" => put(&mut usage.prompt, count(scanner)?),
                "completion_tokens" | "output_tokens" => {
                    put(&mut usage.completion, count(scanner)?);
                }
                "prompt_tokens_details" | "input_tokens_details" => {
                    put(&mut usage.cached, detail(scanner, "cached_tokens")?);
                }
                "completion_tokens_details" | "output_tokens_details" => {
                    put(&mut usage.reasoning, detail(scanner, "reasoning_tokens")?);
                }
                "cache_read_input_tokens" => {
                    let read = count(scanner)?;
                    put(&mut usage.cached, read);
                    beside = beside.saturating_add(read.unwrap_or(0));
                }
                "cache_creation_input_tokens" => {
                    beside = beside.saturating_add(count(scanner)?.unwrap_or(0));
                }
                _ => {
                    scanner.skip_u64()?; // most are numbers
                }
            }
        }
        usage.prompt = usage.prompt.map(|prompt| prompt.saturating_add(beside));
        Ok((usage != Self::default()).then_some(usage))
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

/// Passes the next value, which may be a count.
fn count(scanner: &mut Scanner<'_>) -> Result<Option<u64>, ScanError> {
    let value = scanner.skip_u64()?;
    Ok(value.filter(|&count| count <= MOST_TOKENS))
}

fn put(place: &mut Option<u64>, count: Option<u64>) {
    *place = count.or(*place);
}

/// Passes the next value; the first count of that name in it, if it is an object.
fn detail(scanner: &mut Scanner<'_>, name: &str) -> Result<Option<u64>, ScanError> {
    let mut first = None;
    if scanner.peek()? == Kind::Object {
        scanner.enter_object()?;
        while let Some(found) = scanner.next_key()? {
            let count = count(scanner)?;
            if first.is_none() && found.is(name) {
                first = count;
            }
        }
    }
    Ok(first)
}

#[cfg(test)]
mod tests;
