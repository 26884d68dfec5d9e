//! One attempt's request: as the provider's dialect wants it, and what its answer is to be read with.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{HeaderName, HeaderValue, Method, header};
use onwards_aws::{BodyHash, Request};
use onwards_dialects::options::Picture;
use onwards_dialects::wire::{MESSAGES_BETA, parameter_proves_client};
use onwards_dialects::{Context, Kind, Protocol, Rejected, Report, Settings};
use onwards_json::Edit;

use super::{Plan, spliced};
use crate::answer::{Native, Translated, Way, counted};
use crate::endpoint::{Endpoint, Generation};
use crate::headers::{self, Changes};
use crate::house::unix_now;
use crate::percent;
use crate::policy::{Dialect, Provider, join, json_content};
use crate::refusal::Refusal;
use crate::translate::Spoken;
use crate::transport::{Call, Outgoing};

/// A request ready to be sent to one provider.
#[derive(Debug)]
pub(crate) struct Prepared {
    target: PathAndQuery,
    body: Outgoing,
    headers: Headers,
    /// What proves who sends it, where headers do that.
    signature: Vec<(HeaderName, HeaderValue)>,
    /// What is made of the answer.
    pub(crate) way: Way,
}

/// Which headers a request has.
#[derive(Debug)]
enum Headers {
    /// The client's, as far as they travel.
    Clients(Changes),
    /// The client's, for a provider that speaks its protocol, and what of these is not among them.
    Native(Changes, Vec<(HeaderName, HeaderValue)>),
    /// Only these, with the provider's own.
    Own(Vec<(HeaderName, HeaderValue)>),
}

/// Why a request cannot be sent to a provider.
#[derive(Debug)]
pub(crate) enum Unsendable {
    /// It cannot be sent to any.
    Refused(Refusal),
    /// It cannot be said in this one's dialect.
    Rejected(Rejected),
}

impl From<Refusal> for Unsendable {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Rejected> for Unsendable {
    fn from(rejected: Rejected) -> Self {
        Self::Rejected(rejected)
    }
}

impl Plan<'_> {
    /// The request as this provider is sent it.
    ///
    /// # Errors
    /// [`Unsendable::Refused`] when the joined path is no request target, when a translation would cross a member that is not an
    /// object, or when an edit that was vetted cannot be applied; [`Unsendable::Rejected`] when the request cannot be said in
    /// the provider's dialect.
    pub(crate) async fn prepare(&self, provider: &Provider) -> Result<Prepared, Unsendable> {
        let Some(dialect) = &provider.dialect else {
            // Answers in these protocols can be made in strict mode, but not cleaned.
            let endpoint = self.arrival.endpoint;
            if self.strict
                && matches!(
                    endpoint.protocol(),
                    Some(Protocol::Messages | Protocol::GenerateContent)
                )
            {
                return Err(unserved().into());
            }
            return Ok(self.as_it_is(provider)?);
        };
        match &self.spoken {
            // What only Chat Completions' relatives have goes to those who speak it, as it is.
            None if dialect.kind.serves_beside() => Ok(self.beside(provider, dialect)?),
            None => Err(unserved().into()),
            Some(spoken) if self.stays(provider, dialect, spoken.protocol) => {
                self.native(provider, dialect, spoken)
            }
            Some(_) => Box::pin(self.translated(provider, dialect)).await,
        }
    }

    /// True where the client's own body goes to the provider. Where answers have to be cleaned that is only so where they can be.
    fn stays(&self, provider: &Provider, dialect: &Dialect, protocol: Protocol) -> bool {
        let chat = matches!(protocol, Protocol::Chat | Protocol::Responses);
        dialect.is_native(protocol) && (chat || !(self.strict || provider.sanitize))
    }

    fn as_it_is(&self, provider: &Provider) -> Result<Prepared, Refusal> {
        Ok(Prepared {
            target: self.target(provider)?,
            body: self.body(provider, &[])?,
            headers: Headers::Clients(self.changes(provider, false)),
            signature: Vec::new(),
            way: Way::Plain,
        })
    }

    fn changes(&self, provider: &Provider, read: bool) -> Changes {
        Changes {
            decoded: self.arrival.decoded,
            read: read || self.egress.reads(provider),
            json: self.egress.is_strict(),
        }
    }

    /// An endpoint that is not translated, at a provider that has it under OpenAI's name.
    fn beside(&self, provider: &Provider, dialect: &Dialect) -> Result<Prepared, Refusal> {
        let mut prepared = self.as_it_is(provider)?;
        let asked = self.arrival.uri.path();
        let moved = dialect
            .kind
            .beside_path(asked, &self.settings(provider, dialect));
        if let Some(path) = moved.filter(|_| provider.paths.is_none()) {
            prepared.target = target(&provider.base_path, &path, None)?;
        }
        Ok(prepared)
    }

