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
    fn send<'a>(self: Arc<Self>, call: Call<'a>, _: Duration) -> Sending<'a> {
        Box::pin(ready(Ok(answer(call, unix_now()))))
    }
}

/// Answers a call the way an OpenAI-compatible provider would.
fn answer(call: Call<'_>, now_unix: u64) -> Answer {
    let body = call.body.joined();
    let echo = echo::answer(call.method, call.target.path(), &body, now_unix);
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
