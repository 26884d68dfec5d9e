//! The canonical request: what a client of any protocol asks for, in the words of Chat Completions and a few that only others
//! have (spec providers 3.0.1).

use std::fmt;

use crate::failure::Rejected;
use crate::fidelity::Report;
use crate::text::{Json, Str};
use crate::{Family, Protocol};

/// A request, borrowed from the body it was read from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request<'a> {
    /// What the client speaks, where its own members may come back to a provider that speaks the same. Without one they are not sent.
    pub protocol: Option<Protocol>,
    /// The turns in the order given. System and developer messages stand where the client put them; a client protocol with a
    /// system field puts them first. Tool results are messages of their own, before the rest of the turn they came in.
    pub messages: Vec<Message<'a>>,
    /// Functions the model may call.
    pub tools: Vec<Tool<'a>>,
    /// Which of them it must call.
    pub tool_choice: Option<ToolChoice<'a>>,
    /// Whether it may call several at once.
    pub parallel_tool_calls: Option<bool>,
    /// The most tokens of the answer.
    pub max_tokens: Option<MaxTokens>,
    /// Strings at which the answer ends.
    pub stop: Vec<Str<'a>>,
    /// The shape of the text.
    pub format: Option<Format<'a>>,
    /// How much the model may think.
    pub reasoning: Option<Reasoning<'a>>,
    /// The client asks for events.
    pub stream: bool,
    /// The client asks for a usage event (Chat Completions alone knows the question).
    pub include_usage: bool,
    /// Everything else that Chat Completions has a word for, under that word: `temperature`, `top_p`, `top_k`, `n`, `seed`,
    /// `presence_penalty`, `frequency_penalty`, `logprobs`, `top_logprobs`, `logit_bias`, `user`, `safety_identifier`, `metadata`,
    /// `service_tier`, `store`, `prediction`, `verbosity`, `prompt_cache_key`, `web_search_options`, `modalities`, `audio`; never
    /// `null`, each at most once. What a writer does not take is a loss.
    pub params: Vec<Param<'a>>,
    /// Members that no dialect here knows, as they were written, under the client's names.
    pub unknown: Vec<(Str<'a>, Json<'a>)>,
    /// What the reader of the client's protocol could not keep.
    pub report: Report,
    /// The request asks for something that only a provider of the client's own dialect has (a tool that the provider runs, content
    /// that it keeps): what to answer instead of translating it.
    pub native_only: Option<Rejected>,
}

/// A parameter that is passed on or dropped as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Param<'a> {
    /// The word of Chat Completions.
    pub name: &'static str,
    /// Its value.
    pub value: Json<'a>,
}

impl<'a> Request<'a> {
    /// A parameter by its Chat Completions name.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<&Json<'a>> {
        self.params
            .iter()
            .find(|param| param.name == name)
            .map(|param| &param.value)
    }

    /// Whether the history holds calls of tools or results.
    #[must_use]
    pub fn has_tool_history(&self) -> bool {
        self.messages.iter().any(|message| {
            message.role == Role::Tool
                || message
                    .parts
                    .iter()
                    .any(|part| matches!(part.kind, PartKind::ToolCall(_)))
        })
    }
}

/// The limit of an answer, and what the client called it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaxTokens {
    /// How many.
    pub tokens: u64,
    /// Its name in Chat Completions, where the client spoke that.
    pub spelling: Option<&'static str>,
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The operator of the conversation.
    System,
    /// The same, as newer models call it.
    Developer,
    /// The person.
    User,
    /// The model.
    Assistant,
    /// The result of a call: one [`PartKind::ToolResult`], nothing else.
    Tool,
}

/// One message.
#[derive(Clone, Debug, PartialEq)]
pub struct Message<'a> {
    /// Who speaks.
    pub role: Role,
    /// The speaker's name, where given.
    pub name: Option<Str<'a>>,
    /// What is said, in order.
    pub parts: Vec<Part<'a>>,
    /// The content was given as one string, not as a list of parts.
    pub bare: bool,
    /// Members that no dialect here knows.
    pub unknown: Vec<(Str<'a>, Json<'a>)>,
}

