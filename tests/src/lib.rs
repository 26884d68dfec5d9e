//! What black-box tests of the gateway need: the binary as a child process, a provider whose every byte is
//! scripted, and a client that sends exact bytes.
//!
//! Nothing here knows how the gateway works inside; it is started with a configuration file and two ports and
//! looked at through its sockets, its exit code and its log. Nothing sleeps for luck either: a reply waits at a
//! [`Gate`] until the test opens it, and a test waits for a condition with [`eventually`], which has a deadline.
//!
//! ```no_run
//! # async fn example() {
//! use onwards_tests::{Gateway, Reply, Request, Upstream};
//! use serde_json::json;
//!
//! let up = Upstream::start().await;
//! up.reply(Reply::json(200, &json!({"ok": true})));
//! let gateway = Gateway::serve(json!({"m": {"url": up.url()}})).await;
//! let answer = gateway.send(Request::post("/v1/x").json(&json!({"model": "m"}))).await;
//! assert_eq!((answer.status, answer.json()), (200, json!({"ok": true})));
//! assert_eq!(up.request(0).await.body, br#"{"model":"m"}"#);
//! # }
//! ```
//!
//! A harness fails loudly: everything here panics with what it was waiting for instead of returning errors.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a harness that fails must fail the test, at once and loudly"
)]

mod cost;
mod gateway;
mod message;
mod metrics;
mod raw;
mod upstream;
mod wait;

pub use gateway::{Ended, Gateway, Launch, run};
pub use message::message;
pub use metrics::Metrics;
pub use raw::{End, Head, RawConn, Request, Response, chunked};
pub use upstream::{Gate, Recorded, Reply, Step, Upstream};
pub use wait::{PATIENCE, eventually, within};
