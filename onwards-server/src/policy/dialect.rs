//! What is known of a provider whose dialect is known, ready for requests (spec providers 1.3).

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use http::{HeaderName, HeaderValue, header};
use onwards_aws::{Credentials, Signer};
use onwards_config::{self as config, Endpoint, Problem, SameDialect};
use onwards_dialects::options as spoken;
use onwards_dialects::{Kind, Options, Protocol};
use onwards_images::Fetcher;
use onwards_json::Value;
use rustls::ClientConfig;

use super::snapshot::Paths;

/// How a provider is spoken to.
#[derive(Debug)]
pub(crate) struct Dialect {
    pub(crate) kind: Kind,
    pub(crate) options: Options,
    /// A client of the provider's own protocol has its bytes passed on.
    native: bool,
    /// Headers that translated requests have unless the operator has set them otherwise.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// Changes of every body, made last: where, and JSON text.
    pub(crate) extra: Vec<(Vec<String>, String)>,
    /// What errors must not show.
    words: Arc<Words>,
}

/// What errors of a pool's providers must not show, longest first: one provider may know of another, as a proxy does that stands before
/// several.
#[derive(Debug, Default)]
pub(super) struct Words(Vec<(String, Shown)>);

/// What stands in an error in the place of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    Alias,
    Provider,
    Nothing,
}

/// Signs requests for AWS.
#[derive(Debug)]
pub(crate) struct Signing {
    pub(crate) signer: Signer,
    /// How many seconds the service's clock is ahead, as far as it has said.
    ahead: AtomicI64,
}

impl Signing {
    /// The time that the service believes, given ours since 1970.
    pub(crate) fn time(&self, now: Duration) -> Duration {
        let ahead = self.ahead.load(Ordering::Relaxed);
        let by = Duration::from_secs(ahead.unsigned_abs());
        if ahead < 0 {
            now.saturating_sub(by)
        } else {
            now.saturating_add(by)
        }
    }

    /// Takes the service's clock for the right one. False if that changes nothing.
    pub(crate) fn set_clock(&self, theirs: u64, ours: Duration) -> bool {
        let ahead = i64::try_from(theirs).unwrap_or(i64::MAX)
            - i64::try_from(ours.as_secs()).unwrap_or(i64::MAX);
        self.ahead.swap(ahead, Ordering::Relaxed) != ahead
    }
}

impl Dialect {
    /// Compiles what the configuration says of a provider; `None` where it says no kind, or that nothing is to be translated.
    pub(super) fn compile(
        provider: &config::Provider,
        same: SameDialect,
        words: &Arc<Words>,
    ) -> Option<Arc<Self>> {
        let word = provider.kind.filter(|_| !provider.passthrough)?;
        let kind = Kind::named(word.word())?;
        let dialect = &provider.dialect;
        let options = options(provider, kind, dialect);
        let headers = kind.headers(&options);
        let headers = headers.into_iter().filter_map(|(name, value)| {
            // The configuration allows only characters that a header may have.
            let value = HeaderValue::try_from(value).ok()?;
            Some((HeaderName::from_static(name), value))
        });
        let mut extra = Vec::new();
        if let Some(value) = provider
            .extra_body
            .as_deref()
            .and_then(onwards_dialects::text::value)
        {
            leaves(&value, &mut Vec::new(), &mut extra);
        }
        Some(Arc::new(Self {
            headers: headers.collect(),
            kind,
            options,
            native: same == SameDialect::Native
                && !dialect.images_for_all
                && !dialect.reasoning_for_all,
            extra,
            words: words.clone(),
        }))
    }

    /// True when a client of this protocol has its bytes passed on as they are.
    pub(crate) fn is_native(&self, protocol: Protocol) -> bool {
        let renamed = !matches!(
            self.options.max_tokens_field,
            spoken::MaxTokensField::Auto { .. }
        );
        self.native && self.kind.speaks(protocol) && !(renamed && protocol == Protocol::Chat)
    }

    /// A provider's words without what they must not show (spec providers 8.1).
    pub(crate) fn scrubbed(&self, message: &str, alias: &str) -> String {
        self.words.hidden(message, alias)
    }

    /// The same for JSON text. Its strings are compared as what they mean, however they are spelled, and those with nothing to hide
    /// stay as they are.
    pub(crate) fn scrubbed_json(&self, text: &str, alias: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((between, string, behind)) = next_string(rest) {
            out.push_str(&self.scrubbed(between, alias));
            let value = onwards_dialects::text::value(string);
            let meant = value.and_then(|value| Some(value.as_text()?.decoded()));
            let meant = meant.unwrap_or_else(|| string.into());
            let shown = self.scrubbed(&meant, alias);
            if shown == meant {
                out.push_str(string);
            } else {
                onwards_json::quote_into(&shown, &mut out);
            }
            rest = behind;
        }
        out.push_str(&self.scrubbed(rest, alias));
        out
    }
}

