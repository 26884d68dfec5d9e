//! The figures of a stone, as a paper under `benches/record/` that is also read back.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::process::{capture, command};

/// What was measured, and where.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Record {
    pub(super) origin: Origin,
    pub(super) rows: Vec<Row>,
}

/// Where figures come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) commit: String,
    pub(super) date: String,
    pub(super) machine: String,
    pub(super) compiler: String,
}

/// The figures of a shape, per unit.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) shape: String,
    pub(super) unit: String,
    /// Units of one run.
    pub(super) units: u64,
    pub(super) bytes: f64,
    pub(super) instructions: Option<f64>,
    /// The best of the samples.
    pub(super) nanoseconds: Option<f64>,
}

impl Origin {
    /// This machine and this commit, marked where the package has changes on top.
    pub(super) fn here(root: &Path, package: &str) -> Result<Self> {
        let git = |args: &[&str]| capture(command(root, "git").args(args));
        let mut commit = git(&["rev-parse", "--short", "HEAD"])?.trim().to_owned();
        if !git(&["status", "--porcelain", "--", package])?.is_empty() {
            commit.push_str(" and changes");
        }
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = cpuinfo
            .lines()
            .find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        let model = model.map_or("an unknown processor", |(_, model)| model);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            commit,
            date: capture(command(root, "date").args(["-u", "+%F"]))?
                .trim()
                .to_owned(),
            machine: format!("{model}, {}, {cores} cores", std::env::consts::ARCH),
            compiler: capture(command(root, "rustc").arg("--version"))?
                .trim()
                .to_owned(),
        })
    }

    /// The list that a paper begins with.
    pub(super) fn lines(&self) -> String {
        let Self {
            commit,
            date,
            machine,
            compiler,
        } = self;
        format!(
            "- commit: {commit}\n- date: {date}\n- machine: {machine}\n- compiler: {compiler}\n\n"
        )
    }

    /// Reads that list.
    pub(super) fn read(text: &str) -> Result<Self> {
        let entry = |name: &str| {
            let found = text.lines().find_map(|line| {
                line.strip_prefix("- ")?
                    .strip_prefix(name)?
                    .strip_prefix(": ")
            });
            found
                .map(str::to_owned)
                .with_context(|| format!("no line `- {name}: …`"))
        };
        Ok(Self {
            commit: entry("commit")?,
            date: entry("date")?,
            machine: entry("machine")?,
            compiler: entry("compiler")?,
        })
    }

    /// Whether the instructions of both can be compared: libraries choose their code by the processor.
    pub(super) fn comparable(&self, other: &Self) -> bool {
        (&self.machine, &self.compiler) == (&other.machine, &other.compiler)
    }
}

impl Row {
    /// Reads a line of `--shapes`: name, unit, units and bytes of a run.
    pub(super) fn parse_shape(line: &str) -> Result<Self> {
        let [shape, unit, units, bytes] = line.split(' ').collect::<Vec<_>>()[..] else {
            bail!("not four words");
        };
        let units: u64 = units.parse().context("the units")?;
        let bytes: f64 = bytes.parse().context("the bytes")?;
        Ok(Self {
            shape: shape.to_owned(),
            unit: unit.to_owned(),
            units,
            bytes: bytes / units as f64,
            instructions: None,
            nanoseconds: None,
        })
    }

    pub(super) fn bytes_of_run(&self) -> u64 {
        (self.bytes * self.units as f64) as u64
    }
}

impl Record {
    /// The paper to keep.
    pub(super) fn paper(&self, package: &str) -> String {
        let head = format!(
            "# {package}\n\nWritten by `cargo xtask bench {package} --record`; without the flag the same command repeats it. Instructions\nby callgrind, time by divan (the best sample, on cores shared with other work: it informs).\n\n"
        );
        head + &self.origin.lines() + &self.table(None)
    }

    /// The figures as a table; beside another record, with the difference of the instructions.
    pub(super) fn table(&self, kept: Option<&Self>) -> String {
        let mut text = String::from(
            "| shape | per | bytes | instructions | ns | M instructions per MB | µs per MB |",
        );
        text.push_str(if kept.is_some() { " change |\n" } else { "\n" });
        text.push_str("|---|---|---:|---:|---:|---:|---:|");
        text.push_str(if kept.is_some() { "---:|\n" } else { "\n" });
        for row in &self.rows {
            let figure = |value: Option<f64>, digits: usize| {
                value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
            };
            let per_byte = |value: Option<f64>| value.map(|value| value / row.bytes);
            // Writing to a String cannot fail.
            let _ok = write!(
                text,
                "| {} | {} | {:.0} | {} | {} | {} | {} |",
                row.shape,
                row.unit,
                row.bytes,
                figure(row.instructions, 1),
                figure(row.nanoseconds, 1),
                figure(per_byte(row.instructions), 2),
                figure(per_byte(row.nanoseconds).map(|value| value * 1_000.0), 0),
            );
            if let Some(kept) = kept {
                let then = kept
                    .rows
                    .iter()
                    .find(|then| then.shape == row.shape)
                    .and_then(|then| then.instructions);
                let change = row
                    .instructions
                    .zip(then)
                    .map(|(now, then)| format!(" {:+.1} % |", (now / then - 1.0) * 100.0));
                text.push_str(change.as_deref().unwrap_or(" - |"));
            }
            text.push('\n');
        }
        text
    }

    /// Reads a kept paper.
    pub(super) fn read(text: &str) -> Result<Self> {
        let rows = text.lines().filter(|line| line.starts_with("| ")).skip(1);
        let rows = rows
            .map(|line| row(line).with_context(|| format!("a row that cannot be read: {line}")));
        Ok(Self {
            origin: Origin::read(text)?,
            rows: rows.collect::<Result<_>>()?,
        })
    }
}

fn row(line: &str) -> Option<Row> {
    let cells: Vec<_> = line.trim_matches(['|', ' ']).split(" | ").collect();
    let [shape, unit, bytes, instructions, nanoseconds, ..] = cells[..] else {
        return None;
    };
    Some(Row {
        shape: shape.to_owned(),
        unit: unit.to_owned(),
        units: 1,
        bytes: bytes.parse().ok()?,
        instructions: instructions.parse().ok(),
        nanoseconds: nanoseconds.parse().ok(),
    })
}
