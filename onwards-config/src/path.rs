//! Places in the file.

use std::fmt;
use std::rc::Rc;

/// A place in the file. Cloning is cheap; a child keeps its parents.
#[derive(Clone, Default)]
pub(crate) struct Path(Option<Rc<Step>>);

struct Step {
    parent: Path,
    to: To,
}

/// One step down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum To {
    Member(String),
    Element(usize),
}

impl Path {
    /// The document itself.
    pub(crate) fn root() -> Self {
        Self(None)
    }

    pub(crate) fn member(&self, name: &str) -> Self {
        self.step(To::Member(name.to_owned()))
    }

    pub(crate) fn element(&self, index: usize) -> Self {
        self.step(To::Element(index))
    }

    fn step(&self, to: To) -> Self {
        Self(Some(Rc::new(Step {
            parent: self.clone(),
            to,
        })))
    }

    /// All steps from the root.
    pub(crate) fn steps(&self) -> Vec<To> {
        let mut steps = Vec::new();
        let mut at = self;
        while let Some(step) = &at.0 {
            steps.push(step.to.clone());
            at = &step.parent;
        }
        steps.reverse();
        steps
    }
}

/// `targets.gpt-4.providers[0].url`; names with other characters are quoted: `targets["a.b"]`.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, step) in self.steps().iter().enumerate() {
            match step {
                To::Element(index) => write!(f, "[{index}]")?,
                To::Member(name) if is_plain(name) => {
                    let dot = if depth == 0 { "" } else { "." };
                    write!(f, "{dot}{name}")?;
                }
                To::Member(name) => write!(f, "[{}]", serde_json::Value::from(name.as_str()))?,
            }
        }
        Ok(())
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'/' | b':' | b'@'))
}
