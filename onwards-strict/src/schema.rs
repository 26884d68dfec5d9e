//! The language of the tables: what a JSON value must be, and what becomes of it.
//!
//! A table row says which member an object may have, what its value is, what `null` means there and what
//! is done if it is missing. The same rows serve requests (every rule that edits is absent there, and
//! unknown members are kept) and answers (unknown members are dropped).

use onwards_json::{Key, Kind, Text};

pub(crate) mod chat;
pub(crate) mod completions;
pub(crate) mod embeddings;
pub(crate) mod models;
pub(crate) mod requests;
pub(crate) mod responses;
pub(crate) mod sanitized;

/// What a value must be.
#[derive(Debug)]
pub(crate) enum Node {
    /// Any JSON value, kept whole.
    Any,
    /// A string.
    Text,
    /// `true` or `false`.
    Bool,
    /// A number, its text kept as written.
    Number,
    /// A number written without fraction and exponent.
    Integer,
    /// An [`Integer`](Self::Integer) without a sign.
    Unsigned,
    /// One of these strings.
    Word(&'static [&'static str]),
    /// A string that is replaced by this one.
    Fixed(&'static str),
    /// Anything, replaced by the model name the caller asked for.
    Model,
    /// The arguments of a tool call: a string; nothing in it means `{}`.
    Arguments,
    /// The code of a failed response; outside the contract's list it is replaced, unless the provider is trusted.
    FailureCode,
    /// A string for the callers of trusted providers; others get this JSON text.
    Private(&'static str),
    /// Anything, dropped.
    Dropped,
    /// A string that moves to the named member if that has none.
    Alias(&'static str),
    /// `null`, or this.
    Nullable(&'static Node),
    /// An array of these.
    List(&'static Node),
    /// An object with free names and these values.
    Map(&'static Node),
    /// The first of these that fits the value's kind, for an array also that of its first element.
    Choice(&'static [Node]),
    /// An object with these members.
    Object(&'static Shape),
    /// An object whose tag picks its shape.
    Tagged(&'static Tagged),
}

/// The members of an object.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) members: &'static [Member],
    /// Whether members the table does not name stay.
    pub(crate) open: bool,
    /// Whether the members are looked up in the catalog of unsupported parameters.
    pub(crate) catalogued: bool,
    /// The members something is done about if they are missing, one bit each.
    pub(crate) wanted: u64,
    /// For each [`slot`], the first member in it: most names are told by one look.
    slots: [u8; SLOTS],
    /// For each member the next one in its slot.
    behind: [u8; SLOTS],
}

const SLOTS: usize = 64;
/// No member is in the slot.
const FREE: u8 = u8::MAX;

/// A row: one member of an object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Member {
    pub(crate) name: Key,
    pub(crate) node: &'static Node,
    pub(crate) null: Null,
    pub(crate) absent: Absent,
    pub(crate) note: Option<Note>,
    /// Whether a value that does not fit is dropped and fails nothing.
    pub(crate) soft: bool,
}

/// What `null` in a member means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Null {
    /// A value like any other: the node decides.
    Value,
    /// Kept as it is.
    Keep,
    /// The same as a missing member.
    Drop,
}

/// What happens if a member is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Absent {
    /// Nothing.
    Leave,
    /// The text does not fit.
    Refuse,
    /// The text does not fit, unless this other member is there.
    RefuseUnless(&'static str),
    /// It is written.
    Write(Fill),
}

/// What is written for a missing member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fill {
    /// This JSON text.
    Json(&'static str),
    /// The generated id of the answer.
    Id,
    /// The time the answer was made, as the caller gives it.
    Created,
    /// The model name the caller asked for.
    Model,
    /// The place of the object in its array.
    Position,
    /// A generated id for a tool call.
    CallId,
    /// The running number of the event.
    Sequence,
}

/// A fact that is true if some member with this note has a value other than `null`, `false` and `[]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Note {
    Stream = 1,
    IncludeUsage = 2,
    Finished = 4,
    Usage = 8,
    Choices = 16,
    Error = 32,
}

/// Objects told apart by the string in one member.
#[derive(Debug)]
pub(crate) struct Tagged {
    pub(crate) tag: &'static str,
    /// Sorted by tag.
    pub(crate) variants: &'static [(&'static str, &'static Shape)],
    /// The shape of objects whose tag is missing or null; the first whose member is there, else the last.
    pub(crate) untagged: &'static [(&'static str, &'static Shape)],
    /// The shape of objects with another tag; `None` keeps them whole.
    pub(crate) other: Option<&'static Shape>,
}

impl Shape {
    /// An object whose unknown members are dropped.
    pub(crate) const fn closed(members: &'static [Member]) -> Self {
        assert!(members.len() <= 64, "a shape has at most 64 members");
        let (mut wanted, mut slots, mut behind) = (0, [FREE; SLOTS], [FREE; SLOTS]);
        let mut index = members.len();
        #[expect(
            clippy::indexing_slicing,
            reason = "evaluated by the compiler, bounded by the loop and the number of slots"
        )]
        while index > 0 {
            index -= 1;
            let member = &members[index];
            let slot = slot(member.name.head());
            behind[index] = slots[slot];
            slots[slot] = index as u8;
            if !matches!(member.absent, Absent::Leave) {
                wanted |= 1 << index;
            }
        }
        Self {
            members,
            open: false,
            catalogued: false,
            wanted,
            slots,
            behind,
        }
    }

    /// An object whose unknown members stay as they are.
    pub(crate) const fn open(members: &'static [Member]) -> Self {
        Self {
            open: true,
            ..Self::closed(members)
        }
    }

    pub(crate) const fn catalogued(self) -> Self {
        Self {
            catalogued: true,
            ..self
        }
    }

    /// The row of a member and its place.
    #[inline(never)]
    pub(crate) fn find(&self, name: Text<'_>) -> Option<(usize, &'static Member)> {
        let head = name.head();
        let mut index = usize::from(*self.slots.get(slot(head))?);
        while let Some(row) = self.members.get(index) {
            if row.name.is(&name, head) {
                return Some((index, row));
            }
            index = usize::from(*self.behind.get(index)?);
        }
        if !name.is_escaped() {
            return None;
        }
        let index = self.row(&name.decoded())?;
        Some((index, self.members.get(index)?))
    }

    /// The place of the row of that name.
    pub(crate) fn row(&self, name: &str) -> Option<usize> {
        self.members.iter().position(|row| row.name.text() == name)
    }
}

/// A small number made from the head of a name, which most different names do not share.
const fn slot(head: u128) -> usize {
    let folded = (head as u64) ^ ((head >> 64) as u64).rotate_left(29);
    (folded.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - SLOTS.ilog2())) as usize
}

impl Member {
    /// A row with no rule: kept if there, `null` included.
    const fn of(name: &'static str, node: &'static Node) -> Self {
        Self {
            name: Key::new(name),
            node,
            null: Null::Keep,
            absent: Absent::Leave,
            note: None,
            soft: false,
        }
    }

    const fn null(self, null: Null) -> Self {
        Self { null, ..self }
    }

    const fn absent(self, absent: Absent) -> Self {
        Self { absent, ..self }
    }

    const fn note(self, note: Note) -> Self {
        Self {
            note: Some(note),
            ..self
        }
    }

    const fn soft(self) -> Self {
        Self { soft: true, ..self }
    }
}

/// A member that must be there and must fit; `null` only if its node takes it.
pub(crate) const fn need(name: &'static str, node: &'static Node) -> Member {
    Member::of(name, node)
        .null(Null::Value)
        .absent(Absent::Refuse)
}

/// A member that may be missing; `null` is kept.
pub(crate) const fn may(name: &'static str, node: &'static Node) -> Member {
    Member::of(name, node)
}

/// A member that may be missing; `null` is dropped.
pub(crate) const fn tidy(name: &'static str, node: &'static Node) -> Member {
    Member::of(name, node).null(Null::Drop)
}

/// A member that is written if it is missing or `null`.
pub(crate) const fn fill(name: &'static str, node: &'static Node, fill: Fill) -> Member {
    Member::of(name, node)
        .null(Null::Drop)
        .absent(Absent::Write(fill))
}

/// A member that is always sent: `null` is kept, a missing one written.
pub(crate) const fn always(name: &'static str, node: &'static Node, json: &'static str) -> Member {
    Member::of(name, node).absent(Absent::Write(Fill::Json(json)))
}

impl Node {
    /// For kinds of numbers: the bytes that no number of the kind has, but another number may.
    pub(crate) fn foreign(&self) -> Option<&'static [u8]> {
        match self {
            Self::Number => Some(b""),
            Self::Integer => Some(b".eE"),
            Self::Unsigned => Some(b".eE-"),
            _ => None,
        }
    }

    /// Whether a value of that kind may stand here.
    pub(crate) fn takes(&self, kind: Kind) -> bool {
        match self {
            Self::Any | Self::Model | Self::Dropped => true,
            Self::Text
            | Self::Word(_)
            | Self::Fixed(_)
            | Self::FailureCode
            | Self::Private(_)
            | Self::Alias(_) => kind == Kind::String,
            Self::Arguments => matches!(kind, Kind::String | Kind::Null),
            Self::Bool => kind == Kind::Bool,
            Self::Number | Self::Integer | Self::Unsigned => kind == Kind::Number,
            Self::Nullable(inner) => kind == Kind::Null || inner.takes(kind),
            Self::List(_) => kind == Kind::Array,
            Self::Map(_) | Self::Object(_) | Self::Tagged(_) => kind == Kind::Object,
            Self::Choice(nodes) => nodes.iter().any(|node| node.takes(kind)),
        }
    }
}

/// The tables of an answer and a chunk without strict mode.
pub(crate) fn sanitized() -> (&'static Node, &'static Node) {
    (&sanitized::ANSWER, &sanitized::CHUNK)
}

#[cfg(test)]
mod tests;
