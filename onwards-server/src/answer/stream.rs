//! A provider's stream rebuilt event by event: all events of one read leave in one write.

use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use http_body::{Body as _, Frame};
use onwards_aws::{Broken as EventStreamBroken, EventStream};
use onwards_dialects::{ArrayError, ArraySplitter};
use onwards_sse::{Event, Framer, FramingError, PumpError, Rewrite as _, pump};
use onwards_usage::{Tap, Usage};

use super::rewrite::{Rewriter, Seen, StreamFault};
use super::translated;
use crate::body::{Body, BodyError, Silence};
use crate::policy::Observation;
use crate::transport::UpstreamBody;

/// How long a stream that has said `[DONE]` waits for the provider to end it, so that the connection can be used again.
const FAREWELL: Duration = Duration::from_millis(100);

/// How many bytes of a stream are held back until there is something of an answer.
const HELD: usize = 64 * 1024;

/// The body of a cleaned stream.
#[derive(Debug)]
pub(crate) struct CleanStream {
    upstream: UpstreamBody,
    framing: Framing,
    /// Reads token counts, also those that the client gets no event for.
    tap: Tap,
    rewriter: Rewrites,
    silence: Silence,
    /// What the client has been told of within the stream: its body ends well, the answer did not.
    told: Option<BodyError>,
    /// Who learns when the first token came.
    observation: Option<Observation>,
    /// Events that were cleaned while the stream was looked into, still to be sent.
    ready: Vec<u8>,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Events may come.
    Open,
    /// `[DONE]` was sent: nothing more will be, the provider's own end is waited for.
    Farewell(Pin<Box<tokio::time::Sleep>>),
    /// What was cleaned before the fault goes out first: the fault is told one turn later, so that the server can flush.
    Failing {
        told_next: bool,
        fault: Option<BodyError>,
    },
    Over,
}

/// What looking for the first event brought.
#[derive(Debug)]
pub(super) enum Looked {
    /// Another event, or the end.
    Event(Seen),
    /// The stream has ended.
    End(Seen),
    Fault(BodyError),
}

/// How the bytes of a stream become what the rewriter takes.
#[derive(Debug)]
pub(super) enum Framing {
    /// Server-sent events.
    Events(Framer),
    /// Messages of Amazon's event stream.
    Messages(EventStream),
    /// Elements of one JSON array.
    Elements(Box<Elements>),
}

/// A JSON array that comes piece by piece.
#[derive(Debug)]
pub(super) struct Elements {
    splitter: ArraySplitter,
    /// Elements that are whole and have not been looked at.
    pending: Vec<String>,
    broken: Option<ArrayError>,
    finished: bool,
}

impl Elements {
    fn push(&mut self, data: &[u8]) {
        let pending = &mut self.pending;
        let split = self
            .splitter
            .push(data, &mut |element| pending.push(element.to_owned()));
        self.broken = split.err();
    }
}

impl Framing {
    /// Elements of one JSON array, of at most `limit` bytes each.
    pub(super) fn elements(limit: usize) -> Self {
        Self::Elements(Box::new(Elements {
            splitter: ArraySplitter::new(limit),
            pending: Vec::new(),
            broken: None,
            finished: false,
        }))
    }

    /// Server-sent events of at most `limit` bytes.
    pub(super) fn events(limit: usize) -> Self {
        Self::Events(Framer::new(limit))
    }

    fn push(&mut self, data: Bytes) {
        match self {
            Self::Events(framer) => framer.push(data),
            Self::Messages(stream) => stream.push(&data),
            Self::Elements(elements) => elements.push(&data),
        }
    }

    fn finish(&mut self) {
        match self {
            Self::Events(framer) => framer.finish(),
            Self::Messages(stream) => stream.finish(),
            Self::Elements(elements) => elements.finished = true,
        }
    }
}

/// What is made of the events of a stream.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "the cleaning of strict streams is the hot one, and the stream is boxed as a whole"
)]
enum Rewrites {
    Clean(Rewriter),
    Translated(Box<translated::Rewriter>),
    Native(Box<translated::NativeStream>),
}

