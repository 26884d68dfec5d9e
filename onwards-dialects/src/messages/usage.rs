//! Counts of tokens, as Anthropic tells them: what a cache was asked stands beside the prompt, not in it.

use onwards_json::Value;

use super::member;
use crate::answer::Usage;
use crate::write::Obj;

/// Counts so far. A stream tells them in several events; each is the sum up to there.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    input: Option<u64>,
    output: Option<u64>,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
    thinking: Option<u64>,
}

impl Counts {
    /// Takes the counts that are there.
    pub(super) fn update(&mut self, usage: &Value<'_>) {
        for count in usage.members() {
            let value = count.value();
            let (place, tokens) = if count.is("input_tokens") {
                (&mut self.input, value.as_u64())
            } else if count.is("output_tokens") {
                (&mut self.output, value.as_u64())
            } else if count.is("cache_read_input_tokens") {
                (&mut self.cache_read, value.as_u64())
            } else if count.is("cache_creation_input_tokens") {
                (&mut self.cache_write, value.as_u64())
            } else if count.is("output_tokens_details") {
                let tokens = member(&value, "thinking_tokens");
                (
                    &mut self.thinking,
                    tokens.and_then(|tokens| tokens.as_u64()),
                )
            } else {
                continue;
            };
            *place = tokens.or(*place);
        }
    }

    /// In the sense of Chat Completions; `None` as long as nothing was told.
    pub(super) fn usage(&self) -> Option<Usage> {
        if self.input.is_none() && self.output.is_none() {
            return None;
        }
        let prompt = [self.input, self.cache_read, self.cache_write]
            .into_iter()
            .flatten()
            .fold(0_u64, u64::saturating_add);
        Some(Usage {
            prompt,
            completion: self.output.unwrap_or(0),
            total: None,
            cached: self.cache_read,
            cache_write: self.cache_write,
            reasoning: self.thinking,
        })
    }
}

/// The counts of an answer's member `usage`.
pub(super) fn read(answer: &Value<'_>) -> Option<Usage> {
    let mut counts = Counts::default();
    counts.update(&member(answer, "usage")?);
    counts.usage()
}

/// The member `usage`: all four counts, for clients read them without asking.
pub(super) fn write(usage: Option<Usage>, o: &mut Obj<'_>) {
    let usage = usage.unwrap_or_default();
    let cached = usage.cached.unwrap_or(0);
    let written = usage.cache_write.unwrap_or(0);
    let beside = cached.saturating_add(written);
    o.object("usage", |o| {
        o.u64("input_tokens", usage.prompt.saturating_sub(beside));
        o.u64("cache_creation_input_tokens", written);
        o.u64("cache_read_input_tokens", cached);
        o.u64("output_tokens", usage.completion);
        if let Some(thinking) = usage.reasoning {
            o.object("output_tokens_details", |o| {
                o.u64("thinking_tokens", thinking);
            });
        }
    });
}
