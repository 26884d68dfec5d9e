//! Canonical reasoning effort translated into provider edits, and its budget rules.
//!
//! Clients say how hard a model should think in one vocabulary of seven efforts. Providers want it said in
//! their own members: another name, a boolean, a number of tokens, or several of these at once. This crate
//! owns the vocabulary, the checks of a request against it, and the rules an operator's translation must keep.
//!
//! It does not own the request: the caller hands in the raw text of the few top-level members named by
//! [`Surface::members`], and gets back [`Edit`]s to apply to its own document. There is no I/O, no clock and no
//! logging here, and nothing of the configuration's file format beyond the plain data of [`Spec`].
//!
//! ```
//! use onwards_reasoning::{Controls, Spec, Surface, SurfaceSpec, Translation, WriteSpec};
//!
//! let think = |on: bool| serde_json::Value::Bool(on);
//! let efforts = ["minimal", "low", "medium", "high", "xhigh", "max"];
//! let mut values: std::collections::BTreeMap<_, _> = efforts.map(|e| (e.to_owned(), think(true))).into();
//! values.insert("none".to_owned(), think(false));
//! let spec = Spec {
//!     chat_completions: Some(SurfaceSpec {
//!         unsupported_efforts: vec![],
//!         writes: vec![WriteSpec { target_path: "/thinking".to_owned(), values }],
//!     }),
//!     responses: None,
//! };
//! let translation = Translation::new(&spec).expect("all rules are kept");
//!
//! let member = |name: &str| (name == "reasoning_effort").then_some(r#""high""#);
//! let ask = Controls::of(Surface::ChatCompletions, member).ask().expect("a valid effort").expect("present");
//! assert_eq!(translation.check(&ask), Ok(()));
//! let edits: Vec<String> = translation.edits(&ask).iter().map(ToString::to_string).collect();
//! assert_eq!(edits, ["remove /reasoning_effort", "set /thinking = true"]);
//! ```
//!
//! # Invariants
//!
//! - A request without an effort (absent or null) is never refused and never edited.
//! - Whatever passes [`Translation::new`] can be carried out: no rule of the translation is looked at again per
//!   request, and [`Translation::edits`] only hands out a slice.
//! - Edits are disjoint: no path is edited twice, and no edit lies inside what another one replaces.
//! - A refusal never echoes more than [`refusal::ECHO_CHARS`] characters of a client's value.

pub mod refusal;

mod controls;
mod edit;
mod effort;
mod rules;
mod spec;
mod surface;
mod translation;

pub use controls::{Ask, Controls, Limit};
pub use edit::Edit;
pub use effort::Effort;
pub use refusal::Refusal;
pub use spec::{Spec, SurfaceSpec, Violation, WriteSpec};
pub use surface::Surface;
pub use translation::Translation;

#[cfg(test)]
mod tests;
