//! Answers of Gemini and events of its streams, which have one shape: a `GenerateContentResponse`, whole or in part.

use std::borrow::Cow;

use onwards_json::{Kind, ScanError, Scanner, Text, Value};

use crate::Family;
use crate::answer::{Finish, Reason, Usage};
use crate::failure::Unreadable;
use crate::options::{Reading, call_id};
use crate::request::{Arguments, State, ToolCall};
use crate::text::{Str, json};

/// The members of an answer or an event, by what they are; `null` counts as absent. Read in one pass, for events are many.
#[derive(Debug, Default)]
pub(super) struct Envelope<'a> {
    /// The candidates in order; one without an index has its place as one.
    pub(super) candidates: Vec<Candidate<'a>>,
    feedback: Option<Value<'a>>,
    pub(super) counts: Counts,
    pub(super) id: Option<Str<'a>>,
    pub(super) error: Option<Value<'a>>,
}

impl<'a> Envelope<'a> {
    /// Reads a text that is to be one object.
    pub(super) fn read(text: &'a str) -> Result<Self, Unreadable> {
        Self::scan(text).map_err(|_| Unreadable::new("no JSON object"))
    }

    fn scan(text: &'a str) -> Result<Self, ScanError> {
        let mut envelope = Self::default();
        let mut scanner = Scanner::of(text);
        scanner.enter_object()?;
        while let Some(name) = scanner.next_key()? {
            match &*name.decoded() {
                "candidates" => elements(&mut scanner, |scanner| {
                    let place = u64::try_from(envelope.candidates.len()).unwrap_or(u64::MAX);
                    let candidate = Candidate::scan(scanner, place)?;
                    envelope.candidates.push(candidate);
                    Ok(())
                })?,
                "usageMetadata" => envelope.counts.scan(&mut scanner)?,
                "responseId" => envelope.id = string(&mut scanner)?,
                "promptFeedback" => envelope.feedback = present(&mut scanner)?,
                "error" => envelope.error = present(&mut scanner)?,
                _ => {}
            }
        }
        scanner.finish()?;
        Ok(envelope)
    }

    /// Why the prompt was blocked, in a sentence.
    pub(super) fn refusal(&self) -> Option<Str<'static>> {
        let reason = member(self.feedback.as_ref()?, "blockReason")?;
        let reason = reason.as_str().filter(|word| !word.is_empty())?;
        Some(Str::owned(format!(
            "The provider blocked the prompt ({reason})."
        )))
    }
}

/// The tokens that a whole answer says were used.
pub(crate) fn tokens(body: &str) -> Option<Usage> {
    Envelope::read(body).ok()?.counts.usage()
}

/// A member of an object, if it is there and not `null`.
pub(super) fn member<'a>(object: &Value<'a>, name: &str) -> Option<Value<'a>> {
    object
        .members()
        .filter(|member| member.is(name))
        .map(|member| member.value())
        .last()
        .filter(|value| !value.is_null())
}

/// Walks the object that is next; anything else is passed. What `member` leaves of a value is passed too.
fn members<'a>(
    scanner: &mut Scanner<'a>,
    mut member: impl FnMut(&Text<'a>, &mut Scanner<'a>) -> Result<(), ScanError>,
) -> Result<(), ScanError> {
    if scanner.peek()? != Kind::Object {
        return scanner.skip().map(drop);
    }
    scanner.enter_object()?;
    while let Some(name) = scanner.next_key()? {
        member(&name, scanner)?;
    }
    Ok(())
}

/// Walks the array that is next; anything else is passed.
fn elements<'a>(
    scanner: &mut Scanner<'a>,
    mut element: impl FnMut(&mut Scanner<'a>) -> Result<(), ScanError>,
) -> Result<(), ScanError> {
    if scanner.peek()? != Kind::Array {
        return scanner.skip().map(drop);
    }
    scanner.enter_array()?;
    while scanner.next_element()? {
        element(scanner)?;
    }
    Ok(())
}

/// The value that is next, if it is not `null`.
fn present<'a>(scanner: &mut Scanner<'a>) -> Result<Option<Value<'a>>, ScanError> {
    Ok(Some(scanner.skip()?).filter(|value| !value.is_null()))
}

/// The string that is next, if it is one and not empty.
fn string<'a>(scanner: &mut Scanner<'a>) -> Result<Option<Str<'a>>, ScanError> {
    Ok(Str::of(&scanner.skip()?).filter(|text| !text.is_empty()))
}

