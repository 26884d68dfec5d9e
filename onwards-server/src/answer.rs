//! What becomes of a provider's answer on its way to the client: passed on untouched, or rebuilt from the members of the
//! contract, whole or event by event (spec F.5, J, K, L); in the end with what an embedder wants changed (C.12, P).
//!
//! Which of these is settled in the plan as an [`Egress`]; nothing later asks for a mode.

mod error;
mod id;
mod peek;
mod rejection;
mod rework;
mod rewrite;
mod settle;
mod stream;
mod translated;
mod unary;

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use onwards_strict::{Cleaner, Context};
use tokio::time::Instant;

use crate::body::Body;
use crate::encoding::Encoding;
use crate::headers;
use crate::house::Settings;
use crate::policy::{Observation, Provider};
use crate::transport::{Answer, TransportError};

use self::id::AnswerId;
pub(crate) use self::rejection::rejects_prompt;
use self::rework::Rework;
use self::rewrite::Rewriter;
pub(crate) use self::settle::settle;
pub(crate) use self::stream::CleanStream;
use self::stream::Framing;
use self::translated::{Cleaning as Cleaned, NativeStream};
pub(crate) use self::translated::{Native, Translated, Way, counted};
#[cfg(feature = "otlp")]
pub(crate) use self::unary::read;

/// What is done to answers before a client gets them.
#[derive(Debug)]
pub(crate) struct Egress {
    cleaning: Cleaning,
    /// What an embedder wants changed in unary answers, after the cleaning. Never in strict mode.
    rework: Option<Box<Rework>>,
}

/// What of an answer reaches the client.
#[derive(Debug)]
enum Cleaning {
    /// Status, headers and bytes as they come.
    Untouched,
    /// Strict mode: only what the contract knows, errors of untrusted providers replaced.
    Strict(Contract),
    /// Outside strict mode, for providers that are said to be sanitised: errors replaced, chat answers cleaned.
    Sanitized(Option<Contract>),
}

/// What cleaning needs to know of the request.
#[derive(Debug)]
struct Contract {
    endpoint: onwards_strict::Endpoint,
    /// The name the client asked for.
    model: String,
    /// Whether the client asked for a usage chunk.
    include_usage: bool,
    /// Unique to the request: what missing ids are made of.
    unique: String,
    /// Seconds since 1970.
    now: u64,
    /// What the answer's id says instead of the provider's, in strict mode.
    id: Option<AnswerId>,
}

/// A 2xx or an error of a provider, looked into as far as it has to be before anything is sent.
#[derive(Debug)]
pub(crate) enum Opened {
    /// Can be sent.
    Ready(Response<Body>),
    /// A 2xx that carries an error; what can be sent if no other provider is asked.
    Embedded {
        status: u16,
        response: Response<Body>,
    },
    /// A 2xx without any content.
    Empty,
    /// An answer that does not fit the contract: nothing of it may be shown.
    Malformed,
    /// A stream whose first token did not come in time.
    Late,
    /// Larger or slower than an answer may be that has to be read whole.
    Unreadable(TransportError),
}

/// The look into an answer: how long it may take, who wants to know, and what it found.
#[derive(Debug)]
pub(crate) struct Look {
    /// When the attempt began.
    pub(crate) begun: Instant,
    /// When the first token of a strict stream must be there.
    pub(crate) deadline: Option<Instant>,
    /// The controller that learns from the attempt.
    pub(crate) observation: Option<Observation>,
    /// Time from the start of the attempt to the first data frame that is neither an error nor the end marker, if one came
    /// while it was looked for.
    pub(crate) first_frame: Option<Duration>,
}

impl Egress {
    /// Looks into an answer and prepares what the client gets.
    pub(crate) async fn open(
        &self,
        mut answer: Answer,
        provider: &Arc<Provider>,
        settings: &Settings,
        look: &mut Look,
        way: Way,
    ) -> Opened {
        if provider.dialect.is_some() {
            translated::say_when(&mut answer);
        }
        let opened = match way {
            Way::Plain => {
                self.cleaning
                    .open(answer, provider, settings, look, None)
                    .await
            }
            Way::Native(mut native) if native.cleaned => {
                let (report, explain) = (std::mem::take(&mut native.report), native.explain);
                let native = Some(*native);
                let opened = self.cleaning.open(answer, provider, settings, look, native);
                let mut opened = Box::pin(opened).await;
                if let Opened::Ready(response) = &mut opened
                    && response.status().is_success()
                    && !report.is_empty()
                {
                    translated::tell(&report, explain, response.headers_mut());
                }
                opened
            }
            Way::Native(native) => Box::pin(native.open(answer, provider, settings, look)).await,
            Way::Translated(translated) => {
                Box::pin(translated.open(answer, provider, settings, look)).await
            }
            Way::Counted(response) => Opened::Ready(*response),
        };
        match &self.rework {
            None => opened,
            Some(rework) => Box::pin(rework.apply(opened, settings)).await,
        }
    }

