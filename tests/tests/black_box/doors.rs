//! Clients come over TLS, or through a socket in the file system; the certificate is replaced under them.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use onwards_tests::{Gate, Gateway, Launch, Reply, Request, Upstream, eventually, run, within};
use rustls::pki_types::{CertificateDer, ServerName};
use serde_json::json;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::tls::Certificate;

/// A folder with the files of a certificate, as the flags name them.
struct Shown {
    dir: TempDir,
}

impl Shown {
    fn new(certificate: &Certificate) -> Self {
        let shown = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        let (chain, key) = certificate.pem();
        shown.write("c.pem", &chain);
        shown.write("k.pem", &key);
        shown
    }

    fn path(&self, name: &str) -> String {
        self.dir.path().join(name).to_str().unwrap().to_owned()
    }

    /// Renames a new file over the old one.
    fn write(&self, name: &str, text: &str) {
        fs::write(self.path("new"), text).unwrap();
        fs::rename(self.path("new"), self.path(name)).unwrap();
    }

    fn launch(&self, up: &Upstream) -> Launch {
        let (chain, key) = (self.path("c.pem"), self.path("k.pem"));
        Launch::targets(&json!({"m": {"url": up.url()}})).args(&[
            "--tls-cert",
            &chain,
            "--tls-key",
            &key,
        ])
    }
}

/// A connection that trusts these certificates.
async fn dial(
    gateway: &Gateway,
    trusted: &[&Certificate],
    protocol: &str,
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add_parsable_certificates(trusted.iter().map(|trusted| trusted.der().clone()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
    let tcp = TcpStream::connect(gateway.address()).await?;
    let connector = TlsConnector::from(Arc::new(config));
    let name = ServerName::try_from("gateway.test").unwrap();
    within("TLS", connector.connect(name, tcp)).await
}

fn shown(stream: &TlsStream<TcpStream>) -> CertificateDer<'static> {
    let chain = stream.get_ref().1.peer_certificates();
    chain.unwrap().first().unwrap().clone()
}

/// Whether new connections are shown this certificate.
async fn shows(gateway: &Gateway, certificate: &Certificate, all: &[&Certificate]) -> bool {
    let stream = dial(gateway, all, "http/1.1").await.unwrap();
    shown(&stream) == *certificate.der()
}

async fn comes_to_show(gateway: &Gateway, certificate: &Certificate, all: &[&Certificate]) {
    eventually("the new certificate", || shows(gateway, certificate, all)).await;
}

fn chat(uri: &str) -> hyper::Request<Full<Bytes>> {
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]});
    hyper::Request::post(uri)
        .header("host", "gateway.test")
        .header("content-type", "application/json")
        .body(Full::from(body.to_string()))
        .unwrap()
}

async fn whole(answer: hyper::Response<Incoming>) -> (u16, Bytes) {
    let status = answer.status().as_u16();
    let body = within("an answer", answer.into_body().collect()).await;
    (status, body.unwrap().to_bytes())
}

/// One request over HTTP/1.1 on a connection of its own.
async fn ask<I>(stream: I) -> (u16, Bytes)
where
    I: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let sent = sender.send_request(chat("/v1/chat/completions"));
    whole(within("an answer", sent).await.unwrap()).await
}

#[tokio::test]
async fn both_protocols_are_served_over_tls() {
    let (certificate, up) = (Certificate::new("gateway.test"), Upstream::start().await);
    let shown = Shown::new(&certificate);
    let gateway = shown.launch(&up).start().await;
    let one = dial(&gateway, &[&certificate], "http/1.1").await.unwrap();
    let (status, body) = ask(one).await;
    assert_eq!(status, 200);

    let two = dial(&gateway, &[&certificate], "h2").await.unwrap();
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(two))
        .await
        .unwrap();
    tokio::spawn(connection);
    let asked = |_| {
        sender
            .clone()
            .send_request(chat("https://gateway.test/v1/chat/completions"))
    };
    for answer in futures_util::future::join_all((0..3).map(asked)).await {
        assert_eq!(whole(answer.unwrap()).await, (200, body.clone()));
    }
    let gate = Gate::new();
    up.reply(Reply::stream().delta("one").wait(&gate).delta("two").done());
    let sent = sender.send_request(chat("https://gateway.test/v1/chat/completions"));
    let mut stream = within("a stream", sent).await.unwrap().into_body();
    let first = within("a frame", stream.frame()).await.unwrap().unwrap();
    assert!(String::from_utf8_lossy(first.data_ref().unwrap()).contains("one"));
    gate.reached(1).await;
    gate.open();
    let rest = within("the rest", stream.collect()).await.unwrap();
    assert!(rest.to_bytes().ends_with(b"data: [DONE]\n\n"));
}

