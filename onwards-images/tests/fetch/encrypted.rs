//! Over TLS: who answers must prove its name.

use std::sync::Arc;
use std::time::Duration;

use super::support::*;
use onwards_images::{Fetcher, Reason, Settings};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};

/// A server for these names, and a client that trusts it.
fn pair(names: &[&str]) -> (TlsAcceptor, ClientConfig) {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let made = rcgen::generate_simple_self_signed(names).unwrap();
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let mut server = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    server.alpn_protocols = vec![b"http/1.1".to_vec()];
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let mut client = trusting(roots);
    client.alpn_protocols = vec![b"h2".to_vec()];
    (TlsAcceptor::from(Arc::new(server)), client)
}

#[tokio::test]
async fn a_name_that_is_proved_is_asked() {
    let (acceptor, client) = pair(&["pics.example", "93.184.216.34"]);
    let (script, at) = Script::new([
        ("/", picture(GIF)),
        ("/down", moved("http://pics.example/")),
    ])
    .serve(Some(acceptor))
    .await;
    let world = World::new(at)
        .name("pics.example", &[&[PUBLIC]])
        .name("other.example", &[&[PUBLIC]]);
    let world = Arc::new(world);
    let fetcher = Fetcher::over(Settings::default(), client, world.clone());
    for url in [
        "https://pics.example/",
        "https://pics.example./",
        "https://93.184.216.34:8443/",
    ] {
        assert_eq!(
            types(fetcher.fetch(&[url]).await),
            Ok(vec!["image/gif"]),
            "{url}"
        );
    }
    assert_eq!(world.log()[1], "> 93.184.216.34:443");
    assert_eq!(
        fetcher.fetch(&["https://other.example/"]).await,
        failed(Reason::BadStatus)
    );
    assert_eq!(
        fetcher.fetch(&["https://pics.example/down"]).await,
        failed(Reason::BadUrl)
    );
    assert_eq!(script.asked().len(), 4);
    let stranger = Fetcher::over(Settings::default(), no_trust(), world);
    assert_eq!(
        stranger.fetch(&["https://pics.example/"]).await,
        failed(Reason::BadStatus)
    );
    assert_eq!(script.asked().len(), 4);
}

#[tokio::test]
async fn a_handshake_that_hangs_times_out() {
    let (_, client) = pair(&["pics.example"]);
    // Waits for the end of a head that never comes.
    let (script, at) = Script::default().serve(None).await;
    let world = Arc::new(World::new(at).name("pics.example", &[&[PUBLIC]]));
    let settings = Settings {
        timeout: Duration::from_millis(200),
        ..Settings::default()
    };
    let fetcher = Fetcher::over(settings, client, world);
    assert_eq!(
        fetcher.fetch(&["https://pics.example/"]).await,
        failed(Reason::Timeout)
    );
    script.empty().await;
}
