//! The fifth stage: what each provider would be sent, made from the original request (spec C.4 to C.6).
//!
//! Bodies are never serialised anew: a changed member is a splice between slices of the client's own bytes.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use bytes::Bytes;
use http::uri::PathAndQuery;
use onwards_balance::First;
use onwards_json::{Edit, EditError, Object, Splice};
use onwards_reasoning::{Ask, Edit as Translated};

use crate::answer::Egress;
use crate::headers::{self, Changes};
use crate::house::unix_now;
use crate::identify::Identity;
use crate::ingress::Arrival;
use crate::metrics::Role;
use crate::policy::{Alias, Pool, Provider, Share, Snapshot, conversation, join};
use crate::refusal::Refusal;
use crate::transport::{Call, Outgoing};
use crate::vet::Vetted;

/// Everything the attempts need, borrowed from the request.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) alias: &'a Arc<Alias>,
    pub(crate) pool: &'a Arc<Pool>,
    /// Who is asked first, and what is watched.
    pub(crate) steering: Steering,
    /// What is done to the answer.
    pub(crate) egress: Egress,
    arrival: &'a Arrival,
    document: Option<&'a Object<'a>>,
    /// The alias as JSON text, where a serving class was cut off the client's name for it.
    bare: Option<String>,
    ask: Option<&'a Ask>,
}

/// Who is asked first, how long for, and who learns from it (spec F.8, G.2, G.3, H.2).
#[derive(Debug)]
pub(crate) struct Steering {
    /// Who comes first.
    pub(crate) first: First,
    /// The controller that learns from attempts at the preferred provider.
    pub(crate) observed: Option<Arc<Share>>,
    /// How long the first token may take while another provider can be asked.
    pub(crate) first_token: Option<Duration>,
    /// A client waits for the answer, nobody retries for it.
    pub(crate) realtime: bool,
}

/// Where a model's name stands.
static MODEL: LazyLock<[String; 1]> = LazyLock::new(|| ["model".to_owned()]);

/// Members that only a scheduler understands (spec C.11).
static SCHEDULING: LazyLock<[[String; 1]; 2]> =
    LazyLock::new(|| [["priority".to_owned()], ["nvext".to_owned()]]);

/// Draws up the plan for a request that has been admitted.
pub(crate) fn draw_up<'a>(
    snapshot: &Snapshot,
    arrival: &'a Arrival,
    document: Option<&'a Object<'a>>,
    identity: &'a Identity,
    vetted: &'a Vetted,
    egress: Egress,
) -> Plan<'a> {
    Plan {
        alias: &identity.alias,
        pool: &identity.pool,
        steering: steering(snapshot, arrival, document, identity, vetted),
        egress,
        arrival,
        document,
        bare: identity
            .bare
            .then(|| onwards_json::quote(&identity.alias.name)),
        ask: vetted.ask.as_ref(),
    }
}

fn steering(
    snapshot: &Snapshot,
    arrival: &Arrival,
    document: Option<&Object<'_>>,
    identity: &Identity,
    vetted: &Vetted,
) -> Steering {
    let pool = &identity.pool;
    let realtime = !snapshot.is_dispatched(&arrival.headers);
    if !realtime || pool.providers.len() < 2 {
        return Steering {
            first: First::ByStrategy,
            observed: None,
            first_token: None,
            realtime,
        };
    }
    let last = |document: &Object<'_>| {
        document
            .members()
            .iter()
            .rev()
            .find(|member| member.is("stream"))
            .and_then(|member| member.value().as_bool())
    };
    let streams = vetted.checked.map_or_else(
        || document.and_then(last).unwrap_or(false),
        |checked| checked.stream,
    );
    let observed = pool.share.clone().filter(|_| snapshot.strict && streams);
    let conversation = pool.affinity.as_ref().and_then(|affinity| {
        let key = conversation(arrival.endpoint, &arrival.headers, document)?;
        Some((
            affinity,
            affinity.arrive(key, Duration::from_secs(unix_now())),
        ))
    });
    let share = observed.as_ref().map(|share| share.arrive());
    let (at, below) = match &conversation {
        Some((_, (at, below))) => (*at, share.map_or(*below, |share| share.min(*below))),
        None => (
            share.map_or(0.0, |_| onwards_balance::point(fastrand::u64(..))),
            share.unwrap_or(1.0),
        ),
    };
    let preferred = at < below;
    if let Some((affinity, _)) = conversation {
        affinity.routed(if preferred {
            Role::Preferred
        } else {
            Role::Alternate
        });
    }
    Steering {
        first: if preferred {
            First::ByStrategy
        } else {
            First::Alternate
        },
        observed,
        first_token: pool.first_token_timeout.filter(|_| streams),
        realtime,
    }
}

