//! HTTP/1.x answers of providers, read as bytes: the head, how its body is framed, and the body's payload.
//!
//! Sans I/O: whoever owns the connection reads bytes and hands them in. What this crate owns is the grammar of RFC 9112 for the
//! receiving side of a client, and the refusal of everything that two readers could understand differently: a length and a
//! transfer coding that disagree, two lengths, signs, overflow, folded lines, chunks without their line ends.
//!
//! ```
//! use onwards_http1::{Body, head};
//!
//! let bytes = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n";
//! let (head, length) = head(bytes, &http::Method::GET)?.ok_or("not whole yet")?;
//! assert_eq!(head.status, 200);
//!
//! let mut body = Body::new(head.framing);
//! let mut rest = &bytes[length..];
//! let mut payload = Vec::new();
//! while let Some(run) = body.next(&mut rest)? {
//!     payload.extend_from_slice(run);
//! }
//! assert!(body.is_end() && rest.is_empty());
//! assert_eq!(payload, b"ok");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Invariants
//! - Every cut of the input gives the same answer, or the same error.
//! - A [`Recall`] reads what [`head()`] reads, and keeps no more than a few heads of bounded size.
//! - Nothing else is kept: a [`Body`] is a few words, payload is borrowed from what was handed in.
//! - Heads, chunk lines and trailers are bounded; a longer one is an error.

#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::indexing_slicing,
        clippy::string_slice,
        clippy::panic
    )
)]

mod body;
mod head;
mod recall;

pub use body::{Body, BodyError, Framing};
pub use head::{Head, HeadError, MAX_FIELDS, MAX_HEAD_BYTES, head, is_interim};
pub use recall::{MOST_RECALLED_BYTES, MOST_RECALLED_FIELDS, Recall};
