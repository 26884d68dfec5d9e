//! What is written: the text with cuts and insertions, copied in as few pieces as possible.

use std::ops::Range;

/// A string that is kept as it stands, and that nothing else in the output depends on.
#[derive(Debug, Clone)]
pub(crate) struct Blank {
    /// Where it stands in the text, quotes included.
    pub(crate) text: Range<usize>,
    /// Where it starts in the output.
    pub(crate) clean: usize,
}

/// The output of one pass over a text. Nothing is copied until an edit needs it.
#[derive(Debug)]
pub(crate) struct Edits<'t, 'o> {
    text: &'t [u8],
    out: &'o mut Vec<u8>,
    /// Where the output of the pass starts.
    start: usize,
    /// Everything before this place is written or cut.
    from: usize,
    /// Where blanks are noted, if they are to be.
    pub(crate) blanks: Option<&'o mut Vec<Blank>>,
}

/// A state of the output to come back to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    len: usize,
    from: usize,
    blanks: usize,
}

impl<'t, 'o> Edits<'t, 'o> {
    pub(crate) fn new(text: &'t [u8], out: &'o mut Vec<u8>) -> Self {
        Self {
            text,
            start: out.len(),
            out,
            from: 0,
            blanks: None,
        }
    }

    /// Notes a blank. It stands behind all edits so far.
    #[inline]
    pub(crate) fn blank(&mut self, text: Range<usize>) {
        if let Some(blanks) = &mut self.blanks {
            let clean = (self.out.len() - self.start) + (text.start - self.from);
            blanks.push(Blank { text, clean });
        }
    }

    /// Writes the text up to a place.
    #[inline]
    pub(crate) fn keep_to(&mut self, to: usize) {
        if self.from < to
            && let Some(piece) = self.text.get(self.from..to)
        {
            self.out.extend_from_slice(piece);
            self.from = to;
        }
    }

    /// Leaves a piece of the text out. Places only grow from edit to edit.
    #[inline]
    pub(crate) fn cut(&mut self, start: usize, end: usize) {
        self.keep_to(start);
        self.from = self.from.max(end);
    }

    /// Writes something of its own at the current place.
    #[inline]
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// Writes a decimal number.
    pub(crate) fn write_number(&mut self, number: u64) {
        let mut digits = [0; 20];
        let mut rest = number;
        let mut len = 0;
        for digit in digits.iter_mut().rev() {
            *digit = b'0' + u8::try_from(rest % 10).unwrap_or_default();
            rest /= 10;
            len += 1;
            if rest == 0 {
                break;
            }
        }
        self.write(digits.get(digits.len() - len..).unwrap_or_default());
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark {
            len: self.out.len(),
            from: self.from,
            blanks: self.blanks.as_ref().map_or(0, |blanks| blanks.len()),
        }
    }

    pub(crate) fn rewind(&mut self, mark: Mark) {
        self.out.truncate(mark.len);
        self.from = mark.from;
        if let Some(blanks) = &mut self.blanks {
            blanks.truncate(mark.blanks);
        }
    }
}
