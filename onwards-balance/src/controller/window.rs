//! The newest samples and how many of them are breaches.

use std::collections::VecDeque;

/// A queue of at most `most` samples; `true` is a breach. Grows as it fills, one byte a sample.
#[derive(Debug)]
pub(super) struct Window {
    most: usize,
    samples: VecDeque<bool>,
    breaches: usize,
}

impl Window {
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            samples: VecDeque::new(),
            breaches: 0,
        }
    }

    /// Adds a sample; the oldest leaves a full window.
    pub(super) fn push(&mut self, breach: bool) {
        if self.samples.len() >= self.most && self.samples.pop_front() == Some(true) {
            self.breaches = self.breaches.saturating_sub(1);
        }
        self.samples.push_back(breach);
        self.breaches += usize::from(breach);
    }

    pub(super) fn clear(&mut self) {
        self.samples.clear();
        self.breaches = 0;
    }

    pub(super) fn len(&self) -> usize {
        self.samples.len()
    }

    /// Breaches among the samples; 0 without samples.
    pub(super) fn breach_rate(&self) -> f64 {
        self.breaches as f64 / self.samples.len().max(1) as f64
    }
}
