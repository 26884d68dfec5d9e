//! Edits by path, applied as splices into the original bytes.
//!
//! Edits take effect one after the other, each on what the earlier ones left, as if the text were a tree;
//! the outcome is then expressed as the fewest splices into the text. A member that is set keeps its
//! place, a new one is put last in its object, a removed one takes one comma with it.

mod plan;

use std::ops::Range;

use crate::{Duplicate, Object, ScanError};

/// A change to a member, named by the member names on the way to it, outermost first.
#[derive(Debug, Clone, Copy)]
pub enum Edit<'e, P = String> {
    /// Gives the member at `path` this value, replacing one that is there and creating it, and the objects
    /// around it, where there is none.
    Set {
        /// The names on the way, decoded.
        path: &'e [P],
        /// The new value as JSON text; see [`quote`](crate::quote) for a string.
        value: &'e str,
    },
    /// Removes the member at `path`. Nothing happens if it, or an object on the way, is not there. Its
    /// object may be left empty.
    Remove {
        /// The names on the way, decoded.
        path: &'e [P],
    },
    /// Like [`Remove`](Self::Remove), and if that leaves the object around the member empty, removes that
    /// object too (one level, and never the whole text).
    Prune {
        /// The names on the way, decoded.
        path: &'e [P],
    },
}

/// Why an edit cannot be made. `edit` is its index in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// A value to set lies below something that is there and is not an object (`null` included).
    #[error("edit {edit} crosses a value that is not an object after {depth} names")]
    CrossesNonObject {
        /// Index of the edit.
        edit: usize,
        /// How many names of the path lead to that value.
        depth: usize,
    },
    /// A name on the way is that of several members, so it does not say which.
    #[error("edit {edit} names a repeated member")]
    Repeated {
        /// Index of the edit.
        edit: usize,
        /// The members.
        #[source]
        duplicate: Duplicate,
    },
    /// A path names nothing, or more than [`MAX_DEPTH`](crate::MAX_DEPTH) levels.
    #[error("edit {edit} has a path of {len} names")]
    PathLength {
        /// Index of the edit.
        edit: usize,
        /// How many names it has.
        len: usize,
    },
    /// A value to set is not JSON, or an object on the way has more members than an edit reads.
    #[error("edit {edit} cannot be read")]
    Unreadable {
        /// Index of the edit.
        edit: usize,
        /// What is wrong.
        #[source]
        error: ScanError,
    },
}

/// A range of the text and what to put in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splice {
    /// The bytes to leave out; empty where something is only put in.
    pub at: Range<usize>,
    /// What to write there.
    pub with: String,
}

/// The splices that make `edits`, sorted and not overlapping. Applied to the text of `doc`, the result is
/// valid JSON in which all bytes outside the named members, their commas and new members are unchanged.
/// A value set far inside may nest deeper than [`MAX_DEPTH`](crate::MAX_DEPTH), which is not looked at.
///
/// ```
/// use onwards_json::{Edit, apply, object, splices};
///
/// let text = br#"{"reasoning": {"effort": "low"}, "input": "hi"}"#;
/// let edits = [
///     Edit::Prune { path: &["reasoning", "effort"][..] },
///     Edit::Set { path: &["thinking", "budget"], value: "1024" },
///     Edit::Set { path: &["thinking", "type"], value: r#""enabled""# },
/// ];
/// let changed = apply(text, &splices(&object(text)?, &edits)?);
/// assert_eq!(changed, br#"{"input": "hi","thinking":{"budget":1024,"type":"enabled"}}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// See [`EditError`]; then none of the edits is made.
pub fn splices<P: AsRef<str>>(
    doc: &Object<'_>,
    edits: &[Edit<'_, P>],
) -> Result<Vec<Splice>, EditError> {
    if let Some(only) = plan::replacement(doc, edits) {
        return Ok(vec![only]);
    }
    let mut root = plan::root(doc);
    for (index, edit) in edits.iter().enumerate() {
        plan::make(&mut root, index, edit)?;
    }
    let mut out = Vec::with_capacity(edits.len());
    plan::splices(&root, &mut out);
    Ok(out)
}

/// The text with the splices made. They must be sorted and not overlap, as [`splices`] gives them; a
/// splice that is not is left out.
#[must_use]
pub fn apply(text: &[u8], splices: &[Splice]) -> Vec<u8> {
    let added: usize = splices.iter().map(|splice| splice.with.len()).sum();
    let mut out = Vec::with_capacity(text.len() + added);
    let mut done = 0;
    for Splice { at, with } in splices {
        let (Some(kept), true) = (text.get(done..at.start), at.start <= at.end) else {
            continue;
        };
        out.extend_from_slice(kept);
        out.extend_from_slice(with.as_bytes());
        done = at.end;
    }
    out.extend_from_slice(text.get(done..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests;
