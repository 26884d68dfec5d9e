//! Values over time in panels one below the other, as text or as SVG.

use std::fmt::{self, Write as _};

/// What to draw.
pub(crate) struct Picture {
    pub(crate) panels: [Panel; 2],
    /// What begins at which minute.
    pub(crate) labels: Vec<(u64, &'static str)>,
}

/// Lines over a scale from 0.
pub(crate) struct Panel {
    pub(crate) title: &'static str,
    pub(crate) highest: f64,
    /// The distance between two values of the scale.
    pub(crate) tick: f64,
    /// Later ones lie over earlier ones.
    pub(crate) lines: Vec<Line>,
}

/// A value over time.
pub(crate) struct Line {
    name: &'static str,
    stroke: Stroke,
    /// One a second, where there is one.
    values: Vec<Option<f64>>,
}

/// How a line looks.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Stroke {
    Main,
    Second,
    Dashed,
    Thin,
}

const ROWS: u32 = 15;
const COLUMN_SECONDS: usize = 120;

const WIDTH: f64 = 900.0;
const LEFT: f64 = 50.0;
const RIGHT: f64 = 880.0;
/// Of a panel, its title above it.
const HEIGHT: f64 = 220.0;
const TITLE: f64 = 40.0;
const LABELS: f64 = 40.0;

impl Line {
    pub(crate) fn new(
        name: &'static str,
        stroke: Stroke,
        values: impl IntoIterator<Item = Option<f64>>,
    ) -> Self {
        Self {
            name,
            stroke,
            values: values.into_iter().collect(),
        }
    }

    /// The mean over a column of the plot.
    fn column(&self, column: usize) -> Option<f64> {
        let part = self.values.chunks(COLUMN_SECONDS).nth(column)?;
        let known: Vec<_> = part.iter().flatten().collect();
        (!known.is_empty()).then(|| known.iter().copied().sum::<f64>() / known.len() as f64)
    }
}

impl Stroke {
    /// Of the plot: the main line is filled below.
    fn mark(self) -> char {
        match self {
            Self::Main => '#',
            Self::Second => '+',
            Self::Dashed => '-',
            Self::Thin => '.',
        }
    }

    fn colour(self) -> &'static str {
        match self {
            Self::Main => "#2456c8",
            Self::Second => "#7d9be6",
            Self::Dashed => "#2a9d55",
            Self::Thin => "#c0392b",
        }
    }

    fn attributes(self) -> &'static str {
        match self {
            Self::Main => r#"stroke-width="2""#,
            Self::Second => r#"stroke-width="1.2""#,
            Self::Dashed => r#"stroke-width="2" stroke-dasharray="6 4""#,
            Self::Thin => r#"stroke-width="0.8""#,
        }
    }
}

impl Picture {
    /// Plots of 15 rows, one below the other.
    pub(crate) fn text(&self) -> Result<String, fmt::Error> {
        let mut plot = String::new();
        for panel in &self.panels {
            panel.plot(&mut plot)?;
        }
        for (minute, label) in &self.labels {
            let column = " ".repeat(*minute as usize * 60 / COLUMN_SECONDS);
            writeln!(plot, "      {column}^ minute {minute}: {label}")?;
        }
        Ok(plot)
    }

    /// The same as a drawing, 900 wide.
    pub(crate) fn svg(&self) -> Result<String, fmt::Error> {
        let panels = self.panels.len() as f64 * (TITLE + HEIGHT);
        let height = panels + LABELS;
        let mut out = format!(
            concat!(
                r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" font-family="sans-serif" font-size="12">"#,
                "\n",
                r##"<rect width="{w}" height="{h}" fill="#fff"/>"##,
                "\n"
            ),
            w = WIDTH,
            h = height
        );
        let seconds = self.panels.iter().flat_map(|panel| &panel.lines);
        let seconds = seconds.map(|line| line.values.len()).max().unwrap_or(1);
        let x = |second: usize| LEFT + (RIGHT - LEFT) * second as f64 / seconds as f64;
        for (place, (minute, label)) in self.labels.iter().enumerate() {
            let (at, row) = (
                x(*minute as usize * 60),
                panels + 18.0 + 16.0 * (place % 2) as f64,
            );
            writeln!(
                out,
                r##"<path d="M{at:.1} {TITLE}V{row}" stroke="#bbb" stroke-dasharray="3 3"/><text x="{:.1}" y="{row}" fill="#555">{minute} min: {label}</text>"##,
                at + 3.0
            )?;
        }
        for (place, panel) in self.panels.iter().enumerate() {
            panel.draw(place as f64 * (TITLE + HEIGHT) + TITLE, &x, &mut out)?;
        }
        out.push_str("</svg>\n");
        Ok(out)
    }
}

