//! A day of a preferred provider in two and a half hours: it carries everything, then less, then
//! next to nothing, then it is left idle, then it carries everything again. Shown is the share of
//! requests that try it first.
//!
//! `cargo run -p onwards-balance --example simulation [-- --svg FILE]`

mod picture;
#[path = "../../tests/simulation/world.rs"]
mod world;

use std::time::Duration;

use picture::Picture;
use world::{Scenario, minutes};

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

#[expect(clippy::print_stdout, reason = "an example shows its result")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scenario = Scenario {
        length: minutes(150),
        traffic: vec![
            (Duration::ZERO, 20.0),
            (minutes(QUIET.0), 0.0),
            (minutes(QUIET.1), 20.0),
        ],
        capacity: STORY
            .iter()
            .map(|(minute, capacity, _)| (minutes(*minute), *capacity))
            .collect(),
        ..Scenario::new(0.0)
    };
    let run = scenario.controlled();
    let mut arguments = std::env::args().skip(1);
    // What it could carry, known to the simulation only.
    let carried = STORY.map(|(minute, capacity, _)| (minute, Scenario::new(capacity).carried()));
    let picture = Picture {
        shares: run.shares(Duration::ZERO),
        carried: carried.to_vec(),
        labels: STORY
            .iter()
            .map(|(minute, _, label)| (*minute, *label))
            .collect(),
    };
    match (arguments.next().as_deref(), arguments.next()) {
        (Some("--svg"), Some(file)) => std::fs::write(file, picture.svg()?)?,
        _ => println!("{}", picture.text()?),
    }
    Ok(())
}
