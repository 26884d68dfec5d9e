//! The pool over real loopback sockets. The provider is the test itself: it accepts, reads and writes when it is its turn, so
//! that nothing waits for time to pass.

mod http1;
mod http2;
mod proxies;
mod secure;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{HeaderName, HeaderValue, Method, header};
use http_body_util::BodyExt;
use onwards_config::{HttpEndpoint, HttpPool, Scheme};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::pool::{Pool, Site};
use super::{Answer, Call, Conditions, Destination, Outgoing, TransportError};

const PATIENT: Duration = Duration::from_secs(20);

const KEEPING: HttpPool = HttpPool {
    max_idle_per_host: 100,
    idle_timeout: Duration::from_secs(90),
};

/// What a test waits for has to come; this is only so that a test that fails ends.
async fn soon<F: Future>(event: F) -> F::Output {
    tokio::time::timeout(PATIENT, event).await.unwrap()
}

fn endpoint(scheme: Scheme, address: SocketAddr) -> HttpEndpoint {
    HttpEndpoint {
        scheme,
        host: address.ip().to_string(),
        port: address.port(),
        authority: address.to_string(),
        base_path: String::new(),
    }
}

fn post(body: impl Into<Bytes>) -> Call<'static> {
    static HOST: (HeaderName, HeaderValue) =
        (header::HOST, HeaderValue::from_static("provider.example"));
    let body = Outgoing::whole(body.into());
    let target = PathAndQuery::from_static("/a%20b?c");
    Call::new(&Method::POST, target, vec![(&HOST.0, &HOST.1)], body)
}

/// A call on its way, in a task of its own.
fn send(site: &Arc<Site>, body: impl Into<Bytes>) -> JoinHandle<Result<Answer, TransportError>> {
    tokio::spawn(site.clone().send(post(body), PATIENT))
}

/// The status and the body of an answer.
async fn read(answer: JoinHandle<Result<Answer, TransportError>>) -> (u16, String) {
    let answer = soon(answer).await.unwrap().unwrap();
    assert_eq!(answer.version(), http::Version::HTTP_11);
    let status = answer.status().as_u16();
    let body = soon(answer.into_body().collect()).await;
    let body = body.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

async fn failure(answer: JoinHandle<Result<Answer, TransportError>>) -> &'static str {
    match soon(answer).await.unwrap() {
        Ok(answer) => panic!("{answer:?}"),
        Err(TransportError::Connect(_)) => "connect",
        Err(TransportError::Broken(_)) => "broken",
    }
}

fn ok(body: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// A provider that has begun to listen.
struct Provider {
    listener: TcpListener,
    address: SocketAddr,
}

impl Provider {
    async fn start() -> Self {
        Self::at("127.0.0.1:0").await
    }

    async fn at(address: &str) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        Self { listener, address }
    }

    /// The next connection, as a socket.
    async fn tcp(&self) -> TcpStream {
        soon(self.listener.accept()).await.unwrap().0
    }

    /// The next connection, to speak HTTP/1.1 over.
    async fn accept(&self) -> Peer<TcpStream> {
        Peer::new(self.tcp().await)
    }

    /// No connection has been made that was not accepted: the next one is the test's own.
    async fn has_no_more(&self) {
        let own = TcpStream::connect(self.address).await.unwrap();
        let (_, from) = self.listener.accept().await.unwrap();
        assert_eq!(from, own.local_addr().unwrap(), "one connection too many");
    }

    fn plain(&self, keeping: HttpPool) -> Arc<Site> {
        let conditions = Conditions {
            keeping,
            proxy: None,
        };
        Pool::new().site(&endpoint(Scheme::Http, self.address), conditions)
    }
}

/// The provider's end of a connection.
struct Peer<T> {
    stream: T,
    unread: Vec<u8>,
}

impl<T: AsyncRead + tokio::io::AsyncWrite + Unpin> Peer<T> {
    fn new(stream: T) -> Self {
        let unread = Vec::new();
        Self { stream, unread }
    }

    /// The next request's head.
    async fn head(&mut self) -> String {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            if self.unread.is_empty() {
                assert!(self.more().await.unwrap() > 0, "ended inside a head");
            }
            head.push(self.unread.remove(0));
        }
        String::from_utf8(head).unwrap()
    }

    /// The body of the next request.
    async fn request(&mut self) -> String {
        let head = self.head().await;
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        self.take(length.map_or(0, |digits| digits.parse().unwrap()))
            .await
    }

    async fn take(&mut self, length: usize) -> String {
        while self.unread.len() < length {
            assert!(self.more().await.unwrap() > 0, "ended inside a body");
        }
        String::from_utf8(self.unread.drain(..length).collect()).unwrap()
    }

    async fn say(&mut self, bytes: &str) {
        self.stream.write_all(bytes.as_bytes()).await.unwrap();
        self.stream.flush().await.unwrap();
    }

    /// Answers the next request; its body.
    async fn serve(&mut self, answer: &str) -> String {
        let body = self.request().await;
        self.say(answer).await;
        body
    }

    /// Returns once the gateway has closed the connection.
    async fn gone(&mut self) {
        while self.more().await.is_ok_and(|n| n > 0) {}
    }

    async fn more(&mut self) -> io::Result<usize> {
        soon(self.stream.read_buf(&mut self.unread)).await
    }
}

/// An address that takes connections but does not answer: a socket whose queue is full.
pub(super) struct Silent {
    pub(super) address: SocketAddr,
    _listener: socket2::Socket,
    _queue: Vec<TcpStream>,
}

pub(super) async fn silent() -> Silent {
    let listener =
        socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
    listener.bind(&any.into()).unwrap();
    listener.listen(0).unwrap();
    let address = listener.local_addr().unwrap().as_socket().unwrap();
    let mut queue = Vec::new();
    // As long as connections are made at once there is room in the queue.
    while let Ok(made) =
        tokio::time::timeout(Duration::from_millis(200), TcpStream::connect(address)).await
    {
        queue.push(made.unwrap());
    }
    Silent {
        address,
        _listener: listener,
        _queue: queue,
    }
}
