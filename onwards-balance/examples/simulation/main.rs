//! A day of a preferred provider in two and a half hours: it carries everything, then less, then
//! next to nothing, then it is left idle, then it carries everything again. Shown is the share of
//! requests that try it first, and below it how long the clients wait for a first token.
//!
//! `cargo run -p onwards-balance --example simulation [-- --svg FILE]`

mod picture;
#[path = "../../tests/simulation/world.rs"]
mod world;

use std::time::Duration;

use picture::{Line, Panel, Picture, Stroke};
use world::{Latency, Run, Scenario, minutes};

const STORY: [(u64, f64, &str); 6] = [
    (0, 400.0, "carries everything"),
    (20, 130.0, "carries part"),
    (60, 20.0, "incident"),
    (70, 400.0, "recovered"),
    (95, 15.0, "incident"),
    (98, 400.0, "no traffic"),
];
/// No traffic from here to there.
const QUIET: (u64, u64) = (98, 135);
/// What a latency is taken over.
const STEP: Duration = Duration::from_secs(30);

#[expect(clippy::print_stdout, reason = "an example shows its result")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (Some("--svg"), Some(file)) => std::fs::write(file, picture().svg()?)?,
        _ => println!("{}", picture().text()?),
    }
    Ok(())
}

fn picture() -> Picture {
    let timeline = STORY.map(|(minute, capacity, _)| (minutes(minute), capacity));
    let scenario = Scenario {
        length: minutes(150),
        traffic: vec![
            (Duration::ZERO, 20.0),
            (minutes(QUIET.0), 0.0),
            (minutes(QUIET.1), 20.0),
        ],
        capacity: timeline.to_vec(),
        ..Scenario::new(0.0)
    };
    let (steered, unsteered) = (scenario.controlled(), scenario.fixed(1.0));
    Picture {
        panels: [shares(&steered), latencies(&steered, &unsteered)],
        labels: STORY.map(|(minute, _, label)| (minute, label)).to_vec(),
    }
}

fn shares(steered: &Run) -> Panel {
    let share = steered.shares(Duration::ZERO).into_iter().map(Some);
    // What it could carry, known to the simulation only.
    let carried = STORY.map(|(minute, capacity, _)| (minute, Scenario::new(capacity).carried()));
    let carried = (0..steered.length.as_secs()).map(|second| {
        let begun = carried.iter().rfind(|(minute, _)| minute * 60 <= second);
        begun.map(|(_, share)| *share)
    });
    Panel {
        title: "Share of requests that try the preferred provider first",
        highest: 1.0,
        tick: 0.2,
        lines: vec![
            Line::new("share", Stroke::Main, share),
            Line::new("what the provider carries", Stroke::Dashed, carried),
        ],
    }
}

fn latencies(steered: &Run, unsteered: &Run) -> Panel {
    let values = |run: &Run, part: fn(Latency) -> f64| {
        let per_second = (0..run.length.as_secs()).map(|second| {
            let from = STEP * (Duration::from_secs(second).div_duration_f64(STEP) as u32);
            run.latency(from, from + STEP).map(part)
        });
        per_second.collect::<Vec<_>>()
    };
    Panel {
        title: "Seconds to the first token, as the clients see it",
        highest: 22.0,
        tick: 5.0,
        lines: vec![
            Line::new(
                "median without the controller",
                Stroke::Thin,
                values(unsteered, |latency| latency.p50),
            ),
            Line::new(
                "p99",
                Stroke::Second,
                values(steered, |latency| latency.p99),
            ),
            Line::new(
                "median",
                Stroke::Main,
                values(steered, |latency| latency.p50),
            ),
        ],
    }
}

#[cfg(test)]
mod tests;
