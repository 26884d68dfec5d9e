//! The last stage and the only writer of client responses.

use http::{HeaderValue, Method, Response, header};
use onwards_dialects::Protocol;
use onwards_dialects::wire::MESSAGES_VERSION;

use crate::admit::Admission;
use crate::attempt::Committed;
use crate::body::{Body, Closing, Watch};
use crate::facts::Facts;
use crate::headers::{GENERATION, REQUEST_ID};
use crate::identify::{Forms, token};
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
/// clients are to be told. Refusals are told in the client's protocol.
pub(crate) fn answer(
    outcome: Result<Reply, Refusal>,
    mut facts: Facts,
    generation: Option<u64>,
    protocol: Option<Protocol>,
) -> Response<Body> {
    let mut watch = Watch::default();
    let (mut response, held) = match outcome {
        Ok(Reply::Provider(committed, admission)) => {
            let (mut response, permit) = committed.into_response(); // none is held where nobody serves it any more
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
            let response = match protocol {
                Some(protocol @ (Protocol::Messages | Protocol::GenerateContent)) => {
                    let id = facts.request_id().to_str().unwrap_or_default();
                    refusal.response_in(protocol, id)
                }
                _ => refusal.response(),
            };
            (response, None)
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
/// [`Refusal::MethodNotAllowed`] unless the method is GET or HEAD, [`Refusal::NotFound`] at the path of a protocol that is switched off.
pub(crate) fn models(snapshot: &Snapshot, head: &http::request::Parts) -> Result<Reply, Refusal> {
    if !matches!(head.method, Method::GET | Method::HEAD) {
        return Err(Refusal::MethodNotAllowed { allow: "GET,HEAD" });
    }
    let protocol = match lists(head) {
        Protocol::GenerateContent if !snapshot.speaks_to(Protocol::GenerateContent) => {
            if head.uri.path().starts_with("/v1beta/") {
                return Err(Refusal::NotFound);
            }
            Protocol::Chat
        }
        Protocol::Messages if !snapshot.speaks_to(Protocol::Messages) => Protocol::Chat,
        protocol => protocol,
    };
    let forms = match protocol {
        Protocol::Messages | Protocol::GenerateContent => Forms::Any,
        _ => Forms::Bearer,
    };
    let token = token(forms, &head.headers, &head.uri)?;
    let caller = token.and_then(|token| snapshot.keyring.find(&token));
    let caller = caller.map(std::convert::AsRef::as_ref);
    let names = snapshot
        .aliases()
        .filter(|alias| alias.default.access.admits(caller))
        .map(|alias| alias.name.as_str());
    let mut list = String::new();
    match protocol {
        Protocol::Messages | Protocol::GenerateContent => {
            let names: Vec<&str> = names.collect();
            protocol.write_models(&names, snapshot.created, &mut list);
        }
        _ => chat_list(names, snapshot.created, &mut list),
    }
    let mut response = Response::new(Body::full(list));
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    Ok(Reply::Local(response))
}

/// Whose list of models a request asks for: Gemini's has a path of its own, or its clients are known by the header of their key;
/// Anthropic's clients name their version.
fn lists(head: &http::request::Parts) -> Protocol {
    if head.uri.path().starts_with("/v1beta/") || head.headers.contains_key("x-goog-api-key") {
        Protocol::GenerateContent
    } else if head.headers.contains_key(MESSAGES_VERSION) {
        Protocol::Messages
    } else {
        Protocol::Chat
    }
}

fn chat_list<'n>(names: impl Iterator<Item = &'n str>, created: u64, list: &mut String) {
    list.push_str(r#"{"object":"list","data":["#);
    for (index, name) in names.enumerate() {
        if index > 0 {
            list.push(',');
        }
        list.push_str(r#"{"id":"#);
        onwards_json::quote_into(name, list);
        list.push_str(r#","object":"model","created":"#);
        list.push_str(&created.to_string());
        list.push_str(r#","owned_by":"None"}"#);
    }
    list.push_str("]}");
}
