//! What an operator should hear of: events, handed to whoever makes metrics and log lines of them.

use std::fmt;
use std::time::Duration;

/// Hears every [`Event`], on the task where it happens: it must neither block nor take long.
///
/// Closures and function pointers are observers; `()` hears nothing.
pub trait Observer: Send + Sync {
    /// Takes note of one event.
    fn event(&self, event: &Event);
}

/// Something happened between this process and the store.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The store counts as away from here on: no call goes to it until [`Event::Back`].
    Away(Reason),
    /// The store answers; also the first time.
    Back {
        /// How long it was away, or the time since the start.
        after: Duration,
    },
    /// One call had no answer within the bound.
    TimedOut,
    /// One call was answered by an error; this code says which.
    Faulted {
        /// The store's error code, such as `READONLY` or `OOM`.
        code: String,
    },
    /// One request was decided without the store, as [`WhenAway`](crate::WhenAway) says.
    Alone {
        /// Whether it was let through.
        admitted: bool,
    },
    /// Leases had run out, or the store had lost them, while their requests still ran. They are taken anew, so a count
    /// may stand above its limit until requests end.
    LeaseLost {
        /// How many.
        count: u64,
    },
    /// The queue was full: a slot is left to its lease, or a token not given back.
    Unsent,
}

/// Why the store counts as away.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// Several calls in a row had no answer within the bound.
    TimedOut,
    /// It answers, but slower than the bound.
    Slow {
        /// Time the answer took.
        took: Duration,
    },
    /// It answers with errors; the code of the last one.
    Server {
        /// The store's error code, such as `READONLY` or `NOAUTH`.
        code: String,
    },
    /// There is no connection; the system's words, without address and password.
    Unreachable {
        /// The text, at most 200 bytes.
        problem: String,
    },
}

impl Reason {
    pub(crate) fn of(error: &redis::RedisError) -> Self {
        if error.is_timeout() {
            Self::TimedOut
        } else if let Some(code) = error.code() {
            Self::Server { code: short(code) }
        } else {
            Self::Unreachable {
                problem: short(&error.to_string()),
            }
        }
    }
}

pub(crate) fn short(text: &str) -> String {
    let mut end = text.len().min(200);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default().to_owned()
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimedOut => f.write_str("no answer in time"),
            Self::Slow { took } => write!(f, "answers only after {took:?}"),
            Self::Server { code } => write!(f, "answers {code}"),
            Self::Unreachable { problem } => f.write_str(problem),
        }
    }
}

impl<F: Fn(&Event) + Send + Sync> Observer for F {
    fn event(&self, event: &Event) {
        self(event);
    }
}

impl Observer for () {
    fn event(&self, _: &Event) {}
}
