//! Client errors that say that the prompt itself is the problem: no provider of the same model would take it either.

use http::StatusCode;
use onwards_json::object;

use super::unary::read;
use crate::transport::{Answer, UpstreamBody};

/// The most of an error's body that is looked at.
const MOST: usize = 64 * 1024;
/// How long its body may take.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(1);

/// Codes and types with which providers reject a prompt for its length or its content.
const REJECTIONS: [&str; 6] = [
    "context_length_exceeded",
    "string_above_max_length",
    "content_policy_violation",
    "content_filter",
    "ResponsibleAIPolicyViolation",
    "exceed_context_size_error",
];

/// The answer again, if it rejects the prompt; else its status. Codes decide, never a message's words.
pub(crate) async fn rejects_prompt(answer: Answer) -> Result<Answer, StatusCode> {
    let (head, body) = answer.into_parts();
    let Ok(text) = read(body, MOST, Some(PATIENCE)).await else {
        return Err(head.status);
    };
    if names_a_rejection(&text) {
        Ok(Answer::from_parts(head, UpstreamBody::ready([text].into())))
    } else {
        Err(head.status)
    }
}

fn names_a_rejection(text: &[u8]) -> bool {
    let Ok(document) = object(text) else {
        return false;
    };
    let Some(error) = document.get("error").ok().flatten() else {
        return false;
    };
    error
        .value()
        .members()
        .filter(|member| member.is("code") || member.is("type"))
        .any(|member| {
            member
                .value()
                .as_str()
                .is_some_and(|name| REJECTIONS.contains(&&*name))
        })
}

#[cfg(test)]
mod tests {
    use super::names_a_rejection;

    #[test]
    fn the_code_decides_not_the_message() {
        for (text, rejection) in [
            (
                r#"{"error":{"code":"context_length_exceeded","message":"x"}}"#,
                true,
            ),
            (r#"{"error":{"type":"exceed_context_size_error"}}"#, true),
            (
                r#"{"error":{"code":"content_policy_violation","type":"invalid_request_error"}}"#,
                true,
            ),
            (
                r#"{"error":{"code":"invalid_value","message":"context_length_exceeded"}}"#,
                false,
            ),
            (r#"{"error":"context_length_exceeded"}"#, false),
            (r#"{"code":"context_length_exceeded"}"#, false),
            ("context_length_exceeded", false),
            ("", false),
        ] {
            assert_eq!(names_a_rejection(text.as_bytes()), rejection, "{text}");
        }
    }
}
