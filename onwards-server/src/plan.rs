//! The fifth stage: what each provider would be sent, made from the original request (spec C.4 to C.6).
//!
//! Bodies are never serialised anew: a changed member is a splice between slices of the client's own bytes.

use std::sync::Arc;

use bytes::Bytes;
use http::Uri;
use http::uri::PathAndQuery;
use onwards_json::{Edit, Object, Splice};

use crate::headers;
use crate::identify::Identity;
use crate::ingress::Arrival;
use crate::policy::{Pool, Provider, join};
use crate::refusal::Refusal;
use crate::transport::{Call, Outgoing};

/// Everything the attempts need, borrowed from the request.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) arrival: &'a Arrival,
    pub(crate) document: Option<&'a Object<'a>>,
    pub(crate) pool: &'a Arc<Pool>,
    /// The alias as JSON text, where a serving class was cut off the client's name for it.
    bare: Option<Bytes>,
}

/// Members that only a scheduler understands (spec C.11).
const SCHEDULING: [&str; 2] = ["priority", "nvext"];

/// Draws up the plan for a request that has been admitted.
pub(crate) fn draw_up<'a>(
    arrival: &'a Arrival,
    document: Option<&'a Object<'a>>,
    identity: &'a Identity,
) -> Plan<'a> {
    let bare = identity
        .bare
        .then(|| Bytes::from(onwards_json::quote(&identity.alias.name)));
    Plan {
        arrival,
        document,
        pool: &identity.pool,
        bare,
    }
}

impl Plan<'_> {
    /// The request as this provider is sent it.
    ///
    /// # Errors
    /// [`Refusal::BadRequest`] when the joined path is no request target, [`Refusal::Internal`] when an edit that was vetted
    /// cannot be applied.
    pub(crate) fn call(&self, provider: &Provider) -> Result<Call, Refusal> {
        let body = self.body(provider)?;
        let mut call = Call::new(Outgoing::default());
        *call.method_mut() = self.arrival.method.clone();
        *call.uri_mut() = self.target(provider)?;
        *call.headers_mut() = headers::upstream(
            &self.arrival.headers,
            &provider.outbound,
            body.len(),
            self.arrival.decoded,
        );
        *call.body_mut() = body;
        Ok(call)
    }

    /// The request target in origin form: base path and request path joined as text, the client's query kept.
    fn target(&self, provider: &Provider) -> Result<Uri, Refusal> {
        let base = provider.base_path.as_str();
        let uri = &self.arrival.uri;
        let target = match uri.path_and_query() {
            Some(same) if base.is_empty() => same.clone(),
            _ => {
                let mut joined = join(base, uri.path());
                if let Some(query) = uri.query() {
                    joined.push('?');
                    joined.push_str(query);
                }
                PathAndQuery::try_from(joined).map_err(|_| {
                    Refusal::BadRequest("The request path is not a valid request target.")
                })?
            }
        };
        Ok(Uri::from(target))
    }

    fn body(&self, provider: &Provider) -> Result<Outgoing, Refusal> {
        let body = &self.arrival.body;
        let model = provider
            .model
            .as_ref()
            .map(|model| &model.0)
            .or(self.bare.as_ref());
        let Some(document) = self
            .document
            .filter(|_| model.is_some() || provider.strips_scheduling)
        else {
            return Ok(Outgoing::whole(body.clone()));
        };
        let mut edits: Vec<Edit<'_, &str>> = Vec::new();
        if let Some(model) = model {
            let value = std::str::from_utf8(model).map_err(|_| Refusal::Internal)?;
            edits.push(Edit::Set {
                path: &["model"],
                value,
            });
        }
        if provider.strips_scheduling {
            for path in [&SCHEDULING[..1], &SCHEDULING[1..]] {
                edits.push(Edit::Remove { path });
            }
        }
        let splices = onwards_json::splices(document, &edits).map_err(|_| Refusal::Internal)?;
        Ok(Outgoing::pieces(spliced(body, splices)))
    }
}

/// Slices of the original between the replaced spans.
fn spliced(body: &Bytes, splices: Vec<Splice>) -> Vec<Bytes> {
    let mut pieces = Vec::with_capacity(splices.len() * 2 + 1);
    let mut done = 0;
    for splice in splices {
        pieces.push(body.slice(done..splice.at.start));
        pieces.push(Bytes::from(splice.with));
        done = splice.at.end;
    }
    pieces.push(body.slice(done..));
    pieces
}
