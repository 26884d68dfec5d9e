//! How a provider is reached: defaults by its kind, and the rules between members.

use std::collections::BTreeMap;
use std::time::Duration;

use http::header::{AUTHORIZATION, HeaderName, HeaderValue};

use crate::endpoint::{self, Endpoint};
use crate::gateway::ProviderKind::{self, Anthropic, AzureOpenAi, Bedrock, Gemini, OpenAi};
use crate::gateway::{ApiStyle, Aws, BedrockApi, Dialect, ExposeReasoning, ImageUrls};
use crate::node::Reading;
use crate::path::Path;
use crate::secret::Secret;
use crate::spec::connection as spec;

/// Headers that a signature for AWS is sent in.
const SIGNATURE: &[&str] = &[
    "authorization",
    "x-amz-content-sha256",
    "x-amz-date",
    "x-amz-security-token",
];

/// How a provider is reached, complete.
#[derive(Clone)]
pub(super) struct Connection {
    pub(super) endpoint: Endpoint,
    pub(super) kind: Option<ProviderKind>,
    pub(super) dialect: Dialect,
    pub(super) request_path: Option<String>,
    pub(super) stream_path: Option<String>,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) extra_body: Option<String>,
    pub(super) passthrough: bool,
    pub(super) aws: Option<Aws>,
    pub(super) credential: Credential,
    pub(super) request_timeout: Option<Duration>,
    pub(super) connect_timeout: Duration,
    pub(super) idle_timeout: Option<Duration>,
}

/// The key of a provider, and how it is sent.
#[derive(Clone)]
pub(super) struct Credential {
    pub(super) key: Option<Secret>,
    pub(super) header: HeaderName,
    pub(super) value: Option<HeaderValue>,
}

/// What one connection is checked with.
pub(super) struct Place<'a> {
    /// Where it stands.
    pub(super) path: &'a Path,
    pub(super) strict: bool,
    pub(super) reading: &'a Reading<'a>,
}

/// The providers at the top of the file.
pub(super) fn shared(
    given: Option<BTreeMap<String, spec::Shared>>,
    strict: bool,
    reading: &Reading<'_>,
) -> BTreeMap<String, Connection> {
    let path = Path::root().member("providers");
    let complete = |(name, given): (String, spec::Shared)| {
        let place = Place {
            path: &path.member(&name),
            strict,
            reading,
        };
        let connection = place.connection(given.connection);
        (name, connection)
    };
    given
        .unwrap_or_default()
        .into_iter()
        .map(complete)
        .collect()
}

