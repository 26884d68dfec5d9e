//! What a decision costs.

use std::num::NonZeroU32;
use std::time::Duration;

use divan::{Bencher, black_box};
use onwards_balance::{
    Affinity, AffinitySettings, Controller, ControllerSettings, First, Load, Order, Outcome,
    SettingsError, Strategy,
};

fn main() {
    divan::main();
}

#[expect(clippy::unwrap_used, reason = "the settings are constants")]
fn sound<T>(made: Result<T, SettingsError>) -> T {
    made.unwrap()
}

fn pick(bencher: Bencher<'_, '_>, strategy: Strategy, providers: usize) {
    let order = Order::new(strategy, (0..providers).map(|_| NonZeroU32::MIN));
    let load = vec![Load::default(); providers];
    let mut random = fastrand::Rng::with_seed(1);
    bencher.bench_local(|| {
        let mut candidates = order.candidates(First::ByStrategy);
        candidates.next(black_box(&load[..]), Duration::ZERO, random.u64(..))
    });
}

#[divan::bench(args = [1, 2, 8, 64])]
fn first_by_priority(bencher: Bencher<'_, '_>, providers: usize) {
    pick(bencher, Strategy::Priority, providers);
}

#[divan::bench(args = [1, 2, 8, 64])]
fn first_by_weight(bencher: Bencher<'_, '_>, providers: usize) {
    pick(bencher, Strategy::WeightedRandom, providers);
}

#[divan::bench]
fn controller_request(bencher: Bencher<'_, '_>) {
    let mut controller = sound(Controller::new(
        ControllerSettings::default(),
        Duration::ZERO,
    ));
    let mut now = Duration::ZERO;
    bencher.bench_local(|| {
        now += Duration::from_millis(50);
        let idle = controller.arrive(now);
        let ticket = controller.begin();
        (
            idle,
            controller.observe(ticket, Outcome::Healthy, now),
            controller.share(),
        )
    });
}

#[divan::bench(args = [1_000, 100_000])]
fn affinity_request(bencher: Bencher<'_, '_>, conversations: u64) {
    let mut affinity = sound(Affinity::new(AffinitySettings::for_target(50)));
    let mut random = fastrand::Rng::with_seed(1);
    bencher.bench_local(|| {
        let key = random
            .u64(..conversations)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        affinity.arrive(key, Duration::ZERO)
    });
}

#[divan::bench(args = [1_000, 100_000])]
fn affinity_epoch(bencher: Bencher<'_, '_>, conversations: u64) {
    let mut affinity = sound(Affinity::new(AffinitySettings::for_target(50)));
    for n in 0..conversations {
        affinity.arrive(
            n.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            Duration::from_secs(600),
        );
    }
    let mut epochs = 0;
    bencher.bench_local(|| {
        // There and back, so that a new epoch begins and nobody is forgotten.
        epochs += 1;
        affinity.arrive(
            0,
            Duration::from_secs(if epochs % 2 == 0 { 700 } else { 1000 }),
        )
    });
}
