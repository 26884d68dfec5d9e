//! One answer or chunk, read once.

use std::ops::Range;

use onwards_json::{Kind, ScanError, Scanner, Text, Value};

use super::edits::{Members, Notes, With};

/// The most choices and calls that are told apart, and the longest name of a call that is kept.
const MOST: usize = 1024;
const LONG: usize = 256;

/// What Azure's filters add to answers and choices (spec providers 3.2).
const FILTERS: [&str; 4] = [
    "prompt_filter_results",
    "content_filter_results",
    "content_filter_offsets",
    "prompt_annotations",
];

/// The member that has the model's thoughts, as clients know it.
const THOUGHT: &str = "reasoning_content";

/// What is read, and so what is changed in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A whole answer.
    Whole { azure: bool },
    /// A chunk of a stream: token counts are left out.
    Chunk { azure: bool },
    /// A chunk of which the token counts are wanted: its choices are left out.
    Counts { azure: bool },
}

impl Form {
    fn cuts(self, name: &Text<'_>) -> bool {
        let (Self::Whole { azure } | Self::Chunk { azure } | Self::Counts { azure }) = self;
        azure && FILTERS.iter().any(|filter| name.is(filter))
    }
}

/// What a frame says beside its text.
#[derive(Debug, Default)]
pub(super) struct Frame<'a> {
    pub(super) error: Option<Value<'a>>,
    /// It says of itself that it is an error.
    pub(super) is_error: bool,
    /// There are token counts in it.
    pub(super) counted: bool,
    /// How many choices are in it.
    pub(super) choices: u64,
    /// Some choice has something of the answer.
    pub(super) says: bool,
    /// Some choice tells who speaks.
    pub(super) opens: bool,
    /// Some choice has ended.
    pub(super) ends: bool,
    /// There is something of a filter's.
    pub(super) filtered: bool,
}

/// The choices of a stream.
#[derive(Debug, Default)]
pub(super) struct Choices {
    known: Vec<Choice>,
    /// The calls of all choices.
    calls: usize,
}

#[derive(Debug)]
struct Choice {
    index: u64,
    ended: bool,
    /// The names of its calls, in order.
    calls: Vec<String>,
}

/// A call that may have to be given its place.
struct Call<'a> {
    id: Option<Text<'a>>,
    /// Where the place is to be written, if it is not there.
    lacks: Option<Lack>,
}

enum Lack {
    /// In front of the other members.
    Member(usize, &'static str),
    /// In the place of what is no number.
    Value(Range<usize>),
}

impl<'a> Frame<'a> {
    pub(super) fn read(
        text: &'a str,
        form: Form,
        model: &str,
        notes: &mut Notes,
        choices: &mut Choices,
    ) -> Result<Self, ScanError> {
        notes.clear();
        let mut frame = Self::default();
        let mut scanner = Scanner::of(text);
        let mut members = Members::default();
        scanner.enter_object()?;
        while let Some(name) = scanner.next_key()? {
            if form.cuts(&name) {
                let end = scanner.skip()?.span().end;
                members.cut(&name, end, notes);
                frame.filtered = true;
                continue;
            }
            if matches!(form, Form::Chunk { .. }) && name.is("usage") {
                let counts = scanner.skip()?;
                frame.counted |= counts.kind() == Kind::Object;
                members.cut(&name, counts.span().end, notes);
                continue;
            }
            members.keep(&name, notes);
            match &*name.decoded() {
                "model" => {
                    let value = scanner.skip()?;
                    if value.kind() == Kind::String && value.text() != model {
                        notes.put(value.span(), With::Model);
                    }
                }
                "choices" if matches!(form, Form::Counts { .. }) => {
                    let value = scanner.skip()?;
                    if value.elements().next().is_some() {
                        notes.put(value.span(), With::Text("[]".into()));
                    }
                }
                "choices" => frame.list(&mut scanner, form, notes, choices)?,
                "obfuscation" => {
                    let value = scanner.skip()?;
                    if value.kind() == Kind::String {
                        notes.blank(value.span(), false);
                    }
                }
                "error" => frame.error = Some(scanner.skip()?).filter(|error| !error.is_null()),
                "object" => {
                    let word = scanner.skip()?.as_text();
                    frame.is_error = word.is_some_and(|word| word.is("error"));
                }
                _ => drop(scanner.skip()?),
            }
            members.end = scanner.position();
        }
        members.finish(notes);
        scanner.finish()?;
        Ok(frame)
    }

    fn list(
        &mut self,
        scanner: &mut Scanner<'a>,
        form: Form,
        notes: &mut Notes,
        choices: &mut Choices,
    ) -> Result<(), ScanError> {
        if scanner.peek()? != Kind::Array {
            return scanner.skip().map(drop);
        }
        scanner.enter_array()?;
        while scanner.next_element()? {
            self.choice(scanner, form, notes, choices)?;
            self.choices += 1;
        }
        Ok(())
    }

    fn choice(
        &mut self,
        scanner: &mut Scanner<'a>,
        form: Form,
        notes: &mut Notes,
        choices: &mut Choices,
    ) -> Result<(), ScanError> {
        if scanner.peek()? != Kind::Object {
            return scanner.skip().map(drop);
        }
        let (mut index, mut ended) = (self.choices, false);
        let mut calls = Vec::new();
        let mut members = Members::default();
        scanner.enter_object()?;
        while let Some(name) = scanner.next_key()? {
            if form.cuts(&name) {
                let end = scanner.skip()?.span().end;
                members.cut(&name, end, notes);
                self.filtered = true;
                continue;
            }
            members.keep(&name, notes);
            match &*name.decoded() {
                "index" => index = scanner.skip_u64()?.unwrap_or(index),
                "delta" | "message" => self.delta(scanner, notes, &mut calls)?,
                "finish_reason" => {
                    let reason = scanner.skip()?.as_text();
                    ended = reason.is_some_and(|reason| !reason.raw().is_empty());
                }
                _ => drop(scanner.skip()?),
            }
            members.end = scanner.position();
        }
        members.finish(notes);
        self.ends |= ended;
        if matches!(form, Form::Chunk { .. }) {
            choices.note(index, ended, calls, notes);
        }
        Ok(())
    }

