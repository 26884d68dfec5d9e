//! The first look into a strict stream, before its head is sent: up to the first decisive event (spec F.8).
//!
//! Nothing has reached the client then, so an error, an empty answer or a stalled provider can still be dealt with. An event is
//! decisive when it has data; comments are not. Where the provider's dialect is known, it is decisive when it has something of an
//! answer (spec providers 2), and what is held back until then is bounded. With a first-token deadline, only that ends the look. Without one, it ends after
//! four events without data; or after two seconds, and then only after four more events or thirty seconds in all. What was read
//! so far is never lost, and no client waits for more than the first decisive event.

use std::time::Duration;

use http::Response;
use http::response::Parts;
use tokio::time::{Instant, timeout_at};

use super::stream::{CleanStream, Looked};
use super::{Look, Opened};
use crate::body::Body;
use crate::transport::TransportError;

/// Events without data after which the look ends.
const PATIENT_EVENTS: usize = 4;
/// How long the look lasts while events without data are few.
const SHORT: Duration = Duration::from_secs(2);
/// How long it lasts at most.
const LONG: Duration = Duration::from_secs(30);

/// Looks into the stream and prepares what the client gets.
pub(super) async fn open(mut stream: CleanStream, head: Parts, look: &mut Look) -> Opened {
    let mut patience = Patience::new(look.deadline);
    let error = loop {
        match timeout_at(patience.until, stream.look()).await {
            Err(_) => match patience.over() {
                Over::Late => {
                    look.observation = stream.observed();
                    return Opened::Late;
                }
                Over::Enough => break None,
                Over::NotYet => {}
            },
            Ok(Looked::Event(seen) | Looked::End(seen)) if seen.data => {
                if seen.content && seen.error.is_none() {
                    look.first_frame = Some(look.begun.elapsed());
                }
                break seen.error;
            }
            Ok(Looked::Event(seen)) if patience.enough(seen.without_data) => break None,
            Ok(Looked::Event(_)) if stream.holds_enough() => break None,
            Ok(Looked::Event(_)) => {}
            Ok(Looked::End(_)) => return Opened::Empty,
            Ok(Looked::Fault(fault)) if stream.is_malformed(&fault) => return Opened::Malformed,
            Ok(Looked::Fault(fault)) => return Opened::Unreadable(TransportError::Broken(fault)),
        }
    };
    if let Some((status, response)) = stream.refused() {
        return Opened::Embedded { status, response };
    }
    let response = Response::from_parts(head, Body::clean(stream));
    match error {
        Some(status) => Opened::Embedded { status, response },
        None => Opened::Ready(response),
    }
}

/// How long the look goes on.
struct Patience {
    until: Instant,
    begun: Instant,
    deadline: bool,
    /// Events without data so far, and how many of them had come when the wait began anew.
    events: usize,
    before: usize,
}

/// What a passed time means.
enum Over {
    Late,
    Enough,
    NotYet,
}

impl Patience {
    fn new(deadline: Option<Instant>) -> Self {
        let begun = Instant::now();
        Self {
            until: deadline.unwrap_or(begun + SHORT),
            begun,
            deadline: deadline.is_some(),
            events: 0,
            before: 0,
        }
    }

    fn over(&mut self) -> Over {
        if self.deadline {
            return Over::Late;
        }
        if self.until < self.begun + LONG {
            self.until = self.begun + LONG;
            self.before = self.events;
            return Over::NotYet;
        }
        Over::Enough
    }

    /// Counts the events without data; true when there have been enough of them.
    fn enough(&mut self, events: usize) -> bool {
        self.events = events;
        !self.deadline && events - self.before >= PATIENT_EVENTS
    }
}
