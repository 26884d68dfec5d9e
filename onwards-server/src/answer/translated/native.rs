//! Answers in the client's own protocol: the model goes by the name the client gave it, and what the rules of the protocol name is
//! changed; every other byte stays.

mod elements;
mod events;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use onwards_dialects::wire::{MESSAGES_BETA, TELLING_HEADERS};
use onwards_dialects::{Failure, Protocol, Report};
use onwards_json::{Edit, Kind, Value};

use super::super::stream::{CleanStream, Framing};
use super::super::{Look, Opened, compressed_stream, error, is_event_stream, json, peek, unary};
use super::{COUNTED, DROPPED, MOST, Words, class, counts, malformed, shown};
use crate::body::Body;
use crate::encoding::Encoding;
use crate::headers;
use crate::house::Settings;
use crate::policy::{Dialect, Provider};
use crate::transport::Answer;

pub(in crate::answer) use self::events::Cleaning;
pub(crate) use self::events::NativeStream;

/// What is changed in the answer of a provider that speaks the client's protocol.
#[derive(Debug)]
pub(crate) struct Native {
    pub(crate) protocol: Protocol,
    /// What errors must not show.
    pub(crate) dialect: Arc<Dialect>,
    /// The client has sent values of `anthropic-beta` that the operator does not allow.
    pub(crate) betas_refused: bool,
    /// The answer is a number of tokens.
    pub(crate) counts: bool,
    /// The answer is a stream of Gemini's: events, or elements of a JSON array.
    pub(crate) streams: bool,
    /// The client wants such a stream as an array.
    pub(crate) array: bool,
    /// Answers are cleaned, too.
    pub(crate) cleaned: bool,
    /// In strict mode.
    pub(crate) strict: bool,
    /// What of the request the provider was not told.
    pub(crate) report: Report,
    /// The client is told of everything in the report.
    pub(crate) explain: bool,
    /// The name the client asked for.
    pub(crate) model: String,
    pub(crate) request_id: String,
}

impl Native {
    /// Prepares what the client gets: what can be read as an answer of its protocol.
    pub(crate) async fn open(
        self,
        answer: Answer,
        provider: &Arc<Provider>,
        settings: &Settings,
        look: &mut Look,
    ) -> Opened {
        if !answer.status().is_success() {
            return Opened::Ready(self.error(answer, provider, settings).await);
        }
        let encoding = Encoding::of(answer.headers());
        let framing = self.framing(answer.headers(), settings);
        if framing.is_some() && encoding != Encoding::Identity {
            return compressed_stream();
        }
        if matches!(
            answer.status(),
            StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT
        ) {
            return Opened::Empty;
        }
        let (mut head, body) = answer.into_parts();
        self.hide(&mut head.headers);
        headers::downstream(&mut head.headers, &provider.response_headers);
        if self.betas_refused {
            let betas = HeaderValue::from_static(MESSAGES_BETA);
            head.headers.insert(DROPPED, betas);
        }
        if self.counts {
            let provider = HeaderValue::from_static("provider");
            head.headers.insert(COUNTED, provider);
        }
        if let Some(framing) = framing {
            head.headers.remove(header::CONTENT_LENGTH);
            if self.streams {
                head.headers.insert(header::CONTENT_TYPE, self.content());
            }
            let rewriter = NativeStream::new(self, None, provider);
            let mut stream = CleanStream::native(body, framing, rewriter, provider.idle_timeout);
            stream.observe(look.observation.take());
            return peek::open(stream, head, look).await;
        }
        let body = Body::upstream(body, provider.idle_timeout);
        let text = match unary::plain(body, encoding, settings).await {
            Ok(text) => text,
            Err(error) => return Opened::Unreadable(error),
        };
        let failed = match self.look(&text, provider) {
            Ok(failed) => failed,
            Err(opened) => return *opened,
        };
        head.headers.remove(header::CONTENT_ENCODING);
        if !is_json(&head.headers) {
            let json = HeaderValue::from_static("application/json");
            head.headers.insert(header::CONTENT_TYPE, json);
        }
        let edited = onwards_dialects::named(self.dialect.kind, self.protocol, &text, &self.model);
        let mut sent = edited.map_or_else(|| text.clone(), Into::into);
        if failed.is_some() {
            sent = self.scrubbed_json(&sent);
        }
        head.headers
            .insert(header::CONTENT_LENGTH, sent.len().into());
        let mut response = Response::from_parts(head, Body::full(sent));
        let tokens = std::str::from_utf8(&text)
            .ok()
            .and_then(|text| onwards_dialects::tokens(self.protocol, text));
        match tokens {
            Some(tokens) => response.body_mut().counted(counts(tokens)),
            None => response.body_mut().count(&text),
        }
        match failed {
            Some(status) => Opened::Embedded { status, response },
            None => Opened::Ready(response),
        }
    }