impl Plan<'_> {
    /// True when two providers would be sent the same model.
    pub(crate) fn same_model(&self, one: &Provider, other: &Provider) -> bool {
        let client = self.alias.name.as_str();
        one.sent_model.as_deref().unwrap_or(client) == other.sent_model.as_deref().unwrap_or(client)
    }

    /// The request as this provider is sent it.
    ///
    /// # Errors
    /// [`Refusal::BadRequest`] when the joined path is no request target, [`Refusal::Reasoning`] when a translation would cross a
    /// member that is not an object, [`Refusal::Internal`] when an edit that was vetted cannot be applied.
    pub(crate) fn call<'b>(&'b self, provider: &'b Provider) -> Result<Call<'b>, Refusal> {
        let changes = Changes {
            decoded: self.arrival.decoded,
            read: self.egress.reads(provider),
            json: self.egress.is_strict(),
        };
        let headers = headers::upstream(&self.arrival.headers, &provider.outbound, changes);
        let (target, body) = (self.target(provider)?, self.body(provider)?);
        Ok(Call::new(&self.arrival.method, target, headers, body))
    }

    /// The request target in origin form: base path and request path joined as text, the client's query kept.
    fn target(&self, provider: &Provider) -> Result<PathAndQuery, Refusal> {
        let base = provider.base_path.as_str();
        let uri = &self.arrival.uri;
        let mut joined = if self.egress.is_strict() {
            let base = if base.is_empty() { "/v1" } else { base };
            [base, self.arrival.endpoint.below_base()].concat()
        } else {
            match uri.path_and_query() {
                Some(same) if base.is_empty() => return Ok(same.clone()),
                _ => join(base, uri.path()),
            }
        };
        if let Some(query) = uri.query() {
            joined.push('?');
            joined.push_str(query);
        }
        PathAndQuery::try_from(joined)
            .map_err(|_| Refusal::BadRequest("The request path is not a valid request target."))
    }

    fn body(&self, provider: &Provider) -> Result<Outgoing, Refusal> {
        let body = &self.arrival.body;
        let translation = match (&provider.translation, self.ask) {
            (Some(translation), Some(ask)) => translation.edits(ask),
            _ => &[],
        };
        let mut edits: Vec<Edit<'_>> = Vec::new();
        if let Some(value) = provider
            .model
            .as_ref()
            .map(|model| &model.0)
            .or(self.bare.as_ref())
        {
            edits.push(Edit::Set {
                path: &*MODEL,
                value,
            });
        }
        if provider.strips_scheduling {
            edits.extend(SCHEDULING.iter().map(|path| Edit::Remove { path }));
        }
        edits.extend(translation.iter().map(|edit| match edit {
            Translated::Set { path, value } => Edit::Set { path, value },
            Translated::Remove {
                path,
                drop_empty_parent: true,
            } => Edit::Prune { path },
            Translated::Remove {
                path,
                drop_empty_parent: false,
            } => Edit::Remove { path },
        }));
        let Some(document) = self.document.filter(|_| !edits.is_empty()) else {
            return Ok(Outgoing::whole(body.clone()));
        };
        match onwards_json::splices(document, &edits) {
            Ok(splices) => Ok(Outgoing::pieces(spliced(body, splices))),
            Err(EditError::CrossesNonObject { edit, .. }) => {
                let untranslated = edits.len() - translation.len();
                let pointer = edit
                    .checked_sub(untranslated)
                    .and_then(|index| translation.get(index));
                let crossing = onwards_reasoning::refusal::crossing;
                Err(Refusal::Reasoning(crossing(
                    &pointer.map(Translated::pointer).unwrap_or_default(),
                )))
            }
            Err(EditError::Repeated { .. }) => Err(Refusal::BadRequest(
                "A member that has to be changed is given more than once.",
            )),
            Err(_) => Err(Refusal::Internal),
        }
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
