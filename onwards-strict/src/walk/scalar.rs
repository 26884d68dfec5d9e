//! Values that are told whole: what they must be, and by what they are replaced.

use onwards_json::{Text, Value};

use super::{Walk, Walked};
use crate::{
    fault::{Fault, Found},
    schema::Node,
};

impl<'t> Walk<'t, '_> {
    /// A value the table describes no further.
    pub(super) fn scalar(&mut self, node: &'static Node, value: Value<'t>) -> Walked<()> {
        let fits = match node {
            Node::Integer => value.is_whole(),
            Node::Unsigned => value.is_whole() && !value.text().starts_with('-'),
            Node::Word(words) => value
                .as_text()
                .is_some_and(|text| words.iter().any(|word| text.is(word))),
            Node::Fixed(json) => {
                self.replace(value, json);
                true
            }
            Node::Model => {
                let fills = self.fills;
                self.replace(value, &fills.model);
                true
            }
            Node::Arguments => {
                if value.is_null() || matches!(value.text(), "\"\"" | "\"null\"") {
                    self.replace(value, "\"{}\"");
                }
                true
            }
            Node::FailureCode if !self.fills.trusted => {
                let known = |text: Text<'_>| FAILURE_CODES.iter().any(|code| text.is(code));
                if !value.as_text().is_some_and(known) {
                    self.replace(value, "\"server_error\"");
                }
                true
            }
            Node::Private(shown) if !self.fills.trusted => {
                self.replace(value, shown);
                true
            }
            _ => true,
        };
        if fits {
            Ok(())
        } else {
            Err(Fault::misfit(node, Found::Value(value.kind())))
        }
    }

    fn replace(&mut self, value: Value<'t>, json: &str) {
        if value.text() != json {
            let span = value.span();
            self.edits.cut(span.start, span.end);
            self.edits.write(json.as_bytes());
        }
    }
}

/// The codes of failed responses (component `ResponseErrorCode`).
const FAILURE_CODES: [&str; 20] = [
    "server_error",
    "rate_limit_exceeded",
    "invalid_prompt",
    "data_residency_mismatch",
    "bio_policy",
    "vector_store_timeout",
    "invalid_image",
    "invalid_image_format",
    "invalid_base64_image",
    "invalid_image_url",
    "image_too_large",
    "image_too_small",
    "image_parse_error",
    "image_content_policy_violation",
    "invalid_image_mode",
    "image_file_too_large",
    "unsupported_image_media_type",
    "empty_image_file",
    "failed_to_download_image",
    "image_file_not_found",
];

/// Whether none of these bytes is in a text.
pub(super) fn lacks(text: &[u8], foreign: &[u8]) -> bool {
    // A fold without an early end runs on whole vectors.
    let hits = |wrong: &u8| {
        text.iter()
            .fold(0, |hits, byte| hits | u8::from(byte == wrong))
    };
    foreign.iter().all(|wrong| hits(wrong) == 0)
}