impl Place<'_> {
    pub(super) fn connection(&self, given: spec::Connection) -> Connection {
        self.check_authority(&given);
        let kind = given.kind;
        let credential = self.credential(&given);
        let endpoint = self.endpoint(&given);
        let aws = given.aws.map(|aws| Aws {
            region: aws.region,
            access_key_id: aws.access_key_id,
            secret_access_key: aws.secret_access_key,
            session_token: aws.session_token,
            service: aws.service.unwrap_or_else(|| "bedrock".to_owned()),
        });
        let headers = given.headers.unwrap_or_default();
        self.check_headers(&headers, &credential, aws.is_some());
        if given.request_timeout_secs.is_some() && given.request_timeout_ms.is_some() {
            self.conflict("request_timeout_ms", "request_timeout_secs");
        }
        let known = |span: Duration| kind.map(|_| span);
        Connection {
            endpoint,
            kind,
            dialect: self.dialect(given.dialect, kind),
            stream_path: given.stream_path.or_else(|| given.path.clone()),
            request_path: given.path,
            headers,
            extra_body: given.extra_body,
            passthrough: given.passthrough.unwrap_or(false),
            aws,
            credential,
            request_timeout: given
                .request_timeout_ms
                .or(given.request_timeout_secs)
                .or(known(Duration::from_secs(600))),
            connect_timeout: given.connect_timeout_ms.unwrap_or(Duration::from_secs(5)),
            idle_timeout: given
                .idle_timeout_ms
                .or(known(Duration::from_secs(120)))
                .filter(|timeout| !timeout.is_zero()),
        }
    }

    fn conflict(&self, member: &str, other: &str) {
        self.reading.error(
            &self.path.member(member),
            format!("`{member}` beside `{other}`"),
            format!("either it or `{other}`"),
        );
    }

    /// At most one way to say who the gateway is.
    fn check_authority(&self, given: &spec::Connection) {
        if given.auth.is_some() {
            let others = [
                ("onwards_key", given.onwards_key.is_some()),
                (
                    "upstream_auth_header_name",
                    given.upstream_auth_header_name.is_some(),
                ),
                (
                    "upstream_auth_header_prefix",
                    given.upstream_auth_header_prefix.is_some(),
                ),
            ];
            for (other, _) in others.into_iter().filter(|(_, given)| *given) {
                self.conflict("auth", other);
            }
        }
        let keys = [
            ("auth", given.auth.is_some()),
            ("onwards_key", given.onwards_key.is_some()),
        ];
        let key = keys.into_iter().find(|(_, given)| *given);
        if let (Some((key, _)), Some(_)) = (key, &given.aws) {
            self.conflict("aws", key);
        }
    }

    /// The address; Bedrock's is known by the region.
    fn endpoint(&self, given: &spec::Connection) -> Endpoint {
        if let Some(endpoint) = &given.url {
            return endpoint.clone();
        }
        if let (Some(Bedrock), Some(aws)) = (given.kind, &given.aws) {
            let url = format!("https://bedrock-runtime.{}.amazonaws.com", aws.region);
            match endpoint::parse(&url) {
                Ok(parsed) => return parsed.endpoint,
                Err(expected) => {
                    let path = self.path.member("aws").member("region");
                    self.reading
                        .error(&path, crate::json::quoted(&aws.region), expected);
                }
            }
        }
        Endpoint::Echo
    }

    /// What the auth header will say, checked once here and never again.
    fn credential(&self, given: &spec::Connection) -> Credential {
        const FOUND: &str = "characters a header cannot hold";
        const EXPECTED: &str = "text without control characters";
        let (header, prefix, key, prefix_path, key_path) = match &given.auth {
            Some(auth) => {
                let path = self.path.member("auth");
                (
                    auth.header.clone(),
                    auth.prefix.as_deref().unwrap_or_default(),
                    Some(&auth.value),
                    path.member("prefix"),
                    path.member("value"),
                )
            }
            None => {
                let (header, usual) = usual(given);
                (
                    header,
                    given
                        .upstream_auth_header_prefix
                        .as_deref()
                        .unwrap_or(usual),
                    given.onwards_key.as_ref(),
                    self.path.member("upstream_auth_header_prefix"),
                    self.path.member("onwards_key"),
                )
            }
        };
        if HeaderValue::from_str(prefix).is_err() {
            self.reading.error(&prefix_path, FOUND, EXPECTED);
        }
        let value = key.and_then(|key| {
            if HeaderValue::from_str(key.expose()).is_err() {
                self.reading.error(&key_path, FOUND, EXPECTED);
            }
            let mut value = HeaderValue::try_from(format!("{prefix}{}", key.expose())).ok()?;
            value.set_sensitive(true);
            Some(value)
        });
        Credential {
            key: key.cloned(),
            header,
            value,
        }
    }

    /// A header is written by one hand.
    fn check_headers(
        &self,
        headers: &[(HeaderName, HeaderValue)],
        credential: &Credential,
        signed: bool,
    ) {
        for (name, _) in headers {
            let keyed = credential.key.is_some() && *name == credential.header;
            if keyed || (signed && SIGNATURE.contains(&name.as_str())) {
                self.reading.error(
                    &self.path.member("headers"),
                    format!("`{name}`"),
                    "no header that the key or the signature is sent in",
                );
            }
        }
    }

    fn dialect(&self, given: spec::Dialect, kind: Option<ProviderKind>) -> Dialect {
        let default = Dialect::of(kind.unwrap_or(OpenAi));
        let api_style = given.api_style.unwrap_or(default.api_style);
        if given.api_version.is_some() && api_style == ApiStyle::V1 {
            self.reading.error(
                &self.path.member("api_version"),
                "`api_version` beside the `api_style` `v1`",
                "either it or `v1`, whose addresses have no version",
            );
        }
        let api = given.api.unwrap_or(default.api);
        // Messages of Anthropic are not taken without a limit, wherever they are sent.
        let limit = if api == BedrockApi::InvokeAnthropic {
            Dialect::of(Anthropic).default_max_tokens
        } else {
            default.default_max_tokens
        };
        let expose = if self.strict {
            ExposeReasoning::None
        } else {
            default.expose_reasoning
        };
        Dialect {
            on_unsupported: given.on_unsupported.unwrap_or(default.on_unsupported),
            image_urls: given.image_urls.unwrap_or(default.image_urls),
            default_max_tokens: given.default_max_tokens.or(limit),
            max_tokens_field: given.max_tokens_field.unwrap_or(default.max_tokens_field),
            structured_output: given.structured_output.unwrap_or(default.structured_output),
            schema_mode: given.schema_mode.unwrap_or(default.schema_mode),
            strict_tools: given.strict_tools.unwrap_or(default.strict_tools),
            reasoning_style: given.reasoning_style.unwrap_or(default.reasoning_style),
            reasoning_budgets: given.reasoning_budgets.map(budgets).unwrap_or_default(),
            expose_reasoning: given.expose_reasoning.unwrap_or(expose),
            betas: given.betas.unwrap_or_default(),
            api_version: given.api_version.unwrap_or(default.api_version),
            api_style,
            api,
            mid_system: given.mid_system.unwrap_or(default.mid_system),
            stream_options: given.stream_options.unwrap_or(default.stream_options),
            images_for_all: given
                .image_urls
                .is_some_and(|given| given != ImageUrls::Forward),
            reasoning_for_all: given
                .expose_reasoning
                .is_some_and(|given| given != ExposeReasoning::Full),
        }
    }
}

/// The header that a key is sent in, and what stands before it.
fn usual(given: &spec::Connection) -> (HeaderName, &'static str) {
    let own = match given.kind {
        Some(AzureOpenAi) => Some("api-key"),
        Some(Anthropic) => Some("x-api-key"),
        Some(Gemini) => Some("x-goog-api-key"),
        Some(OpenAi | Bedrock) | None => None,
    };
    let wanted = given.upstream_auth_header_name.clone();
    let header = wanted.unwrap_or_else(|| own.map_or(AUTHORIZATION, HeaderName::from_static));
    let bare = own.is_some() && header != AUTHORIZATION;
    (header, if bare { "" } else { "Bearer " })
}

fn budgets(given: spec::Budgets) -> BTreeMap<String, u32> {
    let efforts = [
        ("none", given.none),
        ("minimal", given.minimal),
        ("low", given.low),
        ("medium", given.medium),
        ("high", given.high),
        ("xhigh", given.xhigh),
        ("max", given.max),
    ];
    efforts
        .into_iter()
        .filter_map(|(effort, tokens)| Some((effort.to_owned(), tokens?)))
        .collect()
}
