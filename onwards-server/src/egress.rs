//! The last stage and the only writer of client responses.

use http::{HeaderValue, Method, Response, header};

use crate::admit::Admission;
use crate::attempt::Committed;
use crate::body::{Body, Closing, Watch};
use crate::facts::Facts;
use crate::headers::{GENERATION, REQUEST_ID};
use crate::identify::bearer;
use crate::policy::Snapshot;
use crate::refusal::Refusal;

/// What a client gets when it is not refused.
#[derive(Debug)]
pub(crate) enum Reply {
    /// A provider's answer, with the right to be served that lasts as long as its body.
    Provider(Committed, Admission),
    /// An answer of the gateway's own.
    Local(Response<Body>),
}

/// Turns the outcome of a request into the response, and tells what happened; `generation` is that of the configuration, if
/// clients are to be told.
pub(crate) fn answer(
    outcome: Result<Reply, Refusal>,
    mut facts: Facts,
    generation: Option<u64>,
) -> Response<Body> {
    let mut watch = Watch::default();
    let (mut response, held) = match outcome {
        Ok(Reply::Provider(committed, admission)) => {
            let (mut response, permit) = committed.into_response();
            if let Some(quota) = admission.quota() {
                quota.tell(response.headers_mut());
            }
            watch = Watch::of(response.headers());
            facts.served(watch.form());
            (response, Some((admission, permit)))
        }
        Ok(Reply::Local(response)) => (response, None),
        Err(refusal) => {
            facts.refused(&refusal);
            (refusal.response(), None)
        }
    };
    facts.answered(response.status().as_u16());
    if !response.headers().contains_key(REQUEST_ID) {
        response
            .headers_mut()
            .insert(REQUEST_ID, facts.request_id().clone());
    }
    if let Some(generation) = generation {
        response.headers_mut().insert(GENERATION, generation.into());
    }
    response.map(|body| body.closing(Closing { facts, held }, watch))
}

/// The list of models that a client may use (spec C.9): open aliases, and those that its key opens.
///
/// # Errors
/// [`Refusal::MethodNotAllowed`] unless the method is GET or HEAD.
pub(crate) fn models(snapshot: &Snapshot, head: &http::request::Parts) -> Result<Reply, Refusal> {
    if !matches!(head.method, Method::GET | Method::HEAD) {
        return Err(Refusal::MethodNotAllowed { allow: "GET,HEAD" });
    }
    let caller = bearer(&head.headers).and_then(|token| snapshot.keyring.find(token));
    let caller = caller.map(std::convert::AsRef::as_ref);
    let mut list = String::from(r#"{"object":"list","data":["#);
    for (index, alias) in snapshot
        .aliases()
        .filter(|alias| alias.default.access.admits(caller))
        .enumerate()
    {
        if index > 0 {
            list.push(',');
        }
        list.push_str(r#"{"id":"#);
        onwards_json::quote_into(&alias.name, &mut list);
        list.push_str(r#","object":"model","created":"#);
        list.push_str(&snapshot.created.to_string());
        list.push_str(r#","owned_by":"None"}"#);
    }
    list.push_str("]}");
    let mut response = Response::new(Body::full(list));
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    Ok(Reply::Local(response))
}
