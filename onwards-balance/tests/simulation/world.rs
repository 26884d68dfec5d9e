//! A pool of a preferred provider that slows down under load and an alternate that never does,
//! run in simulated time. Same scenario, same result.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::time::Duration;

use onwards_balance::{Change, Controller, ControllerSettings, Outcome, Seen, Ticket, point};

/// First-token deadline of the pool: an attempt without a frame by then goes to the alternate.
const DEADLINE: Duration = Duration::from_secs(20);
/// How long the alternate's first frame takes, whatever its load.
const ALTERNATE: Duration = Duration::from_secs(1);

/// What happens in the world outside the gateway.
#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    pub(crate) seed: u64,
    pub(crate) length: Duration,
    /// From when on how many requests arrive per second.
    pub(crate) traffic: Vec<(Duration, f64)>,
    /// Five seconds of twice the traffic, then fifteen of two thirds, and so on.
    pub(crate) bursty: bool,
    /// From when on how many streams the preferred provider carries at once: with more, first
    /// frames take longer than 10 s.
    pub(crate) capacity: Vec<(Duration, f64)>,
    /// From when on which part of the attempts ends without a verdict.
    pub(crate) unknown: Vec<(Duration, f64)>,
}

/// Latency as the clients see it: the wait for the first frame, failover included, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Latency {
    pub(crate) p50: f64,
    pub(crate) p99: f64,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Run {
    /// Every move of the share.
    pub(crate) changes: Vec<(Duration, Change)>,
    /// Verdicts on the preferred provider, with their time.
    pub(crate) verdicts: Vec<(Duration, Outcome)>,
    /// When each request came and how long its client waited for the first frame.
    pub(crate) waits: Vec<(Duration, Duration)>,
    pub(crate) length: Duration,
    start: f64,
}

impl Scenario {
    /// 20 requests a second on a provider that carries `capacity` streams.
    pub(crate) fn new(capacity: f64) -> Self {
        Self {
            seed: 1,
            length: minutes(90),
            traffic: vec![(Duration::ZERO, 20.0)],
            bursty: false,
            capacity: vec![(Duration::ZERO, capacity)],
            unknown: vec![(Duration::ZERO, 0.0)],
        }
    }

    /// Lets a controller with the default settings steer from a share of 1.
    pub(crate) fn controlled(&self) -> Run {
        self.run(
            1.0,
            Controller::new(ControllerSettings::default(), Duration::ZERO).ok(),
        )
    }

    /// Keeps one share all the time.
    pub(crate) fn fixed(&self, share: f64) -> Run {
        self.run(share, None)
    }

    fn run(&self, share: f64, controller: Option<Controller>) -> Run {
        let mut world = World {
            scenario: self,
            random: fastrand::Rng::with_seed(self.seed),
            settings: ControllerSettings::default(),
            controller,
            attempts: HashMap::new(),
            begun: 0,
            events: BinaryHeap::new(),
            streams: 0,
            run: Run {
                changes: Vec::new(),
                verdicts: Vec::new(),
                waits: Vec::new(),
                length: self.length,
                start: share,
            },
        };
        world.walk();
        world.run
    }

    /// The largest share, to 1/64, at which at most one in ten attempts breaches when the share
    /// is never moved. Needs no controller, hence what a controller should find.
    pub(crate) fn carried(&self) -> f64 {
        let short = Self {
            length: minutes(20),
            ..self.clone()
        };
        let (mut good, mut bad) = (0.0, 1.0);
        for _ in 0..6 {
            let middle = (good + bad) / 2.0;
            let fits = short.fixed(middle).breach_rate() <= 0.1;
            *(if fits { &mut good } else { &mut bad }) = middle;
        }
        good
    }
}

impl Run {
    /// The share in force at a time.
    pub(crate) fn share(&self, time: Duration) -> f64 {
        self.changes
            .iter()
            .take_while(|(at, _)| *at <= time)
            .last()
            .map_or(self.start, |(_, c)| c.share)
    }

    /// The shares from a time on to the end, one a second.
    pub(crate) fn shares(&self, from: Duration) -> Vec<f64> {
        (from.as_secs()..self.length.as_secs())
            .map(|s| self.share(Duration::from_secs(s)))
            .collect()
    }

    /// The latency of the requests that came between two times; `None` if none came.
    pub(crate) fn latency(&self, from: Duration, to: Duration) -> Option<Latency> {
        let begin = self.waits.partition_point(|(time, _)| *time < from);
        let end = self.waits.partition_point(|(time, _)| *time < to);
        let waits = self.waits.get(begin..end)?.iter();
        let mut waits: Vec<_> = waits.map(|(_, wait)| wait.as_secs_f64()).collect();
        waits.sort_by(f64::total_cmp);
        Some(Latency {
            p50: *waits.get(waits.len() / 2)?,
            p99: *waits.get(waits.len() * 99 / 100)?,
        })
    }

