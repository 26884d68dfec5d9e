//! `cargo xtask fuzz`: the fuzz targets of the stones, guided by coverage.
//!
//! The targets link libFuzzer, and the instrumentation it needs is in the stable compiler, so a C++ compiler for
//! libFuzzer's own sources is all that is asked for. Without one the corpora are replayed, which plain tests do anyway.
//! There is no address sanitizer: the workspace forbids unsafe code.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::process::{capture, cargo, command, present, run as execute, variable};
use crate::{suite, workspace};

/// What makes the compiler count edges and trace comparisons, and arithmetic overflow a finding.
const INSTRUMENTATION: &[&str] = &[
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
    "-Cdebug-assertions",
];

/// Longest input that is tried, in bytes: some of the oracles are slow on purpose.
const LONGEST: u32 = 4096;

/// A fuzz target: the folder of its stone, and its name.
#[derive(Debug, PartialEq, Eq)]
struct Target {
    stone: String,
    name: String,
}

/// Runs every target, or those of that name, so many seconds each.
pub(crate) fn run(root: &Path, name: Option<&str>, seconds: u32) -> Result<()> {
    let mut targets = targets(&workspace::files(root)?);
    targets.retain(|target| name.is_none_or(|name| name == target.name));
    if targets.is_empty() {
        bail!("no fuzz target of that name");
    }
    if !present("c++", &["--version"]) {
        println!("no C++ compiler for libFuzzer: the corpora are replayed, nothing new is tried");
        targets.dedup_by(|a, b| a.stone == b.stone);
        return targets.iter().try_for_each(|target| {
            execute(cargo(root).args(["test", "--quiet", "--tests", "--package", &target.stone]))
        });
    }
    let work = workspace::metadata(root)?.target_directory.join("fuzz");
    targets
        .iter()
        .try_for_each(|target| guided(root, &work, target, seconds))
}

/// The targets among the files of the workspace.
fn targets(files: &[PathBuf]) -> Vec<Target> {
    let target = |path: &PathBuf| {
        let [stone, fuzz, folder, file] = path
            .iter()
            .map(|part| part.to_str())
            .collect::<Option<Vec<_>>>()?[..]
        else {
            return None;
        };
        let name = file
            .strip_suffix(".rs")
            .filter(|_| (fuzz, folder) == ("fuzz", "fuzz_targets"))?;
        Some(Target {
            stone: stone.to_owned(),
            name: name.to_owned(),
        })
    };
    files.iter().filter_map(target).collect()
}

/// Fuzzes one target. New inputs stay under the target directory; what fails is written to the stone's `fuzz/artifacts/`.
fn guided(root: &Path, work: &Path, target: &Target, seconds: u32) -> Result<()> {
    let Target { stone, name } = target;
    let folder = root.join(stone).join("fuzz");
    let artifacts = folder.join("artifacts").join(name);
    let found = work.join("corpus").join(stone).join(name);
    for folder in [&artifacts, &found] {
        std::fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    }
    println!("fuzzing {stone} {name}, guided by coverage, for {seconds} s");
    let mut fuzz = command(&folder, program(&folder, work, name)?);
    fuzz.arg(&found).arg(folder.join("corpus").join(name));
    fuzz.args([
        format!("-max_total_time={seconds}"),
        format!("-max_len={LONGEST}"),
        "-timeout=20".to_owned(),
    ]);
    fuzz.args(["-print_final_stats=1", "-verbosity=0"]);
    fuzz.arg(format!("-artifact_prefix={}/", artifacts.display()));
    execute(&mut fuzz)
}

/// Builds a target. Naming the host as the target keeps build scripts and macros free of the instrumentation.
fn program(folder: &Path, work: &Path, name: &str) -> Result<PathBuf> {
    let about = capture(
        command(
            folder,
            variable("RUSTC").unwrap_or_else(|| "rustc".to_owned()),
        )
        .arg("-vV"),
    )?;
    let host = about
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .context("rustc names no host")?;
    let mut build = cargo(folder);
    build.args(["build", "--release", "--bin", name, "--target", host]);
    build.arg("--target-dir").arg(work.join("build"));
    build.args(["--message-format", "json-render-diagnostics"]);
    build.env("CARGO_ENCODED_RUSTFLAGS", INSTRUMENTATION.join("\u{1f}"));
    build.stderr(std::process::Stdio::inherit());
    suite::executable(&capture(&mut build)?).context("cargo build named no executable")
}

#[cfg(test)]
mod tests;
