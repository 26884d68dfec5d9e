//! Which crate may import what: one table, compared with the manifests, and repeated by ARCHITECTURE.md.
//!
//! The table names direct dependencies only. A dependency that is not named here fails `cargo xtask lint` and this
//! crate's tests; adding one means changing this table, in a commit of its own, with the reason in its message.

use std::fmt::Write as _;

use crate::workspace::{Dependency, Metadata, Package};

/// The external crates a member may import.
#[derive(Debug, Clone, Copy)]
pub(crate) enum External {
    /// Whatever the workspace declares.
    Any,
    /// Exactly these.
    Only(&'static [&'static str]),
}

/// One row: a crate, its floor, and all it may import.
#[derive(Debug)]
pub(crate) struct Layer {
    pub(crate) name: &'static str,
    pub(crate) floor: &'static str,
    pub(crate) owns: &'static str,
    /// Crates of this workspace.
    pub(crate) inside: &'static [&'static str],
    pub(crate) outside: External,
    /// External crates that only its tests and benches may import.
    pub(crate) testing: External,
}

/// The table. Order: bottom to top, as it is read.
pub(crate) const LAYERS: &[Layer] = &[
    Layer {
        name: "onwards-json",
        floor: "ground",
        owns: "JSON text as spans: one validating scan, members by reference, edits as splices",
        inside: &[],
        outside: External::Only(&["simdutf8", "thiserror", "wide"]),
        testing: External::Only(&["divan", "expect-test", "proptest", "serde_json"]),
    },
    Layer {
        name: "onwards-sse",
        floor: "stone",
        owns: "bytes to event-stream frames and back: incremental framer, writer, size cap",
        inside: &[],
        outside: External::Only(&["bytes", "memchr", "thiserror"]),
        testing: External::Only(&["divan", "expect-test", "proptest"]),
    },
    Layer {
        name: "onwards-usage",
        floor: "stone",
        owns: "token counts of an answer, found in its bytes as they pass",
        inside: &["onwards-json"],
        outside: External::Only(&["memchr"]),
        testing: External::Only(&["divan", "proptest", "serde_json"]),
    },
    Layer {
        name: "onwards-http1",
        floor: "stone",
        owns: "HTTP/1.x answers as bytes: heads, framing, chunked bodies",
        inside: &[],
        outside: External::Only(&["bytes", "http", "httparse", "memchr", "thiserror"]),
        testing: External::Only(&[
            "divan",
            "http-body-util",
            "hyper",
            "hyper-util",
            "proptest",
            "tokio",
        ]),
    },
    Layer {
        name: "onwards-limits",
        floor: "stone",
        owns: "token buckets, slots and permits",
        inside: &[],
        outside: External::Only(&["thiserror"]),
        testing: External::Only(&["divan", "proptest"]),
    },
    Layer {
        name: "onwards-balance",
        floor: "stone",
        owns: "order of candidates; share and affinity controllers as state machines",
        inside: &[],
        outside: External::Only(&["thiserror"]),
        testing: External::Only(&["divan", "fastrand", "proptest"]),
    },
    Layer {
        name: "onwards-reasoning",
        floor: "stone",
        owns: "canonical reasoning effort to provider edits, budget rules",
        inside: &[],
        outside: External::Only(&["serde_json", "thiserror"]),
        testing: External::Only(&["divan", "expect-test", "proptest"]),
    },
    Layer {
        name: "onwards-strict",
        floor: "stone",
        owns: "request schemas, cleaning of answers and chunks, masking tables, parameter catalog",
        inside: &["onwards-json"],
        outside: External::Only(&["http", "serde", "serde_json", "thiserror"]),
        testing: External::Only(&["divan", "expect-test", "proptest", "serde_json"]),
    },
    Layer {
        name: "onwards-aws",
        floor: "stone",
        owns: "signed requests, and messages of a binary event stream, as Amazon's services want them",
        inside: &[],
        outside: External::Only(&[
            "aws-credential-types",
            "aws-sigv4",
            "aws-smithy-types",
            "bytes",
            "crc32fast",
            "sha2",
            "thiserror",
            "tracing",
        ]),
        testing: External::Only(&["aws-smithy-eventstream", "expect-test", "proptest"]),
    },
    Layer {
        name: "onwards-dialects",
        floor: "stone",
        owns: "chat requests, answers and streams of four protocols and five kinds of providers, through one model",
        inside: &["onwards-json"],
        outside: External::Only(&["base64", "sha2", "thiserror"]),
        testing: External::Only(&["divan", "expect-test", "proptest", "serde_json"]),
    },
    Layer {
        name: "onwards-config",
        floor: "plan",
        owns: "file format, defaults, inheritance, all problems at once, JSON Schema",
        inside: &[],
        outside: External::Only(&["http", "schemars", "serde", "serde_json", "thiserror"]),
        testing: External::Only(&["expect-test", "jsonschema", "proptest"]),
    },
    Layer {
        name: "onwards-shared",
        floor: "room",
        owns: "counts and rates that several gateways share through a store, leases and time bounds included",
        inside: &["onwards-limits"],
        outside: External::Only(&["redis", "rustls", "thiserror", "tokio"]),
        testing: External::Only(&["rcgen", "tempfile"]),
    },
    Layer {
        name: "onwards-images",
        floor: "room",
        owns: "pictures that requests name by address, fetched without reaching a private network",
        inside: &[],
        outside: External::Only(&[
            "base64",
            "futures-util",
            "http-body-util",
            "hyper",
            "hyper-util",
            "thiserror",
            "tokio",
            "tokio-rustls",
            "url",
        ]),
        testing: External::Only(&["proptest", "rcgen"]),
    },
    Layer {
        name: "onwards-server",
        floor: "door",
        owns: "listener, pipeline, upstream client, reload, metrics, command line; the library for embedders",
        inside: &[
            "onwards-json",
            "onwards-sse",
            "onwards-usage",
            "onwards-http1",
            "onwards-limits",
            "onwards-balance",
            "onwards-reasoning",
            "onwards-strict",
            "onwards-dialects",
            "onwards-aws",
            "onwards-config",
            "onwards-shared",
            "onwards-images",
        ],
        outside: External::Any,
        testing: External::Any,
    },
    Layer {
        name: "xtask",
        floor: "beside",
        owns: "tasks and checks of the workspace",
        inside: &["onwards-strict", "onwards-config"],
        outside: External::Only(&["anyhow", "clap", "serde", "serde_json"]),
        testing: External::Only(&["jsonschema", "serde_yaml_ng", "tempfile"]),
    },
    Layer {
        name: "onwards-tests",
        floor: "beside",
        owns: "black-box tests of the binary over loopback sockets",
        inside: &[],
        outside: External::Any,
        testing: External::Any,
    },
];

