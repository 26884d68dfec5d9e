//! The way of a request, in the order it happens.

use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{Request, Response};

use crate::body::Body;
use crate::contain::contained;
use crate::egress::Reply;
use crate::endpoint::Endpoint;
use crate::facts::Facts;
use crate::house::House;
use crate::plan::Asked;
use crate::policy::Snapshot;
use crate::refusal::Refusal;
use crate::{admit, answer, attempt, dry_run, egress, identify, ingress, plan, vet};

/// Serves one request: always with a response, whatever happens on the way.
pub async fn serve<B>(house: &Arc<House>, request: Request<B>) -> Response<Body>
where
    B: http_body::Body<Data = Bytes>,
{
    let snapshot = house.snapshot(); // one configuration from start to end
    let (head, body) = request.into_parts();
    let named = Endpoint::of(head.uri.path());
    let protocol = snapshot.speaks(named); // what errors are told in
    let mut facts = Facts::begin(
        house,
        &head,
        snapshot.is_dispatched(&head.headers),
        snapshot.translation.ingress.trust_request_id,
    ); // noted along the way, told once
    let walking = Box::pin(walk(house, &snapshot, named, head, body, &mut facts)); // large, and gone before the body is sent
    let walked = contained(walking).await; // a defect ends this request alone
    let generation = house
        .settings
        .generation_header
        .then_some(snapshot.generation);
    egress::answer(
        walked.unwrap_or(Err(Refusal::Internal)),
        facts,
        generation,
        protocol,
    ) // the only writer of client responses
}

async fn walk<B>(
    house: &House,
    snapshot: &Snapshot,
    named: Endpoint,
    head: Parts,
    body: B,
    facts: &mut Facts,
) -> Result<Reply, Refusal>
where
    B: http_body::Body<Data = Bytes>,
{
    let endpoint = ingress::endpoint(snapshot, &head, named)?;
    if endpoint == Endpoint::Models {
        return egress::models(snapshot, &head);
    }
    let Some(inside) = house.enter(snapshot) else {
        return Err(ingress::turn_away(&head, body).await); // before it costs much
    };
    let arrival = ingress::read(&house.settings, snapshot, head, endpoint, body).await?; // bounded in size and time
    facts.received(arrival.received);
    if endpoint == Endpoint::DryRun {
        return Box::pin(dry_run::answer(house, snapshot, arrival, facts)).await;
    }
    let checked = vet::contract(snapshot, &arrival, facts)?; // strict mode: the shape of the request
    let document = arrival.document(); // parsed once
    let document = document.as_ref();
    let model = ingress::model(&arrival, document)?;
    let identity = identify::identify(
        snapshot,
        endpoint,
        &model,
        (&arrival.headers, &arrival.uri),
        facts,
    )?; // alias, key, rules, pool
    let vetted = vet::vet(snapshot, &arrival, document, checked, &identity, facts)?; // what needs no capacity
    let mut admission = admit::admit(
        &house.counters,
        snapshot,
        &identity,
        inside,
        house.now(),
        facts,
    )
    .await?; // counts, rates, slots
    let egress = answer::settle(
        &house.settings,
        snapshot,
        &arrival,
        &model,
        &identity,
        &vetted,
    );
    let translates = identity.pool.translates;
    let request_id = translates.then(|| facts.request_id().clone()); // translated answers bear it
    let request_id = request_id.as_ref().and_then(|id| id.to_str().ok());
    let asked = Asked {
        model: &model,
        request_id: request_id.unwrap_or_default(),
        egress,
        thoughts: &house.ledger.thoughts,
    };
    let plan = plan::draw_up(snapshot, &arrival, document, &identity, &vetted, asked);
    let committed = attempt::until_committed(house, &plan, &mut admission, facts).await?; // the only loop
    Ok(Reply::Provider(committed, admission)) // slots end with the body
}

#[cfg(test)]
mod tests;
