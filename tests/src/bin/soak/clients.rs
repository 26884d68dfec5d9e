//! Clients, each with choices of its own: every answer is compared with what was asked.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use onwards_tests::{End, Gateway, RawConn, Request};
use serde_json::json;
use tokio::time::{Instant, sleep};

/// What the clients have seen.
#[derive(Default)]
pub(crate) struct Tally {
    whole: AtomicU64,
    streams: AtomicU64,
    left: AtomicU64,
    broken: AtomicU64,
    admitted: AtomicU64,
    refused: AtomicU64,
    wrong: AtomicU64,
}

impl Tally {
    /// A run in which something never happened says nothing about it.
    pub(crate) fn has_seen_everything(&self) {
        for (what, count) in self.all() {
            assert!(count > 0 || what == "over a limit", "no {what}");
        }
    }

    fn all(&self) -> [(&'static str, u64); 7] {
        [
            ("whole answers", &self.whole),
            ("complete streams", &self.streams),
            ("clients that left", &self.left),
            ("broken streams", &self.broken),
            ("within a limit", &self.admitted),
            ("over a limit", &self.refused),
            ("wrong requests", &self.wrong),
        ]
        .map(|(what, count)| (what, count.load(Ordering::Relaxed)))
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.all().map(|(what, count)| format!("{count} {what}"));
        f.write_str(&all.join(", "))
    }
}

pub(crate) struct Client {
    random: fastrand::Rng,
    number: u64,
    asked: u64,
    gateway: Arc<Gateway>,
    tally: Arc<Tally>,
    kept: Option<RawConn>,
}

impl Client {
    pub(crate) fn new(seed: u64, number: u64, gateway: &Arc<Gateway>, tally: &Arc<Tally>) -> Self {
        Self {
            random: fastrand::Rng::with_seed(seed.wrapping_add(number + 1)),
            number,
            asked: 0,
            gateway: Arc::clone(gateway),
            tally: Arc::clone(tally),
            kept: None,
        }
    }

    pub(crate) async fn run(mut self, end: Instant) {
        while Instant::now() < end {
            let count = match self.random.u8(..20) {
                0..8 => self.whole().await,
                8..13 => self.stream().await,
                13..16 => self.leave().await,
                16 => self.broken().await,
                17 | 18 => self.limited().await,
                _ => self.wrong().await,
            };
            count(&self.tally).fetch_add(1, Ordering::Relaxed);
            sleep(Duration::from_millis(self.random.u64(..15))).await;
        }
    }

    /// A text that no other request has; it ends with the number of pieces that a stream shall have.
    fn prompt(&mut self) -> (String, u32) {
        self.asked += 1;
        let pieces = self.random.u32(1..20);
        (format!("q-{}-{}-{pieces}", self.number, self.asked), pieces)
    }

    fn alias(&mut self) -> &'static str {
        if self.random.bool() {
            "drawn"
        } else {
            "ordered"
        }
    }

    /// The kept connection, or a new one.
    async fn connection(&mut self) -> RawConn {
        match self.kept.take() {
            Some(kept) if self.random.u8(..10) > 0 => kept,
            _ => self.gateway.connect().await,
        }
    }

    async fn whole(&mut self) -> Count {
        let (prompt, _) = self.prompt();
        let request = chat(self.alias(), &prompt, false);
        let mut connection = self.connection().await;
        let answer = connection.ask(&request).await;
        assert_eq!(answer.status, 200, "{prompt}: {}", answer.text());
        let said = answer.json()["choices"][0]["message"]["content"].clone();
        assert_eq!(said, json!(prompt));
        self.kept = Some(connection);
        |tally| &tally.whole
    }

    async fn stream(&mut self) -> Count {
        let (prompt, pieces) = self.prompt();
        let request = chat(self.alias(), &prompt, true);
        let mut connection = self.connection().await;
        connection.send(&request.bytes()).await;
        let head = connection.head().await;
        let (body, end) = connection.body(&head).await;
        let body = String::from_utf8_lossy(&body);
        assert_eq!((head.status, end), (200, End::Clean), "{prompt}: {body}");
        let got: Vec<usize> = (0..pieces)
            .map(|piece| body.matches(&format!("\"{prompt}#{piece};\"")).count())
            .collect();
        assert_eq!(got, vec![1; got.len()], "{prompt}: {body}");
        assert!(
            body.trim_end().ends_with("data: [DONE]"),
            "{prompt}: {body}"
        );
        self.kept = Some(connection);
        |tally| &tally.streams
    }

    /// Goes at some point, in some way.
    async fn leave(&mut self) -> Count {
        let (prompt, _) = self.prompt();
        let streamed = self.random.u8(..4) > 0;
        let bytes = chat(self.alias(), &prompt, streamed).bytes();
        let mut connection = self.gateway.connect().await;
        let sent = match self.random.u8(..4) {
            0 => self.random.usize(1..bytes.len()),
            _ => bytes.len(),
        };
        connection.send(&bytes[..sent]).await;
        if sent == bytes.len() {
            match self.random.u8(..4) {
                0 => {}
                1 => sleep(Duration::from_millis(self.random.u64(..20))).await,
                2 => drop(connection.head().await),
                _ if streamed => drop(connection.until(b"#0;").await),
                _ => {}
            }
        }
        match self.random.u8(..3) {
            0 => connection.reset(),
            1 => connection.finish_sending().await,
            _ => drop(connection),
        }
        |tally| &tally.left
    }

    /// A stream that the provider breaks off: its client must see that it is not complete.
    async fn broken(&mut self) -> Count {
        let mut connection = self.gateway.connect().await;
        connection.send(&chat("breaking", "x", true).bytes()).await;
        let head = connection.head().await;
        let (body, _) = connection.body(&head).await;
        let body = String::from_utf8_lossy(&body);
        assert!(!body.contains("[DONE]"), "{body}");
        |tally| &tally.broken
    }

    async fn limited(&mut self) -> Count {
        let (prompt, _) = self.prompt();
        let answer = self.gateway.send(limited(&prompt)).await;
        match answer.status {
            200 => |tally| &tally.admitted,
            status => {
                assert_eq!(status, 429, "{}", answer.text());
                |tally| &tally.refused
            }
        }
    }

    async fn wrong(&mut self) -> Count {
        let (request, status) = match self.random.u8(..4) {
            0 => (chat("limited", "x", false), 401),
            1 => (chat("nobody", "x", false), 404),
            2 => (Request::post("/v1/chat/completions").body("{"), 400),
            _ => (Request::get("/v1/models"), 200),
        };
        let answer = self.gateway.send(request).await;
        assert_eq!(answer.status, status, "{}", answer.text());
        |tally| &tally.wrong
    }
}

type Count = fn(&Tally) -> &AtomicU64;

fn chat(model: &str, prompt: &str, stream: bool) -> Request {
    Request::chat_with(&json!({
        "model": model,
        "messages": [{"role": "user", "content": prompt}],
        "stream": stream,
    }))
}

/// A stream of the alias whose permits are few.
pub(crate) fn limited(prompt: &str) -> Request {
    chat("limited", prompt, true).bearer("sk-ann")
}