    /// True when answers for this provider must come uncompressed, because they are read here.
    pub(crate) fn reads(&self, provider: &Provider) -> bool {
        self.rework.is_some() || self.cleaning.reads(provider)
    }

    /// True when answers of this provider in the client's own protocol are cleaned here.
    pub(crate) fn cleans(&self, provider: &Provider) -> bool {
        self.cleaning.reads(provider)
    }

    /// True for requests whose `content-type` is the contract's, whatever the client wrote.
    pub(crate) fn is_strict(&self) -> bool {
        matches!(self.cleaning, Cleaning::Strict(_))
    }
}

impl Cleaning {
    /// What takes long is boxed, so that an answer that is passed on carries no room for it. `native` is what is known of a
    /// provider's dialect.
    async fn open(
        &self,
        answer: Answer,
        provider: &Arc<Provider>,
        settings: &Settings,
        look: &mut Look,
        native: Option<Native>,
    ) -> Opened {
        let success = answer.status().is_success();
        match self {
            Self::Strict(contract) if success => {
                Box::pin(contract.strict(answer, provider, settings, look, native)).await
            }
            Self::Strict(_) if !provider.trusted => {
                Opened::Ready(Box::pin(error::standardised(answer, settings)).await)
            }
            Self::Sanitized(Some(contract)) if success && provider.sanitize => {
                Box::pin(contract.sanitized(answer, provider, settings, look, native)).await
            }
            Self::Sanitized(_) if !success && provider.sanitize => {
                Opened::Ready(Box::pin(error::replaced(answer, settings)).await)
            }
            _ => Opened::Ready(match native {
                Some(native) if !success => {
                    Box::pin(native.error(answer, provider, settings)).await
                }
                _ => untouched(answer, provider),
            }),
        }
    }

    fn reads(&self, provider: &Provider) -> bool {
        match self {
            Self::Untouched => false,
            Self::Strict(_) => true,
            Self::Sanitized(_) => provider.sanitize,
        }
    }
}

impl Contract {
    async fn strict(
        &self,
        answer: Answer,
        provider: &Arc<Provider>,
        settings: &Settings,
        look: &mut Look,
        native: Option<Native>,
    ) -> Opened {
        let (mut head, body) = answer.into_parts();
        let encoding = Encoding::of(&head.headers);
        let streamed = is_event_stream(&head.headers);
        if streamed && encoding != Encoding::Identity {
            return compressed_stream();
        }
        let kind = head
            .headers
            .remove(header::CONTENT_TYPE)
            .filter(|_| streamed);
        head.headers = allowed(&head.headers, kind);
        headers::configure(&mut head.headers, &provider.response_headers);
        let cleaner = Cleaner::new(self.endpoint, &self.context(provider.trusted, 0));
        if streamed {
            let (limit, idle) = (settings.sse_buffer_limit, provider.idle_timeout);
            let mut stream = match native {
                Some(native) => {
                    let cleaning = Cleaned::new(cleaner, self.id.clone());
                    let rewriter = NativeStream::new(native, Some(cleaning), provider);
                    CleanStream::native(body, Framing::events(limit), rewriter, idle)
                }
                None => {
                    let rewriter = Rewriter::strict(cleaner, self, provider.trusted);
                    CleanStream::new(body, rewriter, limit, idle)
                }
            };
            head.headers.remove(header::CONTENT_LENGTH);
            stream.observe(look.observation.take());
            return peek::open(stream, head, look).await;
        }
        let body = Body::upstream(body, provider.idle_timeout);
        match unary::plain(body, encoding, settings).await {
            Ok(text) => match replaced(native.as_ref(), &text, provider, look) {
                Some(opened) => opened,
                None => unary::strict(
                    &cleaner,
                    head,
                    &text,
                    provider.trusted,
                    self.id.as_ref(),
                    look,
                ),
            },
            Err(error) => Opened::Unreadable(error),
        }
    }

