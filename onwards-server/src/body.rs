//! The body of an answer to a client: either bytes of the gateway's own or a provider's stream, with everything that
//! has to last as long as it does.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use onwards_limits::Permit;
use tokio::time::Sleep;

use crate::admit::Admission;
use crate::answer::CleanStream;
use crate::facts::{Facts, Outcome};
use crate::transport::UpstreamBody;

/// What a broken response body reports to the server, which then breaks the client's connection or stream off.
pub type BodyError = Box<dyn std::error::Error + Send + Sync>;

/// The body of a response of the gateway.
///
/// Dropping it at any point frees every slot that the request holds and gives the provider's response up.
pub struct Body {
    source: Source,
    /// Told when the body ends or is dropped, whichever comes first.
    closing: Option<Closing>,
    bytes: u64,
}

enum Source {
    Whole(Option<Bytes>),
    Upstream {
        body: UpstreamBody,
        silence: Silence,
    },
    Clean(Box<CleanStream>),
}

/// What lasts to the end of a body.
#[derive(Debug)]
pub(crate) struct Closing {
    pub(crate) facts: Facts,
    /// Held for its slots.
    pub(crate) held: Option<(Admission, Permit)>,
}

impl Body {
    /// A body of one piece.
    pub(crate) fn full(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self {
            source: Source::Whole((!bytes.is_empty()).then_some(bytes)),
            closing: None,
            bytes: 0,
        }
    }

    /// A provider's body, passed on as it comes. A gap longer than `idle_timeout` breaks it off.
    pub(crate) fn upstream(body: UpstreamBody, idle_timeout: Option<Duration>) -> Self {
        let silence = Silence::new(idle_timeout);
        Self {
            source: Source::Upstream { body, silence },
            closing: None,
            bytes: 0,
        }
    }

    /// A provider's stream, rebuilt event by event.
    pub(crate) fn clean(stream: CleanStream) -> Self {
        Self {
            source: Source::Clean(Box::new(stream)),
            closing: None,
            bytes: 0,
        }
    }

    /// Attaches what lasts to the end of the body.
    pub(crate) fn closing(mut self, closing: Closing) -> Self {
        self.closing = Some(closing);
        self
    }

    fn close(&mut self, outcome: Outcome) {
        if let Some(Closing { facts, held }) = self.closing.take() {
            drop(held);
            facts.ended(outcome, self.bytes);
        }
    }

    fn is_end(&self) -> bool {
        match &self.source {
            Source::Whole(bytes) => bytes.is_none(),
            Source::Upstream { body, .. } => http_body::Body::is_end_stream(body),
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
            Source::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Source::Upstream { body, silence } => silence.watch(Pin::new(body).poll_frame(cx), cx),
            Source::Clean(stream) => stream.poll_frame(cx),
        };
        match &polled {
            Poll::Pending => {}
            Poll::Ready(None) => this.close(Outcome::Complete),
            Poll::Ready(Some(Ok(frame))) => {
                this.bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
                if this.is_end() {
                    this.close(Outcome::Complete);
                }
            }
            Poll::Ready(Some(Err(error))) => {
                let stalled = error.is::<Stalled>();
                this.close(if stalled {
                    Outcome::Stalled
                } else {
                    Outcome::UpstreamBroken
                });
            }
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.is_end()
    }

    fn size_hint(&self) -> SizeHint {
        match &self.source {
            Source::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Source::Upstream { body, .. } => http_body::Body::size_hint(body),
            Source::Clean(_) => SizeHint::default(),
        }
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        let outcome = if self.is_end() {
            Outcome::Complete
        } else {
            Outcome::ClientGone
        };
        self.close(outcome);
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body")
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
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
