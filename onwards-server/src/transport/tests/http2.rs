//! Shared connections: how many, for how long, and what becomes of calls when they end.

use h2::server::{Connection, SendResponse};
use h2::{Reason, RecvStream};
use http::{Request, Response};
use tokio_rustls::server::TlsStream;

use super::secure::{acceptor, site};
use super::*;

type Stream = (Request<RecvStream>, SendResponse<Bytes>);

/// The provider's end of a shared connection.
struct Peer2(Connection<TlsStream<TcpStream>, Bytes>);

async fn accept(provider: &Provider) -> Peer2 {
    accept_with(provider, &mut h2::server::Builder::new()).await
}

async fn accept_with(provider: &Provider, builder: &mut h2::server::Builder) -> Peer2 {
    let stream = acceptor(&["h2"])
        .accept(provider.tcp().await)
        .await
        .unwrap();
    Peer2(builder.handshake(stream).await.unwrap())
}

impl Peer2 {
    /// The next call, its body unread.
    async fn call(&mut self) -> Stream {
        soon(self.0.accept()).await.unwrap().unwrap()
    }

    /// Answers the next call.
    async fn serve(&mut self, body: &'static str) {
        let (_, respond) = self.call().await;
        self.answer(respond, body).await;
    }

    async fn answer(&mut self, mut respond: SendResponse<Bytes>, body: &'static str) {
        let mut stream = respond.send_response(Response::new(()), false).unwrap();
        stream.send_data(Bytes::from(body), true).unwrap();
        self.flush().await;
    }