impl Rewrites {
    fn seen(&self) -> Seen {
        match self {
            Self::Clean(rewriter) => rewriter.seen(),
            Self::Translated(rewriter) => rewriter.seen(),
            Self::Native(rewriter) => rewriter.seen(),
        }
    }

    /// Tells the client that the stream cannot go on. True where that is how its protocol says it: the body then ends well.
    fn break_off(&mut self, out: &mut Vec<u8>) -> bool {
        match self {
            Self::Clean(rewriter) => {
                rewriter.break_off(out);
                return false;
            }
            Self::Translated(rewriter) => rewriter.break_off(out),
            Self::Native(rewriter) => rewriter.break_off(out),
        }
        true
    }

    fn take_broken(&mut self) -> Option<StreamFault> {
        match self {
            Self::Clean(_) => None,
            Self::Translated(rewriter) => rewriter.take_broken(),
            Self::Native(rewriter) => rewriter.take_broken(),
        }
    }
}

impl onwards_sse::Rewrite for Rewrites {
    type Error = StreamFault;

    fn event(&mut self, event: &Event, out: &mut Vec<u8>) -> Result<ControlFlow<()>, StreamFault> {
        match self {
            Self::Clean(rewriter) => rewriter.event(event, out),
            Self::Translated(rewriter) => rewriter.event(event, out),
            Self::Native(rewriter) => rewriter.event(event, out),
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) -> Result<(), StreamFault> {
        match self {
            Self::Clean(rewriter) => rewriter.end(out),
            Self::Translated(rewriter) => rewriter.end(out),
            Self::Native(rewriter) => rewriter.end(out),
        }
    }
}

impl CleanStream {
    pub(super) fn new(
        upstream: UpstreamBody,
        rewriter: Rewriter,
        limit: usize,
        idle_timeout: Option<Duration>,
    ) -> Self {
        let rewrites = Rewrites::Clean(rewriter);
        Self::of(upstream, Framing::events(limit), rewrites, idle_timeout)
    }

    /// A stream in another dialect than the client's.
    pub(super) fn translating(
        upstream: UpstreamBody,
        framing: Framing,
        rewriter: translated::Rewriter,
        idle_timeout: Option<Duration>,
    ) -> Self {
        let rewrites = Rewrites::Translated(Box::new(rewriter));
        Self::of(upstream, framing, rewrites, idle_timeout)
    }

    /// A stream in the client's dialect, under another name of the model.
    pub(super) fn native(
        upstream: UpstreamBody,
        framing: Framing,
        rewriter: translated::NativeStream,
        idle_timeout: Option<Duration>,
    ) -> Self {
        let rewrites = Rewrites::Native(Box::new(rewriter));
        Self::of(upstream, framing, rewrites, idle_timeout)
    }

    fn of(
        upstream: UpstreamBody,
        framing: Framing,
        rewriter: Rewrites,
        idle_timeout: Option<Duration>,
    ) -> Self {
        Self {
            upstream,
            framing,
            tap: Tap::default(),
            rewriter,
            silence: Silence::new(idle_timeout),
            told: None,
            observation: None,
            ready: Vec::new(),
            state: State::Open,
        }
    }

    /// The error that came in the place of an answer in a dialect that is known: its class, and how the client is told.
    pub(super) fn refused(&self) -> Option<(u16, Response<Body>)> {
        match &self.rewriter {
            Rewrites::Translated(rewriter) => rewriter.refused(),
            Rewrites::Native(rewriter) => rewriter.refused(),
            Rewrites::Clean(_) => None,
        }
    }

    /// True for a fault that says that the provider's events are at fault, not the connection they came on. Where its dialect is known,
    /// a stream that ends without an answer is such a one.
    pub(super) fn is_malformed(&self, fault: &BodyError) -> bool {
        let known = !matches!(self.rewriter, Rewrites::Clean(_));
        match fault.downcast_ref() {
            Some(StreamFault::Malformed(_) | StreamFault::CutOff | StreamFault::Unreadable(_)) => {
                true
            }
            Some(StreamFault::Unfinished | StreamFault::Failed) => known,
            None => {
                known
                    && (fault.is::<FramingError>()
                        || fault.is::<ArrayError>()
                        || fault.is::<EventStreamBroken>())
            }
        }
    }

