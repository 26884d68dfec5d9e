//! OpenAI's contract as tables: request checks, answer and chunk cleaning, error masking.
//!
//! A gateway in strict mode refuses requests that do not fit, and rebuilds what a provider answers so that
//! only the contract's members reach the caller, with the model name the caller used. This crate decides
//! about payload bytes. It owns the tables, one engine that walks a text along them, the standard error
//! texts, and the catalog of parameters that not every engine honours. It does not own HTTP, event framing,
//! routing, reasoning controls, time or randomness: names, ids and times come in as arguments.
//!
//! ```
//! use onwards_strict::{Cleaned, Cleaner, Context, Endpoint, check};
//!
//! let request = br#"{"model": "fast", "messages": [{"role": "user", "content": 5}]}"#;
//! let defect = check(Endpoint::Chat, request).unwrap_err();
//! assert_eq!(
//!     defect.message(),
//!     "Invalid request: `messages[0].content` must be a string or an array of objects, found a number.",
//! );
//!
//! let context = Context { model: "fast", unique: "6f1c", created: 0, trusted: false };
//! let cleaner = Cleaner::new(Endpoint::Chat, &context);
//! let chunk = br#"{"id":"x","cost":0.2,"choices":[{"delta":{"content":"Hi","node":7}}],"model":"vendor-1"}"#;
//! let mut out = Vec::new();
//! let cleaned = cleaner.clean_chunk(chunk, 0, &mut out)?;
//! assert!(matches!(cleaned, Cleaned::Answer(facts) if facts.choices && !facts.finished));
//! assert_eq!(
//!     out,
//!     br#"{"id":"x","choices":[{"delta":{"content":"Hi"},"index":0,"finish_reason":null}],"model":"fast","object":"chat.completion.chunk","created":0}"#,
//! );
//! # Ok::<(), onwards_strict::Malformed>(())
//! ```
//!
//! # Invariants
//!
//! - One pass, no value tree: kept pieces are copied as they stand, so numbers keep their digits.
//! - What a [`Stream`] makes of a chunk is what its cleaner makes of it alone (`src/stream/tests.rs`).
//! - What fails leaves the output as it was. No message quotes a value of a request or an answer.
//! - A valid OpenAI answer loses nothing but nulls the tables drop; cleaning twice changes nothing.
//! - Unknown kinds of Responses items, tools and events are kept whole and are no failure.
//! - A member that a table names and that is there twice fails, in requests and in answers: readers differ
//!   on which one counts.
//! - No function panics on any input, and recursion is bounded by the tables.

pub mod catalog;
mod check;
mod clean;
mod contract;
mod edits;
mod endpoint;
pub mod errors;
mod fault;
mod schema;
mod stream;
mod walk;

pub use check::{Checked, Defect, DefectKind, check};
pub use clean::{Cleaned, Cleaner, Context, Facts, Malformed};
pub use contract::contract_table;
pub use endpoint::Endpoint;
pub use fault::Found;
pub use stream::Stream;