    /// Breaches among the verdicts.
    pub(crate) fn breach_rate(&self) -> f64 {
        let count = |which| {
            self.verdicts
                .iter()
                .filter(|(_, verdict)| *verdict == which)
                .count() as f64
        };
        count(Outcome::Breach) / (count(Outcome::Breach) + count(Outcome::Healthy)).max(1.0)
    }
}

pub(crate) fn minutes(n: u64) -> Duration {
    Duration::from_secs(n * 60)
}

struct World<'s> {
    scenario: &'s Scenario,
    random: fastrand::Rng,
    settings: ControllerSettings,
    controller: Option<Controller>,
    /// Attempts by number, until reported.
    attempts: HashMap<u32, (Option<Ticket>, Seen)>,
    begun: u32,
    events: BinaryHeap<Reverse<(Duration, Event)>>,
    streams: u32,
    run: Run,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Arrival,
    Report(u32),
    StreamEnd,
}

impl World<'_> {
    fn walk(&mut self) {
        self.schedule(Duration::ZERO, Event::Arrival);
        while let Some(Reverse((now, event))) = self.events.pop() {
            if now > self.scenario.length {
                break;
            }
            match event {
                Event::Arrival => self.arrive(now),
                Event::Report(number) => self.report(number, now),
                Event::StreamEnd => self.streams -= 1,
            }
        }
    }

    fn arrive(&mut self, now: Duration) {
        let gap = -(1.0 - self.random.f64()).ln() / self.traffic(now);
        // Without traffic, look again every now and then.
        let gap = Duration::from_secs_f64(gap.min(5.0));
        self.schedule(now + gap, Event::Arrival);
        if self.traffic(now) <= 0.0 {
            return;
        }
        let mut share = self.run.start;
        if let Some(controller) = &mut self.controller {
            let change = controller.arrive(now);
            self.run.changes.extend(change.map(|change| (now, change)));
            share = controller.share();
        }
        let wait = if point(self.random.u64(..)) < share {
            self.attempt(now)
        } else {
            ALTERNATE
        };
        self.run.waits.push((now, wait));
    }

    /// The first frame takes 0.5 s and more with the square of the load, spread log-normally so
    /// that at a load of 1 one in ten takes longer than 10 s. What the client waits for a first frame,
    /// from here or after the deadline from the alternate.
    fn attempt(&mut self, now: Duration) -> Duration {
        self.streams += 1;
        let load = f64::from(self.streams) / at(&self.scenario.capacity, now);
        let wait = 0.5 + 3.4 * load * load * (0.8 * self.normal()).exp();
        let first_frame = Duration::from_secs_f64(wait.min(1e6));
        let unknown = self.random.f64() < at(&self.scenario.unknown, now);
        let seen = match first_frame {
            _ if unknown => Seen::Other,
            _ if first_frame > DEADLINE => Seen::Deadline(DEADLINE),
            _ => Seen::FirstFrame(first_frame),
        };
        let told = now + first_frame.min(DEADLINE);
        let stream = if first_frame > DEADLINE {
            0.0
        } else {
            4.0 + 4.0 * self.random.f64()
        };
        let ticket = self.controller.as_mut().map(Controller::begin);
        self.attempts.insert(self.begun, (ticket, seen));
        self.schedule(told, Event::Report(self.begun));
        self.begun += 1;
        self.schedule(told + Duration::from_secs_f64(stream), Event::StreamEnd);
        if first_frame > DEADLINE {
            DEADLINE + ALTERNATE
        } else {
            first_frame
        }
    }

    /// A number of the standard normal distribution (Box and Muller).
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.random.f64()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.random.f64()).cos()
    }

    fn report(&mut self, number: u32, now: Duration) {
        let Some((ticket, seen)) = self.attempts.remove(&number) else {
            return;
        };
        let outcome = self.settings.classify(seen);
        self.run.verdicts.push((now, outcome));
        if let (Some(controller), Some(ticket)) = (&mut self.controller, ticket) {
            let change = controller.observe(ticket, outcome, now);
            self.run.changes.extend(change.map(|change| (now, change)));
        }
    }

    fn traffic(&self, now: Duration) -> f64 {
        let burst = match (self.scenario.bursty, now.as_secs() % 20) {
            (false, _) => 1.0,
            (true, 0..5) => 2.0,
            (true, _) => 2.0 / 3.0,
        };
        at(&self.scenario.traffic, now) * burst
    }

    fn schedule(&mut self, time: Duration, event: Event) {
        self.events.push(Reverse((time, event)));
    }
}

/// The value in force at a time.
fn at(timeline: &[(Duration, f64)], now: Duration) -> f64 {
    timeline
        .iter()
        .take_while(|(from, _)| *from <= now)
        .last()
        .map_or(0.0, |(_, value)| *value)
}
