use std::pin::Pin;
use std::task::{Context, Waker};

use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Empty, Full};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::*;

const MINUTE: Duration = Duration::from_secs(60);

type Boxed = UnsyncBoxBody<Bytes, Infallible>;

/// A body of what the test sends.
struct Fed(mpsc::Receiver<Bytes>);

impl Body for Fed {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0
            .poll_recv(cx)
            .map(|data| data.map(|data| Ok(Frame::data(data))))
    }
}

async fn sockets(count: usize) -> Vec<TcpListener> {
    bind(&vec![SocketAddr::from(([127, 0, 0, 1], 0)); count])
        .await
        .unwrap()
}

fn hello()
-> impl Service<Request<Incoming>, Response = Response<Full<Bytes>>, Error = Infallible, Future: Send>
+ Clone
+ Send {
    service_fn(|request: Request<Incoming>| async move {
        Ok(Response::new(Full::new(Bytes::from(format!(
            "{:?} {}",
            request.version(),
            request.uri().path()
        )))))
    })
}

/// Serves streamed bodies whose senders are handed to the test.
async fn streaming() -> (Listener, mpsc::UnboundedReceiver<mpsc::Sender<Bytes>>) {
    let (handed, senders) = mpsc::unbounded_channel();
    let service = service_fn(move |_: Request<Incoming>| {
        let (sender, body) = mpsc::channel(4);
        handed.send(sender).unwrap();
        async { Ok::<_, Infallible>(Response::new(Fed(body))) }
    });
    (
        Listener::open(sockets(1).await, Settings::default(), service),
        senders,
    )
}

async fn dial(listener: &Listener) -> TcpStream {
    TcpStream::connect(listener.addresses()[0]).await.unwrap()
}

async fn get(stream: &mut TcpStream, path: &str) {
    stream
        .write_all(format!("GET {path} HTTP/1.1\r\nhost: a\r\n\r\n").as_bytes())
        .await
        .unwrap();
}

async fn read_until(stream: &mut TcpStream, end: &str) -> String {
    let mut text = Vec::new();
    while !text.ends_with(end.as_bytes()) {
        let mut byte = [0];
        assert_eq!(
            stream.read(&mut byte).await.unwrap(),
            1,
            "ended after {}",
            String::from_utf8_lossy(&text)
        );
        text.extend(byte);
    }
    String::from_utf8(text).unwrap()
}

async fn at_end(stream: &mut TcpStream) -> bool {
    matches!(stream.read(&mut [0]).await, Ok(0) | Err(_))
}

#[tokio::test]
async fn a_connection_serves_several_requests() {
    let listener = Listener::open(sockets(1).await, Settings::default(), hello());
    let mut stream = dial(&listener).await;
    for path in ["/a", "/b"] {
        get(&mut stream, path).await;
        assert!(
            read_until(&mut stream, path)
                .await
                .starts_with("HTTP/1.1 200 OK\r\n")
        );
    }
    assert_eq!(listener.drain(MINUTE).await, Drained { cut: 0 });
    assert!(at_end(&mut stream).await, "an idle connection is closed");
}

