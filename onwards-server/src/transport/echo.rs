//! The embedded provider as a transport: answers made inside the process, no network.

use std::collections::VecDeque;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderValue, header};

use super::body::UpstreamBody;
use super::{Answer, Call, Destination, Sending};
use crate::echo::{self, EchoBody};
use crate::house::unix_now;

/// The embedded provider.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Echo;

impl Destination for Echo {
    fn send(self: Arc<Self>, call: Call, _: Duration) -> Sending {
        Box::pin(ready(Ok(answer(call, unix_now()))))
    }
}

/// Answers a call the way an OpenAI-compatible provider would.
fn answer(call: Call, now_unix: u64) -> Answer {
    let (head, body) = call.into_parts();
    let echo = echo::answer(&head.method, head.uri.path(), &body.joined(), now_unix);
    let frames: VecDeque<bytes::Bytes> = match echo.body {
        EchoBody::Whole(text) => [bytes::Bytes::from(text)].into(),
        EchoBody::Events(events) => events.into_iter().map(bytes::Bytes::from).collect(),
    };
    let mut answer = Answer::new(UpstreamBody::ready(frames));
    *answer.status_mut() = echo.status;
    answer.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static(echo.content_type),
    );
    answer
}