    /// How a stream is split, if the answer is one.
    fn framing(&self, headers: &HeaderMap, settings: &Settings) -> Option<Framing> {
        let limit = settings.sse_buffer_limit;
        if is_event_stream(headers) {
            Some(Framing::events(limit))
        } else {
            self.streams.then(|| Framing::elements(limit.max(1 << 20)))
        }
    }

    /// What a stream of Gemini's is called.
    fn content(&self) -> HeaderValue {
        HeaderValue::from_static(if self.array {
            "application/json"
        } else {
            "text/event-stream"
        })
    }

    /// Whether the text of a 2xx is an answer. What cannot be read may say anything of the provider, and another one may do better.
    /// `Ok` has the class of the error that an answer of Responses tells of itself.
    fn look(&self, text: &Bytes, provider: &Provider) -> Result<Option<u16>, Box<Opened>> {
        if text.is_empty() {
            return Err(Opened::Empty.into());
        }
        let none = |why| Box::new(malformed(why, text.len()));
        let body = std::str::from_utf8(text);
        let body = body.map_err(|_| none("the answer is not UTF-8"))?;
        let value = onwards_dialects::text::value(body);
        let value = value.ok_or_else(|| none("the answer is no JSON"))?;
        if let Some(failure) = self.dialect.kind.embedded_error(body) {
            if self.protocol == Protocol::Responses && is_response(&value) {
                return Ok(Some(class(&failure)));
            }
            return Err(self.embedded(&failure, provider).into());
        }
        if value.kind() != Kind::Object {
            return Err(none("the answer is no object"));
        }
        if self.counts && self.dialect.kind.read_count(body).is_none() {
            return Err(none("no number of tokens"));
        }
        Ok(None)
    }

    /// The error that stands in the place of an answer which is to be cleaned.
    pub(in crate::answer) fn embedded_in(
        &self,
        text: &[u8],
        provider: &Provider,
    ) -> Option<Opened> {
        let body = std::str::from_utf8(text).ok()?;
        let failure = self.dialect.kind.embedded_error(body)?;
        let value = onwards_dialects::text::value(body)?;
        (!is_response(&value)).then(|| self.embedded(&failure, provider))
    }

    fn embedded(&self, failure: &Failure, provider: &Provider) -> Opened {
        tracing::warn!(status = failure.status, "a provider's 2xx carries an error");
        let words = Words::of(self.strict, provider);
        Opened::Embedded {
            status: class(failure),
            response: self.refused(failure, words, provider),
        }
    }

    /// An error: as it came, without what it must not show, if it is one of the client's protocol; else what it says as one.
    pub(in crate::answer) async fn error(
        &self,
        answer: Answer,
        provider: &Provider,
        settings: &Settings,
    ) -> Response<Body> {
        if provider.sanitize && !self.strict {
            return error::replaced(answer, settings).await;
        }
        let (mut head, body) = answer.into_parts();
        let text = unary::read(Body::upstream(body, None), MOST, Some(PATIENCE))
            .await
            .unwrap_or_default();
        let plain = Encoding::of(&head.headers).decode(&text, MOST);
        let text = match plain {
            Ok(Some(plain)) => plain,
            Ok(None) => text,
            Err(_) => Bytes::new(),
        };
        let status = head.status.as_u16();
        let shown = if let Some(own) = enveloped(&text) {
            self.scrubbed_json(&own)
        } else {
            let headers = &head.headers;
            let named = |name: &str| headers.get(name)?.to_str().ok().map(str::to_owned);
            let failure = self.dialect.kind.read_failure(status, &named, &text);
            let told = shown(&failure, Words::Scrubbed, &self.dialect, &self.model);
            let mut out = String::new();
            self.protocol
                .write_failure(&told, &self.request_id, &mut out);
            let json = HeaderValue::from_static("application/json");
            head.headers.insert(header::CONTENT_TYPE, json);
            out.into()
        };
        self.hide(&mut head.headers);
        headers::downstream(&mut head.headers, &provider.response_headers);
        head.headers.remove(header::CONTENT_ENCODING);
        head.headers
            .insert(header::CONTENT_LENGTH, shown.len().into());
        Response::from_parts(head, Body::full(shown))
    }

