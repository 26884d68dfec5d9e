//! Arguments of calls: an object where the provider wants one, a string where the client does (spec providers 3.0.3).

use std::borrow::Cow;

use onwards_json::Kind;

use crate::fidelity::{Change, Report};
use crate::request::Arguments;
use crate::text::{Str, compact, value};

/// Arguments as an object; numbers and the order of members stay.
pub(crate) fn object<'s>(arguments: &'s Arguments<'_>, report: &mut Report) -> Cow<'s, str> {
    match arguments {
        Arguments::Text(text) => match text.decoded() {
            Cow::Borrowed(text) => of_text(text, report),
            Cow::Owned(text) => Cow::Owned(of_text(&text, report).into_owned()),
        },
        Arguments::Value(json) => of_text(json, report),
    }
}

/// The object that a string of arguments stands for; anything else goes into one as its member `input`, which is a loss.
pub(crate) fn of_text<'s>(text: &'s str, report: &mut Report) -> Cow<'s, str> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Cow::Borrowed("{}");
    }
    let mut wrapped = String::from("{\"input\":");
    match value(trimmed) {
        Some(value) if value.kind() == Kind::Object => return Cow::Borrowed(trimmed),
        Some(value) => wrapped.push_str(value.text()),
        None => onwards_json::quote_into(text, &mut wrapped),
    }
    wrapped.push('}');
    report.note("tool_arguments", Change::Changed);
    Cow::Owned(wrapped)
}

/// Arguments as a string: JSON without white space between its tokens, or what the client wrote.
pub(crate) fn text<'s>(arguments: &'s Arguments<'s>) -> Str<'s> {
    match arguments {
        Arguments::Text(text) => text.clone(),
        Arguments::Value(json) => match compact(json) {
            Cow::Borrowed(json) => Str::plain(json),
            Cow::Owned(json) => Str::owned(json),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{object, text};
    use crate::fidelity::Report;
    use crate::request::Arguments;
    use crate::text::Str;

    #[test]
    fn empty_null_absent_and_null_in_quotes() {
        for (given, expected, lost) in [
            ("", "{}", false),
            (" \n", "{}", false),
            ("{}", "{}", false),
            (
                r#" {"b": 1.10, "a": 18446744073709551616} "#,
                r#"{"b": 1.10, "a": 18446744073709551616}"#,
                false,
            ),
            ("null", r#"{"input":null}"#, true),
            ("[1,2]", r#"{"input":[1,2]}"#, true),
            (r#"{"a":"#, r#"{"input":"{\"a\":"}"#, true),
        ] {
            let mut report = Report::default();
            assert_eq!(
                object(&Arguments::Text(Str::plain(given)), &mut report),
                expected
            );
            assert_eq!(!report.is_empty(), lost, "{given}");
        }
        let mut report = Report::default();
        assert_eq!(object(&Arguments::default(), &mut report), "{}");
        assert_eq!(report, Report::default());
    }

    #[test]
    fn an_object_becomes_compact_text() {
        let value = Arguments::Value(r#"{ "b": 1.10, "a": [ 1 ] }"#.into());
        assert_eq!(text(&value), Str::plain(r#"{"b":1.10,"a":[1]}"#));
        let written = Arguments::Text(Str::plain(r#"{ "b": 1 "#));
        assert_eq!(text(&written), Str::plain(r#"{ "b": 1 "#));
    }
}
