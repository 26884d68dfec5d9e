//! Answers of providers that speak the client's own dialect (spec providers 4.1): the name of the model is another, and what the
//! rules of Chat Completions say; all other bytes stay.

use onwards_json::{Kind, ScanError, Scanner, Value};

use crate::answer::Usage;
use crate::failure::{Failure, Unreadable, class};
use crate::text::value;
use crate::{Kind as Provider, Protocol, Step, chat, gemini, messages};

/// The most candidates that are told apart.
const MOST: usize = 1024;

/// A whole answer of a provider of this kind with `model` as the name of its model; of Chat Completions also without what Azure's
/// filters add, and with thoughts under their usual name (spec providers 3.1, 3.2). `None` where there is nothing to change, or where
/// it is no JSON object.
#[must_use]
pub fn named(kind: Provider, protocol: Protocol, body: &[u8], model: &str) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(body).ok()?;
    if protocol == Protocol::Chat {
        return chat::native::answer(kind == Provider::Azure, text, model);
    }
    let quoted = onwards_json::quote(model);
    let mut edit = Edit::new(text, &quoted);
    let mut out = Vec::new();
    rename(protocol, text, &mut edit, &mut out).ok()?;
    edit.finish(&mut out);
    (!out.is_empty()).then_some(out)
}

fn rename(
    protocol: Protocol,
    text: &str,
    edit: &mut Edit<'_>,
    out: &mut Vec<u8>,
) -> Result<(), ScanError> {
    let mut scanner = Scanner::of(text);
    scanner.enter_object()?;
    while let Some(name) = scanner.next_key()? {
        if name.is(member(protocol)) {
            edit.put(&scanner.skip()?, out);
        }
    }
    scanner.finish()
}

/// Where an answer has the name of its model.
fn member(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Chat | Protocol::Responses | Protocol::Messages => "model",
        Protocol::GenerateContent => "modelVersion",
    }
}

/// The tokens that a whole answer in this dialect says were used, where it says that in words of its own: Gemini's.
#[must_use]
pub fn tokens(protocol: Protocol, body: &str) -> Option<Usage> {
    (protocol == Protocol::GenerateContent).then(|| gemini::tokens(body))?
}

/// What the client gets of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// All of it, as it came.
    Same,
    /// What was appended, in its place.
    Changed,
    /// Nothing.
    Nothing,
}

/// The payloads of a stream.
#[derive(Debug)]
pub struct NativeEvents(Reads);

#[derive(Debug)]
enum Reads {
    Chat(chat::native::Native),
    Named(Named),
}

/// A stream of which the model's name alone is changed.
#[derive(Debug)]
struct Named {
    protocol: Protocol,
    /// The client's name for the model, as JSON text.
    model: String,
    content: bool,
    /// The terminal signal was seen.
    over: bool,
    /// Candidates, and whether each has ended.
    choices: Vec<(u64, bool)>,
    /// What the client was told last of an answer of Responses that has not ended.
    begun: Option<String>,
    /// The last payload was that.
    begins: bool,
    /// The number of the next event of Responses.
    next: u64,
    /// What Gemini has counted.
    counts: gemini::Counts,
}

/// What a payload says beside its text.
#[derive(Default)]
struct Frame<'a> {
    kind: Option<Value<'a>>,
    error: Option<Value<'a>>,
    number: Option<Value<'a>>,
}

impl NativeEvents {
    /// For a stream in this dialect of a provider of this kind, whose client calls the model `model`.
    #[must_use]
    pub fn new(kind: Provider, protocol: Protocol, model: &str) -> Self {
        Self(if protocol == Protocol::Chat {
            let azure = kind == Provider::Azure;
            Reads::Chat(chat::native::Native::new(azure, model))
        } else {
            Reads::Named(Named::new(protocol, model))
        })
    }

