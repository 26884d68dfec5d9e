//! The gateway under everything at once, for a while: plain answers, streams, clients that leave, streams that break, limits,
//! reloads five times a second, providers that fail in every way, a store of shared counts that is restarted. Afterwards all of it has to be at rest.
//!
//!     soak SECONDS [SEED]
//!
//! A provider that never fails stands in every pool, so each request has an answer: one that is lost fails the run at once.
//! The seed is printed; it repeats the choices, not the timing.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test: it fails at once and loudly, and says what it did"
)]

mod clients;
mod config;
mod providers;
mod store;

use std::sync::Arc;
use std::time::Duration;

use onwards_tests::{Gateway, Launch, eventually};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use clients::{Client, Tally};
use config::Plan;
use providers::Providers;
use store::Store;

/// Clients at a time.
const CLIENTS: u64 = 12;
/// How often the configuration is replaced.
const RELOAD_EVERY: Duration = Duration::from_millis(200);
/// What the process may hold at rest beyond what it held after warming up: half of that, and this, for what an allocator keeps.
const SPARE: usize = 32 * 1024 * 1024;

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let seconds: u64 = match arguments.next() {
        Some(seconds) => seconds.parse().expect("seconds"),
        None => 60,
    };
    let seed: u64 = match arguments.next() {
        Some(seed) => seed.parse().expect("a seed"),
        None => fastrand::u64(..1_000_000),
    };
    println!("soak: {seconds} seconds, seed {seed}");
    soak(Duration::from_secs(seconds), seed).await;
}

async fn soak(time: Duration, seed: u64) {
    let mut store = Store::start().await;
    let providers = Providers::start().await;
    let plan = Arc::new(Plan {
        providers,
        store: store.as_ref().map(Store::url),
    });
    // Failed attempts are the point here, and not worth a line each.
    let launch = Launch::new(&plan.version(0)).env("RUST_LOG", "error");
    let launch = launch.args(&["--shutdown-delay-secs", "0"]);
    let gateway = Arc::new(launch.start().await);
    let tally = Arc::new(Tally::default());

    let begun = Instant::now();
    let end = begun + time;
    let mut traffic = JoinSet::new();
    for number in 0..CLIENTS {
        let client = Client::new(seed, number, &gateway, &tally);
        traffic.spawn(client.run(end));
    }
    let mut weather = JoinSet::new();
    weather.spawn(providers::flap(Arc::clone(&plan), seed));
    traffic.spawn(reload(Arc::clone(&gateway), Arc::clone(&plan), end));

    sleep_until(begun + time / 5).await;
    let warm = gateway.resident_bytes();
    sleep_until(begun + time / 2).await;
    if let Some(store) = &mut store {
        store.restart().await;
    }
    while let Some(ended) = traffic.join_next().await {
        if let Err(error) = ended {
            std::panic::resume_unwind(error.into_panic());
        }
    }
    weather.shutdown().await;
    plan.providers.recover();
    println!("soak: {tally}");
    tally.has_seen_everything();
    at_rest(&gateway, time).await;
    if store.is_some() {
        gateway
            .metric_becomes("onwards_shared_state_up", &[], 1.0)
            .await;
    }
    permits_are_home(&gateway, &plan.providers).await;
    memory_is_back(&gateway, warm).await;
    ends_well(gateway).await;
}

/// Replaces the configuration until the end; the last one is the first again.
async fn reload(gateway: Arc<Gateway>, plan: Arc<Plan>, end: Instant) {
    for version in 1.. {
        sleep(RELOAD_EVERY).await;
        if Instant::now() >= end {
            break;
        }
        gateway.replace_config(&plan.version(version));
        if version % 7 == 0 {
            gateway.signal("HUP");
        }
    }
    gateway.replace_config(&plan.version(0));
}

/// Every gauge of what runs is at zero, and the configuration has been taken up again and again.
async fn at_rest(gateway: &Gateway, time: Duration) {
    for gauge in [
        "onwards_requests_inflight",
        "onwards_model_inflight",
        "onwards_http_requests_pending",
        "onwards_aimd_in_flight",
    ] {
        gateway.metric_becomes(gauge, &[], 0.0).await;
    }
    let metrics = gateway.metrics().await;
    let generation = metrics.count("onwards_config_generation", &[]);
    println!("soak: {generation} configurations came into force");
    // Five are offered in a second; a busy machine may take up one.
    assert!(generation >= time.as_secs_f64(), "{generation}");
    let refused = metrics.count("onwards_config_reloads_total", &[("result", "error")]);
    assert_eq!(refused, 0.0, "refused configurations");
}

/// All permits of the limited alias can be taken at once, and not one more.
async fn permits_are_home(gateway: &Gateway, providers: &Providers) {
    let gate = providers.hold();
    let limit = config::LIMIT;
    let mut held = Vec::new();
    for _ in 0..limit {
        held.push(gateway.begin(clients::limited("hold")).await);
    }
    gate.reached(limit).await;
    let refused = gateway.send(clients::limited("one more")).await;
    assert_eq!(refused.status, 429, "one more than the limit");
    gate.open();
    for mut held in held {
        held.until(b"0\r\n\r\n").await;
    }
    println!("soak: all {limit} permits of a pool, a key and an account are home");
}

async fn memory_is_back(gateway: &Gateway, warm: usize) {
    let bound = warm + warm / 2 + SPARE;
    eventually("the memory to be back", || async {
        gateway.resident_bytes() <= bound
    })
    .await;
    let mib = |bytes: usize| bytes / (1024 * 1024);
    println!(
        "soak: {} MiB after warming up, {} MiB at rest, {} MiB allowed",
        mib(warm),
        mib(gateway.resident_bytes()),
        mib(bound)
    );
}

/// Nothing panicked, nothing went wrong that nobody was told of, and the end is in order.
async fn ends_well(gateway: Arc<Gateway>) {
    let mut gateway = Arc::try_unwrap(gateway).expect("everything else has ended");
    assert!(gateway.is_running());
    gateway.signal("TERM");
    assert_eq!(gateway.exit().await, Some(0));
    let log = gateway.log();
    assert!(!log.contains("panicked") && !log.contains("ERROR"), "{log}");
    println!("soak: drained, exit code 0, no panic and no error in the log");
}
