//! Streams that are one JSON array: its elements, as they end.

/// Takes the elements of a JSON array apart while it arrives, cut anywhere.
///
/// An object, an array or a string is given with its last byte, anything else with the byte behind it. Only the structure is looked
/// at: that an element is JSON is for its reader to find out. No more than the limit is held of an element that has not ended, and
/// after an error there is nothing more to be had. An object in the place of the array is taken for its only element.
///
/// ```
/// let mut splitter = onwards_dialects::ArraySplitter::new(1024);
/// let mut elements = Vec::new();
/// for bytes in ["[{\"a\":", "\"]\"},", "\n7]"] {
///     splitter.push(bytes.as_bytes(), &mut |element| elements.push(element.to_owned()))?;
/// }
/// assert_eq!(elements, ["{\"a\":\"]\"}", "7"]);
/// assert!(splitter.is_complete());
/// # Ok::<(), onwards_dialects::ArrayError>(())
/// ```
#[derive(Debug)]
pub struct Splitter {
    limit: usize,
    /// The beginning of an element that has not ended.
    held: Vec<u8>,
    state: State,
    /// There is no array: an object stands in its place.
    lone: bool,
}

/// Why an array cannot be taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArrayError {
    /// The text begins neither with an array nor with an object.
    #[error("expected an array")]
    NotAnArray,
    /// There is something between elements, or after the array, that does not belong there.
    #[error("expected a comma or the end of the array")]
    Malformed,
    /// An element has more bytes than the limit.
    #[error("an element has more than {limit} bytes")]
    TooLong {
        /// The limit, in bytes.
        limit: usize,
    },
    /// An element is not UTF-8.
    #[error("an element is not UTF-8")]
    NotUtf8,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// Before the array.
    Start,
    /// Before an element; `first`: or the end.
    Element {
        first: bool,
    },
    /// In an object or an array, so deep; perhaps in a string there, perhaps behind a backslash.
    Nested {
        depth: usize,
        string: bool,
        escaped: bool,
    },
    /// In a string that is an element.
    Text {
        escaped: bool,
    },
    /// In a number or a word.
    Scalar,
    /// Behind an element.
    Behind,
    /// Behind the array.
    End,
    Failed(ArrayError),
}

/// What becomes of a byte.
enum Does {
    /// It stands between elements.
    Passes,
    /// It is of the element.
    Belongs,
    /// It is the element's last.
    Ends,
    /// It is the first behind an element, and has to be looked at again.
    Follows,
}

impl Splitter {
    /// Before the first byte; `limit`: the most bytes of an element.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            held: Vec::new(),
            state: State::Start,
            lone: false,
        }
    }

    /// Takes the next bytes and gives each element that ends in them.
    ///
    /// # Errors
    /// See [`ArrayError`]; the same again for every further call. Elements before the mistake are given.
    pub fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(&str)) -> Result<(), ArrayError> {
        let result = self.walk(bytes, sink);
        if let Err(error) = result {
            self.state = State::Failed(error);
            self.held = Vec::new();
        }
        result
    }

    /// True when the array has ended.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.state == State::End
    }

    fn walk(&mut self, bytes: &[u8], sink: &mut dyn FnMut(&str)) -> Result<(), ArrayError> {
        // Where the element that is being read begins in these bytes.
        let mut from = 0;
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            let does = self.step(byte)?;
            at += usize::from(!matches!(does, Does::Follows));
            match does {
                Does::Passes => from = at,
                Does::Belongs => {}
                Does::Ends | Does::Follows => {
                    self.give(bytes.get(from..at).unwrap_or_default(), sink)?;
                    from = at;
                    if self.lone {
                        self.state = State::End;
                    }
                }
            }
        }
        let rest = bytes.get(from..).unwrap_or_default();
        self.bound(rest.len())?;
        self.held.extend_from_slice(rest);
        Ok(())
    }

    fn give(&mut self, last: &[u8], sink: &mut dyn FnMut(&str)) -> Result<(), ArrayError> {
        self.bound(last.len())?;
        let text = |bytes| std::str::from_utf8(bytes).map_err(|_| ArrayError::NotUtf8);
        if self.held.is_empty() {
            sink(text(last)?);
        } else {
            self.held.extend_from_slice(last);
            sink(text(&self.held)?);
            self.held.clear();
        }
        Ok(())
    }

    fn bound(&self, more: usize) -> Result<(), ArrayError> {
        if self.held.len() + more > self.limit {
            return Err(ArrayError::TooLong { limit: self.limit });
        }
        Ok(())
    }

    fn step(&mut self, byte: u8) -> Result<Does, ArrayError> {
        let space = matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
        let (state, does) = match (self.state, byte) {
            (State::Failed(error), _) => return Err(error),
            (State::Start | State::Element { .. } | State::Behind | State::End, _) if space => {
                return Ok(Does::Passes);
            }
            (State::Start, b'[') => (State::Element { first: true }, Does::Passes),
            (State::Start, b'{') => {
                self.lone = true;
                (nested(1), Does::Belongs)
            }
            (State::Start, _) => return Err(ArrayError::NotAnArray),
            (State::Element { first: true }, b']') | (State::Behind, b']') => {
                (State::End, Does::Passes)
            }
            (State::Element { .. }, b',' | b']' | b'}' | b':') | (State::End, _) => {
                return Err(ArrayError::Malformed);
            }
            (State::Element { .. }, b'{' | b'[') => (nested(1), Does::Belongs),
            (State::Element { .. }, b'"') => (State::Text { escaped: false }, Does::Belongs),
            (State::Element { .. }, _) => (State::Scalar, Does::Belongs),
            (State::Behind, b',') => (State::Element { first: false }, Does::Passes),
            (State::Behind, _) => return Err(ArrayError::Malformed),
            (State::Scalar, b',' | b']') => (State::Behind, Does::Follows),
            (State::Scalar, _) if space => (State::Behind, Does::Follows),
            (State::Scalar, _) => (State::Scalar, Does::Belongs),
            (State::Text { escaped: false }, b'"') => (State::Behind, Does::Ends),
            (State::Text { escaped }, _) => {
                let escaped = !escaped && byte == b'\\';
                (State::Text { escaped }, Does::Belongs)
            }
            (
                State::Nested {
                    depth,
                    string,
                    escaped,
                },
                _,
            ) => within(byte, depth, string, escaped),
        };
        self.state = state;
        Ok(does)
    }
}

fn nested(depth: usize) -> State {
    State::Nested {
        depth,
        string: false,
        escaped: false,
    }
}

/// A byte inside an object or an array.
fn within(byte: u8, depth: usize, string: bool, escaped: bool) -> (State, Does) {
    let state = match (string, byte) {
        (true, _) => State::Nested {
            depth,
            string: escaped || byte != b'"',
            escaped: !escaped && byte == b'\\',
        },
        (false, b'"') => State::Nested {
            depth,
            string: true,
            escaped: false,
        },
        (false, b'{' | b'[') => nested(depth + 1),
        (false, b'}' | b']') if depth == 1 => return (State::Behind, Does::Ends),
        (false, b'}' | b']') => nested(depth - 1),
        (false, _) => nested(depth),
    };
    (state, Does::Belongs)
}

#[cfg(test)]
mod tests;
