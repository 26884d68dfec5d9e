//! Requests signed with Signature Version 4, and event streams in Amazon's binary framing, without I/O.
//!
//! [`Signer`] says which headers a request needs so that a service accepts it: the time is an argument, the body is shown as
//! the pieces that are sent. [`Skew`] is how far the service's clock is ahead, for the one time that a request is signed again.
//! [`EventStream`] takes the bytes of an `application/vnd.amazon.eventstream` body, cut anywhere, and gives its [`Message`]s.
//!
//! It does not find credentials, know a service or a model, send anything, or read what a message carries.
//!
//! ```
//! use std::time::Duration;
//! use bytes::Bytes;
//! use onwards_aws::{BodyHash, Credentials, EventStream, Kind, Message, Request, Signer};
//!
//! let credentials = Credentials::new("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", None)?;
//! let signer = Signer::new("us-east-1", "execute-api", credentials)?;
//! let request = Request {
//!     method: "POST",
//!     host: "api.example.com",
//!     path: "/model/a%3A0/converse",
//!     query: "",
//!     headers: &[("content-type", "application/json")],
//!     body: BodyHash::of([&b"{\"messages\":"[..], b"[]}"]),
//! };
//! let signed = signer.sign(&request, Duration::from_secs(1_768_478_400))?;
//! assert_eq!(signed.date(), "20260115T120000Z");
//!
//! let wire = Message::event("messageStart", "{\"role\":\"assistant\"}").encode()?;
//! let (front, rear) = wire.split_at(7);
//! let mut stream = EventStream::new(EventStream::MOST);
//! stream.push(front);
//! assert!(stream.next().is_none());
//! stream.push(rear);
//! let message = stream.next().unwrap()?;
//! assert_eq!(message.kind(), Kind::Event("messageStart"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Invariants
//!
//! - No type here shows a secret when it is printed, and signing logs nothing at any level, whatever the crates below do
//!   (`nothing_is_logged`).
//! - The messages do not depend on where the bytes are cut (`tests/properties.rs`).
//! - A length that lies is noticed with the twelve bytes that begin a message, before any of it is waited for.
//! - No more of an unfinished message is held than the limit, beside the piece pushed last.
//! - Nothing panics on any input.

mod event_stream;
mod signer;
mod skew;

pub use event_stream::{Broken, Defect, EventStream, Kind, Message, Unwritable};
pub use signer::{BodyHash, Credentials, Request, SignError, Signed, Signer, Unusable};
pub use skew::Skew;