    /// An error that came in the place of a stream, as the client is told it.
    fn refused(&self, failure: &Failure, words: Words, provider: &Provider) -> Response<Body> {
        let told = shown(failure, words, &self.dialect, &self.model);
        let mut out = String::new();
        self.protocol
            .write_failure(&told, &self.request_id, &mut out);
        let status = StatusCode::from_u16(told.status).unwrap_or(StatusCode::BAD_GATEWAY);
        let mut headers = HeaderMap::new();
        headers::configure(&mut headers, &provider.response_headers);
        json(status, headers, out)
    }

    /// The JSON text of an error without what it must not show.
    fn scrubbed_json(&self, text: &[u8]) -> Bytes {
        let text = String::from_utf8_lossy(text);
        self.dialect.scrubbed_json(&text, &self.model).into()
    }

    /// Leaves out the headers of an answer that say which account was used, or how it is called there, or what must not be shown.
    fn hide(&self, headers: &mut HeaderMap) {
        let tells = |name: &HeaderName, value: &HeaderValue| {
            let text = String::from_utf8_lossy(value.as_bytes());
            TELLING_HEADERS.contains(&name.as_str()) || self.dialect.scrubbed(&text, "") != text
        };
        let telling = headers.iter().filter(|(name, value)| tells(name, value));
        let telling: Vec<HeaderName> = telling.map(|(name, _)| name.clone()).collect();
        for name in telling {
            headers.remove(name);
        }
    }
}

/// How long the body of an error is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// True for an answer of Responses, which may tell of an error itself.
fn is_response(value: &Value<'_>) -> bool {
    value.members().any(|member| {
        let value = member.value();
        member.is("object") && value.as_text().is_some_and(|kind| kind.is("response"))
    })
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| {
        kind.trim_start()
            .to_ascii_lowercase()
            .starts_with("application/json")
    })
}

/// The body of an error that has its protocol's envelope: an object `error` with a message and a class. Without what Azure's filters say of the
/// request (spec providers 3.2).
fn enveloped(body: &Bytes) -> Option<Bytes> {
    let document = onwards_json::object(body).ok()?;
    let error = document.get("error").ok()??.value();
    let has = |name: &str, is: fn(&Value<'_>) -> bool| {
        error
            .members()
            .any(|member| member.is(name) && is(&member.value()))
    };
    let text = |value: &Value<'_>| value.kind() == Kind::String;
    if !has("message", text) || !(has("type", text) || has("status", text)) {
        return None;
    }
    if !has("innererror", |_| true) {
        return Some(body.clone());
    }
    let path = ["error", "innererror"];
    let splices = onwards_json::splices(&document, &[Edit::Remove { path: &path[..] }]).ok()?;
    Some(onwards_json::apply(body, &splices).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_envelope_has_a_message_and_a_class() {
        for (body, own) in [
            (
                r#"{"error":{"message":"m","type":"t"}}"#,
                Some(r#"{"error":{"message":"m","type":"t"}}"#),
            ),
            (
                r#"{ "error": {"innererror":{"a":[1]}, "message":"m","type":"t" }}"#,
                Some(r#"{ "error": {"message":"m","type":"t" }}"#),
            ),
            (
                r#"{"error":{"code":503,"message":"m","status":"UNAVAILABLE"}}"#,
                Some(r#"{"error":{"code":503,"message":"m","status":"UNAVAILABLE"}}"#),
            ),
            (r#"{"error":{"message":"m"}}"#, None),
            (
                r#"{"error":{"message":"m","type":null,"status":400}}"#,
                None,
            ),
            (r#"{"error":{"message":1,"type":"t"}}"#, None),
            (r#"{"error":"m"}"#, None),
            (r#"{"statusCode":401,"message":"m"}"#, None),
            (r#"[{"error":{"message":"m","type":"t"}}]"#, None),
            ("m", None),
            ("", None),
        ] {
            let found = enveloped(&Bytes::copy_from_slice(body.as_bytes()));
            assert_eq!(found.as_deref(), own.map(str::as_bytes), "{body}");
        }
    }
}
