//! One request and its answer on one connection.

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};

use http_body_util::{BodyExt as _, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, ACCEPT_ENCODING, CONNECTION, HOST, LOCATION, USER_AGENT};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::Reason;
use crate::target::Target;

/// Largest head of an answer.
const HEAD: usize = 64 * 1024;
/// Names the software and nothing of who asks through it.
const AGENT: &str = "onwards";

/// What a hop came to.
#[derive(Debug)]
pub(crate) enum Answer {
    Body(Vec<u8>),
    /// A redirect, and where it leads.
    Moved(String),
}

/// How much may still be read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room<'a> {
    /// Of this picture.
    pub(crate) each: usize,
    /// Of all pictures of the request.
    pub(crate) together: &'a AtomicUsize,
}

/// Asks for the target over a connection that leads there.
pub(crate) async fn exchange(
    connection: impl AsyncRead + AsyncWrite + Unpin,
    target: &Target,
    accept: &str,
    room: Room<'_>,
) -> Result<Answer, Reason> {
    let request = Request::get(target.resource())
        .header(HOST, target.authority())
        .header(USER_AGENT, AGENT)
        .header(ACCEPT, accept)
        .header(ACCEPT_ENCODING, "identity")
        .header(CONNECTION, "close")
        .body(Empty::<Bytes>::new())
        .map_err(|_| Reason::BadUrl)?;
    let (mut sender, driver) = http1::Builder::new()
        .max_buf_size(HEAD)
        .handshake(TokioIo::new(connection))
        .await
        .map_err(|_| Reason::BadStatus)?;
    let mut driver = pin!(driver);
    let mut answer = pin!(async {
        let response = sender.send_request(request).await;
        read(response.map_err(|_| Reason::BadStatus)?, room).await
    });
    // The connection may be through before the last of its bytes are read here.
    tokio::select! {
        biased;
        answer = &mut answer => return answer,
        _through = &mut driver => {}
    }
    answer.await
}

async fn read(response: Response<Incoming>, room: Room<'_>) -> Result<Answer, Reason> {
    match response.status() {
        StatusCode::OK => {}
        StatusCode::MOVED_PERMANENTLY
        | StatusCode::FOUND
        | StatusCode::SEE_OTHER
        | StatusCode::TEMPORARY_REDIRECT
        | StatusCode::PERMANENT_REDIRECT => {
            let location = response.headers().get(LOCATION);
            return location
                .and_then(|location| location.to_str().ok())
                .map(|location| Answer::Moved(location.to_owned()))
                .ok_or(Reason::BadStatus);
        }
        _ => return Err(Reason::BadStatus),
    }
    let mut body = response.into_body();
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Reason::BadStatus)?;
        let Some(piece) = frame.data_ref() else {
            continue;
        };
        if piece.len() > room.each.saturating_sub(bytes.len()) {
            return Err(Reason::TooLarge);
        }
        let left = |left: usize| left.checked_sub(piece.len());
        room.together
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, left)
            .map_err(|_| Reason::TooLarge)?;
        bytes.extend_from_slice(piece);
    }
    Ok(Answer::Body(bytes))
}
