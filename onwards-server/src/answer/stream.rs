//! A provider's stream rebuilt event by event: all events of one read leave in one write.

use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body as _, Frame};
use onwards_sse::{Framer, PumpError, pump};
use onwards_usage::{Tap, Usage};

use super::rewrite::{Rewriter, Seen, StreamFault};
use crate::body::{BodyError, Silence};
use crate::policy::Observation;
use crate::transport::UpstreamBody;

/// How long a stream that has said `[DONE]` waits for the provider to end it, so that the connection can be used again.
const FAREWELL: Duration = Duration::from_millis(100);

/// The body of a cleaned stream.
#[derive(Debug)]
pub(crate) struct CleanStream {
    upstream: UpstreamBody,
    framer: Framer,
    /// Reads token counts, also those that the client gets no event for.
    tap: Tap,
    rewriter: Rewriter,
    silence: Silence,
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

impl CleanStream {
    pub(super) fn new(
        upstream: UpstreamBody,
        rewriter: Rewriter,
        limit: usize,
        idle_timeout: Option<Duration>,
    ) -> Self {
        Self {
            upstream,
            framer: Framer::new(limit),
            tap: Tap::default(),
            rewriter,
            silence: Silence::new(idle_timeout),
            observation: None,
            ready: Vec::new(),
            state: State::Open,
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
                    self.tap.read(&data);
                    self.framer.push(data);
                    false
                }
                None => {
                    self.framer.finish();
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
                Ok(ControlFlow::Break(())) if ended => {
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
        pump(&mut self.framer, &mut self.rewriter, &mut self.ready).map_err(|error| match error {
            PumpError::Framing(error) => {
                tracing::error!(%error, "a provider's stream cannot be split into events");
                error.into()
            }
            PumpError::Rewrite(fault) => {
                tracing::error!(error = %fault, "a provider's stream cannot be passed on");
                BodyError::from(fault)
            }
        })
    }

    /// The head has been sent, or will be: the client is told in an event, then its body breaks off.
    fn fail(&mut self, fault: BodyError) {
        self.rewriter.break_off(&mut self.ready);
        self.state = State::Failing {
            told_next: false,
            fault: Some(fault),
        };
    }

    fn take_ready(&mut self) -> Option<Frame<Bytes>> {
        (!self.ready.is_empty()).then(|| Frame::data(Bytes::from(std::mem::take(&mut self.ready))))
    }

    /// What the provider has counted so far.
    pub(crate) fn usage(&self) -> Option<Usage> {
        self.tap.usage()
    }

    /// What will be told after what is still to be sent.
    pub(crate) fn fault(&self) -> Option<&BodyError> {
        match &self.state {
            State::Failing { fault, .. } => fault.as_ref(),
            _ => None,
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

/// True for a fault that says that the provider's events are at fault, not the connection they came on.
pub(super) fn is_malformed(fault: &BodyError) -> bool {
    matches!(
        fault.downcast_ref(),
        Some(StreamFault::Malformed(_) | StreamFault::CutOff)
    )
}
