//! The first look into a strict stream, before its head is sent: up to the first decisive event (spec F.8).
//!
//! Nothing has reached the client then, so an error or an empty answer can still be dealt with as one. An event is
//! decisive when it has data; comments are not. The look ends after four events without data; or after two seconds, and then
//! only after four more events or thirty seconds in all. What was read so far is never lost, and no client waits for more than
//! the first decisive event.

use std::time::Duration;

use http::Response;
use http::response::Parts;
use tokio::time::{Instant, timeout_at};

use super::stream::{CleanStream, Looked, is_malformed};
use super::{Lead, Opened};
use crate::body::Body;
use crate::transport::TransportError;

/// Events without data after which the look ends.
const PATIENT_EVENTS: usize = 4;
/// How long the look lasts while events without data are few.
const SHORT: Duration = Duration::from_secs(2);
/// How long it lasts at most.
const LONG: Duration = Duration::from_secs(30);

/// Looks into the stream and prepares what the client gets.
pub(super) async fn open(mut stream: CleanStream, head: Parts, lead: &mut Lead, since: Instant) -> Opened {
    let begun = Instant::now();
    let mut deadline = begun + SHORT;
    let mut events = 0;
    let error = loop {
        match timeout_at(deadline, stream.look()).await {
            Err(_) if deadline < begun + LONG => {
                deadline = begun + LONG;
                events = 0;
            }
            Err(_) => break None,
            Ok(Looked::Event(seen) | Looked::End(seen)) if seen.data => {
                if seen.content && seen.error.is_none() {
                    lead.first_frame = Some(since.elapsed());
                }
                break seen.error;
            }
            Ok(Looked::Event(_)) => {
                events += 1;
                if events >= PATIENT_EVENTS {
                    break None;
                }
            }
            Ok(Looked::End(_)) => return Opened::Empty,
            Ok(Looked::Fault(fault)) if is_malformed(&fault) => return Opened::Malformed,
            Ok(Looked::Fault(fault)) => return Opened::Unreadable(TransportError::Broken(fault)),
        }
    };
    let response = Response::from_parts(head, Body::clean(stream));
    match error {
        Some(status) => Opened::Embedded { status, response },
        None => Opened::Ready(response),
    }
}
