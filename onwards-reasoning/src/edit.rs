//! One change to a request body.

use std::fmt;

/// A change to a JSON document, by path. The edits of one translation may be applied in any order or at once:
/// their paths are disjoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Put a value at a path, replacing what is there and creating the objects on the way that are missing. A
    /// path that crosses something other than an object is [`crate::refusal::crossing`].
    Set {
        /// Member names from the root; never empty.
        path: Vec<String>,
        /// The value as compact JSON text.
        value: String,
    },
    /// Take the member at a path away; nothing to do where it is missing.
    Remove {
        /// Member names from the root; never empty.
        path: Vec<String>,
        /// Also take the object that held it away, if nothing else was in it.
        drop_empty_parent: bool,
    },
}

impl Edit {
    /// Member names from the root; never empty.
    #[must_use]
    pub fn path(&self) -> &[String] {
        match self {
            Self::Set { path, .. } | Self::Remove { path, .. } => path,
        }
    }

    /// The path as a JSON pointer. Segments hold no `/` or `~`, so nothing is escaped.
    #[must_use]
    pub fn pointer(&self) -> String {
        self.path()
            .iter()
            .fold(String::new(), |pointer, segment| pointer + "/" + segment)
    }
}

/// One line for people: `set /thinking = true`, `remove /reasoning/effort`.
impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Set { value, .. } => write!(f, "set {} = {value}", self.pointer()),
            Self::Remove {
                drop_empty_parent, ..
            } => {
                write!(f, "remove {}", self.pointer())?;
                if *drop_empty_parent {
                    f.write_str(" and its parent if left empty")
                } else {
                    Ok(())
                }
            }
        }
    }
}
