//! The provider, played by the test: what it answers is a script, what it was asked is recorded byte by byte.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::raw::{chunked, find};
use crate::wait::within;

/// One step of an answer.
#[derive(Clone, Debug)]
pub enum Step {
    /// Writes these bytes.
    Send(Vec<u8>),
    /// Waits until the test opens the gate.
    Wait(Gate),
    /// Takes its time: for traffic that goes on for a while, not to wait for anything.
    Pause(Duration),
    /// Ends the connection in an orderly way.
    Close,
    /// Ends the connection with a reset.
    Reset,
    /// Says nothing more until the gateway goes.
    Hang,
    /// Takes the next request's first bytes on this connection and then closes it unanswered: the race of a
    /// keep-alive connection that the provider has given up. Such a request is not recorded.
    CloseOnNextRequest,
}

/// A door that answers wait at. Clones are the same door.
#[derive(Clone)]
pub struct Gate(Arc<Door>);

struct Door {
    open: watch::Sender<bool>,
    waiting: watch::Sender<usize>,
}

impl Gate {
    /// A closed gate.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(Door {
            open: watch::Sender::new(false),
            waiting: watch::Sender::new(0),
        }))
    }

    /// Lets everyone through, from now on.
    pub fn open(&self) {
        self.0.open.send_replace(true);
    }

    /// Returns once `answers` answers have come this far.
    pub async fn reached(&self, answers: usize) {
        let mut waiting = self.0.waiting.subscribe();
        within("an answer at the gate", waiting.wait_for(|n| *n >= answers))
            .await
            .expect("the gate is here");
    }

    async fn pass(&self) {
        self.0.waiting.send_modify(|n| *n += 1);
        self.0
            .open
            .subscribe()
            .wait_for(|open| *open)
            .await
            .expect("the gate is here");
    }
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gate")
    }
}

/// What is answered to one request. The connection stays open afterwards unless a step ends it.
#[derive(Clone, Debug, Default)]
pub struct Reply(pub Vec<Step>);

impl Reply {
    /// A whole response with a `content-length`.
    #[must_use]
    pub fn new(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Self {
        let body = body.as_ref();
        let length = body.len().to_string();
        let mut headers = headers.to_vec();
        headers.push(("content-length", &length));
        Self::default().send(head(status, &headers)).send(body)
    }

    /// A whole JSON response.
    #[must_use]
    pub fn json(status: u16, body: &Value) -> Self {
        Self::new(
            status,
            &[("content-type", "application/json")],
            body.to_string(),
        )
    }

    /// A chat completion that says `text`.
    #[must_use]
    pub fn chat(text: &str) -> Self {
        Self::json(
            200,
            &serde_json::json!({
                "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "upstream-model",
                "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            }),
        )
    }

    /// The head of an event stream in the chunked coding; pieces follow with [`Reply::chunk`], and
    /// [`Reply::last_chunk`] ends it.
    #[must_use]
    pub fn stream() -> Self {
        let headers = [
            ("content-type", "text/event-stream"),
            ("transfer-encoding", "chunked"),
        ];
        Self::default().send(head(200, &headers))
    }

    /// One chunk.
    #[must_use]
    pub fn chunk(self, piece: impl AsRef<[u8]>) -> Self {
        let mut bytes = chunked([piece.as_ref()]);
        bytes.truncate(bytes.len() - b"0\r\n\r\n".len());
        self.send(bytes)
    }

    /// One chunk with a chat chunk that says `text`, as one event.
    #[must_use]
    pub fn delta(self, text: &str) -> Self {
        self.chunk(delta(text))
    }

    /// The end of a chunked body.
    #[must_use]
    pub fn last_chunk(self) -> Self {
        self.send(chunked([]))
    }

    /// `[DONE]` and the end of a stream.
    #[must_use]
    pub fn done(self) -> Self {
        self.chunk("data: [DONE]\n\n").last_chunk()
    }

    /// Bytes as they are.
    #[must_use]
    pub fn send(self, bytes: impl AsRef<[u8]>) -> Self {
        self.then(Step::Send(bytes.as_ref().to_vec()))
    }

    /// A pause.
    #[must_use]
    pub fn pause(self, time: Duration) -> Self {
        self.then(Step::Pause(time))
    }

    /// A wait.
    #[must_use]
    pub fn wait(self, gate: &Gate) -> Self {
        self.then(Step::Wait(gate.clone()))
    }

    /// One more step.
    #[must_use]
    pub fn then(mut self, step: Step) -> Self {
        self.0.push(step);
        self
    }
}

fn delta(text: &str) -> String {
    let chunk = serde_json::json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "upstream-model",
        "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}],
    });
    format!("data: {chunk}\n\n")
}

fn head(status: u16, headers: &[(&str, &str)]) -> Vec<u8> {
    let lines: String = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    format!("HTTP/1.1 {status} Scripted\r\n{lines}\r\n").into_bytes()
}

/// One request as it arrived, complete.
#[derive(Debug)]
pub struct Recorded {
    /// The request line, without its line end.
    pub line: String,
    /// Header lines in order: name in lower case, value.
    pub headers: Vec<(String, String)>,
    /// The body, its transfer coding removed.
    pub body: Vec<u8>,
    /// The number of the connection it came on, from 0.
    pub connection: usize,
    gone: watch::Receiver<bool>,
}

impl Recorded {
    /// The only value of a header; panics if there are several.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self
            .headers
            .iter()
            .filter(|(known, _)| known == name)
            .map(|(_, value)| value.as_str());
        let first = values.next();
        assert!(
            values.next().is_none(),
            "several {name}: {:?}",
            self.headers
        );
        first
    }

