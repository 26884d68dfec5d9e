//! Why a text does not fit a table, and where.

use std::fmt;

use onwards_json::{Kind, ScanError};

use crate::schema::Node;

/// Carried up by the walk; boxed, since it is rare.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The text is no JSON.
    Syntax(ScanError),
    /// The text is JSON, but not of the wanted shape.
    Shape(Misfit),
}

/// One place that does not fit.
#[derive(Debug)]
pub(crate) struct Misfit {
    /// From the place outwards.
    steps: Vec<Step>,
    pub(crate) wanted: &'static Node,
    pub(crate) found: Found,
}

/// What stands at the place that does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Found {
    /// The member is missing.
    Nothing,
    /// The member is there more than once.
    Twice,
    /// A value of this kind.
    Value(Kind),
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("nothing"),
            Self::Twice => f.write_str("it more than once"),
            Self::Value(kind) => kind.fmt(f),
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    Member(&'static str),
    Element(usize),
    /// A member whose name the sender chose.
    Free,
}

impl From<ScanError> for Box<Fault> {
    #[cold]
    fn from(error: ScanError) -> Self {
        Box::new(Fault::Syntax(error))
    }
}

impl Fault {
    #[cold]
    pub(crate) fn misfit(wanted: &'static Node, found: Found) -> Box<Self> {
        Box::new(Self::Shape(Misfit {
            steps: Vec::new(),
            wanted,
            found,
        }))
    }

    #[cold]
    pub(crate) fn at(mut self: Box<Self>, step: Step) -> Box<Self> {
        if let Self::Shape(misfit) = &mut *self {
            misfit.steps.push(step);
        }
        self
    }
}

impl Misfit {
    /// The place as a path, such as `messages[0].role`; empty for the whole text.
    pub(crate) fn path(&self) -> String {
        let mut path = String::new();
        for step in self.steps.iter().rev() {
            match step {
                Step::Element(index) => path.push_str(&format!("[{index}]")),
                Step::Member(_) | Step::Free if !path.is_empty() => path.push('.'),
                Step::Member(_) | Step::Free => {}
            }
            match step {
                Step::Member(name) => path.push_str(name),
                Step::Free => path.push('*'),
                Step::Element(_) => {}
            }
        }
        path
    }
}

/// What a node wants, in words: `a string`, `an array of numbers`.
pub(crate) fn describe(node: &Node) -> String {
    match node {
        Node::Any | Node::Model | Node::Dropped => "any value".to_owned(),
        Node::Text
        | Node::Fixed(_)
        | Node::Arguments
        | Node::FailureCode
        | Node::Private(_)
        | Node::Alias(_) => "a string".to_owned(),
        Node::Bool => "true or false".to_owned(),
        Node::Number => "a number".to_owned(),
        Node::Integer => "an integer".to_owned(),
        Node::Unsigned => "a non-negative integer".to_owned(),
        Node::Word(words) => {
            let words: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
            format!("one of {}", words.join(", "))
        }
        Node::Nullable(inner) => format!("{} or null", describe(inner)),
        Node::List(Node::Any) => "an array".to_owned(),
        Node::List(item) => format!("an array of {}", plural(item)),
        Node::Map(Node::Any) => "an object".to_owned(),
        Node::Map(item) => format!("an object of {}", plural(item)),
        Node::Choice(nodes) => {
            let mut words: Vec<_> = nodes.iter().map(describe).collect();
            words.dedup();
            let last = words.pop().unwrap_or_default();
            if words.is_empty() {
                last
            } else {
                format!("{} or {last}", words.join(", "))
            }
        }
        Node::Object(_) => "an object".to_owned(),
        Node::Tagged(_) => "an object with a type".to_owned(),
    }
}

fn plural(node: &Node) -> String {
    match node {
        Node::Text | Node::Fixed(_) => "strings".to_owned(),
        Node::Bool => "booleans".to_owned(),
        Node::Number => "numbers".to_owned(),
        Node::Integer => "integers".to_owned(),
        Node::Unsigned => "non-negative integers".to_owned(),
        Node::List(item) => format!("arrays of {}", plural(item)),
        Node::Map(_) | Node::Object(_) | Node::Tagged(_) => "objects".to_owned(),
        Node::Nullable(inner) => format!("{} or nulls", plural(inner)),
        Node::Choice(nodes) => {
            let words: Vec<_> = nodes.iter().map(plural).collect();
            words.join(" or ")
        }
        _ => "values".to_owned(),
    }
}
