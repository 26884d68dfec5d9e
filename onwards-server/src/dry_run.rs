//! What providers would be sent for a request, told to the operator instead of sent.
//!
//! `POST /v1/dry-run` takes `{"path": "/v1/messages", "body": {…}}`, or the body of a chat request alone. Nobody is called, nothing
//! is counted, and keys are shown to nobody.

use std::borrow::Cow;
use std::time::Duration;

use http::{HeaderMap, Method, Response, Uri, header};
use onwards_json::Value;

use crate::answer;
use crate::body::Body;
use crate::egress::Reply;
use crate::endpoint::Endpoint;
use crate::facts::Facts;
use crate::house::{House, unix_now};
use crate::identify::{self, bearer};
use crate::ingress::{self, Arrival};
use crate::plan::{self, Asked, Plan, Unsendable};
use crate::policy::{Provider, Snapshot};
use crate::refusal::Refusal;
use crate::vet;

/// Answers a request for a dry run.
///
/// # Errors
/// [`Refusal::Unauthenticated`] for anybody but the operator; else as the request itself would be refused.
pub(crate) async fn answer(
    house: &House,
    snapshot: &Snapshot,
    arrival: Arrival,
    facts: &mut Facts,
) -> Result<Reply, Refusal> {
    let token = bearer(&arrival.headers);
    let opens = snapshot.dry_run.as_ref().zip(token);
    if !opens.is_some_and(|(key, token)| key.is(token)) {
        return Err(Refusal::Unauthenticated);
    }
    let arrival = inner(snapshot, arrival)?;
    let document = arrival.document();
    let document = document.as_ref();
    let checked = vet::contract(snapshot, &arrival, facts)?;
    let model = ingress::model(&arrival, document)?;
    let identity = identify::of_operator(snapshot, arrival.endpoint, &model, facts)?;
    let vetted = vet::vet(snapshot, &arrival, document, checked, &identity, facts)?;
    let settings = &house.settings;
    let egress = answer::settle(settings, snapshot, &arrival, &model, &identity, &vetted);
    let request_id = facts.request_id().clone();
    let asked = Asked {
        model: &model,
        request_id: request_id.to_str().unwrap_or_default(),
        egress,
        thoughts: &house.ledger.thoughts,
    };
    let plan = plan::draw_up(snapshot, &arrival, document, &identity, &vetted, asked);
    let mut out = String::from(r#"{"requests":["#);
    for (index, provider) in identity.pool.providers.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        tell(&plan, provider, &mut out).await;
    }
    out.push_str("]}");
    let mut response = Response::new(Body::full(out));
    let json = http::HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    Ok(Reply::Local(response))
}

/// The request that the operator asks about.
fn inner(snapshot: &Snapshot, arrival: Arrival) -> Result<Arrival, Refusal> {
    let document = arrival.document().ok_or(Refusal::BodyNotJson)?;
    let member = |name: &str| {
        document
            .get(name)
            .ok()
            .flatten()
            .map(|member| member.value())
    };
    let (path, body) = match (member("path"), member("body")) {
        (Some(path), Some(body)) => (
            path.as_str()
                .ok_or(Refusal::BadRequest("`path` must be a string."))?,
            arrival.body.slice(body.span()),
        ),
        _ => (Cow::Borrowed("/v1/chat/completions"), arrival.body.clone()),
    };
    let uri: Uri = path
        .parse()
        .map_err(|_| Refusal::BadRequest("`path` must be the path of an endpoint."))?;
    let mut head = http::Request::new(()).into_parts().0;
    head.method = Method::POST;
    head.uri = uri;
    let endpoint = ingress::endpoint(snapshot, &head, Endpoint::of(head.uri.path()))?;
    if matches!(endpoint, Endpoint::DryRun | Endpoint::Models) {
        return Err(Refusal::NotFound);
    }
    let mut headers = HeaderMap::new();
    for name in [header::CONTENT_TYPE, header::USER_AGENT] {
        if let Some(value) = arrival.headers.get(&name) {
            headers.insert(name, value.clone());
        }
    }
    Ok(Arrival {
        method: Method::POST,
        uri: head.uri,
        headers,
        endpoint,
        received: arrival.received,
        body,
        decoded: false,
    })
}

/// What one provider would be sent.
async fn tell(plan: &Plan<'_>, provider: &Provider, out: &mut String) {
    out.push_str(r#"{"provider":"#);
    onwards_json::quote_into(&provider.name, out);
    match plan.prepare(provider).await {
        Err(Unsendable::Rejected(rejected)) => {
            out.push_str(r#","error":{"code":"#);
            onwards_json::quote_into(rejected.code, out);
            out.push_str(r#","message":"#);
            onwards_json::quote_into(&rejected.message, out);
            out.push_str("}}");
        }
        Err(Unsendable::Refused(refusal)) => {
            out.push_str(r#","error":{"code":"#);
            onwards_json::quote_into(refusal.code(), out);
            out.push_str("}}");
        }
        Ok(mut prepared) => {
            let signed = prepared.sign(plan, provider, Duration::from_secs(unix_now()));
            tracing::debug!(signed = signed.is_ok(), "a dry run");
            let changes = prepared.changes();
            let call = prepared.call(plan, provider);
            out.push_str(r#","method":"#);
            onwards_json::quote_into(call.method.as_str(), out);
            out.push_str(r#","url":"#);
            let origin = origin(provider);
            onwards_json::quote_into(&[&origin, call.target.as_str()].concat(), out);
            out.push_str(r#","headers":{"#);
            for (index, (name, value)) in call.headers.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                onwards_json::quote_into(name.as_str(), out);
                out.push(':');
                let secret = value.is_sensitive();
                let text = String::from_utf8_lossy(value.as_bytes());
                onwards_json::quote_into(if secret { "[REDACTED]" } else { &text }, out);
            }
            out.push_str(r#"},"fidelity":"#);
            onwards_json::quote_into(&changes, out);
            out.push_str(r#","body":"#);
            let body = call.body.joined();
            let text = String::from_utf8_lossy(&body);
            match onwards_dialects::text::value(&text) {
                Some(value) => out.push_str(Value::text(&value)),
                None => onwards_json::quote_into(&text, out),
            }
            out.push('}');
        }
    }
}

/// Scheme and authority of a provider's address.
fn origin(provider: &Provider) -> String {
    let url = provider.url.as_str();
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    let end = url.len() - rest.len() + authority.len();
    url.get(..end).unwrap_or_default().to_owned()
}