#[tokio::test]
async fn a_request_may_have_many_headers() {
    let listener = Listener::open(sockets(1).await, Settings::default(), hello());
    for (count, status) in [
        (100, "200 OK"),
        (101, "431 Request Header Fields Too Large"),
    ] {
        let mut stream = dial(&listener).await;
        let headers: String = (1..count).map(|i| format!("x-{i}: {i}\r\n")).collect();
        let request = format!("GET / HTTP/1.1\r\nhost: a\r\n{headers}\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let head = read_until(&mut stream, "\r\n\r\n").await;
        assert!(
            head.starts_with(&format!("HTTP/1.1 {status}\r\n")),
            "{count}: {head}"
        );
    }
}

#[tokio::test]
async fn every_address_is_served() {
    let listener = Listener::open(sockets(3).await, Settings::default(), hello());
    for &address in listener.addresses() {
        let mut stream = TcpStream::connect(address).await.unwrap();
        get(&mut stream, "/x").await;
        read_until(&mut stream, "HTTP/1.1 /x").await;
    }
    assert_eq!(listener.drain(MINUTE).await, Drained { cut: 0 });
}

#[tokio::test]
async fn http2_with_prior_knowledge() {
    let listener = Listener::open(sockets(1).await, Settings::default(), hello());
    let io = TokioIo::new(dial(&listener).await);
    let (mut send, connection) = hyper::client::conn::http2::handshake(Streams::default(), io)
        .await
        .unwrap();
    let mut tasks = JoinSet::new();
    tasks.spawn(connection);
    let request = Request::get("http://a/two")
        .body(Empty::<Bytes>::new())
        .unwrap();
    let body = send
        .send_request(request)
        .await
        .unwrap()
        .into_body()
        .collect()
        .await
        .unwrap()
        .to_bytes();
    assert_eq!(body, "HTTP/2.0 /two");
    assert_eq!(listener.drain(MINUTE).await, Drained { cut: 0 });
}

#[tokio::test]
async fn an_address_in_use_is_named() {
    let taken = sockets(1).await.remove(0).local_addr().unwrap();
    let _held = bind(&[taken]).await.unwrap();
    let error = bind(&[taken]).await.unwrap_err();
    assert_eq!(
        (error.to_string(), error.source.kind()),
        (
            format!("cannot listen on {taken}"),
            io::ErrorKind::AddrInUse
        )
    );
}

#[tokio::test]
async fn draining_waits_for_the_end_of_a_body() {
    let (listener, mut senders) = streaming().await;
    let address = listener.addresses()[0];
    let mut stream = dial(&listener).await;
    get(&mut stream, "/").await;
    let sender = senders.recv().await.unwrap();
    sender.send("one".into()).await.unwrap();
    read_until(&mut stream, "one\r\n").await;

    let mut tasks = JoinSet::new();
    tasks.spawn(listener.drain(MINUTE));
    while TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    assert!(tasks.try_join_next().is_none());
    sender.send("two".into()).await.unwrap();
    drop(sender);
    read_until(&mut stream, "two\r\n0\r\n\r\n").await;
    assert_eq!(
        tasks.join_next().await.unwrap().unwrap(),
        Drained { cut: 0 }
    );
    assert!(at_end(&mut stream).await);
}

#[tokio::test(start_paused = true)]
async fn the_deadline_cuts_off_what_is_left() {
    let (listener, mut senders) = streaming().await;
    let mut stuck = dial(&listener).await;
    get(&mut stuck, "/").await;
    let sender = senders.recv().await.unwrap();
    sender.send("one".into()).await.unwrap();
    read_until(&mut stuck, "one\r\n").await;
    let before = Instant::now();
    assert_eq!(listener.drain(MINUTE).await, Drained { cut: 1 });
    assert_eq!(before.elapsed().as_secs(), 60);
    assert!(at_end(&mut stuck).await);
    assert!(
        sender.send("two".into()).await.is_err(),
        "the body is dropped"
    );
}

#[tokio::test]
async fn a_full_door_serves_the_next_client_when_one_has_left() {
    let settings = Settings {
        max_connections: 2,
        ..Settings::default()
    };
    let listener = Listener::open(sockets(2).await, settings, hello());
    let mut inside = Vec::new();
    for _ in 0..2 {
        let mut stream = dial(&listener).await;
        get(&mut stream, "/in").await;
        read_until(&mut stream, "/in").await;
        inside.push(stream);
    }
    let mut waiting = dial(&listener).await;
    get(&mut waiting, "/out").await;
    for stream in &mut inside {
        get(stream, "/again").await;
        read_until(stream, "/again").await;
    }
    let nothing = waiting.try_read(&mut [0]).unwrap_err();
    assert_eq!(nothing.kind(), io::ErrorKind::WouldBlock);
    // The other door has room of its own.
    let mut other = TcpStream::connect(listener.addresses()[1]).await.unwrap();
    get(&mut other, "/other").await;
    read_until(&mut other, "/other").await;
    drop(inside.pop());
    read_until(&mut waiting, "/out").await;
    assert_eq!(listener.drain(MINUTE).await, Drained { cut: 0 });
}

#[test]
fn a_crowd_is_told_once_until_half_of_it_has_left() {
    let mut told = false;
    for (connections, expect) in [
        (1, false),
        (4, true),
        (3, true),
        (4, true),
        (2, false),
        (3, false),
    ] {
        told = told_of_crowd(connections, 4, told);
        assert_eq!(told, expect, "{connections}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_client_is_dropped_after_the_header_timeout() {
    for said in ["", "PRI * HTTP", "GET / HTTP/1.1\r\nhost"] {
        let listener = Listener::open(sockets(1).await, Settings::default(), hello());
        let before = Instant::now();
        let mut stream = dial(&listener).await;
        stream.write_all(said.as_bytes()).await.unwrap();
        assert!(at_end(&mut stream).await, "{said}");
        assert_eq!(before.elapsed().as_secs(), 75, "{said}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_request_ends_the_wait_for_it() {
    let (listener, mut senders) = streaming().await;
    let mut stream = dial(&listener).await;
    get(&mut stream, "/").await;
    let sender = senders.recv().await.unwrap();
    sleep(2 * MINUTE).await;
    sender.send("late".into()).await.unwrap();
    read_until(&mut stream, "late\r\n").await;
}

#[tokio::test]
async fn dropping_the_listener_drops_its_requests() {
    let (listener, mut senders) = streaming().await;
    let mut stream = dial(&listener).await;
    get(&mut stream, "/").await;
    let sender = senders.recv().await.unwrap();
    drop(listener);
    let _cut_short = stream.read_to_end(&mut Vec::new()).await;
    while sender.send("x".into()).await.is_ok() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_panic_ends_its_own_connection_only() {
    let service = service_fn(|request: Request<Incoming>| async move {
        assert_ne!(request.uri().path(), "/panic");
        Ok::<_, Infallible>(Response::new(Full::<Bytes>::from("fine")))
    });
    let listener = Listener::open(sockets(1).await, Settings::default(), service);
    let mut bad = dial(&listener).await;
    get(&mut bad, "/panic").await;
    assert!(at_end(&mut bad).await);
    let mut good = dial(&listener).await;
    get(&mut good, "/").await;
    read_until(&mut good, "fine").await;
}

/// What the server says first on an HTTP/2 connection.
async fn greeted(stream: &mut TcpStream) {
    let settings = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    stream.write_all(settings).await.unwrap();
    let mut header = [0; 9];
    stream.read_exact(&mut header).await.unwrap();
    assert_eq!(header[3], 4, "a SETTINGS frame");
}

#[tokio::test(start_paused = true)]
async fn draining_does_not_wait_for_a_silent_http2_client() {
    let listener = Listener::open(sockets(1).await, Settings::default(), hello());
    let mut silent = dial(&listener).await;
    greeted(&mut silent).await;
    let before = Instant::now();
    assert_eq!(listener.drain(MINUTE).await, Drained { cut: 0 });
    assert_eq!(before.elapsed().as_secs(), 1);
}

#[tokio::test(start_paused = true)]
async fn draining_does_not_wait_for_the_rest_of_a_request_head() {
    for (limit, used_before) in [(60, false), (60, true), (1, false)] {
        let limit = Duration::from_secs(limit);
        let listener = Listener::open(sockets(1).await, Settings::default(), hello());
        let mut half = dial(&listener).await;
        if used_before {
            get(&mut half, "/a").await;
            read_until(&mut half, "HTTP/1.1 /a").await;
        }
        half.write_all(b"GET / HTTP/1.1\r\nhost").await.unwrap();
        sleep(Duration::from_secs(1)).await; // the clock stands until the server has read it
        let before = Instant::now();
        assert_eq!(listener.drain(limit).await, Drained { cut: 0 });
        assert!(before.elapsed() <= FAREWELL, "{:?}", before.elapsed());
        assert!(at_end(&mut half).await);
    }
}

/// A large answer of known length, or as a stream in chunks of that many bytes.
fn large(chunk: Option<usize>) -> Boxed {
    let bytes = Bytes::from(vec![b'x'; LARGE]);
    let Some(chunk) = chunk else {
        return Full::new(bytes).boxed_unsync();
    };
    let (sender, body) = mpsc::channel(LARGE / chunk);
    for at in (0..LARGE).step_by(chunk) {
        sender.try_send(bytes.slice(at..at + chunk)).unwrap();
    }
    Fed(body).boxed_unsync()
}

const LARGE_ANSWERS: [&str; 3] = ["/whole", "/12582912", "/16384"];

/// More than the kernel's buffers and the windows of HTTP/2 hold.
const LARGE: usize = 24 * 1024 * 1024;

fn giving_large()
-> impl Service<Request<Incoming>, Response = Response<Boxed>, Error = Infallible, Future: Send>
+ Clone
+ Send {
    service_fn(|request: Request<Incoming>| async move {
        Ok(Response::new(large(
            request.uri().path().trim_start_matches('/').parse().ok(),
        )))
    })
}

#[tokio::test]
async fn a_slow_reader_gets_the_whole_answer_while_draining() {
    for path in LARGE_ANSWERS {
        tokio::time::pause();
        let listener = Listener::open(sockets(1).await, Settings::default(), giving_large());
        let mut slow = dial(&listener).await;
        get(&mut slow, path).await;
        read_until(&mut slow, "\r\n\r\n").await;
        let mut tasks = JoinSet::new();
        tasks.spawn(listener.drain(MINUTE));
        sleep(Duration::from_secs(10)).await;
        tokio::time::resume(); // what follows takes the time it takes
        let mut rest = Vec::new();
        slow.read_to_end(&mut rest).await.unwrap();
        let whole = rest.len() == LARGE || rest.ends_with(b"x\r\n0\r\n\r\n");
        assert!(whole, "{path}: cut off after {} bytes", rest.len());
        assert_eq!(
            tasks.join_next().await.unwrap().unwrap(),
            Drained { cut: 0 }
        );
    }
}

#[tokio::test]
async fn a_slow_reader_of_http2_gets_the_whole_answer_while_draining() {
    for path in LARGE_ANSWERS {
        tokio::time::pause();
        let listener = Listener::open(sockets(1).await, Settings::default(), giving_large());
        let io = TokioIo::new(dial(&listener).await);
        let (mut send, connection) = hyper::client::conn::http2::handshake(Streams::default(), io)
            .await
            .unwrap();
        let mut tasks = JoinSet::new();
        tasks.spawn(async { drop(connection.await) });
        let request = Request::get(format!("http://a{path}"))
            .body(Empty::<Bytes>::new())
            .unwrap();
        let answer = send.send_request(request).await.unwrap();
        let mut draining = JoinSet::new();
        draining.spawn(listener.drain(MINUTE));
        sleep(Duration::from_secs(10)).await;
        tokio::time::resume(); // what follows takes the time it takes
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(body.len(), LARGE, "{path}");
        assert_eq!(
            draining.join_next().await.unwrap().unwrap(),
            Drained { cut: 0 }
        );
    }
}

impl traffic::Watched for TokioIo<tokio::io::DuplexStream> {
    fn is_closed(&self) -> bool {
        false
    }
}

#[tokio::test]
async fn a_client_is_unheard_while_a_request_runs_and_nobody_reads_on() {
    use hyper::rt::{Read, ReadBuf};
    let traffic = Arc::new(Traffic::default());
    let (near, mut far) = tokio::io::duplex(4);
    let mut near = pin!(Noted::new(TokioIo::new(near), Arc::clone(&traffic)));
    let mut read = |waits: bool| {
        let polled = near.as_mut().poll_read(
            &mut Context::from_waker(Waker::noop()),
            ReadBuf::new(&mut [0; 4]).unfilled(),
        );
        assert_eq!(polled.is_pending(), waits);
    };
    read(true);
    let running = traffic.begin();
    assert!(!traffic.is_unheard(), "its leaving would be read");
    far.write_all(b"GET").await.unwrap();
    read(false);
    assert!(traffic.is_unheard());
    drop(running);
    assert!(!traffic.is_unheard(), "no request runs");
    let _running = traffic.begin();
    read(true);
    assert!(!traffic.is_unheard());
}

#[tokio::test]
async fn bytes_that_the_socket_does_not_take_keep_a_connection_busy() {
    use hyper::rt::Write;
    let traffic = Arc::new(Traffic::default());
    let (near, mut far) = tokio::io::duplex(4);
    let mut near = pin!(Noted::new(TokioIo::new(near), Arc::clone(&traffic)));
    for vectored in [false, true] {
        for (taken, settled) in [(true, Some(0)), (false, None)] {
            let written = poll_fn(|cx| {
                Poll::Ready(if vectored {
                    let slices = [io::IoSlice::new(b"abcdef")];
                    near.as_mut().poll_write_vectored(cx, &slices)
                } else {
                    near.as_mut().poll_write(cx, b"abcdef")
                })
            });
            assert_eq!(
                (written.await.is_ready(), traffic.settled()),
                (taken, settled)
            );
        }
        far.read_exact(&mut [0; 4]).await.unwrap();
    }
}

mod doors;
