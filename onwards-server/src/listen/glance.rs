//! A look at a client that the protocol does not hear.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use pin_project_lite::pin_project;
use tokio::time::{Instant, Sleep, sleep_until};

use super::traffic::Traffic;

/// How often the socket is looked at.
const GLANCE: Duration = Duration::from_secs(1);

pin_project! {
    /// Ends when a client has left in the middle of a request, and the protocol could not notice since it does not read: the
    /// client has sent more than the request. Costs nothing while the protocol reads.
    pub(super) struct Glance<'t> {
        #[pin]
        next: Sleep,
        traffic: &'t Traffic,
        unheard: bool,
    }
}

impl<'t> Glance<'t> {
    pub(super) fn at(traffic: &'t Traffic) -> Self {
        Self {
            next: sleep_until(Instant::now() + GLANCE),
            traffic,
            unheard: false,
        }
    }
}

impl Future for Glance<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut this = self.project();
        let before = std::mem::replace(this.unheard, this.traffic.is_unheard());
        if !*this.unheard {
            return Poll::Pending;
        }
        if !before {
            this.next.as_mut().reset(Instant::now() + GLANCE);
        }
        ready!(this.next.as_mut().poll(cx));
        if this.traffic.is_closed() {
            return Poll::Ready(());
        }
        this.traffic.ask();
        this.next.as_mut().reset(Instant::now() + GLANCE);
        cx.waker().wake_by_ref(); // the connection looks when it is polled
        this.next.poll(cx)
    }
}
