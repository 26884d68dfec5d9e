//! Spans of the OpenTelemetry SDK, exported over OTLP.

use std::env;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue};
use onwards_usage::Usage;
use opentelemetry::trace::{
    Span as _, SpanBuilder, SpanContext, SpanId, SpanKind, Status, TraceContextExt, TraceFlags,
    TraceId, TraceState, Tracer as _, TracerProvider as _,
};
use opentelemetry::{Context, KeyValue, Value};
use opentelemetry_otlp::{SpanExporter, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider, Span};

use super::collector::Collector;
use super::{Peer, TracesError};
use crate::headers::Parent;
use crate::metrics::{Outcome, Route};
use crate::record::Record;

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");

/// Where spans go. Clones share it.
///
/// The environment decides, as OpenTelemetry has it: an endpoint turns traces on, and the SDK reads the other variables.
#[derive(Clone)]
pub struct Traces {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
}

impl Traces {
    /// What the environment asks for. `None` unless `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` or `OTEL_EXPORTER_OTLP_ENDPOINT` is
    /// set, or if `OTEL_SDK_DISABLED` is `true` or `OTEL_TRACES_EXPORTER` is `none`. Call it where a tokio runtime runs; spans are
    /// sent from there.
    ///
    /// # Errors
    /// [`TracesError`] when the variables ask for what cannot be done.
    pub fn from_environment() -> Result<Option<Self>, TracesError> {
        let disabled = variable("OTEL_SDK_DISABLED")
            .is_some_and(|it| it.eq_ignore_ascii_case("true"))
            || variable("OTEL_TRACES_EXPORTER").is_some_and(|it| it == "none");
        let endpoint = either("ENDPOINT");
        if disabled || endpoint.is_none() {
            return Ok(None);
        }
        if let Some(protocol) = either("PROTOCOL").filter(|it| it != "http/protobuf") {
            return Err(TracesError::Protocol { protocol });
        }
        let patience = either("TIMEOUT")
            .and_then(|text| text.parse().ok())
            .map_or(Duration::from_secs(10), Duration::from_millis);
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(Collector::new(patience)?)
            .build()
            .map_err(|_| TracesError::Unusable)?;
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource())
            .build();
        let tracer = provider.tracer("onwards");
        Ok(Some(Self { provider, tracer }))
    }

    /// Exports what is left, and takes no more spans. Waits for it on this thread, at most so long.
    pub fn finish(&self, limit: Duration) {
        if self.provider.shutdown_with_timeout(limit).is_err() {
            tracing::warn!("some of the last spans were not exported");
        }
    }

    /// Begins the span of a request, in the trace that its client has begun or in a new one.
    pub(crate) fn begin(&self, head: &Parts) -> Box<Trace> {
        let parent = parent(&head.headers);
        let continued = parent.is_some();
        let around = parent.map_or_else(Context::new, |parent| {
            Context::new().with_remote_span_context(parent)
        });
        let builder = SpanBuilder::from_name("request").with_kind(SpanKind::Server);
        let server = self.tracer.build_with_context(builder, &around);
        Box::new(Trace {
            traces: self.clone(),
            server,
            attempt: None,
            continued,
        })
    }
}

impl fmt::Debug for Traces {
    /// Says nothing of the exporter, whose headers can be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Traces(..)")
    }
}

/// The spans of one request.
#[derive(Debug)]
pub(crate) struct Trace {
    traces: Traces,
    server: Span,
    /// The attempt that has not failed.
    attempt: Option<Attempt>,
    /// The client has begun the trace.
    continued: bool,
}

#[derive(Debug)]
struct Attempt {
    span: Span,
    status: Option<u16>,
}