    /// The body as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a JSON body")
    }

    /// Returns once the gateway has left the connection before the answer was complete.
    pub async fn gone(&self) {
        within(
            "the gateway to leave",
            self.gone.clone().wait_for(|gone| *gone),
        )
        .await
        .expect("still recorded");
    }

    /// Whether it has left already.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        *self.gone.borrow()
    }
}

type Answer = Box<dyn Fn(&Recorded) -> Reply + Send + Sync>;

/// A running provider on a port of its own. Dropping it closes every connection.
pub struct Upstream {
    address: SocketAddr,
    script: Arc<Script>,
    accepting: JoinHandle<()>,
}

struct Script {
    queue: Mutex<VecDeque<Reply>>,
    otherwise: Mutex<Answer>,
    seen: Mutex<Vec<Arc<Recorded>>>,
    requests: watch::Sender<usize>,
    connections: watch::Sender<usize>,
}

impl Upstream {
    /// Starts on an ephemeral port of 127.0.0.1. Until told otherwise it answers with a chat completion.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .expect("an ephemeral port");
        let address = listener.local_addr().expect("bound");
        let script = Arc::new(Script {
            queue: Mutex::default(),
            otherwise: Mutex::new(Box::new(|_| Reply::chat("hello"))),
            seen: Mutex::default(),
            requests: watch::Sender::new(0),
            connections: watch::Sender::new(0),
        });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&script)));
        Self {
            address,
            script,
            accepting,
        }
    }

    /// Its address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its base URL, without a path.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Answers the next request that has no answer yet like this.
    pub fn reply(&self, reply: Reply) {
        lock(&self.script.queue).push_back(reply);
    }

    /// Answers everything that [`Upstream::reply`] did not like this.
    pub fn always(&self, reply: Reply) {
        self.answer(move |_| reply.clone());
    }

    /// The same, by request.
    pub fn answer(&self, answer: impl Fn(&Recorded) -> Reply + Send + Sync + 'static) {
        *lock(&self.script.otherwise) = Box::new(answer);
    }

    /// How many complete requests have come.
    #[must_use]
    pub fn count(&self) -> usize {
        lock(&self.script.seen).len()
    }

    /// How many connections have been made.
    #[must_use]
    pub fn connections(&self) -> usize {
        *self.script.connections.borrow()
    }

    /// Returns once `count` requests have come.
    pub async fn arrived(&self, count: usize) {
        let mut requests = self.script.requests.subscribe();
        within(
            "requests at the upstream",
            requests.wait_for(|n| *n >= count),
        )
        .await
        .expect("still running");
    }

    /// The request with this number, from 0; waits for it.
    pub async fn request(&self, index: usize) -> Arc<Recorded> {
        self.arrived(index + 1).await;
        Arc::clone(&lock(&self.script.seen)[index])
    }

    /// All requests so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Arc<Recorded>> {
        lock(&self.script.seen).clone()
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Upstream({})", self.address)
    }
}

