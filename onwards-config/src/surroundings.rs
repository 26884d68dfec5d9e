//! What a file means only together with the world around it.

use std::io;

use crate::gateway::ReasoningTranslation;

/// What reading a file asks of its caller.
///
/// The crate itself reads neither the environment nor a disk, and imports no rules of other crates. `()` knows no variable and
/// no file, and is content with every translation and parameter.
pub trait Surroundings {
    /// The value of an environment variable, for `${NAME}`; `None` when it is unset or not Unicode.
    fn env(&self, name: &str) -> Option<String>;

    /// The content of a file, for `${file:PATH}`; one trailing line end is cut off by the reader, not here.
    ///
    /// # Errors
    /// Whatever kept the file from being read. Only the kind of the error is reported.
    fn file(&self, path: &str) -> io::Result<String>;

    /// The rules that a translation breaks, in any order. A surface whose shape is wrong is missing from it, and a translation
    /// that would be empty for this reason is not asked about.
    fn translation_problems(&self, translation: &ReasoningTranslation) -> Vec<BrokenRule> {
        let _unjudged = translation;
        Vec::new()
    }

    /// Whether a name can stand in `rejected_params`.
    fn knows_parameter(&self, name: &str) -> bool {
        let _unjudged = name;
        true
    }
}

impl Surroundings for () {
    fn env(&self, _name: &str) -> Option<String> {
        None
    }

    fn file(&self, _path: &str) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }
}

/// A rule of the surroundings that a part of the file breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenRule {
    /// Where, from the part on: `chat_completions.writes[0].values.low`; empty for the part as a whole.
    pub path: String,
    /// What is there; reads on after "found".
    pub found: String,
    /// What is allowed there; reads on after "expected".
    pub expected: String,
}
