use std::convert::Infallible;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::*;
use crate::listen::{Settings, bind};

impl Stops for mpsc::UnboundedReceiver<()> {
    async fn next(&mut self) {
        if self.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }
}

/// A listener whose requests are answered after `takes`.
async fn listener(takes: Duration) -> Listener {
    let service = service_fn(move |_: Request<Incoming>| async move {
        sleep(takes).await;
        Ok::<_, Infallible>(Response::new(Full::<Bytes>::from("done")))
    });
    Listener::open(
        bind(&[([127, 0, 0, 1], 0).into()]).await.unwrap(),
        Settings::default(),
        service,
    )
}

/// Seconds from the first signal to the end, and the ending. `signals` come at these seconds; a request that takes
/// `busy` seconds begins before, and `readyz` fails from the first signal on.
async fn check(signals: &[u64], busy: u64, expect: (u64, Ending)) {
    let plan = Plan {
        delay: Duration::from_secs(5),
        timeout: Duration::from_secs(300),
    };
    let (send, mut stops) = mpsc::unbounded_channel();
    let readiness = Readiness::default();
    let clients = listener(Duration::from_secs(busy)).await;
    let mut client = TcpStream::connect(clients.addresses()[0]).await.unwrap();
    client
        .write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
        .await
        .unwrap();
    let operators = listener(Duration::ZERO).await;
    let start = Instant::now();
    let signalling = async {
        for &at in signals {
            tokio::time::sleep_until(start + Duration::from_secs(at)).await;
            send.send(()).unwrap();
            tokio::task::yield_now().await;
        }
        std::future::pending::<()>().await;
    };
    assert!(readiness.is_ready());
    let ending = tokio::select! {
        ending = run(&mut stops, &readiness, plan, clients, operators) => ending,
        () = signalling => unreachable!(),
    };
    assert!(!readiness.is_ready());
    assert_eq!(
        (start.elapsed().as_secs(), ending),
        expect,
        "signals at {signals:?}, busy for {busy} s"
    );
    let mut answer = String::new();
    let whole = client.read_to_string(&mut answer).await.is_ok() && answer.ends_with("done");
    assert_eq!(whole, ending == Ending::Drained);
}

#[tokio::test(start_paused = true)]
async fn the_delay_is_always_taken_and_the_drain_as_short_as_it_can_be() {
    check(&[0], 1, (5, Ending::Drained)).await;
    check(&[0], 60, (60, Ending::Drained)).await;
}

#[tokio::test(start_paused = true)]
async fn the_timeout_counts_from_the_end_of_the_delay() {
    check(&[0], 10_000, (305, Ending::Cut(1))).await;
}

#[tokio::test(start_paused = true)]
async fn a_second_signal_skips_the_delay_and_a_third_ends() {
    check(&[0, 2], 1, (2, Ending::Drained)).await;
    check(&[0, 2], 60, (60, Ending::Drained)).await;
    check(&[0, 2], 10_000, (302, Ending::Cut(1))).await;
    check(&[0, 2, 10], 60, (10, Ending::Hurried)).await;
    check(&[0, 10], 60, (60, Ending::Drained)).await;
    check(&[0, 10, 20], 60, (20, Ending::Hurried)).await;
}
