//! Large texts, and what they cost.

use std::time::Duration;

use onwards_tests::{Gateway, Request, Response};

pub(crate) const KIB: usize = 1024;
pub(crate) const MIB: usize = 1024 * KIB;
/// A large body, below the limit that holds unless it is set.
pub(crate) const LARGE: usize = 30 * MIB;

/// Text of this many bytes in which no two blocks are alike, so that a piece in the wrong place is noticed.
pub(crate) fn text(length: usize) -> String {
    let filling = "the quick brown fox jumps over the lazy dog, ".repeat(22);
    let mut text = String::with_capacity(length + 2 * filling.len());
    let mut block = 0;
    while text.len() < length {
        text.push_str(&format!("{block:016x}"));
        text.push_str(&filling);
        block += 1;
    }
    text.truncate(length);
    text
}

/// Where a body names its model.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Model {
    First,
    Last,
}

/// A chat request of exactly `length` bytes for `model`.
pub(crate) fn chat(place: Model, model: &str, length: usize) -> String {
    let (head, tail) = match place {
        Model::First => (
            format!(r#"{{"model":"{model}","messages":[{{"role":"user","content":""#),
            r#""}]}"#.to_owned(),
        ),
        Model::Last => (
            r#"{"messages":[{"role":"user","content":""#.to_owned(),
            format!(r#""}}],"model":"{model}"}}"#),
        ),
    };
    let content = text(length - head.len() - tail.len());
    [head, content, tail].concat()
}

/// A chat request with this body.
pub(crate) fn post(body: impl Into<Vec<u8>>) -> Request {
    Request::post("/v1/chat/completions")
        .header("content-type", "application/json")
        .body(body)
}

/// A chat completion of exactly `length` bytes.
pub(crate) fn completion(length: usize) -> String {
    let head = r#"{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":""#;
    let tail = r#""},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}"#;
    [head, &text(length - head.len() - tail.len()), tail].concat()
}

/// One event with a chunk that says `text`.
pub(crate) fn event(text: &str) -> String {
    let chunk = r#"data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":""#;
    [chunk, text, "\"},\"finish_reason\":null}]}\n\n"].concat()
}

/// An event after which a stream may end.
pub(crate) const FINISH: &str = "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

/// Memory beyond what the process held when this was made.
pub(crate) struct Peak(usize);

impl Peak {
    /// After a first request, so that what the program loads once is there.
    pub(crate) async fn after(gateway: &Gateway, warm: Request) -> Self {
        assert_eq!(gateway.send(warm).await.status, 200);
        Self(gateway.resident_bytes())
    }

    /// A request and its answer, and that they took `most` bytes at most.
    pub(crate) async fn holds(
        &self,
        gateway: &Gateway,
        what: &str,
        most: usize,
        request: Request,
    ) -> Response {
        gateway.forget_peak();
        let answer = gateway.send(request).await;
        let took = gateway.peak_bytes().saturating_sub(self.0);
        eprintln!("{what}: {} KiB of {} KiB", took / KIB, most / KIB);
        assert!(took <= most, "{what}: {took} bytes, {most} allowed");
        answer
    }
}

/// Checks that `run` takes less than twice its share of the gateway's processor time for an input of eight times the size:
/// linear is 8, quadratic 64. The machine is shared, so the least of three runs counts.
pub(crate) async fn grows_in_step<F>(gateway: &Gateway, what: &str, small: usize, run: F)
where
    F: AsyncFn(usize),
{
    let mut least = [Duration::MAX; 2];
    for attempt in 1..=3 {
        for (least, size) in least.iter_mut().zip([small, 8 * small]) {
            let before = gateway.cpu_time();
            run(size).await;
            *least = (*least).min(gateway.cpu_time().saturating_sub(before));
        }
        let [one, eight] = least;
        if eight < 16 * one {
            eprintln!("{what}: {one:?} and {eight:?}");
            return;
        }
        assert!(
            attempt < 3,
            "{what}: {one:?} for {small} bytes, {eight:?} for eight times as many"
        );
    }
}
