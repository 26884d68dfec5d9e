//! `cargo xtask soak`: the gateway under everything at once, and what is left of it afterwards.

use std::path::Path;

use anyhow::Result;

use crate::process::{cargo, run as execute};
use crate::suite::{SERVER_BIN, server_binary};

/// Runs the traffic of `tests/src/bin/soak` against the binary that the variable names, else one that is built here.
pub(crate) fn run(root: &Path, seconds: u32, seed: Option<u64>) -> Result<()> {
    let server = server_binary(root, false)?;
    println!("{SERVER_BIN}={}", server.display());
    let mut soak = cargo(root);
    soak.args([
        "run",
        "--quiet",
        "--package",
        "onwards-tests",
        "--bin",
        "soak",
    ])
    .args(["--", &seconds.to_string()])
    .args(seed.map(|seed| seed.to_string()))
    .env(SERVER_BIN, server);
    execute(&mut soak)
}
