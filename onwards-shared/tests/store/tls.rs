//! A store behind TLS.

use onwards_shared::{Event, Reason};

use crate::server::{Server, free_port};
use crate::support::{Gateway, patient};

#[tokio::test]
async fn a_store_behind_tls_is_trusted_by_its_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let file = |name: &str, text: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let certificate = file("certificate", made.cert.pem());
    let key = file("key", made.signing_key.serialize_pem());
    let port = free_port();
    let Some(server) = Server::start_with(&[
        "--tls-port",
        &port.to_string(),
        "--tls-cert-file",
        &certificate,
        "--tls-key-file",
        &key,
        "--tls-ca-cert-file",
        &certificate,
        "--tls-auth-clients",
        "no",
    ])
    .await
    else {
        return;
    };
    let mut settings = patient(&server);
    settings.url = format!("rediss://localhost:{port}/");
    let stranger = Gateway::start(settings.clone());
    stranger
        .hears("no trust", |event| {
            matches!(event, Event::Away(Reason::Unreachable { problem }) if problem.contains("certificate"))
        })
        .await;
    settings.certificate = Some(made.cert.pem().into_bytes());
    let gateway = Gateway::up(settings).await;
    let _guard = gateway.enter("acme", "gpt", 1).await.expect("room");
    assert!(gateway.enter("acme", "gpt", 1).await.is_none());
}