    /// Takes in one payload and says what the client gets of it.
    ///
    /// [`Step::Failed`] is the provider's error. Before the client has content somebody else can be asked. Later the client of Chat
    /// Completions is to be told with [`fail`](Self::fail); for others the payload is still theirs to see, for it is in their own
    /// dialect. [`Step::Complete`] is the end; of Chat Completions nothing behind it is to be passed on, and what
    /// [`counts`](Self::counts) has is the last payload.
    ///
    /// # Errors
    /// For what is not JSON; nothing is appended then.
    #[inline]
    pub fn payload(
        &mut self,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(Step, Shown), Unreadable> {
        match &mut self.0 {
            Reads::Chat(chat) => chat.payload(payload, out),
            Reads::Named(named) => named.payload(payload, out),
        }
    }

    /// Appends the payload with token counts that an answer of Chat Completions ends with, once (spec providers 3.0.7). False if
    /// there is none.
    pub fn counts(&mut self, out: &mut Vec<u8>) -> bool {
        match &mut self.0 {
            Reads::Chat(chat) => chat.counts(out),
            Reads::Named(_) => false,
        }
    }

    /// What the client was told in the place of the last payload, if that is not what [`payload`](Self::payload) has said.
    pub fn told(&mut self, instead: &[u8]) {
        if let Reads::Named(named) = &mut self.0
            && named.begins
        {
            named.begun = std::str::from_utf8(instead).ok().map(ToOwned::to_owned);
        }
    }

    /// What was counted so far, where the dialect says it in words of its own: Gemini's.
    #[must_use]
    pub fn tokens(&self) -> Option<Usage> {
        match &self.0 {
            Reads::Chat(_) => None,
            Reads::Named(named) => named.counts.usage(),
        }
    }

    /// True once anything of the answer itself was seen: behind that nobody else can be asked.
    #[must_use]
    pub fn seen_content(&self) -> bool {
        match &self.0 {
            Reads::Chat(chat) => chat.seen_content(),
            Reads::Named(named) => named.content,
        }
    }

    /// True when the stream may end here: its answer is complete.
    #[must_use]
    pub fn may_end(&self) -> bool {
        match &self.0 {
            Reads::Chat(chat) => chat.may_end(),
            Reads::Named(named) => named.may_end(),
        }
    }

    /// Tells the client that the stream cannot go on: the event, or events, that its protocol has for that.
    pub fn fail(&self, failure: &Failure, request_id: &str, out: &mut String) {
        let (protocol, begun) = match &self.0 {
            Reads::Chat(_) => (Protocol::Chat, None),
            Reads::Named(named) => (named.protocol, named.failed(failure)),
        };
        match begun {
            Some(event) => {
                out.push_str("event: response.failed\ndata: ");
                out.push_str(&event);
                out.push_str("\n\n");
            }
            None => protocol.write_stream_failure(failure, request_id, out),
        }
    }
}

impl Named {
    fn new(protocol: Protocol, model: &str) -> Self {
        Self {
            protocol,
            model: onwards_json::quote(model),
            content: false,
            over: false,
            choices: Vec::new(),
            begun: None,
            begins: false,
            next: 0,
            counts: gemini::Counts::default(),
        }
    }

    fn payload(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<(Step, Shown), Unreadable> {
        self.begins = false;
        if payload.trim_ascii() == b"[DONE]" {
            // Not of these dialects; some servers write it all the same.
            return Ok((Step::Open, Shown::Same));
        }
        let text = std::str::from_utf8(payload)
            .map_err(|_| Unreadable::new("a frame that is not UTF-8"))?;
        let start = out.len();
        let model = std::mem::take(&mut self.model);
        let mut edit = Edit::new(text, &model);
        let frame = self.walk(text, &mut edit, out);
        edit.finish(out);
        self.model = model;
        let frame = frame.map_err(|_| {
            out.truncate(start);
            Unreadable::new("a frame that is not JSON")
        })?;
        let told = out.get(start..).unwrap_or_default();
        let shown = if told.is_empty() {
            Shown::Same
        } else {
            Shown::Changed
        };
        let step = match self.protocol {
            Protocol::Chat => Step::Open,
            Protocol::GenerateContent => match &frame.error {
                Some(_) => Step::Failed(
                    gemini::embedded_error(text).unwrap_or_else(|| Failure::unsaid(500)),
                ),
                None => Step::Open,
            },
            Protocol::Responses => {
                let told = std::str::from_utf8(told).unwrap_or_default();
                self.response(&frame, text, if told.is_empty() { text } else { told })
            }
            Protocol::Messages => self.message(&frame, text),
        };
        Ok((step, shown))
    }

    fn may_end(&self) -> bool {
        self.over || (!self.choices.is_empty() && self.choices.iter().all(|(_, ended)| *ended))
    }

    /// The answer of Responses that had begun, as one that has failed.
    fn failed(&self, failure: &Failure) -> Option<String> {
        failed(self.begun.as_deref()?, self.next, failure)
    }

    fn walk<'a>(
        &mut self,
        payload: &'a str,
        edit: &mut Edit<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Frame<'a>, ScanError> {
        let mut frame = Frame::default();
        let mut scanner = Scanner::of(payload);
        scanner.enter_object()?;
        while let Some(name) = scanner.next_key()? {
            match (&*name.decoded(), self.protocol) {
                ("error", _) => frame.error = Some(scanner.skip()?).filter(|e| !e.is_null()),
                ("type", Protocol::Messages | Protocol::Responses) => {
                    frame.kind = Some(scanner.skip()?);
                }
                ("modelVersion", Protocol::GenerateContent) => {
                    edit.put(&scanner.skip()?, out);
                }
                ("response", Protocol::Responses) | ("message", Protocol::Messages) => {
                    self.inner(&mut scanner, &mut frame, edit, out)?;
                }
                ("sequence_number", Protocol::Responses) => frame.number = Some(scanner.skip()?),
                ("delta", Protocol::Messages) => self.delta(&mut scanner)?,
                ("usageMetadata", Protocol::GenerateContent) => {
                    let mut counts = gemini::Counts::default();
                    counts.scan(&mut scanner)?;
                    self.counts.merge(&counts);
                }
                ("candidates", Protocol::GenerateContent) => self.candidates(&mut scanner)?,
                ("promptFeedback", Protocol::GenerateContent) => self.feedback(&mut scanner)?,
                _ => {}
            }
        }
        scanner.finish()?;
        Ok(frame)
    }