    /// Tells an observation of the first token, whenever that comes.
    pub(super) fn observe(&mut self, observation: Option<Observation>) {
        self.observation = observation;
    }

    /// The observation, if it has not been told anything yet.
    pub(super) fn observed(&mut self) -> Option<Observation> {
        self.observation.take()
    }

    fn tell(&mut self, seen: Seen) {
        if seen.content {
            if let Some(mut observation) = self.observation.take() {
                observation.first_frame();
            }
        } else if let Some(status) = seen.error
            && let Some(mut observation) = self.observation.take()
        {
            observation.status(status);
        }
    }

    /// Reads on until something was learnt: events were cleaned, or the stream ended, or it failed.
    pub(super) async fn look(&mut self) -> Looked {
        std::future::poll_fn(|cx| self.poll_look(cx)).await
    }

    fn poll_look(&mut self, cx: &mut Context<'_>) -> Poll<Looked> {
        loop {
            let polled = self
                .silence
                .watch(Pin::new(&mut self.upstream).poll_frame(cx), cx);
            let ended = match std::task::ready!(polled) {
                Some(Err(error)) => return Poll::Ready(Looked::Fault(error)),
                Some(Ok(frame)) => {
                    let Ok(data) = frame.into_data() else {
                        continue;
                    };
                    if !matches!(self.rewriter, Rewrites::Translated(_)) {
                        self.tap.read(&data);
                    }
                    self.framing.push(data);
                    false
                }
                None => {
                    self.framing.finish();
                    true
                }
            };
            let before = self.ready.len();
            let flow = self.pump();
            let seen = self.rewriter.seen();
            self.tell(seen);
            match flow {
                Err(fault) => {
                    // With something to show, the client learns of the fault after it.
                    if !seen.data {
                        return Poll::Ready(Looked::Fault(fault));
                    }
                    self.fail(fault);
                    return Poll::Ready(Looked::Event(seen));
                }
                Ok(ControlFlow::Break(())) if ended || self.told.is_some() => {
                    self.state = State::Over;
                    return Poll::Ready(Looked::End(seen));
                }
                Ok(ControlFlow::Break(())) => {
                    self.state = State::Farewell(Box::pin(tokio::time::sleep(FAREWELL)));
                    return Poll::Ready(Looked::Event(seen));
                }
                Ok(ControlFlow::Continue(())) if self.ready.len() > before => {
                    return Poll::Ready(Looked::Event(seen));
                }
                Ok(ControlFlow::Continue(())) => {}
            }
        }
    }

    fn pump(&mut self) -> Result<ControlFlow<()>, BodyError> {
        let Self {
            framing,
            rewriter,
            ready,
            ..
        } = self;
        let flow = match framing {
            Framing::Events(framer) => pump(framer, rewriter, ready).map_err(|error| match error {
                PumpError::Framing(error) => unsplit(error),
                PumpError::Rewrite(fault) => unpassed(fault),
            }),
            Framing::Messages(stream) => messages(stream, rewriter, ready),
            Framing::Elements(split) => elements(split, rewriter, ready),
        };
        self.told = self
            .told
            .take()
            .or_else(|| self.rewriter.take_broken().map(unpassed));
        flow
    }

    /// The head has been sent, or will be: the client is told in an event, then its body breaks off, unless its protocol has a
    /// way to say so.
    fn fail(&mut self, fault: BodyError) {
        if self.rewriter.break_off(&mut self.ready) {
            self.told = Some(fault);
            self.state = State::Over;
            return;
        }
        self.state = State::Failing {
            told_next: false,
            fault: Some(fault),
        };
    }

    fn take_ready(&mut self) -> Option<Frame<Bytes>> {
        (!self.ready.is_empty()).then(|| Frame::data(Bytes::from(std::mem::take(&mut self.ready))))
    }

    /// True when more is held back for the first word of an answer than may be.
    pub(super) fn holds_enough(&self) -> bool {
        self.ready.len() > HELD
    }

