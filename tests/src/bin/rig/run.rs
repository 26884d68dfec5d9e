//! The two ways to measure.

use std::cell::Cell;
use std::net::SocketAddr;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use onwards_tests::{Gateway, Launch};
use serde_json::{Value, json};
use tokio::task::{JoinSet, spawn_local, yield_now};
use tokio::time::sleep;

use crate::answers::{self, Answer};
use crate::client::{Client, Expected};
use crate::process::{self, Counter};
use crate::provider::{self, Lanes};
use crate::scenario::{self, House, MANY, Scenario};

/// How often each scenario's time is measured.
const ROUNDS: usize = 5;
/// How often each scenario's instructions are counted; what is in the middle is told.
const COUNTS: usize = 3;
/// How long clients begin requests in a round.
const ROUND: Duration = Duration::from_millis(250);
/// Of what there are many, how much is asked for when instructions are counted: as much as where there are few.
const NAMES: usize = scenario::FEW;
/// How long the gateway needs at most to come to rest after an answer.
const REST: Duration = Duration::from_millis(20);

/// A gateway and what it is asked.
struct Site<'a> {
    gateway: Gateway,
    /// The scenarios and what their answers have to be.
    scenarios: Vec<(&'a Scenario, Rc<Expected>)>,
    lanes: Rc<Lanes>,
    /// Open streams; they end with this.
    held: Vec<Client>,
    /// How much memory each of them takes.
    held_bytes: Option<f64>,
}

impl<'a> Site<'a> {
    async fn start(
        house: House,
        scenarios: &'a [Scenario],
        under: &[&str],
        counted: bool,
    ) -> Site<'a> {
        let lanes = provider::lanes(counted);
        let mut ports = Vec::new();
        for scenario in scenarios.iter().filter(|one| one.house == house) {
            ports.push((scenario, provider::start(scenario.answer(), &lanes).await));
        }
        let held = provider::start(answers::held(), &lanes).await;
        let mut launch = Launch::new(&house.config(&ports, held))
            .under(under)
            .env("PATH", &std::env::var("PATH").unwrap_or_default())
            .args(&[
                "--workers",
                "1",
                "--watch",
                "false",
                "--shutdown-delay-secs",
                "0",
            ]);
        if house == House::Bare {
            launch = launch.env("RUST_LOG", "off").args(&["--metrics", "false"]);
        }
        let mut site = Self {
            gateway: launch.start().await,
            scenarios: Vec::new(),
            lanes,
            held: Vec::new(),
            held_bytes: None,
        };
        for (scenario, _) in ports {
            let expected = site.learn(scenario).await;
            site.scenarios.push((scenario, Rc::new(expected)));
        }
        if let House::Held(count) = house {
            site.hold(count).await;
        }
        site
    }

    fn address(&self) -> SocketAddr {
        self.gateway.address()
    }

    /// What the answers of a scenario are to be.
    async fn learn(&self, scenario: &Scenario) -> Expected {
        let steps: Vec<usize> = match scenario.answer() {
            Answer::Steps(steps) => steps.iter().map(|step| step.told).collect(),
            _ => Vec::new(),
        };
        let mut client = Client::connect(self.address(), &self.lanes, 0).await;
        let body = client.learn(&scenario.requests(0, 1)[0], &steps).await;
        scenario.look_at(&body);
        Expected::new(body, &steps, scenario.is_translated())
    }

    /// Opens so many streams.
    async fn hold(&mut self, count: usize) {
        let request = scenario::held_request();
        let before = self.gateway.resident_bytes();
        for _ in 0..count {
            let mut client = Client::connect(self.address(), &self.lanes, 0).await;
            client.hold(&request).await;
            self.held.push(client);
        }
        let more = self.gateway.resident_bytes().saturating_sub(before);
        self.held_bytes = Some(more as f64 / count as f64);
    }

    /// Asks until `more` says no, on so many connections at a time; how many requests there were, and how long each step took.
    async fn ask(
        &self,
        clients: Vec<Asking>,
        more: impl Fn(usize) -> bool + 'static,
    ) -> (Vec<Asking>, usize) {
        let (more, asked) = (Rc::new(more), Rc::new(Cell::new(0)));
        let mut all = JoinSet::new();
        for mut client in clients {
            let (more, asked) = (Rc::clone(&more), Rc::clone(&asked));
            all.spawn_local(async move {
                while more(asked.get()) {
                    asked.set(asked.get() + 1);
                    client.ask().await;
                }
                client
            });
        }
        let mut back = Vec::new();
        while let Some(ended) = all.join_next().await {
            back.push(ended.expect("a client"));
        }
        (back, asked.get())
    }

    async fn clients(&self, at: usize, count: usize, names: usize) -> Vec<Asking> {
        let (scenario, expected) = &self.scenarios[at];
        let mut clients = Vec::new();
        for lane in 0..count {
            clients.push(Asking {
                client: Client::connect(self.address(), &self.lanes, lane).await,
                requests: scenario.requests(lane, names),
                next: lane,
                expected: Rc::clone(expected),
                laps: Vec::new(),
            });
        }
        clients
    }
}

/// A client with its requests, which it takes in turn.
struct Asking {
    client: Client,
    requests: Vec<Vec<u8>>,
    next: usize,
    expected: Rc<Expected>,
    laps: Vec<Duration>,
}

impl Asking {
    async fn ask(&mut self) {
        let request = &self.requests[self.next % self.requests.len()];
        self.next += 1;
        self.client
            .ask(request, &self.expected, &mut self.laps)
            .await;
    }
}

