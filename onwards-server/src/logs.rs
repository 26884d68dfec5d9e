//! Where log lines go: standard error, as text for people or JSON for collectors.
//!
//! `RUST_LOG` filters them, `info` if it is not set. A filter that cannot be read is reported and `info` is used:
//! a typing error in a deployment must not keep the gateway from starting. A log line that cannot be written is lost;
//! serving requests matters more.
//!
//! The crates that watch files log what they see below info. A log file in a watched directory would then feed itself, so they
//! stay at info unless the filter names them.
//!
//! A panic is logged by its place alone: its text can quote what was handled, down to a prompt.

use std::env::VarError;
use std::io::{IsTerminal, stderr};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::{Directive, LevelFilter, ParseError};

/// Who logs about every event of a watched directory.
const WATCHERS: [&str; 3] = ["inotify", "mio", "notify"];

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
            Ok(filter) => (capped(filter, &text), None),
            Err(error) => (default(), Some(ParseError::to_string(&error))),
        },
        Err(VarError::NotPresent) => (default(), None),
        Err(error @ VarError::NotUnicode(_)) => (default(), Some(error.to_string())),
    }
}

/// The filter with the watchers at info, where it lets them say more and does not name them.
fn capped(filter: EnvFilter, text: &str) -> EnvFilter {
    let parts = || text.split(',').map(str::trim);
    let general: Option<LevelFilter> = parts().filter_map(|part| part.parse().ok()).max();
    if general.is_none_or(|level| level <= LevelFilter::INFO) {
        return filter;
    }
    let is_named = |watcher: &str| {
        parts().any(|part| {
            let target = part.split(['=', '[']).next().unwrap_or_default();
            target.split("::").next() == Some(watcher)
        })
    };
    WATCHERS
        .iter()
        .filter(|watcher| !is_named(watcher))
        .filter_map(|watcher| format!("{watcher}=info").parse::<Directive>().ok())
        .fold(filter, EnvFilter::add_directive)
}

#[cfg(test)]
mod tests;