impl<'a> Message<'a> {
    /// A message of these parts.
    #[must_use]
    pub fn new(role: Role, parts: Vec<Part<'a>>) -> Self {
        Self {
            role,
            name: None,
            parts,
            bare: false,
            unknown: Vec::new(),
        }
    }

    /// A message of one string.
    #[must_use]
    pub fn text(role: Role, text: Str<'a>) -> Self {
        let part = Part::new(PartKind::Text(text));
        Self {
            role,
            name: None,
            parts: vec![part],
            bare: true,
            unknown: Vec::new(),
        }
    }
}

/// A piece of a message.
#[derive(Clone, PartialEq)]
pub struct Part<'a> {
    /// What it is.
    pub kind: PartKind<'a>,
    /// Anthropic's cache hint (`cache_control`), as it was written.
    pub cache: Option<Json<'a>>,
    /// Where the client wrote it, if its protocol has other places than Chat Completions.
    pub at: Option<Place>,
}

impl<'a> Part<'a> {
    /// A part without a cache hint.
    #[must_use]
    pub fn new(kind: PartKind<'a>) -> Self {
        let (cache, at) = (None, None);
        Self { kind, cache, at }
    }

    /// The part with its place, which is that of what a result holds too.
    pub(crate) fn placed(mut self, place: Place) -> Self {
        self.at = Some(place);
        if let PartKind::ToolResult(result) = &mut self.kind {
            for part in &mut result.content {
                part.at = Some(place);
            }
        }
        self
    }
}

impl fmt::Debug for Part<'_> {
    /// What it says; where it stood says nothing more.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Part")
            .field("kind", &self.kind)
            .field("cache", &self.cache)
            .finish()
    }
}

/// Where a part stands in a client's request: what errors point to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    within: Within,
    turn: u32,
    part: u32,
}

/// The lists that a part stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Within {
    /// A message of Messages.
    Message,
    /// A turn of Gemini's.
    Turn,
    /// An item of Responses that is a message.
    Item,
    /// An item of Responses that is the result of a call.
    Result,
}

impl Place {
    /// By the number of the turn and that of the part.
    pub(crate) fn new(within: Within, turn: usize, part: usize) -> Self {
        let number = |number| u32::try_from(number).unwrap_or(u32::MAX);
        Self {
            within,
            turn: number(turn),
            part: number(part),
        }
    }

    /// The place as a JSON pointer into the client's request.
    #[must_use]
    pub fn pointer(&self) -> String {
        let (turns, parts) = match self.within {
            Within::Message => ("messages", "content"),
            Within::Turn => ("contents", "parts"),
            Within::Item => ("input", "content"),
            Within::Result => ("input", "output"),
        };
        format!("/{turns}/{}/{parts}/{}", self.turn, self.part)
    }
}

/// Where a part stands that was read as this one of this message.
pub(crate) fn pointer(part: &Part<'_>, message: usize, index: usize) -> String {
    match part.at {
        Some(place) => place.pointer(),
        None => format!("/messages/{message}/content/{index}"),
    }
}

