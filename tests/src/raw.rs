//! A client on a plain socket: sends exact bytes and shows what came back, end included.

use std::io;
use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::wait::within;

/// A request to be written. Header order, spelling and framing are as asked for.
#[derive(Clone, Debug)]
pub struct Request {
    method: String,
    target: String,
    headers: Vec<(String, Vec<u8>)>,
    body: Option<Vec<u8>>,
}

impl Request {
    /// Any method; the target is written as it is.
    #[must_use]
    pub fn new(method: &str, target: &str) -> Self {
        Self {
            method: method.to_owned(),
            target: target.to_owned(),
            headers: vec![],
            body: None,
        }
    }

    /// A `GET`.
    #[must_use]
    pub fn get(target: &str) -> Self {
        Self::new("GET", target)
    }

    /// A `POST`.
    #[must_use]
    pub fn post(target: &str) -> Self {
        Self::new("POST", target)
    }

    /// A chat request for the alias `m` with one short message.
    #[must_use]
    pub fn chat() -> Self {
        Self::chat_with(&serde_json::json!({}))
    }

    /// The same with more members, which may replace `model` and `messages`.
    #[must_use]
    pub fn chat_with(members: &Value) -> Self {
        let mut body =
            serde_json::json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]});
        for (name, value) in members.as_object().unwrap() {
            body[name] = value.clone();
        }
        Self::post("/v1/chat/completions").json(&body)
    }

    /// One more header line.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers
            .push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    /// `Authorization: Bearer …`.
    #[must_use]
    pub fn bearer(self, token: &str) -> Self {
        self.header("authorization", format!("Bearer {token}"))
    }

    /// The body and its `content-length`.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some(body.into());
        self
    }

    /// The body as JSON, with its content type.
    #[must_use]
    pub fn json(self, body: &Value) -> Self {
        self.header("content-type", "application/json")
            .body(body.to_string())
    }

    /// The bytes that go over the wire.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = format!("{} {} HTTP/1.1\r\n", self.method, self.target).into_bytes();
        let mut line = |name: &str, value: &[u8]| {
            bytes.extend([name.as_bytes(), b": ", value, b"\r\n"].concat())
        };
        if !self
            .headers
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case("host"))
        {
            line("host", b"gateway.test");
        }
        for (name, value) in &self.headers {
            line(name, value);
        }
        if let Some(body) = &self.body {
            line("content-length", body.len().to_string().as_bytes());
        }
        bytes.extend(b"\r\n");
        bytes.extend(self.body.iter().flatten());
        bytes
    }
}

/// A body in the chunked coding, one chunk per piece.
#[must_use]
pub fn chunked<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for piece in pieces {
        bytes.extend([format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat());
    }
    bytes.extend(b"0\r\n\r\n");
    bytes
}

/// A response head, header lines in the order they came.
#[derive(Clone, Debug)]
pub struct Head {
    /// The status code.
    pub status: u16,
    /// Names in lower case, and values.
    pub headers: Vec<(String, String)>,
}

impl Head {
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
}

/// A whole response.
#[derive(Clone, Debug)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The whole head.
    pub head: Head,
    /// The body, its transfer coding removed.
    pub body: Vec<u8>,
}

impl Response {
    /// The body as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| {
            panic!(
                "{} with a body that is no JSON ({e}): {}",
                self.status,
                self.text()
            )
        })
    }

    /// The body as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// `error.code` of the error envelope, `null` if it is that; panics if the body is not an envelope.
    #[must_use]
    pub fn code(&self) -> Value {
        let body = self.json();
        let error = body
            .get("error")
            .and_then(Value::as_object)
            .unwrap_or_else(|| panic!("no error: {body}"));
        for member in ["message", "type", "param", "code"] {
            assert!(error.contains_key(member), "{member} is missing: {body}");
        }
        error["code"].clone()
    }
}

/// How the gateway ended a connection or a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// As announced: the length reached, the last chunk read.
    Clean,
    /// The connection ended before the body did, in an orderly way or by reset.
    Broken,
}

/// A connection.
#[derive(Debug)]
pub struct RawConn {
    stream: TcpStream,
    unread: Vec<u8>,
}

impl RawConn {
    /// Connects.
    pub async fn connect(address: SocketAddr) -> Self {
        let stream = within("a connection", TcpStream::connect(address))
            .await
            .expect("connect");
        stream.set_nodelay(true).expect("nodelay");
        Self {
            stream,
            unread: Vec::new(),
        }
    }

    /// Sends all of `bytes`.
    pub async fn send(&mut self, bytes: &[u8]) {
        self.try_send(bytes)
            .await
            .expect("the gateway takes the bytes");
    }

    /// Sends as much as the gateway takes.
    ///
    /// # Errors
    /// When the gateway has closed the connection meanwhile.
    pub async fn try_send(&mut self, bytes: &[u8]) -> io::Result<()> {
        within("the gateway to take bytes", self.stream.write_all(bytes)).await
    }

    /// Says that nothing more will be sent.
    pub async fn finish_sending(&mut self) {
        self.stream.shutdown().await.expect("shutdown");
    }

