//! The canonical efforts, in their order.

use std::fmt;

/// How hard the model should think, weakest first. The order is the one of error messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effort {
    /// No reasoning at all.
    None,
    /// The least that is still reasoning.
    Minimal,
    /// Little.
    Low,
    /// The usual middle.
    Medium,
    /// Much.
    High,
    /// More than high, where a model knows it.
    XHigh,
    /// The most the model can do.
    Max,
}

impl Effort {
    /// Every effort, weakest first.
    pub const ALL: [Self; 7] = [
        Self::None,
        Self::Minimal,
        Self::Low,
        Self::Medium,
        Self::High,
        Self::XHigh,
        Self::Max,
    ];

    /// The effort a client's text names; exact, lower case, no spaces around it.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effort| effort.name() == name)
    }

    /// The text that stands for it in requests and in the configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
            Self::Max => "max",
        }
    }

    /// The names of `efforts`, comma separated, in the order they come.
    pub(crate) fn list(efforts: impl IntoIterator<Item = Self>) -> String {
        let names: Vec<&str> = efforts.into_iter().map(Self::name).collect();
        names.join(", ")
    }
}

impl fmt::Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