    /// Sends what is due: a moment's work on the connection.
    async fn flush(&mut self) {
        let mut turns = 8;
        std::future::poll_fn(|cx| {
            let _ = self.0.poll_closed(cx).is_ready();
            turns -= 1;
            if turns == 0 {
                return std::task::Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            std::task::Poll::Pending
        })
        .await;
    }

    /// Returns once the gateway has closed the connection.
    async fn gone(&mut self) {
        let closed = std::future::poll_fn(|cx| self.0.poll_closed(cx));
        soon(closed).await.ok();
    }
}

/// A shared connection that has carried a call.
async fn warm(provider: &Provider, site: &Arc<Site>) -> Peer2 {
    let call = send(site, "warm");
    let mut peer = accept(provider).await;
    peer.serve("warm").await;
    assert_eq!(read(call).await, (200, "warm".to_owned()));
    peer
}

#[tokio::test]
async fn calls_share_a_connection_also_the_first_ones() {
    let provider = Provider::start().await;
    let site = site(&provider, KEEPING);
    let calls: Vec<_> = (0..8).map(|i| send(&site, format!("{i}"))).collect();
    let mut peer = accept(&provider).await;
    let mut streams = Vec::new();
    for _ in &calls {
        let (request, respond) = peer.call().await;
        let uri = format!("https://{}/a%20b?c", provider.address);
        assert_eq!(request.uri().to_string(), uri);
        assert_eq!(request.headers().get("host"), None);
        assert_eq!(request.headers()["content-length"], "1");
        streams.push(respond);
    }
    for respond in streams {
        peer.answer(respond, "shared").await;
    }
    for call in calls {
        assert_eq!(read(call).await, (200, "shared".to_owned()));
    }
    provider.has_no_more().await;
}

#[tokio::test]
async fn a_full_connection_gets_a_second_one_beside_it() {
    let provider = Provider::start().await;
    let site = site(&provider, KEEPING);
    let mut one_each = h2::server::Builder::new();
    one_each.max_concurrent_streams(1);
    let call = send(&site, "learns the limit");
    let mut peer = accept_with(&provider, &mut one_each).await;
    peer.serve("alone").await;
    assert_eq!(read(call).await.0, 200);
    let first = send(&site, "first");
    let (_, respond) = peer.call().await;
    let second = send(&site, "second");
    let mut other = accept(&provider).await;
    other.serve("beside").await;
    assert_eq!(read(second).await, (200, "beside".to_owned()));
    peer.answer(respond, "first").await;
    assert_eq!(read(first).await, (200, "first".to_owned()));
    // Its place is free again.
    let third = send(&site, "third");
    peer.serve("third").await;
    assert_eq!(read(third).await, (200, "third".to_owned()));
    provider.has_no_more().await;
}

#[tokio::test]
async fn a_refused_stream_is_sent_again_once_on_a_new_connection() {
    let provider = Provider::start().await;
    let site = site(&provider, KEEPING);
    let mut peer = warm(&provider, &site).await;
    let call = send(&site, "x");
    let (_, mut respond) = peer.call().await;
    respond.send_reset(Reason::REFUSED_STREAM);
    peer.flush().await;
    let mut other = accept(&provider).await;
    let (_, mut respond) = other.call().await;
    respond.send_reset(Reason::REFUSED_STREAM);
    other.flush().await;
    assert_eq!(failure(call).await, "broken");
    provider.has_no_more().await;
}

#[tokio::test]
async fn a_reset_stream_has_been_answered() {
    let provider = Provider::start().await;
    let site = site(&provider, KEEPING);
    let mut peer = warm(&provider, &site).await;
    let call = send(&site, "x");
    let (_, mut respond) = peer.call().await;
    respond.send_reset(Reason::INTERNAL_ERROR);
    peer.flush().await;
    assert_eq!(failure(call).await, "broken");
    // The connection is as good as before.
    let call = send(&site, "y");
    peer.serve("y").await;
    assert_eq!(read(call).await, (200, "y".to_owned()));
    provider.has_no_more().await;
}

#[tokio::test]
async fn calls_of_a_broken_connection_make_one_new_one_together() {
    let provider = Provider::start().await;
    let site = site(&provider, KEEPING);
    let mut peer = warm(&provider, &site).await;
    let calls: Vec<_> = (0..8).map(|i| send(&site, format!("{i}"))).collect();
    let mut streams = Vec::new();
    for _ in &calls {
        streams.push(peer.call().await);
    }
    drop(peer);
    let mut peer = accept(&provider).await;
    for _ in &calls {
        peer.serve("again").await;
    }
    for call in calls {
        assert_eq!(read(call).await, (200, "again".to_owned()));
    }
    provider.has_no_more().await;
}

#[tokio::test]
async fn an_idle_connection_that_was_closed_is_replaced() {
    let provider = Provider::start().await;
    let site = site(&provider, KEEPING);
    drop(warm(&provider, &site).await);
    let mut peer = warm(&provider, &site).await;
    let call = send(&site, "x");
    peer.serve("x").await;
    assert_eq!(read(call).await, (200, "x".to_owned()));
    provider.has_no_more().await;
}

#[tokio::test]
async fn a_connection_that_is_going_away_finishes_its_calls_and_takes_no_new_ones() {
    let provider = Provider::start().await;
    let site = site(&provider, KEEPING);
    let mut peer = warm(&provider, &site).await;
    let old = send(&site, "old");
    let (_, respond) = peer.call().await;
    peer.0.graceful_shutdown();
    // The first answer says that the gateway knows of the end, the second that it knows which stream is the last.
    let mut pings = peer.0.ping_pong().unwrap();
    for _ in 0..2 {
        tokio::select! {
            pong = pings.ping(h2::Ping::opaque()) => drop(pong.unwrap()),
            () = peer.gone() => panic!("closed"),
        }
    }
    let new = send(&site, "new");
    let mut other = tokio::select! {
        other = accept(&provider) => other,
        stray = peer.call() => panic!("{stray:?}"),
    };
    other.serve("new").await;
    assert_eq!(read(new).await, (200, "new".to_owned()));
    peer.answer(respond, "old").await;
    assert_eq!(read(old).await, (200, "old".to_owned()));
    peer.gone().await;
    provider.has_no_more().await;
}

#[tokio::test]
async fn nothing_is_replayed_that_failed_on_a_new_connection() {
    let provider = Provider::start().await;
    let site = site(&provider, KEEPING);
    let call = send(&site, "x");
    let mut peer = accept(&provider).await;
    let _stream = peer.call().await;
    drop(peer);
    assert_eq!(failure(call).await, "broken");
    provider.has_no_more().await;
}

#[tokio::test]
async fn a_replay_may_find_http1() {
    let provider = Provider::start().await;
    let site = site(&provider, KEEPING);
    let mut peer = warm(&provider, &site).await;
    let call = send(&site, "x");
    let _stream = peer.call().await;
    drop(peer);
    let stream = acceptor(&["http/1.1"])
        .accept(provider.tcp().await)
        .await
        .unwrap();
    let mut peer = Peer::new(stream);
    let head = peer.head().await;
    assert_eq!(
        head,
        "POST /a%20b?c HTTP/1.1\r\nhost: provider.example\r\ncontent-length: 1\r\n\r\n"
    );
    peer.say(&ok("one")).await;
    assert_eq!(read(call).await, (200, "one".to_owned()));
}

#[tokio::test]
async fn a_call_given_up_is_reset_at_once() {
    let provider = Provider::start().await;
    let site = site(&provider, KEEPING);
    let mut peer = warm(&provider, &site).await;
    // Before a head, inside a body, while a request nobody reads is sent.
    let waiting = send(&site, "waiting");
    let (_request, mut respond) = peer.call().await;
    waiting.abort();
    assert_eq!(reset(&mut peer, &mut respond).await, Reason::CANCEL);

    let reading = send(&site, "reading");
    let (_request, mut respond) = peer.call().await;
    let mut stream = respond.send_response(Response::new(()), false).unwrap();
    stream.send_data(Bytes::from("part"), false).unwrap();
    peer.flush().await;
    drop(reading.await.unwrap().unwrap());
    let mut gone = std::pin::pin!(std::future::poll_fn(|cx| stream.poll_reset(cx)));
    let reason = tokio::select! { reason = &mut gone => reason, _ = peer.gone() => panic!() };
    assert_eq!(reason.unwrap(), Reason::CANCEL);

    let sending = send(&site, vec![b'x'; 8 << 20]);
    let (_request, mut respond) = peer.call().await;
    sending.abort();
    assert_eq!(reset(&mut peer, &mut respond).await, Reason::CANCEL);
    provider.has_no_more().await;
}

async fn reset(peer: &mut Peer2, respond: &mut SendResponse<Bytes>) -> Reason {
    let reset = std::future::poll_fn(|cx| respond.poll_reset(cx));
    tokio::select! { reason = reset => reason.unwrap(), () = peer.gone() => panic!("closed") }
}

#[tokio::test]
async fn a_connection_without_streams_is_idle_like_another() {
    let provider = Provider::start().await;
    let keeping = HttpPool {
        idle_timeout: Duration::from_millis(50),
        ..KEEPING
    };
    let timed = site(&provider, keeping);
    warm(&provider, &timed).await.gone().await;
    warm(&provider, &timed).await.gone().await;
    let keeping = HttpPool {
        max_idle_per_host: 0,
        ..KEEPING
    };
    let unkept = site(&provider, keeping);
    warm(&provider, &unkept).await.gone().await;
    provider.has_no_more().await;
}