    /// The answer that an event of Responses or the first one of Messages holds.
    fn inner<'a>(
        &mut self,
        scanner: &mut Scanner<'a>,
        frame: &mut Frame<'a>,
        edit: &mut Edit<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), ScanError> {
        if scanner.peek()? != Kind::Object {
            return scanner.skip().map(drop);
        }
        scanner.enter_object()?;
        while let Some(name) = scanner.next_key()? {
            if name.is("model") {
                edit.put(&scanner.skip()?, out);
            } else if name.is("error") {
                frame.error = Some(scanner.skip()?).filter(|error| !error.is_null());
            }
        }
        Ok(())
    }

    /// The end of a message, which its `delta` tells.
    fn delta(&mut self, scanner: &mut Scanner<'_>) -> Result<(), ScanError> {
        if scanner.peek()? != Kind::Object {
            return scanner.skip().map(drop);
        }
        scanner.enter_object()?;
        while let Some(name) = scanner.next_key()? {
            if name.is("stop_reason") && scanner.peek()? == Kind::String {
                self.over = true;
            }
        }
        Ok(())
    }

    /// A prompt that was blocked has no other answer.
    fn feedback(&mut self, scanner: &mut Scanner<'_>) -> Result<(), ScanError> {
        let feedback = scanner.skip()?;
        if feedback.members().any(|m| m.is("blockReason")) {
            self.over = true;
            self.content = true;
        }
        Ok(())
    }

    fn candidates(&mut self, scanner: &mut Scanner<'_>) -> Result<(), ScanError> {
        if scanner.peek()? != Kind::Array {
            return scanner.skip().map(drop);
        }
        scanner.enter_array()?;
        let mut place = 0;
        while scanner.next_element()? {
            self.candidate(scanner, place)?;
            place += 1;
        }
        Ok(())
    }

    fn candidate(&mut self, scanner: &mut Scanner<'_>, place: u64) -> Result<(), ScanError> {
        if scanner.peek()? != Kind::Object {
            return scanner.skip().map(drop);
        }
        let (mut index, mut ended) = (place, false);
        scanner.enter_object()?;
        while let Some(name) = scanner.next_key()? {
            match &*name.decoded() {
                "index" => index = scanner.skip_u64()?.unwrap_or(place),
                "content" if !self.content => self.content = says(scanner)?,
                "finishReason" => {
                    let reason = scanner.skip()?.as_text();
                    ended = reason.is_some_and(|reason| !reason.raw().is_empty());
                }
                _ => {}
            }
        }
        self.content |= ended;
        if let Some((_, known)) = self.choices.iter_mut().find(|(known, _)| *known == index) {
            *known |= ended;
        } else if self.choices.len() < MOST {
            self.choices.push((index, ended));
        }
        Ok(())
    }

