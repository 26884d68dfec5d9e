//! The id that an embedder gives to the answers of a request (spec C.12).

use http::{HeaderMap, HeaderName};
use onwards_json::{Edit, apply, object, splices};

/// What an answer's `id` says instead of the provider's, as JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AnswerId(String);

impl AnswerId {
    /// The id that a request's header names; it begins with `resp_`. `None` if the header is not there, empty, or not visible
    /// ASCII.
    pub(super) fn of(request: &HeaderMap, name: &HeaderName) -> Option<Self> {
        let named = request.get(name)?.to_str().ok()?.trim();
        let prefix = if named.starts_with("resp_") {
            ""
        } else {
            "resp_"
        };
        (!named.is_empty()).then(|| Self(onwards_json::quote(&format!("{prefix}{named}"))))
    }

    /// An answer with this id in the place of its own. `None` if it has none: it is no object, or one without an `id`.
    pub(super) fn put(&self, answer: &[u8]) -> Option<Vec<u8>> {
        self.put_at(&["id"], answer)
    }

    /// The same for an event of a stream: chunks have an id of their own, events of Responses that of their snapshot.
    pub(super) fn put_in_event(&self, event: &[u8]) -> Option<Vec<u8>> {
        self.put(event)
            .or_else(|| self.put_at(&["response", "id"], event))
    }

    fn put_at(&self, path: &[&str], text: &[u8]) -> Option<Vec<u8>> {
        let document = object(text).ok()?;
        let (first, below) = path.split_first()?;
        let found = document.get(first).ok()??.value();
        if !below
            .iter()
            .all(|name| found.members().any(|member| member.is(name)))
        {
            return None;
        }
        let splices = splices(
            &document,
            &[Edit::Set {
                path,
                value: &self.0,
            }],
        )
        .ok()?;
        Some(apply(text, &splices))
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn the_header_names_the_id() {
        for (value, id) in [
            ("abc", Some(r#""resp_abc""#)),
            ("resp_abc", Some(r#""resp_abc""#)),
            (" a\"b ", Some(r#""resp_a\"b""#)),
            ("", None),
            ("  ", None),
            ("\u{e9}", None),
        ] {
            let name = HeaderName::from_static("x-id");
            let headers = HeaderMap::from_iter([(
                name.clone(),
                HeaderValue::from_bytes(value.as_bytes()).unwrap(),
            )]);
            assert_eq!(
                AnswerId::of(&headers, &name).map(|id| id.0).as_deref(),
                id,
                "{value:?}"
            );
            assert_eq!(
                AnswerId::of(&headers, &HeaderName::from_static("other")),
                None
            );
        }
    }

    #[test]
    fn only_an_id_that_is_there_is_replaced() {
        let id = AnswerId(r#""new""#.to_owned());
        for (text, answer, event) in [
            (
                r#"{ "x": 1e0, "id" : "a" }"#,
                Some(r#"{ "x": 1e0, "id" : "new" }"#),
                Some(r#"{ "x": 1e0, "id" : "new" }"#),
            ),
            (
                r#"{"id":null,"n":{"id":"b"}}"#,
                Some(r#"{"id":"new","n":{"id":"b"}}"#),
                Some(r#"{"id":"new","n":{"id":"b"}}"#),
            ),
            (
                r#"{"response":{"id":"a","x":1}}"#,
                None,
                Some(r#"{"response":{"id":"new","x":1}}"#),
            ),
            (r#"{"response":{"x":1}}"#, None, None),
            (r#"{"response":"id"}"#, None, None),
            (r#"{"error":{}}"#, None, None),
            (r#"{"id":"a","id":"b"}"#, None, None),
            (r#"["id"]"#, None, None),
            (r#"{"id":"a"} x"#, None, None),
        ] {
            let text_of = |out: Option<Vec<u8>>| out.map(|out| String::from_utf8(out).unwrap());
            assert_eq!(
                text_of(id.put(text.as_bytes())).as_deref(),
                answer,
                "{text}"
            );
            assert_eq!(
                text_of(id.put_in_event(text.as_bytes())).as_deref(),
                event,
                "{text}"
            );
        }
    }
}
