//! The canonical answer, whole and event by event.

use crate::request::{State, Thinking, ToolCall};
use crate::text::{Json, Str};

/// A provider's whole answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer<'a> {
    /// The provider's name for it.
    pub id: Option<Str<'a>>,
    /// One for each candidate, by index. A provider that blocked the prompt gives one that says so.
    pub choices: Vec<Choice<'a>>,
    /// Tokens, where the provider counted them.
    pub usage: Option<Usage>,
    /// Members of a Chat Completions answer that clients of the same protocol may want (`system_fingerprint`, `service_tier`).
    pub extra: Vec<(&'static str, Json<'a>)>,
}

/// One candidate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choice<'a> {
    /// Its place, from 0.
    pub index: u64,
    /// What it says, in order.
    pub parts: Vec<Piece<'a>>,
    /// Why it ended.
    pub finish: Finish<'a>,
    /// Log probabilities in the shape of Chat Completions (`{"content":[…]}`).
    pub logprobs: Option<Json<'a>>,
    /// Links to sources in the shape of Chat Completions.
    pub annotations: Option<Json<'a>>,
}

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece<'a> {
    /// Text, with Gemini's signature of a text part where one came.
    Text(Str<'a>, Option<State<'a>>),
    /// What the model said instead of an answer.
    Refusal(Str<'a>),
    /// A thought.
    Thinking(Thinking<'a>),
    /// A call. Its id is always given by the reader.
    ToolCall(ToolCall<'a>),
    /// A picture: media type and base64.
    Image(Str<'a>, Str<'a>),
}

/// Why an answer ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finish<'a> {
    /// In canonical words.
    pub reason: Reason,
    /// The provider's own word, where the canonical one says less (spec providers 3.0.2): only then given.
    pub native: Option<Str<'a>>,
    /// The string that stopped it, where known.
    pub stop_sequence: Option<Str<'a>>,
}

/// The reasons that Chat Completions knows. Readers give `Stop` for a provider's ordinary end; that it is `ToolCalls` when a call
/// was made is the writers' to see to, with [`Reason::with_calls`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reason {
    /// The end, or a stop string.
    #[default]
    Stop,
    /// The limit of tokens.
    Length,
    /// To have tools called.
    ToolCalls,
    /// Something forbade more.
    ContentFilter,
}

impl Reason {
    /// What the reason is, given whether calls were made.
    #[must_use]
    pub fn with_calls(self, calls: bool) -> Self {
        match self {
            Self::Stop if calls => Self::ToolCalls,
            Self::ToolCalls if !calls => Self::Stop,
            other => other,
        }
    }

    /// The word of Chat Completions.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ToolCalls => "tool_calls",
            Self::ContentFilter => "content_filter",
        }
    }
}

/// Tokens, in the sense of Chat Completions: `prompt` includes what was read from and written to a cache, `completion` includes
/// thoughts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Of the prompt, all of it.
    pub prompt: u64,
    /// Of the answer, all of it.
    pub completion: u64,
    /// The provider's own total, where it is more than the sum.
    pub total: Option<u64>,
    /// Of the prompt: read from a cache.
    pub cached: Option<u64>,
    /// Of the prompt: written to a cache.
    pub cache_write: Option<u64>,
    /// Of the answer: thoughts.
    pub reasoning: Option<u64>,
}

impl Usage {
    /// Prompt and answer together.
    #[must_use]
    pub fn total(&self) -> u64 {
        let sum = self.prompt.saturating_add(self.completion);
        self.total.map_or(sum, |total| total.max(sum))
    }
}

/// A step of a streamed answer. Readers give them in the provider's order, writers make the client's events of them.
///
/// A reader gives [`Event::Start`] once and first, [`Event::Finish`] once for each choice that started, after everything else of
/// that choice, and [`Event::Usage`] as often as it learns more, each time with all counts so far. Calls are numbered from 0 for
/// each choice, whatever the provider numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Event<'a> {
    /// The answer has begun.
    Start {
        /// The provider's name for it.
        id: Option<Str<'a>>,
    },
    /// More text; never empty.
    Text {
        /// Which candidate.
        choice: u64,
        /// The text.
        text: Str<'a>,
    },
    /// More of a refusal.
    Refusal {
        /// Which candidate.
        choice: u64,
        /// The text.
        text: Str<'a>,
    },
    /// More of a thought; never empty.
    Thinking {
        /// Which candidate.
        choice: u64,
        /// The text.
        text: Str<'a>,
    },
    /// A thought is over: what of it was told by [`Event::Thinking`], again as a whole, and its state. Also a redacted thought.
    ThinkingEnd {
        /// Which candidate.
        choice: u64,
        /// The thought.
        thinking: Thinking<'a>,
    },
    /// A call has begun.
    ToolStart {
        /// Which candidate.
        choice: u64,
        /// Which call of it.
        call: u64,
        /// Its id; always given.
        id: Str<'a>,
        /// The tool.
        name: Str<'a>,
        /// Gemini's `thoughtSignature`.
        state: Option<State<'a>>,
    },
    /// More of a call's arguments, as a piece of JSON text; never empty.
    ToolArguments {
        /// Which candidate.
        choice: u64,
        /// Which call of it.
        call: u64,
        /// The piece.
        text: Str<'a>,
    },
    /// A call is complete. Readers of providers that say so give it as soon as they know; all give it before the choice's finish.
    ToolEnd {
        /// Which candidate.
        choice: u64,
        /// Which call of it.
        call: u64,
    },
    /// A picture: media type and base64.
    Image {
        /// Which candidate.
        choice: u64,
        /// Media type.
        mime: Str<'a>,
        /// The bytes.
        base64: Str<'a>,
    },
    /// Gemini's signature of a text part.
    TextState {
        /// Which candidate.
        choice: u64,
        /// The signature.
        state: State<'a>,
    },
    /// Log probabilities in the shape of Chat Completions, of the text before or after.
    Logprobs {
        /// Which candidate.
        choice: u64,
        /// `{"content":[…]}`.
        json: Json<'a>,
    },
    /// A candidate has ended.
    Finish {
        /// Which.
        choice: u64,
        /// Why.
        finish: Finish<'a>,
    },
    /// All counts so far.
    Usage(Usage),
    /// The provider is still there.
    KeepAlive,
}

impl Event<'_> {
    /// True for what a client can see of an answer: behind it nobody else can be asked any more (spec providers 2).
    #[must_use]
    pub fn is_content(&self) -> bool {
        !matches!(self, Self::Start { .. } | Self::Usage(_) | Self::KeepAlive)
    }
}