impl Panel {
    fn plot(&self, plot: &mut String) -> fmt::Result {
        let names = self.lines.iter();
        let names = names.map(|line| format!("{} ({})", line.name, line.stroke.mark()));
        let names: Vec<_> = names.collect();
        writeln!(plot, "{}: {}", self.title, names.join(", "))?;
        let seconds = self.lines.iter().map(|line| line.values.len()).max();
        let columns = seconds.unwrap_or_default().div_ceil(COLUMN_SECONDS);
        let step = self.highest / f64::from(ROWS);
        for row in (1..=ROWS).rev() {
            let level = f64::from(row) * step;
            if row % 3 == 0 {
                write!(plot, "{level:>4.1} |")?;
            } else {
                plot.push_str("     |");
            }
            plot.extend((0..columns).map(|column| self.cell(column, level, step / 2.0)));
            plot.push('\n');
        }
        writeln!(plot, "     +{}", "-".repeat(columns))
    }

    /// The last line that runs through the cell, else the filling.
    fn cell(&self, column: usize, level: f64, half: f64) -> char {
        let values = || {
            let known = |line: &Line| Some((line.stroke, line.column(column)?));
            self.lines.iter().filter_map(known)
        };
        let through = values().rfind(|(_, value)| (value - level).abs() <= half);
        let filled =
            values().find(|(stroke, value)| *stroke == Stroke::Main && *value >= level - half);
        through.or(filled).map_or(' ', |(stroke, _)| stroke.mark())
    }

    fn draw(&self, top: f64, x: &dyn Fn(usize) -> f64, out: &mut String) -> fmt::Result {
        let y = |value: f64| top + HEIGHT - (HEIGHT - 10.0) * value / self.highest;
        let above = top - 12.0;
        writeln!(
            out,
            r##"<text x="{LEFT}" y="{above}" font-size="14" fill="#222">{}</text>"##,
            self.title
        )?;
        for tick in 0..=(self.highest / self.tick) as u32 {
            let (value, places) = (f64::from(tick) * self.tick, usize::from(self.tick < 1.0));
            let line = y(value);
            writeln!(
                out,
                r##"<path d="M{LEFT} {line:.1}H{RIGHT}" stroke="#ddd"/><text x="42" y="{:.1}" text-anchor="end" fill="#555">{value:.places$}</text>"##,
                line + 4.0
            )?;
        }
        let mut right = RIGHT;
        for Line {
            name,
            stroke,
            values,
        } in &self.lines
        {
            let (path, colour) = (path(values, x, &y)?, stroke.colour());
            writeln!(
                out,
                r#"<path d="{path}" fill="none" stroke="{colour}" {}/><text x="{right}" y="{above}" text-anchor="end" fill="{colour}">{name}</text>"#,
                stroke.attributes()
            )?;
            right -= 16.0 + 6.5 * name.len() as f64;
        }
        Ok(())
    }
}

/// A line of steps: across to each second at which the value moves, then up or down; broken where there
/// is none.
fn path(
    values: &[Option<f64>],
    x: &dyn Fn(usize) -> f64,
    y: &dyn Fn(f64) -> f64,
) -> Result<String, fmt::Error> {
    let (mut path, mut last) = (String::new(), None);
    for (second, value) in values.iter().enumerate() {
        match (last, *value) {
            (before, now) if before == now => {}
            (None, Some(now)) => write!(path, "M{:.1} {:.1}", x(second), y(now))?,
            (Some(_), Some(now)) => write!(path, "H{:.1}V{:.1}", x(second), y(now))?,
            (_, None) => write!(path, "H{:.1}", x(second))?,
        }
        last = *value;
    }
    if last.is_some() {
        write!(path, "H{:.1}", x(values.len()))?;
    }
    Ok(path)
}
