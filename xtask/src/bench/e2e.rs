//! The gateway end to end: the rig of `tests/src/bin/rig` against the release binary, beside the record.
//!
//! Instructions gate. Three things are held: no scenario counts more than the record allows, on the processor and compiler
//! of the record; and, on any machine, a request costs the same among many aliases, keys and open streams as among few, and an
//! event of a translated stream costs three times one of a strict-cleaned stream at most.

use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::Mode;
use super::record::Origin;
use crate::process::{capture, cargo, command, present};
use crate::suite::{SERVER_BIN, executable, server_binary};
use paper::{Figures, Row};

mod paper;

/// What it is called on the command line.
pub(super) const NAME: &str = "e2e";

/// Where the record is.
const RECORD: &str = "benches/record/end-to-end.md";

/// How far above the record the instructions of a scenario may be. Runs of one binary differ by 0.4 % at most, by what the
/// runtime does between two requests.
const TOLERANCE: f64 = 0.02;

/// How much more instructions a request may take among many aliases, keys or streams than among few. What looks at each of
/// 10,000 once takes some ten instructions for each, more than the whole request; what looks them up in a tree instead of
/// a table stays within. The spread of both figures is far below.
const FLAT: f64 = 0.05;

/// How many times the instructions of an event of a strict-cleaned stream one of a translated stream may take.
const TRANSLATED: f64 = 3.0;

/// Scenarios that differ in one thing: what is the same but for it, and what it is.
pub(super) const PAIRS: &[Pair] = &[
    Pair::flat("aliases_10", "aliases_10000", "aliases"),
    Pair::flat("keys_10", "keys_10000", "keys"),
    Pair::flat("held_10", "held_many", "open streams"),
    Pair {
        less: "unary_bare",
        more: "unary_full",
        of: "keys, rates, limits, metrics page and log",
        most: Most::Any,
    },
    Pair::translated("burst1000_native", "cleaning to a renamed model"),
    Pair::translated("burst1000_anthropic_chat", "cleaning to translation"),
    Pair::translated("burst1000_gemini_chat", "cleaning to translation"),
    Pair::translated("burst1000_bedrock_chat", "cleaning to translation"),
    Pair::translated("burst1000_openai_messages", "cleaning to translation"),
];

/// Two scenarios to compare.
#[derive(Debug)]
pub(super) struct Pair {
    less: &'static str,
    more: &'static str,
    of: &'static str,
    most: Most,
}

/// What the second scenario of a pair may cost.
#[derive(Debug)]
enum Most {
    /// Anything: it informs.
    Any,
    /// The same as the first.
    Same,
    /// So many times the first.
    Times(f64),
}

impl Pair {
    const fn flat(less: &'static str, more: &'static str, of: &'static str) -> Self {
        let most = Most::Same;
        Self {
            less,
            more,
            of,
            most,
        }
    }

    const fn translated(more: &'static str, of: &'static str) -> Self {
        Self {
            less: "burst1000_strict",
            more,
            of,
            most: Most::Times(TRANSLATED),
        }
    }

    /// What is wrong with these counts, if anything.
    fn problem(&self, less: f64, more: f64) -> Option<String> {
        let Self {
            less: first,
            more: second,
            of,
            most,
        } = self;
        match most {
            Most::Same if more > less * (1.0 + FLAT) => Some(format!(
                "a request takes {more:.0} instructions in {second}, {:+.1} % of {less:.0} in {first}: its cost grows with the number of {of}",
                (more / less - 1.0) * 100.0,
            )),
            Most::Times(times) if more > less * times => Some(format!(
                "an event takes {more:.0} instructions in {second}, {:.2} times the {less:.0} in {first}: {times} times are allowed",
                more / less,
            )),
            _ => None,
        }
    }
}

/// What the rig says of a scenario, of either kind of run.
#[derive(Debug, Deserialize)]
struct Told {
    scenario: String,
    unit: String,
    instructions: Option<f64>,
    #[serde(default)]
    cpu_us: Vec<f64>,
    #[serde(default)]
    per_second: Vec<f64>,
    p50_us: Option<f64>,
    p99_us: Option<f64>,
    held: Option<u32>,
    held_bytes: Option<f64>,
}