impl Trace {
    /// An attempt begins: `model` is what the provider is asked for.
    pub(crate) fn attempt(&mut self, route: Route, peer: &Peer, model: &str) {
        let around = Context::new().with_remote_span_context(self.server.span_context().clone());
        let builder = SpanBuilder::from_name("attempt").with_kind(SpanKind::Client);
        let mut span = self.traces.tracer.build_with_context(builder, &around);
        if span.is_recording() {
            span.update_name(name(route, Some(model), "POST"));
            operation(route)
                .into_iter()
                .for_each(|it| set(&mut span, "gen_ai.operation.name", it));
            set(&mut span, "gen_ai.provider.name", peer.name.clone());
            set(&mut span, "gen_ai.request.model", model.to_owned());
            set(&mut span, "server.address", peer.host.clone());
            if let Some(port) = peer.port {
                set(&mut span, "server.port", i64::from(port));
            }
        }
        self.attempt = Some(Attempt { span, status: None });
    }

    /// The running attempt as the parent of what the provider does.
    pub(crate) fn parent(&self) -> Option<Parent> {
        let attempt = self.attempt.as_ref()?;
        let context = attempt.span.span_context();
        let flags = (context.trace_flags() & TraceFlags::SAMPLED).to_u8();
        let text = format!(
            "00-{}-{}-{flags:02x}",
            context.trace_id(),
            context.span_id()
        );
        Some(Parent {
            value: HeaderValue::try_from(text).ok()?,
            continued: self.continued,
        })
    }

    /// The provider's head has come.
    pub(crate) fn answered(&mut self, status: u16) {
        if let Some(attempt) = &mut self.attempt {
            attempt.status = Some(status);
            set(
                &mut attempt.span,
                "http.response.status_code",
                i64::from(status),
            );
        }
    }

    /// The attempt has failed, and another may follow.
    pub(crate) fn failed(&mut self, why: &'static str) {
        if let Some(Attempt { mut span, status }) = self.attempt.take() {
            match status.filter(|status| *status >= 400) {
                Some(status) => err(&mut span, status.to_string()),
                None => err(&mut span, why),
            }
            span.end();
        }
    }

    /// The request is over.
    pub(crate) fn end(self: Box<Self>, record: &Record<'_>) {
        let Self {
            mut server,
            attempt,
            ..
        } = *self;
        let broken = !matches!(record.outcome, Outcome::Complete | Outcome::ClientGone);
        if let Some(Attempt { mut span, status }) = attempt {
            if let Some(status) = status.filter(|status| *status >= 400) {
                err(&mut span, status.to_string());
            } else if broken {
                err(&mut span, record.outcome.label());
            }
            counts(&mut span, record.usage.as_ref());
            span.end();
        }
        if server.is_recording() {
            tell(&mut server, record);
            match record.status.filter(|status| *status >= 500) {
                Some(status) => err(&mut server, status.to_string()),
                None if broken => err(&mut server, record.outcome.label()),
                None => {}
            }
        }
        server.end();
    }
}

/// Says of the request's own span what is known of the request.
fn tell(span: &mut Span, record: &Record<'_>) {
    span.update_name(name(record.route, record.model, record.verb.label()));
    set(span, "http.request.method", record.verb.label());
    set(span, "http.route", record.route.label());
    if let Some(status) = record.status {
        set(span, "http.response.status_code", i64::from(status));
    }
    operation(record.route)
        .into_iter()
        .for_each(|it| set(span, "gen_ai.operation.name", it));
    if let Some(model) = record.model {
        set(span, "gen_ai.request.model", model.to_owned());
    }
    counts(span, record.usage.as_ref());
    if let Some(pool) = record.pool {
        set(span, "onwards.pool", pool);
    }
    if let Some(code) = record.code {
        set(span, "onwards.error.code", code);
    }
    if let Some(first) = record.first_token {
        set(span, "onwards.first_token_ms", first.as_secs_f64() * 1000.0);
    }
    set(span, "onwards.attempts", i64::from(record.attempts));
    set(span, "onwards.outcome", record.outcome.label());
    set(span, "onwards.request_id", record.request_id.to_owned());
}

