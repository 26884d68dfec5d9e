//! The end of the process: probes fail first, then the door closes, and the last response ends it.
//!
//! | when | new requests | running ones |
//! |---|---|---|
//! | first signal | served for the delay, while `/readyz` already says `draining` | served |
//! | delay over, or second signal | connection refused | run to the end of their bodies |
//! | all ended | | [`Ending::Drained`] |
//! | the timeout after that, or third signal | | cut off: [`Ending::Cut`], [`Ending::Hurried`] |
//!
//! The delay exists because a load balancer needs a moment to see the failing probe; without it, connections it
//! still opens would be refused. The timeout counts from the end of the delay.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::sleep;

use crate::listen::{Drained, Listener};

/// How long the operators' port may take to close after the clients' port has.
const SIDE_DOOR_LIMIT: Duration = Duration::from_secs(5);

/// Whether new requests should be sent here. Clones share the state, and there is no way back.
#[derive(Debug, Clone, Default)]
pub(crate) struct Readiness(Arc<AtomicBool>);

impl Readiness {
    /// True until [`Readiness::drain`].
    pub(crate) fn is_ready(&self) -> bool {
        !self.0.load(Ordering::Relaxed)
    }

    /// Tells probes to send nothing more.
    pub(crate) fn drain(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Requests to stop, one at a time.
pub(crate) trait Stops {
    /// Completes with the next one; dropping the future loses none.
    fn next(&mut self) -> impl Future<Output = ()> + Send;
}

/// SIGTERM and SIGINT.
#[derive(Debug)]
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// From here on both signals are taken, not deadly.
    ///
    /// # Errors
    /// The system refuses a handler.
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }
}

impl Stops for Signals {
    async fn next(&mut self) {
        let ended = tokio::select! {
            got = self.terminate.recv() => got.is_none(),
            got = self.interrupt.recv() => got.is_none(),
        };
        if ended {
            std::future::pending::<()>().await;
        }
    }
}

/// How long each phase takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// From the first signal to the closing of the door; zero is allowed.
    pub(crate) delay: Duration,
    /// From then to the forced end.
    pub(crate) timeout: Duration,
}

/// How the gateway ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Every response was sent to its end.
    Drained,
    /// The deadline passed with so many connections still busy.
    Cut(usize),
    /// A third signal ended it at once.
    Hurried,
    /// A listener stopped by itself; running requests were still drained if possible.
    Broken,
}

/// Serves until told to stop, then ends in order.
pub(crate) async fn run(
    stops: &mut impl Stops,
    readiness: &Readiness,
    plan: Plan,
    mut clients: Listener,
    mut operators: Listener,
) -> Ending {
    let broken = tokio::select! {
        () = stops.next() => false,
        () = clients.broken() => true,
        () = operators.broken() => true,
    };
    readiness.drain();
    let mut signals_left = 2;
    if broken {
        tracing::error!("a listener stopped by itself; draining");
    } else {
        tracing::info!(
            delay_secs = plan.delay.as_secs_f64(),
            "stopping: probes fail, requests are still served"
        );
        tokio::select! {
            () = sleep(plan.delay) => {}
            () = stops.next() => {
                signals_left = 1;
                tracing::info!("second signal: the delay is cut short");
            }
        }
    }
    tracing::info!(
        timeout_secs = plan.timeout.as_secs_f64(),
        "draining: no new connections"
    );
    let hurried = async {
        for _ in 0..signals_left {
            stops.next().await;
        }
    };
    let drained = tokio::select! {
        drained = clients.drain(plan.timeout) => drained,
        () = hurried => {
            tracing::warn!("third signal: ending at once");
            return Ending::Hurried;
        }
    };
    operators.drain(SIDE_DOOR_LIMIT).await;
    match drained {
        Drained { cut: 0 } if broken => Ending::Broken,
        Drained { cut: 0 } => Ending::Drained,
        Drained { cut } => Ending::Cut(cut),
    }
}

#[cfg(test)]
mod tests;
