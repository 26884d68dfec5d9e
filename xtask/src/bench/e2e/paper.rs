//! The figures as a paper under `benches/record/` that is also read back.

use std::fmt::Write as _;

use anyhow::{Context, Result};

use super::{PAIRS, Pair, median};
use crate::bench::record::Origin;

/// What was measured, and where.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Figures {
    pub(super) origin: Origin,
    pub(super) rows: Vec<Row>,
}

/// The figures of a scenario, per unit.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) scenario: String,
    pub(super) unit: String,
    pub(super) instructions: Option<f64>,
    /// Processor time in microseconds: the median of the rounds, and the least.
    pub(super) cpu: Option<f64>,
    pub(super) least: Option<f64>,
    pub(super) per_second: Option<f64>,
    pub(super) p50: Option<f64>,
    pub(super) p99: Option<f64>,
    /// Open streams, and the bytes that each of them takes. The record keeps them as a line for readers.
    pub(super) held: Option<(u32, f64)>,
    /// Processor time of each round, which the record does not keep.
    pub(super) rounds: Vec<f64>,
}

impl Row {
    pub(super) fn new(scenario: &str, unit: &str) -> Self {
        Self {
            scenario: scenario.to_owned(),
            unit: unit.to_owned(),
            instructions: None,
            cpu: None,
            least: None,
            per_second: None,
            p50: None,
            p99: None,
            held: None,
            rounds: Vec::new(),
        }
    }
}

const HEAD: &str = "\
# End to end

Written by `cargo xtask bench e2e --record`; without the flag the same command repeats it. Instructions are those of the
gateway's process in user mode, by callgrind, one client. Time is the gateway's processor time, user and system, on a core of its
own: the median of the rounds and the least, on cores shared with other work: it informs, as do throughput and latency of a closed
loop that keeps the gateway busy.

";

impl Figures {
    pub(super) fn row(&self, scenario: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.scenario == scenario)
    }

    /// The paper to keep.
    pub(super) fn paper(&self) -> String {
        HEAD.to_owned() + &self.origin.lines() + &self.tables(None)
    }

    /// The figures as tables; beside another record, with the difference of the instructions.
    pub(super) fn tables(&self, kept: Option<&Self>) -> String {
        let mut text = String::from(
            "| scenario | per | instructions | CPU µs | least CPU µs | per second | p50 µs | p99 µs |",
        );
        text.push_str(if kept.is_some() { " change |\n" } else { "\n" });
        text.push_str("|---|---|---:|---:|---:|---:|---:|---:|");
        text.push_str(if kept.is_some() { "---:|\n" } else { "\n" });
        for row in &self.rows {
            // Writing to a String cannot fail.
            let _ok = write!(
                text,
                "| {} | {} | {} | {} | {} | {} | {} | {} |",
                row.scenario,
                row.unit,
                figure(row.instructions, 0),
                figure(row.cpu, 2),
                figure(row.least, 2),
                figure(row.per_second, 0),
                figure(row.p50, 0),
                figure(row.p99, 0),
            );
            if let Some(kept) = kept {
                let then = kept.row(&row.scenario).and_then(|then| then.instructions);
                let change = row
                    .instructions
                    .zip(then)
                    .map(|(now, then)| format!(" {:+.1} % |", (now / then - 1.0) * 100.0));
                text.push_str(change.as_deref().unwrap_or(" - |"));
            }
            text.push('\n');
        }
        text + &self.pairs() + &self.memory()
    }

    fn pairs(&self) -> String {
        let mut text = String::from(
            "\n| of | compared | instructions more | | CPU µs more |\n|---|---|---:|---:|---:|\n",
        );
        let before = text.len();
        for Pair { less, more, of, .. } in PAIRS {
            let Some((less, more)) = self.row(less).zip(self.row(more)) else {
                continue;
            };
            let counts = less.instructions.zip(more.instructions);
            let differences: Vec<f64> = less
                .rounds
                .iter()
                .zip(&more.rounds)
                .map(|(less, more)| more - less)
                .collect();
            let _ok = writeln!(
                text,
                "| {of} | {} to {} | {} | {} | {} |",
                less.scenario,
                more.scenario,
                figure(counts.map(|(less, more)| more - less), 0),
                counts.map_or_else(
                    || "-".to_owned(),
                    |(less, more)| format!("{:+.1} %", (more / less - 1.0) * 100.0)
                ),
                figure(median(&differences), 2),
            );
        }
        if text.len() == before {
            text.clear();
        }
        text
    }

    fn memory(&self) -> String {
        let held = self.rows.iter().filter_map(|row| row.held);
        held.max_by_key(|(count, _)| *count)
            .map(|(count, bytes)| {
                format!(
                    "\nMemory of an open stream: {:.1} KB, of {count} held at a time.\n",
                    bytes / 1e3
                )
            })
            .unwrap_or_default()
    }

    /// Reads a kept paper: the first of its tables.
    pub(super) fn read(text: &str) -> Result<Self> {
        let rows = text
            .lines()
            .skip_while(|line| !line.starts_with("|---"))
            .skip(1)
            .take_while(|line| line.starts_with("| "));
        let rows = rows
            .map(|line| row(line).with_context(|| format!("a row that cannot be read: {line}")));
        Ok(Self {
            origin: Origin::read(text)?,
            rows: rows.collect::<Result<_>>()?,
        })
    }
}

fn figure(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
}

fn row(line: &str) -> Option<Row> {
    let cells: Vec<_> = line.trim_matches(['|', ' ']).split(" | ").collect();
    let [
        scenario,
        unit,
        instructions,
        cpu,
        least,
        per_second,
        p50,
        p99,
    ] = cells[..]
    else {
        return None;
    };
    let figure = |cell: &str| -> Option<Option<f64>> {
        match cell {
            "-" => Some(None),
            digits => digits.parse().ok().map(Some),
        }
    };
    Some(Row {
        instructions: figure(instructions)?,
        cpu: figure(cpu)?,
        least: figure(least)?,
        per_second: figure(per_second)?,
        p50: figure(p50)?,
        p99: figure(p99)?,
        ..Row::new(scenario, unit)
    })
}
