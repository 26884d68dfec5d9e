//! Which alias a request asks for (spec C.3): the override header first, else the body's `model`, or the path of Gemini's API.

use std::borrow::Cow;

use onwards_json::Object;

use super::Arrival;
use crate::endpoint::{Endpoint, model_in};
use crate::headers::MODEL_OVERRIDE;
use crate::refusal::Refusal;

/// The name of the alias that a request asks for.
///
/// # Errors
/// [`Refusal::ModelMissing`] when neither the header nor the body names one: no JSON object, no `model`, a `model` that is
/// not a string, or more than one. [`Refusal::BodyNotJson`] when the header names one but the endpoint takes JSON and the
/// body is something else.
pub(crate) fn model<'a>(
    arrival: &'a Arrival,
    document: Option<&Object<'a>>,
) -> Result<Cow<'a, str>, Refusal> {
    if let Some(named) = arrival.headers.get(MODEL_OVERRIDE) {
        if arrival.endpoint.requires_json() && document.is_none() && !arrival.body.is_empty() {
            return Err(Refusal::BodyNotJson);
        }
        return Ok(String::from_utf8_lossy(named.as_bytes()));
    }
    if let Endpoint::GenerateContent(_) = arrival.endpoint {
        return model_in(arrival.uri.path()).ok_or(Refusal::ModelMissing);
    }
    document
        .and_then(|document| document.get("model").ok().flatten())
        .and_then(|member| member.value().as_str())
        .ok_or(Refusal::ModelMissing)
}
