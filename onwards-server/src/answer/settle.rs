//! What becomes of a request's answers, settled once before anything is sent: nothing is asked about modes after this.

use super::id::AnswerId;
use super::rework::Rework;
use super::{Cleaning, Contract, Egress};
use crate::endpoint::Endpoint;
use crate::house::{Settings, unix_now};
use crate::identify::Identity;
use crate::ingress::Arrival;
use crate::policy::Snapshot;
use crate::random::uuid;
use crate::vet::Vetted;

/// What is done to the answers of a request, by the mode, the endpoint, the pool, and the wishes of an embedder.
pub(crate) fn settle(
    settings: &Settings,
    snapshot: &Snapshot,
    arrival: &Arrival,
    model: &str,
    identity: &Identity,
    vetted: &Vetted,
) -> Egress {
    let contract = |endpoint, id| Contract {
        endpoint,
        model: model.to_owned(),
        include_usage: vetted.checked.is_some_and(|checked| checked.include_usage),
        unique: uuid(),
        now: unix_now(),
        id,
    };
    let id = id(settings, arrival);
    if snapshot.strict {
        let cleaning = arrival
            .endpoint
            .contract()
            .map_or(Cleaning::Untouched, |endpoint| {
                Cleaning::Strict(contract(endpoint, id))
            });
        return Egress {
            cleaning,
            rework: None,
        };
    }
    let path = arrival.uri.path();
    let cleaning = if identity
        .pool
        .providers
        .iter()
        .any(|provider| provider.sanitize)
    {
        let chat = path.contains("/chat/completions");
        Cleaning::Sanitized(chat.then(|| contract(onwards_strict::Endpoint::Chat, None)))
    } else {
        Cleaning::Untouched
    };
    Egress {
        cleaning,
        rework: Rework::of(settings, id, path, model),
    }
}

/// The id that an embedder wants in the answers to a request.
fn id(settings: &Settings, arrival: &Arrival) -> Option<AnswerId> {
    let header = settings.response_id_header.as_ref()?;
    matches!(
        arrival.endpoint,
        Endpoint::ChatCompletions | Endpoint::Responses
    )
    .then(|| AnswerId::of(&arrival.headers, header))?
}
