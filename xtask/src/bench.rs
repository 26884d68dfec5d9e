//! `cargo xtask bench`: what a stone's work and a request end to end cost, beside what the record says they cost.
//!
//! Instructions gate, wall time informs: on shared cores the same run takes one time or three. Each shape of a stone's
//! bench runs under callgrind twice, the second time with twice as many runs; the difference is the work without its
//! preparation, and is the same to the digit from one day to the next. It is compared with the record only on the
//! processor and compiler that the record was made with.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::process::{capture, cargo, command, present};
use crate::suite;
use record::{Origin, Record, Row};

mod e2e;
mod record;
mod times;

/// The stones with a bench that `benches/shapes.rs` drives, and its name.
const STONES: &[(&str, &str)] = &[
    ("onwards-json", "scan"),
    ("onwards-sse", "frames"),
    ("onwards-usage", "tap"),
    ("onwards-http1", "read"),
    ("onwards-strict", "clean"),
    ("onwards-dialects", "translate"),
];

/// How far above the record the instructions of a shape may be: above this a change is no noise of the compiler.
const TOLERANCE: f64 = 0.03;

/// About how many bytes all runs of a shape read at the lower count; callgrind is some fifty times slower than the processor.
const COUNTED_BYTES: u64 = 1_000_000;

/// What to do with the figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Count and time, and show.
    Show,
    /// Count only, and fail where the record is passed.
    Check,
    /// Count and time, and write the record.
    Record,
}

/// Measures every stone and the gateway end to end, or one of them.
pub(crate) fn run(root: &Path, part: Option<&str>, mode: Mode) -> Result<()> {
    let known = |name: &str| name == e2e::NAME || STONES.iter().any(|(stone, _)| *stone == name);
    if let Some(name) = part.filter(|name| !known(name)) {
        bail!("{name} has no bench that can be counted");
    }
    if !present("valgrind", &["--version"]) {
        println!(
            "valgrind is not installed: instructions are not counted, and the record is neither compared nor written"
        );
        if mode != Mode::Show {
            return Ok(());
        }
    }
    let mut problems = Vec::new();
    for (package, bench) in STONES {
        if part.is_none_or(|part| part == *package) {
            problems.extend(stone(root, package, bench, mode)?);
        }
    }
    if part.is_none_or(|part| part == e2e::NAME) {
        problems.extend(e2e::run(root, mode)?);
    }
    for problem in &problems {
        println!("bench: {problem}");
    }
    if mode == Mode::Check && !problems.is_empty() {
        bail!(
            "bench: {} problem(s); cargo xtask bench --record accepts the new figures",
            problems.len()
        );
    }
    Ok(())
}

/// Measures a stone; what the record does not allow is in the result.
fn stone(root: &Path, package: &str, bench: &str, mode: Mode) -> Result<Vec<String>> {
    let path = root.join("benches/record").join(format!("{package}.md"));
    let kept = std::fs::read_to_string(&path)
        .ok()
        .map(|text| Record::read(&text))
        .transpose();
    let kept = kept.with_context(|| format!("reading {}", path.display()))?;
    let origin = Origin::here(root, package)?;
    if mode == Mode::Check
        && let Some(kept) = &kept
        && !origin.comparable(&kept.origin)
    {
        println!("{}", elsewhere(package, &kept.origin));
        return Ok(Vec::new());
    }
    let program = program(root, package, bench)?;
    let mut rows = count(root, &program)?;
    if mode != Mode::Check {
        let times = times::read(&capture(command(root, &program).args([
            "--bench",
            "--max-time",
            "0.5",
        ]))?);
        for row in &mut rows {
            row.nanoseconds = times.get(&row.shape).map(|run| run / row.units as f64);
        }
    }
    let measured = Record { origin, rows };
    print!(
        "{package}, beside the record\n{}",
        measured.table(kept.as_ref())
    );
    if mode == Mode::Record {
        std::fs::write(&path, measured.paper(package))
            .with_context(|| format!("writing {}", path.display()))?;
        return Ok(Vec::new());
    }
    Ok(compare(package, &measured, kept.as_ref()))
}

