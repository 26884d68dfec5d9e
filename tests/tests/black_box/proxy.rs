//! Forward proxies: used when the configuration says so, and only then.

use std::net::SocketAddr;

use onwards_tests::{Launch, Reply, Request, Upstream};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use crate::tls::{Certificate, in_front_of};

const CREDENTIALS: &str = "Basic dXNlcjpwYXNz";

fn config(proxy: &Value, url: &str) -> Value {
    json!({"proxy": proxy, "targets": {"m": {"url": url}}})
}

/// A proxy that grants every tunnel and tells what it was asked.
async fn tunnels() -> (SocketAddr, mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (asked, heads) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        loop {
            let (mut tcp, _) = listener.accept().await.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(tcp.read_u8().await.unwrap());
            }
            let head = String::from_utf8(head).unwrap();
            let target = head.split(' ').nth(1).unwrap().to_owned();
            if asked.send(head).is_err() {
                return;
            }
            tokio::spawn(async move {
                let mut there = TcpStream::connect(target).await.unwrap();
                tcp.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
                tokio::io::copy_bidirectional(&mut tcp, &mut there)
                    .await
                    .ok();
            });
        }
    });
    (address, heads)
}

#[tokio::test]
async fn plain_calls_are_handed_to_the_proxy() {
    let proxy = Upstream::start().await;
    let given = json!({"http": format!("http://user:pass@{}", proxy.address())});
    let gateway = Launch::new(&config(&given, "http://provider.invalid/base"))
        .start()
        .await;
    let request = Request::chat().header("proxy-authorization", "Basic client");
    assert_eq!(gateway.send(request).await.status, 200);
    let seen = proxy.request(0).await;
    assert_eq!(
        seen.line,
        "POST http://provider.invalid/base/v1/chat/completions HTTP/1.1"
    );
    assert_eq!(seen.header("host"), Some("provider.invalid"));
    assert_eq!(seen.header("proxy-authorization"), Some(CREDENTIALS));
    assert!(!gateway.log().contains("user:pass"));
}

#[tokio::test]
async fn tls_goes_through_a_tunnel() {
    let certificate = Certificate::new("127.0.0.1");
    let up = Upstream::start().await;
    let there = in_front_of(&up, &certificate).await;
    let (proxy, mut heads) = tunnels().await;
    let given = json!({"https": format!("http://user:pass@{proxy}")});
    let gateway = certificate
        .trusted(&config(&given, &format!("https://{there}")))
        .start()
        .await;
    assert_eq!(gateway.send(Request::chat()).await.status, 200);
    let head = heads.recv().await.unwrap();
    assert_eq!(
        head,
        format!(
            "CONNECT {there} HTTP/1.1\r\nhost: {there}\r\nproxy-authorization: {CREDENTIALS}\r\n\r\n"
        )
    );
    let seen = up.request(0).await;
    assert_eq!(seen.line, "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(seen.header("proxy-authorization"), None);
}

#[tokio::test]
async fn exceptions_are_reached_directly() {
    let proxy = Upstream::start().await;
    let up = Upstream::start().await;
    let given = json!({"http": proxy.url(), "no_proxy": "example.com, 127.0.0.0/8"});
    let gateway = Launch::new(&config(&given, &up.url())).start().await;
    assert_eq!(gateway.send(Request::chat()).await.status, 200);
    assert_eq!((up.count(), proxy.connections()), (1, 0));
}

#[tokio::test]
async fn the_environment_counts_only_where_the_file_says_so() {
    let proxy = Upstream::start().await;
    let up = Upstream::start().await;
    let start = async |config: &Value, except: &str| {
        Launch::new(config)
            .env("HTTP_PROXY", &proxy.url())
            .env("http_proxy", &proxy.url())
            .env("HTTPS_PROXY", &proxy.url())
            .env("ALL_PROXY", &proxy.url())
            .env("NO_PROXY", except)
            .start()
            .await
    };
    let silent = json!({"targets": {"m": {"url": up.url()}}});
    let gateway = start(&silent, "").await;
    assert_eq!(gateway.send(Request::chat()).await.status, 200);
    assert_eq!((up.count(), proxy.connections()), (1, 0), "not said");

    let said = config(&json!({"from_environment": true}), &up.url());
    let gateway = start(&said, "").await;
    assert_eq!(gateway.send(Request::chat()).await.status, 200);
    assert_eq!((up.count(), proxy.count()), (1, 1), "said");
    let line = format!("POST {}/v1/chat/completions HTTP/1.1", up.url());
    assert_eq!(proxy.request(0).await.line, line);

    let gateway = start(&said, "127.0.0.1").await;
    assert_eq!(gateway.send(Request::chat()).await.status, 200);
    assert_eq!((up.count(), proxy.count()), (2, 1), "excepted");
}

#[tokio::test]
async fn a_proxy_that_refuses_is_a_502_and_not_gone_around() {
    let up = Upstream::start().await;
    let proxy = Upstream::start().await;
    proxy.always(Reply::new(
        407,
        &[("proxy-authenticate", "Basic")],
        "who are you",
    ));
    let given = json!({"https": proxy.url()});
    let url = format!("https://{}", up.address());
    let gateway = Launch::new(&config(&given, &url)).start().await;
    let answer = gateway.send(Request::chat()).await;
    assert_eq!(
        (answer.status, answer.code()),
        (502, json!("internal_error"))
    );
    assert!(!answer.text().contains("who are you"));
    assert_eq!((up.connections(), proxy.count()), (0, 1));
}
