//! What one call costs: alone, and with a second thread on the same limit.
//!
//! `gcra` is the usual lock-free bucket, here only as the yardstick for the exact one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use divan::{Bencher, black_box};
use onwards_limits::{Bucket, Counts, Rate, Slots, give_back_all, take_all};

const THREADS: [usize; 2] = [1, 2];

fn main() {
    divan::main();
}

#[expect(clippy::unwrap_used, reason = "the numbers are constants")]
fn bucket(burst: u32) -> Bucket {
    Bucket::new(Rate::new(1e6, burst).unwrap(), Duration::ZERO)
}

/// Each call is a microsecond later than the last, as fast as the bucket refills.
fn clock(ticks: &AtomicU64) -> Duration {
    Duration::from_micros(ticks.fetch_add(1, Ordering::Relaxed))
}

#[divan::bench(threads = THREADS)]
fn take(bencher: Bencher<'_, '_>) {
    let (bucket, ticks) = (bucket(100), AtomicU64::new(0));
    bencher.bench(|| bucket.take(clock(&ticks)));
}

#[divan::bench(threads = THREADS)]
fn take_refused(bencher: Bencher<'_, '_>) {
    let bucket = bucket(1);
    bencher.bench(|| bucket.take(black_box(Duration::ZERO)));
}

#[divan::bench(threads = THREADS)]
fn take_all_of_two(bencher: Bencher<'_, '_>) {
    let (key, pool, ticks) = (bucket(100), bucket(1000), AtomicU64::new(0));
    bencher.bench(|| take_all([&key, &pool], clock(&ticks)));
}

#[divan::bench(threads = THREADS)]
fn take_all_and_give_back(bencher: Bencher<'_, '_>) {
    let (key, pool, ticks) = (bucket(100), bucket(1000), AtomicU64::new(0));
    bencher.bench(|| {
        if take_all([&key, &pool], clock(&ticks)).is_ok() {
            give_back_all([&key, &pool]);
        }
    });
}

#[divan::bench(threads = THREADS)]
fn gcra(bencher: Bencher<'_, '_>) {
    let (arrival, ticks) = (AtomicU64::new(0), AtomicU64::new(0));
    let (interval, tolerance) = (black_box(1000_u64), black_box(100_000_u64));
    bencher.bench(|| {
        let now = clock(&ticks).as_nanos() as u64;
        arrival.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |arrival| {
            let next = arrival.max(now) + interval;
            (next <= now + tolerance).then_some(next)
        })
    });
}

#[divan::bench(threads = THREADS)]
fn slots_enter_and_leave(bencher: Bencher<'_, '_>) {
    let slots = Arc::new(Slots::default());
    bencher.bench(|| drop(slots.try_enter(black_box(Some(8)))));
}

#[divan::bench(threads = THREADS)]
fn counts_enter_and_leave(bencher: Bencher<'_, '_>) {
    let counts = Counts::default();
    let _running = counts.try_enter("acme", "gpt-4", 20);
    bencher.bench(|| drop(counts.try_enter(black_box("acme"), black_box("gpt-4"), 20)));
}

#[divan::bench(threads = THREADS)]
fn counts_of_a_fresh_key(bencher: Bencher<'_, '_>) {
    let counts = Counts::default();
    bencher.bench(|| drop(counts.try_enter(black_box("acme"), black_box("gpt-4"), 20)));
}
