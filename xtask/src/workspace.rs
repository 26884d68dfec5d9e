//! Where things are: the workspace root, its packages, its files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::process::{capture, cargo, command};

/// The folder that holds the workspace's `Cargo.toml`.
pub(crate) fn root() -> Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    Ok(here
        .parent()
        .context("xtask lies directly under the workspace root")?
        .to_path_buf())
}

/// What this crate reads of `cargo metadata`.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
    pub(crate) target_directory: PathBuf,
}

/// A workspace member.
#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) manifest_path: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) targets: Vec<Target>,
}

/// A direct dependency as the manifest declares it.
#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// `None` for `[dependencies]`, else `dev` or `build`.
    pub(crate) kind: Option<String>,
    /// Present for a crate of the workspace.
    pub(crate) path: Option<PathBuf>,
}

/// A build target of a package.
#[derive(Debug, Deserialize)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) kind: Vec<String>,
    pub(crate) src_path: PathBuf,
}

/// The workspace's members with their direct dependencies. Needs no network.
pub(crate) fn metadata(root: &Path) -> Result<Metadata> {
    let text = capture(cargo(root).args(["metadata", "--no-deps", "--format-version", "1"]))?;
    serde_json::from_str(&text).context("reading the output of cargo metadata")
}

/// Every file git tracks or would add, relative to the root, sorted; deleted ones left out.
pub(crate) fn files(root: &Path) -> Result<Vec<PathBuf>> {
    let args = ["ls-files", "--cached", "--others", "--exclude-standard"];
    let text = capture(command(root, "git").args(args))?;
    let names: BTreeSet<PathBuf> = text.lines().map(PathBuf::from).collect();
    Ok(names
        .into_iter()
        .filter(|name| root.join(name).is_file())
        .collect())
}
