//! The bench program that a stone's `benches/` includes: each shape of input is timed by divan, or run a number of times
//! for something outside that counts (`cargo xtask bench`).
//!
//! `--shapes` lists them, a line each: name, unit, units and bytes of one run. `--count NAME RUNS` prepares a shape and
//! runs it that many times. Anything else goes to divan.

use std::fmt;

use divan::{Bencher, black_box, counter::BytesCount};

/// An input and what is done with it.
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    /// What the figures are per, in the singular.
    pub(crate) unit: &'static str,
    pub(crate) prepare: fn() -> Work,
}

/// A prepared shape.
pub(crate) struct Work {
    /// How many units one run handles.
    pub(crate) units: usize,
    /// How many bytes one run reads.
    pub(crate) bytes: usize,
    /// One run. What it gives back keeps the work from being optimised away.
    pub(crate) run: Box<dyn FnMut() -> usize>,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The `main` of a bench program.
pub(crate) fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--shapes", ..] => {
            for Shape {
                name,
                unit,
                prepare,
            } in crate::SHAPES
            {
                let Work { units, bytes, .. } = prepare();
                println!("{name} {unit} {units} {bytes}");
            }
        }
        ["--count", name, runs, ..] => {
            let shape = crate::SHAPES
                .iter()
                .find(|shape| shape.name == name)
                .unwrap();
            let mut work = (shape.prepare)();
            for _ in 0..runs.parse().unwrap() {
                black_box((work.run)());
            }
        }
        _ => divan::main(),
    }
}

#[divan::bench(args = crate::SHAPES)]
fn shape(bencher: Bencher<'_, '_>, shape: &Shape) {
    let Work { bytes, run, .. } = (shape.prepare)();
    bencher.counter(BytesCount::new(bytes)).bench_local(run);
}