/// Measures and compares; what the record or a pair does not allow is in the result.
pub(super) fn run(root: &Path, mode: Mode) -> Result<Vec<String>> {
    let server = server_binary(root, true)?;
    println!("{SERVER_BIN}={}", server.display());
    let rig = rig(root, mode != Mode::Check)?;
    let mut told = Vec::new();
    if present("valgrind", &["--version"]) {
        told.extend(ask(root, &rig, &server, "count")?);
    }
    if mode != Mode::Check {
        told.extend(ask(root, &rig, &server, "time")?);
    }
    let measured = Figures {
        origin: Origin::here(root, "onwards-server")?,
        rows: rows(told),
    };
    let path = root.join(RECORD);
    let kept = match std::fs::read_to_string(&path) {
        Ok(text) => Some(Figures::read(&text).with_context(|| format!("reading {RECORD}"))?),
        Err(_) => None,
    };
    print!(
        "end to end, beside the record\n{}",
        measured.tables(kept.as_ref())
    );
    let mut problems = steep(&measured);
    if mode == Mode::Record {
        std::fs::write(&path, measured.paper()).with_context(|| format!("writing {RECORD}"))?;
    } else {
        problems.extend(above(&measured, kept.as_ref()));
    }
    Ok(problems)
}

/// Builds the rig. Time is measured with an optimised one, since it shares the machine with the gateway.
fn rig(root: &Path, release: bool) -> Result<std::path::PathBuf> {
    let mut build = cargo(root);
    build.args([
        "build",
        "--quiet",
        "--package",
        "onwards-tests",
        "--bin",
        "rig",
    ]);
    build.args(["--message-format", "json-render-diagnostics"]);
    if release {
        build.arg("--release");
    }
    build.stderr(std::process::Stdio::inherit());
    executable(&capture(&mut build)?).context("cargo build named no executable")
}

/// Runs the rig with as many open files as the system allows.
fn ask(root: &Path, rig: &Path, server: &Path, what: &str) -> Result<Vec<Told>> {
    let mut run = command(root, "sh");
    run.args(["-c", "ulimit -n $(ulimit -Hn); exec \"$@\"", "rig"])
        .arg(rig)
        .arg(what);
    run.env(SERVER_BIN, server);
    let printed = capture(&mut run)?;
    printed
        .lines()
        .map(|line| {
            serde_json::from_str(line).with_context(|| format!("a line of the rig: {line}"))
        })
        .collect()
}

/// A row for each scenario, in the order in which they were told first.
fn rows(told: Vec<Told>) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for told in told {
        let known = rows.iter().position(|row| row.scenario == told.scenario);
        let at = known.unwrap_or_else(|| {
            rows.push(Row::new(&told.scenario, &told.unit));
            rows.len() - 1
        });
        let Some(row) = rows.get_mut(at) else {
            continue;
        };
        row.instructions = row.instructions.or(told.instructions);
        row.cpu = median(&told.cpu_us).or(row.cpu);
        row.least = told.cpu_us.iter().copied().reduce(f64::min).or(row.least);
        row.per_second = median(&told.per_second).or(row.per_second);
        row.p50 = row.p50.or(told.p50_us);
        row.p99 = row.p99.or(told.p99_us);
        row.held = row.held.or(told.held.zip(told.held_bytes));
        row.rounds.extend(told.cpu_us);
    }
    rows
}

/// The value in the middle.
fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

/// Pairs of which one costs more than it may.
fn steep(measured: &Figures) -> Vec<String> {
    let counted = |name| measured.row(name).and_then(|row| row.instructions);
    let problem = |pair: &Pair| {
        let (less, more) = counted(pair.less).zip(counted(pair.more))?;
        pair.problem(less, more)
    };
    PAIRS.iter().filter_map(problem).collect()
}

/// Scenarios that take more instructions than the record allows.
fn above(measured: &Figures, kept: Option<&Figures>) -> Vec<String> {
    let Some(kept) = kept else {
        return vec![format!(
            "{NAME}: no record; cargo xtask bench {NAME} --record writes it"
        )];
    };
    if !measured.origin.comparable(&kept.origin) {
        println!("{}", super::elsewhere(NAME, &kept.origin));
        return Vec::new();
    }
    let mut problems = Vec::new();
    for row in &measured.rows {
        let Some(now) = row.instructions else {
            continue;
        };
        let then = kept.row(&row.scenario).and_then(|then| then.instructions);
        let what = format!("{NAME} {}", row.scenario);
        problems.extend(super::over(&what, &row.unit, now, then, TOLERANCE));
    }
    problems
}

#[cfg(test)]
mod tests;
