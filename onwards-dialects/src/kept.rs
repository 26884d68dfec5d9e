//! What of an answer has to come back to its model with the results of its calls (spec providers 3.0.6), and an answer as events.

use crate::answer::{Answer, Event, Piece};
use crate::options::Kept;
use crate::request::{Arguments, State, Thinking, ToolCall};
use crate::text::{Str, compact};

/// The most calls that are remembered of one answer, and the most bytes of what belongs to them.
const CALLS: usize = 128;
const BYTES: usize = 1 << 20;

/// Collects it from events. Beyond its bounds nothing more is remembered: a later turn then goes without.
#[derive(Debug, Default)]
pub(crate) struct Keeper {
    thoughts: Vec<(u64, Thinking<'static>)>,
    kept: Vec<(String, Kept)>,
    bytes: usize,
}

impl Keeper {
    #[inline]
    pub(crate) fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::ThinkingEnd { choice, thinking } if thinking.state.is_some() => {
                self.thought(*choice, thinking);
            }
            Event::ToolStart {
                choice, id, state, ..
            } => self.call(*choice, id, state.as_ref()),
            _ => {}
        }
    }

    pub(crate) fn take(&mut self) -> Vec<(String, Kept)> {
        std::mem::take(&mut self.kept)
    }

    #[cold]
    fn thought(&mut self, choice: u64, thinking: &Thinking<'_>) {
        if self.room(size(thinking)) {
            self.thoughts.push((choice, owned(thinking)));
        }
    }

    #[cold]
    fn call(&mut self, choice: u64, id: &Str<'_>, state: Option<&State<'_>>) {
        let thoughts: Vec<_> = self
            .thoughts
            .iter()
            .filter(|(of, _)| *of == choice)
            .map(|(_, thought)| thought.clone())
            .collect();
        if thoughts.is_empty() && state.is_none() {
            return;
        }
        let size: usize = thoughts.iter().map(size).sum();
        let size = size + state.map_or(0, |state| state.data.decoded().len());
        if self.kept.len() < CALLS && self.room(size) {
            let kept = Kept {
                thoughts,
                state: state.map(owned_state),
            };
            self.kept.push((id.decoded().into_owned(), kept));
        }
    }

    fn room(&mut self, size: usize) -> bool {
        self.bytes = self.bytes.saturating_add(size);
        self.bytes <= BYTES
    }
}

fn size(thinking: &Thinking<'_>) -> usize {
    let text = thinking
        .text
        .as_ref()
        .map_or(0, |text| text.decoded().len());
    let state = thinking.state.as_ref();
    text + state.map_or(0, |state| state.data.decoded().len())
}

fn owned(thinking: &Thinking<'_>) -> Thinking<'static> {
    Thinking {
        text: thinking.text.clone().map(Str::into_owned),
        state: thinking.state.as_ref().map(owned_state),
    }
}

fn owned_state(state: &State<'_>) -> State<'static> {
    State {
        family: state.family,
        data: state.data.clone().into_owned(),
    }
}

impl Answer<'_> {
    /// What is to be remembered of the answer for the next turn, by the id of the call: thoughts before it that only their model
    /// can read, and the call's own signature. Calls without any are left out.
    #[must_use]
    pub fn kept(&self) -> Vec<(String, Kept)> {
        let mut keeper = Keeper::default();
        self.replay(&mut |event| keeper.event(&event));
        keeper.take()
    }

    /// Tells the answer as the events it could have been streamed as.
    pub fn replay(&self, tell: &mut dyn FnMut(Event<'_>)) {
        tell(Event::Start {
            id: self.id.clone(),
        });
        if let Some(usage) = self.usage {
            tell(Event::Usage(usage));
        }
        for told in &self.choices {
            let choice = told.index;
            let mut call = 0;
            for piece in &told.parts {
                replay_piece(choice, &mut call, piece, tell);
            }
            if let Some(json) = &told.logprobs {
                tell(Event::Logprobs {
                    choice,
                    json: (&**json).into(),
                });
            }
            tell(Event::Finish {
                choice,
                finish: told.finish.clone(),
            });
        }
    }
}

fn replay_piece(choice: u64, call: &mut u64, piece: &Piece<'_>, tell: &mut dyn FnMut(Event<'_>)) {
    match piece {
        Piece::Text(text, state) => {
            if !text.is_empty() {
                let text = text.clone();
                tell(Event::Text { choice, text });
            }
            if let Some(state) = state.clone() {
                tell(Event::TextState { choice, state });
            }
        }
        Piece::Refusal(text) => {
            let text = text.clone();
            tell(Event::Refusal { choice, text });
        }
        Piece::Thinking(thinking) => {
            if let Some(text) = thinking.text.clone().filter(|text| !text.is_empty()) {
                tell(Event::Thinking { choice, text });
            }
            let thinking = thinking.clone();
            tell(Event::ThinkingEnd { choice, thinking });
        }
        Piece::ToolCall(tool) => {
            replay_call(choice, *call, tool, tell);
            *call += 1;
        }
        Piece::Image(mime, base64) => tell(Event::Image {
            choice,
            mime: mime.clone(),
            base64: base64.clone(),
        }),
    }
}

fn replay_call(choice: u64, call: u64, tool: &ToolCall<'_>, tell: &mut dyn FnMut(Event<'_>)) {
    tell(Event::ToolStart {
        choice,
        call,
        id: tool.id.clone().unwrap_or_else(|| Str::plain("")),
        name: tool.name.clone(),
        state: tool.state.clone(),
    });
    let json;
    let text = match &tool.arguments {
        Arguments::Text(text) => text.clone(),
        Arguments::Value(value) => {
            json = compact(value);
            Str::plain(&json)
        }
    };
    if !text.is_empty() {
        tell(Event::ToolArguments { choice, call, text });
    }
    tell(Event::ToolEnd { choice, call });
}

#[cfg(test)]
mod tests;