/// How many units a request of the scenario is.
fn units(scenario: &Scenario) -> usize {
    match scenario.answer() {
        Answer::Steps(steps) => steps.iter().map(|step| step.events).sum(),
        _ => 1,
    }
}

/// The houses of these scenarios, in order.
fn houses(scenarios: &[Scenario]) -> Vec<House> {
    let mut houses: Vec<House> = scenarios.iter().map(|one| one.house).collect();
    houses.dedup();
    houses
}

/// Counts instructions: gateway after gateway.
pub(crate) async fn count(scenarios: &[Scenario]) {
    let folder = tempfile::tempdir().expect("a folder");
    for (number, house) in houses(scenarios).into_iter().enumerate() {
        let file = folder.path().join(format!("house-{number}"));
        count_in(house, scenarios, &file).await;
    }
}

async fn count_in(house: House, scenarios: &[Scenario], file: &Path) {
    let begun = Instant::now();
    let under = Counter::program(file);
    let under: Vec<&str> = under.iter().map(String::as_str).collect();
    let site = Site::start(house, scenarios, &under, true).await;
    eprintln!("rig: {house:?} is up after {:.1?}", begun.elapsed());
    let mut counter = Counter::begin(site.gateway.pid(), file);
    for (at, (scenario, _)) in site.scenarios.iter().enumerate() {
        let begun = Instant::now();
        let clients = site.clients(at, 1, NAMES).await;
        let warm = if scenario.clients < 10 { 3 } else { NAMES };
        let (mut clients, _) = site.ask(clients, move |asked| asked < warm).await;
        counter.instructions();
        let once = scenario.counted;
        let mut each = Vec::new();
        for _ in 0..COUNTS {
            let mut counts = [0; 2];
            for (count, requests) in counts.iter_mut().zip([once, 3 * once]) {
                (clients, _) = site.ask(clients, move |asked| asked < requests).await;
                *count = counter.instructions();
            }
            let [first, second] = counts;
            each.push(second.saturating_sub(first) as f64 / (2 * once * units(scenario)) as f64);
        }
        each.sort_by(f64::total_cmp);
        let each = each[COUNTS / 2];
        eprintln!("rig: {} in {:.1?}", scenario.name, begun.elapsed());
        println!(
            "{}",
            json!({"scenario": scenario.name, "unit": scenario.unit(), "instructions": each})
        );
    }
}

/// Measures time: all gateways are there, one is asked.
pub(crate) async fn time(scenarios: &[Scenario]) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let pinned = cores > 1 && process::present("taskset");
    let under: &[&str] = if pinned { &["taskset", "-c", "0"] } else { &[] };
    if pinned {
        process::stay_on(1);
        spawn_local(async {
            loop {
                yield_now().await;
            }
        });
    } else {
        eprintln!("rig: one core or no taskset: gateway and load are not kept apart");
    }
    let mut sites = Vec::new();
    for house in houses(scenarios) {
        sites.push(Site::start(house, scenarios, under, false).await);
    }
    let mut results: Vec<(&Scenario, Option<f64>, Vec<Round>)> = Vec::new();
    for round in 0..ROUNDS {
        let mut number = 0;
        for site in &sites {
            for (at, (scenario, _)) in site.scenarios.iter().enumerate() {
                let measured = time_once(site, at).await;
                if round == 0 {
                    results.push((scenario, site.held_bytes, Vec::new()));
                }
                results[number].2.push(measured);
                number += 1;
            }
        }
    }
    for (scenario, held, rounds) in results {
        println!("{}", told(scenario, held, &rounds));
    }
}

/// What a scenario cost in one round.
struct Round {
    /// Processor time per unit, in microseconds.
    cpu: f64,
    per_second: f64,
    laps: Vec<Duration>,
}

async fn time_once(site: &Site<'_>, at: usize) -> Round {
    let scenario = site.scenarios[at].0;
    let clients = site.clients(at, scenario.clients, MANY).await;
    let warm = scenario.clients;
    let (mut clients, _) = site.ask(clients, move |asked| asked < warm).await;
    for client in &mut clients {
        client.laps.clear();
    }
    sleep(REST).await;
    let before = site.gateway.cpu_time();
    let begun = Instant::now();
    let (clients, asked) = site.ask(clients, move |_| begun.elapsed() < ROUND).await;
    let wall = begun.elapsed();
    sleep(REST).await;
    let spent = site.gateway.cpu_time() - before;
    let done = (asked * units(scenario)) as f64;
    Round {
        cpu: spent.as_secs_f64() * 1e6 / done,
        per_second: done / wall.as_secs_f64(),
        laps: clients.into_iter().flat_map(|client| client.laps).collect(),
    }
}

fn told(scenario: &Scenario, held: Option<f64>, rounds: &[Round]) -> Value {
    let mut laps: Vec<Duration> = rounds
        .iter()
        .flat_map(|round| round.laps.iter().copied())
        .collect();
    laps.sort_unstable();
    let place = |part: f64| laps[((laps.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e6;
    let of = |figure: fn(&Round) -> f64| -> Vec<f64> { rounds.iter().map(figure).collect() };
    json!({
        "scenario": scenario.name,
        "unit": scenario.unit(),
        "cpu_us": of(|round| round.cpu),
        "per_second": of(|round| round.per_second),
        "p50_us": place(0.5),
        "p99_us": place(0.99),
        "held": match scenario.house { House::Held(count) => Some(count), _ => None },
        "held_bytes": held,
    })
}
