//! The second stage: who asks, for which alias, and which pool serves that (spec C.3, C.10, D, E.2).

use std::sync::Arc;

use http::{HeaderMap, header};
use onwards_config::{Action, RoutingRule};

use crate::endpoint::Endpoint;
use crate::facts::Facts;
use crate::policy::{Alias, Caller, Pool, RequestClass, Snapshot};
use crate::refusal::Refusal;

/// Who asks and what for.
#[derive(Debug)]
pub(crate) struct Identity {
    /// The alias that the client named.
    pub(crate) alias: Arc<Alias>,
    /// True when a serving class was cut off the model's name: the bare alias goes upstream.
    pub(crate) bare: bool,
    /// The pool that serves the request, after redirects.
    pub(crate) pool: Arc<Pool>,
    /// The key that the client holds, if the configuration knows it.
    pub(crate) caller: Option<Arc<Caller>>,
}

/// Finds alias, caller and pool, in the order that decides which refusal answers first: unknown model, key, rules.
///
/// # Errors
/// [`Refusal::ModelNotFound`], [`Refusal::Unauthenticated`] or [`Refusal::Forbidden`].
pub(crate) fn identify(
    snapshot: &Snapshot,
    endpoint: Endpoint,
    model: &str,
    headers: &HeaderMap,
    facts: &mut Facts,
) -> Result<Identity, Refusal> {
    let class = RequestClass::of(endpoint);
    let (alias, bare) = snapshot
        .alias(model)
        .ok_or_else(|| Refusal::ModelNotFound {
            model: model.to_owned(),
        })?;
    let token = bearer(headers);
    let caller = token.and_then(|token| snapshot.keyring.find(token));
    facts.identified(alias, caller);
    let pool = alias.pool(class);
    if !pool.access.admits(caller.map(Arc::as_ref)) {
        return Err(Refusal::Unauthenticated);
    }
    let pool = match token.and_then(|_| first_match(&pool.rules, caller.map(Arc::as_ref))) {
        None => pool,
        Some(Action::Deny) => return Err(Refusal::Forbidden),
        Some(Action::Redirect(target)) => match snapshot.alias(target) {
            Some((target, _)) => target.pool(class),
            None => return Err(Refusal::BadGateway),
        },
    };
    facts.routed(pool);
    Ok(Identity {
        alias: alias.clone(),
        bare,
        pool: pool.clone(),
        caller: caller.cloned(),
    })
}

/// The token of an `Authorization: Bearer` header; the scheme is matched exactly.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    let token = headers
        .get(header::AUTHORIZATION)?
        .as_bytes()
        .strip_prefix(b"Bearer ")?;
    (!token.is_empty()).then_some(token)
}

/// What the first rule that matches a caller's labels says.
fn first_match<'a>(rules: &'a [RoutingRule], caller: Option<&Caller>) -> Option<&'a Action> {
    let has = |name: &str, value: &str| {
        caller
            .and_then(|caller| caller.labels.get(name))
            .is_some_and(|label| label == value)
    };
    rules
        .iter()
        .find(|rule| {
            rule.match_labels
                .iter()
                .all(|(name, value)| has(name, value))
        })
        .map(|rule| &rule.action)
}
