//! Two providers that come and go, one that is never there, one that never fails, and one whose streams break.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use onwards_tests::{Gate, Recorded, Reply, Step, Upstream};
use serde_json::json;
use tokio::time::sleep;

use crate::config::Plan;

pub(crate) struct Providers {
    fickle: [(Upstream, Arc<AtomicU8>); 2],
    pub(crate) steady: Upstream,
    pub(crate) breaking: Upstream,
    /// Where nobody listens.
    dead: String,
    /// Where answers to `hold` wait.
    held: Arc<Mutex<Gate>>,
}

/// The ways to fail, from 1; 0 is health.
const WAYS: u8 = 7;

impl Providers {
    pub(crate) async fn start() -> Self {
        let held = Arc::new(Mutex::new(Gate::new()));
        let steady = Upstream::start().await;
        let gate = Arc::clone(&held);
        steady.answer(move |request| match prompt(request).as_str() {
            "hold" => {
                let gate = gate.lock().unwrap_or_else(PoisonError::into_inner);
                Reply::stream().delta("held").wait(&gate).done()
            }
            _ => healthy(request),
        });
        let breaking = Upstream::start().await;
        breaking.answer(|_| {
            let stream = Reply::stream().delta("one").pause(Duration::from_millis(3));
            stream.delta("two").then(Step::Reset)
        });
        // Bound for a moment only, so that the address exists and refuses.
        let nobody = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let dead = format!("http://{}", nobody.local_addr().unwrap());
        Self {
            fickle: [fickle().await, fickle().await],
            steady,
            breaking,
            dead,
            held,
        }
    }

    /// Of the providers of a pool that fails over.
    pub(crate) fn urls(&self) -> [String; 4] {
        let [(one, _), (two, _)] = &self.fickle;
        [one.url(), two.url(), self.dead.clone(), self.steady.url()]
    }

    pub(crate) fn recover(&self) {
        for (_, health) in &self.fickle {
            health.store(0, Ordering::Relaxed);
        }
    }

    /// A gate where answers to `hold` wait from now on.
    pub(crate) fn hold(&self) -> Gate {
        let gate = Gate::new();
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = gate.clone();
        gate
    }
}

async fn fickle() -> (Upstream, Arc<AtomicU8>) {
    let health = Arc::new(AtomicU8::new(0));
    let up = Upstream::start().await;
    let now = Arc::clone(&health);
    up.answer(move |request| match now.load(Ordering::Relaxed) {
        0 => healthy(request),
        way => sick(way),
    });
    (up, health)
}

/// Lets the fickle ones fail and recover for ever, each for itself.
pub(crate) async fn flap(plan: Arc<Plan>, seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    loop {
        sleep(Duration::from_millis(random.u64(50..300))).await;
        let (_, health) = &plan.providers.fickle[random.usize(..2)];
        let way = if random.bool() {
            0
        } else {
            random.u8(1..=WAYS)
        };
        health.store(way, Ordering::Relaxed);
    }
}

/// A failure before anything reached the client.
fn sick(way: u8) -> Reply {
    let error =
        json!({"error": {"message": "no", "type": "server_error", "param": null, "code": null}});
    match way {
        1 => Reply::json(500, &error),
        2 => Reply::json(429, &error),
        3 => Reply::new(503, &[("retry-after", "1")], error.to_string()),
        4 => Reply::default().then(Step::Reset),
        5 => Reply::default().then(Step::Close),
        6 => Reply::default()
            .send("HTTP/1.1 200 OK\r\ncontent-")
            .then(Step::Close),
        _ => Reply::default().then(Step::Hang),
    }
}

/// Says what the request says: whole, or in as many pieces as it asks for.
fn healthy(request: &Recorded) -> Reply {
    let prompt = prompt(request);
    if request.json()["stream"] != true {
        return Reply::chat(&prompt);
    }
    let pieces = prompt
        .rsplit('-')
        .next()
        .and_then(|count| count.parse().ok());
    let stream = (0..pieces.unwrap_or(1)).fold(Reply::stream(), |stream, piece: u32| {
        let stream = stream.delta(&format!("{prompt}#{piece};"));
        stream.pause(Duration::from_millis(1))
    });
    stream.done()
}

fn prompt(request: &Recorded) -> String {
    let prompt = &request.json()["messages"][0]["content"];
    prompt.as_str().unwrap_or_default().to_owned()
}
