//! The third stage: what can be refused without capacity is refused here, before any limit is charged.

use onwards_json::Object;

use crate::identify::Identity;
use crate::ingress::Arrival;
use crate::refusal::Refusal;

/// Checks that every provider of the pool can be sent this request, reading the body if one needs it changed.
///
/// # Errors
/// [`Refusal::BodyNotJson`] where a body must be rewritten and is no JSON object, [`Refusal::ModelMissing`] where its model
/// must be replaced and it has none, or several; [`Refusal::NoProviders`] for an empty pool.
pub(crate) fn vet(
    arrival: &Arrival,
    document: Option<&Object<'_>>,
    identity: &Identity,
) -> Result<(), Refusal> {
    let providers = &identity.pool.providers;
    let renames = identity.bare || providers.iter().any(|provider| provider.model.is_some());
    if !arrival.body.is_empty() && (renames || providers.iter().any(|provider| provider.rewrites()))
    {
        let document = document.ok_or(Refusal::BodyNotJson)?;
        let named = document.get("model").map_err(|_| Refusal::ModelMissing)?;
        if renames && named.is_none() {
            return Err(Refusal::ModelMissing);
        }
    }
    if providers.is_empty() {
        return Err(Refusal::NoProviders);
    }
    Ok(())
}
