//! Answers of providers that do not speak the client's protocol, and of those that do and are called by another name.

mod native;
mod rewriter;

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use onwards_aws::EventStream;
use onwards_dialects::answer::Usage as Counts;
use onwards_dialects::options::Reading;
use onwards_dialects::{Context, Failure, Memory, Protocol, Report};
use onwards_strict::errors;
use onwards_usage::Usage;

use super::stream::{CleanStream, Framing};
use super::unary;
use super::{Look, Opened, allowed, compressed_stream, is_event_stream, json, peek};
use crate::body::Body;
use crate::encoding::Encoding;
use crate::headers;
use crate::house::{Settings, unix_now};
use crate::policy::{Dialect, Keeper, Provider, asked};
use crate::transport::Answer;
use crate::{percent, translate};

pub(super) use self::native::Cleaning;
pub(crate) use self::native::{Native, NativeStream};
pub(crate) use self::rewriter::Rewriter;

/// How the answer to one attempt is to be read.
#[derive(Debug)]
pub(crate) enum Way {
    /// As the egress says.
    Plain,
    /// The provider speaks the client's protocol: the model's name is the client's, and what the protocol's rules name is changed.
    Native(Box<Native>),
    /// In the provider's dialect, to be told in the client's.
    Translated(Box<Translated>),
    /// Nobody is asked: this is the answer.
    Counted(Box<Response<Body>>),
}

impl Way {
    /// True where it is known what an answer is: one that is none is never handed on.
    pub(crate) fn knows_answers(&self) -> bool {
        matches!(self, Self::Native(_) | Self::Translated(_))
    }
}

/// What is known of a translated request when its answer comes.
#[derive(Debug)]
pub(crate) struct Translated {
    pub(crate) dialect: Arc<Dialect>,
    pub(crate) protocol: Protocol,
    /// What the request has left for the reader of the answer.
    pub(crate) memory: Memory,
    pub(crate) report: Report,
    /// The client is told of everything in the report.
    pub(crate) explain: bool,
    /// The answer is a number of tokens.
    pub(crate) counts: bool,
    /// The client asks for a stream.
    pub(crate) stream: bool,
    pub(crate) keeper: Option<Keeper>,
    pub(crate) context: Context,
}

/// The most of an error's body that is read.
const MOST: usize = 1024 * 1024;
const DROPPED: HeaderName = HeaderName::from_static("x-onwards-dropped-params");
const FIDELITY: HeaderName = HeaderName::from_static("x-onwards-fidelity");
const COUNTED: HeaderName = HeaderName::from_static("x-onwards-token-count");

/// Whether a provider's errors are shown in their own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Words {
    /// As the provider wrote them, without names and secrets.
    Scrubbed,
    /// As strict mode shows those of providers that are not trusted.
    Masked,
    /// As those of providers that are sanitised are shown.
    Replaced,
}

impl Words {
    fn of(strict: bool, provider: &Provider) -> Self {
        match (strict, provider.trusted, provider.sanitize) {
            (true, false, _) => Self::Masked,
            (false, _, true) => Self::Replaced,
            _ => Self::Scrubbed,
        }
    }
}

impl Translated {
    /// Looks into an answer and prepares what the client gets.
    pub(super) async fn open(
        self,
        answer: Answer,
        provider: &Arc<Provider>,
        settings: &Settings,
        look: &mut Look,
    ) -> Opened {
        let words = Words::of(self.context.strict, provider);
        if !answer.status().is_success() {
            let failure = self.failure(answer, settings).await;
            return Opened::Ready(self.refused(&failure, words, provider));
        }
        let encoding = Encoding::of(answer.headers());
        if let Some(framing) = self.framing(answer.headers(), settings) {
            if encoding != Encoding::Identity {
                return compressed_stream();
            }
            return self.stream(answer, framing, words, provider, look).await;
        }
        let (head, body) = answer.into_parts();
        let body = Body::upstream(body, provider.idle_timeout);
        let text = match unary::plain(body, encoding, settings).await {
            Ok(text) => text,
            Err(error) => return Opened::Unreadable(error),
        };
        self.whole(&head.headers, &text, words, provider)
    }

    /// How a stream is split, if the answer is one.
    fn framing(&self, headers: &HeaderMap, settings: &Settings) -> Option<Framing> {
        if !self.stream {
            return None;
        }
        let kind = headers.get(header::CONTENT_TYPE);
        let kind = kind
            .map_or(&b""[..], HeaderValue::as_bytes)
            .to_ascii_lowercase();
        if is_event_stream(headers) {
            Some(Framing::events(settings.sse_buffer_limit))
        } else if kind.starts_with(b"application/vnd.amazon.eventstream") {
            Some(Framing::Messages(EventStream::new(EventStream::MOST)))
        } else if self.dialect.kind.streams_arrays() && kind.starts_with(b"application/json") {
            Some(Framing::elements(settings.sse_buffer_limit.max(1 << 20)))
        } else {
            None
        }
    }