#[tokio::test]
async fn what_is_no_tls_is_refused_without_harm() {
    let (certificate, up) = (Certificate::new("gateway.test"), Upstream::start().await);
    let stranger = Certificate::new("gateway.test");
    let shown = Shown::new(&certificate);
    let gateway = shown.launch(&up).start().await;
    let failed = "onwards_tls_handshake_failures_total";
    let mut plain = gateway.connect().await;
    plain.send(&Request::chat().bytes()).await;
    let (said, _) = plain.rest().await;
    assert_eq!(said.first(), Some(&21), "an alert: {said:?}");
    dial(&gateway, &[&stranger], "h2").await.unwrap_err();
    gateway
        .metric_becomes(failed, &[("reason", "protocol")], 2.0)
        .await;
    drop(gateway.connect().await);
    // Waiting for the port to open counts as well.
    eventually("a client that left to be counted", || async {
        let metrics = gateway.metrics().await;
        metrics.count(failed, &[("reason", "closed")]) >= 1.0
    })
    .await;
    let served = dial(&gateway, &[&certificate], "http/1.1").await.unwrap();
    assert_eq!((ask(served).await.0, up.count()), (200, 1));
    for path in ["/healthz", "/readyz"] {
        assert_eq!(gateway.side(path).await.status, 200, "{path} is plain");
    }
    assert!(!gateway.log().contains("ERROR") && !gateway.log().contains("panic"));
}

#[tokio::test]
async fn the_certificate_is_replaced_while_a_stream_runs() {
    let (old, new) = (
        Certificate::new("gateway.test"),
        Certificate::new("gateway.test"),
    );
    let all = [&old, &new];
    let up = Upstream::start().await;
    let files = Shown::new(&old);
    let gateway = files.launch(&up).start().await;
    let gate = Gate::new();
    up.reply(Reply::stream().delta("one").wait(&gate).delta("two").done());
    let mut running = dial(&gateway, &all, "http/1.1").await.unwrap();
    running.write_all(&Request::chat().bytes()).await.unwrap();
    gate.reached(1).await;

    let (chain, key) = new.pem();
    files.write("c.pem", &chain);
    gateway.logs("the key does not belong", 1).await;
    assert!(
        shows(&gateway, &old, &all).await,
        "half a pair changes nothing"
    );
    files.write("k.pem", &key);
    comes_to_show(&gateway, &new, &all).await;
    files.write("c.pem", "");
    gateway.logs("holds no certificate", 1).await;
    fs::remove_file(files.path("c.pem")).unwrap();
    gateway
        .logs("cannot be read, the one in force stays", 1)
        .await;
    assert!(shows(&gateway, &new, &all).await);
    let metrics = gateway.metrics().await;
    assert_eq!(
        metrics.count("onwards_tls_certificate_reloads_total", &[("result", "ok")]),
        1.0
    );
    let expiry = metrics.get("onwards_tls_certificate_expiry_timestamp_seconds", &[]);
    assert_eq!(
        expiry,
        Some(67_090_118_400.0),
        "the first of January 4096, as rcgen makes it"
    );

    gate.open();
    let mut rest = Vec::new();
    while !rest.ends_with(b"0\r\n\r\n") {
        let read = within("the rest", running.read_buf(&mut rest)).await;
        assert_ne!(read.unwrap(), 0, "the stream broke off");
    }
    assert!(String::from_utf8_lossy(&rest).contains("[DONE]"));
    assert!(!gateway.log().contains("PRIVATE KEY"));
}

#[tokio::test]
async fn a_mounted_certificate_is_swapped_and_a_hangup_reads_it_again() {
    let all: Vec<_> = (0..3).map(|_| Certificate::new("gateway.test")).collect();
    let all: Vec<_> = all.iter().collect();
    let dir = tempfile::tempdir().unwrap();
    let mount = |version: usize| {
        let folder = dir.path().join(format!("..{version}"));
        fs::create_dir(&folder).unwrap();
        let (chain, key) = all[version].pem();
        fs::write(folder.join("tls.crt"), chain).unwrap();
        fs::write(folder.join("tls.key"), key).unwrap();
        symlink(format!("..{version}"), dir.path().join("..new")).unwrap();
        fs::rename(dir.path().join("..new"), dir.path().join("..data")).unwrap();
    };
    mount(0);
    for name in ["tls.crt", "tls.key"] {
        symlink(format!("..data/{name}"), dir.path().join(name)).unwrap();
    }
    let up = Upstream::start().await;
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let launch = |watch: &str| {
        Launch::targets(&json!({"m": {"url": up.url()}}))
            .env("ONWARDS_TLS_CERT", &path("tls.crt"))
            .env("ONWARDS_TLS_KEY", &path("tls.key"))
            .args(&["--watch", watch])
    };
    let (watching, asked) = (launch("true").start().await, launch("false").start().await);
    for version in [1, 2] {
        mount(version);
        comes_to_show(&watching, all[version], &all).await;
        assert!(shows(&asked, all[version - 1], &all).await);
        asked.signal("HUP");
        comes_to_show(&asked, all[version], &all).await;
    }
    assert!(!watching.log().contains("ERROR"), "{}", watching.log());
}