    /// What the provider has counted so far.
    pub(crate) fn usage(&self) -> Option<Usage> {
        match &self.rewriter {
            Rewrites::Translated(rewriter) => rewriter.usage(),
            Rewrites::Native(rewriter) => rewriter.usage().or_else(|| self.tap.usage()),
            Rewrites::Clean(_) => self.tap.usage(),
        }
    }

    /// What will be told after what is still to be sent.
    pub(crate) fn fault(&self) -> Option<&BodyError> {
        match &self.state {
            State::Failing { fault, .. } => fault.as_ref(),
            _ => self.told.as_ref(),
        }
    }

    /// True when the client has everything, though the provider's own end may not have come.
    pub(crate) fn has_said_all(&self) -> bool {
        matches!(self.state, State::Over | State::Farewell(_)) && self.ready.is_empty()
    }

    /// True when nothing more will come.
    pub(crate) fn is_end(&self) -> bool {
        matches!(self.state, State::Over) && self.ready.is_empty()
    }

    pub(crate) fn poll_frame(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        loop {
            if let Some(frame) = self.take_ready() {
                return Poll::Ready(Some(Ok(frame)));
            }
            match &mut self.state {
                State::Over => return Poll::Ready(None),
                State::Failing {
                    told_next: told_next @ false,
                    ..
                } => {
                    *told_next = true;
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                State::Failing { fault, .. } => {
                    let fault = fault.take();
                    self.state = State::Over;
                    return Poll::Ready(fault.map(Err));
                }
                State::Farewell(clock) => {
                    let over = match Pin::new(&mut self.upstream).poll_frame(cx) {
                        Poll::Ready(Some(Ok(_))) => continue, // what follows the end marker is ignored
                        Poll::Ready(_) => true,
                        Poll::Pending => clock.as_mut().poll(cx).is_ready(),
                    };
                    if !over {
                        return Poll::Pending;
                    }
                    self.state = State::Over;
                }
                State::Open => match std::task::ready!(self.poll_look(cx)) {
                    Looked::Event(_) | Looked::End(_) => {}
                    Looked::Fault(fault) => self.fail(fault),
                },
            }
        }
    }
}

/// Passes all messages that are there through the rewriter.
fn messages(
    stream: &mut EventStream,
    rewriter: &mut Rewrites,
    ready: &mut Vec<u8>,
) -> Result<ControlFlow<()>, BodyError> {
    for message in stream.by_ref() {
        let message = message.map_err(unsplit)?;
        let Rewrites::Translated(rewriter) = rewriter else {
            return Ok(ControlFlow::Continue(()));
        };
        if rewriter
            .message(&message, ready)
            .map_err(unpassed)?
            .is_break()
        {
            return Ok(ControlFlow::Break(()));
        }
    }
    ended(stream.is_finished(), rewriter, ready)
}

/// Passes all elements that are there through the rewriter.
fn elements(
    split: &mut Elements,
    rewriter: &mut Rewrites,
    ready: &mut Vec<u8>,
) -> Result<ControlFlow<()>, BodyError> {
    for element in std::mem::take(&mut split.pending) {
        let flow = match rewriter {
            Rewrites::Translated(rewriter) => rewriter.payload("", &element, ready),
            Rewrites::Native(rewriter) => rewriter.element(element.as_bytes(), ready),
            Rewrites::Clean(_) => Ok(ControlFlow::Continue(())),
        };
        if flow.map_err(unpassed)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    if let Some(error) = split.broken {
        return Err(unsplit(error));
    }
    ended(split.finished, rewriter, ready)
}

fn ended(
    finished: bool,
    rewriter: &mut Rewrites,
    ready: &mut Vec<u8>,
) -> Result<ControlFlow<()>, BodyError> {
    if !finished {
        return Ok(ControlFlow::Continue(()));
    }
    rewriter.end(ready).map_err(unpassed)?;
    Ok(ControlFlow::Break(()))
}

fn unsplit<E>(error: E) -> BodyError
where
    E: std::error::Error + Send + Sync + 'static,
{
    tracing::error!(%error, "a provider's stream cannot be split into events");
    error.into()
}

fn unpassed(fault: StreamFault) -> BodyError {
    tracing::error!(error = %fault, "a provider's stream cannot be passed on");
    fault.into()
}
