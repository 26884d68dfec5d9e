//! The second stage: who asks, for which alias, and which pool serves that (spec C.3, C.10, D, E.2).

use std::borrow::Cow;
use std::sync::Arc;

use http::{HeaderMap, HeaderName, Uri, header};
use onwards_config::{Action, RoutingRule};
use onwards_dialects::Protocol;

use crate::endpoint::Endpoint;
use crate::facts::Facts;
use crate::percent;
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
    (headers, uri): (&HeaderMap, &Uri),
    facts: &mut Facts,
) -> Result<Identity, Refusal> {
    let class = RequestClass::of(endpoint);
    let (alias, bare) = snapshot
        .alias(model)
        .ok_or_else(|| Refusal::ModelNotFound {
            model: model.to_owned(),
        })?;
    let translates = alias.pool(class).translates;
    let token = token(forms(endpoint, translates), headers, uri)?;
    let token = token.as_deref();
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

/// The same for an operator who wants to know what would be sent: every pool is open, no rule redirects.
///
/// # Errors
/// [`Refusal::ModelNotFound`].
pub(crate) fn of_operator(
    snapshot: &Snapshot,
    endpoint: Endpoint,
    model: &str,
    facts: &mut Facts,
) -> Result<Identity, Refusal> {
    let (alias, bare) = snapshot
        .alias(model)
        .ok_or_else(|| Refusal::ModelNotFound {
            model: model.to_owned(),
        })?;
    facts.about(Some(alias));
    Ok(Identity {
        alias: alias.clone(),
        bare,
        pool: alias.pool(RequestClass::of(endpoint)).clone(),
        caller: None,
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

/// In which forms a client may show its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Forms {
    /// As a bearer token.
    Bearer,
    /// As clients of any protocol do (spec providers 4): also in `x-api-key`, `x-goog-api-key`, or the query's `key`.
    Any,
}

/// The forms at an endpoint: those of its protocol, and all of them where a provider's dialect is known.
pub(crate) fn forms(endpoint: Endpoint, translates: bool) -> Forms {
    match endpoint.protocol() {
        Some(Protocol::Messages | Protocol::GenerateContent) => Forms::Any,
        Some(_) if translates => Forms::Any,
        _ => Forms::Bearer,
    }
}

/// The token of a request. Two different ones are no answer to who asks.
///
/// # Errors
/// [`Refusal::Unauthenticated`] for different tokens in one request.
pub(crate) fn token<'r>(
    forms: Forms,
    headers: &'r HeaderMap,
    uri: &'r Uri,
) -> Result<Option<Cow<'r, [u8]>>, Refusal> {
    let bearer = bearer(headers).map(Cow::Borrowed);
    if forms == Forms::Bearer {
        return Ok(bearer);
    }
    let named = |name: &HeaderName| {
        headers
            .get(name)
            .map(|value| Cow::Borrowed(value.as_bytes()))
    };
    let found = [
        bearer,
        named(&X_API_KEY),
        named(&X_GOOG_API_KEY),
        key_in(uri),
    ];
    let mut tokens = found
        .into_iter()
        .flatten()
        .filter(|token| !token.is_empty());
    let first = tokens.next();
    if tokens.any(|other| Some(&other) != first.as_ref()) {
        return Err(Refusal::Unauthenticated);
    }
    Ok(first)
}

const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const X_GOOG_API_KEY: HeaderName = HeaderName::from_static("x-goog-api-key");

/// The parameter `key` of a query.
fn key_in(uri: &Uri) -> Option<Cow<'_, [u8]>> {
    let key = uri
        .query()?
        .split('&')
        .find_map(|parameter| parameter.strip_prefix("key="))?;
    Some(percent::decode(key))
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
