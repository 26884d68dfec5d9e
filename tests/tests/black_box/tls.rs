//! Providers behind TLS: HTTP/1.1 and HTTP/2, and certificates that nobody vouches for.

use std::convert::Infallible;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;

use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use onwards_tests::{End, Gate, Launch, Reply, Request, Step, Upstream, within};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::PrivatePkcs8KeyDer;
use serde_json::{Value, json};
use tempfile::NamedTempFile;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio_rustls::TlsAcceptor;

/// A certificate for some names, and the file that makes a gateway trust it and nothing else.
pub(crate) struct Certificate {
    key: CertifiedKey<rcgen::KeyPair>,
    file: NamedTempFile,
}

impl Certificate {
    pub(crate) fn new(name: &str) -> Self {
        let key = generate_simple_self_signed([name.to_owned()]).unwrap();
        let mut file = NamedTempFile::new().unwrap();
        file.write_all(key.cert.pem().as_bytes()).unwrap();
        Self { key, file }
    }

    /// A launch that trusts it.
    pub(crate) fn trusted(&self, config: &Value) -> Launch {
        Launch::new(config).env("SSL_CERT_FILE", self.file.path().to_str().unwrap())
    }

    /// The texts of its two files.
    pub(crate) fn pem(&self) -> (String, String) {
        (self.key.cert.pem(), self.key.signing_key.serialize_pem())
    }

    /// Its bytes, as a server shows them.
    pub(crate) fn der(&self) -> &rustls::pki_types::CertificateDer<'static> {
        self.key.cert.der()
    }

    fn acceptor(&self, protocols: &[&str]) -> TlsAcceptor {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivatePkcs8KeyDer::from(self.key.signing_key.serialize_der());
        let mut config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![self.key.cert.der().clone()], key.into())
            .unwrap();
        let protocols = protocols.iter().map(|name| name.as_bytes().to_vec());
        config.alpn_protocols = protocols.collect();
        Arc::new(config).into()
    }
}

/// TLS in front of a scripted provider, which speaks HTTP/1.1.
pub(crate) async fn in_front_of(up: &Upstream, certificate: &Certificate) -> SocketAddr {
    let acceptor = certificate.acceptor(&["http/1.1"]);
    let behind = up.address();
    listen(move |tcp| {
        let acceptor = acceptor.clone();
        async move {
            let mut plain = TcpStream::connect(behind).await.unwrap();
            // Who does not trust the certificate leaves here.
            if let Ok(mut tls) = acceptor.accept(tcp).await {
                tokio::io::copy_bidirectional(&mut tls, &mut plain)
                    .await
                    .ok();
            }
        }
    })
    .await
}

/// Serves every connection of a new port.
async fn listen<F>(serve: impl Fn(TcpStream) -> F + Send + 'static) -> SocketAddr
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (tcp, _) = listener.accept().await.unwrap();
            tokio::spawn(serve(tcp));
        }
    });
    address
}

/// A provider that speaks HTTP/2: answers are streams of what the test sends.
struct Http2 {
    address: SocketAddr,
    connections: watch::Receiver<usize>,
    calls: mpsc::Receiver<Call>,
}

struct Call {
    body: Bytes,
    uri: String,
    answer: mpsc::Sender<Result<Frame<Bytes>, std::io::Error>>,
}

