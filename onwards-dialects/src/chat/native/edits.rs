//! What is changed in a text, noted while it is read.

use std::borrow::Cow;
use std::ops::Range;

use onwards_json::Text;

/// Changes of one text, and the strings in it that nothing else depends on.
#[derive(Debug, Default)]
pub(super) struct Notes {
    edits: Vec<Edit>,
    pub(super) blanks: Vec<Blank>,
}

#[derive(Debug)]
struct Edit {
    at: Range<usize>,
    with: With,
}

/// What stands in the place of what was there.
#[derive(Debug)]
pub(super) enum With {
    Nothing,
    /// The client's name for the model.
    Model,
    Text(Cow<'static, str>),
}

impl With {
    fn text<'t>(&'t self, model: &'t str) -> &'t str {
        match self {
            Self::Nothing => "",
            Self::Model => model,
            Self::Text(text) => text,
        }
    }
}

/// A string that is kept as it stands, quotes included.
#[derive(Clone, Debug)]
pub(super) struct Blank {
    pub(super) at: Range<usize>,
    /// It is some of the answer.
    pub(super) says: bool,
}

impl Notes {
    pub(super) fn clear(&mut self) {
        self.edits.clear();
        self.blanks.clear();
    }

    pub(super) fn put(&mut self, at: Range<usize>, with: With) {
        self.edits.push(Edit { at, with });
    }

    pub(super) fn blank(&mut self, at: Range<usize>, says: bool) {
        self.blanks.push(Blank { at, says });
    }

    /// Appends the text with its changes; false, and nothing, where there are none.
    pub(super) fn write(&mut self, text: &str, model: &str, out: &mut Vec<u8>) -> bool {
        if self.edits.is_empty() {
            return false;
        }
        self.edits.sort_by_key(|edit| edit.at.start);
        out.reserve(text.len() + model.len());
        let mut done = 0;
        for Edit { at, with } in &self.edits {
            out.extend_from_slice(text.get(done..at.start).unwrap_or_default().as_bytes());
            out.extend_from_slice(with.text(model).as_bytes());
            done = at.end;
        }
        out.extend_from_slice(text.get(done..).unwrap_or_default().as_bytes());
        true
    }

    /// Where a place of the text is in what was written.
    pub(super) fn moved(&self, place: usize, model: &str) -> Option<usize> {
        let mut before = self.edits.iter().take_while(|edit| edit.at.end <= place);
        before.try_fold(place, |place, edit| {
            place
                .checked_add(edit.with.text(model).len())?
                .checked_sub(edit.at.len())
        })
    }
}

/// The members of one object, some of which are left out together with a comma.
#[derive(Debug, Default)]
pub(super) struct Members {
    /// The end of the member before.
    pub(super) end: usize,
    kept: bool,
    /// Where the members begin that are left out at the start of the object.
    from: Option<usize>,
}

impl Members {
    /// A member that stays; its value ends where `end` is set next.
    pub(super) fn keep(&mut self, name: &Text<'_>, notes: &mut Notes) {
        if let Some(from) = self.from.take() {
            notes.put(from..name.span().start, With::Nothing);
        }
        self.kept = true;
    }

    /// A member that is left out.
    pub(super) fn cut(&mut self, name: &Text<'_>, end: usize, notes: &mut Notes) {
        if self.kept {
            notes.put(self.end..end, With::Nothing);
        } else {
            self.from.get_or_insert(name.span().start);
        }
        self.end = end;
    }

    pub(super) fn finish(self, notes: &mut Notes) {
        if let Some(from) = self.from {
            notes.put(from..self.end, With::Nothing);
        }
    }
}