    async fn stream(
        mut self,
        answer: Answer,
        framing: Framing,
        words: Words,
        provider: &Arc<Provider>,
        look: &mut Look,
    ) -> Opened {
        let (mut head, body) = answer.into_parts();
        head.status = StatusCode::OK;
        self.name(&head.headers);
        head.headers = allowed(&head.headers, None);
        let kind = if self.context.array {
            "application/json"
        } else {
            "text/event-stream"
        };
        head.headers
            .insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        head.headers
            .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        self.tell(&mut head.headers, provider);
        let rewriter = Rewriter::new(self, words, provider);
        let mut stream = CleanStream::translating(body, framing, rewriter, provider.idle_timeout);
        stream.observe(look.observation.take());
        peek::open(stream, head, look).await
    }

    /// A whole answer.
    fn whole(
        mut self,
        headers: &HeaderMap,
        text: &Bytes,
        words: Words,
        provider: &Arc<Provider>,
    ) -> Opened {
        if text.is_empty() {
            return Opened::Empty;
        }
        let Ok(body) = std::str::from_utf8(text) else {
            return malformed("the answer is not UTF-8", text.len());
        };
        if let Some(failure) = self.dialect.kind.embedded_error(body) {
            tracing::warn!(status = failure.status, "a provider's 2xx carries an error");
            return self.embedded(&failure, words, provider);
        }
        if self.counts {
            let Some(tokens) = self.dialect.kind.read_count(body) else {
                return malformed("no number of tokens", text.len());
            };
            return Opened::Ready(counted(self.protocol, tokens, true));
        }
        let reading = Reading {
            memory: self.memory.clone(),
            unique: self.context.unique.clone(),
        };
        self.name(headers);
        let read = match self.dialect.kind.read_answer(body, &reading) {
            Ok(read) => read,
            Err(unreadable) => return malformed(unreadable.why, text.len()),
        };
        if let Some(keeper) = &self.keeper {
            for (call, kept) in read.kept() {
                keeper.keep(&call, kept);
            }
        }
        let mut out = String::with_capacity(text.len() + 256);
        let mut head = HeaderMap::new();
        if self.stream {
            // Asked for a stream, the provider gave the whole at once: the client gets it as one.
            let mut encoder = self.protocol.encoder(self.context.clone());
            read.replay(&mut |event| encoder.event(&event, &mut out));
            encoder.end(&mut out);
            let kind = if self.context.array {
                "application/json"
            } else {
                "text/event-stream"
            };
            head.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
            head.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        } else {
            self.protocol.write_answer(&read, &self.context, &mut out);
            head.insert(
                header::CONTENT_TYPE,
                HeaderValue::from_static("application/json"),
            );
            head.insert(header::CONTENT_LENGTH, out.len().into());
        }
        self.tell(&mut head, provider);
        let mut response = Response::new(Body::full(out));
        *response.headers_mut() = head;
        if let Some(usage) = read.usage {
            response.body_mut().counted(counts(usage));
        }
        Opened::Ready(response)
    }

    /// Some answers are named in a header.
    fn name(&mut self, headers: &HeaderMap) {
        let header = self.dialect.kind.id_header();
        let id = header.and_then(|header| headers.get(header)?.to_str().ok());
        if let Some(id) = id.filter(|id| percent::segment(id) == *id) {
            id.clone_into(&mut self.context.unique);
        }
    }

    /// What a provider's error says.
    async fn failure(&self, answer: Answer, settings: &Settings) -> Failure {
        let (head, body) = answer.into_parts();
        let body = Body::upstream(body, None);
        let patience = Duration::from_secs(5);
        let text = unary::read(body, MOST, Some(patience))
            .await
            .unwrap_or_default();
        let text = match Encoding::of(&head.headers).decode(&text, MOST) {
            Ok(Some(plain)) => plain,
            Ok(None) => text,
            Err(_) => Bytes::new(),
        };
        if settings.log_error_bodies {
            let body = String::from_utf8_lossy(&text);
            tracing::error!(status = head.status.as_u16(), %body, "a provider's error was translated");
        }
        let named = |name: &str| {
            let value = head.headers.get(name)?;
            value.to_str().ok().map(str::to_owned)
        };
        let status = head.status.as_u16();
        let mut failure = self.dialect.kind.read_failure(status, &named, &text);
        failure.retry_after = seconds_asked(status, &head.headers).or(failure.retry_after);
        failure
    }