fn counts(span: &mut Span, usage: Option<&Usage>) {
    let Some(usage) = usage else { return };
    for (name, count) in [
        ("gen_ai.usage.input_tokens", usage.prompt),
        ("gen_ai.usage.output_tokens", usage.completion),
        ("gen_ai.usage.cache_read.input_tokens", usage.cached),
        ("gen_ai.usage.reasoning.output_tokens", usage.reasoning),
    ] {
        if let Some(count) = count {
            set(span, name, i64::try_from(count).unwrap_or(i64::MAX));
        }
    }
}

fn set(span: &mut Span, name: &'static str, value: impl Into<Value>) {
    span.set_attribute(KeyValue::new(name, value));
}

/// Marks a span as failed; the convention wants few different reasons.
fn err(span: &mut Span, why: impl Into<Value>) {
    set(span, "error.type", why);
    span.set_status(Status::error(""));
}

/// The operation of the conventions for generative AI that a route stands for.
fn operation(route: Route) -> Option<&'static str> {
    match route {
        Route::ChatCompletions | Route::Responses | Route::Messages => Some("chat"),
        Route::GenerateContent => Some("generate_content"),
        Route::Completions => Some("text_completion"),
        Route::Embeddings => Some("embeddings"),
        Route::Models | Route::Images | Route::Audio | Route::Other => None,
    }
}

/// `chat fast`, or `GET /v1/models` where no operation or no model is known.
fn name(route: Route, model: Option<&str>, method: &str) -> String {
    match (operation(route), model) {
        (Some(operation), Some(model)) => format!("{operation} {model}"),
        _ => format!("{method} {}", route.label()),
    }
}

/// The span that a client names as the one around its request (W3C Trace Context, 3.2): there must be exactly one, well-formed.
fn parent(headers: &HeaderMap) -> Option<SpanContext> {
    let mut named = headers.get_all(&TRACEPARENT).iter();
    let (text, None) = (named.next()?.to_str().ok()?.trim(), named.next()) else {
        return None;
    };
    let mut parts = text.split('-');
    let [version, trace, span, flags] = [(); 4].map(|()| parts.next().unwrap_or_default());
    let hex = |text: &str, len: usize| {
        text.len() == len && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    };
    let well_formed = hex(version, 2) && hex(trace, 32) && hex(span, 16) && hex(flags, 2);
    if !well_formed || version == "ff" || (version == "00" && parts.next().is_some()) {
        return None;
    }
    let flags = TraceFlags::new(u8::from_str_radix(flags, 16).ok()?) & TraceFlags::SAMPLED;
    let states: Vec<&str> = headers
        .get_all(&TRACESTATE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .collect();
    let context = SpanContext::new(
        TraceId::from_hex(trace).ok()?,
        SpanId::from_hex(span).ok()?,
        flags,
        true,
        TraceState::from_str(&states.join(",")).unwrap_or_default(),
    );
    context.is_valid().then_some(context)
}

/// Who exports: what the environment says, and the gateway's name and version where it says nothing.
fn resource() -> Resource {
    let service = opentelemetry::Key::from_static_str("service.name");
    let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    let detected = Resource::builder().build();
    let named = detected
        .get(&service)
        .is_some_and(|name| !name.as_str().starts_with("unknown_service"));
    let builder = Resource::builder().with_attribute(version);
    if named {
        builder.build()
    } else {
        builder.with_service_name("onwards").build()
    }
}

/// A variable of the exporter: that of traces, else that of all signals.
fn either(name: &str) -> Option<String> {
    variable(&format!("OTEL_EXPORTER_OTLP_TRACES_{name}"))
        .or_else(|| variable(&format!("OTEL_EXPORTER_OTLP_{name}")))
}

/// A variable that is set to something.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.trim().is_empty())
}

#[cfg(test)]
mod tests;
