//! Answers of providers (spec providers 3.1).

use onwards_json::{Kind, Value};

use super::message::signature;
use crate::answer::{Answer, Choice, Finish, Piece, Reason, Usage};
use crate::failure::Unreadable;
use crate::options::{Memory, Reading, call_id};
use crate::request::{Arguments, State, Thinking, ToolCall};
use crate::text::{self, Json, Str, json};
use crate::{Family, data_uri};

/// Reads a whole answer.
///
/// # Errors
/// For what is not JSON or has no choices.
pub(crate) fn read_answer<'a>(body: &'a str, reading: &Reading) -> Result<Answer<'a>, Unreadable> {
    let whole = text::value(body.trim()).ok_or_else(|| Unreadable::new("not JSON"))?;
    let mut answer = Answer::default();
    let mut choices = None;
    for member in whole.members() {
        let value = member.value();
        match &*member.name() {
            "id" => answer.id = Str::of(&value).filter(|id| !id.is_empty()),
            "choices" => choices = Some(value),
            "usage" => read_usage(&value, &mut answer.usage),
            "system_fingerprint" if !value.is_null() => {
                answer.extra.push(("system_fingerprint", json(&value)));
            }
            "service_tier" if !value.is_null() => {
                answer.extra.push(("service_tier", json(&value)));
            }
            _ => {}
        }
    }
    let choices = choices.ok_or_else(|| Unreadable::new("no choices"))?;
    let mut calls = 0;
    for (place, choice) in (0..).zip(choices.elements()) {
        let choice = read_choice(&choice, place, &mut calls, reading)?;
        answer.choices.push(choice);
    }
    if answer.choices.is_empty() {
        return Err(Unreadable::new("no choices"));
    }
    Ok(answer)
}

fn read_choice<'a>(
    value: &Value<'a>,
    place: u64,
    calls: &mut u64,
    reading: &Reading,
) -> Result<Choice<'a>, Unreadable> {
    let mut choice = Choice {
        index: place,
        ..Choice::default()
    };
    let mut message = None;
    for member in value.members() {
        let value = member.value();
        match &*member.name() {
            "index" => choice.index = value.as_u64().unwrap_or(place),
            "message" => message = Some(value),
            "finish_reason" => choice.finish = read_finish(&value)?.unwrap_or_default(),
            "logprobs" => choice.logprobs = object(&value),
            _ => {}
        }
    }
    let message = message
        .filter(|message| message.kind() == Kind::Object)
        .ok_or_else(|| Unreadable::new("a choice without a message"))?;
    read_message(&message, &mut choice, calls, reading)?;
    Ok(choice)
}

fn object<'a>(value: &Value<'a>) -> Option<Json<'a>> {
    (value.kind() == Kind::Object).then(|| json(value))
}

/// The reason why a choice ended; `None` for an empty one.
pub(super) fn read_finish<'a>(value: &Value<'a>) -> Result<Option<Finish<'a>>, Unreadable> {
    let Some(word) = Str::of(value).filter(|word| !word.is_empty()) else {
        return Ok(None);
    };
    let reason = match &*word.decoded() {
        "stop" => Some(Reason::Stop),
        "length" => Some(Reason::Length),
        "tool_calls" | "function_call" => Some(Reason::ToolCalls),
        "content_filter" => Some(Reason::ContentFilter),
        "error" => return Err(Unreadable::new("the answer ended in an error")),
        _ => None,
    };
    Ok(Some(Finish {
        reason: reason.unwrap_or_default(),
        native: reason.is_none().then_some(word),
        stop_sequence: None,
    }))
}

fn read_message<'a>(
    message: &Value<'a>,
    choice: &mut Choice<'a>,
    calls: &mut u64,
    reading: &Reading,
) -> Result<(), Unreadable> {
    let mut said = Said::default();
    for member in message.members() {
        said.member(&member.name(), member.value());
    }
    read_thoughts(&said, &mut choice.parts);
    let state = said.extra_content.as_ref().and_then(signature);
    let before = choice.parts.len();
    if let Some(content) = &said.content {
        texts(content, &mut |piece| {
            choice.parts.push(match piece {
                Written::Text(text) => Piece::Text(text, None),
                Written::Thought(text) => Piece::Thinking(Thinking {
                    text: Some(text),
                    state: None,
                }),
            });
        });
    }
    if let Some(state) = state {
        match choice.parts.get_mut(before..).and_then(<[_]>::last_mut) {
            Some(Piece::Text(_, signed)) => *signed = Some(state),
            _ => choice.parts.push(Piece::Text(Str::plain(""), Some(state))),
        }
    }
    if let Some(refusal) = said.refusal {
        choice.parts.push(Piece::Refusal(refusal));
    }
    for call in said.tool_calls.iter().flat_map(Value::elements) {
        let call = read_call(&call, *calls, reading)?;
        choice.parts.push(Piece::ToolCall(call));
        *calls += 1;
    }
    if let Some(call) = &said.function_call {
        let call = read_function(call, None, *calls, reading)?;
        choice.parts.push(Piece::ToolCall(call));
        *calls += 1;
    }
    if let Some(images) = &said.images {
        read_images(images, &mut |mime, base64| {
            choice.parts.push(Piece::Image(mime, base64));
        });
    }
    choice.annotations = said
        .annotations
        .filter(|list| list.elements().next().is_some())
        .map(|list| json(&list));
    Ok(())
}

