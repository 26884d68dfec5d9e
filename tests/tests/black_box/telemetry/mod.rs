//! What the gateway tells of its requests: how answers ended, what they used, and a line for each.

mod access;
mod outcomes;
mod traces;
mod usage;

use onwards_tests::{Launch, Upstream};
use serde_json::json;

/// A gateway before it starts, with an alias `m` served by this provider.
fn launch(strict: bool, up: &Upstream) -> Launch {
    let targets =
        json!({"m": {"providers": [{"name": "one", "url": up.url(), "idle_timeout_ms": 300}]}});
    if strict {
        Launch::strict(&targets)
    } else {
        Launch::targets(&targets)
    }
}
