//! JSON text as spans: one validating pass, members by place, edits spliced into the original bytes.
//!
//! A gateway mostly forwards the bytes it was given. It has to know that they are JSON, read a few
//! members and now and then change one. This crate does that without building a tree: a text is
//! validated in one forward pass, values are slices of it, and an edit is a list of splices, so all
//! bytes an edit does not name stay what they were (number spelling, member order, white space).
//!
//! It owns the grammar (RFC 8259), spans, decoding and quoting of strings, and edits by path. It does
//! not own schemas, typed deserialization, pretty printing or streaming over partial text.
//!
//! ```
//! use onwards_json::{Edit, apply, object, quote, splices};
//!
//! let text = br#"{ "model": "fast", "temperature": 1e0, "messages": [] }"#;
//! let body = object(text)?;
//! let model = body.get("model")?.and_then(|member| member.value().as_str());
//! assert_eq!(model.as_deref(), Some("fast"));
//!
//! let edit = Edit::Set { path: &["model"], value: &quote("vendor/fast-1") };
//! let changed = apply(text, &splices(&body, &[edit])?);
//! assert_eq!(changed, br#"{ "model": "vendor/fast-1", "temperature": 1e0, "messages": [] }"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Invariants
//!
//! - What is accepted is what `serde_json` accepts into its value type: UTF-8 without a byte order mark,
//!   nesting up to [`MAX_DEPTH`], numbers a double can hold, no unpaired surrogate escapes, nothing after
//!   the value but white space (`tests/differential.rs`). Two differences, both stated: repeated names are
//!   accepted and reported by [`Object::get`]; an [`Object`] holds at most [`MAX_MEMBERS`] members.
//! - No function recurses on the depth of its input, and none panics on any input.
//! - Time is linear in the text; the scan allocates nothing, an [`Object`] one list of its members.
//! - An edit leaves every byte outside the members it names, and its result is valid JSON.

mod block;
mod edit;
mod error;
mod key;
mod numbers;
mod object;
mod scanner;
mod string;
mod value;
mod walk;

pub use edit::{Edit, EditError, Splice, apply, splices};
pub use error::{Expected, ScanError};
pub use key::Key;
pub use object::{Duplicate, MAX_MEMBERS, Member, Object, object};
pub use scanner::Scanner;
pub use string::{Text, quote, quote_into, string_len};
pub use value::{Elements, Kind, Members, Value};
pub use walk::MAX_DEPTH;