/// What is said where the record cannot be held against anything.
fn elsewhere(of: &str, origin: &Origin) -> String {
    format!(
        "bench: {of}: the record is of another processor or compiler, so it does not gate: {}",
        origin.machine
    )
}

/// Builds the bench program of a package.
fn program(root: &Path, package: &str, bench: &str) -> Result<PathBuf> {
    let mut build = cargo(root);
    build.args([
        "bench",
        "--quiet",
        "--no-run",
        "--package",
        package,
        "--bench",
        bench,
    ]);
    build.args(["--message-format", "json-render-diagnostics"]);
    build.stderr(std::process::Stdio::inherit());
    suite::executable(&capture(&mut build)?).context("cargo bench named no executable")
}

/// The shapes of a bench program, instructions counted where valgrind is there.
fn count(root: &Path, program: &Path) -> Result<Vec<Row>> {
    let shapes = capture(command(root, program).arg("--shapes"))?;
    let callgrind = present("valgrind", &["--version"]);
    let mut rows = Vec::new();
    for line in shapes.lines() {
        let mut row =
            Row::parse_shape(line).with_context(|| format!("a line of --shapes: {line}"))?;
        if callgrind {
            let runs = (COUNTED_BYTES / row.bytes_of_run().max(1)).clamp(1, 1_000);
            let once = instructions(root, program, &row.shape, runs)?;
            let twice = instructions(root, program, &row.shape, 2 * runs)?;
            row.instructions = Some(twice.saturating_sub(once) as f64 / (runs * row.units) as f64);
        }
        rows.push(row);
    }
    Ok(rows)
}

/// All instructions of a process that runs a shape so many times.
fn instructions(root: &Path, program: &Path, shape: &str, runs: u64) -> Result<u64> {
    let mut command = command(root, "valgrind");
    command
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program);
    let output = command
        .args(["--count", shape, &runs.to_string()])
        .output()
        .context("starting valgrind")?;
    let report = String::from_utf8_lossy(&output.stderr);
    let (_, rest) = report
        .split_once("Collected : ")
        .with_context(|| format!("valgrind counted nothing:\n{report}"))?;
    let digits = rest.lines().next().unwrap_or_default();
    digits
        .trim()
        .parse()
        .with_context(|| format!("valgrind counted `{digits}`"))
}

/// What of the measured figures the record does not allow.
fn compare(package: &str, measured: &Record, kept: Option<&Record>) -> Vec<String> {
    let Some(kept) = kept else {
        return vec![format!(
            "{package}: no record; cargo xtask bench --record writes it"
        )];
    };
    if !measured.origin.comparable(&kept.origin) {
        println!("{}", elsewhere(package, &kept.origin));
        return Vec::new();
    }
    let known: HashMap<_, _> = kept
        .rows
        .iter()
        .map(|row| (&row.shape, row.instructions))
        .collect();
    let mut problems = Vec::new();
    for row in &measured.rows {
        let Some(now) = row.instructions else {
            continue;
        };
        let then = known.get(&row.shape).copied().flatten();
        let what = format!("{package} {}", row.shape);
        problems.extend(over(&what, &row.unit, now, then, TOLERANCE));
    }
    problems
}

/// What the record has against a count, if anything.
fn over(what: &str, unit: &str, now: f64, then: Option<f64>, tolerance: f64) -> Option<String> {
    let Some(then) = then else {
        return Some(format!("{what}: not in the record"));
    };
    (now > then * (1.0 + tolerance)).then(|| {
        format!(
            "{what}: {now:.1} instructions per {unit}, {:+.1} % of {then:.1}",
            (now / then - 1.0) * 100.0
        )
    })
}

#[cfg(test)]
mod tests;