    fn response(&mut self, frame: &Frame<'_>, payload: &str, told: &str) -> Step {
        let number = frame
            .number
            .and_then(|number| number.text().parse::<u64>().ok());
        self.next = number.unwrap_or(self.next).saturating_add(1);
        let kind = frame.kind.and_then(|kind| kind.as_text());
        let is = |word: &str| kind.is_some_and(|kind| kind.is(word));
        if is("error") || is("response.failed") {
            self.over |= is("response.failed");
            // The event of an error is the error, but for its type.
            let error = frame.error.or_else(|| value(payload));
            let mut failure =
                error.map_or_else(|| Failure::unsaid(500), |error| chat::frame_failure(&error));
            if frame.error.is_none() {
                class(failure.status).clone_into(&mut failure.kind);
            }
            return Step::Failed(failure);
        }
        if is("response.completed") || is("response.incomplete") {
            self.content = true;
            self.over = true;
            return Step::Complete;
        }
        let before = [
            "response.created",
            "response.in_progress",
            "response.queued",
        ];
        let before = before.iter().any(|word| is(word));
        if before {
            self.begun = Some(told.to_owned());
            self.begins = true;
        }
        self.content |= kind.is_some() && !before;
        Step::Open
    }

    fn message(&mut self, frame: &Frame<'_>, payload: &str) -> Step {
        let kind = frame.kind.and_then(|kind| kind.as_text());
        let is = |word: &str| kind.is_some_and(|kind| kind.is(word));
        if is("error") {
            return Step::Failed(
                messages::embedded_error(payload).unwrap_or_else(|| Failure::unsaid(500)),
            );
        }
        if is("message_stop") {
            self.content = true;
            self.over = true;
            return Step::Complete;
        }
        self.content |= kind.is_some() && !is("message_start") && !is("ping");
        Step::Open
    }
}

/// The last event of an answer of Responses that fails: the answer as an event before has it, with the failure.
fn failed(begun: &str, number: u64, failure: &Failure) -> Option<String> {
    let words = ["type", "sequence_number", "response", "status", "error"].map(ToOwned::to_owned);
    let [kind, sequence, response, status, error] = words;
    let (kind, sequence) = ([kind], [sequence]);
    let (status, error) = ([response.clone(), status], [response, error]);
    let number = number.to_string();
    let code = failure.code.as_deref().unwrap_or("server_error");
    let told = format!(
        r#"{{"code":{},"message":{}}}"#,
        onwards_json::quote(code),
        onwards_json::quote(&failure.message)
    );
    let set = |path, value| onwards_json::Edit::Set { path, value };
    let edits = [
        set(&kind[..], "\"response.failed\""),
        set(&sequence[..], number.as_str()),
        set(&status[..], "\"failed\""),
        set(&error[..], told.as_str()),
    ];
    let document = onwards_json::object(begun.as_bytes()).ok()?;
    let mut event = String::with_capacity(begun.len() + told.len());
    let mut done = 0;
    for splice in onwards_json::splices(&document, &edits).ok()? {
        event.push_str(begun.get(done..splice.at.start)?);
        event.push_str(&splice.with);
        done = splice.at.end;
    }
    event.push_str(begun.get(done..)?);
    Some(event)
}

/// Whether a delta or a content holds more than who speaks.
fn says(scanner: &mut Scanner<'_>) -> Result<bool, ScanError> {
    if scanner.peek()? != Kind::Object {
        return scanner.skip().map(|_| false);
    }
    let mut says = false;
    scanner.enter_object()?;
    while let Some(name) = scanner.next_key()? {
        let value = scanner.skip()?;
        says |= !name.is("role")
            && match value.kind() {
                Kind::Null => false,
                Kind::String => value.as_text().is_some_and(|text| !text.raw().is_empty()),
                Kind::Array => value.elements().next().is_some(),
                Kind::Object | Kind::Bool | Kind::Number => true,
            };
    }
    Ok(says)
}

/// A text on its way out with other values in some places.
struct Edit<'t> {
    text: &'t str,
    with: &'t str,
    done: usize,
}

impl<'t> Edit<'t> {
    fn new(text: &'t str, with: &'t str) -> Self {
        let done = 0;
        Self { text, with, done }
    }

    /// Another value in the place of a string.
    fn put(&mut self, value: &Value<'_>, out: &mut Vec<u8>) {
        if value.kind() != Kind::String || value.text() == self.with {
            return;
        }
        let span = value.span();
        let before = self.text.get(self.done..span.start);
        out.extend_from_slice(before.unwrap_or_default().as_bytes());
        out.extend_from_slice(self.with.as_bytes());
        self.done = span.end;
    }

    /// The rest, if anything was put.
    fn finish(self, out: &mut Vec<u8>) {
        if self.done > 0 {
            let rest = self.text.get(self.done..).unwrap_or_default();
            out.extend_from_slice(rest.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests;
