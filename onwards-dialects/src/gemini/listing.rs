//! Counts of tokens and lists of models.

use crate::text::value;
use crate::write::{Obj, object};

use super::wire::member;

/// The number in a provider's answer to a countTokens request.
pub(crate) fn read_count(body: &str) -> Option<u64> {
    member(&value(body)?, "totalTokens")?.as_u64()
}

/// The answer to a client's countTokens request.
pub(crate) fn write_count_answer(tokens: u64, out: &mut String) {
    object(out, |o| o.u64("totalTokens", tokens));
}

/// The body of `GET /v1beta/models`: all names on one page.
pub(crate) fn write_models(names: &[&str], out: &mut String) {
    object(out, |o| {
        o.array("models", |list| {
            for name in names {
                list.object(|o| model(name, o));
            }
        });
    });
}

fn model(name: &str, o: &mut Obj<'_>) {
    o.text("name", &format!("models/{name}"));
    o.text("displayName", name);
    o.raw(
        "supportedGenerationMethods",
        r#"["generateContent","streamGenerateContent","countTokens"]"#,
    );
}

#[cfg(test)]
mod tests {
    use super::{read_count, write_count_answer, write_models};

    #[test]
    fn counts() {
        let mut out = String::new();
        write_count_answer(31, &mut out);
        assert_eq!(out, r#"{"totalTokens":31}"#);
        assert_eq!(read_count(&out), Some(31));
        assert_eq!(
            read_count(r#"{"totalTokens":5,"promptTokensDetails":[]}"#),
            Some(5)
        );
        for body in ["", "{}", "[]", r#"{"totalTokens":"5"}"#] {
            assert_eq!(read_count(body), None, "{body}");
        }
    }

    #[test]
    fn models() {
        for (names, expected) in [
            (
                &["a\"b", "c"][..],
                r#"{"models":[{"name":"models/a\"b","displayName":"a\"b","supportedGenerationMethods":["generateContent","streamGenerateContent","countTokens"]},{"name":"models/c","displayName":"c","supportedGenerationMethods":["generateContent","streamGenerateContent","countTokens"]}]}"#,
            ),
            (&[], r#"{"models":[]}"#),
        ] {
            let mut out = String::new();
            write_models(names, &mut out);
            assert_eq!(out, expected);
        }
    }
}