/// What a message or a delta holds. `null` counts as absent.
#[derive(Debug, Default)]
pub(super) struct Said<'a> {
    pub(super) content: Option<Value<'a>>,
    pub(super) refusal: Option<Str<'a>>,
    pub(super) reasoning: Option<Str<'a>>,
    pub(super) thinking_blocks: Option<Value<'a>>,
    pub(super) tool_calls: Option<Value<'a>>,
    pub(super) function_call: Option<Value<'a>>,
    pub(super) images: Option<Value<'a>>,
    pub(super) annotations: Option<Value<'a>>,
    pub(super) extra_content: Option<Value<'a>>,
}

impl<'a> Said<'a> {
    #[inline]
    pub(super) fn member(&mut self, name: &str, value: Value<'a>) {
        if value.is_null() {
            return;
        }
        let text = || Str::of(&value).filter(|text| !text.is_empty());
        match name {
            "content" => self.content = Some(value),
            "refusal" => self.refusal = text(),
            "reasoning_content" => self.reasoning = text(),
            // Servers that have both say the same in both.
            "reasoning" if self.reasoning.is_none() => self.reasoning = text(),
            "thinking_blocks" => self.thinking_blocks = Some(value),
            "tool_calls" => self.tool_calls = Some(value),
            "function_call" => self.function_call = Some(value),
            "images" => self.images = Some(value),
            "annotations" => self.annotations = Some(value),
            "extra_content" => self.extra_content = Some(value),
            _ => {}
        }
    }
}

/// A piece of content that is written as a list.
pub(super) enum Written<'a> {
    Text(Str<'a>),
    Thought(Str<'a>),
}

/// The texts of a content: a string or a list of parts; empty ones are left out.
pub(super) fn texts<'a>(content: &Value<'a>, give: &mut impl FnMut(Written<'a>)) {
    if let Some(text) = Str::of(content) {
        if !text.is_empty() {
            give(Written::Text(text));
        }
        return;
    }
    for part in content.elements() {
        let mut thought = false;
        for member in part.members() {
            let value = member.value();
            match &*member.name() {
                "text" => {
                    if let Some(text) = Str::of(&value).filter(|text| !text.is_empty()) {
                        give(Written::Text(text));
                    }
                }
                "type" => thought = value.as_text().is_some_and(|word| word.is("thinking")),
                "thinking" if thought => thoughts(&value, give),
                _ => {}
            }
        }
    }
}

/// A thought among the parts: a string, or a list of texts.
fn thoughts<'a>(value: &Value<'a>, give: &mut impl FnMut(Written<'a>)) {
    if let Some(text) = Str::of(value).filter(|text| !text.is_empty()) {
        give(Written::Thought(text));
    }
    for part in value.elements() {
        let text = part
            .members()
            .find(|member| member.is("text"))
            .and_then(|member| Str::of(&member.value()));
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            give(Written::Thought(text));
        }
    }
}

fn read_thoughts<'a>(said: &Said<'a>, parts: &mut Vec<Piece<'a>>) {
    if let Some(blocks) = &said.thinking_blocks {
        read_blocks(blocks, &mut |thinking| {
            parts.push(Piece::Thinking(thinking));
        });
    }
    if let (Some(text), true) = (&said.reasoning, parts.is_empty()) {
        parts.push(Piece::Thinking(Thinking {
            text: Some(text.clone()),
            state: None,
        }));
    }
}