/// The first string of a JSON text with its quotes, what stands before it, and what behind.
fn next_string(text: &str) -> Option<(&str, &str, &str)> {
    let (between, rest) = text.split_at_checked(text.find('"')?)?;
    let (string, behind) = rest.split_at_checked(onwards_json::string_len(rest.as_bytes())?)?;
    Some((between, string, behind))
}

/// The paths that the operator has set for a provider.
pub(super) fn paths(provider: &config::Provider) -> Option<Paths> {
    let (request, stream) = (&provider.request_path, &provider.stream_path);
    (request.is_some() || stream.is_some()).then(|| Paths {
        request: request.clone(),
        stream: stream.clone(),
    })
}

/// What fetches pictures, unless that is switched off.
pub(super) fn fetcher(
    settings: &config::ImageFetch,
    tls: Option<ClientConfig>,
) -> Option<Arc<Fetcher>> {
    if !settings.enabled {
        return None;
    }
    let count = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let settings = onwards_images::Settings {
        max_bytes: count(settings.max_bytes),
        timeout: settings.timeout,
        max_images: count(settings.max_images),
        max_redirects: count(settings.max_redirects),
        allow_hosts: settings.allow_hosts.clone(),
        allow_private: settings.allow_private,
        allow_http: settings.allow_http,
        mime_types: settings.mime_types.clone(),
        ..onwards_images::Settings::default()
    };
    Some(Arc::new(Fetcher::new(settings, tls?)))
}

/// False for a protocol that the operator has switched off.
pub(super) fn served(ingress: &config::Ingress, protocol: Protocol) -> bool {
    match protocol {
        Protocol::Messages => ingress.anthropic,
        Protocol::GenerateContent => ingress.gemini,
        Protocol::Responses => ingress.responses,
        Protocol::Chat => true,
    }
}

/// The words of the configuration in those of the translation.
fn options(provider: &config::Provider, kind: Kind, dialect: &config::Dialect) -> Options {
    let host = match &provider.endpoint {
        Endpoint::Http(http) => http.host.as_str(),
        Endpoint::Echo => "",
    };
    let budgets = dialect.reasoning_budgets.iter();
    Options {
        default_max_tokens: dialect.default_max_tokens.map(u64::from),
        max_tokens_field: match dialect.max_tokens_field {
            config::MaxTokensField::Auto => spoken::MaxTokensField::Auto {
                new: kind.wants_newer_limit(host),
            },
            config::MaxTokensField::MaxTokens => spoken::MaxTokensField::Old,
            config::MaxTokensField::MaxCompletionTokens => spoken::MaxTokensField::New,
        },
        structured_output: match dialect.structured_output {
            config::StructuredOutput::Tool => spoken::StructuredOutput::Tool,
            config::StructuredOutput::Native => spoken::StructuredOutput::Native,
        },
        schema_mode: match dialect.schema_mode {
            config::SchemaMode::OpenApi => spoken::SchemaMode::OpenApi,
            config::SchemaMode::JsonSchema => spoken::SchemaMode::JsonSchema,
        },
        strict_tools: dialect.strict_tools,
        reasoning_style: match dialect.reasoning_style {
            config::ReasoningStyle::Budget => spoken::ReasoningStyle::Budget,
            config::ReasoningStyle::Level => spoken::ReasoningStyle::Level,
            config::ReasoningStyle::Adaptive => spoken::ReasoningStyle::Adaptive,
            config::ReasoningStyle::Effort => spoken::ReasoningStyle::Effort,
            config::ReasoningStyle::Off => spoken::ReasoningStyle::Off,
        },
        reasoning_budgets: budgets
            .map(|(effort, tokens)| (effort.clone(), u64::from(*tokens)))
            .collect(),
        expose_reasoning: match dialect.expose_reasoning {
            config::ExposeReasoning::None => spoken::Expose::None,
            config::ExposeReasoning::Text => spoken::Expose::Text,
            config::ExposeReasoning::Full => spoken::Expose::Full,
        },
        mid_system: match dialect.mid_system {
            config::MidSystem::Hoist => spoken::MidSystem::Hoist,
            config::MidSystem::UserNote => spoken::MidSystem::UserNote,
        },
        image_urls: match dialect.image_urls {
            config::ImageUrls::Forward => spoken::ImageUrls::Forward,
            config::ImageUrls::Fetch => spoken::ImageUrls::Fetch,
            config::ImageUrls::Reject => spoken::ImageUrls::Reject,
        },
        stream_options: dialect.stream_options,
        reject_losses: dialect.on_unsupported == config::OnUnsupported::Reject,
        bedrock_api: match dialect.api {
            config::BedrockApi::Converse => spoken::BedrockApi::Converse,
            config::BedrockApi::InvokeAnthropic => spoken::BedrockApi::InvokeAnthropic,
        },
        betas: dialect.betas.clone(),
        api_version: dialect.api_version.clone(),
        api_v1: dialect.api_style == config::ApiStyle::V1,
    }
}