#[tokio::test]
async fn a_stream_over_tls_is_drained() {
    let (certificate, up) = (Certificate::new("gateway.test"), Upstream::start().await);
    let shown = Shown::new(&certificate);
    let launch = shown.launch(&up).args(&["--shutdown-delay-secs", "0"]);
    let mut gateway = launch.start().await;
    let gate = Gate::new();
    up.reply(Reply::stream().delta("one").wait(&gate).delta("two").done());
    let stream = dial(&gateway, &[&certificate], "http/1.1").await.unwrap();
    let asking = tokio::spawn(ask(stream));
    gate.reached(1).await;
    gateway.signal("TERM");
    gateway.logs("draining", 1).await;
    eventually("the door to close", || async { !gateway.accepts().await }).await;
    gate.open();
    let (status, body) = asking.await.unwrap();
    assert!(status == 200 && body.ends_with(b"data: [DONE]\n\n"));
    assert_eq!(gateway.exit().await, Some(0));
}

#[tokio::test]
async fn files_that_cannot_be_served_are_named_at_the_start() {
    let (certificate, other) = (Certificate::new("a.test"), Certificate::new("a.test"));
    let files = Shown::new(&certificate);
    files.write("other.pem", &other.pem().1);
    files.write("config.json", r#"{"targets": {}}"#);
    for (chain, key, told) in [
        (
            "c.pem",
            "other.pem",
            "the key does not belong to the first certificate",
        ),
        ("c.pem", "c.pem", "the key file holds no private key in PEM"),
        (
            "k.pem",
            "k.pem",
            "the certificate file holds no certificate in PEM",
        ),
        ("none.pem", "k.pem", "cannot read the certificate none.pem"),
        ("c.pem", ".", "cannot read the key ."),
    ] {
        let arguments = ["-f", "config.json", "--tls-cert", chain, "--tls-key", key];
        let ended = run(files.dir.path(), &arguments).await;
        assert_eq!(ended.code, Some(1), "{}", ended.output);
        assert!(ended.output.contains(told), "{}", ended.output);
        assert!(!ended.output.contains("BEGIN PRIVATE"), "{}", ended.output);
    }
}

async fn ask_at(path: &Path) -> (u16, Bytes) {
    ask(UnixStream::connect(path).await.unwrap()).await
}

#[tokio::test]
async fn a_socket_in_the_file_system_serves_beside_the_port() {
    let up = Upstream::start().await;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("gateway.sock");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let socket = ["--unix-socket", path.to_str().unwrap()];
    let launch = || {
        Launch::targets(&json!({"m": {"url": up.url()}}))
            .args(&socket)
            .args(&["--shutdown-delay-secs", "0"])
    };
    let mut gateway = launch().start().await;
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o660
    );
    assert_eq!(ask_at(&path).await.0, 200);
    assert_eq!(gateway.send(Request::chat()).await.status, 200);

    fs::write(dir.path().join("config.json"), r#"{"targets": {}}"#).unwrap();
    let ports = ["--port", "0", "--metrics-port", "0"];
    let arguments = [&["-f", "config.json"][..], &socket, &ports].concat();
    let second = run(dir.path(), &arguments).await;
    assert_eq!(second.code, Some(1));
    assert!(
        second.output.contains("a running process listens there"),
        "{}",
        second.output
    );

    let gate = Gate::new();
    up.reply(Reply::stream().delta("one").wait(&gate).delta("two").done());
    let stream = UnixStream::connect(&path).await.unwrap();
    let asking = tokio::spawn(ask(stream));
    gate.reached(1).await;
    gateway.signal("TERM");
    eventually("the socket to go", || async { !path.exists() }).await;
    // The next process moves in before this one has finished.
    let next = launch().start().await;
    gate.open();
    let (status, body) = asking.await.unwrap();
    assert!(status == 200 && body.ends_with(b"data: [DONE]\n\n"));
    assert_eq!(gateway.exit().await, Some(0));
    assert_eq!(ask_at(&path).await.0, 200);
    drop(next);
    assert!(path.exists(), "a process that was killed leaves it");
}

#[tokio::test]
async fn signals_hurry_the_end_through_every_door() {
    let (certificate, up) = (Certificate::new("gateway.test"), Upstream::start().await);
    let shown = Shown::new(&certificate);
    let path = shown.path("s");
    let launch = shown.launch(&up).args(&["--unix-socket", &path]);
    let mut gateway = launch
        .env("ONWARDS_SHUTDOWN_DELAY_SECS", "600")
        .start()
        .await;
    up.always(Reply::stream().delta("one").wait(&Gate::new()));
    let sealed = dial(&gateway, &[&certificate], "http/1.1").await.unwrap();
    let asking = [
        tokio::spawn(ask(sealed)),
        tokio::spawn(ask(UnixStream::connect(&path).await.unwrap())),
    ];
    up.arrived(2).await;
    gateway.signal("TERM");
    eventually("the probe to fail", || async {
        gateway.side("/readyz").await.status == 503
    })
    .await;
    gateway.signal("TERM");
    eventually("the doors to close", || async { !gateway.accepts().await }).await;
    gateway.signal("TERM");
    assert_eq!(gateway.exit().await, Some(1));
    assert!(!Path::new(&path).exists());
    for asking in asking {
        assert!(asking.await.is_err(), "the stream is cut off");
    }
}
