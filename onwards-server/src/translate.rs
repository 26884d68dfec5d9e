//! A request of one protocol for providers that speak others: read once, written for each that is tried.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use http::HeaderMap;
use onwards_dialects::options::{Kept, Picture};
use onwards_dialects::request::Request;
use onwards_dialects::wire::MESSAGES_BETA;
use onwards_dialects::{Protocol, Rejected, Report, Settings, Written, to_fetch};
use onwards_images::Fetcher;
use tokio::sync::OnceCell;

use crate::endpoint::{Endpoint, Generation};
use crate::ingress::Arrival;
use crate::policy::{Dialect, Keeper};

/// A client's request as the translation knows it.
#[derive(Debug)]
pub(crate) struct Spoken<'a> {
    pub(crate) protocol: Protocol,
    endpoint: Endpoint,
    body: &'a [u8],
    headers: &'a HeaderMap,
    /// Values of `anthropic-beta` that clients may send.
    betas: &'a [String],
    fetcher: Option<&'a Arc<Fetcher>>,
    thoughts: Option<Keeper>,
    strict: bool,
    /// Read when the first provider needs it translated.
    read: OnceLock<Result<Request<'a>, Rejected>>,
    /// Fetched when the first provider needs them.
    pictures: OnceCell<Result<BTreeMap<String, Picture>, Rejected>>,
}

/// What surrounds a translated request.
#[derive(Clone, Debug)]
pub(crate) struct Around<'a> {
    pub(crate) betas: &'a [String],
    pub(crate) fetcher: Option<&'a Arc<Fetcher>>,
    pub(crate) thoughts: Option<Keeper>,
    /// Nothing that no contract knows goes to a provider.
    pub(crate) strict: bool,
}

impl<'a> Spoken<'a> {
    /// The request, if it is of an endpoint that is translated.
    pub(crate) fn of(arrival: &'a Arrival, around: Around<'a>) -> Option<Self> {
        Some(Self {
            protocol: arrival.endpoint.protocol()?,
            endpoint: arrival.endpoint,
            body: &arrival.body,
            headers: &arrival.headers,
            betas: around.betas,
            fetcher: around.fetcher,
            thoughts: around.thoughts,
            strict: around.strict,
            read: OnceLock::new(),
            pictures: OnceCell::new(),
        })
    }

    /// Where thoughts of the model are kept.
    pub(crate) fn keeper(&self) -> Option<Keeper> {
        self.thoughts.clone()
    }

    /// What the client asks for.
    ///
    /// # Errors
    /// When the body is none of its protocol.
    pub(crate) fn request(&self) -> Result<&Request<'a>, Rejected> {
        let read = self.read.get_or_init(|| {
            let mut request = if self.endpoint.counts() {
                self.protocol.read_count(self.body)?
            } else {
                self.protocol.read_request(self.body)?
            };
            if let Endpoint::GenerateContent(generation) = self.endpoint {
                request.stream = generation == Generation::Stream;
            }
            if self.strict {
                request.protocol = None; // members beyond the protocol go to nobody then
            }
            let (_, refused) = self.beta_values();
            if refused {
                request.report.dropped(MESSAGES_BETA);
            }
            Ok(request)
        });
        read.as_ref().map_err(Clone::clone)
    }

    /// The values of `anthropic-beta` that go on, and whether there are others.
    pub(crate) fn beta_values(&self) -> (Vec<&str>, bool) {
        if self.protocol != Protocol::Messages {
            return (Vec::new(), false);
        }
        let values = self.headers.get_all(MESSAGES_BETA);
        let named = values
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .map(str::trim)
            .filter(|value| !value.is_empty());
        let (allowed, refused): (Vec<_>, Vec<_>) =
            named.partition(|value| self.betas.iter().any(|allowed| allowed == value));
        (allowed, !refused.is_empty())
    }

    /// The request in a provider's dialect, under its name for the model.
    ///
    /// # Errors
    /// When it cannot be said there, when a picture cannot be fetched, or when something would be lost and the operator has
    /// that refused.
    pub(crate) async fn write(&self, dialect: &Dialect, model: &str) -> Result<Written, Rejected> {
        let request = self.request()?;
        if let Some(rejected) = &request.native_only {
            return Err(rejected.clone());
        }
        let none = BTreeMap::new();
        let wanted = to_fetch(request, dialect.kind, &dialect.options);
        let pictures = if wanted.is_empty() {
            &none
        } else {
            let fetched = self.pictures.get_or_init(|| self.fetch(wanted)).await;
            fetched.as_ref().map_err(Clone::clone)?
        };
        let recall = |id: &str| self.recall(id);
        let settings = Settings {
            model,
            options: &dialect.options,
            pictures,
            recall: &recall,
        };
        let written = if self.endpoint.counts() {
            dialect.kind.write_count(request, &settings)?
        } else {
            dialect.kind.write_request(request, &settings)?
        };
        match written.report.first_loss() {
            Some(loss) if dialect.options.reject_losses => Err(Rejected::unsupported(loss.name)),
            _ => Ok(written),
        }
    }

    fn recall(&self, id: &str) -> Option<Kept> {
        self.thoughts.as_ref()?.recall(id)
    }

    async fn fetch(
        &self,
        wanted: Vec<(String, String)>,
    ) -> Result<BTreeMap<String, Picture>, Rejected> {
        let (pointers, mut urls): (Vec<String>, Vec<String>) = wanted.into_iter().unzip();
        let failed = |pointer: &str, reason: &str| {
            Rejected::new(
                "image_fetch_failed",
                Some(pointer.to_owned()),
                format!("{pointer}: the picture could not be fetched: {reason}"),
            )
        };
        let Some(fetcher) = self.fetcher else {
            let pointer = pointers.first().map_or("", String::as_str);
            return Err(failed(pointer, "fetching is switched off"));
        };
        let all = urls.clone();
        urls.sort_unstable();
        urls.dedup();
        let fetched = fetcher.fetch(&urls).await.map_err(|error| {
            let url = urls.get(error.index);
            let place = all.iter().position(|other| Some(other) == url);
            let pointer = place.and_then(|place| pointers.get(place));
            failed(pointer.map_or("", String::as_str), error.reason.word())
        })?;
        Ok(fetched
            .into_iter()
            .map(|(url, picture)| {
                let picture = Picture {
                    mime: picture.mime.into(),
                    base64: picture.base64,
                };
                (url, picture)
            })
            .collect())
    }
}

/// Both headers that tell of a fidelity report are at most so long.
const LONGEST: usize = 1024;

/// The losses of a report, if there are any.
pub(crate) fn losses(report: &Report) -> Option<String> {
    let losses = report.losses(LONGEST);
    (!losses.is_empty()).then_some(losses)
}

/// Everything of a report; `none` if everything was kept.
pub(crate) fn whole(report: &Report) -> String {
    if report.is_empty() {
        return "none".to_owned();
    }
    report.whole(LONGEST)
}
