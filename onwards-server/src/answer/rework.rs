//! What an embedder wants changed in the whole answers of providers outside strict mode (spec C.12, P): the last thing that is
//! done to them.

use bytes::Bytes;
use http::{HeaderMap, Response, header};

use super::id::AnswerId;
use super::{Opened, is_event_stream, unary};
use crate::body::Body;
use crate::encoding::{Encoding, Undecodable};
use crate::house::Settings;
use crate::transform::{ResponseTransform, WholeAnswer};
use crate::transport::TransportError;

/// Changes to the successes of one request. Streams are not touched.
#[derive(Debug)]
pub(crate) struct Rework {
    transform: Option<Transform>,
    /// Comes after the transform.
    id: Option<AnswerId>,
}

/// A transform with what it is told of the request.
#[derive(Debug)]
struct Transform {
    transform: ResponseTransform,
    path: String,
    model: String,
}

impl Rework {
    /// The changes that the settings want for a request; `None` if there are none.
    pub(super) fn of(
        settings: &Settings,
        id: Option<AnswerId>,
        path: &str,
        model: &str,
    ) -> Option<Box<Self>> {
        let transform = settings.response_transform.clone();
        let transform = transform.map(|transform| Transform {
            transform,
            path: path.to_owned(),
            model: model.to_owned(),
        });
        (transform.is_some() || id.is_some()).then(|| Box::new(Self { transform, id }))
    }

    /// Changes what can be sent, if it is a success and no stream.
    pub(super) async fn apply(&self, opened: Opened, settings: &Settings) -> Opened {
        match opened {
            Opened::Ready(response) if self.concerns(&response) => {
                self.change(response, settings.response_limit).await
            }
            other => other,
        }
    }

    fn concerns(&self, response: &Response<Body>) -> bool {
        let headers = response.headers();
        response.status().is_success()
            && !is_event_stream(headers)
            && (self.transform.is_some() || is_json(headers))
    }

    async fn change(&self, response: Response<Body>, limit: usize) -> Opened {
        let (mut head, body) = response.into_parts();
        let sent = match unary::read(body, limit, None).await {
            Ok(sent) => sent,
            Err(error) => return Opened::Unreadable(error),
        };
        let plain = match Encoding::of(&head.headers).decode(&sent, limit) {
            Ok(plain) => plain.unwrap_or_else(|| sent.clone()),
            Err(error @ Undecodable::TooLarge) => {
                return Opened::Unreadable(TransportError::Broken(error.into()));
            }
            // What a transform cannot look at must not pass it by.
            Err(error) if self.transform.is_some() => {
                tracing::error!(%error, "a provider's answer cannot be transformed");
                return Opened::Malformed;
            }
            Err(_) => Bytes::new(),
        };
        if plain.is_empty() {
            return Opened::Ready(Response::from_parts(head, Body::full(sent)));
        }
        let counted = |bytes: Bytes| {
            let mut body = Body::full(bytes);
            body.count(&plain);
            body
        };
        match self.changed(&head.headers, &plain) {
            Ok(None) => Opened::Ready(Response::from_parts(head, counted(sent))),
            Ok(Some(text)) => {
                head.headers.remove(header::CONTENT_ENCODING);
                head.headers
                    .insert(header::CONTENT_LENGTH, text.len().into());
                Opened::Ready(Response::from_parts(head, counted(text)))
            }
            Err(Failed) => Opened::Malformed,
        }
    }

    /// The text to send instead, if it is another one.
    fn changed(&self, headers: &HeaderMap, body: &Bytes) -> Result<Option<Bytes>, Failed> {
        let transformed = match &self.transform {
            None => None,
            Some(Transform {
                transform,
                path,
                model,
            }) => transform
                .apply(&WholeAnswer {
                    path,
                    headers,
                    body,
                    model,
                })
                .map_err(|error| {
                    tracing::error!(
                        error = &*error,
                        bytes = body.len(),
                        "a provider's answer cannot be transformed"
                    );
                    Failed
                })?,
        };
        let text = transformed.as_ref().unwrap_or(body);
        let identified = self
            .id
            .as_ref()
            .filter(|_| is_json(headers))
            .and_then(|id| id.put(text));
        Ok(identified.map(Bytes::from).or(transformed))
    }
}

/// The transform gave an error.
struct Failed;

fn is_json(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| {
            let kind = value
                .split(';')
                .next()
                .unwrap_or_default()
                .trim()
                .to_ascii_lowercase();
            kind == "application/json"
                || (kind.starts_with("application/") && kind.ends_with("+json"))
        })
}
