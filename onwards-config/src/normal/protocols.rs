//! Defaults of what holds for the translation between protocols as a whole.

use crate::gateway::{ImageFetch, Ingress, ReasoningState};
use crate::spec::protocols as spec;

pub(super) fn ingress(given: Option<spec::Ingress>) -> Ingress {
    let default = Ingress::default();
    let Some(given) = given else { return default };
    Ingress {
        anthropic: given.anthropic.unwrap_or(default.anthropic),
        gemini: given.gemini.unwrap_or(default.gemini),
        responses: given.responses.unwrap_or(default.responses),
        same_dialect: given.same_dialect.unwrap_or(default.same_dialect),
        allowed_betas: given.allowed_betas.unwrap_or(default.allowed_betas),
        trust_request_id: given.trust_request_id.unwrap_or(default.trust_request_id),
    }
}

pub(super) fn image_fetch(given: Option<spec::ImageFetch>) -> ImageFetch {
    let default = ImageFetch::default();
    let Some(given) = given else { return default };
    ImageFetch {
        enabled: given.enabled.unwrap_or(default.enabled),
        max_bytes: given.max_bytes.unwrap_or(default.max_bytes),
        timeout: given.timeout_ms.unwrap_or(default.timeout),
        max_images: given.max_images.unwrap_or(default.max_images),
        max_redirects: given.max_redirects.unwrap_or(default.max_redirects),
        allow_hosts: given.allow_hosts.unwrap_or(default.allow_hosts),
        allow_private: given.allow_private.unwrap_or(default.allow_private),
        allow_http: given.allow_http.unwrap_or(default.allow_http),
        mime_types: given.mime_types.unwrap_or(default.mime_types),
    }
}

pub(super) fn reasoning_state(given: Option<spec::ReasoningState>) -> ReasoningState {
    let default = ReasoningState::default();
    let Some(given) = given else { return default };
    ReasoningState {
        enabled: given.enabled.unwrap_or(default.enabled),
        max_entries: given.max_entries.unwrap_or(default.max_entries),
        ttl: given.ttl_secs.unwrap_or(default.ttl),
    }
}
