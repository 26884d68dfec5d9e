//! The body of an answer to a client: either bytes of the gateway's own or a provider's stream, with everything that
//! has to last as long as it does.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderValue, header};
use http_body::{Frame, SizeHint};
use memchr::memmem;
use onwards_limits::Permit;
use onwards_sse::FramingError;
use onwards_usage::{Tap, Usage};
use tokio::time::Sleep;

use crate::admit::Admission;
use crate::answer::{CleanStream, is_event_stream};
use crate::encoding::Encoding;
use crate::facts::{Facts, Outcome};
use crate::metrics::Form;
use crate::transport::UpstreamBody;

/// What a broken response body reports to the server, which then breaks the client's connection or stream off.
pub type BodyError = Box<dyn std::error::Error + Send + Sync>;

/// The body of a response of the gateway.
///
/// Dropping it at any point frees every slot that the request holds and gives the provider's response up.
pub struct Body {
    source: Source,
    /// What goes with the body once it is on its way to a client: boxed, because bodies are moved about before that.
    served: Option<Box<Served>>,
}

struct Served {
    /// Told when the body ends or is dropped, whichever comes first.
    closing: Closing,
    watch: Watch,
    /// Bytes that went to the client.
    bytes: u64,
    /// Reads token counts from the bytes of a provider.
    tap: Tap,
}

enum Source {
    Whole {
        bytes: Option<Bytes>,
        /// What was counted in the provider's text that the bytes were made from.
        counted: Option<Usage>,
    },
    Upstream {
        body: UpstreamBody,
        silence: Silence,
        /// What broke the body. It is told one turn later, so that the server can flush what came before.
        broken: Option<BodyError>,
    },
    Clean(Box<CleanStream>),
}

/// What lasts to the end of a body.
#[derive(Debug)]
pub(crate) struct Closing {
    pub(crate) facts: Facts,
    /// Held for its slots.
    pub(crate) held: Option<(Admission, Option<Permit>)>,
}

/// What is looked for in the bytes of a provider's answer. Nothing is, in one of the gateway's own.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Watch {
    stream: bool,
    /// The first data of the stream has not been seen.
    first_token: bool,
    /// Token counts can be read.
    usage: bool,
}

impl Watch {
    /// By the head of the answer: the first data where it is a stream, token counts where it can be read.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let stream = is_event_stream(headers);
        let text = || {
            headers
                .get(header::CONTENT_TYPE)
                .map(HeaderValue::as_bytes)
                .is_none_or(|kind| {
                    kind.starts_with(b"application/json") || memmem::find(kind, b"json").is_some()
                })
        };
        Self {
            stream,
            first_token: stream,
            usage: (stream || text()) && Encoding::of(headers) == Encoding::Identity,
        }
    }

    pub(crate) fn form(self) -> Form {
        if self.stream {
            Form::Stream
        } else {
            Form::Unary
        }
    }
}

impl Body {
    fn new(source: Source) -> Self {
        Self {
            source,
            served: None,
        }
    }

    /// A body of one piece.
    pub(crate) fn full(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self::new(Source::Whole {
            bytes: (!bytes.is_empty()).then_some(bytes),
            counted: None,
        })
    }

    /// Reads token counts from the text of a provider that the body was made from.
    pub(crate) fn count(&mut self, text: &[u8]) {
        if let Source::Whole { counted, .. } = &mut self.source {
            let mut tap = Tap::default();
            tap.read(text);
            *counted = tap.usage();
        }
    }

    /// Takes token counts that were read already.
    pub(crate) fn counted(&mut self, usage: Usage) {
        if let Source::Whole { counted, .. } = &mut self.source {
            *counted = Some(usage);
        }
    }

    /// A provider's body, passed on as it comes. A gap longer than `idle_timeout` breaks it off.
    pub(crate) fn upstream(body: UpstreamBody, idle_timeout: Option<Duration>) -> Self {
        let silence = Silence::new(idle_timeout);
        Self::new(Source::Upstream {
            body,
            silence,
            broken: None,
        })
    }

    /// A provider's stream, rebuilt event by event.
    pub(crate) fn clean(stream: CleanStream) -> Self {
        Self::new(Source::Clean(Box::new(stream)))
    }

    /// Attaches what lasts to the end of the body.
    pub(crate) fn closing(mut self, closing: Closing, watch: Watch) -> Self {
        self.served = Some(Box::new(Served {
            closing,
            watch,
            bytes: 0,
            tap: Tap::default(),
        }));
        self
    }

    fn close(&mut self, outcome: Outcome) {
        let Some(served) = self.served.take() else {
            return;
        };
        // Of a stream that is rebuilt it is what the provider sent: the client may get less.
        let usage = match &self.source {
            Source::Clean(stream) => stream.usage(),
            Source::Whole { counted, .. } => *counted,
            Source::Upstream { .. } => served.tap.usage(),
        };
        let Served { closing, bytes, .. } = *served;
        drop(closing.held);
        closing.facts.ended(outcome, bytes, usage);
    }