/// The members of an object that are no objects themselves, each with the names that lead to it.
fn leaves(value: &Value<'_>, path: &mut Vec<String>, out: &mut Vec<(Vec<String>, String)>) {
    for member in value.members() {
        path.push(member.name().into_owned());
        let inner = member.value();
        if inner.members().next().is_some() {
            leaves(&inner, path, out);
        } else {
            out.push((path.clone(), inner.text().to_owned()));
        }
        path.pop();
    }
}

/// What requests to a provider are signed with, if they are, also where nothing is translated.
///
/// # Errors
/// Credentials that no request could be signed with.
pub(super) fn signing(provider: &config::Provider) -> Result<Option<Arc<Signing>>, Box<Problem>> {
    let Some(aws) = &provider.aws else {
        return Ok(None);
    };
    let token = aws.session_token.as_ref().map(config::Secret::expose);
    let (id, key) = (aws.access_key_id.expose(), aws.secret_access_key.expose());
    let signer = Credentials::new(id, key, token)
        .and_then(|credentials| Signer::new(&aws.region, &aws.service, credentials))
        .map_err(|unusable| {
            let (path, expected) = (format!("{}.aws", provider.path), "credentials to sign with");
            Box::new(Problem::new(
                path,
                unusable.to_string(),
                expected.to_owned(),
            ))
        })?;
    Ok(Some(Arc::new(Signing {
        signer,
        ahead: AtomicI64::new(0),
    })))
}

impl Words {
    /// The words of a pool, if it has a provider whose dialect is known: only errors of those are read.
    pub(super) fn of(pool: &[config::Provider]) -> Arc<Self> {
        let mut words = Vec::new();
        if pool.iter().any(|provider| provider.kind.is_some()) {
            for provider in pool {
                collect(provider, &mut words);
            }
        }
        words.sort_by(|(one, _), (other, _)| (other.len(), other).cmp(&(one.len(), one)));
        words.dedup_by(|(later, _), (first, _)| later == first);
        Arc::new(Self(words))
    }

    /// A text with something else in the places of the words: of several at one place the longest counts. The alias stays, whatever it
    /// is made of.
    fn hidden(&self, text: &str, alias: &str) -> String {
        let there = self.0.iter().filter(|(word, _)| text.contains(word));
        let there: Vec<_> = there.collect();
        if there.is_empty() {
            return text.to_owned();
        }
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            let found = there
                .iter()
                .find_map(|(word, shown)| Some((word, shown, rest.strip_prefix(word.as_str())?)));
            let named = rest.strip_prefix(alias).filter(|_| !alias.is_empty());
            match (found, named) {
                (found, Some(behind))
                    if found.is_none_or(|(word, ..)| alias.len() >= word.len()) =>
                {
                    out.push_str(alias);
                    rest = behind;
                }
                (Some((_, shown, behind)), _) => {
                    out.push_str(match shown {
                        Shown::Alias => alias,
                        Shown::Provider => "the provider",
                        Shown::Nothing => "[REDACTED]",
                    });
                    rest = behind;
                }
                _ => {
                    out.push(letter);
                    rest = rest.get(letter.len_utf8()..).unwrap_or_default();
                }
            }
        }
        out
    }
}

/// What errors must not show of a provider: secrets, the address, its name for the model (spec providers 8.1).
fn collect(provider: &config::Provider, words: &mut Vec<(String, Shown)>) {
    let mut hide = |word: &str, shown| {
        if word.len() > 2 {
            words.push((word.to_owned(), shown));
        }
    };
    if let Some(key) = &provider.key {
        hide(key.expose(), Shown::Nothing);
    }
    if let Some(aws) = &provider.aws {
        hide(aws.access_key_id.expose(), Shown::Nothing);
        hide(aws.secret_access_key.expose(), Shown::Nothing);
        if let Some(token) = &aws.session_token {
            hide(token.expose(), Shown::Nothing);
        }
    }
    if let Some(model) = &provider.model {
        hide(model, Shown::Alias);
    }
    if let Endpoint::Http(endpoint) = &provider.endpoint {
        hide(&endpoint.authority, Shown::Provider);
        hide(&endpoint.host, Shown::Provider);
    }
}

/// The content type of everything that is translated.
pub(crate) fn json_content() -> (HeaderName, HeaderValue) {
    (
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    )
}

#[cfg(test)]
mod tests;