/// What a piece of a message is.
#[derive(Clone, Debug, PartialEq)]
pub enum PartKind<'a> {
    /// Text.
    Text(Str<'a>),
    /// What the model said instead of an answer.
    Refusal(Str<'a>),
    /// A picture.
    Image {
        /// Where it is.
        source: Source<'a>,
        /// How closely to look (`low`, `high`, `auto`), where said.
        detail: Option<Str<'a>>,
    },
    /// A document.
    File {
        /// Where it is.
        source: Source<'a>,
        /// What it is called.
        name: Option<Str<'a>>,
    },
    /// A thought of the model's.
    Thinking(Thinking<'a>),
    /// A call of a tool by the model.
    ToolCall(ToolCall<'a>),
    /// What a tool gave back.
    ToolResult(ToolResult<'a>),
    /// Audio input and other kinds that only some providers know: the whole part as it was written.
    Other {
        /// The client's word for it (`input_audio`, `video_url`, …).
        kind: Str<'a>,
        /// The part.
        json: Json<'a>,
    },
}

/// Where a picture or a document is.
#[derive(Clone, Debug, PartialEq)]
pub enum Source<'a> {
    /// Its bytes.
    Data {
        /// Media type, lower case, as the client said it.
        mime: Str<'a>,
        /// Base64, standard alphabet.
        base64: Str<'a>,
    },
    /// An address: `https:`, `http:`, `gs:`, `s3:` or a Files-API address of Gemini.
    Url(Str<'a>),
    /// The name of a file that the provider keeps.
    Id(Str<'a>),
}

/// A thought.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thinking<'a> {
    /// What can be read of it; `None` for a redacted one.
    pub text: Option<Str<'a>>,
    /// What only the family that issued it can read: a signature, or the whole of a redacted thought.
    pub state: Option<State<'a>>,
}

/// Opaque state of a model that has to come back to it.
#[derive(Clone, Debug, PartialEq)]
pub struct State<'a> {
    /// Who can read it. It is never sent to another family.
    pub family: Family,
    /// The signature or the data.
    pub data: Str<'a>,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall<'a> {
    /// What the result refers to. `None` where the protocol has none.
    pub id: Option<Str<'a>>,
    /// The tool.
    pub name: Str<'a>,
    /// With what.
    pub arguments: Arguments<'a>,
    /// Gemini's `thoughtSignature`.
    pub state: Option<State<'a>>,
}

/// Arguments of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Arguments<'a> {
    /// A string that should hold JSON (Chat Completions, Responses).
    Text(Str<'a>),
    /// JSON (the others).
    Value(Json<'a>),
}

impl Default for Arguments<'_> {
    fn default() -> Self {
        Self::Value(Json::Borrowed("{}"))
    }
}

/// What a tool gave back.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult<'a> {
    /// The call it answers. `None`: the client did not say.
    pub id: Option<Str<'a>>,
    /// The tool, where the protocol says it.
    pub name: Option<Str<'a>>,
    /// Text and pictures, in order.
    pub content: Vec<Part<'a>>,
    /// The content was given as one string.
    pub bare: bool,
    /// The value it was written as, where it was JSON and no text (Gemini's `response`). `content` says the same as text and
    /// pictures, and counts for dialects without such values.
    pub json: Option<Json<'a>>,
    /// The call failed.
    pub is_error: bool,
}

/// A function the model may call.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool<'a> {
    /// Its name.
    pub name: Str<'a>,
    /// What it does.
    pub description: Option<Str<'a>>,
    /// JSON Schema of its arguments.
    pub schema: Option<Json<'a>>,
    /// Arguments must fit the schema exactly.
    pub strict: Option<bool>,
    /// Anthropic's cache hint.
    pub cache: Option<Json<'a>>,
}

/// Which tools must be called.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolChoice<'a> {
    /// The model decides.
    Auto,
    /// None.
    None,
    /// At least one.
    Required,
    /// This one.
    Named(Str<'a>),
    /// Only these; `required`: at least one of them.
    Allowed {
        /// Their names.
        names: Vec<Str<'a>>,
        /// One of them must be called.
        required: bool,
    },
}

/// The shape of an answer's text.
#[derive(Clone, Debug, PartialEq)]
pub enum Format<'a> {
    /// Any text.
    Text,
    /// Some JSON object.
    JsonObject,
    /// JSON that fits a schema.
    JsonSchema(JsonSchema<'a>),
}

/// A schema that an answer must fit.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonSchema<'a> {
    /// What the client calls it.
    pub name: Option<Str<'a>>,
    /// What it is for.
    pub description: Option<Str<'a>>,
    /// The schema.
    pub schema: Option<Json<'a>>,
    /// Must be kept exactly.
    pub strict: Option<bool>,
}

/// How much a model may think.
#[derive(Clone, Debug, PartialEq)]
pub enum Reasoning<'a> {
    /// A word: `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`, or another that only a provider knows.
    Effort(Str<'a>),
    /// So many tokens.
    Budget(u64),
    /// As much as the model likes (Anthropic's `adaptive` without an effort, Gemini's budget of -1).
    Dynamic,
}
