//! Errors.

use crate::failure::Failure;
use crate::write::object;

/// Writes an error as clients know it.
pub(crate) fn write_failure(failure: &Failure, request_id: &str, out: &mut String) {
    object(out, |o| {
        o.object("error", |o| {
            o.text("message", &failure.message);
            o.text("type", &failure.kind);
            for (name, value) in [("param", &failure.param), ("code", &failure.code)] {
                match value {
                    Some(value) => o.text(name, value),
                    None => o.null(name),
                }
            }
            o.text("request_id", request_id);
        });
    });
}