    /// The client's own body for a provider that speaks its protocol.
    fn native(
        &self,
        provider: &Provider,
        dialect: &Arc<Dialect>,
        spoken: &Spoken<'_>,
    ) -> Result<Prepared, Unsendable> {
        let protocol = spoken.protocol;
        let (betas, refused) = spoken.beta_values();
        if refused && dialect.options.reject_losses {
            return Err(Rejected::unsupported(MESSAGES_BETA).into());
        }
        let mut own = dialect.headers.clone();
        add_betas(&mut own, &betas);
        let usage = self.streams && dialect.options.stream_options && protocol == Protocol::Chat;
        let mut edits: Vec<Edit<'_>> = Vec::new();
        if usage {
            edits.push(Edit::Set {
                path: &super::USAGE[..],
                value: "true",
            });
        }
        edits.extend(
            dialect
                .extra
                .iter()
                .map(|(path, value)| Edit::Set { path, value }),
        );
        let (cuts, report) = self.foreign(protocol);
        if let (Some(lost), true) = (report.first_loss(), dialect.options.reject_losses) {
            return Err(Rejected::unsupported(lost.name).into());
        }
        let cleaned = self.strict || (protocol == Protocol::Chat && self.egress.cleans(provider));
        Ok(Prepared {
            target: self.native_target(provider, dialect, protocol)?,
            body: self.body_without(provider, &edits, &cuts)?,
            headers: Headers::Native(self.changes(provider, true), own),
            signature: Vec::new(),
            way: Way::Native(Box::new(Native {
                protocol,
                dialect: dialect.clone(),
                betas_refused: refused,
                counts: self.arrival.endpoint.counts(),
                streams: self.arrival.endpoint == Endpoint::GenerateContent(Generation::Stream),
                array: self.wants_array(),
                cleaned,
                strict: self.strict,
                report,
                explain: self.explain,
                model: self.asked.to_owned(),
                request_id: self.request_id.to_owned(),
            })),
        })
    }

    /// What a body holds that is not of the client's own protocol. In strict mode that goes to nobody (spec providers 3.1).
    fn foreign(&self, protocol: Protocol) -> (Vec<Range<usize>>, Report) {
        self.document
            .filter(|_| self.strict && protocol == Protocol::Chat)
            .map(onwards_dialects::foreign_members)
            .unwrap_or_default()
    }

    fn native_target(
        &self,
        provider: &Provider,
        dialect: &Dialect,
        protocol: Protocol,
    ) -> Result<PathAndQuery, Refusal> {
        let query = self.query(true);
        if let Some(path) = self.set_path(provider) {
            return target(&provider.base_path, &path, query.as_deref());
        }
        let settings = self.settings(provider, dialect);
        let asked = self.arrival.uri.path();
        let native = dialect.kind.native_path(protocol, asked, &settings);
        let query = query.filter(|_| native.takes_query);
        target(
            "",
            &join(&provider.base_path, &native.path),
            query.as_deref(),
        )
    }

