//! Two scripted providers behind one alias, and what must hold once everything is over.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use onwards_tests::{
    Gate, Gateway, Launch, Metrics, Reply, Request, Response, Step, Upstream, eventually,
};
use serde_json::{Value, json};
use tokio::net::TcpSocket;

/// The alias `m` with two providers, the first one preferred, each with room for [`Pair::room`] requests.
pub(super) struct Pair {
    pub(super) a: Upstream,
    pub(super) b: Upstream,
    pub(super) gateway: Gateway,
    room: usize,
}

impl Pair {
    /// With room for one request at each provider, so that a permit that is not given back is missed at once.
    pub(super) async fn start(strict: bool, fallback: Value) -> Self {
        Self::with_room(1, strict, fallback).await
    }

    pub(super) async fn with_room(room: usize, strict: bool, fallback: Value) -> Self {
        let (a, b) = (Upstream::start().await, Upstream::start().await);
        a.always(Reply::chat("from a"));
        b.always(Reply::chat("from b"));
        let config =
            json!({"strict_mode": strict, "targets": {"m": pool(&[&a, &b], room, fallback)}});
        let gateway = Launch::new(&config).start().await;
        Self {
            a,
            b,
            gateway,
            room,
        }
    }

    /// How often each provider has been asked.
    pub(super) fn asked(&self) -> (usize, usize) {
        (self.a.count(), self.b.count())
    }

    /// How often attempts at the provider with this label have ended like this.
    pub(super) async fn attempts(&self, provider: &str, outcome: &str) -> f64 {
        attempts(&self.gateway.metrics().await, provider, outcome)
    }

    /// Everything is given back: no gauge counts anything, a request is served, and both providers and the pool
    /// have room for exactly as many requests as at the start. Whatever the providers did before, they are well now.
    pub(super) async fn at_rest(&self) {
        self.a.always(Reply::chat("from a"));
        self.b.always(Reply::chat("from b"));
        at_rest(&self.gateway).await;
        let gate = Gate::new();
        let held = behind(&gate, Reply::chat("held"));
        self.a.always(held.clone());
        self.b.always(held);
        let (a, b) = self.asked();
        let mut waiting = Vec::new();
        for _ in 0..2 * self.room {
            waiting.push(self.gateway.begin(Request::chat()).await);
        }
        self.a.arrived(a + self.room).await;
        self.b.arrived(b + self.room).await;
        let refused = self.gateway.send(Request::chat()).await;
        assert_eq!(
            (refused.status, refused.code()),
            (429, json!("concurrency_limit_exceeded"))
        );
        gate.open();
        for mut conn in waiting {
            assert_eq!(conn.response().await.status, 200);
        }
        assert_eq!(self.asked(), (a + self.room, b + self.room));
        at_rest(&self.gateway).await;
    }
}

/// No gauge counts anything, and a request for `m` is served.
pub(super) async fn at_rest(gateway: &Gateway) {
    for gauge in [
        "onwards_requests_inflight",
        "onwards_model_inflight",
        "onwards_aimd_in_flight",
        "onwards_http_requests_pending",
    ] {
        gateway.metric_becomes(gauge, &[], 0.0).await;
    }
    let answer = gateway.send(Request::chat()).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
}

/// A pool in definition order, with room for `room` requests at each provider and for one each in the whole.
pub(super) fn pool(providers: &[&Upstream], room: usize, fallback: Value) -> Value {
    let limit = |most: usize| json!({"max_concurrent_requests": most});
    let provider = |up: &&Upstream| json!({"url": up.url(), "concurrency_limit": limit(room)});
    json!({
        "strategy": "priority",
        "concurrency_limit": limit(room * providers.len()),
        "providers": providers.iter().map(provider).collect::<Vec<_>>(),
        "fallback": fallback,
    })
}

/// A fallback that goes on after overload, server errors and silence.
pub(super) fn thorough() -> Value {
    json!({"enabled": true, "on_status": [429, 5], "first_token_timeout_ms": 200})
}

/// The same with more members.
pub(super) fn thorough_with(members: &Value) -> Value {
    merged(thorough(), members)
}

/// `base` with more members, which may replace its own.
pub(super) fn merged(mut base: Value, members: &Value) -> Value {
    for (name, value) in members.as_object().unwrap() {
        base[name] = value.clone();
    }
    base
}

/// Waits until so much time has passed: for what a clock must not do.
pub(super) async fn past(time: Duration) {
    let begun = Instant::now();
    eventually("time to pass", || async { begun.elapsed() >= time }).await;
}

/// Waits until these providers have been asked so often in all.
pub(super) async fn eventually_asked(providers: &[&Upstream], times: usize) {
    eventually("the providers to be asked", || async {
        providers.iter().map(|up| up.count()).sum::<usize>() >= times
    })
    .await;
}

/// An answer that is not begun before the gate opens.
pub(super) fn behind(gate: &Gate, reply: Reply) -> Reply {
    let mut steps = vec![Step::Wait(gate.clone())];
    steps.extend(reply.0);
    Reply(steps)
}

/// A whole event stream that says `text`.
pub(super) fn streamed(text: &str) -> Reply {
    Reply::stream().delta(text).done()
}

/// A chat request with `stream: true`.
pub(super) fn stream() -> Request {
    Request::chat_with(&json!({"stream": true}))
}

/// An error in the envelope of the providers, with this code.
pub(super) fn error(code: impl Into<Value>) -> Value {
    let code: Value = code.into();
    json!({"error": {"message": "no", "type": "x", "param": null, "code": code}})
}

/// The status and the code of an answer that is an error.
pub(super) fn refusal(answer: &Response) -> (u16, Value) {
    (answer.status, answer.code())
}

pub(super) fn attempts(metrics: &Metrics, provider: &str, outcome: &str) -> f64 {
    metrics.count(
        "onwards_attempts_total",
        &[("provider", provider), ("outcome", outcome)],
    )
}

/// A port of 127.0.0.1 that nobody listens on and nobody else gets.
pub(super) struct Refusing {
    _held: TcpSocket,
    address: SocketAddr,
}

impl Refusing {
    pub(super) fn new() -> Self {
        let held = TcpSocket::new_v4().unwrap();
        held.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = held.local_addr().unwrap();
        Self {
            _held: held,
            address,
        }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}