    /// What a choice says.
    fn delta(
        &mut self,
        scanner: &mut Scanner<'a>,
        notes: &mut Notes,
        calls: &mut Vec<Call<'a>>,
    ) -> Result<(), ScanError> {
        if scanner.peek()? != Kind::Object {
            return scanner.skip().map(drop);
        }
        let (mut thought, mut other) = (false, None);
        scanner.enter_object()?;
        while let Some(name) = scanner.next_key()? {
            let word = name.decoded();
            if word == "tool_calls" && scanner.peek()? == Kind::Array {
                self.calls(scanner, notes, calls)?;
                continue;
            }
            let value = scanner.skip()?;
            match &*word {
                "role" => self.opens |= !value.is_null(),
                "content" | "refusal" | THOUGHT | "reasoning" if value.kind() == Kind::String => {
                    thought |= word == THOUGHT;
                    if word == "reasoning" {
                        other = Some(name.span());
                    }
                    notes.blank(value.span(), true);
                    self.says |= value.text().len() > 2;
                }
                _ => self.says |= says(&value),
            }
        }
        if let Some(name) = other.filter(|_| !thought) {
            notes.put(name, With::Text("\"reasoning_content\"".into()));
        }
        Ok(())
    }

    fn calls(
        &mut self,
        scanner: &mut Scanner<'a>,
        notes: &mut Notes,
        calls: &mut Vec<Call<'a>>,
    ) -> Result<(), ScanError> {
        scanner.enter_array()?;
        while scanner.next_element()? {
            self.says = true;
            if scanner.peek()? != Kind::Object {
                scanner.skip()?;
                continue;
            }
            scanner.enter_object()?;
            let start = scanner.position();
            let mut call = Call {
                id: None,
                lacks: Some(Lack::Member(start, "")),
            };
            while let Some(name) = scanner.next_key()? {
                if let Some(Lack::Member(_, comma)) = &mut call.lacks {
                    *comma = ",";
                }
                match &*name.decoded() {
                    "index" => {
                        let value = scanner.skip()?;
                        let lacks = value.as_u64().is_none();
                        call.lacks = lacks.then(|| Lack::Value(value.span()));
                    }
                    "id" => {
                        let id = scanner.skip()?.as_text();
                        call.id = id.filter(|id| !id.raw().is_empty());
                    }
                    "function" => function(scanner, notes)?,
                    _ => drop(scanner.skip()?),
                }
            }
            if call.id.is_some() || call.lacks.is_some() {
                calls.push(call);
            }
        }
        Ok(())
    }
}

/// The arguments of a call.
fn function(scanner: &mut Scanner<'_>, notes: &mut Notes) -> Result<(), ScanError> {
    if scanner.peek()? != Kind::Object {
        return scanner.skip().map(drop);
    }
    scanner.enter_object()?;
    while let Some(name) = scanner.next_key()? {
        let value = scanner.skip()?;
        if name.is("arguments") && value.kind() == Kind::String {
            notes.blank(value.span(), true);
        }
    }
    Ok(())
}

/// Whether a member of a delta is something of the answer.
fn says(value: &Value<'_>) -> bool {
    match value.kind() {
        Kind::Null => false,
        Kind::String => value.text().len() > 2,
        Kind::Array => value.elements().next().is_some(),
        Kind::Object | Kind::Bool | Kind::Number => true,
    }
}

impl Choices {
    /// True when there is a reason for every choice that has begun.
    pub(super) fn have_ended(&self) -> bool {
        !self.known.is_empty() && self.known.iter().all(|choice| choice.ended)
    }

    fn note(&mut self, index: u64, ended: bool, calls: Vec<Call<'_>>, notes: &mut Notes) {
        let known = self.known.iter().position(|choice| choice.index == index);
        if known.is_none() && self.known.len() < MOST {
            self.known.push(Choice {
                index,
                ended: false,
                calls: Vec::new(),
            });
        }
        let choice = match known {
            Some(known) => self.known.get_mut(known),
            None => self.known.last_mut().filter(|choice| choice.index == index),
        };
        let Some(choice) = choice else {
            return;
        };
        choice.ended |= ended;
        for call in calls {
            let place = choice.place(call.id, &mut self.calls);
            match call.lacks {
                None => {}
                Some(Lack::Member(at, comma)) => {
                    let text = format!("\"index\":{place}{comma}");
                    notes.put(at..at, With::Text(text.into()));
                }
                Some(Lack::Value(at)) => notes.put(at, With::Text(place.to_string().into())),
            }
        }
    }
}

impl Choice {
    /// The place of a call by its name, else that of the last one (spec providers 3.1). `count` is that of all names kept.
    fn place(&mut self, id: Option<Text<'_>>, count: &mut usize) -> usize {
        let Some(id) = id.map(|id| id.raw()) else {
            return self.calls.len().saturating_sub(1);
        };
        if let Some(place) = self.calls.iter().position(|known| known == id) {
            return place;
        }
        if *count < MOST && id.len() <= LONG {
            *count += 1;
            self.calls.push(id.to_owned());
            return self.calls.len() - 1;
        }
        self.calls.len()
    }
}
