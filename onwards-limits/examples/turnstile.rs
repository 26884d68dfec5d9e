//! A turnstile that lets two people a second into a room for three, as a plain simulation.
//!
//! `cargo run -p onwards-limits --example turnstile` prints who gets in and who is told what.

use std::sync::Arc;
use std::time::Duration;

use onwards_limits::{Bucket, Permit, Rate, RateError, Slots};

/// Arrival and length of stay in milliseconds.
const VISITORS: [(u64, u64); 10] = [
    (0, 2500),
    (0, 5000),
    (0, 1000),
    (400, 300),
    (600, 900),
    (1100, 5000),
    (1200, 200),
    (1300, 200),
    (1900, 200),
    (2600, 100),
];
const ROOM: Option<u32> = Some(3);

#[expect(clippy::print_stdout, reason = "an example shows its result")]
fn main() -> Result<(), RateError> {
    let turnstile = Bucket::new(Rate::new(2.0, 2)?, Duration::ZERO);
    let room = Arc::new(Slots::default());
    let mut inside: Vec<(u64, Permit)> = Vec::new();
    for (visitor, (arrival, stay)) in (1..).zip(VISITORS) {
        let now = Duration::from_millis(arrival);
        inside.retain(|&(leaves, _)| leaves > arrival);
        let answer = match turnstile.take(now) {
            Err(refused) => format!("too fast, come back in {:?}", refused.wait()),
            Ok(()) => match room.try_enter(ROOM) {
                Some(permit) => {
                    inside.push((arrival + stay, permit));
                    format!("in, {} inside", room.in_use())
                }
                None => {
                    turnstile.give_back();
                    "the room is full, no token spent".to_owned()
                }
            },
        };
        println!("{arrival:>5} ms  visitor {visitor:>2}: {answer}");
    }
    Ok(())
}