async fn accept(listener: TcpListener, script: Arc<Script>) {
    let mut connections = tokio::task::JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.expect("accept");
        stream.set_nodelay(true).expect("nodelay");
        let number = *script.connections.borrow();
        script.connections.send_modify(|n| *n += 1);
        let script = Arc::clone(&script);
        connections.spawn(async move {
            // The gateway may leave at any point; what it left behind is in the record.
            serve(stream, number, &script).await.ok();
        });
    }
}

/// Serves one connection until either side ends it.
async fn serve(mut stream: TcpStream, connection: usize, script: &Script) -> io::Result<()> {
    let mut unread = Vec::new();
    loop {
        let (gone, receiver) = watch::channel(false);
        let Some(request) = read_request(&mut stream, &mut unread, connection, receiver).await?
        else {
            return Ok(());
        };
        let request = Arc::new(request);
        let reply = lock(&script.queue).pop_front();
        let reply = reply.unwrap_or_else(|| lock(&script.otherwise)(&request));
        lock(&script.seen).push(request);
        script.requests.send_modify(|n| *n += 1);
        for step in reply.0 {
            match step {
                Step::Close => return stream.shutdown().await,
                Step::Reset => return stream.set_zero_linger(),
                Step::CloseOnNextRequest => {
                    stream.read_buf(&mut unread).await?;
                    return stream.set_zero_linger();
                }
                Step::Send(bytes) => {
                    if let Err(error) = stream.write_all(&bytes).await {
                        gone.send_replace(true);
                        return Err(error);
                    }
                }
                Step::Wait(gate) => tokio::select! {
                    () = gate.pass() => {}
                    ended = closed(&mut stream, &mut unread) => {
                        gone.send_replace(true);
                        return ended;
                    }
                },
                Step::Pause(time) => tokio::time::sleep(time).await,
                Step::Hang => {
                    let ended = closed(&mut stream, &mut unread).await;
                    gone.send_replace(true);
                    return ended;
                }
            }
        }
    }
}

/// Returns when the other side has ended the connection; what it sends before that is kept.
async fn closed(stream: &mut TcpStream, unread: &mut Vec<u8>) -> io::Result<()> {
    while stream.read_buf(unread).await? > 0 {}
    Ok(())
}

/// Reads one request; `None` if the connection ends before another one is complete.
async fn read_request(
    stream: &mut TcpStream,
    unread: &mut Vec<u8>,
    connection: usize,
    gone: watch::Receiver<bool>,
) -> io::Result<Option<Recorded>> {
    let Some(head) = take_until(stream, unread, b"\r\n\r\n").await? else {
        return Ok(None);
    };
    let head = String::from_utf8_lossy(&head).into_owned();
    let mut lines = head.trim_end().split("\r\n");
    let line = lines.next().unwrap_or_default().to_owned();
    let headers: Vec<(String, String)> = lines
        .map(|line| {
            let (name, value) = line
                .split_once(':')
                .unwrap_or_else(|| panic!("a header line: {line:?}"));
            (name.to_ascii_lowercase(), value.trim().to_owned())
        })
        .collect();
    let get = |name: &str| {
        headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    };
    let body = match (get("transfer-encoding"), get("content-length")) {
        (Some(_), _) => take_chunks(stream, unread).await?,
        (None, Some(length)) => take(stream, unread, length.parse().expect("a length")).await?,
        (None, None) => Some(vec![]),
    };
    Ok(body.map(|body| Recorded {
        line,
        headers,
        body,
        connection,
        gone,
    }))
}