    /// A provider's error as the client is told it, before anything of an answer.
    pub(super) fn refused(
        &self,
        failure: &Failure,
        words: Words,
        provider: &Provider,
    ) -> Response<Body> {
        let shown = shown(failure, words, &self.dialect, &self.context.model);
        let mut out = String::new();
        self.protocol
            .write_failure(&shown, &self.context.request_id, &mut out);
        let status = StatusCode::from_u16(shown.status).unwrap_or(StatusCode::BAD_GATEWAY);
        let mut headers = HeaderMap::new();
        if let Some(seconds) = failure.retry_after.filter(|_| retried(shown.status)) {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        headers::configure(&mut headers, &provider.response_headers);
        json(status, headers, out)
    }

    fn embedded(&self, failure: &Failure, words: Words, provider: &Provider) -> Opened {
        Opened::Embedded {
            status: class(failure),
            response: self.refused(failure, words, provider),
        }
    }

    /// Says in the head of an answer what was changed, and what the operator wants said.
    fn tell(&self, head: &mut HeaderMap, provider: &Provider) {
        tell(&self.report, self.explain, head);
        headers::configure(head, &provider.response_headers);
    }
}

/// Says in the head of an answer what the provider was not told of the request.
pub(super) fn tell(report: &Report, explain: bool, head: &mut HeaderMap) {
    let mut say = |name, text: String| {
        if let Ok(value) = HeaderValue::try_from(text) {
            head.insert(name, value);
        }
    };
    if let Some(losses) = translate::losses(report) {
        say(DROPPED, losses);
    }
    if explain {
        say(FIDELITY, translate::whole(report));
    }
}

/// The status that decides whether somebody else is asked: that of the error, but for those that are worth another try whatever
/// their status.
fn class(failure: &Failure) -> u16 {
    if failure.retryable && !matches!(failure.status, 429 | 500..) {
        return 503;
    }
    failure.status
}

/// A provider's error in the words that the client may see.
pub(super) fn shown(failure: &Failure, words: Words, dialect: &Dialect, model: &str) -> Failure {
    match words {
        Words::Scrubbed => Failure {
            message: dialect.scrubbed(&failure.message, model),
            code: (failure.code.clone()).filter(|code| dialect.scrubbed(code, model) == *code),
            param: failure
                .param
                .as_deref()
                .map(|param| dialect.scrubbed(param, model)),
            ..failure.clone()
        },
        Words::Masked => {
            let status = errors::mask(failure.status);
            let errors::Standard { kind, message } = errors::standard(status);
            Failure {
                kind: kind.to_owned(),
                ..Failure::of(status, None, message)
            }
        }
        Words::Replaced => {
            let (code, message) = if (400..500).contains(&failure.status) {
                (
                    "upstream_error",
                    "The upstream provider rejected the request.",
                )
            } else {
                (
                    "internal_error",
                    "An internal error occurred. Please try again later.",
                )
            };
            Failure::of(failure.status, Some(code), message)
        }
    }
}

/// The pause that the head of an error asks for, in full seconds.
fn seconds_asked(status: u16, headers: &HeaderMap) -> Option<u64> {
    let wall = UNIX_EPOCH + Duration::from_secs(unix_now());
    let wait = asked(status, headers, wall)?;
    let up = u64::from(wait.subsec_nanos() > 0);
    Some(wait.as_secs().saturating_add(up))
}

/// Tells a client when to come back as `retry-after` where the provider has said it otherwise (spec providers 3.0.8).
pub(super) fn say_when(answer: &mut Answer) {
    let status = answer.status().as_u16();
    if !retried(status) || answer.headers().contains_key(header::RETRY_AFTER) {
        return;
    }
    if let Some(seconds) = seconds_asked(status, answer.headers()) {
        let headers = answer.headers_mut();
        headers.insert(header::RETRY_AFTER, seconds.into());
    }
}

/// True for statuses that a client may be told to come back after.
fn retried(status: u16) -> bool {
    matches!(status, 429 | 503 | 529)
}

/// A number of tokens as the client's protocol says it.
pub(crate) fn counted(protocol: Protocol, tokens: u64, by_provider: bool) -> Response<Body> {
    let mut out = String::new();
    protocol.write_count(tokens, &mut out);
    let mut headers = HeaderMap::new();
    let source = if by_provider { "provider" } else { "estimate" };
    headers.insert(COUNTED, HeaderValue::from_static(source));
    json(StatusCode::OK, headers, out)
}

/// Token counts in the words of everybody who keeps records.
pub(super) fn counts(usage: Counts) -> Usage {
    Usage {
        prompt: Some(usage.prompt),
        completion: Some(usage.completion),
        cached: usage.cached,
        reasoning: usage.reasoning,
    }
}

/// A provider's stream that ends before it is complete (spec providers 3.0.7).
fn aborted() -> Failure {
    let message = "the provider's stream ended unexpectedly";
    Failure::of(502, Some("provider_stream_aborted"), message)
}

/// A provider's stream that says what nobody can read (spec providers 3.0.7).
fn garbled() -> Failure {
    let message = "the provider's stream cannot be read any further";
    Failure::of(502, Some("provider_malformed_response"), message)
}

fn malformed(why: &'static str, bytes: usize) -> Opened {
    tracing::error!(why, bytes, "a provider's answer is none");
    Opened::Malformed
}
