//! Answers in the client's own protocol: the model goes by the name the client gave it, every other byte stays.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, header};
use onwards_dialects::wire::{MESSAGES_BETA, TELLING_HEADERS};
use onwards_dialects::{Failure, NativeEvents, Protocol, Step};
use onwards_json::Kind;
use onwards_sse::{Event, Frame};

use super::super::stream::{CleanStream, Framing};
use super::super::{Look, Opened, error, is_event_stream, peek, unary, untouched};
use super::{COUNTED, DROPPED, MOST};
use crate::answer::rewrite::{Seen, StreamFault};
use crate::body::Body;
use crate::encoding::Encoding;
use crate::headers;
use crate::house::Settings;
use crate::policy::{Dialect, Provider};
use crate::transport::Answer;

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
    /// The name the client asked for.
    pub(crate) model: String,
    pub(crate) request_id: String,
}

impl Native {
    /// Prepares what the client gets. What is neither JSON nor a stream passes untouched.
    pub(crate) async fn open(
        self,
        answer: Answer,
        provider: &Arc<Provider>,
        settings: &Settings,
        look: &mut Look,
    ) -> Opened {
        let encoding = Encoding::of(answer.headers());
        let streamed = is_event_stream(answer.headers());
        let readable = if streamed {
            encoding == Encoding::Identity
        } else {
            is_json(answer.headers())
        };
        if !answer.status().is_success() {
            return Opened::Ready(self.error(answer, provider, settings).await);
        }
        if !readable {
            let mut response = untouched(answer, provider);
            self.hide(response.headers_mut());
            return Opened::Ready(response);
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
        if streamed {
            head.headers.remove(header::CONTENT_LENGTH);
            let framing = Framing::events(settings.sse_buffer_limit);
            let rewriter = NativeStream::new(self);
            let mut stream = CleanStream::native(body, framing, rewriter, provider.idle_timeout);
            stream.observe(look.observation.take());
            return peek::open(stream, head, look).await;
        }
        let body = Body::upstream(body, provider.idle_timeout);
        let text = match unary::plain(body, encoding, settings).await {
            Ok(text) => text,
            Err(error) => return Opened::Unreadable(error),
        };
        // What cannot be read may say anything of the provider, and another one may do better.
        if text.is_empty() {
            return Opened::Empty;
        }
        let whole = std::str::from_utf8(&text)
            .ok()
            .and_then(onwards_dialects::text::value);
        if !whole.is_some_and(|value| matches!(value.kind(), Kind::Object | Kind::Array)) {
            tracing::error!(bytes = text.len(), "a provider's answer is no JSON");
            return Opened::Malformed;
        }
        head.headers.remove(header::CONTENT_ENCODING);
        let edited = onwards_dialects::named(self.protocol, &text, &self.model);
        let sent = edited.map_or_else(|| text.clone(), Into::into);
        head.headers
            .insert(header::CONTENT_LENGTH, sent.len().into());
        let mut response = Response::from_parts(head, Body::full(sent));
        response.body_mut().count(&text);
        Opened::Ready(response)
    }

    /// An error: as it came, without what it must not show.
    async fn error(
        &self,
        answer: Answer,
        provider: &Provider,
        settings: &Settings,
    ) -> Response<Body> {
        if provider.sanitize {
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
        let shown = self.scrubbed(&text);
        self.hide(&mut head.headers);
        headers::downstream(&mut head.headers, &provider.response_headers);
        head.headers.remove(header::CONTENT_ENCODING);
        head.headers
            .insert(header::CONTENT_LENGTH, shown.len().into());
        Response::from_parts(head, Body::full(shown))
    }

    /// A text of an error without what it must not show.
    fn scrubbed(&self, text: &[u8]) -> Bytes {
        let shown = self
            .dialect
            .scrubbed(&String::from_utf8_lossy(text), &self.model);
        shown.into()
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

/// Renames the model in the events of one stream, and sees whether it ends as its protocol says.
#[derive(Debug)]
pub(crate) struct NativeStream {
    native: Native,
    events: NativeEvents,
    scratch: String,
    content: bool,
    error: Option<u16>,
    /// The protocol's end was seen, or the client has been told of a failure.
    over: bool,
    broken: Option<StreamFault>,
}

impl NativeStream {
    fn new(native: Native) -> Self {
        Self {
            events: NativeEvents::new(native.protocol, &native.model),
            native,
            scratch: String::new(),
            content: false,
            error: None,
            over: false,
            broken: None,
        }
    }

    /// What the stream has shown so far.
    pub(crate) fn seen(&self) -> Seen {
        Seen::of(self.content, self.error)
    }

    /// Why the stream did not end well, if the client has been told of it within the stream.
    pub(crate) fn take_broken(&mut self) -> Option<StreamFault> {
        self.broken.take()
    }

    /// Tells the client that the stream cannot go on.
    pub(crate) fn break_off(&mut self, out: &mut Vec<u8>) {
        if std::mem::replace(&mut self.over, true) {
            return;
        }
        let message = "the provider's stream ended unexpectedly";
        let failure = Failure::of(502, Some("provider_stream_aborted"), message);
        let mut told = String::new();
        self.events
            .fail(&failure, &self.native.request_id, &mut told);
        out.extend_from_slice(told.as_bytes());
    }

    /// One event: as it came, but for the model's name.
    pub(crate) fn event(
        &mut self,
        event: &Event,
        out: &mut Vec<u8>,
    ) -> Result<ControlFlow<()>, StreamFault> {
        let data = event.data();
        let payload = data
            .as_deref()
            .and_then(|data| std::str::from_utf8(data).ok());
        let Some(payload) = payload.filter(|payload| !payload.is_empty()) else {
            out.extend_from_slice(event.raw());
            return Ok(ControlFlow::Continue(()));
        };
        self.scratch.clear();
        let Ok(step) = self.events.payload(payload, &mut self.scratch) else {
            // Not what the protocol says; the client may know it all the same.
            self.content = true;
            out.extend_from_slice(event.raw());
            return Ok(ControlFlow::Continue(()));
        };
        match step {
            Step::Failed(failure) => {
                if !self.content {
                    self.error = Some(failure.status);
                }
                self.over = true;
                out.extend_from_slice(&self.native.scrubbed(event.raw()));
                return Ok(ControlFlow::Continue(()));
            }
            Step::Complete => {
                self.content = true;
                self.over = true;
            }
            Step::Open => self.content |= self.events.seen_content(),
        }
        if self.scratch.is_empty() || self.scratch == payload {
            out.extend_from_slice(event.raw());
            return Ok(ControlFlow::Continue(()));
        }
        let name = event
            .event()
            .and_then(|name| std::str::from_utf8(name).ok());
        let frame = Frame::data(self.scratch.as_bytes());
        let frame = match name {
            Some(name) => frame.event(name),
            None => frame,
        };
        if frame.write(out).is_err() {
            out.extend_from_slice(event.raw());
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The provider's stream has ended.
    pub(crate) fn end(&mut self, out: &mut Vec<u8>) -> Result<(), StreamFault> {
        if self.over || self.events.may_end() {
            return Ok(());
        }
        if !self.content {
            return Err(StreamFault::Unfinished);
        }
        self.break_off(out);
        self.broken = Some(StreamFault::Unfinished);
        Ok(())
    }
}
