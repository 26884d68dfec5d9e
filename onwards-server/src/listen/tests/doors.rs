//! Doors besides plain TCP: TLS, and sockets in the file system.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustls::pki_types::{CertificateDer, ServerName};
use tempfile::TempDir;
use tokio::net::UnixStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::*;
use crate::certificate::{Certificate, Pair};
use crate::metrics::Metrics;

struct Sealed {
    listener: Listener,
    certificate: Arc<Certificate>,
    roots: Vec<CertificateDer<'static>>,
    metrics: Metrics,
}

fn made() -> (Pair, CertificateDer<'static>) {
    let made = rcgen::generate_simple_self_signed(["a.test".to_owned()]).unwrap();
    let key = made.signing_key.serialize_pem();
    let pair = Pair::read(made.cert.pem().as_bytes(), key.as_bytes()).unwrap();
    (pair, made.cert.der().clone())
}

/// A door with TLS, and a certificate that it can be given later.
async fn sealed<S>(service: S) -> (Sealed, Pair)
where
    S: Service<Request<Incoming>, Response = Response<Boxed>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send + 'static,
{
    let ((pair, root), (later, later_root)) = (made(), made());
    let metrics = Metrics::new("onwards").unwrap();
    let certificate = Arc::new(Certificate::new(pair, metrics.tls()));
    let socket = Socket::Tls(sockets(1).await.remove(0), Arc::clone(&certificate));
    let listener = Listener::open(vec![socket], Settings::default(), service);
    let sealed = Sealed {
        listener,
        certificate,
        roots: vec![root, later_root],
        metrics,
    };
    (sealed, later)
}

impl Sealed {
    async fn dial(&self, protocol: &str) -> TlsStream<TcpStream> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut roots = rustls::RootCertStore::empty();
        roots.add_parsable_certificates(self.roots.clone());
        let mut config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        let name = ServerName::try_from("a.test").unwrap();
        let connector = TlsConnector::from(Arc::new(config));
        connector
            .connect(name, dial(&self.listener).await)
            .await
            .unwrap()
    }

    fn failures(&self, reason: &str) -> f64 {
        let families = self.metrics.registry().gather();
        let failures = families
            .iter()
            .find(|family| family.name() == "onwards_tls_handshake_failures_total");
        let mut series = failures.unwrap().get_metric().iter();
        let wanted = series.find(|series| series.get_label()[0].value() == reason);
        wanted.unwrap().get_counter().get_value()
    }
}

fn shown(stream: &TlsStream<TcpStream>) -> &CertificateDer<'static> {
    &stream.get_ref().1.peer_certificates().unwrap()[0]
}