/// Thoughts that came with what only their model can read.
pub(super) fn read_blocks<'a>(blocks: &Value<'a>, give: &mut impl FnMut(Thinking<'a>)) {
    for block in blocks.elements() {
        let (mut text, mut data) = (None, None);
        for member in block.members() {
            match &*member.name() {
                "thinking" => text = Str::of(&member.value()),
                "signature" | "data" => data = Str::of(&member.value()),
                _ => {}
            }
        }
        // A signature without its thought is worth nothing: servers that stream blocks in pieces.
        let whole = text.as_ref().is_none_or(|text| !text.is_empty());
        if let Some(data) = data.filter(|data| whole && !data.is_empty()) {
            let family = Family::Anthropic;
            let state = Some(State { family, data });
            give(Thinking { text, state });
        }
    }
}

fn read_call<'a>(
    call: &Value<'a>,
    number: u64,
    reading: &Reading,
) -> Result<ToolCall<'a>, Unreadable> {
    let (mut id, mut function, mut state) = (None, None, None);
    for member in call.members() {
        let value = member.value();
        match &*member.name() {
            "id" => id = Str::of(&value).filter(|id| !id.is_empty()),
            "function" | "custom" => function = Some(value),
            "extra_content" => state = signature(&value),
            _ => {}
        }
    }
    let function = function.ok_or_else(|| Unreadable::new("a call of nothing"))?;
    let mut call = read_function(&function, id, number, reading)?;
    call.state = state;
    Ok(call)
}

fn read_function<'a>(
    function: &Value<'a>,
    id: Option<Str<'a>>,
    number: u64,
    reading: &Reading,
) -> Result<ToolCall<'a>, Unreadable> {
    let (mut name, mut arguments) = (None, None);
    for member in function.members() {
        let value = member.value();
        match &*member.name() {
            "name" => name = Str::of(&value).filter(|name| !name.is_empty()),
            "arguments" | "input" => {
                arguments = match (Str::of(&value), value.kind()) {
                    (Some(text), _) => Some(Arguments::Text(text)),
                    (None, Kind::Object) => Some(Arguments::Value(json(&value))),
                    _ => None,
                };
            }
            _ => {}
        }
    }
    let name = name.ok_or_else(|| Unreadable::new("a call without a name"))?;
    Ok(ToolCall {
        id: Some(id.unwrap_or_else(|| Str::owned(call_id(&reading.unique, number)))),
        name: client_name(name, &reading.memory),
        arguments: arguments.unwrap_or(Arguments::Text(Str::plain(""))),
        state: None,
    })
}

/// What the client calls a tool.
pub(super) fn client_name<'a>(name: Str<'a>, memory: &Memory) -> Str<'a> {
    if memory.tool_names.is_empty() {
        return name;
    }
    let told = name.decoded();
    match memory.client_name(&told) {
        same if same == told => name.clone(),
        client => Str::owned(client),
    }
}

/// Pictures in an answer, of servers that have them.
pub(super) fn read_images<'a>(images: &Value<'a>, give: &mut impl FnMut(Str<'a>, Str<'a>)) {
    for image in images.elements() {
        let url = image
            .members()
            .find(|member| member.is("image_url"))
            .and_then(|member| member.value().members().find(|member| member.is("url")))
            .and_then(|member| Str::of(&member.value()));
        let source = url.as_ref().and_then(data_uri::read);
        if let Some(Ok(crate::request::Source::Data { mime, base64 })) = source {
            give(mime, base64);
        }
    }
}

/// Counts of tokens: what is there replaces what was known.
pub(super) fn read_usage(value: &Value<'_>, usage: &mut Option<Usage>) {
    let mut known = usage.unwrap_or_default();
    let mut counted = false;
    for member in value.members() {
        let value = member.value();
        match &*member.name() {
            "prompt_tokens" => counted |= set(&mut known.prompt, &value),
            "completion_tokens" => counted |= set(&mut known.completion, &value),
            // One server's word for the same.
            "prompt_cache_hit_tokens" => known.cached = value.as_u64().or(known.cached),
            "prompt_tokens_details" => {
                for member in value.members() {
                    let count = member.value().as_u64();
                    match &*member.name() {
                        "cached_tokens" => known.cached = count.or(known.cached),
                        "cache_write_tokens" => known.cache_write = count.or(known.cache_write),
                        _ => {}
                    }
                }
            }
            "completion_tokens_details" => {
                let reasoning = value
                    .members()
                    .find(|member| member.is("reasoning_tokens"))
                    .and_then(|member| member.value().as_u64());
                known.reasoning = reasoning.or(known.reasoning);
            }
            _ => {}
        }
    }
    if counted || usage.is_some() {
        *usage = Some(known);
    }
}

fn set(count: &mut u64, value: &Value<'_>) -> bool {
    let found = value.as_u64();
    *count = found.unwrap_or(*count);
    found.is_some()
}
