//! Members that are read and checked but whose behaviour the gateway does not have yet.

use crate::json::Json;
use crate::node::Node;

/// Names of the members (each name has one meaning in the whole file). Using one gives a warning.
/// Whoever builds a behaviour takes its member off this list.
pub const UNBUILT: &[&str] = &["batch_inflight_limit"];

/// What is expected of a listed member.
pub(crate) const NO_EFFECT: &str = "it to have no effect yet";

/// Warns about a listed member, unless its value asks for nothing: `false`, `[]`, `{}`.
pub(crate) fn warn(name: &str, node: &Node<'_>) {
    let asks = match node.json {
        Json::Null | Json::Bool(false) => false,
        Json::Array(elements) => !elements.is_empty(),
        Json::Object(members) => !members.is_empty(),
        _ => true,
    };
    if asks && UNBUILT.contains(&name) {
        let found = format!("`{name}`, which this version reads and checks but does not act on");
        node.reading.warn(&node.path, found, NO_EFFECT);
    }
}