    async fn sanitized(
        &self,
        answer: Answer,
        provider: &Arc<Provider>,
        settings: &Settings,
        look: &mut Look,
        native: Option<Native>,
    ) -> Opened {
        let (mut head, body) = answer.into_parts();
        let encoding = Encoding::of(&head.headers);
        let streamed = is_event_stream(&head.headers);
        if streamed && encoding != Encoding::Identity {
            return compressed_stream();
        }
        head.headers.remove(header::CONTENT_ENCODING);
        headers::downstream(&mut head.headers, &provider.response_headers);
        let cleaner = Cleaner::sanitizer(&self.context(true, self.now));
        if streamed {
            let (limit, idle) = (settings.sse_buffer_limit, provider.idle_timeout);
            head.headers.remove(header::CONTENT_LENGTH);
            if let Some(native) = native {
                let cleaning = Cleaned::new(cleaner, None);
                let rewriter = NativeStream::new(native, Some(cleaning), provider);
                let mut stream = CleanStream::native(body, Framing::events(limit), rewriter, idle);
                stream.observe(look.observation.take());
                return peek::open(stream, head, look).await;
            }
            let rewriter = Rewriter::sanitized(cleaner);
            let stream = CleanStream::new(body, rewriter, limit, idle);
            return Opened::Ready(Response::from_parts(head, Body::clean(stream)));
        }
        let body = Body::upstream(body, provider.idle_timeout);
        match unary::plain(body, encoding, settings).await {
            Ok(text) => replaced(native.as_ref(), &text, provider, look)
                .unwrap_or_else(|| unary::sanitized(&cleaner, head, &text)),
            Err(error) => Opened::Unreadable(error),
        }
    }

    fn context(&self, trusted: bool, created: u64) -> Context<'_> {
        Context {
            model: &self.model,
            unique: &self.unique,
            created,
            trusted,
        }
    }
}

/// The error of a provider whose dialect is known, where a 2xx is that in the place of an answer.
fn replaced(
    native: Option<&Native>,
    text: &[u8],
    provider: &Provider,
    look: &mut Look,
) -> Option<Opened> {
    let opened = native?.embedded_in(text, provider)?;
    if let (Some(observation), Opened::Embedded { status, .. }) = (&mut look.observation, &opened) {
        observation.status(*status);
    }
    Some(opened)
}

/// A stream that is compressed although it was asked to come plain cannot be looked into as it comes.
fn compressed_stream() -> Opened {
    tracing::error!("a provider's stream is compressed although it was not asked to be");
    Opened::Malformed
}

/// The answer as it came, without what concerns its connection, with the configured headers.
fn untouched(answer: Answer, provider: &Provider) -> Response<Body> {
    let idle_timeout = provider.idle_timeout;
    let mut response = answer.map(|body| Body::upstream(body, idle_timeout));
    headers::downstream(response.headers_mut(), &provider.response_headers);
    response
}

/// The headers of a provider that a strict client may see, beside what is said of the body here: what the message needs, and
/// what a retry needs.
fn allowed(provider: &HeaderMap, kind: Option<HeaderValue>) -> HeaderMap {
    let mut kept = HeaderMap::with_capacity(6);
    if let Some(kind) = kind {
        kept.insert(header::CONTENT_TYPE, kind);
    }
    for name in [header::CACHE_CONTROL, header::DATE, header::RETRY_AFTER] {
        if let Some(value) = provider.get(&name) {
            kept.insert(name, value.clone());
        }
    }
    kept
}

/// True for the head of an event stream.
pub(crate) fn is_event_stream(headers: &HeaderMap) -> bool {
    const KIND: &[u8] = b"text/event-stream";
    headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| {
            value
                .as_bytes()
                .trim_ascii_start()
                .split_at_checked(KIND.len())
        })
        .is_some_and(|(kind, rest)| {
            kind.eq_ignore_ascii_case(KIND) && matches!(rest.trim_ascii_start(), [] | [b';', ..])
        })
}

/// A response of JSON text with the headers that go with it.
fn json(
    status: StatusCode,
    mut headers: HeaderMap,
    text: impl Into<bytes::Bytes>,
) -> Response<Body> {
    let text = text.into();
    headers.insert(
        header::CONTENT_TYPE,
        http::HeaderValue::from_static("application/json"),
    );
    headers.insert(header::CONTENT_LENGTH, text.len().into());
    let mut response = Response::new(Body::full(text));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}
