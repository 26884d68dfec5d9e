//! Streams of Gemini's where the provider, or the client, has one JSON array in the place of events.

use std::ops::ControlFlow;

use onwards_dialects::{Failure, Shown, Step};
use onwards_sse::Event;

use super::NativeStream;
use crate::answer::rewrite::StreamFault;

impl NativeStream {
    /// One event for a client that wants an array.
    pub(super) fn event_as_element(
        &mut self,
        event: &Event,
        data: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<ControlFlow<()>, StreamFault> {
        let whole = || {
            let text = std::str::from_utf8(data).ok();
            text.and_then(onwards_dialects::text::value).is_some()
        };
        // What stands at the end without its blank line counts if it is whole (spec providers 3.0.7).
        if data.trim_ascii() == b"[DONE]" || !(event.is_terminated() || whole()) {
            return Ok(ControlFlow::Continue(()));
        }
        self.element(data, out)
    }

    /// One element: an answer in part.
    pub(crate) fn element(
        &mut self,
        element: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<ControlFlow<()>, StreamFault> {
        self.scratch.clear();
        let (step, shown) = match self.events.payload(element, &mut self.scratch) {
            Ok(passed) => passed,
            Err(unreadable) => {
                return self.unreadable(StreamFault::Unreadable(unreadable.why), out);
            }
        };
        if let Step::Failed(failure) = step {
            return Ok(self.failed(failure, out));
        }
        self.content |= self.events.seen_content();
        let array = self.native.array;
        if array {
            self.next(out);
        }
        let payload = match shown {
            Shown::Changed => &self.scratch,
            Shown::Same | Shown::Nothing => element,
        };
        if array {
            out.extend_from_slice(payload);
        } else {
            out.extend_from_slice(b"data: ");
            // Between the members of JSON a line break is a blank, and within them there is none.
            out.extend(payload.iter().map(|byte| match byte {
                b'\r' | b'\n' => b' ',
                byte => *byte,
            }));
            out.extend_from_slice(b"\n\n");
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The error as the last element.
    pub(super) fn fail_array(&mut self, failure: &Failure, out: &mut Vec<u8>) {
        let mut told = String::new();
        let (protocol, request_id) = (self.native.protocol, &self.native.request_id);
        protocol.write_failure(failure, request_id, &mut told);
        self.next(out);
        out.extend_from_slice(told.as_bytes());
        out.push(b']');
    }

    /// The array is whole.
    pub(super) fn end_array(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.begun, true) {
            out.push(b'[');
        }
        out.push(b']');
        self.over = true;
    }

    /// What stands before an element.
    fn next(&mut self, out: &mut Vec<u8>) {
        let begun = std::mem::replace(&mut self.begun, true);
        out.extend_from_slice(if begun { b",\n" } else { b"[" });
    }
}
