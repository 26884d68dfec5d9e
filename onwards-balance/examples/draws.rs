//! How often each provider is chosen first: idle, where weights decide, and under load, where
//! running attempts do.
//!
//! `cargo run -p onwards-balance --example draws`

use std::num::NonZeroU32;
use std::time::Duration;

use onwards_balance::{First, Load, Order, Strategy};

const WEIGHTS: [u32; 4] = [5, 3, 1, 1];
/// The second provider takes ten times as long as the others.
const SPEEDS: [u32; 4] = [10, 1, 10, 10];
const DRAWS: u32 = 10_000;

#[expect(clippy::print_stdout, reason = "an example shows its result")]
fn main() {
    println!("idle: each request ends before the next begins");
    histogram(0);
    println!("busy: a hundred requests at all times, the second provider is ten times slower");
    histogram(100);
}

#[expect(clippy::print_stdout, reason = "an example shows its result")]
fn histogram(running: u32) {
    let weights = WEIGHTS.into_iter().filter_map(NonZeroU32::new);
    let order = Order::new(Strategy::WeightedRandom, weights);
    let mut random = fastrand::Rng::with_seed(7);
    let (mut load, mut hits) = ([Load::default(); 4], [0; 4]);
    for draw in 0..DRAWS {
        let mut candidates = order.candidates(First::ByStrategy);
        let Some(chosen) = candidates.next(&load[..], Duration::ZERO, random.u64(..)) else {
            break;
        };
        for (load, hit) in load.iter_mut().zip(&mut hits).skip(chosen).take(1) {
            load.in_flight += 1;
            *hit += 1;
        }
        if draw >= running {
            finish_one(&mut load, &mut random);
        }
    }
    for (name, (hits, weight)) in ('A'..).zip(hits.iter().zip(WEIGHTS)) {
        let bar = "#".repeat((hits * 60 / DRAWS) as usize);
        println!("  {name} weight {weight}  {hits:>5}  {bar}");
    }
}

/// Ends one running request, each with a chance in proportion to its provider's speed.
fn finish_one(load: &mut [Load], random: &mut fastrand::Rng) {
    let pace: u32 = load
        .iter()
        .zip(SPEEDS)
        .map(|(load, speed)| load.in_flight * speed)
        .sum();
    let mut ticket = random.u32(0..pace);
    for (load, speed) in load.iter_mut().zip(SPEEDS) {
        match ticket.checked_sub(load.in_flight * speed) {
            Some(rest) => ticket = rest,
            None => return load.in_flight -= 1,
        }
    }
}