    /// What a writer of paths is told of a provider.
    fn settings<'b>(&'b self, provider: &'b Provider, dialect: &'b Dialect) -> Settings<'b> {
        static NO_PICTURES: BTreeMap<String, Picture> = BTreeMap::new();
        Settings {
            model: self.model(provider),
            options: &dialect.options,
            pictures: &NO_PICTURES,
            recall: &|_| None,
        }
    }

    /// The client's query without its key: as the gateway takes it, and for a provider that is `guarded` under any other name too.
    pub(super) fn query(&self, guarded: bool) -> Option<String> {
        let query = self.arrival.uri.query()?;
        let is_key = |parameter: &str| {
            let name = parameter.split('=').next().unwrap_or_default();
            let name = String::from_utf8_lossy(&percent::decode(name)).into_owned();
            parameter.starts_with("key=") || (guarded && parameter_proves_client(&name))
        };
        let kept: Vec<&str> = query
            .split('&')
            .filter(|parameter| !parameter.is_empty() && !is_key(parameter))
            .collect();
        (!kept.is_empty()).then(|| kept.join("&"))
    }

    /// The provider's name for the model.
    fn model<'b>(&'b self, provider: &'b Provider) -> &'b str {
        provider.sent_model.as_deref().unwrap_or(&self.alias.name)
    }

    /// The path that the operator has set, with the model in it.
    pub(super) fn set_path(&self, provider: &Provider) -> Option<String> {
        let paths = provider.paths.as_ref()?;
        let stream = paths.stream.as_ref().filter(|_| self.streams);
        let path = stream.or(paths.request.as_ref())?;
        Some(path.replace("{model}", &percent::segment(self.model(provider))))
    }

    async fn translated(
        &self,
        provider: &Provider,
        dialect: &Arc<Dialect>,
    ) -> Result<Prepared, Unsendable> {
        let Some(spoken) = &self.spoken else {
            return Err(Refusal::Internal.into());
        };
        let model = self.model(provider);
        let counts = self.arrival.endpoint.counts();
        let request = spoken.request()?;
        if counts && !dialect.kind.counts() {
            let tokens = onwards_dialects::prompt_tokens(request);
            return Ok(Prepared {
                target: PathAndQuery::from_static("/"),
                body: Outgoing::default(),
                headers: Headers::Own(Vec::new()),
                signature: Vec::new(),
                way: Way::Counted(Box::new(counted(spoken.protocol, tokens, false))),
            });
        }
        let stream = request.stream && !counts;
        let written = spoken.write(dialect, model).await?;
        let body = Bytes::from(written.body);
        let body = self.finished(body, provider, dialect)?;
        let set = self.set_path(provider).filter(|_| !counts);
        let target = match set {
            Some(path) => target(&provider.base_path, &path, None)?,
            None => {
                let path = self.own_path(provider, dialect, stream);
                target("", &join(&provider.base_path, &path), None)?
            }
        };
        let mut own = vec![json_content(), accepts(dialect.kind, stream)];
        own.extend(dialect.headers.iter().cloned());
        let (betas, _) = spoken.beta_values();
        if dialect.kind.takes_betas() {
            add_betas(&mut own, &betas);
        }
        let translated = Translated {
            dialect: dialect.clone(),
            protocol: spoken.protocol,
            memory: written.memory,
            report: written.report,
            explain: self.explain,
            counts,
            stream,
            keeper: spoken.keeper(),
            context: self.context(spoken.protocol, dialect, model),
        };
        Ok(Prepared {
            target,
            body,
            headers: Headers::Own(own),
            signature: Vec::new(),
            way: Way::Translated(Box::new(translated)),
        })
    }

    /// The body with what the operator has set: the translation of reasoning, then what is merged into every body.
    fn finished(
        &self,
        body: Bytes,
        provider: &Provider,
        dialect: &Dialect,
    ) -> Result<Outgoing, Refusal> {
        let translation = match (&provider.translation, self.ask) {
            (Some(translation), Some(ask)) => translation.edits(ask),
            _ => &[],
        };
        if translation.is_empty() && dialect.extra.is_empty() {
            return Ok(Outgoing::whole(body));
        }
        let mut edits = super::edits_of(translation);
        edits.extend(
            dialect
                .extra
                .iter()
                .map(|(path, value)| Edit::Set { path, value }),
        );
        let document = onwards_json::object(&body).map_err(|_| Refusal::Internal)?;
        let splices = onwards_json::splices(&document, &edits).map_err(|_| Refusal::Internal)?;
        let pieces = spliced(&body, splices);
        Ok(Outgoing::pieces(pieces))
    }

    /// What the answer says of itself.
    fn context(&self, protocol: Protocol, dialect: &Dialect, model: &str) -> Context {
        let strict = self.strict;
        Context {
            model: self.asked.to_owned(),
            unique: self.request_id.trim_start_matches("req_").to_owned(),
            request_id: self.request_id.to_owned(),
            created: unix_now(),
            strict,
            expose: dialect.options.expose_reasoning,
            echo: match protocol {
                Protocol::Responses => onwards_dialects::echo(&self.arrival.body),
                _ => String::new(),
            },
            array: self.wants_array(),
            signed: dialect.kind.signs(model, &dialect.options),
            sequential: dialect.kind.is_sequential(),
        }
    }

    /// True for a client of Gemini's that wants a stream as one JSON array.
    fn wants_array(&self) -> bool {
        let query = self.arrival.uri.query().unwrap_or_default();
        self.arrival.endpoint == Endpoint::GenerateContent(Generation::Stream)
            && !query.split('&').any(|parameter| parameter == "alt=sse")
    }

    fn own_path(&self, provider: &Provider, dialect: &Dialect, stream: bool) -> String {
        let settings = self.settings(provider, dialect);
        if self.arrival.endpoint.counts() {
            return dialect.kind.count_path(&settings);
        }
        dialect.kind.path(&settings, stream)
    }
}

static POST: Method = Method::POST;

