//! Token counts of an answer, read from its bytes as they pass.
//!
//! Providers say what a request used in an object named `usage`: once in a unary answer, in the last events of a stream, or in
//! all of them. [`Tap`] is shown the bytes on their way to the client, cut anywhere, finds those objects by their name and keeps
//! their counts. It frames no events, parses nothing else, and never changes a byte.
//!
//! It does not estimate: without an object there is no [`Usage`]. It does not undo compression, and it does not know who is
//! asking or what a token costs.
//!
//! ```
//! use onwards_usage::Tap;
//!
//! let mut tap = Tap::default();
//! for piece in ["data: {\"choices\":[],\"usa", "ge\":{\"prompt_tokens\":9,\"completion_to", "kens\":4}}\n\n"] {
//!     tap.read(piece.as_bytes());
//! }
//! let usage = tap.usage().unwrap();
//! assert_eq!((usage.prompt, usage.completion, usage.cached), (Some(9), Some(4), None));
//! ```
//!
//! # Invariants
//!
//! - The counts do not depend on where the input is cut (`tests/properties.rs`).
//! - A read costs one search for the name, and allocates only for an object that the cut goes through.
//! - No more than [`MOST`] bytes are kept; an object that is larger counts nothing.
//! - Nothing panics on any input.

mod counts;
mod tap;

pub use counts::Usage;
pub use tap::{MOST, Tap};