impl Http2 {
    async fn start(certificate: &Certificate) -> Self {
        let acceptor = certificate.acceptor(&["h2", "http/1.1"]);
        let (counter, connections) = watch::channel(0);
        let (seen, calls) = mpsc::channel(64);
        let counter = Arc::new(counter);
        let address = listen(move |tcp| {
            let (acceptor, counter, seen) = (acceptor.clone(), counter.clone(), seen.clone());
            async move {
                let tls = acceptor.accept(tcp).await.unwrap();
                assert_eq!(tls.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
                counter.send_modify(|count| *count += 1);
                let service = service_fn(move |request: hyper::Request<Incoming>| {
                    answer(request, seen.clone())
                });
                hyper::server::conn::http2::Builder::new(TokioExecutor::new())
                    .serve_connection(TokioIo::new(tls), service)
                    .await
                    .ok();
            }
        })
        .await;
        Self {
            address,
            connections,
            calls,
        }
    }

    async fn call(&mut self) -> Call {
        within("a call", self.calls.recv()).await.unwrap()
    }
}

type Answer = http_body_util::combinators::BoxBody<Bytes, std::io::Error>;

async fn answer(
    request: hyper::Request<Incoming>,
    seen: mpsc::Sender<Call>,
) -> Result<hyper::Response<Answer>, Infallible> {
    let uri = request.uri().to_string();
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let (sender, mut frames) = mpsc::channel(1);
    let call = Call {
        body,
        uri,
        answer: sender,
    };
    if seen.send(call).await.is_err() {
        let nothing = Full::new(Bytes::new()).map_err(|never| match never {});
        return Ok(hyper::Response::new(nothing.boxed()));
    }
    let frames = futures_util::stream::poll_fn(move |cx| frames.poll_recv(cx));
    let mut response = hyper::Response::new(BodyExt::boxed(StreamBody::new(frames)));
    let kind = "text/event-stream".parse().unwrap();
    response.headers_mut().insert("content-type", kind);
    Ok(response)
}

fn target(address: SocketAddr) -> Value {
    json!({"targets": {"m": {"url": format!("https://{address}/v1"), "onwards_key": "sk-operator"}}})
}

#[tokio::test]
async fn http1_behind_tls_is_like_http1() {
    let certificate = Certificate::new("127.0.0.1");
    let up = Upstream::start().await;
    let address = in_front_of(&up, &certificate).await;
    let gateway = certificate.trusted(&target(address)).start().await;
    for i in 0..5 {
        let answer = gateway.send(Request::chat()).await;
        assert_eq!(answer.status, 200);
        let seen = up.request(i).await;
        assert_eq!(seen.line, "POST /v1/chat/completions HTTP/1.1");
        assert_eq!(seen.header("host"), Some(address.to_string().as_str()));
        assert_eq!(seen.header("authorization"), Some("Bearer sk-operator"));
    }
    assert!(
        up.connections() <= 2,
        "{} connections for calls in a row",
        up.connections()
    );
    let gate = Gate::new();
    up.reply(
        Reply::stream()
            .chunk("one ")
            .wait(&gate)
            .chunk("two")
            .last_chunk(),
    );
    let mut conn = gateway.begin(Request::chat()).await;
    let head = conn.head().await;
    gate.reached(1).await;
    gate.open();
    assert_eq!(conn.body(&head).await, (b"one two".to_vec(), End::Clean));
    up.reply(Reply::stream().chunk("one ").then(Step::Close));
    let mut conn = gateway.begin(Request::chat()).await;
    let head = conn.head().await;
    assert_eq!(conn.body(&head).await, (b"one ".to_vec(), End::Broken));
}

#[tokio::test]
async fn calls_share_an_http2_connection() {
    let certificate = Certificate::new("127.0.0.1");
    let mut up = Http2::start(&certificate).await;
    let gateway = certificate.trusted(&target(up.address)).start().await;
    let mut clients = Vec::new();
    for i in 0..8 {
        let request = Request::post("/v1/x?y=%2f").json(&json!({"model": "m", "i": i}));
        clients.push(gateway.begin(request).await);
    }
    let mut calls = Vec::new();
    for _ in 0..8 {
        calls.push(up.call().await);
    }
    let mut bodies: Vec<_> = calls.iter().map(|call| call.body.clone()).collect();
    bodies.sort();
    let expected: Vec<String> = (0..8)
        .map(|i| format!(r#"{{"i":{i},"model":"m"}}"#))
        .collect();
    assert_eq!(bodies, expected);
    for call in calls {
        assert_eq!(call.uri, format!("https://{}/v1/x?y=%2f", up.address));
        for piece in ["data: one\n\n", "data: two\n\n"] {
            let frame = Frame::data(Bytes::from(piece));
            call.answer.send(Ok(frame)).await.unwrap();
        }
    }
    for mut client in clients {
        let answer = client.response().await;
        assert_eq!(
            (answer.status, answer.text().as_str()),
            (200, "data: one\n\ndata: two\n\n")
        );
    }
    assert_eq!(*up.connections.borrow(), 1);
}

#[tokio::test]
async fn an_http2_stream_breaks_off_visibly_and_is_given_up_with_its_client() {
    let certificate = Certificate::new("127.0.0.1");
    let mut up = Http2::start(&certificate).await;
    let gateway = certificate.trusted(&target(up.address)).start().await;
    let part = || Ok(Frame::data(Bytes::from_static(b"part")));

    let mut client = gateway.begin(Request::chat()).await;
    let call = up.call().await;
    call.answer.send(part()).await.unwrap();
    client.until(b"part").await;
    let broken = Err(std::io::Error::other("broken"));
    call.answer.send(broken).await.unwrap();
    let (rest, _) = client.rest().await;
    assert_eq!(rest, b"\r\n", "no last chunk");

    let mut client = gateway.begin(Request::chat()).await;
    let call = up.call().await;
    call.answer.send(part()).await.unwrap();
    client.head().await;
    client.reset();
    within("the stream to be given up", call.answer.closed()).await;
    assert_eq!(*up.connections.borrow(), 1);
}

#[tokio::test]
async fn a_certificate_nobody_vouches_for_is_a_502() {
    let (stranger, other) = (Certificate::new("127.0.0.1"), Certificate::new("127.0.0.1"));
    let misnamed = Certificate::new("localhost");
    for (shown, trusted) in [(&stranger, &other), (&misnamed, &misnamed)] {
        let up = Upstream::start().await;
        let address = in_front_of(&up, shown).await;
        let launch = trusted.trusted(&target(address));
        let gateway = launch.env("RUST_LOG", "trace").start().await;
        let answer = gateway.send(Request::chat().bearer("sk-client")).await;
        assert_eq!(
            (answer.status, answer.code()),
            (502, json!("internal_error"))
        );
        let said = answer.text();
        for secret in ["certificate", "UnknownIssuer", "127.0.0.1", "sk-"] {
            assert!(!said.contains(secret), "{said}");
        }
        assert_eq!(up.count(), 0, "the provider saw a call");
        assert!(!gateway.log().contains("sk-"), "a secret is logged");
    }
}