    /// Ends the connection with a reset.
    pub fn reset(self) {
        self.stream.set_zero_linger().expect("linger");
    }

    /// Whether the gateway has ended the connection, as far as is known without waiting. What it sent is kept.
    pub fn has_ended(&mut self) -> bool {
        loop {
            match self.stream.try_read_buf(&mut self.unread) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(error) => return error.kind() != io::ErrorKind::WouldBlock,
            }
        }
    }

    /// Reads up to the end of a response head.
    pub async fn head(&mut self) -> Head {
        let bytes = self.until(b"\r\n\r\n").await;
        parse_head(&bytes)
    }

    /// Sends a request and reads its response.
    pub async fn ask(&mut self, request: &Request) -> Response {
        self.send(&request.bytes()).await;
        if request.method == "HEAD" {
            let head = self.head().await;
            return Response {
                status: head.status,
                head,
                body: vec![],
            };
        }
        self.response().await
    }

    /// Reads one whole response; panics if its body breaks off.
    pub async fn response(&mut self) -> Response {
        let head = self.head().await;
        let (body, end) = self.body(&head).await;
        assert_eq!(
            end,
            End::Clean,
            "the body broke off: {}",
            String::from_utf8_lossy(&body)
        );
        Response {
            status: head.status,
            head,
            body,
        }
    }

    /// Reads the body of a response with this head, up to its end.
    pub async fn body(&mut self, head: &Head) -> (Vec<u8>, End) {
        let codings = head.header("transfer-encoding");
        if codings == Some("chunked") {
            return self.chunks().await;
        }
        assert_eq!(codings, None, "an unknown coding");
        if let Some(length) = head.header("content-length") {
            return self.exactly(length.parse().expect("a length")).await;
        }
        if head.status == 204 || head.status == 304 || head.status < 200 {
            return (vec![], End::Clean);
        }
        self.rest().await
    }

    /// Reads until `marker` has been read; the bytes with the marker.
    pub async fn until(&mut self, marker: &[u8]) -> Vec<u8> {
        loop {
            if let Some(at) = find(&self.unread, marker) {
                let after = self.unread.split_off(at + marker.len());
                return std::mem::replace(&mut self.unread, after);
            }
            let more = self.more().await;
            let (marker, got) = (
                String::from_utf8_lossy(marker),
                String::from_utf8_lossy(&self.unread),
            );
            assert!(
                matches!(more, Ok(true)),
                "{more:?} while waiting for {marker:?}, with {got:?}"
            );
        }
    }

    /// Reads until the connection ends; [`End::Broken`] if it was reset.
    pub async fn rest(&mut self) -> (Vec<u8>, End) {
        loop {
            match self.more().await {
                Ok(true) => {}
                Ok(false) => return (std::mem::take(&mut self.unread), End::Clean),
                Err(_) => return (std::mem::take(&mut self.unread), End::Broken),
            }
        }
    }

    async fn exactly(&mut self, length: usize) -> (Vec<u8>, End) {
        while self.unread.len() < length {
            if !matches!(self.more().await, Ok(true)) {
                return (std::mem::take(&mut self.unread), End::Broken);
            }
        }
        let after = self.unread.split_off(length);
        (std::mem::replace(&mut self.unread, after), End::Clean)
    }

    async fn chunks(&mut self) -> (Vec<u8>, End) {
        let mut body = Vec::new();
        loop {
            while find(&self.unread, b"\r\n").is_none() {
                if !matches!(self.more().await, Ok(true)) {
                    return (body, End::Broken);
                }
            }
            let line = self.until(b"\r\n").await;
            let size = String::from_utf8_lossy(&line);
            let size = usize::from_str_radix(size.trim(), 16)
                .unwrap_or_else(|_| panic!("a chunk size: {size:?}"));
            let (piece, end) = self.exactly(size + 2).await;
            body.extend(&piece[..piece.len().min(size)]);
            if end == End::Broken || size == 0 {
                return (body, end);
            }
        }
    }

    async fn more(&mut self) -> io::Result<bool> {
        let read = within(
            "bytes from the gateway",
            self.stream.read_buf(&mut self.unread),
        )
        .await?;
        Ok(read > 0)
    }
}

fn parse_head(bytes: &[u8]) -> Head {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.trim_end().split("\r\n");
    let status = lines.next().unwrap_or_default();
    let code = status
        .strip_prefix("HTTP/1.1 ")
        .and_then(|rest| rest.get(..3)?.parse().ok());
    let header = |line: &str| {
        let (name, value) = line
            .split_once(':')
            .unwrap_or_else(|| panic!("a header line: {line:?}"));
        (name.to_ascii_lowercase(), value.trim().to_owned())
    };
    Head {
        status: code.unwrap_or_else(|| panic!("a status line: {status:?}")),
        headers: lines.map(header).collect(),
    }
}

pub(crate) fn find(bytes: &[u8], marker: &[u8]) -> Option<usize> {
    if marker.is_empty() {
        return Some(0);
    }
    bytes
        .windows(marker.len())
        .position(|window| window == marker)
}
