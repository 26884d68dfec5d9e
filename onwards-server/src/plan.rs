//! The fifth stage: what each provider would be sent, made from the original request (spec C.4 to C.6).
//!
//! Bodies are never serialised anew: a changed member is a splice between slices of the client's own bytes.

mod prepared;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderName;
use http::uri::PathAndQuery;
use onwards_balance::First;
use onwards_json::{Edit, EditError, Object, Splice};
use onwards_reasoning::{Ask, Edit as Translated};

use crate::answer::Egress;
use crate::endpoint::{Endpoint, Generation};
use crate::house::unix_now;
use crate::identify::{Forms, Identity, forms, token};
use crate::ingress::Arrival;
use crate::metrics::Role;
use crate::policy::{
    Alias, Holder, Keeper, Pool, Provider, Share, Snapshot, Thoughts, conversation, join,
};
use crate::refusal::Refusal;
use crate::translate::{Around, Spoken};
use crate::transport::Outgoing;
use crate::vet::Vetted;

pub(crate) use self::prepared::{Prepared, Unsendable};

/// Everything the attempts need, borrowed from the request.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) alias: &'a Arc<Alias>,
    pub(crate) pool: &'a Arc<Pool>,
    /// Who is asked first, and what is watched.
    pub(crate) steering: Steering,
    /// What is done to the answer.
    pub(crate) egress: Egress,
    /// The request as it can be translated. Boxed, since few are.
    pub(crate) spoken: Option<Box<Spoken<'a>>>,
    /// The name of the model as the client wrote it.
    asked: &'a str,
    /// What the request is called in logs; empty where no answer bears it.
    request_id: &'a str,
    /// Nothing beyond the contract reaches the client.
    strict: bool,
    /// The client asks for a stream; told where that makes a difference.
    streams: bool,
    /// The client wants to know what a translation changes.
    explain: bool,
    /// How the client may have shown its key.
    forms: Forms,
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

/// Where a stream of chunks is asked for token counts.
static USAGE: LazyLock<[String; 2]> =
    LazyLock::new(|| ["stream_options".to_owned(), "include_usage".to_owned()]);

/// A client that sends `1` here is told what a translation has changed.
const EXPLAIN: HeaderName = HeaderName::from_static("x-onwards-explain");

/// Members that only a scheduler understands (spec C.11).
static SCHEDULING: LazyLock<[[String; 1]; 2]> =
    LazyLock::new(|| [["priority".to_owned()], ["nvext".to_owned()]]);

/// What else a plan is drawn up from.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    /// The name of the model as the client wrote it.
    pub(crate) model: &'a str,
    /// What the request is called in logs; needed where the pool translates.
    pub(crate) request_id: &'a str,
    /// What is done to the answer.
    pub(crate) egress: Egress,
    /// Where thoughts are kept.
    pub(crate) thoughts: &'a Arc<Thoughts>,
}

/// Draws up the plan for a request that has been admitted.
pub(crate) fn draw_up<'a>(
    snapshot: &'a Snapshot,
    arrival: &'a Arrival,
    document: Option<&'a Object<'a>>,
    identity: &'a Identity,
    vetted: &'a Vetted,
    asked: Asked<'a>,
) -> Plan<'a> {
    let translates = identity.pool.translates;
    let providers = &identity.pool.providers;
    let matters =
        translates || providers.len() > 1 || providers.iter().any(|one| one.paths.is_some());
    let streams = matters && streams(arrival, document, vetted);
    let Asked {
        model,
        request_id,
        egress,
        thoughts,
    } = asked;
    Plan {
        alias: &identity.alias,
        pool: &identity.pool,
        steering: steering(snapshot, arrival, document, identity, streams),
        egress,
        spoken: spoken(snapshot, arrival, identity, thoughts),
        asked: model,
        request_id,
        strict: snapshot.strict,
        streams,
        explain: translates
            && arrival
                .headers
                .get(EXPLAIN)
                .is_some_and(|value| value == "1"),
        forms: forms(arrival.endpoint, snapshot.translates),
        arrival,
        document,
        bare: identity
            .bare
            .then(|| onwards_json::quote(&identity.alias.name)),
        ask: vetted.ask.as_ref(),
    }
}

/// The request for providers whose dialect is known, if the pool has one.
fn spoken<'a>(
    snapshot: &'a Snapshot,
    arrival: &'a Arrival,
    identity: &Identity,
    thoughts: &Arc<Thoughts>,
) -> Option<Box<Spoken<'a>>> {
    if !identity.pool.translates {
        return None;
    }
    let around = &snapshot.translation;
    let keeper = around.thoughts.map(|bounds| {
        // Two tokens that differ were refused before.
        let token = token(Forms::Any, &arrival.headers, &arrival.uri);
        Keeper {
            thoughts: thoughts.clone(),
            holder: Holder::of(token.ok().flatten().as_deref(), &identity.alias.name),
            bounds,
        }
    });
    Spoken::of(
        arrival,
        Around {
            betas: &around.ingress.allowed_betas,
            fetcher: around.fetcher.as_ref(),
            thoughts: keeper,
            strict: snapshot.strict,
        },
    )
    .map(Box::new)
}