    /// Notes bytes that go to the client.
    fn passes(&mut self, data: &Bytes) {
        let Some(served) = &mut self.served else {
            return;
        };
        served.bytes += data.len() as u64;
        if served.watch.first_token && memmem::find(data, b"data:").is_some() {
            served.watch.first_token = false;
            served.closing.facts.first_token();
        }
        if served.watch.usage && matches!(self.source, Source::Upstream { .. }) {
            served.tap.read(data);
        }
    }

    /// What an end of the body means that breaks nothing off: the client may have been told of a failure before it.
    fn ending(&self) -> Outcome {
        let fault = match &self.source {
            Source::Clean(stream) => stream.fault(),
            Source::Whole { .. } | Source::Upstream { .. } => None,
        };
        fault.map_or(Outcome::Complete, outcome_of)
    }

    fn is_end(&self) -> bool {
        match &self.source {
            Source::Whole { bytes, .. } => bytes.is_none(),
            Source::Upstream { body, broken, .. } => {
                broken.is_none() && http_body::Body::is_end_stream(body)
            }
            Source::Clean(stream) => stream.is_end(),
        }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = self.get_mut();
        let polled = match &mut this.source {
            Source::Whole { bytes, .. } => {
                Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes))))
            }
            Source::Upstream {
                body,
                silence,
                broken,
            } => match broken.take() {
                Some(error) => Poll::Ready(Some(Err(error))),
                None => match silence.watch(Pin::new(body).poll_frame(cx), cx) {
                    Poll::Ready(Some(Err(error))) => {
                        *broken = Some(error);
                        cx.waker().wake_by_ref();
                        Poll::Pending
                    }
                    polled => polled,
                },
            },
            Source::Clean(stream) => stream.poll_frame(cx),
        };
        match &polled {
            Poll::Pending => {}
            Poll::Ready(None) => this.close(this.ending()),
            Poll::Ready(Some(Ok(frame))) => {
                if let Some(data) = frame.data_ref() {
                    this.passes(data);
                }
                if this.is_end() {
                    this.close(this.ending());
                }
            }
            Poll::Ready(Some(Err(error))) => {
                this.close(outcome_of(error));
            }
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.is_end()
    }

    fn size_hint(&self) -> SizeHint {
        match &self.source {
            Source::Whole { bytes, .. } => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Source::Upstream { body, .. } => http_body::Body::size_hint(body),
            Source::Clean(_) => SizeHint::default(),
        }
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        let fault = match &self.source {
            Source::Whole { .. } => None,
            Source::Upstream { broken, .. } => broken.as_ref(),
            Source::Clean(stream) => stream.fault(),
        };
        let said = match &self.source {
            Source::Clean(stream) => stream.has_said_all(),
            Source::Whole { .. } | Source::Upstream { .. } => self.is_end(),
        };
        let outcome = match fault {
            Some(error) => outcome_of(error),
            None if said => Outcome::Complete,
            None => Outcome::ClientGone,
        };
        self.close(outcome);
    }
}

/// What the error says that ends a body.
fn outcome_of(error: &BodyError) -> Outcome {
    if error.is::<Stalled>() {
        Outcome::Stalled
    } else if error.is::<FramingError>() {
        Outcome::Overflow
    } else {
        Outcome::UpstreamBroken
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body")
            .field("end", &self.is_end())
            .finish_non_exhaustive()
    }
}

/// Up to here a body that is collected grows by doubling, whatever it is said to become.
pub(crate) const SMALL_ROOM: usize = 1024 * 1024;
/// Room is made for so many times what has come.
const ROOM_AHEAD: usize = 32;

/// Makes room for `more` bytes of a body that is collected and is `expected` bytes long, or at most that.
///
/// A large body that grew by doubling would be held up to three times, in its old place, in its new one, and in those that the
/// allocator has not given back yet. So all room is made at once, which costs nothing: memory that is not written to is not
/// taken from the system. Only a body of which little has come is not believed.
pub(crate) fn make_room(whole: &mut BytesMut, more: usize, expected: usize) {
    let len = whole.len();
    if whole.capacity() - len >= more {
        return;
    }
    let room = if len < SMALL_ROOM {
        0
    } else {
        expected.min(len.saturating_mul(ROOM_AHEAD))
    };
    whole.reserve(more.max(room.saturating_sub(len)));
}

/// Watches for gaps in a body; the clock runs only while nothing is there.
#[derive(Debug)]
pub(crate) struct Silence {
    limit: Option<Duration>,
    clock: Option<Pin<Box<Sleep>>>,
}

pub(crate) type Polled = Poll<Option<Result<Frame<Bytes>, BodyError>>>;

impl Silence {
    pub(crate) fn new(limit: Option<Duration>) -> Self {
        Self { limit, clock: None }
    }

    pub(crate) fn watch(&mut self, polled: Polled, cx: &mut Context<'_>) -> Polled {
        let Some(limit) = self.limit else {
            return polled;
        };
        if polled.is_ready() {
            self.clock = None;
            return polled;
        }
        let clock = self
            .clock
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        clock
            .as_mut()
            .poll(cx)
            .map(|()| Some(Err(Stalled { limit }.into())))
    }
}

/// A provider was silent for too long in the middle of a body.
#[derive(Debug, thiserror::Error)]
#[error("the provider sent nothing for {} ms", limit.as_millis())]
struct Stalled {
    limit: Duration,
}
