//! The language of the tables: what a JSON value must be, and what becomes of it.

//!
//! A table row says which member an object may have, what its value is, what `null` means there and what
//! is done if it is missing. The same rows serve requests (every rule that edits is absent there, and
//! unknown members are kept) and answers (unknown members are dropped).

use onwards_json::{Kind, Text};

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
    /// The keys of all members, one bit each: most unknown names are told by one look.
    keys: u64,
}

/// A row: one member of an object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Member {
    pub(crate) name: &'static str,
    /// From 0 to 63, made from the name, to compare before the name.
    key: u8,
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
        let (mut wanted, mut keys) = (0, 0);
        let mut index = 0;
        while index < members.len() {
            #[expect(
                clippy::indexing_slicing,
                reason = "evaluated by the compiler, bounded by the loop"
            )]
            let member = &members[index];
            keys |= 1 << member.key;
            if !matches!(member.absent, Absent::Leave) {
                wanted |= 1 << index;
            }
            index += 1;
        }
        Self {
            members,
            open: false,
            catalogued: false,
            wanted,
            keys,
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

    /// The row of a member, looked for from `hint` on: most texts follow the order of the table.
    #[inline]
    pub(crate) fn find(&self, name: &Text<'_>, hint: usize) -> Option<(usize, &'static Member)> {
        let raw = name.raw();
        let wanted = key(raw);
        if let Some(row) = self.members.get(hint)
            && row.key == wanted
            && row.name == raw
        {
            return Some((hint, row));
        }
        if self.keys & (1 << wanted) != 0
            && let Some(found) = self.named(raw, wanted)
        {
            return Some(found);
        }
        if raw.bytes().any(|byte| byte == b'\\') {
            let decoded = name.decoded();
            return self.named(&decoded, key(&decoded));
        }
        None
    }

    fn named(&self, name: &str, key: u8) -> Option<(usize, &'static Member)> {
        let fits = |row: &Member| row.key == key && row.name == name;
        let index = self.members.iter().position(fits)?;
        self.members.get(index).map(|row| (index, row))
    }
}

/// A small number that most different names do not share.
const fn key(name: &str) -> u8 {
    match name.as_bytes() {
        [] => 0,
        [first, .., last] => (*first ^ last.rotate_left(3) ^ name.len().to_le_bytes()[0]) & 63,
        [only] => *only & 63,
    }
}

impl Member {
    /// A row with no rule: kept if there, `null` included.
    const fn of(name: &'static str, node: &'static Node) -> Self {
        Self {
            name,
            key: key(name),
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
    /// For kinds of numbers: bytes that stand in every valid JSON array that holds anything else.
    pub(crate) fn foreign(&self) -> Option<&'static [u8]> {
        match self {
            Self::Number => Some(b"\"[{tfn"),
            Self::Integer => Some(b"\"[{tfn.eE"),
            Self::Unsigned => Some(b"\"[{tfn.eE-"),
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
