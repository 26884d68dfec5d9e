//! Why answers end.

use crate::answer::{Finish, Reason};
use crate::text::Str;

/// The end of an answer.
#[derive(Debug)]
pub(super) struct Stop<'a> {
    pub(super) finish: Finish<'a>,
    /// The model said something that Bedrock could not read: with nothing said beside it, there is no answer.
    pub(super) malformed: bool,
}

impl<'a> Stop<'a> {
    /// By the provider's word.
    pub(super) fn of(word: Option<Str<'a>>) -> Self {
        let (reason, says_all, malformed) = match word.as_ref().map(Str::decoded).as_deref() {
            None | Some("end_turn" | "") => (Reason::Stop, true, false),
            Some("tool_use") => (Reason::ToolCalls, true, false),
            Some("max_tokens" | "model_context_window_exceeded") => (Reason::Length, true, false),
            Some("guardrail_intervened" | "content_filtered") => {
                (Reason::ContentFilter, true, false)
            }
            Some("refusal") => (Reason::ContentFilter, false, false),
            Some("malformed_model_output" | "malformed_tool_use") => (Reason::Stop, false, true),
            Some(_) => (Reason::Stop, false, false),
        };
        Self {
            finish: Finish {
                reason,
                native: word.filter(|_| !says_all),
                stop_sequence: None,
            },
            malformed,
        }
    }
}
