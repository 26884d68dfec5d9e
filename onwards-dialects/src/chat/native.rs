//! Answers and streams of providers that speak Chat Completions, for clients that do, too: edited where they stand (spec providers
//! 3.1, 3.2, 4.1). What no rule names stays byte for byte.

mod edits;
mod frame;
mod last;

use onwards_json::ScanError;

use super::frame_failure;
use crate::Step;
use crate::failure::{Failure, Unreadable};
use crate::native::Shown;
use crate::text::value;

use self::edits::Notes;
use self::frame::{Choices, Form, Frame};
use self::last::Last;

/// A whole answer as the client gets it; `None` where that is as it came, or where it is no JSON object.
pub(crate) fn answer(azure: bool, body: &str, model: &str) -> Option<Vec<u8>> {
    let model = onwards_json::quote(model);
    let mut notes = Notes::default();
    let form = Form::Whole { azure };
    Frame::read(body, form, &model, &mut notes, &mut Choices::default()).ok()?;
    let mut out = Vec::with_capacity(body.len() + model.len());
    notes.write(body, &model, &mut out).then_some(out)
}

/// The payloads of a stream.
#[derive(Debug)]
pub(crate) struct Native {
    /// The provider adds what its filters have found.
    azure: bool,
    /// The client's name for the model, as JSON text.
    model: String,
    content: bool,
    /// `[DONE]` was seen.
    over: bool,
    choices: Choices,
    /// The last payload with token counts, as it came; empty if there was none.
    counts: String,
    notes: Notes,
    last: Last,
}

impl Native {
    pub(crate) fn new(azure: bool, model: &str) -> Self {
        Self {
            azure,
            model: onwards_json::quote(model),
            content: false,
            over: false,
            choices: Choices::default(),
            counts: String::new(),
            notes: Notes::default(),
            last: Last::default(),
        }
    }

    /// Takes in one payload; see [`NativeEvents`](crate::NativeEvents).
    #[inline]
    pub(crate) fn payload(
        &mut self,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(Step, Shown), Unreadable> {
        let start = out.len();
        if let Some(shown) = self.last.recall(payload, out) {
            self.content = true;
            return Ok((Step::Open, shown));
        }
        out.truncate(start);
        self.read(payload, out)
    }

    #[inline(never)]
    fn read(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<(Step, Shown), Unreadable> {
        self.last.forget();
        if payload.trim_ascii() == b"[DONE]" {
            self.over = true;
            return Ok((Step::Complete, Shown::Nothing));
        }
        let text = std::str::from_utf8(payload)
            .map_err(|_| Unreadable::new("a frame that is not UTF-8"))?;
        let frame = self
            .frame(text)
            .map_err(|_| Unreadable::new("a frame that is not JSON"))?;
        if let Some(error) = &frame.error {
            return Ok((Step::Failed(frame_failure(error)), Shown::Nothing));
        }
        if frame.is_error {
            let failure = value(text).map(|whole| frame_failure(&whole));
            let failure = failure.unwrap_or_else(|| Failure::unsaid(500));
            return Ok((Step::Failed(failure), Shown::Nothing));
        }
        if frame.counted {
            text.clone_into(&mut self.counts);
        }
        let filters_alone = frame.filtered && !frame.says && !frame.opens && !frame.ends;
        if frame.choices == 0 || (self.azure && filters_alone) {
            return Ok((Step::Open, Shown::Nothing));
        }
        self.content |= frame.says || frame.ends;
        let start = out.len();
        let changed = self.notes.write(text, &self.model, out);
        if frame.says {
            let told = out.get(start..).unwrap_or_default();
            self.last.remember(payload, told, &self.notes, &self.model);
        }
        Ok((
            Step::Open,
            if changed { Shown::Changed } else { Shown::Same },
        ))
    }

    fn frame<'a>(&mut self, text: &'a str) -> Result<Frame<'a>, ScanError> {
        let form = Form::Chunk { azure: self.azure };
        let choices = &mut self.choices;
        Frame::read(text, form, &self.model, &mut self.notes, choices)
    }

    /// Appends the one payload with token counts that the end of the answer is told by, if the provider has counted; false if it
    /// has not (spec providers 3.0.7).
    pub(crate) fn counts(&mut self, out: &mut Vec<u8>) -> bool {
        let text = std::mem::take(&mut self.counts);
        let form = Form::Counts { azure: self.azure };
        let nobody = &mut Choices::default();
        if text.is_empty()
            || Frame::read(&text, form, &self.model, &mut self.notes, nobody).is_err()
        {
            return false;
        }
        if !self.notes.write(&text, &self.model, out) {
            out.extend_from_slice(text.as_bytes());
        }
        true
    }

    /// True once anything of the answer itself was seen.
    pub(crate) fn seen_content(&self) -> bool {
        self.content
    }

    /// True when the stream may end here: a reason for every choice that has begun, or `[DONE]`.
    pub(crate) fn may_end(&self) -> bool {
        self.over || self.choices.have_ended()
    }
}

#[cfg(test)]
mod tests;
