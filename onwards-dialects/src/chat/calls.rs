//! The calls of one streamed choice, put together from deltas that name them in several ways.

use std::borrow::Cow;

use onwards_json::{Kind, Value};

use super::message::signature;
use super::receive::client_name;
use crate::answer::Event;
use crate::failure::Unreadable;
use crate::options::{Reading, call_id};
use crate::request::State;
use crate::text::Str;

/// The most calls of one choice.
const MOST: usize = 1024;

/// The most bytes of arguments that wait for the name of their call.
const HELD: usize = 8 << 20;

/// Calls in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<Call>);

#[derive(Debug)]
struct Call {
    /// The provider's number.
    number: Option<u64>,
    /// The provider's id, or one that was made here.
    id: String,
    /// The provider gave the id.
    theirs: bool,
    named: bool,
    /// Arguments that came before the name.
    held: String,
}

/// A piece of a call.
#[derive(Debug, Default)]
pub(super) struct Delta<'a> {
    number: Option<u64>,
    id: Option<Str<'a>>,
    name: Option<Str<'a>>,
    arguments: Option<Str<'a>>,
    /// The arguments as the object that they should have been text of.
    object: Option<Cow<'a, str>>,
    state: Option<State<'a>>,
}

impl<'a> Delta<'a> {
    /// An element of `tool_calls`.
    pub(super) fn of_call(value: &Value<'a>) -> Self {
        let mut delta = Self::default();
        for member in value.members() {
            let value = member.value();
            match &*member.name() {
                "index" => delta.number = value.as_u64(),
                "id" => delta.id = Str::of(&value).filter(|id| !id.is_empty()),
                "function" => delta.function(&value),
                "extra_content" => delta.state = signature(&value),
                _ => {}
            }
        }
        delta
    }

    /// The old `function_call`: one call, without number and id.
    pub(super) fn of_function(value: &Value<'a>) -> Self {
        let mut delta = Self {
            number: Some(0),
            ..Self::default()
        };
        delta.function(value);
        delta
    }

    fn function(&mut self, value: &Value<'a>) {
        for member in value.members() {
            let value = member.value();
            match &*member.name() {
                "name" => self.name = Str::of(&value).filter(|name| !name.is_empty()),
                "arguments" if value.kind() == Kind::Object => {
                    self.object = Some(crate::text::compact(value.text()));
                }
                "arguments" => self.arguments = Str::of(&value).filter(|text| !text.is_empty()),
                _ => {}
            }
        }
    }

    /// True for what can only be the beginning of a call.
    fn begins(&self, known: &Call) -> bool {
        self.name.is_some()
            && known.named
            && self
                .id
                .as_ref()
                .is_some_and(|id| !known.theirs || !id.is(&known.id))
    }
}

impl Calls {
    /// Takes in a piece.
    ///
    /// # Errors
    /// When there are more calls, or more arguments without a name, than are kept.
    pub(super) fn delta(
        &mut self,
        choice: u64,
        delta: &Delta<'_>,
        reading: &Reading,
        count: &mut u64,
        sink: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), Unreadable> {
        let place = match self.place(delta) {
            Some(place) => place,
            None => self.begin(delta, reading, count)?,
        };
        let Some(call) = self.0.get_mut(place) else {
            return Ok(());
        };
        let number = u64::try_from(place).unwrap_or(u64::MAX);
        if let (Some(name), false) = (&delta.name, call.named) {
            call.named = true;
            sink(Event::ToolStart {
                choice,
                call: number,
                id: Str::plain(&call.id),
                name: client_name(name.clone(), &reading.memory),
                state: delta.state.clone(),
            });
            if !call.held.is_empty() {
                sink(Event::ToolArguments {
                    choice,
                    call: number,
                    text: Str::plain(&call.held),
                });
                call.held = String::new();
            }
        }
        let text = delta.arguments.clone();
        let object = delta.object.as_deref().map(Str::plain);
        let Some(text) = text.or(object) else {
            return Ok(());
        };
        if call.named {
            sink(Event::ToolArguments {
                choice,
                call: number,
                text,
            });
        } else {
            call.held.push_str(&text.decoded());
            if call.held.len() > HELD {
                return Err(Unreadable::new("a call without a name"));
            }
        }
        Ok(())
    }

    /// Ends all calls; false if one has no name.
    pub(super) fn end(&mut self, choice: u64, sink: &mut dyn FnMut(Event<'_>)) -> bool {
        if !self.0.iter().all(|call| call.named) {
            return false;
        }
        for (number, _) in (0..).zip(&self.0) {
            sink(Event::ToolEnd {
                choice,
                call: number,
            });
        }
        true
    }

    /// The call that a piece belongs to; `None` for a new one.
    fn place(&self, delta: &Delta<'_>) -> Option<usize> {
        let by_id = |id: &Str<'_>| {
            self.0
                .iter()
                .position(|call| call.theirs && id.is(&call.id))
        };
        match (delta.number, &delta.id) {
            (Some(number), id) => {
                let same = |call: &Call| call.number == Some(number);
                let place = self.0.iter().rposition(same)?;
                // Some servers number every call 0.
                let other = self.0.get(place).is_some_and(|call| delta.begins(call));
                if other {
                    id.as_ref().and_then(by_id)
                } else {
                    Some(place)
                }
            }
            (None, Some(id)) => by_id(id),
            // A name begins a call, unless the last one still waits for its own.
            (None, None) if delta.name.is_some() => {
                let last = self.0.len().checked_sub(1)?;
                self.0
                    .get(last)
                    .is_some_and(|call| !call.named)
                    .then_some(last)
            }
            (None, None) => self.0.len().checked_sub(1),
        }
    }

    fn begin(
        &mut self,
        delta: &Delta<'_>,
        reading: &Reading,
        count: &mut u64,
    ) -> Result<usize, Unreadable> {
        let place = self.0.len();
        if place >= MOST {
            return Err(Unreadable::new("too many calls"));
        }
        let id = match &delta.id {
            Some(id) => id.decoded().into_owned(),
            None => call_id(&reading.unique, *count),
        };
        *count += 1;
        self.0.push(Call {
            number: delta.number,
            id,
            theirs: delta.id.is_some(),
            named: false,
            held: String::new(),
        });
        Ok(place)
    }
}
