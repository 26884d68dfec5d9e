use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::Request;
use http_body::Frame;
use http_body_util::{Empty, Full};
use tokio::time::Instant;

use super::*;

/// A request head in this version, with these headers.
fn head(version: Version, headers: &[(&str, &str)]) -> Parts {
    let mut request = Request::post("/v1/x").version(version);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(()).unwrap().into_parts().0
}

/// A body that says this, and then ends or says nothing more.
struct Said {
    frames: VecDeque<Result<Frame<Bytes>, io::Error>>,
    ends: bool,
}

impl Body for Said {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        match self.frames.pop_front() {
            None if !self.ends => Poll::Pending,
            said => Poll::Ready(said),
        }
    }
}

fn piece(size: usize) -> Frame<Bytes> {
    Frame::data(Bytes::from(vec![b'x'; size]))
}

/// A body of pieces of these sizes.
fn pieces(sizes: &[usize]) -> Said {
    Said {
        frames: sizes.iter().map(|&size| Ok(piece(size))).collect(),
        ends: true,
    }
}

/// A body of one piece, or an error, and no end.
fn stops(said: Result<Frame<Bytes>, io::Error>) -> Said {
    Said {
        frames: [said].into(),
        ends: false,
    }
}

/// Whether the connection closes, and how long that took to know.
async fn outcome<B: Body<Data = Bytes>>(head: &Parts, body: B) -> (bool, Duration) {
    let begun = Instant::now();
    let Refusal::Overloaded { closes } = turn_away(head, body).await else {
        panic!("another refusal");
    };
    (closes, begun.elapsed())
}

#[tokio::test(start_paused = true)]
async fn a_small_body_is_thrown_away_and_a_large_one_closes() {
    let plain = head(Version::HTTP_11, &[]);
    let half = DISCARDED / 2;
    for (sizes, closes) in [
        (&[][..], false),
        (&[1], false),
        (&[half, 0, half], false),
        (&[half, half, 1], true),
        (&[DISCARDED + 1], true),
    ] {
        let found = outcome(&plain, pieces(sizes)).await;
        assert_eq!(found, (closes, Duration::ZERO), "{sizes:?}");
    }
    assert!(!outcome(&plain, Empty::new()).await.0);
}

#[tokio::test(start_paused = true)]
async fn what_is_announced_is_believed_and_not_waited_for() {
    let (most, more) = (DISCARDED.to_string(), (DISCARDED + 1).to_string());
    for (headers, closes) in [
        (&[("content-length", most.as_str())], false),
        (&[("content-length", more.as_str())], true),
        (&[("content-length", "x")], false),
        (&[("expect", "100-continue")], true),
    ] {
        let body = Full::new(Bytes::from_static(b"here"));
        let found = outcome(&head(Version::HTTP_11, headers), body).await;
        assert_eq!(found, (closes, Duration::ZERO), "{headers:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_stops_or_breaks_closes() {
    let plain = head(Version::HTTP_11, &[]);
    let some = stops(Ok(piece(4)));
    assert_eq!(outcome(&plain, some).await, (true, PATIENCE));
    let broken = stops(Err(io::ErrorKind::ConnectionReset.into()));
    assert_eq!(outcome(&plain, broken).await, (true, Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn a_connection_with_many_streams_stays() {
    let two = head(Version::HTTP_2, &[]);
    assert!(!outcome(&two, pieces(&[DISCARDED + 1])).await.0);
    assert_eq!(outcome(&two, stops(Ok(piece(4)))).await, (false, PATIENCE));
    let waits = head(Version::HTTP_2, &[("expect", "100-continue")]);
    assert_eq!(
        outcome(&waits, stops(Ok(piece(4)))).await,
        (false, Duration::ZERO)
    );
}
