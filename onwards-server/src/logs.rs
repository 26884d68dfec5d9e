//! Where log lines go: standard error, as text for people or JSON for collectors.
//!
//! `RUST_LOG` filters them, `info` if it is not set. A filter that cannot be read is reported and `info` is used:
//! a typing error in a deployment must not keep the gateway from starting. A log line that cannot be written is lost;
//! serving requests matters more.
//!
//! A panic is logged by its place alone: its text can quote what was handled, down to a prompt.

use std::env::VarError;
use std::io::{IsTerminal, stderr};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;

/// The shape of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// One line for people; in colour on a terminal.
    Text,
    /// One JSON object per line.
    Json,
}

/// Starts to log. Later calls change nothing, so an embedder's own subscriber stays.
pub(crate) fn start(format: Format) {
    let (filter, ignored) = filter(std::env::var("RUST_LOG"));
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(stderr)
        .log_internal_errors(false);
    let started = match format {
        Format::Text => lines.with_ansi(stderr().is_terminal()).try_init(),
        Format::Json => lines.json().flatten_event(true).try_init(),
    };
    if started.is_err() {
        tracing::debug!("logs are already set up");
    }
    if let Some(reason) = ignored {
        tracing::warn!(%reason, "RUST_LOG is not a filter; using info");
    }
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(tracing::field::display);
        tracing::error!(place, "a defect of the gateway: please report it");
    }));
}

/// The filter to use, and why the configured one was not.
fn filter(configured: Result<String, VarError>) -> (EnvFilter, Option<String>) {
    let default = || EnvFilter::new("info");
    match configured {
        Ok(text) if text.trim().is_empty() => (default(), None),
        Ok(text) => match EnvFilter::try_new(&text) {
            Ok(filter) => (filter, None),
            Err(error) => (default(), Some(ParseError::to_string(&error))),
        },
        Err(VarError::NotPresent) => (default(), None),
        Err(error @ VarError::NotUnicode(_)) => (default(), Some(error.to_string())),
    }
}

#[cfg(test)]
mod tests;