impl Prepared {
    /// The call for a provider, borrowing what it can. Only a signed one can be made again.
    pub(crate) fn call<'c>(&'c mut self, plan: &'c Plan<'_>, provider: &'c Provider) -> Call<'c> {
        let (target, body) = if self.signature.is_empty() {
            let root = PathAndQuery::from_static("/");
            (
                std::mem::replace(&mut self.target, root),
                std::mem::take(&mut self.body),
            )
        } else {
            (self.target.clone(), self.body.clone())
        };
        let (method, mut headers) = match &self.headers {
            Headers::Clients(changes) => (
                &plan.arrival.method,
                headers::upstream(&plan.arrival.headers, &provider.outbound, *changes),
            ),
            Headers::Native(changes, own) => (
                &plan.arrival.method,
                headers::native(&plan.arrival.headers, own, &provider.outbound, *changes),
            ),
            Headers::Own(own) => (&POST, headers::own(own, &provider.outbound)),
        };
        if !self.signature.is_empty() {
            headers.retain(|(name, _)| {
                let of_client = name.as_str().starts_with("x-amz-");
                !of_client && self.signature.iter().all(|(signed, _)| signed != *name)
            });
            headers.extend(self.signature.iter().map(|(name, value)| (name, value)));
        }
        Call::new(method, target, headers, body)
    }

    /// What a translation has changed, for an operator.
    pub(crate) fn changes(&self) -> String {
        match &self.way {
            Way::Translated(translated) => crate::translate::whole(&translated.report),
            Way::Native(native) if !native.report.is_empty() => {
                crate::translate::whole(&native.report)
            }
            _ => "none".to_owned(),
        }
    }

    /// Signs the request, where the provider wants that, at `now` since 1970.
    ///
    /// # Errors
    /// [`Refusal::Internal`] for a request that cannot be signed; it could not be sent either.
    pub(crate) fn sign(
        &mut self,
        plan: &Plan<'_>,
        provider: &Provider,
        now: Duration,
    ) -> Result<(), Refusal> {
        let Some(signing) = &provider.signing else {
            return Ok(());
        };
        let host = provider
            .outbound
            .host
            .to_str()
            .map_err(|_| Refusal::Internal)?;
        let client = plan.arrival.headers.get(header::CONTENT_TYPE);
        let (method, content) = match &self.headers {
            Headers::Own(_) => ("POST", Some("application/json")),
            _ => (
                plan.arrival.method.as_str(),
                client.and_then(|content| content.to_str().ok()),
            ),
        };
        let content = content.map(|content| ("content-type", content));
        let request = Request {
            method,
            host,
            path: self.target.path(),
            query: self.target.query().unwrap_or_default(),
            headers: content.as_slice(),
            body: BodyHash::of(self.body.pieces_left().iter().map(|piece| &**piece)),
        };
        let signed = signing
            .signer
            .sign(&request, signing.time(now))
            .map_err(|error| {
                tracing::error!(%error, "a request cannot be signed");
                Refusal::Internal
            })?;
        let headers = signed.headers().map(|(name, value)| {
            let mut value = HeaderValue::from_str(value)?;
            value.set_sensitive(true);
            Ok::<_, http::Error>((HeaderName::from_static(name), value))
        });
        self.signature = headers
            .collect::<Result<_, _>>()
            .map_err(|_| Refusal::Internal)?;
        Ok(())
    }
}

/// The provider has no such endpoint.
fn unserved() -> Rejected {
    Rejected::new(
        "endpoint_not_supported",
        None,
        "the provider of this model does not serve this endpoint",
    )
}

/// What the answer to a translated request should be.
fn accepts(kind: Kind, stream: bool) -> (HeaderName, HeaderValue) {
    (
        header::ACCEPT,
        HeaderValue::from_static(kind.accept(stream)),
    )
}

/// Adds a client's values of the header for what is not in the protocol yet to the operator's.
fn add_betas(headers: &mut Vec<(HeaderName, HeaderValue)>, betas: &[&str]) {
    if betas.is_empty() {
        return;
    }
    let name = HeaderName::from_static(MESSAGES_BETA);
    let own = headers.iter().find(|(known, _)| *known == name);
    let mut all: Vec<&str> = own
        .and_then(|(_, value)| value.to_str().ok())
        .into_iter()
        .collect();
    all.extend(betas);
    let Ok(value) = HeaderValue::try_from(all.join(",")) else {
        return;
    };
    headers.retain(|(known, _)| *known != name);
    headers.push((name, value));
}

/// A request target of a base path, a path that may have a query of its own, and another query.
pub(super) fn target(base: &str, path: &str, query: Option<&str>) -> Result<PathAndQuery, Refusal> {
    let mut whole = [base, path].concat();
    if let Some(query) = query {
        whole.push(if path.contains('?') { '&' } else { '?' });
        whole.push_str(query);
    }
    PathAndQuery::try_from(whole)
        .map_err(|_| Refusal::BadRequest("The request path is not a valid request target."))
}
