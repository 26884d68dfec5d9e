//! TLS: whose certificate is trusted for which name, and what is spoken behind it.

use std::sync::LazyLock;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::{RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::super::tls::Tls;
use super::*;

/// A certificate for the loopback addresses and `localhost`, and its key.
static CERTIFICATE: LazyLock<(CertificateDer<'static>, Vec<u8>)> =
    LazyLock::new(|| certificate(&["127.0.0.1", "::1", "localhost"]));

fn certificate(names: &[&str]) -> (CertificateDer<'static>, Vec<u8>) {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names).unwrap();
    (cert.der().clone(), signing_key.serialize_der())
}

fn acceptor_of(
    certificate: &(CertificateDer<'static>, Vec<u8>),
    protocols: &[&str],
) -> TlsAcceptor {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let key = PrivatePkcs8KeyDer::from(certificate.1.clone());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.0.clone()], key.into())
        .unwrap();
    config.alpn_protocols = protocols
        .iter()
        .map(|name| name.as_bytes().to_vec())
        .collect();
    Arc::new(config).into()
}

/// The provider's side of TLS, with the certificate that [`pool`] trusts.
pub(super) fn acceptor(protocols: &[&str]) -> TlsAcceptor {
    acceptor_of(&CERTIFICATE, protocols)
}

/// A pool that trusts the certificate of [`acceptor`].
pub(super) fn pool() -> Pool {
    let mut roots = RootCertStore::empty();
    roots.add(CERTIFICATE.0.clone()).unwrap();
    Pool::with_tls(Tls::trusting(roots))
}

pub(super) fn site(provider: &Provider, keeping: HttpPool) -> Arc<Site> {
    let conditions = Conditions {
        keeping,
        proxy: None,
    };
    pool().site(&endpoint(Scheme::Https, provider.address), conditions)
}

async fn accept(
    provider: &Provider,
    acceptor: &TlsAcceptor,
) -> io::Result<Peer<TlsStream<TcpStream>>> {
    Ok(Peer::new(acceptor.accept(provider.tcp().await).await?))
}

#[tokio::test]
async fn addresses_are_names_too_and_connections_are_kept() {
    for listen in ["127.0.0.1:0", "[::1]:0"] {
        for protocols in [&["http/1.1"][..], &[]] {
            let provider = Provider::at(listen).await;
            let site = site(&provider, KEEPING);
            let call = send(&site, "first");
            let mut peer = accept(&provider, &acceptor(protocols)).await.unwrap();
            assert_eq!(peer.serve(&ok("one")).await, "first");
            assert_eq!(read(call).await, (200, "one".to_owned()));
            let call = send(&site, "second");
            assert_eq!(peer.serve(&ok("two")).await, "second");
            assert_eq!(read(call).await, (200, "two".to_owned()));
            provider.has_no_more().await;
        }
    }
}

#[tokio::test]
async fn a_name_is_asked_for_by_name() {
    let provider = Provider::start().await;
    let there = HttpEndpoint {
        host: "localhost".to_owned(),
        ..endpoint(Scheme::Https, provider.address)
    };
    let conditions = Conditions {
        keeping: KEEPING,
        proxy: None,
    };
    let call = send(&pool().site(&there, conditions), "x");
    let mut peer = accept(&provider, &acceptor(&[])).await.unwrap();
    assert_eq!(peer.stream.get_ref().1.server_name(), Some("localhost"));
    peer.serve(&ok("y")).await;
    assert_eq!(read(call).await, (200, "y".to_owned()));
}

#[tokio::test]
async fn strangers_get_nothing() {
    let untrusted = certificate(&["127.0.0.1"]);
    let stranger = acceptor_of(&untrusted, &["h2", "http/1.1"]);
    let provider = Provider::start().await;
    let site = site(&provider, KEEPING);
    let call = send(&site, "secret");
    assert!(accept(&provider, &stranger).await.is_err());
    assert_eq!(failure(call).await, "connect");
    // Trusted, but for another name.
    let other = certificate(&["elsewhere.example"]);
    let mut roots = RootCertStore::empty();
    roots.add(other.0.clone()).unwrap();
    let conditions = Conditions {
        keeping: KEEPING,
        proxy: None,
    };
    let pool = Pool::with_tls(Tls::trusting(roots));
    let call = send(
        &pool.site(&endpoint(Scheme::Https, provider.address), conditions),
        "secret",
    );
    assert!(accept(&provider, &acceptor_of(&other, &[])).await.is_err());
    assert_eq!(failure(call).await, "connect");
    provider.has_no_more().await;
}

#[tokio::test]
async fn a_handshake_that_does_not_go_on_ends_in_time() {
    let provider = Provider::start().await;
    let call = site(&provider, KEEPING).send(post("x"), Duration::from_millis(50));
    let call = tokio::spawn(call);
    let _silent = provider.tcp().await;
    assert_eq!(failure(call).await, "connect");
}

#[tokio::test]
async fn an_end_without_a_goodbye_is_an_error() {
    let provider = Provider::start().await;
    let call = send(&site(&provider, KEEPING), "x");
    let mut peer = accept(&provider, &acceptor(&[])).await.unwrap();
    peer.serve("HTTP/1.1 200 OK\r\n\r\nthe end of this is the connection's")
        .await;
    drop(peer);
    let answer = call.await.unwrap().unwrap();
    assert!(answer.into_body().collect().await.is_err());
}

#[tokio::test]
async fn connections_without_work_are_closed_with_a_goodbye() {
    let provider = Provider::start().await;
    let keeping = HttpPool {
        max_idle_per_host: 0,
        ..KEEPING
    };
    let call = send(&site(&provider, keeping), "x");
    let mut peer = accept(&provider, &acceptor(&[])).await.unwrap();
    peer.serve(&ok("y")).await;
    assert_eq!(read(call).await, (200, "y".to_owned()));
    assert_eq!(peer.more().await.unwrap(), 0);
}

#[tokio::test]
async fn calls_at_the_same_time_do_not_wait_for_each_other_without_http2() {
    let provider = Provider::start().await;
    let site = site(&provider, KEEPING);
    let acceptor = acceptor(&["http/1.1"]);
    let calls: Vec<_> = (0..4).map(|i| send(&site, format!("{i}"))).collect();
    let mut peers = Vec::new();
    let mut bodies = Vec::new();
    for _ in &calls {
        let mut peer = accept(&provider, &acceptor).await.unwrap();
        bodies.push(peer.request().await);
        peers.push(peer);
    }
    bodies.sort();
    assert_eq!(bodies, ["0", "1", "2", "3"]);
    for peer in &mut peers {
        peer.say(&ok("all")).await;
    }
    for call in calls {
        assert_eq!(read(call).await, (200, "all".to_owned()));
    }
}

#[tokio::test]
async fn those_who_waited_for_a_failed_handshake_fail_side_by_side() {
    let provider = Provider::start().await;
    let site = site(&provider, KEEPING);
    let calls: Vec<_> = (0..4).map(|i| send(&site, format!("{i}"))).collect();
    drop(provider.tcp().await);
    let others = [
        provider.tcp().await,
        provider.tcp().await,
        provider.tcp().await,
    ];
    drop(others);
    for call in calls {
        assert_eq!(failure(call).await, "connect");
    }
    provider.has_no_more().await;
}
