//! What an embedder does to whole answers before a client gets them (spec P).

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use onwards_strict::{Cleaned, Cleaner, Context};

use crate::body::BodyError;
use crate::house::unix_now;
use crate::random::uuid;

/// A provider's success that has arrived whole: what a transform is shown.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct WholeAnswer<'a> {
    /// The path that the client asked for, without the query and what the gateway is nested under.
    pub path: &'a str,
    /// The headers as the provider sent them, without those of its connection and with the configured ones. `content-encoding`
    /// and `content-length` are those of the bytes before they were decompressed.
    pub headers: &'a HeaderMap,
    /// The body, decompressed. Never empty.
    pub body: &'a Bytes,
    /// The model as the client named it.
    pub model: &'a str,
}

type Change = dyn Fn(&WholeAnswer<'_>) -> Result<Option<Bytes>, BodyError> + Send + Sync;

/// Changes whole answers; see [`AppState::with_response_transform`](crate::AppState::with_response_transform).
#[derive(Clone)]
pub struct ResponseTransform(Arc<Change>);

impl ResponseTransform {
    /// A transform that gives the bytes to send instead, or `None` to send the provider's own.
    pub fn new<F>(change: F) -> Self
    where
        F: Fn(&WholeAnswer<'_>) -> Result<Option<Bytes>, BodyError> + Send + Sync + 'static,
    {
        Self(Arc::new(change))
    }

    pub(crate) fn apply(&self, answer: &WholeAnswer<'_>) -> Result<Option<Bytes>, BodyError> {
        (self.0)(answer)
    }
}

impl fmt::Debug for ResponseTransform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ResponseTransform(..)")
    }
}

/// A transform that does to every provider's chat answers what `sanitize_response` does to those of some: the model is the
/// client's name for it, members that OpenAI's envelope does not know are gone, messages are as they were (spec L). Answers on
/// other paths are kept. An answer that does not fit the envelope is an error.
///
/// ```
/// use onwards_server::{AppState, response_sanitizer};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let gateway = onwards_config::read(br#"{"targets": {}}"#, &())?.gateway;
/// let house = AppState::new(gateway).with_response_transform(response_sanitizer()).build()?;
/// # drop(house);
/// # Ok(())
/// # }
/// ```
pub fn response_sanitizer()
-> impl Fn(&WholeAnswer<'_>) -> Result<Option<Bytes>, BodyError> + Send + Sync + 'static {
    |answer: &WholeAnswer<'_>| {
        if !answer.path.contains("/chat/completions") {
            return Ok(None);
        }
        let unique = uuid();
        let context = Context {
            model: answer.model,
            unique: &unique,
            created: unix_now(),
            trusted: true,
        };
        let mut out = Vec::new();
        if let Cleaned::Error(error) = Cleaner::sanitizer(&context).clean(answer.body, &mut out)? {
            error.write_verbatim(&mut out);
        }
        Ok(Some(out.into()))
    }
}

#[cfg(test)]
mod tests;