/// True when the client asks for a stream: it says so in the body, or Gemini's path does.
fn streams(arrival: &Arrival, document: Option<&Object<'_>>, vetted: &Vetted) -> bool {
    if let Endpoint::GenerateContent(generation) = arrival.endpoint {
        return generation == Generation::Stream;
    }
    let last = |document: &Object<'_>| {
        document
            .members()
            .iter()
            .rev()
            .find(|member| member.is("stream"))
            .and_then(|member| member.value().as_bool())
    };
    vetted.checked.map_or_else(
        || document.and_then(last).unwrap_or(false),
        |checked| checked.stream,
    )
}

fn steering(
    snapshot: &Snapshot,
    arrival: &Arrival,
    document: Option<&Object<'_>>,
    identity: &Identity,
    streams: bool,
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

    /// The request target in origin form: base path and request path joined as text, the client's query kept.
    fn target(&self, provider: &Provider) -> Result<PathAndQuery, Refusal> {
        let base = provider.base_path.as_str();
        let uri = &self.arrival.uri;
        let guarded = provider.outbound.guarded;
        let kept = uri.query().is_none() || (self.forms == Forms::Bearer && !guarded);
        let query: Option<Cow<'_, str>> = if kept {
            uri.query().map(Cow::Borrowed)
        } else {
            self.query(guarded).map(Cow::from)
        };
        if let Some(path) = self.set_path(provider) {
            return prepared::target(base, &path, query.as_deref());
        }
        let mut joined = if self.egress.is_strict() {
            let base = if base.is_empty() { "/v1" } else { base };
            [base, self.arrival.endpoint.below_base()].concat()
        } else {
            match uri.path_and_query() {
                Some(same) if base.is_empty() && kept => return Ok(same.clone()),
                _ => join(base, uri.path()),
            }
        };
        if let Some(query) = query {
            joined.push('?');
            joined.push_str(&query);
        }
        PathAndQuery::try_from(joined)
            .map_err(|_| Refusal::BadRequest("The request path is not a valid request target."))
    }

    /// The client's body with the model's name of this provider, its reasoning, and `last` changes.
    fn body(&self, provider: &Provider, last: &[Edit<'_>]) -> Result<Outgoing, Refusal> {
        self.body_without(provider, last, &[])
    }

    /// The same without what stands in `cuts`, which are sorted.
    fn body_without(
        &self,
        provider: &Provider,
        last: &[Edit<'_>],
        cuts: &[Range<usize>],
    ) -> Result<Outgoing, Refusal> {
        let body = &self.arrival.body;
        let translation = match (&provider.translation, self.ask) {
            (Some(translation), Some(ask)) => translation.edits(ask),
            _ => &[],
        };
        let mut edits: Vec<Edit<'_>> = Vec::new();
        let in_path = matches!(self.arrival.endpoint, Endpoint::GenerateContent(_));
        if let Some(value) = provider
            .model
            .as_ref()
            .map(|model| &model.0)
            .or(self.bare.as_ref())
            .filter(|_| !in_path)
        {
            edits.push(Edit::Set {
                path: &*MODEL,
                value,
            });
        }
        if provider.strips_scheduling {
            edits.extend(SCHEDULING.iter().map(|path| Edit::Remove { path }));
        }
        let untranslated = edits.len();
        edits.extend(edits_of(translation));
        edits.extend_from_slice(last);
        let Some(document) = self
            .document
            .filter(|_| !(edits.is_empty() && cuts.is_empty()))
        else {
            return Ok(Outgoing::whole(body.clone()));
        };
        match onwards_json::splices(document, &edits) {
            Ok(splices) => Ok(Outgoing::pieces(spliced(body, with_cuts(splices, cuts)))),
            Err(EditError::CrossesNonObject { edit, .. }) => {
                let pointer = edit
                    .checked_sub(untranslated)
                    .and_then(|index| translation.get(index));
                let Some(pointer) = pointer else {
                    return Err(Refusal::BadRequest(
                        "A member that has to be changed is not an object.",
                    ));
                };
                let crossing = onwards_reasoning::refusal::crossing;
                Err(Refusal::Reasoning(crossing(&pointer.pointer())))
            }
            Err(EditError::Repeated { .. }) => Err(Refusal::BadRequest(
                "A member that has to be changed is given more than once.",
            )),
            Err(_) => Err(Refusal::Internal),
        }
    }
}

/// The edits that a translation of reasoning makes.
fn edits_of(translation: &[Translated]) -> Vec<Edit<'_>> {
    translation.iter().map(edit_of).collect()
}

fn edit_of(edit: &Translated) -> Edit<'_> {
    match edit {
        Translated::Set { path, value } => Edit::Set { path, value },
        Translated::Remove {
            path,
            drop_empty_parent: true,
        } => Edit::Prune { path },
        Translated::Remove {
            path,
            drop_empty_parent: false,
        } => Edit::Remove { path },
    }
}

/// Splices and cuts in one order. A cut within what is replaced is none.
fn with_cuts(mut splices: Vec<Splice>, cuts: &[Range<usize>]) -> Vec<Splice> {
    if cuts.is_empty() {
        return splices;
    }
    let apart = |cut: &&Range<usize>| {
        let mut made = splices.iter();
        made.all(|splice| cut.end <= splice.at.start || splice.at.end <= cut.start)
    };
    let cuts = cuts.iter().filter(apart).map(|at| Splice {
        at: at.clone(),
        with: String::new(),
    });
    let cuts: Vec<Splice> = cuts.collect();
    splices.extend(cuts);
    splices.sort_by_key(|splice| splice.at.start);
    splices
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