/// A candidate, or what an event has of one.
#[derive(Debug)]
pub(super) struct Candidate<'a> {
    pub(super) index: u64,
    /// The parts of its content, in order.
    pub(super) parts: Vec<Part<'a>>,
    pub(super) finish: Option<Str<'a>>,
    pub(super) logprobs: Option<Value<'a>>,
}

impl<'a> Candidate<'a> {
    fn scan(scanner: &mut Scanner<'a>, place: u64) -> Result<Self, ScanError> {
        let mut candidate = Self {
            index: place,
            parts: Vec::new(),
            finish: None,
            logprobs: None,
        };
        members(scanner, |name, scanner| {
            match &*name.decoded() {
                "content" => members(scanner, |name, scanner| {
                    if name.is("parts") {
                        elements(scanner, |scanner| {
                            candidate.parts.push(Part::scan(scanner)?);
                            Ok(())
                        })?;
                    }
                    Ok(())
                })?,
                "index" => candidate.index = scanner.skip_u64()?.unwrap_or(place),
                "finishReason" => candidate.finish = string(scanner)?,
                "logprobsResult" => candidate.logprobs = present(scanner)?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(candidate)
    }
}

/// A part. Kinds that only tools of Google's own have (code and its results) are none of these.
#[derive(Debug, Default)]
pub(super) struct Part<'a> {
    /// Never empty.
    pub(super) text: Option<Str<'a>>,
    pub(super) thought: bool,
    pub(super) call: Option<Value<'a>>,
    pub(super) inline: Option<Value<'a>>,
    signature: Option<Str<'a>>,
}

impl<'a> Part<'a> {
    fn scan(scanner: &mut Scanner<'a>) -> Result<Self, ScanError> {
        let mut part = Self::default();
        members(scanner, |name, scanner| {
            match &*name.decoded() {
                "text" => part.text = string(scanner)?,
                "thought" => part.thought = scanner.skip()?.as_bool().unwrap_or(false),
                "functionCall" => part.call = present(scanner)?,
                "inlineData" => part.inline = present(scanner)?,
                "thoughtSignature" => part.signature = string(scanner)?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(part)
    }

    /// The signature, as the state that it is.
    pub(super) fn state(&self) -> Option<State<'a>> {
        let data = self.signature.clone()?;
        Some(State {
            family: Family::Google,
            data,
        })
    }
}

/// The call that a part makes, its id made of `number` where the provider gives none.
pub(super) fn call<'a>(
    part: &Part<'a>,
    call: &Value<'a>,
    number: u64,
    reading: &Reading,
) -> Result<ToolCall<'a>, Unreadable> {
    let name = member(call, "name")
        .and_then(|name| Str::of(&name))
        .filter(|name| !name.is_empty())
        .ok_or_else(|| Unreadable::new("a function call without a name"))?;
    let name = if reading.memory.tool_names.is_empty() {
        name
    } else {
        Str::owned(reading.memory.client_name(&name.decoded()))
    };
    let id = member(call, "id")
        .and_then(|id| Str::of(&id))
        .filter(|id| !id.is_empty())
        .unwrap_or_else(|| Str::owned(call_id(&reading.unique, number)));
    Ok(ToolCall {
        id: Some(id),
        name,
        arguments: arguments(member(call, "args")),
        state: part.state(),
    })
}

/// Arguments are an object. Imitators of the service also send them as text.
fn arguments(args: Option<Value<'_>>) -> Arguments<'_> {
    match args {
        Some(args) if args.kind() == Kind::String => match Str::of(&args) {
            Some(text) if !text.is_blank() && !text.is("null") => Arguments::Text(text),
            _ => Arguments::default(),
        },
        Some(args) => Arguments::Value(json(&args)),
        None => Arguments::default(),
    }
}

/// Media type and bytes of a picture.
pub(super) fn picture<'a>(inline: &Value<'a>) -> Option<(Str<'a>, Str<'a>)> {
    let text = |name| member(inline, name).and_then(|value| Str::of(&value));
    Some((text("mimeType")?, text("data")?))
}

/// What a reason means, and whether it is no answer at all where it comes without content.
pub(super) fn reason(word: &str) -> (Reason, bool) {
    match word {
        "STOP" => (Reason::Stop, false),
        "MAX_TOKENS" => (Reason::Length, false),
        "SAFETY"
        | "RECITATION"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "LANGUAGE"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => (Reason::ContentFilter, false),
        _ => (Reason::Stop, true),
    }
}

/// A reason in canonical words, beside the provider's own.
pub(super) fn finish(word: Str<'_>) -> Finish<'_> {
    let (reason, _) = reason(&word.decoded());
    Finish {
        reason,
        native: Some(word).filter(|word| !word.is("STOP")),
        stop_sequence: None,
    }
}

/// Counts of tokens. An event that repeats one has the newer value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    prompt: Option<u64>,
    tool_prompt: Option<u64>,
    cached: Option<u64>,
    candidates: Option<u64>,
    thoughts: Option<u64>,
    total: Option<u64>,
}

impl Counts {
    /// Reads a text that is to be one object.
    pub(super) fn read(text: &str) -> Result<Self, ScanError> {
        let mut counts = Self::default();
        let mut scanner = Scanner::of(text);
        counts.scan(&mut scanner)?;
        scanner.finish()?;
        Ok(counts)
    }

    pub(crate) fn scan(&mut self, scanner: &mut Scanner<'_>) -> Result<(), ScanError> {
        members(scanner, |name, scanner| {
            if let Some(count) = self.named(name) {
                *count = scanner.skip_u64()?;
            }
            Ok(())
        })
    }

    fn named(&mut self, name: &Text<'_>) -> Option<&mut Option<u64>> {
        Some(match &*name.decoded() {
            "promptTokenCount" => &mut self.prompt,
            "candidatesTokenCount" => &mut self.candidates,
            "totalTokenCount" => &mut self.total,
            "thoughtsTokenCount" => &mut self.thoughts,
            "cachedContentTokenCount" => &mut self.cached,
            "toolUsePromptTokenCount" => &mut self.tool_prompt,
            _ => return None,
        })
    }

    /// Takes over what an event says.
    pub(crate) fn merge(&mut self, newer: &Self) {
        for (count, newer) in [
            (&mut self.prompt, newer.prompt),
            (&mut self.tool_prompt, newer.tool_prompt),
            (&mut self.cached, newer.cached),
            (&mut self.candidates, newer.candidates),
            (&mut self.thoughts, newer.thoughts),
            (&mut self.total, newer.total),
        ] {
            *count = newer.or(*count);
        }
    }

    /// The counts in canonical terms, if there are any. The prompt's include what was read from a cache.
    pub(crate) fn usage(&self) -> Option<Usage> {
        self.prompt.or(self.candidates).or(self.thoughts)?;
        let sum = |a: Option<u64>, b: Option<u64>| a.unwrap_or(0).saturating_add(b.unwrap_or(0));
        let prompt = sum(self.prompt, self.tool_prompt);
        let completion = sum(self.candidates, self.thoughts);
        Some(Usage {
            prompt,
            completion,
            total: self
                .total
                .filter(|total| *total > prompt.saturating_add(completion)),
            cached: self.cached,
            cache_write: None,
            reasoning: self.thoughts,
        })
    }
}

/// Log probabilities in the shape of Chat Completions; `None` where there are none that can be read.
pub(super) fn logprobs(result: &Value<'_>) -> Option<String> {
    use crate::write::{array, object};

    let chosen = member(result, "chosenCandidates")?;
    let top = member(result, "topCandidates");
    let mut top = top.iter().flat_map(Value::elements);
    let mut out = String::new();
    object(&mut out, |o| {
        o.array("content", |content| {
            for token in chosen.elements() {
                let others = top.next().and_then(|top| member(&top, "candidates"));
                content.object(|o| {
                    token_members(&token, o);
                    array(o.key("top_logprobs"), |list| {
                        for other in others.iter().flat_map(Value::elements) {
                            list.object(|o| token_members(&other, o));
                        }
                    });
                });
            }
        });
    });
    Some(out)
}

/// A token with its logarithm, which is left out where it is 0.
fn token_members(token: &Value<'_>, o: &mut crate::write::Obj<'_>) {
    let text = member(token, "token").and_then(|token| Str::of(&token));
    o.str("token", &text.unwrap_or_else(|| Str::plain("")));
    let number = member(token, "logProbability").filter(|value| value.kind() == Kind::Number);
    o.raw("logprob", &number.map_or(Cow::Borrowed("0"), |n| json(&n)));
    o.null("bytes");
}
