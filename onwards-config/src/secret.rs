//! Values nobody may read by accident, and how they are written.

use std::fmt;
use std::sync::Arc;

/// A secret of the configuration: a caller's key, a provider's key or a proxy URL.
///
/// `Debug` shows `Secret(***)`; there is no `Display`, no serialisation and no `==`, so the text gets
/// out only through [`Secret::expose`] and comparing it is a decision of the caller (in constant time
/// where an attacker could measure it). Clones share the text.
#[derive(Clone)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Wraps a text.
    #[must_use]
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The text itself. Never log it, never put it into an error.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

/// How a secret is written in the file.
pub(crate) enum Written<'a> {
    /// The text itself.
    Literal(&'a str),
    /// `${NAME}`
    Env(&'a str),
    /// `${file:PATH}`
    File(&'a str),
    /// Starts like a reference but is none.
    Broken(&'static str),
}

/// Tells a literal from a reference. A reference is always the whole value.
pub(crate) fn written(text: &str) -> Written<'_> {
    let Some(rest) = text.strip_prefix("${") else {
        return Written::Literal(text);
    };
    let Some((inside, after)) = rest.split_once('}') else {
        return Written::Broken("a reference without a closing brace");
    };
    if !after.is_empty() {
        return Written::Broken("a reference with text behind it");
    }
    if let Some(path) = inside.strip_prefix("file:") {
        return if path.is_empty() {
            Written::Broken("a reference to a file without a path")
        } else {
            Written::File(path)
        };
    }
    let mut chars = inside.chars();
    let name = chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_');
    if name {
        Written::Env(inside)
    } else {
        Written::Broken("a reference to an impossible variable name")
    }
}

/// Cuts off one trailing line end, `\n` or `\r\n`.
pub(crate) fn without_line_end(mut text: String) -> String {
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    text
}

#[cfg(test)]
mod tests;
