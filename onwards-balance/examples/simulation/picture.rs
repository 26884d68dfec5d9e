//! A share over time, as text or as SVG.

use std::fmt::{self, Write as _};

/// What to draw.
pub(crate) struct Picture {
    /// One share a second.
    pub(crate) shares: Vec<f64>,
    /// From which minute on the provider carries which share.
    pub(crate) carried: Vec<(u64, f64)>,
    /// What begins at which minute.
    pub(crate) labels: Vec<(u64, &'static str)>,
}

const ROWS: u32 = 20;
const COLUMN_SECONDS: usize = 120;

impl Picture {
    /// A plot of 20 rows: `#` up to the share, `-` at what is carried.
    pub(crate) fn text(&self) -> Result<String, fmt::Error> {
        let columns: Vec<(f64, f64)> = self
            .shares
            .chunks(COLUMN_SECONDS)
            .enumerate()
            .map(|(n, part)| {
                (
                    part.iter().sum::<f64>() / part.len() as f64,
                    self.carried(n * COLUMN_SECONDS),
                )
            })
            .collect();
        let mut plot = String::from(
            "share of requests that try the preferred provider first (#) and what it carries (-)\n",
        );
        for row in (1..=ROWS).rev() {
            let level = f64::from(row) / f64::from(ROWS);
            let axis = if row % 4 == 0 {
                format!("{level:>4.1} |")
            } else {
                "     |".to_owned()
            };
            plot.push_str(&axis);
            for (share, carried) in &columns {
                let half = 0.5 / f64::from(ROWS);
                plot.push(match () {
                    () if (carried - level).abs() <= half => '-',
                    () if *share >= level - half => '#',
                    () => ' ',
                });
            }
            plot.push('\n');
        }
        writeln!(plot, "     +{}", "-".repeat(columns.len()))?;
        for (minute, label) in &self.labels {
            let column = *minute as usize * 60 / COLUMN_SECONDS;
            writeln!(
                plot,
                "      {}^ minute {minute}: {label}",
                " ".repeat(column)
            )?;
        }
        Ok(plot)
    }

    /// The same as a drawing of 900 by 360.
    pub(crate) fn svg(&self) -> Result<String, fmt::Error> {
        let mut out = String::from(concat!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 360" font-family="sans-serif" font-size="12">"#,
            "\n<rect width=\"900\" height=\"360\" fill=\"#fff\"/>\n",
            r##"<text x="50" y="22" font-size="14" fill="#222">Share of requests that try the preferred provider first</text>"##,
            "\n",
        ));
        for tenth in (0..=10).step_by(2) {
            let (share, line) = (f64::from(tenth) / 10.0, y(f64::from(tenth) / 10.0));
            writeln!(
                out,
                r##"<path d="M50 {line:.1}H880" stroke="#ddd"/><text x="42" y="{:.1}" text-anchor="end" fill="#555">{share:.1}</text>"##,
                line + 4.0
            )?;
        }
        for (place, (minute, label)) in self.labels.iter().enumerate() {
            let (at, row) = (self.x(*minute as usize * 60), 330 + 16 * (place % 2));
            writeln!(
                out,
                r##"<path d="M{at:.1} 40V{row}" stroke="#bbb" stroke-dasharray="3 3"/><text x="{:.1}" y="{row}" fill="#555">{minute} min: {label}</text>"##,
                at + 3.0
            )?;
        }
        let carried = self.path(&|second| self.carried(second))?;
        let share = self.path(&|second| self.shares.get(second).copied().unwrap_or(1.0))?;
        writeln!(
            out,
            r##"<path d="{carried}" fill="none" stroke="#2a9d55" stroke-width="2" stroke-dasharray="6 4"/>"##
        )?;
        writeln!(
            out,
            r##"<path d="{share}" fill="none" stroke="#2456c8" stroke-width="2"/>"##
        )?;
        out.push_str(concat!(
            r##"<text x="560" y="22" fill="#2456c8">share</text><text x="620" y="22" fill="#2a9d55">what the provider carries</text>"##,
            "\n</svg>\n",
        ));
        Ok(out)
    }

    /// A line of steps: across to each second at which the value moves, then up or down.
    fn path(&self, value: &dyn Fn(usize) -> f64) -> Result<String, fmt::Error> {
        let mut last = value(0);
        let mut path = format!("M{:.1} {:.1}", self.x(0), y(last));
        for second in 1..self.shares.len() {
            if value(second) != last {
                last = value(second);
                write!(path, "H{:.1}V{:.1}", self.x(second), y(last))?;
            }
        }
        write!(path, "H{:.1}", self.x(self.shares.len()))?;
        Ok(path)
    }

    fn x(&self, second: usize) -> f64 {
        50.0 + 830.0 * second as f64 / self.shares.len().max(1) as f64
    }

    fn carried(&self, second: usize) -> f64 {
        let begun = self
            .carried
            .iter()
            .take_while(|(minute, _)| *minute as usize * 60 <= second);
        begun.last().map_or(1.0, |(_, share)| *share)
    }
}

fn y(share: f64) -> f64 {
    310.0 - 270.0 * share
}
