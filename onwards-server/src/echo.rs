//! The provider inside: what stands behind `"url": "builtin:echo"`.
//!
//! It answers in the shapes of the OpenAI API with what the last user message said, so that a configuration, a client
//! or a whole deployment can be tried without a model, a key or a network. It is a pure function of the request and
//! the time: the same request gets the same answer. Token counts are estimates, four bytes to a token.
//!
//! | request | answer |
//! |---|---|
//! | `POST /v1/chat/completions`, `/v1/completions`, `/v1/responses` | the last user message or prompt, unary or as events |
//! | the same with tools, where `tool_choice` demands one or the user writes `call <tool>` | a call of that tool |
//! | `POST /v1/embeddings` | a unit vector made from the text, as numbers or base64 |
//! | `GET /v1/models`, `/v1/models/{id}` | one model, `echo` |
//!
//! The leading `/v1` may be missing.

mod chat;
mod completions;
mod embeddings;
mod responses;
mod tools;

use http::{Method, StatusCode};
use serde_json::{Value, json};

/// The model named in answers to requests that name none, and the only one listed.
const MODEL: &str = "echo";

/// An answer of the echo provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Echo {
    /// The status.
    pub(crate) status: StatusCode,
    /// The value of `content-type`.
    pub(crate) content_type: &'static str,
    /// What follows the head.
    pub(crate) body: EchoBody,
}

/// The body of an [`Echo`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EchoBody {
    /// One JSON document.
    Whole(String),
    /// Server-sent events, each complete with its blank line, to be written one by one.
    Events(Vec<String>),
}

/// Answers one request; `now_unix` is in seconds.
pub(crate) fn answer(method: &Method, path: &str, body: &[u8], now_unix: u64) -> Echo {
    let route = path
        .strip_prefix("/v1")
        .filter(|rest| rest.starts_with('/'))
        .unwrap_or(path);
    let respond: fn(&Ask<'_>) -> Echo = match route {
        "/models" => return reading(method, || models(now_unix)),
        "/chat/completions" => chat::answer,
        "/completions" => completions::answer,
        "/embeddings" => embeddings::answer,
        "/responses" => responses::answer,
        _ => match route.strip_prefix("/models/") {
            Some(MODEL) => return reading(method, || Echo::json(model(now_unix))),
            Some(_) => {
                return Echo::error(
                    StatusCode::NOT_FOUND,
                    "the model does not exist",
                    "model_not_found",
                );
            }
            None => return Echo::error(StatusCode::NOT_FOUND, "unknown path", "unknown_url"),
        },
    };
    if method != Method::POST {
        return not_allowed();
    }
    match serde_json::from_slice(body) {
        Ok(request @ Value::Object(_)) => respond(&Ask {
            request: &request,
            now: now_unix,
        }),
        _ => Echo::error(
            StatusCode::BAD_REQUEST,
            "the body must be a JSON object",
            "invalid_json",
        ),
    }
}

fn reading(method: &Method, answer: impl FnOnce() -> Echo) -> Echo {
    if matches!(*method, Method::GET | Method::HEAD) {
        answer()
    } else {
        not_allowed()
    }
}

fn not_allowed() -> Echo {
    Echo::error(
        StatusCode::METHOD_NOT_ALLOWED,
        "the method is not allowed here",
        "method_not_allowed",
    )
}

fn model(now: u64) -> Value {
    json!({"id": MODEL, "object": "model", "created": now, "owned_by": "onwards"})
}

fn models(now: u64) -> Echo {
    Echo::json(json!({"object": "list", "data": [model(now)]}))
}

/// A request to answer.
struct Ask<'a> {
    request: &'a Value,
    now: u64,
}

impl<'a> Ask<'a> {
    fn get(&self, name: &str) -> &'a Value {
        self.request.get(name).unwrap_or(&Value::Null)
    }

    fn model(&self) -> &'a str {
        self.get("model").as_str().unwrap_or(MODEL)
    }

    fn streams(&self) -> bool {
        self.get("stream").as_bool() == Some(true)
    }

    /// Whether a stream is to end with the usage.
    fn wants_usage(&self) -> bool {
        self.get("stream_options")
            .get("include_usage")
            .and_then(Value::as_bool)
            == Some(true)
    }
}

impl Echo {
    fn json(document: Value) -> Self {
        Self {
            status: StatusCode::OK,
            content_type: "application/json",
            body: EchoBody::Whole(document.to_string()),
        }
    }

    fn events(events: Vec<String>) -> Self {
        Self {
            status: StatusCode::OK,
            content_type: "text/event-stream",
            body: EchoBody::Events(events),
        }
    }

    fn error(status: StatusCode, message: &str, code: &str) -> Self {
        let error = json!({"error": {"message": message, "type": "invalid_request_error", "param": null, "code": code}});
        Self {
            status,
            ..Self::json(error)
        }
    }
}

/// An event without a name, as the chat and completions streams have them.
fn data(payload: &Value) -> String {
    format!("data: {payload}\n\n")
}

/// The last event of such a stream.
fn done() -> String {
    "data: [DONE]\n\n".to_owned()
}

/// The text of a message's content: a string, or the text parts of a list.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part.get("text")?.as_str())
            .collect::<Vec<_>>()
            .join("\n"),
        _ => String::new(),
    }
}

/// A text in the pieces a stream sends: words with the space after them.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ')
}

/// An estimate of a text's tokens; at least one unless it is empty.
fn tokens(text: &str) -> usize {
    text.len().div_ceil(4)
}

/// The usage object of chat and completions.
fn usage(prompt: usize, completion: usize) -> Value {
    json!({"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion})
}

#[cfg(test)]
mod tests;
