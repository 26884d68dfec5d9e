//! What a request costs the gateway: provider and clients in this process, the gateway in its own, on loopback.
//!
//!     rig time  [SCENARIO]...   processor time of the gateway, requests in a second, latency
//!     rig count [SCENARIO]...   instructions of the gateway in user mode, under callgrind
//!
//! A line of JSON for each scenario goes to standard output. `cargo xtask bench e2e` runs it and compares.
//!
//! Time: the gateway has a core of its own, and this process never sleeps on the other one, since waking a core is paid by
//! who wakes it. Rounds of all scenarios follow each other, so that what disturbs one round disturbs all of them.
//! Instructions: one client, so that the same run takes the same turns; the difference of two runs leaves out what is not of
//! a request. Streams are not paced by a clock: the provider writes a step when the client has got the one before.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a measurement: it fails at once and loudly, and its output is its result"
)]

mod answers;
mod client;
mod kinds;
mod pieces;
mod process;
mod provider;
mod run;
mod scenario;

use scenario::Scenario;

/// Files that are open besides those of held streams.
const FILES: usize = 1_000;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (what, names) = arguments.split_first().expect("time or count");
    let held = (process::open_files().saturating_sub(FILES) / 2).min(scenario::MANY);
    let mut scenarios = scenario::all(held);
    for name in names {
        assert!(
            scenarios.iter().any(|one| one.name == name),
            "no scenario {name}"
        );
    }
    scenarios
        .retain(|one: &Scenario| names.is_empty() || names.iter().any(|name| name == one.name));
    let local = tokio::task::LocalSet::new();
    match what.as_str() {
        "time" => local.run_until(run::time(&scenarios)).await,
        "count" => local.run_until(run::count(&scenarios)).await,
        other => panic!("time or count, not {other}"),
    }
}
