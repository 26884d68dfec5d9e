//! `cargo xtask test`: every test there is, of the workspace or of one package.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::process::{capture, cargo, present, run as execute, variable};
use crate::{examples, workspace};

/// Names the binary that black-box tests start.
pub(crate) const SERVER_BIN: &str = "ONWARDS_SERVER_BIN";

/// The package whose tests start the binary.
const BLACK_BOX: &str = "onwards-tests";

/// Runs unit and black-box tests, doc tests, and the examples; builds the binary first where black-box tests need it.
pub(crate) fn run(root: &Path, package: Option<&str>) -> Result<()> {
    let scope: Vec<&str> =
        package.map_or_else(|| vec!["--workspace"], |name| vec!["--package", name]);
    let mut tests = cargo(root);
    if present("cargo", &["nextest", "--version"]) {
        tests.args(["nextest", "run", "--no-tests", "pass", "--no-fail-fast"]);
    } else {
        println!("cargo-nextest is not installed: cargo test runs the tests");
        tests.args(["test", "--no-fail-fast", "--lib", "--bins", "--tests"]);
    }
    if package.is_none_or(|name| name == BLACK_BOX) {
        let server = server_binary(root, false)?;
        println!("{SERVER_BIN}={}", server.display());
        tests.env(SERVER_BIN, server);
    }
    execute(tests.args(&scope))?;

    let metadata = workspace::metadata(root)?;
    if has_library(&metadata, package) {
        execute(cargo(root).args(["test", "--quiet", "--doc"]).args(&scope))?;
    }
    examples::run(root, &metadata, package)
}

/// The server binary: the one that the variable names, else built here.
pub(crate) fn server_binary(root: &Path, release: bool) -> Result<PathBuf> {
    if let Some(path) = variable(SERVER_BIN) {
        return std::path::absolute(&path).with_context(|| format!("{SERVER_BIN}={path}"));
    }
    let mut build = cargo(root);
    build.args([
        "build",
        "--quiet",
        "--package",
        "onwards-server",
        "--bin",
        "onwards-server",
    ]);
    build.args(["--message-format", "json-render-diagnostics"]);
    if release {
        build.arg("--release");
    }
    build.stderr(std::process::Stdio::inherit());
    executable(&capture(&mut build)?).context("cargo build named no executable")
}

/// The last executable that cargo's messages name.
pub(crate) fn executable(messages: &str) -> Option<PathBuf> {
    #[derive(Deserialize)]
    struct Message {
        executable: Option<PathBuf>,
    }
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Message>(line).ok()?.executable)
        .next_back()
}

fn has_library(metadata: &workspace::Metadata, package: Option<&str>) -> bool {
    metadata
        .packages
        .iter()
        .filter(|member| package.is_none_or(|name| name == member.name))
        .any(|member| {
            member
                .targets
                .iter()
                .any(|target| target.kind.iter().any(|kind| kind == "lib"))
        })
}
