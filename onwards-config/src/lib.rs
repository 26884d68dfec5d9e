//! The configuration file: format, defaults, inheritance, problems, JSON Schema.
//!
//! Owns everything between the bytes of the file and plain data: [`read()`] checks the text and reports
//! *all* problems at once, each with its path, its place in the text, what was found and what is allowed;
//! the [`Gateway`] it returns has every default and inheritance applied. Owns neither the disk nor the
//! environment, nor the rules of reasoning values and parameter names: the caller answers for all of them
//! ([`Surroundings`]).
//!
//! ```
//! use onwards_config::{Access, Endpoint};
//!
//! let text = br#"{ "targets": { "local": { "url": "http://localhost:8080/v1/" } } }"#;
//! let loaded = onwards_config::read(text, &()).unwrap();
//! let pool = &loaded.gateway.targets["local"].default;
//! let Endpoint::Http(http) = &pool.providers[0].endpoint else { unreachable!() };
//! assert_eq!((http.authority.as_str(), http.base_path.as_str()), ("localhost:8080", "/v1"));
//! assert!(matches!(pool.access, Access::Open));
//!
//! let problems = onwards_config::read(br#"{ "targets": { "local": { "ulr": "x" } } }"#, &()).unwrap_err();
//! assert_eq!(problems.0[0].to_string(), "targets.local.url (line 1, column 25): found nothing; expected \
//!     an absolute http:// or https:// URL (or `providers`, or `pools`); is `ulr` misspelt?");
//! ```
//!
//! Invariants:
//! - a `Gateway` exists only if the file has no error; every range in its docs holds;
//! - no problem, no `Debug` and no output of [`redacted`] holds the content of a secret;
//! - [`read()`] never panics, whatever the bytes;
//! - the schema and the reader know the same members (tested both ways).

use locate::{Places, Ruler};
use node::{Issue, Node, Reading};
use path::Path;

mod problem;

mod gateway;

mod endpoint;
mod secret;
mod surroundings;

mod json;
mod kinds;
mod locate;
mod members;
mod node;
mod path;

mod changes;
mod normal;
mod read;
mod spec;

mod redact;
mod reference;
mod schema;

pub use changes::{Change, Changes, Kind, Part, compare};
pub use endpoint::{Endpoint, HttpEndpoint, Scheme};
pub use gateway::{
    Access, Action, Affinity, Aimd, ApiStyle, Auth, Aws, Backoff, BedrockApi, Dialect,
    ExposeReasoning, Fallback, Gateway, HttpPool, ImageFetch, ImageUrls, Ingress, Jitter,
    KeyDefinition, MaxTokensField, MidSystem, OnUnsupported, Pool, Provider, ProviderKind, Proxy,
    RateLimit, ReasoningState, ReasoningStyle, ReasoningSurface, ReasoningTranslation,
    ReasoningWrite, RoutingRule, SameDialect, SchemaMode, SharedState, StatusPattern, Strategy,
    StructuredOutput, Target, WhenAway,
};
pub use problem::{Position, Problem, Problems, Severity};
pub use redact::redacted;
pub use reference::reference;
pub use schema::schema;
pub use secret::Secret;
pub use surroundings::{BrokenRule, Surroundings};

/// A file that can be used.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// What it means.
    pub gateway: Gateway,
    /// What its author may not have meant.
    pub warnings: Vec<Problem>,
}

/// Reads a configuration file.
///
/// # Errors
/// Every error and every warning of the file, if there is at least one error. A text that is not JSON
/// gives exactly one problem. In the order of the text.
pub fn read(text: &[u8], surroundings: &dyn Surroundings) -> Result<Loaded, Problems> {
    let text = decoded(text)?;
    let (gateway, issues) = meaning(&parsed(text)?, surroundings);
    let problems = placed(issues, text);
    match gateway {
        Some(gateway)
            if problems
                .iter()
                .all(|problem| problem.severity == Severity::Warning) =>
        {
            Ok(Loaded {
                gateway,
                warnings: problems,
            })
        }
        _ => Err(Problems(problems)),
    }
}

/// What a document means, and all that is wrong with it; with errors the meaning is not to be used.
fn meaning(json: &json::Json, surroundings: &dyn Surroundings) -> (Option<Gateway>, Vec<Issue>) {
    let reading = Reading::new(surroundings);
    let root = Node {
        json,
        path: Path::root(),
        reading: &reading,
    };
    let gateway = read::config(&root).map(|config| normal::gateway(config, &reading));
    (gateway, reading.into_issues())
}

/// Problems in the order of the text.
fn placed(issues: Vec<Issue>, text: &str) -> Vec<Problem> {
    if issues.is_empty() {
        return Vec::new();
    }
    let places = Places::of(text);
    let mut issues: Vec<_> = issues
        .into_iter()
        .map(|issue| (places.offset(&issue.at.steps()), issue))
        .collect();
    issues.sort_by_key(|(offset, _)| *offset);
    let mut ruler = Ruler::new(text);
    let place = |(offset, issue): (usize, Issue)| Problem {
        severity: issue.severity,
        path: issue.at.to_string(),
        position: Some(ruler.position(offset)),
        found: issue.found,
        expected: issue.expected,
        hint: issue.hint,
    };
    issues.into_iter().map(place).collect()
}

fn decoded(text: &[u8]) -> Result<&str, Problems> {
    let expected = "JSON in UTF-8 without a byte order mark";
    match std::str::from_utf8(text) {
        Ok(decoded) if decoded.starts_with('\u{feff}') => Err(syntax(
            "a byte order mark",
            expected,
            Position { line: 1, column: 1 },
        )),
        Ok(decoded) => Ok(decoded),
        Err(error) => {
            let valid = text.get(..error.valid_up_to()).unwrap_or_default();
            let valid = String::from_utf8_lossy(valid);
            let position = Ruler::new(&valid).position(valid.len());
            Err(syntax("bytes that are not UTF-8", expected, position))
        }
    }
}

fn parsed(text: &str) -> Result<json::Json, Problems> {
    serde_json::from_str(text).map_err(|error| {
        let position = Position {
            line: error.line(),
            column: error.column().max(1),
        };
        let message = error.to_string();
        let found = message.split(" at line ").next().unwrap_or_default();
        syntax(
            &format!("a syntax error ({found})"),
            "a JSON object",
            position,
        )
    })
}

fn syntax(found: &str, expected: &str, position: Position) -> Problems {
    Problems(vec![Problem {
        position: Some(position),
        ..Problem::new("", found, expected)
    }])
}

#[cfg(test)]
mod tests;
