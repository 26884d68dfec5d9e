//! Calls through forward proxies; the test is the proxy.

use onwards_config::Proxy;

use super::secure::{acceptor, pool};
use super::*;

const CREDENTIALS: &str = "Basic dXNlcjpwYSBzcw==";

/// The proxy of a configuration that holds this object.
fn configured(proxy: &str) -> Proxy {
    let text = format!(r#"{{"proxy": {proxy}, "targets": {{}}}}"#);
    onwards_config::read(text.as_bytes(), &())
        .unwrap()
        .gateway
        .proxy
        .unwrap()
}

fn site_behind(proxy: &str, scheme: Scheme, host: &str) -> Arc<Site> {
    let there = HttpEndpoint {
        scheme,
        host: host.to_owned(),
        port: 8443,
        authority: if host.contains(':') {
            format!("[{host}]:8443")
        } else {
            format!("{host}:8443")
        },
        base_path: String::new(),
    };
    let proxy = configured(proxy);
    let conditions = Conditions {
        keeping: KEEPING,
        proxy: Some(&proxy),
    };
    pool().site(&there, conditions)
}

#[tokio::test]
async fn plain_calls_go_in_absolute_form_with_credentials() {
    let proxy = Provider::start().await;
    let config = format!(r#"{{"http": "http://user:pa%20ss@{}"}}"#, proxy.address);
    let site = site_behind(&config, Scheme::Http, "provider.invalid");
    let expected = format!(
        "POST http://provider.invalid:8443/a%20b?c HTTP/1.1\r\nhost: provider.example\r\ncontent-length: 1\r\nproxy-authorization: {CREDENTIALS}\r\n\r\n"
    );
    let mut call = send(&site, "x");
    let mut peer = proxy.accept().await;
    for _ in 0..3 {
        assert_eq!(peer.head().await, expected);
        peer.take(1).await;
        peer.say(&ok("through")).await;
        assert_eq!(read(call).await, (200, "through".to_owned()));
        call = send(&site, "y");
    }
}

#[tokio::test]
async fn tls_goes_through_a_tunnel() {
    for (host, target) in [("127.0.0.1", "127.0.0.1:8443"), ("::1", "[::1]:8443")] {
        let proxy = Provider::start().await;
        let config = format!(r#"{{"https": "http://user:pa%20ss@{}"}}"#, proxy.address);
        let call = send(&site_behind(&config, Scheme::Https, host), "x");
        let mut peer = proxy.accept().await;
        assert_eq!(
            peer.head().await,
            format!(
                "CONNECT {target} HTTP/1.1\r\nhost: {target}\r\nproxy-authorization: {CREDENTIALS}\r\n\r\n"
            )
        );
        peer.say("HTTP/1.1 200 Connection established\r\nvia: x\r\n\r\n")
            .await;
        let mut inside = Peer::new(acceptor(&[]).accept(peer.stream).await.unwrap());
        let head = inside.head().await;
        assert!(head.starts_with("POST /a%20b?c HTTP/1.1\r\n"), "{head}");
        assert!(!head.contains("proxy-authorization"), "{head}");
        inside.say(&ok("inside")).await;
        assert_eq!(read(call).await, (200, "inside".to_owned()));
    }
}

#[tokio::test]
async fn a_proxy_may_be_spoken_to_over_tls() {
    let proxy = Provider::start().await;
    let address = proxy.address;
    let config = format!(r#"{{"http": "https://{address}", "https": "https://{address}"}}"#);
    for scheme in [Scheme::Http, Scheme::Https] {
        let call = send(&site_behind(&config, scheme, "127.0.0.1"), "x");
        let outer = acceptor(&["h2", "http/1.1"])
            .accept(proxy.tcp().await)
            .await
            .unwrap();
        assert_eq!(outer.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
        let mut outer = Peer::new(outer);
        let head = outer.head().await;
        if scheme == Scheme::Http {
            assert!(
                head.starts_with("POST http://127.0.0.1:8443/a%20b?c HTTP/1.1\r\n"),
                "{head}"
            );
            outer.say(&ok("through")).await;
        } else {
            assert!(
                head.starts_with("CONNECT 127.0.0.1:8443 HTTP/1.1\r\n"),
                "{head}"
            );
            outer.say("HTTP/1.1 200 OK\r\n\r\n").await;
            let mut inner = Peer::new(acceptor(&[]).accept(outer.stream).await.unwrap());
            inner.serve(&ok("through")).await;
        }
        assert_eq!(read(call).await, (200, "through".to_owned()), "{scheme:?}");
    }
}

#[tokio::test]
async fn a_proxy_that_refuses_or_babbles_is_no_way() {
    let babble = "x".repeat(9000);
    for answer in [
        "HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 502 Bad Gateway\r\n\r\n",
        "SSH-2.0-x\r\n\r\n",
        "",
        babble.as_str(),
    ] {
        let proxy = Provider::start().await;
        let config = format!(r#"{{"https": "http://{}"}}"#, proxy.address);
        let call = send(&site_behind(&config, Scheme::Https, "127.0.0.1"), "x");
        let mut peer = proxy.accept().await;
        peer.head().await;
        peer.say(answer).await;
        drop(peer);
        assert_eq!(failure(call).await, "connect", "{answer}");
        proxy.has_no_more().await;
    }
}

#[tokio::test]
async fn a_tunnel_is_made_within_the_connect_timeout() {
    let proxy = Provider::start().await;
    let config = format!(r#"{{"https": "http://{}"}}"#, proxy.address);
    let site = site_behind(&config, Scheme::Https, "127.0.0.1");
    let call = tokio::spawn(site.send(post("x"), Duration::from_millis(50)));
    let _silent = proxy.tcp().await;
    assert_eq!(failure(call).await, "connect");
}

#[tokio::test]
async fn other_credentials_are_another_connection() {
    let there = endpoint(Scheme::Http, "127.0.0.1:1".parse().unwrap());
    let pool = Pool::new();
    let site = |user| {
        let proxy = configured(&format!(r#"{{"http": "http://{user}@proxy.example"}}"#));
        let conditions = Conditions {
            keeping: KEEPING,
            proxy: Some(&proxy),
        };
        pool.site(&there, conditions)
    };
    let one = site("user:old");
    assert!(Arc::ptr_eq(&one, &site("user:old")));
    assert!(!Arc::ptr_eq(&one, &site("user:new")));
    let shown = format!("{one:?}");
    assert!(!shown.contains("dXNlc"), "{shown}");
}
