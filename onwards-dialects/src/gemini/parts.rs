//! What clients are told, in the parts of Gemini's answers.

use onwards_json::Kind;

use crate::Family;
use crate::answer::{Finish, Piece, Reason, Usage};
use crate::conversation::arguments;
use crate::fidelity::Report;
use crate::options::{Context, Expose};
use crate::request::{Arguments, State, Thinking};
use crate::text::{Str, compact, value};
use crate::write::{Arr, Obj};

use super::wire::member;

/// Writes parts into a list.
pub(super) struct Writer<'l, 'o> {
    list: &'l mut Arr<'o>,
    expose: Expose,
    wrote: bool,
}

impl<'l, 'o> Writer<'l, 'o> {
    pub(super) fn new(list: &'l mut Arr<'o>, context: &Context) -> Self {
        Self {
            list,
            expose: context.expose,
            wrote: false,
        }
    }

    /// Writes a part of nothing where there is no other: the official clients want one.
    pub(super) fn close(mut self) {
        if !self.wrote {
            self.text(&Str::plain(""), None);
        }
    }

    fn part(&mut self, write: impl FnOnce(&mut Obj<'_>)) {
        self.wrote = true;
        self.list.object(write);
    }

    /// A piece of an answer.
    pub(super) fn piece(&mut self, piece: &Piece<'_>) {
        match piece {
            Piece::Text(text, state) => {
                let shown = state.as_ref().is_some_and(|state| self.shows(state));
                if shown || !text.is_empty() {
                    self.text(text, state.as_ref());
                }
            }
            Piece::Refusal(text) => self.text(text, None),
            Piece::Thinking(thinking) => self.thinking(thinking),
            Piece::ToolCall(call) => {
                let id = call.id.as_ref();
                self.call(id, &call.name, &call.arguments, call.state.as_ref());
            }
            Piece::Image(mime, base64) => self.image(mime, base64),
        }
    }

    pub(super) fn text(&mut self, text: &Str<'_>, state: Option<&State<'_>>) {
        let expose = self.expose;
        self.part(|o| {
            o.str("text", text);
            signature(state, expose, o);
        });
    }

    /// A thought, or a piece of one; none if it has nothing that the client can be told.
    pub(super) fn thinking(&mut self, thinking: &Thinking<'_>) {
        let text = thinking.text.as_ref().filter(|text| !text.is_empty());
        let state = thinking.state.as_ref().filter(|state| self.shows(state));
        let expose = self.expose;
        if expose == Expose::None || (text.is_none() && state.is_none()) {
            return;
        }
        self.part(|o| {
            o.str("text", text.unwrap_or(&Str::plain("")));
            o.bool("thought", true);
            signature(state, expose, o);
        });
    }

    pub(super) fn call(
        &mut self,
        id: Option<&Str<'_>>,
        name: &Str<'_>,
        given: &Arguments<'_>,
        state: Option<&State<'_>>,
    ) {
        let expose = self.expose;
        self.part(|o| {
            o.object("functionCall", |o| {
                if let Some(id) = id {
                    o.str("id", id);
                }
                o.str("name", name);
                // What a model has said is no loss of the request's. An event is one line, whatever the model has written.
                let args = arguments::object(given, &mut Report::default());
                o.raw("args", &compact(&args));
            });
            signature(state, expose, o);
        });
    }

    pub(super) fn image(&mut self, mime: &Str<'_>, base64: &Str<'_>) {
        self.part(|o| {
            o.object("inlineData", |o| {
                o.str("mimeType", mime);
                o.str("data", base64);
            });
        });
    }

    /// True for state that the client is given: a signature that only Gemini can read when it comes back.
    pub(super) fn shows(&self, state: &State<'_>) -> bool {
        shows(state, self.expose)
    }
}

/// See [`Writer::shows`].
pub(super) fn shows(state: &State<'_>, expose: Expose) -> bool {
    expose == Expose::Full && state.family == Family::Google
}

fn signature(state: Option<&State<'_>>, expose: Expose, o: &mut Obj<'_>) {
    if let Some(state) = state.filter(|state| shows(state, expose)) {
        o.str("thoughtSignature", &state.data);
    }
}

/// Reasons that pass as a provider of this dialect has said them.
const NATIVE: &[&str] = &[
    "SAFETY",
    "RECITATION",
    "LANGUAGE",
    "OTHER",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "MALFORMED_FUNCTION_CALL",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_OTHER",
    "IMAGE_RECITATION",
    "NO_IMAGE",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
    "MISSING_THOUGHT_SIGNATURE",
];

/// The word for the end of an answer.
pub(super) fn finish_reason(finish: &Finish<'_>) -> &'static str {
    let native = finish.native.as_ref().and_then(|native| {
        let native = native.decoded();
        NATIVE.iter().find(|word| **word == native)
    });
    match (native, finish.reason) {
        (Some(word), _) => word,
        (None, Reason::Stop | Reason::ToolCalls) => "STOP",
        (None, Reason::Length) => "MAX_TOKENS",
        (None, Reason::ContentFilter) => "SAFETY",
    }
}

/// The members of `usageMetadata`. Thoughts are counted apart from the text here.
pub(super) fn usage(usage: &Usage, o: &mut Obj<'_>) {
    let thoughts = usage.reasoning.unwrap_or(0);
    o.u64("promptTokenCount", usage.prompt);
    if let Some(cached) = usage.cached {
        o.u64("cachedContentTokenCount", cached);
    }
    o.u64(
        "candidatesTokenCount",
        usage.completion.saturating_sub(thoughts),
    );
    if let Some(thoughts) = usage.reasoning {
        o.u64("thoughtsTokenCount", thoughts);
    }
    o.u64("totalTokenCount", usage.total());
}

/// The member `logprobsResult`, from the shape of Chat Completions.
pub(super) fn logprobs(chat: &str, o: &mut Obj<'_>) {
    let Some(content) = value(chat).and_then(|chat| member(&chat, "content")) else {
        return;
    };
    o.object("logprobsResult", |o| {
        o.array("topCandidates", |list| {
            for token in content.elements() {
                list.object(|o| {
                    o.array("candidates", |list| {
                        let top = member(&token, "top_logprobs");
                        for other in top.iter().flat_map(onwards_json::Value::elements) {
                            list.object(|o| token_members(&other, o));
                        }
                    });
                });
            }
        });
        o.array("chosenCandidates", |list| {
            for token in content.elements() {
                list.object(|o| token_members(&token, o));
            }
        });
    });
}

fn token_members(token: &onwards_json::Value<'_>, o: &mut Obj<'_>) {
    if let Some(text) = member(token, "token").and_then(|token| Str::of(&token)) {
        o.str("token", &text);
    }
    if let Some(number) = member(token, "logprob").filter(|value| value.kind() == Kind::Number) {
        o.raw("logProbability", number.text());
    }
}