async fn take_chunks(stream: &mut TcpStream, unread: &mut Vec<u8>) -> io::Result<Option<Vec<u8>>> {
    let mut body = Vec::new();
    loop {
        let Some(size) = take_until(stream, unread, b"\r\n").await? else {
            return Ok(None);
        };
        let size =
            usize::from_str_radix(String::from_utf8_lossy(&size).trim(), 16).expect("a chunk size");
        let Some(piece) = take(stream, unread, size + 2).await? else {
            return Ok(None);
        };
        body.extend(&piece[..size]);
        if size == 0 {
            return Ok(Some(body));
        }
    }
}

async fn take_until(
    stream: &mut TcpStream,
    unread: &mut Vec<u8>,
    marker: &[u8],
) -> io::Result<Option<Vec<u8>>> {
    loop {
        if let Some(at) = find(unread, marker) {
            let after = unread.split_off(at + marker.len());
            return Ok(Some(std::mem::replace(unread, after)));
        }
        if stream.read_buf(unread).await? == 0 {
            return Ok(None);
        }
    }
}

async fn take(
    stream: &mut TcpStream,
    unread: &mut Vec<u8>,
    length: usize,
) -> io::Result<Option<Vec<u8>>> {
    while unread.len() < length {
        if stream.read_buf(unread).await? == 0 {
            return Ok(None);
        }
    }
    let after = unread.split_off(length);
    Ok(Some(std::mem::replace(unread, after)))
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::raw::{End, RawConn, Request};

    #[tokio::test]
    async fn a_script_is_played_and_requests_are_recorded() {
        let up = Upstream::start().await;
        let gate = Gate::new();
        up.reply(Reply::json(201, &json!({"a": 1})));
        up.reply(
            Reply::stream()
                .chunk("one")
                .wait(&gate)
                .chunk("two")
                .last_chunk(),
        );
        up.reply(Reply::stream().chunk("one").then(Step::Close));
        let mut conn = RawConn::connect(up.address()).await;
        let answer = conn
            .ask(&Request::post("/x?y").header("X-A", "b").body("body"))
            .await;
        assert_eq!((answer.status, answer.json()), (201, json!({"a": 1})));
        let seen = up.request(0).await;
        assert_eq!(
            (seen.line.as_str(), seen.header("x-a"), &*seen.body),
            ("POST /x?y HTTP/1.1", Some("b"), &b"body"[..])
        );
        let chunked_request = b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n";
        conn.send(&[&chunked_request[..], &chunked([&b"ab"[..], b"c"])].concat())
            .await;
        gate.reached(1).await;
        assert_eq!(up.request(1).await.body, b"abc");
        gate.open();
        assert_eq!(conn.response().await.body, b"onetwo");
        conn.send(&Request::get("/").bytes()).await;
        let head = conn.head().await;
        assert_eq!(conn.body(&head).await, (b"one".to_vec(), End::Broken));
        assert_eq!((up.count(), up.connections()), (3, 1));
    }

    #[tokio::test]
    async fn a_leaving_peer_is_noticed() {
        let up = Upstream::start().await;
        up.always(Reply::default().then(Step::Hang));
        let mut conn = RawConn::connect(up.address()).await;
        conn.send(&Request::get("/").bytes()).await;
        let seen = up.request(0).await;
        assert!(!seen.is_gone());
        conn.reset();
        seen.gone().await;
    }

    #[tokio::test]
    async fn a_kept_connection_can_be_closed_under_the_next_request() {
        let up = Upstream::start().await;
        up.reply(Reply::chat("first").then(Step::CloseOnNextRequest));
        let mut conn = RawConn::connect(up.address()).await;
        assert_eq!(conn.ask(&Request::get("/")).await.status, 200);
        conn.send(&Request::get("/").bytes()).await;
        assert_eq!(conn.rest().await.0, b"");
        assert_eq!(up.count(), 1);
    }
}
