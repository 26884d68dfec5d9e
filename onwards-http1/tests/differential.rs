//! hyper's client reads the same answers in the same way, or refuses them with us; where we are stricter is said here.
#![expect(clippy::expect_used, reason = "tests")]

mod support;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::TokioIo;
use support::{Fault, read};
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

/// Status and payload as hyper's client reads them; `None` for an error.
async fn hyper_reads(answer: &[u8]) -> Option<(u16, Vec<u8>)> {
    let (ours, mut theirs) = duplex(1 << 20);
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(ours))
        .await
        .expect("a handshake");
    let driving = tokio::spawn(connection);
    let answer = answer.to_vec();
    let serving = tokio::spawn(async move {
        let mut request = [0; 1024];
        assert!(theirs.read(&mut request).await.expect("a request") > 0);
        theirs.write_all(&answer).await.ok(); // refused half-way
        // Dropped: the connection ends here.
    });
    let request = http::Request::post("/")
        .header("content-length", "0")
        .body(Empty::<Bytes>::new())
        .expect("a request");
    let read = async {
        let response = sender.send_request(request).await.ok()?;
        let status = response.status().as_u16();
        let payload = response.into_body().collect().await.ok()?;
        Some((status, payload.to_bytes().to_vec()))
    };
    let read = read.await;
    serving.await.expect("served");
    driving.abort();
    read
}

/// What we refuse and hyper takes: codings that nobody undoes, and lines that end an answer's framing in a second way.
fn only_ours(fault: &Fault) -> bool {
    matches!(fault, Fault::Head(onwards_http1::HeadError::Coding))
}

#[tokio::test]
async fn answers_are_read_alike() {
    let mut compared = 0;
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/answer");
    for file in std::fs::read_dir(folder).expect("the corpus is in the tree") {
        let path = file.expect("an entry").path();
        let answer = std::fs::read(&path).expect("a file");
        let theirs = hyper_reads(&answer).await;
        match read(&[&answer]) {
            Ok(ours) => {
                let ours = ours.ended.then_some((ours.status, ours.payload));
                assert_eq!(ours, theirs, "{}", path.display());
            }
            Err(fault) if only_ours(&fault) => {}
            Err(fault) => assert_eq!(theirs, None, "{}: {fault:?}", path.display()),
        }
        compared += 1;
    }
    assert!(compared >= 12, "{compared}");
}
