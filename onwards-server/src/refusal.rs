//! What the gateway says when it refuses a request itself, and the one function that puts it on the wire.

use std::borrow::Cow;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use onwards_dialects::{Failure, Protocol};
use onwards_strict::Defect;

use crate::body::Body;
use crate::quota::Quota;

/// A request that the gateway decides not to serve, or could not serve (spec E.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The request line or head breaks a rule; the text says which.
    BadRequest(&'static str),
    /// No readable `model` in the body and no `model-override` header.
    ModelMissing,
    /// The endpoint needs a JSON object, or a rewrite does, and the body is none.
    BodyNotJson,
    /// The request body did not arrive in time.
    BodyTimeout,
    /// The request body broke off.
    BodyBroken,
    /// A Responses request that is not sent as JSON.
    NotSentAsJson,
    /// The body does not fit the endpoint's contract.
    Defect(Defect),
    /// A reasoning control that cannot be honoured.
    Reasoning(onwards_reasoning::Refusal),
    /// Parameters that the operator has listed as refused, in the order of the catalog.
    UnsupportedParams(Vec<&'static str>),
    /// The body is larger than the limit, as sent or after inflation.
    BodyTooLarge {
        limit: usize,
    },
    /// A `content-encoding` that the gateway cannot undo, where it must read the body.
    UnknownEncoding,
    /// A compressed body that does not decompress.
    BrokenEncoding,
    Unauthenticated,
    Forbidden,
    ModelNotFound {
        model: String,
    },
    NotFound,
    MethodNotAllowed {
        allow: &'static str,
    },
    /// The gateway has as many requests in flight as it may. What is left of the body is not read where the connection closes.
    Overloaded {
        closes: bool,
    },
    /// A rate limit of the key or the pool, or those of all its providers; the quota of the former is told.
    RateLimited {
        wait: Duration,
        quota: Option<Quota>,
    },
    /// The store that limits are counted in is away, and the configuration lets nobody through without it.
    LimitsUnavailable,
    /// The pool or the key has as many requests running as it may.
    AtConcurrency,
    /// Every provider of the pool has as many requests running as it may.
    AllAtCapacity,
    /// The account has as many requests in flight on the alias as it may.
    AtInflight {
        alias: String,
    },
    /// The providers' own limits are used up, or they asked for a pause.
    UpstreamLimited {
        wait: Option<Duration>,
    },
    /// The alias has as many dispatched requests in flight as it may.
    BatchCapacity {
        alias: String,
        limit: u32,
    },
    /// The request cannot be read in the client's protocol, or said in the dialect of any provider.
    Untranslatable(onwards_dialects::Rejected),
    /// No provider of a pool whose dialects are known could be reached.
    Unreachable,
    /// The provider of such a pool took too long.
    Late,
    /// The answer of a provider of such a pool cannot be read.
    Unreadable,
    /// The pool has no providers.
    NoProviders,
    /// Every attempt failed, or the only one did.
    BadGateway,
    /// The last provider's 2xx was an error or nothing.
    Unavailable,
    /// A provider's answer does not fit the contract: nothing of it may be shown.
    Malformed,
    /// A provider refused the request, and its words are not shown.
    UpstreamError,
    /// The provider took too long.
    GatewayTimeout,
    /// A rule of the gateway's own went wrong.
    Internal,
}

/// One row of the error table: what a refusal looks like to the client.
struct Row {
    status: StatusCode,
    kind: &'static str,
    code: Option<&'static str>,
    param: Option<Cow<'static, str>>,
    message: Cow<'static, str>,
}

type Columns = (
    StatusCode,
    &'static str,
    &'static str,
    Option<&'static str>,
    Cow<'static, str>,
);

const INVALID: &str = "invalid_request_error";
const LIMITED: &str = "rate_limit_error";
const OVERLOADED: &str = "overloaded_error";
const INTERNAL: &str = "internal_error";
const TRY_LATER: &str = "An internal error occurred. Please try again later.";

impl Refusal {
    fn row(&self) -> Row {
        let (status, kind, code, param, message) = self.columns();
        // Errors of the contract carry no code; what they are counted as is the gateway's own business.
        let silent = matches!(
            self,
            Self::Defect(_) | Self::NotSentAsJson | Self::Malformed
        );
        let param = match self {
            Self::Untranslatable(rejected) => rejected.param.clone().map(Cow::Owned),
            _ => param.map(Cow::Borrowed),
        };
        Row {
            status,
            kind,
            code: (!silent).then_some(code),
            param,
            message,
        }
    }

    #[expect(clippy::too_many_lines, reason = "one flat table")]
    fn columns(&self) -> Columns {
        match self {
            Self::Defect(defect) => (
                StatusCode::BAD_REQUEST,
                INVALID,
                defect.kind.code(),
                None,
                defect.message().into(),
            ),
            Self::NotSentAsJson => (
                StatusCode::BAD_REQUEST,
                INVALID,
                "invalid_content_type",
                None,
                "Invalid request: the content-type must be application/json.".into(),
            ),
            Self::BodyBroken => (
                StatusCode::BAD_REQUEST,
                INVALID,
                "invalid_body",
                None,
                "The request body broke off.".into(),
            ),
            Self::Reasoning(refusal) => (
                StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_REQUEST),
                INVALID,
                refusal.code,
                Some(refusal.param),
                refusal.message.clone().into(),
            ),
            Self::UnsupportedParams(names) => (
                StatusCode::BAD_REQUEST,
                INVALID,
                "unsupported_parameter",
                names.first().copied(),
                onwards_strict::catalog::refusal(names).into(),
            ),
            Self::Untranslatable(rejected) => (
                StatusCode::BAD_REQUEST,
                INVALID,
                rejected.code,
                None,
                rejected.message.clone().into(),
            ),
            Self::Unreachable => (
                StatusCode::BAD_GATEWAY,
                "api_error",
                "provider_unreachable",
                None,
                "The provider of this model cannot be reached.".into(),
            ),
            Self::Late => (
                StatusCode::GATEWAY_TIMEOUT,
                "api_error",
                "provider_timeout",
                None,
                "The provider of this model took too long to respond.".into(),
            ),
            Self::Unreadable => (
                StatusCode::BAD_GATEWAY,
                "api_error",
                "provider_malformed_response",
                None,
                "The provider of this model gave an answer that cannot be read.".into(),
            ),
            Self::UpstreamLimited { .. } => (
                StatusCode::TOO_MANY_REQUESTS,
                LIMITED,
                "rate_limit_exceeded",
                None,
                "The upstream service is receiving too many requests. Please try again later.".into(),
            ),
            Self::BatchCapacity { alias, limit } => (
                StatusCode::from_u16(529).unwrap_or(StatusCode::SERVICE_UNAVAILABLE),
                OVERLOADED,
                "batch_capacity_exceeded",
                None,
                format!(
                    "The batch capacity of the model `{}` is used up: {limit} requests in flight. Try again when one has completed.",
                    shortened(alias)
                )
                .into(),
            ),
            Self::Malformed => (StatusCode::BAD_GATEWAY, "api_error", "malformed_answer", None, "Bad gateway".into()),
            Self::UpstreamError => (
                StatusCode::BAD_REQUEST,
                INVALID,
                "upstream_error",
                None,
                "The upstream provider rejected the request.".into(),
            ),
            Self::BadRequest(why) => (StatusCode::BAD_REQUEST, INVALID, "bad_request", None, (*why).into()),
            Self::ModelMissing => (
                StatusCode::BAD_REQUEST,
                INVALID,
                "bad_request",
                Some("model"),
                "Could not parse onwards model from request. 'model' parameter must be supplied in either the body or in the Model-Override header.".into(),
            ),
            Self::BodyNotJson => {
                (StatusCode::BAD_REQUEST, INVALID, "bad_request", None, "Request body must be valid JSON.".into())
            }
            Self::BodyTimeout => (
                StatusCode::REQUEST_TIMEOUT,
                INVALID,
                "request_timeout",
                None,
                "The request body did not arrive in time.".into(),
            ),
            Self::BodyTooLarge { limit } => (
                StatusCode::PAYLOAD_TOO_LARGE,
                INVALID,
                "payload_too_large",
                None,
                format!("Request body too large: the maximum allowed size is {limit} bytes.").into(),
            ),
            Self::UnknownEncoding => (
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                INVALID,
                "unsupported_content_encoding",
                None,
                "Unsupported content-encoding: the request body may be sent plain or as gzip, br or zstd.".into(),
            ),
            Self::BrokenEncoding => (
                StatusCode::BAD_REQUEST,
                INVALID,
                "bad_request",
                None,
                "The request body could not be decoded as its content-encoding says.".into(),
            ),
            Self::Unauthenticated => (
                StatusCode::UNAUTHORIZED,
                INVALID,
                "unauthenticated",
                None,
                "Please supply an authentication token to access this resource".into(),
            ),
            Self::Forbidden => (StatusCode::FORBIDDEN, INVALID, "forbidden", None, "Forbidden".into()),
            Self::ModelNotFound { model } => (
                StatusCode::NOT_FOUND,
                INVALID,
                "model_not_found",
                None,
                format!("The model `{}` does not exist or you do not have access to it.", shortened(model)).into(),
            ),
            Self::NotFound => {
                (StatusCode::NOT_FOUND, INVALID, "not_found", None, "No such endpoint.".into())
            }
            Self::MethodNotAllowed { allow } => (
                StatusCode::METHOD_NOT_ALLOWED,
                INVALID,
                "method_not_allowed",
                None,
                format!("Method not allowed. Allowed: {allow}.").into(),
            ),
            Self::RateLimited { .. } => (
                StatusCode::TOO_MANY_REQUESTS,
                LIMITED,
                "rate_limit",
                None,
                "You are sending requests too quickly. Please slow down.".into(),
            ),
            Self::AtInflight { alias } => (
                StatusCode::TOO_MANY_REQUESTS,
                LIMITED,
                "inflight_limit_exceeded",
                None,
                format!(
                    "Too many requests in flight for the model `{}`: your account is at its limit. Try again when one has completed.",
                    shortened(alias)
                )
                .into(),
            ),
            Self::AtConcurrency | Self::AllAtCapacity => (
                StatusCode::TOO_MANY_REQUESTS,
                LIMITED,
                "concurrency_limit_exceeded",
                None,
                "Too many concurrent requests. Please wait for some requests to complete before sending more.".into(),
            ),
            Self::Overloaded { .. } => (
                StatusCode::SERVICE_UNAVAILABLE,
                OVERLOADED,
                "overloaded",
                None,
                "The gateway has as many requests in flight as it can serve. Please try again shortly.".into(),
            ),
            Self::LimitsUnavailable => (
                StatusCode::SERVICE_UNAVAILABLE,
                INTERNAL,
                "limits_unavailable",
                None,
                "The limits of this request cannot be checked at the moment. Please try again later.".into(),
            ),
            Self::NoProviders | Self::Unavailable => {
                (StatusCode::SERVICE_UNAVAILABLE, INTERNAL, "service_unavailable", None, TRY_LATER.into())
            }
            Self::BadGateway => (StatusCode::BAD_GATEWAY, INTERNAL, "internal_error", None, TRY_LATER.into()),
            Self::GatewayTimeout => (
                StatusCode::GATEWAY_TIMEOUT,
                INTERNAL,
                "gateway_timeout",
                None,
                "The upstream service took too long to respond. Please try again.".into(),
            ),
            Self::Internal => {
                (StatusCode::INTERNAL_SERVER_ERROR, INTERNAL, "internal_error", None, TRY_LATER.into())
            }
        }
    }

    /// The status the client sees.
    pub(crate) fn status(&self) -> StatusCode {
        self.row().status
    }

    /// The code that the rejection counter and log line carry.
    pub(crate) fn code(&self) -> &'static str {
        self.columns().2
    }

    /// The parameter at fault, if one is that the gateway has named.
    pub(crate) fn param(&self) -> Option<&'static str> {
        self.columns().3
    }

    /// Whole seconds after which trying again can succeed, at least one.
    fn retry_after(&self) -> Option<u64> {
        match self {
            Self::RateLimited { wait, .. } => Some(whole_seconds(*wait)),
            Self::UpstreamLimited { wait } => wait.map(whole_seconds),
            Self::AtConcurrency
            | Self::AllAtCapacity
            | Self::LimitsUnavailable
            | Self::Overloaded { .. }
            | Self::AtInflight { .. }
            | Self::BatchCapacity { .. } => Some(1),
            _ => None,
        }
    }

    /// The refusal as a client of another protocol than OpenAI's reads it.
    pub(crate) fn response_in(&self, protocol: Protocol, request_id: &str) -> Response<Body> {
        let row = self.row();
        let failure = Failure {
            kind: row.kind.to_owned(),
            param: row.param.map(Cow::into_owned),
            ..Failure::of(row.status.as_u16(), row.code, row.message)
        };
        let mut text = String::new();
        protocol.write_failure(&failure, request_id, &mut text);
        self.with(row.status, text.into())
    }

    /// The refusal as a response: OpenAI's error envelope and the headers that go with it.
    pub(crate) fn response(&self) -> Response<Body> {
        let row = self.row();
        let text = envelope(&row.message, row.kind, row.param.as_deref(), row.code);
        self.with(row.status, text)
    }

    fn with(&self, status: StatusCode, text: Bytes) -> Response<Body> {
        let mut response = Response::new(Body::full(text));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        if let Some(seconds) = self.retry_after() {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        match self {
            Self::Unauthenticated => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            Self::RateLimited {
                quota: Some(quota), ..
            } => quota.tell(headers),
            Self::MethodNotAllowed { allow } => {
                headers.insert(header::ALLOW, HeaderValue::from_static(allow));
            }
            // What is left of the request body is not read: the connection cannot serve another request.
            Self::BodyTooLarge { .. } | Self::BodyTimeout | Self::Overloaded { closes: true } => {
                headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            _ => {}
        }
        response
    }
}

/// OpenAI's error envelope as JSON text.
pub(crate) fn envelope(
    message: &str,
    kind: &str,
    param: Option<&str>,
    code: Option<&str>,
) -> Bytes {
    let or_null = |text: Option<&str>| text.map_or_else(|| "null".to_owned(), onwards_json::quote);
    Bytes::from(format!(
        r#"{{"error":{{"message":{},"type":{},"param":{},"code":{}}}}}"#,
        onwards_json::quote(message),
        onwards_json::quote(kind),
        or_null(param),
        or_null(code),
    ))
}

/// Rounds a wait up to whole seconds, at least one: `Retry-After` has no finer unit.
fn whole_seconds(wait: Duration) -> u64 {
    let up = u64::from(wait.subsec_nanos() > 0);
    wait.as_secs().saturating_add(up).max(1)
}

/// A client's text, cut to a length that is safe to echo.
fn shortened(text: &str) -> Cow<'_, str> {
    const MOST: usize = 256;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()).into(),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests;