#[tokio::test]
async fn both_protocols_are_offered_and_a_new_certificate_is_for_new_connections() {
    let (sealed, later) = sealed(giving_large()).await;
    let mut one = sealed.dial("http/1.1").await;
    assert_eq!(one.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
    let two = sealed.dial("h2").await;
    assert_eq!(two.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    sealed.certificate.replace(later);
    let three = sealed.dial("http/1.1").await;
    assert_eq!(
        (shown(&one), shown(&three)),
        (&sealed.roots[0], &sealed.roots[1])
    );
    one.write_all(b"GET /16384 HTTP/1.1\r\nhost: a\r\n\r\n")
        .await
        .unwrap();
    let mut head = [0; 15];
    one.read_exact(&mut head).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 200 OK");
}

#[tokio::test(start_paused = true)]
async fn what_is_no_tls_is_refused_and_counted() {
    let (sealed, _) = sealed(giving_large()).await;
    let mut plain = dial(&sealed.listener).await;
    get(&mut plain, "/").await;
    let mut answer = Vec::new();
    plain.read_to_end(&mut answer).await.ok();
    assert_eq!(answer.first(), Some(&21), "an alert, no HTTP: {answer:?}");
    assert_eq!(sealed.failures("protocol"), 1.0);

    drop(dial(&sealed.listener).await);
    while sealed.failures("closed") < 1.0 {
        tokio::task::yield_now().await;
    }
    let before = Instant::now();
    let mut silent = dial(&sealed.listener).await;
    assert!(at_end(&mut silent).await);
    assert_eq!(before.elapsed().as_secs(), 75);
    assert_eq!(sealed.failures("timeout"), 1.0);
}

#[tokio::test(start_paused = true)]
async fn the_wait_for_the_first_request_includes_the_handshake() {
    let (sealed, _) = sealed(giving_large()).await;
    let before = Instant::now();
    let mut silent = sealed.dial("http/1.1").await;
    silent.read_to_end(&mut Vec::new()).await.ok();
    assert_eq!(before.elapsed().as_secs(), 75);
}

#[tokio::test(start_paused = true)]
async fn draining_does_not_wait_for_a_handshake() {
    let (sealed, _) = sealed(giving_large()).await;
    let mut silent = dial(&sealed.listener).await;
    sleep(Duration::from_secs(1)).await; // the clock stands until the server has accepted it
    let before = Instant::now();
    assert_eq!(sealed.listener.drain(MINUTE).await, Drained { cut: 0 });
    assert_eq!(before.elapsed(), FAREWELL);
    assert!(at_end(&mut silent).await);
}

#[tokio::test]
async fn a_slow_reader_gets_the_whole_answer_while_draining() {
    for path in LARGE_ANSWERS {
        let (sealed, _) = sealed(giving_large()).await;
        let mut slow = sealed.dial("http/1.1").await;
        let request = format!("GET {path} HTTP/1.1\r\nhost: a\r\n\r\n");
        slow.write_all(request.as_bytes()).await.unwrap();
        let mut head = [0; 15];
        slow.read_exact(&mut head).await.unwrap();
        tokio::time::pause();
        let mut tasks = JoinSet::new();
        tasks.spawn(sealed.listener.drain(MINUTE));
        sleep(Duration::from_secs(10)).await;
        tokio::time::resume(); // what follows takes the time it takes
        let mut rest = Vec::new();
        slow.read_to_end(&mut rest).await.unwrap();
        assert!(rest.len() > LARGE, "{path}: {} bytes", rest.len());
        assert!(rest.ends_with(b"x") || rest.ends_with(b"x\r\n0\r\n\r\n"));
        assert_eq!(
            tasks.join_next().await.unwrap().unwrap(),
            Drained { cut: 0 }
        );
    }
}

#[tokio::test]
async fn bytes_that_tls_holds_back_keep_a_connection_busy() {
    use hyper::rt::Write;
    /// Takes everything and passes nothing on, as TLS does in front of a full socket.
    struct Holding(bool);
    impl Write for Holding {
        fn poll_write(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            Poll::Ready(Ok(bytes.len()))
        }
        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            if self.0 {
                Poll::Pending
            } else {
                Poll::Ready(Ok(()))
            }
        }
        fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.poll_flush(cx)
        }
    }
    impl super::traffic::Watched for Holding {
        fn is_closed(&self) -> bool {
            false
        }
    }
    for holding in [false, true] {
        let traffic = Arc::new(Traffic::default());
        let mut held = pin!(Noted::new(Holding(holding), Arc::clone(&traffic)));
        let flushed = poll_fn(|cx| {
            let _taken = held.as_mut().poll_write(cx, b"abc");
            Poll::Ready(held.as_mut().poll_flush(cx).is_ready())
        });
        assert_eq!(flushed.await, !holding);
        assert_eq!(traffic.settled().is_some(), !holding);
    }
}

async fn bound(path: &Path) -> Result<Listener, BindError> {
    let socket = UnixSocket::bind(path, 0o640).await?;
    let sockets = vec![Socket::Unix(socket)];
    Ok(Listener::open(sockets, Settings::default(), hello()))
}

async fn asks(path: &Path) -> String {
    let mut stream = UnixStream::connect(path).await.unwrap();
    let request = b"GET /here HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
    stream.write_all(request).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    text
}

#[tokio::test]
async fn a_socket_in_the_file_system_is_there_as_long_as_its_door() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("s");
    let listener = bound(&path).await.unwrap();
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    assert!(asks(&path).await.ends_with("HTTP/1.1 /here"));
    assert_eq!(listener.addresses(), &[]);
    assert_eq!(listener.drain(MINUTE).await, Drained { cut: 0 });
    assert!(!path.exists());
}

#[tokio::test]
async fn a_socket_that_is_left_over_is_replaced_and_nothing_else() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("s");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists(), "left over");
    let listener = bound(&path).await.unwrap();
    assert!(asks(&path).await.ends_with("HTTP/1.1 /here"));

    let taken = bound(&path).await.unwrap_err();
    assert_eq!(taken.source.kind(), io::ErrorKind::AddrInUse);
    assert!(asks(&path).await.ends_with("HTTP/1.1 /here"), "unharmed");

    // A successor has moved in: its socket stays when this one goes.
    fs::remove_file(&path).unwrap();
    let successor = bound(&path).await.unwrap();
    listener.drain(MINUTE).await;
    assert!(asks(&path).await.ends_with("HTTP/1.1 /here"));
    successor.drain(MINUTE).await;

    fs::write(&path, "precious").unwrap();
    let refused = bound(&path).await.unwrap_err();
    assert_eq!(refused.source.kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(
        refused.to_string(),
        format!("cannot listen on {}", path.display())
    );
    assert_eq!(fs::read(&path).unwrap(), b"precious");
}
