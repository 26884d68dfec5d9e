//! Tasks of the workspace, run as `cargo xtask TASK`.
//!
//! The tasks are declared in one block below; each is a module with one public function. Nothing but the Rust toolchain
//! is needed: an optional tool is used if present, and its absence is said. The checks of `lint` that are quick are also
//! tests of this crate, so plain `cargo test` tells the truth.

#![expect(
    clippy::print_stdout,
    reason = "a task runner's output is its standard output"
)]

use anyhow::Result;
use clap::{Parser, Subcommand};

mod bench;
mod clients;
mod examples;
mod fences;
mod fuzz;
mod hygiene;
mod layers;
mod links;
mod lint;
mod metrics;
mod papers;
mod process;
mod schema;
mod sizes;
mod soak;
mod source;
mod suite;
mod workspace;

/// Tasks of the workspace.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Run unit, black-box and doc tests and the examples, of the workspace or of one crate
    Test {
        /// Only this package
        package: Option<String>,
    },
    /// Check formatting, clippy, rustdoc, layers, file sizes, names, hygiene and papers
    Lint,
    /// Write the generated documents: configuration schema and reference, layer table
    Schema {
        /// Compare instead of writing; fail on a difference
        #[arg(long)]
        check: bool,
    },
    /// Count instructions and time of a stone's work and of requests end to end, and compare them with benches/record
    Bench {
        /// Only this package, or `e2e`: the release binary between clients and a provider on this machine
        part: Option<String>,
        /// Only count, and fail where a count is above the record: 3 % of a stone's, 2 % end to end
        #[arg(long, conflicts_with = "record")]
        check: bool,
        /// Write the record
        #[arg(long)]
        record: bool,
    },
    /// Run the fuzz targets, guided by coverage where there is a C++ compiler
    Fuzz {
        /// Only the targets of this name
        target: Option<String>,
        /// How long each runs
        #[arg(long, default_value_t = 60)]
        seconds: u32,
    },
    /// Mixed traffic, aborts, reloads, failing providers and a restarted store; then everything has to be at rest
    Soak {
        /// How long the traffic runs
        #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(5..))]
        seconds: u32,
        /// Of the random choices, as an earlier run printed it
        #[arg(long)]
        seed: Option<u64>,
    },
    /// Drive the gateway with the official Python and Node SDKs
    Clients,
    /// Everything a change must pass: lint, test, schema --check, bench --check, soak --seconds 15, clients
    Ci,
}

fn main() -> Result<()> {
    let root = workspace::root()?;
    match Cli::parse().task {
        Task::Test { package } => suite::run(&root, package.as_deref()),
        Task::Lint => lint::run(&root),
        Task::Schema { check } => schema::run(&root, check),
        Task::Bench {
            part,
            check,
            record,
        } => {
            let mode = match (check, record) {
                (true, _) => bench::Mode::Check,
                (_, true) => bench::Mode::Record,
                _ => bench::Mode::Show,
            };
            bench::run(&root, part.as_deref(), mode)
        }
        Task::Fuzz { target, seconds } => fuzz::run(&root, target.as_deref(), seconds),
        Task::Soak { seconds, seed } => soak::run(&root, seconds, seed),
        Task::Clients => clients::run(&root),
        Task::Ci => {
            lint::run(&root)?;
            suite::run(&root, None)?;
            schema::run(&root, true)?;
            bench::run(&root, None, bench::Mode::Check)?;
            soak::run(&root, 15, None)?;
            clients::run(&root)
        }
    }
}