/// Compares the manifests with the table; one line per difference.
pub(crate) fn check(metadata: &Metadata) -> Vec<String> {
    let mut problems = Vec::new();
    for package in &metadata.packages {
        match LAYERS.iter().find(|layer| layer.name == package.name) {
            Some(layer) => check_package(layer, package, &mut problems),
            None => problems.push(format!(
                "{}: not in the layer table of xtask/src/layers.rs",
                package.name
            )),
        }
    }
    for layer in LAYERS {
        if !metadata
            .packages
            .iter()
            .any(|package| package.name == layer.name)
        {
            problems.push(format!(
                "{}: in the layer table but not a workspace member",
                layer.name
            ));
        }
    }
    problems
}

fn check_package(layer: &Layer, package: &Package, problems: &mut Vec<String>) {
    for dependency in &package.dependencies {
        let name = dependency.name.as_str();
        if !allowed(layer, dependency) {
            let kind = dependency
                .kind
                .as_deref()
                .map_or_else(String::new, |kind| format!("{kind}-"));
            problems.push(format!(
                "{}: {kind}dependency on {name} is not in the layer table of xtask/src/layers.rs",
                layer.name
            ));
        }
    }
}

fn allowed(layer: &Layer, dependency: &Dependency) -> bool {
    let name = dependency.name.as_str();
    // Imports only go down, in tests too: a dev-dependency on a crate of the workspace obeys the same row.
    if dependency.path.is_some() {
        return layer.inside.contains(&name);
    }
    let permits = |external: External| match external {
        External::Any => true,
        External::Only(names) => names.contains(&name),
    };
    permits(layer.outside) || (dependency.kind.as_deref() == Some("dev") && permits(layer.testing))
}

/// The table as ARCHITECTURE.md repeats it.
pub(crate) fn markdown() -> String {
    let mut text = String::from(
        "| floor | crate | owns | workspace crates | other crates |\n|---|---|---|---|---|\n",
    );
    for layer in LAYERS {
        let inside = match layer.inside {
            [] => "none".to_owned(),
            names if names.len() > 3 => "all of the above".to_owned(),
            names => code(names),
        };
        let outside = match layer.outside {
            External::Any => "any".to_owned(),
            External::Only(names) => code(names),
        };
        // Writing to a String cannot fail.
        let _ok = writeln!(
            text,
            "| {} | `{}` | {} | {inside} | {outside} |",
            layer.floor, layer.name, layer.owns
        );
    }
    text
}

fn code(names: &[&str]) -> String {
    names
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests;
