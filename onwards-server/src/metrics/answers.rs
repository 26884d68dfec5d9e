//! The series of one alias about the answers that its providers give: how they ended, and the tokens they counted.

use std::sync::OnceLock;

use prometheus::{IntCounter, IntCounterVec};

use super::labels::labelled;
use super::{Maker, Name};

labelled! {
    /// The form of an answer.
    Form {
        /// One body.
        Unary = "unary",
        /// An event stream.
        Stream = "stream",
    }
}

labelled! {
    /// How the body of a response ended.
    Outcome {
        /// All of it was handed to the client's connection.
        Complete = "complete",
        /// The client left before the end.
        ClientGone = "client_gone",
        /// The provider broke off.
        UpstreamBroken = "upstream_broken",
        /// The provider was silent for longer than its `idle_timeout_ms`.
        Stalled = "stalled",
        /// An event that had not ended was larger than `--sse-buffer-limit`.
        Overflow = "overflow",
    }
}

labelled! {
    /// What a provider counted.
    Tokens {
        /// All of the prompt.
        Prompt = "prompt",
        /// All of the answer.
        Completion = "completion",
        /// The part of the prompt that was read from the provider's cache.
        Cached = "cached",
        /// The part of the answer that was reasoning.
        Reasoning = "reasoning",
    }
}

/// The families behind [`AnswerSeries`].
#[derive(Debug, Clone)]
pub(super) struct Families {
    outcomes: IntCounterVec,
    tokens: IntCounterVec,
}

impl Families {
    pub(super) fn new(make: &Maker<'_>) -> Result<Self, prometheus::Error> {
        Ok(Self {
            outcomes: make.counters(Name::ResponseOutcomes)?,
            tokens: make.counters(Name::Tokens)?,
        })
    }

    pub(super) fn of(&self, model: &str) -> AnswerSeries {
        AnswerSeries {
            families: self.clone(),
            model: model.to_owned(),
            ended: [const { OnceLock::new() }; Form::ALL.len() * Outcome::ALL.len()],
            counted: [const { OnceLock::new() }; Tokens::ALL.len()],
        }
    }
}

/// The series of one alias. Each appears when first counted, and is then found by its place.
#[derive(Debug)]
pub struct AnswerSeries {
    families: Families,
    model: String,
    ended: [OnceLock<IntCounter>; Form::ALL.len() * Outcome::ALL.len()],
    counted: [OnceLock<IntCounter>; Tokens::ALL.len()],
}

impl AnswerSeries {
    /// A provider's answer has ended.
    pub fn ended(&self, form: Form, outcome: Outcome) {
        let make = || {
            let labels = [&self.model, form.label(), outcome.label()];
            self.families.outcomes.with_label_values(&labels)
        };
        let place = form as usize * Outcome::ALL.len() + outcome as usize;
        match self.ended.get(place) {
            Some(cell) => cell.get_or_init(make).inc(),
            None => make().inc(),
        }
    }

    /// A provider has counted so many tokens.
    pub fn counted(&self, tokens: Tokens, count: u64) {
        let make = || {
            let labels = [self.model.as_str(), tokens.label()];
            self.families.tokens.with_label_values(&labels)
        };
        match self.counted.get(tokens as usize) {
            Some(cell) => cell.get_or_init(make).inc_by(count),
            None => make().inc_by(count),
        }
    }
}
