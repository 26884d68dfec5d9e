//! Server-sent events: an incremental framer, a writer and a rewrite seam, without I/O.
//!
//! Bytes go in as they come off the wire, cut anywhere; whole events come out, each with its bytes and
//! readers for its fields. [`Frame`] writes events. [`Rewrite`] is what stands between the two: one event
//! in, none or several out, and an end.
//!
//! The grammar is that of the WHATWG HTML standard, section "Server-sent events": lines end in LF, CR or
//! CRLF, also mixed; an empty line ends an event; one byte order mark before the first line is dropped.
//! It does not own connections, reconnection, decoding of text (payloads are bytes), or any knowledge of
//! what an event carries.
//!
//! ```
//! use bytes::Bytes;
//! use onwards_sse::Framer;
//!
//! let mut framer = Framer::new(65_536);
//! let mut payloads = Vec::new();
//! for chunk in ["data: {\"a\":", "1}\r\n\r", "\n: ping\n\ndata: [DONE]\n\n"] {
//!     framer.push(Bytes::from_static(chunk.as_bytes()));
//!     for event in &mut framer {
//!         payloads.extend(event?.data().map(|data| data.into_owned()));
//!     }
//! }
//! assert_eq!(payloads, [&b"{\"a\":1}"[..], b"[DONE]"]);
//! # Ok::<(), onwards_sse::FramingError>(())
//! ```
//!
//! # Invariants
//!
//! - The events do not depend on where the input is cut (`tests/properties.rs`).
//! - An event is given as soon as its last byte is there, and every byte is looked for an end once: time
//!   is linear in the input whatever the cuts.
//! - An event that lies within one chunk is a slice of it; only one that was cut is copied, once.
//! - No more than the limit is ever held of an unfinished event, and going over it is an error, never an
//!   end. What was complete before it is still given.
//! - Nothing panics on any input.

mod event;
mod frame;
mod framer;
mod rewrite;

pub use event::{Event, Field, Fields};
pub use frame::{Frame, FrameError};
pub use framer::{Framer, FramingError};
pub use rewrite::{PumpError, Rewrite, pump};
