//! The third stage: what can be refused without capacity is refused here, before any limit is charged.

use http::header;
use onwards_json::{Member, Object, Value};
use onwards_reasoning::{Ask, Controls, Surface};
use onwards_strict::Checked;

use crate::endpoint::Endpoint;
use crate::facts::Facts;
use crate::identify::Identity;
use crate::ingress::{self, Arrival};
use crate::policy::Snapshot;
use crate::refusal::Refusal;

/// What is known of a request that no rule forbids.
#[derive(Debug)]
pub(crate) struct Vetted {
    /// What the strict check read; `None` outside strict mode.
    pub(crate) checked: Option<Checked>,
    /// The reasoning effort that the client asks for.
    pub(crate) ask: Option<Ask>,
}

/// Holds a request against its endpoint's contract, in strict mode. This comes before anything else is looked at, since it is
/// what reads the body.
///
/// # Errors
/// [`Refusal::NotSentAsJson`] or [`Refusal::Defect`].
pub(crate) fn contract(
    snapshot: &Snapshot,
    arrival: &Arrival,
    facts: &mut Facts,
) -> Result<Option<Checked>, Refusal> {
    let Some(contract) = arrival.endpoint.contract().filter(|_| snapshot.strict) else {
        return Ok(None);
    };
    let checked = if arrival.endpoint == Endpoint::Responses && !sent_as_json(arrival) {
        Err(Refusal::NotSentAsJson)
    } else {
        onwards_strict::check(contract, &arrival.body)
            .map(Some)
            .map_err(Refusal::Defect)
    };
    if checked.is_err() {
        let document = arrival.document();
        let named = ingress::model(arrival, document.as_ref()).ok();
        facts.about(
            named
                .and_then(|model| snapshot.alias(&model))
                .map(|(alias, _)| alias),
        );
    }
    checked
}

fn sent_as_json(arrival: &Arrival) -> bool {
    let kind = arrival
        .headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let kind = kind
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
}

/// Checks parameters, reasoning controls, and that every provider of the pool can be sent this request.
///
/// # Errors
/// [`Refusal::UnsupportedParams`] for a parameter the operator has listed; [`Refusal::Reasoning`] for a control that is not
/// canonical, or that a provider of the pool cannot honour; [`Refusal::BodyNotJson`] where a body must be rewritten and is no JSON
/// object, [`Refusal::ModelMissing`] where its model must be replaced and it has none, or several; [`Refusal::NoProviders`] for an
/// empty pool.
pub(crate) fn vet(
    snapshot: &Snapshot,
    arrival: &Arrival,
    document: Option<&Object<'_>>,
    checked: Option<Checked>,
    identity: &Identity,
    facts: &Facts,
) -> Result<Vetted, Refusal> {
    if let Some(checked) = &checked {
        parameters(snapshot, checked, facts)?;
    }
    let ask = reasoning(snapshot, arrival, document, identity)?;
    rewritable(arrival, document, identity)?;
    if identity.pool.providers.is_empty() {
        return Err(Refusal::NoProviders);
    }
    Ok(Vetted { checked, ask })
}

/// Parameters that not every provider can honour: counted, and refused where the operator has said so (spec K.6).
fn parameters(snapshot: &Snapshot, checked: &Checked, facts: &Facts) -> Result<(), Refusal> {
    if checked.flagged.is_empty() {
        return Ok(());
    }
    let flagged: Vec<&'static str> = checked
        .flagged
        .iter()
        .map(|parameter| parameter.name)
        .collect();
    let rejected = |name: &&'static str| snapshot.rejected_params.contains(name);
    facts.flagged(&flagged, rejected);
    let refused: Vec<_> = flagged.into_iter().filter(rejected).collect();
    if refused.is_empty() {
        Ok(())
    } else {
        Err(Refusal::UnsupportedParams(refused))
    }
}

/// The effort a client asks for, valid for every provider of the pool (spec I.2 to I.4).
fn reasoning(
    snapshot: &Snapshot,
    arrival: &Arrival,
    document: Option<&Object<'_>>,
    identity: &Identity,
) -> Result<Option<Ask>, Refusal> {
    let (Some(surface), Some(document)) = (arrival.endpoint.surface(), document) else {
        return Ok(None);
    };
    // Of several members with one name the last one counts, as for most readers.
    let last = |name: &'static str| {
        document
            .members()
            .iter()
            .rev()
            .find(|member| member.is(name))
    };
    let controls = Controls::of(surface, |name| {
        last(name).map(|member| Value::text(&member.value()))
    });
    if snapshot.strict {
        controls.refuse_native().map_err(Refusal::Reasoning)?;
    }
    if repeats_effort(surface, document) {
        return Err(Refusal::BadRequest(
            "The reasoning effort is given more than once.",
        ));
    }
    let ask = controls.ask().map_err(Refusal::Reasoning)?;
    if let Some(ask) = &ask {
        for translation in identity
            .pool
            .providers
            .iter()
            .filter_map(|provider| provider.translation.as_ref())
        {
            translation.check(ask).map_err(Refusal::Reasoning)?;
        }
    }
    Ok(ask)
}

/// True when a body says its effort twice: readers differ on which one counts, so none could be held to the rules.
fn repeats_effort(surface: Surface, document: &Object<'_>) -> bool {
    let named = |name: &'static str| {
        document
            .members()
            .iter()
            .filter(move |member| member.is(name))
    };
    match surface {
        Surface::ChatCompletions => named("reasoning_effort").nth(1).is_some(),
        Surface::Responses => {
            let twice = |member: &Member<'_>| {
                member
                    .value()
                    .members()
                    .filter(|inner| inner.is("effort"))
                    .nth(1)
                    .is_some()
            };
            named("reasoning").nth(1).is_some() || named("reasoning").any(twice)
        }
        Surface::Completions => false,
    }
}

/// A body that must be changed for some provider can be.
fn rewritable(
    arrival: &Arrival,
    document: Option<&Object<'_>>,
    identity: &Identity,
) -> Result<(), Refusal> {
    let providers = &identity.pool.providers;
    let renames = identity.bare || providers.iter().any(|provider| provider.model.is_some());
    if arrival.body.is_empty()
        || matches!(arrival.endpoint, Endpoint::GenerateContent(_)) // its path names the model
        || !(renames || providers.iter().any(|provider| provider.strips_scheduling))
    {
        return Ok(());
    }
    let document = document.ok_or(Refusal::BodyNotJson)?;
    let named = document.get("model").map_err(|_| Refusal::ModelMissing)?;
    if renames && named.is_none() {
        Err(Refusal::ModelMissing)
    } else {
        Ok(())
    }
}
