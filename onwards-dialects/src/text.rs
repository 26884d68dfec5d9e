//! Strings and values that are kept as the JSON text they were written in.

use std::borrow::Cow;
use std::fmt;

use onwards_json::{Text, Value};

/// How a string is held that was not made here.
#[derive(Clone, Copy)]
enum Form<'a> {
    Written(Text<'a>),
    Plain(&'a str),
}

/// A string on its way from one dialect to another. What comes out of a JSON text stays in its escaped form and is decoded only
/// where somebody has to look at it: escapes, and with them line separators, leave as they came.
#[derive(Clone)]
pub struct Str<'a>(Result<Form<'a>, Box<str>>);

impl<'a> Str<'a> {
    /// A string that is not JSON text.
    #[must_use]
    pub fn plain(text: &'a str) -> Self {
        Self(Ok(Form::Plain(text)))
    }

    /// A string that was made here.
    #[must_use]
    pub fn owned(text: impl Into<Box<str>>) -> Self {
        Self(Err(text.into()))
    }

    /// The string that a value is; `None` for another kind.
    #[must_use]
    pub fn of(value: &Value<'a>) -> Option<Self> {
        value.as_text().map(|text| Self(Ok(Form::Written(text))))
    }

    /// What it means.
    #[must_use]
    pub fn decoded(&self) -> Cow<'_, str> {
        match &self.0 {
            Ok(Form::Written(text)) => text.decoded(),
            Ok(Form::Plain(text)) => Cow::Borrowed(text),
            Err(text) => Cow::Borrowed(text),
        }
    }

    /// What it means, for as long as the text lives that it was read from; `None` if it had to be decoded for that, or was made here.
    #[must_use]
    pub fn borrowed(&self) -> Option<&'a str> {
        match &self.0 {
            Ok(Form::Written(text)) if !text.is_escaped() => Some(text.raw()),
            Ok(Form::Plain(text)) => Some(text),
            _ => None,
        }
    }

    /// Its JSON text between the quotes, where it was read from one.
    pub(crate) fn raw(&self) -> Option<&'a str> {
        match &self.0 {
            Ok(Form::Written(text)) => Some(text.raw()),
            _ => None,
        }
    }

    /// True for the string of no characters.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match &self.0 {
            Ok(Form::Written(text)) => text.raw().is_empty(),
            Ok(Form::Plain(text)) => text.is_empty(),
            Err(text) => text.is_empty(),
        }
    }

    /// True for a string of white space only, or of nothing.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        match &self.0 {
            Ok(Form::Written(text)) if !text.is_escaped() => text.raw().trim().is_empty(),
            _ => self.decoded().trim().is_empty(),
        }
    }

    /// True when it means `other`.
    #[must_use]
    pub fn is(&self, other: &str) -> bool {
        match &self.0 {
            Ok(Form::Written(text)) => text.is(other),
            Ok(Form::Plain(text)) => *text == other,
            Err(text) => **text == *other,
        }
    }

    /// Appends it as JSON text, quotes included.
    pub fn quote_into(&self, out: &mut String) {
        match &self.0 {
            Ok(Form::Written(text)) => {
                out.push('"');
                out.push_str(text.raw());
                out.push('"');
            }
            Ok(Form::Plain(text)) => onwards_json::quote_into(text, out),
            Err(text) => onwards_json::quote_into(text, out),
        }
    }

    /// Appends what stands between the quotes of its JSON text. Pieces put together this way make the JSON text of the whole.
    pub fn escape_into(&self, out: &mut String) {
        match &self.0 {
            Ok(Form::Written(text)) => out.push_str(text.raw()),
            Ok(Form::Plain(text)) => escape_into(text, out),
            Err(text) => escape_into(text, out),
        }
    }

    /// The same string, borrowed from nothing.
    #[must_use]
    pub fn into_owned(self) -> Str<'static> {
        Str(Err(match self.0 {
            Ok(Form::Written(text)) => text.decoded().into(),
            Ok(Form::Plain(text)) => text.into(),
            Err(text) => text,
        }))
    }
}

fn escape_into(text: &str, out: &mut String) {
    let quote = out.len();
    onwards_json::quote_into(text, out);
    out.pop();
    out.remove(quote);
}

impl<'a> From<Text<'a>> for Str<'a> {
    fn from(text: Text<'a>) -> Self {
        Self(Ok(Form::Written(text)))
    }
}

impl PartialEq for Str<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.decoded() == other.decoded()
    }
}

impl Eq for Str<'_> {}

impl fmt::Debug for Str<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.decoded(), f)
    }
}

/// A JSON value as text, valid and without white space around it. Numbers keep their spelling, objects the order of their members.
pub type Json<'a> = Cow<'a, str>;

/// The text of a value.
#[must_use]
pub fn json<'a>(value: &Value<'a>) -> Json<'a> {
    Cow::Borrowed(value.text())
}

/// A value without the white space between its tokens. Borrowed where there is none.
#[must_use]
pub fn compact(text: &str) -> Cow<'_, str> {
    let mut inside = false;
    let mut escaped = false;
    let mut spaced = false;
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if inside => escaped = true,
            b'"' => inside = !inside,
            b' ' | b'\n' | b'\r' | b'\t' if !inside => {
                spaced = true;
                break;
            }
            _ => {}
        }
    }
    if !spaced {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let (mut inside, mut escaped) = (false, false);
    for character in text.chars() {
        match character {
            _ if escaped => escaped = false,
            '\\' if inside => escaped = true,
            '"' => inside = !inside,
            ' ' | '\n' | '\r' | '\t' if !inside => continue,
            _ => {}
        }
        out.push(character);
    }
    Cow::Owned(out)
}

/// The value that a whole text is, if it is one JSON value.
#[must_use]
pub fn value(text: &str) -> Option<Value<'_>> {
    let mut scanner = onwards_json::Scanner::new(text.as_bytes()).ok()?;
    let value = scanner.skip().ok()?;
    scanner.finish().ok()?;
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::{Str, compact, value};

    #[test]
    fn an_escaped_string_leaves_as_it_came() {
        let text = r#""a\u2028\n\"b""#;
        let string = value(text).and_then(|value| Str::of(&value)).unwrap();
        let mut out = String::new();
        string.quote_into(&mut out);
        assert_eq!(out, text);
        assert_eq!(string.decoded(), "a\u{2028}\n\"b");
        assert_eq!(string, Str::owned("a\u{2028}\n\"b"));
        let mut inside = String::from("\"x");
        string.escape_into(&mut inside);
        Str::plain("\t").escape_into(&mut inside);
        Str::owned("é").escape_into(&mut inside);
        assert_eq!(inside, r#""xa\u2028\n\"b\té"#);
        assert_eq!(string.borrowed(), None);
        assert_eq!(Str::plain("a").borrowed(), Some("a"));
        assert!(!string.is_blank());
        assert!(
            value(r#"" \t""#)
                .and_then(|value| Str::of(&value))
                .unwrap()
                .is_blank()
        );
    }

    #[test]
    fn white_space_goes_only_between_tokens() {
        for (given, expected) in [
            (
                r#"{ "a b" : [ 1.10 , "c \" d" ] }"#,
                r#"{"a b":[1.10,"c \" d"]}"#,
            ),
            (r#"{"a":1}"#, r#"{"a":1}"#),
            ("\"\\\\\" ", "\"\\\\\""),
        ] {
            assert_eq!(compact(given), expected);
        }
    }
}
